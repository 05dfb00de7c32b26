//! The industries of NAICS 2022, and the lookup that finds them by code, by title, and by plain descriptions.
//!
//! `industries` contains all codes. `phrases` adds the words that people use for a business.
//! `index` is built from both at the first lookup. `lookup` ranks, `spelling` corrects words, and
//! `terms` splits a text into words.

mod index;
mod industries;
mod lookup;
mod phrases;
#[cfg(test)]
mod quality;
mod spelling;
mod terms;

pub use industries::{EDITION, Industry, IndustryLevel, find};
pub use lookup::{FoundBy, IndustryHit, LookupResult, lookup};
