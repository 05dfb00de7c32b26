//! Company formation: everything an intake needs before a person pays for anything. It depends
//! neither on the corpus of laws nor on accounts.

pub mod entity_type;
pub mod intake;
pub mod naics;
pub mod price;
pub mod requirements;
pub mod requirements_file;
pub mod us_state;

/// The path of the review page. The rest of the path is a secret, which must not be logged.
pub const REVIEW_PATH: &str = "/formation/review/";
