//! Where the value of a setting comes from.

use std::fmt;
use std::path::PathBuf;

/// The origin of a value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Origin {
    Default,
    /// A default that depends on another value; the text names that value.
    DerivedDefault(String),
    /// The file and the line number.
    File(PathBuf, usize),
    Environment(String),
    /// The flag as written on the command line.
    Flag(&'static str),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::DerivedDefault(from) => write!(f, "default ({from})"),
            Self::File(path, line) => write!(f, "{}:{line}", path.display()),
            Self::Environment(name) => write!(f, "${name}"),
            Self::Flag(flag) => f.write_str(flag),
        }
    }
}
