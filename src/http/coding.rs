//! The codings that can compress a response.
//!
//! Creating the tables of an encoder takes longer than compressing a page with them. Therefore each
//! thread keeps the encoders for responses that a client waits for.

use std::cell::RefCell;
use std::io::Write;

use bytes::Bytes;
use flate2::write::GzEncoder;
use flate2::{Compress, Compression, Crc, FlushCompress, Status};
use zstd::bulk::Compressor;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Coding {
    Identity,
    Gzip,
    Brotli,
    Zstd,
}

/// How much time may be spent on compression.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum CompressionEffort {
    /// For a response that is sent once.
    Quick,
    /// For a response that is cached.
    Cached,
    /// For a document that is compressed once and sent often.
    Thorough,
}

impl Coding {
    /// The order of preference among codings that a client accepts equally, by the compression for the
    /// time spent. Brotli takes five times as long as gzip for a page, and makes it only a twentieth
    /// smaller.
    pub(super) const PREFERRED: [Self; 3] = [Self::Zstd, Self::Gzip, Self::Brotli];

    /// The names in headers, the usual one first.
    pub(super) const fn names(self) -> &'static [&'static str] {
        match self {
            Self::Identity => &["identity"],
            Self::Gzip => &["gzip", "x-gzip"],
            Self::Brotli => &["br"],
            Self::Zstd => &["zstd"],
        }
    }

    /// `None` for `Identity`, or if compression fails, which only a lack of memory could cause.
    pub(super) fn compress(self, plain: &[u8], effort: CompressionEffort) -> Option<Bytes> {
        let is_thorough = effort == CompressionEffort::Thorough;
        let packed = match self {
            Self::Identity => return None,
            Self::Gzip if effort == CompressionEffort::Quick => return gzip_quickly(plain),
            Self::Gzip => {
                let mut encoder = GzEncoder::new(Vec::new(), Compression::new(if is_thorough { 9 } else { 4 }));
                encoder.write_all(plain).and_then(|()| encoder.finish())
            }
            Self::Brotli => {
                let quality = if is_thorough { 9 } else { 4 };
                let parameters =
                    brotli::enc::BrotliEncoderParams { quality, size_hint: plain.len(), ..Default::default() };
                let mut packed = Vec::new();
                brotli::BrotliCompress(&mut &*plain, &mut packed, &parameters).map(|_| packed)
            }
            Self::Zstd if is_thorough => zstd::bulk::compress(plain, 12),
            Self::Zstd => return zstd_quickly(plain),
        };
        packed.ok().map(Bytes::from)
    }
}

const ZSTD_LEVEL: i32 = 3;

fn zstd_quickly(plain: &[u8]) -> Option<Bytes> {
    thread_local! {
        static ENCODER: RefCell<Option<Compressor<'static>>> = RefCell::new(Compressor::new(ZSTD_LEVEL).ok());
    }
    let packed = ENCODER.with_borrow_mut(|encoder| encoder.as_mut()?.compress(plain).ok());
    packed.map(Bytes::from)
}

/// The output is an eighth larger than at level 4, and takes a fifth of the time.
const GZIP_LEVEL: Compression = Compression::fast();

/// The header of RFC 1952: no name, no time, fastest compression, unknown operating system.
const GZIP_HEAD: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 255];

fn gzip_quickly(plain: &[u8]) -> Option<Bytes> {
    thread_local! {
        static ENCODER: RefCell<Compress> = RefCell::new(Compress::new(GZIP_LEVEL, false));
    }
    let mut packed = Vec::with_capacity(plain.len() / 2 + 64);
    packed.extend_from_slice(&GZIP_HEAD);
    ENCODER.with_borrow_mut(|encoder| {
        encoder.reset();
        loop {
            let taken = usize::try_from(encoder.total_in()).ok()?;
            match encoder.compress_vec(plain.get(taken..)?, &mut packed, FlushCompress::Finish).ok()? {
                Status::StreamEnd => return Some(()),
                Status::Ok | Status::BufError => packed.reserve(plain.len() / 4 + 64),
            }
        }
    })?;
    let mut sum = Crc::new();
    sum.update(plain);
    packed.extend_from_slice(&sum.sum().to_le_bytes());
    packed.extend_from_slice(&sum.amount().to_le_bytes());
    Some(packed.into())
}
