//! Where law comes from: the catalogue of official sources, and the way from a publisher to a file with a receipt.
//!
//! `catalogue` is a checked data file, `fetch` downloads the files of its entries, `changes` tells what differs between two
//! snapshots. Fetching is the only thing in the program that goes out to a publisher, and it happens only when somebody
//! asks. Nothing here knows how a source is read.

mod address;
pub mod catalogue;
pub mod changes;
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
