//! Configuration errors. Each message states where the error is, what it is, and what to write
//! instead.

use std::fmt;
use std::path::PathBuf;

use super::origin::Origin;

#[derive(Debug)]
pub enum ConfigError {
    Unknown {
        name: String,
        from: Origin,
        nearest: String,
    },
    Value {
        name: &'static str,
        value: String,
        from: Origin,
        wanted: String,
    },
    /// A setting is given without another one that it needs.
    Incomplete {
        given: &'static str,
        missing: &'static str,
    },
    /// Two settings that exclude each other are both given.
    MutuallyExclusive {
        one: &'static str,
        other: &'static str,
    },
    /// Neither of two settings is given, but another setting requires one of them.
    OneRequired {
        because: &'static str,
        one: &'static str,
        other: &'static str,
    },
    /// A secret is given on the command line.
    SecretInFlag {
        name: &'static str,
        environment: String,
    },
    /// The file is not valid TOML. The message does not repeat the line, because it may contain a
    /// secret.
    Parse {
        path: PathBuf,
        line: usize,
        problem: String,
    },
    NotUtf8 {
        name: String,
    },
    Read {
        path: PathBuf,
        source: std::io::Error,
    },
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { name, from: Origin::Environment(_), nearest } => {
                write!(f, "the environment sets {name}, which is not a setting; did you mean {nearest}?")
            }
            Self::Unknown { name, from, nearest } => {
                write!(f, "{from} sets {name}, which is not a setting; did you mean {nearest}?")
            }
            Self::Value { name, value, from, wanted } => {
                write!(f, "{from} sets {name} to '{value}'; it takes {wanted}")
            }
            Self::Incomplete { given, missing } => {
                write!(f, "{given} is set but {missing} is not; set both, or neither")
            }
            Self::MutuallyExclusive { one, other } => write!(f, "{one} and {other} are both set; set one of them"),
            Self::OneRequired { because, one, other } => {
                write!(f, "{because}, which requires {one} or {other}; set one of them")
            }
            Self::SecretInFlag { name, environment } => write!(
                f,
                "{name} is a secret, and other users of this machine see the flags of a program; set it in the \
                 configuration file or as ${environment}"
            ),
            Self::Parse { path, line, problem } => {
                write!(f, "cannot read {}: line {line} is not valid TOML: {problem}", path.display())
            }
            Self::NotUtf8 { name } => write!(f, "${name} is not valid UTF-8; set it to text, or unset it"),
            Self::Read { path, source } => {
                write!(f, "cannot read the configuration file {}: {source}", path.display())
            }
        }
    }
}

impl std::error::Error for ConfigError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Read { source, .. } => Some(source),
            _ => None,
        }
    }
}
