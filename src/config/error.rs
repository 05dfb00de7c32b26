//! Configuration errors. Each message states where the error is, what it is, and what to write
//! instead.

use std::fmt;
use std::path::PathBuf;

use super::origin::Origin;

#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("{} sets {name}, which is not a setting; did you mean {nearest}?", place_of(.from))]
    Unknown { name: String, from: Origin, nearest: String },
    #[error("{from} sets {name} to '{value}'; it takes {wanted}")]
    Value { name: &'static str, value: String, from: Origin, wanted: String },
    /// A setting is given without another one that it needs.
    #[error("{given} is set but {missing} is not; set both, or neither")]
    Incomplete { given: &'static str, missing: &'static str },
    /// Two settings that exclude each other are both given.
    #[error("{one} and {other} are both set; set one of them")]
    MutuallyExclusive { one: &'static str, other: &'static str },
    /// Neither of two settings is given, but another setting requires one of them.
    #[error("{because}, which requires {one} or {other}; set one of them")]
    OneRequired { because: &'static str, one: &'static str, other: &'static str },
    /// A secret is given on the command line.
    #[error(
        "{name} is a secret, and other users of this machine see the flags of a program; set it in the \
         configuration file or as ${environment}"
    )]
    SecretInFlag { name: &'static str, environment: String },
    /// The file is not valid TOML. The message does not repeat the line, because it may contain a
    /// secret.
    #[error("cannot read {}: line {line} is not valid TOML: {problem}", .path.display())]
    Parse { path: PathBuf, line: usize, problem: String },
    #[error("${name} is not valid UTF-8; set it to text, or unset it")]
    NotUtf8 { name: String },
    #[error("cannot read the configuration file {}: {source}", .path.display())]
    Read { path: PathBuf, source: std::io::Error },
}

/// The place that sets an unknown name, as the message calls it.
fn place_of(from: &Origin) -> &dyn fmt::Display {
    match from {
        Origin::Environment(_) => &"the environment",
        other => other,
    }
}
