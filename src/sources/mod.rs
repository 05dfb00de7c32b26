//! The catalogue of official sources, downloads from publishers to files with receipts, and the origin of pulled packs.
//!
//! `catalogue` is a checked data file, and `fetch` downloads the files of its entries. Only this module sends
//! requests to publishers, and only for `fetch`, `update` and `snapshot pull`. It does not know how a source is read.

mod address;
pub mod catalogue;
mod channel_origin;
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
pub use channel_origin::{HttpOrigin, OriginLimits};
pub use least_rate::LeastRate;
pub use retries::Retries;
pub use visitor::Manners;
