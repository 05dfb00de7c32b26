//! A node as an importer delivers it: its content, its handle, and its place among other nodes.

use hornbook_corpus::layout::Layout;
use hornbook_corpus::nodes::ActName;
use hornbook_corpus::outline::Status;
use serde::{Deserialize, Serialize};

use crate::effect::Effect;
use crate::naming::NameParts;
use crate::order::SortKey;
use crate::report::SourcePosition;

/// The content of a node, as its importer knows it. The gatherer keeps a small part in memory and
/// writes the rest to disk.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Content {
    pub citation: String,
    pub heading: String,
    pub level: String,
    pub number: Option<String>,
    pub status: Option<Status>,
    /// None for a pure container.
    pub text: Option<String>,
    /// The layout of the text; empty if the source does not state it.
    #[serde(default, skip_serializing_if = "Layout::is_empty")]
    pub layout: Layout,
    pub notes: Vec<ContentNote>,
    pub source_credit: Option<String>,
    pub tags: Vec<String>,
    pub former_citations: Vec<String>,
    /// Its former citations are those of an earlier code, under which its source credit names no acts.
    #[serde(default)]
    pub restates_earlier_code: bool,
    pub parallel_citations: Vec<String>,
    /// The citation of the law under its new number, if the source states that it was renumbered or transferred.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub now: Option<String>,
    /// The sections of acts that the provision is: `Pub. L. 93-406, § 502`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub act_sections: Vec<String>,
    /// The names of acts that its notes tie to laws.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub act_names: Vec<ActName>,
    /// The time in which this wording is law, as the source states it.
    #[serde(default)]
    pub effect: Effect,
    /// Further complete wordings that the source prints together with this one. They share the
    /// names of this one.
    pub wordings: Vec<Content>,
    pub source_url: Option<String>,
    pub current_through: Option<String>,
    /// The publisher's own reference, used to order nodes that are otherwise equal.
    pub reference: String,
    /// Index into the sources of the catalogue.
    pub source: u16,
    /// The name that the source uses for the parent, if any; for the error message if there is no such node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_key: Option<String>,
    /// Key and citation must be completed with the names of the containers around it.
    #[serde(skip)]
    pub name_parts: Option<NameParts>,
    /// The effective time stated for its containers, by their headings or a provision in them:
    /// `Subchapter VI. Training. [Expires September 30, 2024]`. The gatherer sets it.
    #[serde(skip)]
    pub container: Option<Box<Effect>>,
}

impl Content {
    /// Its text, if it is law: not that of a provision that its source calls repealed, for example.
    pub(crate) fn text_of_law(&self) -> Option<&str> {
        self.text.as_deref().filter(|_| self.status.is_none_or(|status| status == Status::InForce))
    }

    /// Completes its number and citations with the names of its containers. The parallel citations of a provision are
    /// its further numbers.
    pub fn complete_names(&mut self, names: &NameParts) {
        let given = std::mem::take(&mut self.citation);
        if let Some(own) = &self.number {
            for further in &mut self.parallel_citations {
                if let Some(citation) = names.further_citation(&given, own, further) {
                    *further = citation;
                }
            }
        }
        self.citation = names.citation(&given);
        self.number = names.provision_number().map(str::to_owned).or(self.number.take());
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ContentNote {
    pub topic: String,
    pub text: String,
    #[serde(default, skip_serializing_if = "Layout::is_empty")]
    pub layout: Layout,
}

/// Identifies a node while its tree is incomplete. It is a hash, so that millions of handles need
/// little memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeHandle(u128);

impl NodeHandle {
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

/// How to handle two nodes of a source with the same key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnRepeat {
    /// The source numbers its nodes itself, so a repeated key is an error.
    Refuse,
    /// The key was made from a citation, which real sources repeat: wordings are joined, others are
    /// kept as separate nodes.
    Reconcile,
    /// A container that several documents contain, such as a title in several volumes: the first one is kept.
    Share,
    /// A line of a page of contents: any node with the same key has the provision itself.
    GiveWay,
    /// The source states that this is a second wording: it joins the other node, wherever that is.
    Wording,
}

/// A node as an importer delivers it.
#[derive(Debug)]
pub struct NewNode {
    pub handle: NodeHandle,
    pub parent: Option<NodeHandle>,
    /// The stable source key from which the node id is made.
    pub key: String,
    /// The sort key among its siblings. If empty, the first descendant decides.
    pub sort: SortKey,
    pub on_repeat: OnRepeat,
    pub content: Content,
    pub position: SourcePosition,
}
