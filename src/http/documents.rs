//! The documents of the table, rendered once for each snapshot that is served, and packed when they are first asked for in
//! a coding: neither on a worker of the runtime.

use std::sync::{Arc, PoisonError, RwLock};

use bytes::Bytes;
use sha2::{Digest, Sha256};
use tokio::sync::{Mutex, OnceCell};

use super::coding::{Coding, Effort};
use super::packing::Packing;
use crate::api::corpus::Corpus;
use crate::api::documents::{Document, Examples, Setting};
use crate::api::error::ApiError;
use crate::api::service::Service;
use crate::hex;

/// Those of the snapshot that was asked about last.
#[derive(Default)]
pub(super) struct Documents {
    kept: RwLock<Option<Arc<OfSnapshot>>>,
    /// Rendered once, however many ask.
    rendering: Mutex<()>,
}

/// All documents about one snapshot.
pub(super) struct OfSnapshot {
    snapshot: String,
    rendered: [Rendered; Document::ALL.len()],
}

pub(super) struct Rendered {
    document: Document,
    plain: Bytes,
    /// A hash of it.
    version: String,
    /// In the order of the preferred codings.
    packed: [OnceCell<Bytes>; Coding::PREFERRED.len()],
}

impl Documents {
    pub(super) async fn of(&self, service: &Arc<Service>, corpus: &Arc<Corpus>) -> Result<Arc<OfSnapshot>, ApiError> {
        if let Some(kept) = self.kept(corpus) {
            return Ok(kept);
        }
        let _rendering = self.rendering.lock().await;
        if let Some(kept) = self.kept(corpus) {
            return Ok(kept);
        }
        let (service, corpus) = (Arc::clone(service), Arc::clone(corpus));
        let rendered = tokio::task::spawn_blocking(move || Arc::new(OfSnapshot::render(&service, &corpus))).await;
        let rendered = rendered.map_err(|error| ApiError::internal(format!("render the documents: {error}")))?;
        *self.kept.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&rendered));
        Ok(rendered)
    }

    fn kept(&self, corpus: &Corpus) -> Option<Arc<OfSnapshot>> {
        let kept = self.kept.read().unwrap_or_else(PoisonError::into_inner);
        kept.as_ref().filter(|kept| kept.snapshot == corpus.id()).cloned()
    }
}

impl OfSnapshot {
    fn render(service: &Service, corpus: &Corpus) -> Self {
        let tariff = &service.accounts().settings().tariff;
        let examples = Examples::of(corpus);
        let setting = Setting { base_url: service.base_url(), snapshot: corpus.id(), examples: &examples, tariff };
        let rendered = Document::ALL.map(|document| Rendered::new(document, document.render(&setting)));
        Self { snapshot: corpus.id().to_owned(), rendered }
    }

    pub(super) fn get(&self, document: Document) -> &Rendered {
        let found = self.rendered.iter().find(|rendered| rendered.document == document);
        found.expect("every document is rendered")
    }
}

impl Rendered {
    fn new(document: Document, text: String) -> Self {
        let version = hex::encode(&Sha256::digest(&text)[..12]);
        Self { document, plain: text.into(), version, packed: Default::default() }
    }

    pub(super) fn document(&self) -> Document {
        self.document
    }

    pub(super) fn version(&self) -> &str {
        &self.version
    }

    pub(super) fn plain(&self) -> Bytes {
        self.plain.clone()
    }

    /// None for plain bytes, and while no thread is free to pack it.
    pub(super) async fn packed(&self, coding: Coding, packing: &Packing) -> Option<Bytes> {
        let place = Coding::PREFERRED.iter().position(|preferred| *preferred == coding)?;
        let pack = || async { packing.packed(self.plain(), coding, Effort::Thorough).await.ok_or(()) };
        self.packed[place].get_or_try_init(pack).await.ok().cloned()
    }
}
