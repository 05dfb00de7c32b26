//! The rendered documents. They are rendered once for each served snapshot, and compressed on the first
//! request for a coding. Neither is done on a worker of the async runtime.

use std::sync::{Arc, PoisonError, RwLock};

use bytes::Bytes;
use hornbook_base::hex;
use sha2::{Digest, Sha256};
use tokio::sync::{Mutex, OnceCell};

use super::coding::{Coding, CompressionEffort};
use super::response_compression::ResponseCompressor;
use crate::api::corpus::Corpus;
use crate::api::documents::{ApiDocument, DocumentContext};
use crate::api::error::ApiError;
use crate::api::examples::Examples;
use crate::api::service::Service;

/// The documents of the snapshot that was requested last.
#[derive(Default)]
pub(super) struct Documents {
    kept: RwLock<Option<Arc<SnapshotDocuments>>>,
    /// Lets one request render while the others wait.
    rendering: Mutex<()>,
}

/// All documents about one snapshot.
pub(super) struct SnapshotDocuments {
    snapshot: String,
    rendered: [Rendered; ApiDocument::ALL.len()],
}

pub(super) struct Rendered {
    document: ApiDocument,
    plain: Bytes,
    /// A hash of the document.
    version: String,
    /// Compressed, in the order of [`Coding::PREFERRED`].
    packed: [OnceCell<Bytes>; Coding::PREFERRED.len()],
}

impl Documents {
    pub(super) async fn of(
        &self,
        service: &Arc<Service>,
        corpus: &Arc<Corpus>,
    ) -> Result<Arc<SnapshotDocuments>, ApiError> {
        if let Some(kept) = self.kept(corpus) {
            return Ok(kept);
        }
        let _rendering = self.rendering.lock().await;
        if let Some(kept) = self.kept(corpus) {
            return Ok(kept);
        }
        let (service, corpus, examples) = (Arc::clone(service), Arc::clone(corpus), corpus.examples().await?);
        let render = move || Arc::new(SnapshotDocuments::render(&service, &corpus, &examples));
        let rendered = tokio::task::spawn_blocking(render).await;
        let rendered = rendered.map_err(|error| ApiError::internal(format!("render the documents: {error}")))?;
        *self.kept.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&rendered));
        Ok(rendered)
    }

    fn kept(&self, corpus: &Corpus) -> Option<Arc<SnapshotDocuments>> {
        let kept = self.kept.read().unwrap_or_else(PoisonError::into_inner);
        kept.as_ref().filter(|kept| kept.snapshot == corpus.id()).cloned()
    }
}

impl SnapshotDocuments {
    fn render(service: &Service, corpus: &Corpus, examples: &Examples) -> Self {
        let tariff = &service.accounts().settings().tariff;
        let setting = DocumentContext { base_url: service.base_url(), snapshot: corpus.id(), examples, tariff };
        let rendered = ApiDocument::ALL.map(|document| Rendered::new(document, document.render(&setting)));
        Self { snapshot: corpus.id().to_owned(), rendered }
    }

    pub(super) fn get(&self, document: ApiDocument) -> &Rendered {
        let found = self.rendered.iter().find(|rendered| rendered.document == document);
        found.expect("every document is rendered")
    }
}

impl Rendered {
    fn new(document: ApiDocument, text: String) -> Self {
        let version = hex::encode(&Sha256::digest(&text)[..12]);
        Self { document, plain: text.into(), version, packed: Default::default() }
    }

    pub(super) fn document(&self) -> ApiDocument {
        self.document
    }

    pub(super) fn version(&self) -> &str {
        &self.version
    }

    pub(super) fn plain(&self) -> Bytes {
        self.plain.clone()
    }

    /// `None` for uncompressed bytes, and if no thread is free to compress the document in time.
    pub(super) async fn packed(&self, coding: Coding, packing: &ResponseCompressor) -> Option<Bytes> {
        let place = Coding::PREFERRED.iter().position(|preferred| *preferred == coding)?;
        let pack = || async { packing.packed(self.plain(), coding, CompressionEffort::Thorough).await.ok_or(()) };
        self.packed[place].get_or_try_init(pack).await.ok().cloned()
    }
}
