//! Company formation: what an intake needs to know before a person pays for anything. It uses neither the law nor accounts.

pub mod entity_type;
pub mod naics;
pub mod requirements;
pub mod requirements_file;
pub mod us_state;
