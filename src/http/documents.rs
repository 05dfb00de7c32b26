//! The documents of the table, rendered once for each snapshot that is served, and packed when somebody first asks for them
//! so.

use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use bytes::Bytes;
use sha2::{Digest, Sha256};

use super::packing::{Coding, Effort};
use crate::api::corpus::Corpus;
use crate::api::documents::{Document, Setting};
use crate::api::service::Service;

/// Those of the snapshot that was asked about last.
pub(super) struct Documents(RwLock<Arc<OfSnapshot>>);

/// What all say about one snapshot.
pub(super) struct OfSnapshot {
    snapshot: String,
    rendered: [Rendered; Document::ALL.len()],
}

pub(super) struct Rendered {
    document: Document,
    plain: Bytes,
    /// A hash of it.
    version: String,
    /// By the place of the coding among the preferred ones.
    packed: [OnceLock<Option<Bytes>>; Coding::PREFERRED.len()],
}

impl Documents {
    pub(super) fn new(service: &Service) -> Self {
        Self(RwLock::new(Arc::new(OfSnapshot::render(service, &service.corpus()))))
    }

    pub(super) fn of(&self, service: &Service, corpus: &Corpus) -> Arc<OfSnapshot> {
        let Self(kept) = self;
        let documents = Arc::clone(&kept.read().unwrap_or_else(PoisonError::into_inner));
        if documents.snapshot == corpus.id() {
            return documents;
        }
        let documents = Arc::new(OfSnapshot::render(service, corpus));
        *kept.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&documents);
        documents
    }
}

impl OfSnapshot {
    fn render(service: &Service, corpus: &Corpus) -> Self {
        let tariff = &service.accounts().settings().tariff;
        let setting = Setting { base_url: service.base_url(), snapshot: corpus.id(), tariff };
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
        let version = Sha256::digest(&text)[..12].iter().map(|byte| format!("{byte:02x}")).collect();
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

    /// None for plain bytes.
    pub(super) fn packed(&self, coding: Coding) -> Option<Bytes> {
        let place = Coding::PREFERRED.iter().position(|preferred| *preferred == coding)?;
        self.packed[place].get_or_init(|| coding.pack(&self.plain, Effort::Thorough)).clone()
    }
}
