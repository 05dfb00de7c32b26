//! The industries of NAICS 2022 and the lookup that finds them by code, by title, and by plain descriptions.
//!
//! `industries` holds all codes. `phrases` adds how people call a business. `index` is built from both at the first lookup,
//! `lookup` ranks, `spelling` corrects words, and `terms` says what a word is.

mod index;
mod industries;
mod lookup;
mod phrases;
#[cfg(test)]
mod quality;
mod spelling;
mod terms;

pub use industries::{EDITION, Industry, Level, find};
pub use lookup::{Found, FoundBy, Hit, lookup};
