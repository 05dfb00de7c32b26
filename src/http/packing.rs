//! Compression of answers, by what the client accepts.
//!
//! Whatever is large and not packed yet is packed on its way out, in one place. Packing what is longer than a page is heavy
//! work: it waits for a thread as searches do, and is never done on a worker of the runtime. Where none is free in time
//! the answer, which is paid for by then, goes out plain. Zoning layers come packed out of the snapshot, documents are
//! packed once, and what the service keeps, such as tiles of maps, is kept packed as well: where several ask for it at the
//! same time, one packs it and the others wait.

use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::header::{CONTENT_ENCODING, ETAG, HeaderValue};
use hyper::{HeaderMap, StatusCode};

use super::accept::AcceptedCodings;
use super::coding::{Coding, Effort};
use super::reply::Reply;
use crate::api::reply::PackedOnce;
use crate::api::service::Service;
use crate::byte_cache::ByteCache;
use crate::makers::Makers;
use crate::metrics::Metrics;

/// Smaller answers fit into a packet or two anyhow.
const PACK_FROM_BYTES: usize = 2 << 10;

/// A page as most are: to pack it takes a tenth of a millisecond, and less than to wake another thread for it.
const PACK_HERE_BYTES: usize = 24 << 10;

/// Of one generation of what is kept; there are two.
const KEPT_BYTES_MAX: usize = 8 << 20;

/// Marks a response whose body is as it is to be sent.
#[derive(Clone, Copy)]
struct Packed;

/// Says that the body is in this coding already, plain bytes included.
pub(super) fn is_packed(response: &mut Reply, coding: Coding) {
    response.extensions_mut().insert(Packed);
    if coding != Coding::Identity {
        response.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static(coding.names()[0]));
    }
}

/// The strong tag of the plain bytes, and how they are packed.
type PackedKey = (Box<[u8]>, Coding);

/// What else is done with packed bytes, on the thread that packed them.
trait Keep: FnOnce(&Bytes) + Send + 'static {}

impl<T: FnOnce(&Bytes) + Send + 'static> Keep for T {}

/// Packs answers, and keeps what will be asked for again.
pub(super) struct Packing {
    service: Arc<Service>,
    metrics: Arc<Metrics>,
    kept: Arc<ByteCache<PackedKey>>,
    makers: Arc<Makers<PackedKey>>,
}

impl Packing {
    pub(super) fn new(service: Arc<Service>, metrics: Arc<Metrics>) -> Self {
        Self { service, metrics, kept: Arc::new(ByteCache::new(KEPT_BYTES_MAX)), makers: Makers::new() }
    }

    /// Packs a large answer, if the client accepts that.
    pub(super) async fn pack(&self, response: Reply, asked: &HeaderMap) -> Reply {
        let is_done =
            response.extensions().get::<Packed>().is_some() || response.headers().contains_key(CONTENT_ENCODING);
        if is_done || response.status() != StatusCode::OK {
            return response;
        }
        let accepted = AcceptedCodings::of(asked);
        let coding = accepted.best(&Coding::PREFERRED);
        if coding == Coding::Identity {
            return response;
        }
        let (head, body) = response.into_parts();
        let plain = whole(body).await;
        let is_small = plain.len() < PACK_FROM_BYTES && !accepted.refuse_identity();
        let packed = match head.headers.get(ETAG) {
            _ if is_small => None,
            Some(tag) if head.extensions.get::<PackedOnce>().is_some() => {
                self.packed_once(&plain, (tag.as_bytes().into(), coding)).await
            }
            _ => self.packed_soon(&plain, coding, Effort::Quick, |_| {}).await,
        };
        let Some(packed) = packed else { return Reply::from_parts(head, Full::new(plain)) };
        let mut response = Reply::from_parts(head, Full::new(packed));
        is_packed(&mut response, coding);
        weaken_tag(response.headers_mut());
        response
    }

    async fn packed_once(&self, plain: &Bytes, key: PackedKey) -> Option<Bytes> {
        if let Some(kept) = self.kept.get(&key) {
            return Some(kept);
        }
        let turn = self.makers.turn(key.clone()).await?;
        if let Some(kept) = self.kept.get(&key) {
            return Some(kept);
        }
        let (kept, coding) = (Arc::clone(&self.kept), key.1);
        // Once it is begun it is kept, even if its client disconnects: others may wait for it.
        let keep = move |packed: &Bytes| {
            kept.put(key, packed.clone());
            drop(turn);
        };
        self.packed_soon(plain, coding, Effort::Kept, keep).await
    }

    async fn packed_soon(&self, plain: &Bytes, coding: Coding, effort: Effort, keep: impl Keep) -> Option<Bytes> {
        match plain.len() {
            ..=PACK_HERE_BYTES if coding != Coding::Brotli => {
                self.metrics.compressed(coding.names()[0]);
                coding.pack(plain, effort).inspect(keep)
            }
            _ => self.packed_on_thread(plain.clone(), coding, effort, keep).await,
        }
    }

    /// Packed where heavy work is done; nothing where that has no time for it.
    pub(super) async fn packed(&self, plain: Bytes, coding: Coding, effort: Effort) -> Option<Bytes> {
        self.packed_on_thread(plain, coding, effort, |_| {}).await
    }

    async fn packed_on_thread(&self, plain: Bytes, coding: Coding, effort: Effort, keep: impl Keep) -> Option<Bytes> {
        let packed = self.service.heavy(move || Ok(coding.pack(&plain, effort).inspect(keep))).await.ok()?;
        self.metrics.compressed(coding.names()[0]);
        packed
    }
}

/// The bytes of a body that is whole already.
async fn whole(body: Full<Bytes>) -> Bytes {
    match body.collect().await {
        Ok(collected) => collected.to_bytes(),
        Err(never) => match never {},
    }
}

/// The tag names the plain bytes; packed ones mean the same but are not the same.
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
    fn what_hardly_packs_and_what_is_empty_unpack_to_themselves_too() {
        let noise: Vec<u8> = (0..100_000_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        for plain in [&noise[..], b"", b"a", &noise[..3000]] {
            let packed = Coding::Gzip.pack(plain, Effort::Quick).unwrap();
            let mut out = Vec::new();
            flate2::read::GzDecoder::new(&*packed).read_to_end(&mut out).unwrap();
            assert_eq!(out, plain);
            assert_eq!(zstd::decode_all(&*Coding::Zstd.pack(plain, Effort::Quick).unwrap()).unwrap(), plain);
        }
    }

    #[test]
    fn what_is_packed_is_smaller_and_unpacks_to_itself() {
        let plain = "The people shall be secure in their persons, houses, papers, and effects. ".repeat(100);
        let plain = plain.as_bytes();
        for effort in [Effort::Quick, Effort::Quick, Effort::Kept, Effort::Thorough] {
            for coding in Coding::PREFERRED {
                let packed = coding.pack(plain, effort).unwrap();
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
        assert_eq!(Coding::Identity.pack(plain, Effort::Quick), None);
    }
}
