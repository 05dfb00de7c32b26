//! Compresses responses with a coding that the client accepts.
//!
//! Every large response that is not compressed yet is compressed here, before it is sent. Compressing
//! more than a page is heavy work: it waits for a worker thread as searches do, and is never done on a
//! worker of the async runtime. If no thread is free in time, the response, which is already paid for, is
//! sent uncompressed. Zoning layers are stored compressed in the snapshot, and documents are compressed
//! once. What the service caches, such as map tiles, is also cached in compressed form: if several
//! requests ask for it at the same time, one compresses it and the others wait.

use std::sync::Arc;

use bytes::Bytes;
use hornbook_base::byte_cache::ByteCache;
use hyper::header::{CONTENT_ENCODING, ETAG, HeaderValue};
use hyper::{HeaderMap, StatusCode};

use super::accept::AcceptedCodings;
use super::coding::{Coding, CompressionEffort};
use super::reply::{HttpReply, ReplyBody};
use crate::api::reply::CachedBody;
use crate::api::service::Service;
use crate::metrics::Metrics;
use crate::single_flight::SingleFlight;

/// Smaller responses fit into one or two packets anyway.
const COMPRESS_MIN_BYTES: usize = 2 << 10;

/// The size of most pages. Compressing one takes a tenth of a millisecond, less than waking another thread.
const COMPRESS_INLINE_BYTES: usize = 24 << 10;

/// Maximum size of one generation of the cache, which has two.
const KEPT_BYTES_MAX: usize = 8 << 20;

/// Marks a response whose body must be sent as it is.
#[derive(Clone, Copy)]
struct AlreadyEncoded;

/// Marks the body as already in this coding, which may be `Identity`.
pub(super) fn mark_encoded(response: &mut HttpReply, coding: Coding) {
    response.extensions_mut().insert(AlreadyEncoded);
    if coding != Coding::Identity {
        response.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static(coding.names()[0]));
    }
}

/// The strong tag of the uncompressed bytes, and the coding that compresses them.
type CompressedKey = (Box<[u8]>, Coding);

/// What else to do with compressed bytes, on the thread that compressed them.
trait OnCompressed: FnOnce(&Bytes) + Send + 'static {}

impl<T: FnOnce(&Bytes) + Send + 'static> OnCompressed for T {}

/// Compresses responses, and caches those that will be requested again.
pub(super) struct ResponseCompressor {
    service: Arc<Service>,
    metrics: Arc<Metrics>,
    kept: Arc<ByteCache<CompressedKey>>,
    makers: Arc<SingleFlight<CompressedKey>>,
}

impl ResponseCompressor {
    pub(super) fn new(service: Arc<Service>, metrics: Arc<Metrics>) -> Self {
        Self { service, metrics, kept: Arc::new(ByteCache::new(KEPT_BYTES_MAX)), makers: SingleFlight::new() }
    }

    /// Compresses a large response, if the client accepts that.
    pub(super) async fn pack(&self, response: HttpReply, asked: &HeaderMap) -> HttpReply {
        let is_done = response.extensions().get::<AlreadyEncoded>().is_some()
            || response.headers().contains_key(CONTENT_ENCODING)
            || response.body().is_in_parts();
        if is_done || response.status() != StatusCode::OK {
            return response;
        }
        let accepted = AcceptedCodings::of(asked);
        let coding = accepted.best(&Coding::PREFERRED);
        if coding == Coding::Identity {
            return response;
        }
        let (head, body) = response.into_parts();
        let plain = body.into_bytes();
        let is_small = plain.len() < COMPRESS_MIN_BYTES && !accepted.refuse_identity();
        let packed = match head.headers.get(ETAG) {
            _ if is_small => None,
            Some(tag) if head.extensions.get::<CachedBody>().is_some() => {
                self.packed_once(&plain, (tag.as_bytes().into(), coding)).await
            }
            _ => self.packed_soon(&plain, coding, CompressionEffort::Quick, |_| {}).await,
        };
        let Some(packed) = packed else { return HttpReply::from_parts(head, ReplyBody::from(plain)) };
        let mut response = HttpReply::from_parts(head, ReplyBody::from(packed));
        mark_encoded(&mut response, coding);
        weaken_tag(response.headers_mut());
        response
    }

