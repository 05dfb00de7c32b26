//! The catalogue of official sources, and downloads from publishers to files with receipts.
//!
//! `catalogue` is a checked data file, and `fetch` downloads the files of its entries. Only this module sends
//! requests to publishers, and only for `fetch` and `update`. It does not know how a source is read.

mod address;
pub mod catalogue;
mod download;
pub mod error;
pub mod fetch;
mod http_time;
mod least_rate;
mod part;
pub mod plans;
mod retries;
mod robots;
mod visitor;

pub use address::{DownloadUrl, NoAddress};
pub use least_rate::LeastRate;
pub use retries::Retries;
pub use visitor::Manners;
