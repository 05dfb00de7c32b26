//! Company formation: what an intake needs to know before a person pays for anything. It uses neither the law nor accounts.

pub mod naics;
