//! Company formation: what an intake needs to know before a person pays for anything. It uses neither the law nor accounts.

pub mod entity_type;
pub mod intake;
pub mod naics;
pub mod price;
pub mod requirements;
pub mod requirements_file;
pub mod us_state;

/// The review page of a company formation is below this. What follows is a secret, which no log may have.
pub const REVIEW_PATH: &str = "/formation/review/";
