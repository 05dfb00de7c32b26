//! Law that travels: a snapshot as one file that is the same each time, can be read in parts, is checked block by block,
//! and is signed.
//!
//! [`pack()`] writes a [`PackFile`], [`unpack()`] restores the snapshot. [`SecretKey`] signs and [`verify()`] checks
//! signatures in minisign's format. [`Channel`] is what a publisher offers; [`offer`] and [`fetch()`] follow it. FORMAT.md
//! describes the files. The package knows no network, clock or configuration: a [`PackOrigin`], times and keys are
//! arguments.

mod bytes;
mod channel;
mod coding;
mod earlier;
mod error;
mod fault_points;
mod index;
mod number_groups;
mod origin;
mod pack_file;
mod pack_writer;
mod position_groups;
mod pull;
mod secret_key;
mod signature;
mod unpack;
mod word_patch;

#[cfg(test)]
mod tests;

pub use channel::{
    CHANNEL_FILE_NAME, CHANNEL_FORMAT, Channel, ChannelError, ChannelPack, is_channel_file_name, is_channel_name,
};
pub use earlier::EarlierBlocks;
pub use error::PackError;
pub use index::{BlockCoding, BlockEntry, BlockPlace, InvalidIndex, PackIndex, PackedBytes, PackedFile};
pub use origin::{OriginError, PackOrigin};
pub use pack_file::{IndexPlace, PackFile};
pub use pack_writer::{PackSummary, hash_file, pack};
pub use pull::{InstalledSnapshot, PULL_STATE_FILE_NAME, PullError, PullState, PullTotals, fetch, offer};
pub use secret_key::{SecretKey, SecretKeyError};
pub use signature::{FileHash, KeyNumber, PublicKey, SIGNATURE_BYTES_MAX, SignatureError, signature_path, verify};
pub use unpack::unpack;
