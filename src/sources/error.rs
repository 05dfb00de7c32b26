//! Errors of downloads. Messages name the address or the file, and the next step if there is one.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use hornbook_index_build::receipt::ReceiptError;
use hornbook_index_build::source_files::SourceError;

use super::address::{DownloadUrl, NoAddress};
use super::least_rate::LeastRate;
use crate::client::ClientError;

#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The catalogue has no address for it.
    #[error("{source} has no address to download from: {obstacle}. Its page is {page}")]
    NotFetchable {
        // Raw, because thiserror takes a field that is written `source` for the cause.
        r#source: String,
        page: String,
        obstacle: String,
    },
    #[error("{0}")]
    Address(#[from] NoAddress),
    /// Plain http to another machine.
    #[error("{0}: plain http is for this machine alone; use an address that begins with https://")]
    Unencrypted(DownloadUrl),
    #[error("{address}: {}", without_advice(.source))]
    Client { address: DownloadUrl, source: ClientError },
    #[error("{address}: the server answered {status}{}", advice(*.status, *.retry_after))]
    Status { address: DownloadUrl, status: u16, retry_after: Option<Duration> },
    #[error("{from}: it redirects, and {what}; it is not followed")]
    Redirect { from: DownloadUrl, what: String },
    /// The host asks programs not to request it.
    #[error(
        "{0}: the host's robots.txt asks programs not to request this; if its publisher allows it to you, \
         give --ignore-robots"
    )]
    Robots(DownloadUrl),
    /// The head of a response contradicts itself or an earlier one.
    #[error("{address}: {what}")]
    Head { address: DownloadUrl, what: String },
    #[error("{address}: the server announced {expected} bytes and sent {received}")]
    Length { address: DownloadUrl, expected: u64, received: u64 },
    #[error("{address}: the file is longer than {bytes_max} bytes, more than any source of law")]
    TooLong { address: DownloadUrl, bytes_max: u64 },
    /// The server sends less than the minimum rate.
    #[error(
        "{address}: the server sent fewer than {} bytes in {} seconds; try again when it is less busy",
        .least.bytes,
        .least.window.as_secs_f64()
    )]
    Slow { address: DownloadUrl, least: LeastRate },
    /// The received file is incomplete or damaged.
    #[error("{address}: {source}; nothing of it is kept")]
    Damaged { address: DownloadUrl, source: Box<SourceError> },
    #[error(
        "{address}: the file has the SHA-256 {received}, not {expected}, which the catalogue knows; nothing of it \
         is kept"
    )]
    Hash { address: DownloadUrl, expected: Box<str>, received: Box<str> },
    #[error("{page}: the page does not name an edition where it did; look there, and give the edition with --edition")]
    Edition { page: DownloadUrl },
    #[error("{}: cannot {doing}: {source}", .path.display())]
    Io { path: PathBuf, doing: &'static str, source: io::Error },
    #[error("{0}")]
    Receipt(#[from] ReceiptError),
    #[error("another 'hornbook fetch' is writing to {}; wait until it ends", .folder.display())]
    Locked { folder: PathBuf },
    #[error("{last} (given up after {attempts} attempts{})", resumption(*.kept_bytes))]
    GaveUp {
        attempts: u32,
        kept_bytes: u64,
        #[source]
        last: Box<Self>,
    },
}

/// The text of a client's error, without the advice to check that the server is running.
fn without_advice(error: &ClientError) -> &dyn fmt::Display {
    match error {
        ClientError::Unreachable(error) => error,
        other => other,
    }
}

/// What follows the status in the message: what to do, if anything can be done.
fn advice(status: u16, retry_after: Option<Duration>) -> String {
    match (status, retry_after) {
        (_, Some(wait)) => format!(" and asks to wait {} seconds; try again then", wait.as_secs()),
        (404 | 410, None) => {
            "; the publisher has moved or removed the file, so look at its page with 'hornbook sources'".to_owned()
        }
        (401 | 403, None) => "; the publisher does not give this file to programs".to_owned(),
        _ => String::new(),
    }
}

/// Says that the next command resumes, if something is here.
fn resumption(kept_bytes: u64) -> String {
    match kept_bytes {
        0 => String::new(),
        kept => format!("; the same command goes on after the {kept} bytes that are here"),
    }
}

/// An error, with whether a retry may help.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// A retry may help, after this time if the server named one.
    Passing(FetchError, Option<Duration>),
    Final(FetchError),
}

impl<E: Into<FetchError>> From<E> for Trouble {
    fn from(error: E) -> Self {
        Self::Final(error.into())
    }
}

/// For `map_err`: the action and the file.
pub(crate) fn io_error(path: &std::path::Path, doing: &'static str) -> impl Fn(io::Error) -> FetchError {
    move |source| FetchError::Io { path: path.to_owned(), doing, source }
}
