//! A node as importers hand it over: its content, its handle, and how it is placed among others.

use hornbook_corpus::layout::Layout;
use hornbook_corpus::outline::Status;
use serde::{Deserialize, Serialize};

use crate::effect::Effect;
use crate::naming::NameParts;
use crate::order::SortKey;
use crate::report::SourcePosition;

/// What an importer knows of a node. The gatherer keeps a small part in memory and puts the rest on disk.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Content {
    pub citation: String,
    pub heading: String,
    pub level: String,
    pub number: Option<String>,
    pub status: Option<Status>,
    /// Absent on a pure container.
    pub text: Option<String>,
    /// How the text is set; empty if the source does not say.
    #[serde(default, skip_serializing_if = "Layout::is_empty")]
    pub layout: Layout,
    pub notes: Vec<ContentNote>,
    pub source_credit: Option<String>,
    pub tags: Vec<String>,
    pub former_citations: Vec<String>,
    pub parallel_citations: Vec<String>,
    /// When this wording is law, as the source says.
    #[serde(default)]
    pub effect: Effect,
    /// Further wordings that the source prints together with this one, each whole; their names are those of this one.
    pub wordings: Vec<Content>,
    pub source_url: Option<String>,
    pub current_through: Option<String>,
    /// The publisher's own reference, to order what is otherwise alike.
    pub reference: String,
    /// Index into the catalogue's sources.
    pub source: u16,
    /// What the source calls the parent, where it names one: for the message if there is no such node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_key: Option<String>,
    /// Key and citation have to be completed from the containers around it.
    #[serde(skip)]
    pub name_parts: Option<NameParts>,
    /// What the headings of the containers around it say of the time in which it is law: `Subchapter VI. Training. [Expires
    /// September 30, 2024]`. Gathering finds it out.
    #[serde(skip)]
    pub container: Option<Box<Effect>>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ContentNote {
    pub topic: String,
    pub text: String,
    #[serde(default, skip_serializing_if = "Layout::is_empty")]
    pub layout: Layout,
}

/// Names a node while its tree is not complete: a hash, so that millions of handles cost little.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Handle(u128);

impl Handle {
    /// `name` must be unique within its code body.
    pub fn new(body_key: &str, name: &str) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(body_key.as_bytes());
        hasher.update(&[0]);
        hasher.update(name.as_bytes());
        let mut bytes = [0; 16];
        hasher.finalize_xof().fill(&mut bytes);
        Self(u128::from_le_bytes(bytes))
    }
}

/// What to do if two nodes of a source have the same key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnRepeat {
    /// The source numbers its nodes itself: a second one is an error.
    Refuse,
    /// The key was made from a citation, which real sources repeat: wordings are joined, others kept apart.
    Reconcile,
    /// A container that several documents hold, such as a title in several volumes: the first is kept.
    Share,
    /// The source says that it is a second wording: it joins the other node, wherever that one stands.
    Wording,
}

/// A node as an importer hands it over.
#[derive(Debug)]
pub struct NewNode {
    pub handle: Handle,
    pub parent: Option<Handle>,
    /// The stable key its id is made from.
    pub key: String,
    /// How it sorts among its siblings; an empty key lets what is below it decide.
    pub sort: SortKey,
    pub on_repeat: OnRepeat,
    pub content: Content,
    pub position: SourcePosition,
}