    async fn packed_once(&self, plain: &Bytes, key: CompressedKey) -> Option<Bytes> {
        if let Some(kept) = self.kept.get(&key) {
            return Some(kept);
        }
        let turn = self.makers.turn(key.clone()).await?;
        if let Some(kept) = self.kept.get(&key) {
            return Some(kept);
        }
        let (kept, coding) = (Arc::clone(&self.kept), key.1);
        // Once begun, it is finished and cached even if the client disconnects, because other requests
        // may wait for it.
        let keep = move |packed: &Bytes| {
            kept.put(key, packed.clone());
            drop(turn);
        };
        self.packed_soon(plain, coding, CompressionEffort::Cached, keep).await
    }

    async fn packed_soon(
        &self,
        plain: &Bytes,
        coding: Coding,
        effort: CompressionEffort,
        keep: impl OnCompressed,
    ) -> Option<Bytes> {
        match plain.len() {
            ..=COMPRESS_INLINE_BYTES if coding != Coding::Brotli => {
                self.metrics.compressed(coding.names()[0]);
                coding.compress(plain, effort).inspect(keep)
            }
            _ => self.packed_on_thread(plain.clone(), coding, effort, keep).await,
        }
    }

    /// Compresses on a thread for heavy work. `None` if no thread is free in time.
    pub(super) async fn packed(&self, plain: Bytes, coding: Coding, effort: CompressionEffort) -> Option<Bytes> {
        self.packed_on_thread(plain, coding, effort, |_| {}).await
    }

    async fn packed_on_thread(
        &self,
        plain: Bytes,
        coding: Coding,
        effort: CompressionEffort,
        keep: impl OnCompressed,
    ) -> Option<Bytes> {
        let packed = self.service.heavy(move || Ok(coding.compress(&plain, effort).inspect(keep))).await.ok()?;
        self.metrics.compressed(coding.names()[0]);
        packed
    }
}

/// The strong tag identifies the uncompressed bytes. Compressed bytes have the same meaning but are not
/// identical.
fn weaken_tag(head: &mut HeaderMap) {
    let strong = head.get(ETAG).and_then(|tag| tag.to_str().ok()).filter(|tag| tag.starts_with('"'));
    if let Some(Ok(weak)) = strong.map(|tag| format!("W/{tag}").try_into()) {
        head.insert(ETAG, weak);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn incompressible_and_empty_input_round_trips() {
        let noise: Vec<u8> = (0..100_000_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        for plain in [&noise[..], b"", b"a", &noise[..3000]] {
            let packed = Coding::Gzip.compress(plain, CompressionEffort::Quick).unwrap();
            let mut out = Vec::new();
            flate2::read::GzDecoder::new(&*packed).read_to_end(&mut out).unwrap();
            assert_eq!(out, plain);
            assert_eq!(
                zstd::decode_all(&*Coding::Zstd.compress(plain, CompressionEffort::Quick).unwrap()).unwrap(),
                plain
            );
        }
    }

    #[test]
    fn compressed_text_is_smaller_and_round_trips() {
        let plain = "The people shall be secure in their persons, houses, papers, and effects. ".repeat(100);
        let plain = plain.as_bytes();
        for effort in
            [CompressionEffort::Quick, CompressionEffort::Quick, CompressionEffort::Cached, CompressionEffort::Thorough]
        {
            for coding in Coding::PREFERRED {
                let packed = coding.compress(plain, effort).unwrap();
                assert!(packed.len() * 10 < plain.len(), "{coding:?}");
                let mut out = Vec::new();
                match coding {
                    Coding::Gzip => drop(flate2::read::GzDecoder::new(&*packed).read_to_end(&mut out).unwrap()),
                    Coding::Brotli => brotli::BrotliDecompress(&mut &*packed, &mut out).unwrap(),
                    Coding::Zstd => out = zstd::decode_all(&*packed).unwrap(),
                    Coding::Identity => unreachable!("it is not preferred"),
                }
                assert_eq!(out, plain, "{coding:?} {effort:?}");
            }
        }
        assert_eq!(Coding::Identity.compress(plain, CompressionEffort::Quick), None);
    }
}
