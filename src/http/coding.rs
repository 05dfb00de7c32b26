//! The codings in which an answer can be packed.

use std::io::Write;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Coding {
    Identity,
    Gzip,
    Brotli,
    Zstd,
}

/// How much time may be spent on making the answer smaller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Effort {
    /// For an answer that is sent once.
    Quick,
    /// For a document that is packed once and sent often.
    Thorough,
}

impl Coding {
    /// Of those that a client likes equally the one that packs best for its time. Brotli takes five times as long as gzip
    /// for a page that it makes a twentieth smaller.
    pub(super) const PREFERRED: [Self; 3] = [Self::Zstd, Self::Gzip, Self::Brotli];

    /// As headers name it, the usual name first.
    pub(super) const fn names(self) -> &'static [&'static str] {
        match self {
            Self::Identity => &["identity"],
            Self::Gzip => &["gzip", "x-gzip"],
            Self::Brotli => &["br"],
            Self::Zstd => &["zstd"],
        }
    }

    /// Nothing where it cannot be packed, which memory alone could be the reason for.
    pub(super) fn pack(self, plain: &[u8], effort: Effort) -> Option<Bytes> {
        let is_quick = effort == Effort::Quick;
        let packed = match self {
            Self::Identity => return None,
            Self::Gzip => {
                let mut encoder = GzEncoder::new(Vec::new(), Compression::new(if is_quick { 4 } else { 9 }));
                encoder.write_all(plain).and_then(|()| encoder.finish())
            }
            Self::Brotli => {
                let quality = if is_quick { 4 } else { 9 };
                let parameters =
                    brotli::enc::BrotliEncoderParams { quality, size_hint: plain.len(), ..Default::default() };
                let mut packed = Vec::new();
                brotli::BrotliCompress(&mut &*plain, &mut packed, &parameters).map(|_| packed)
            }
            Self::Zstd => zstd::bulk::compress(plain, if is_quick { 3 } else { 12 }),
        };
        packed.ok().map(Bytes::from)
    }
}
