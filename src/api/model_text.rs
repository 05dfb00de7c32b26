//! The text of a reply for language models: short, with a link to each provision. Programs read the JSON that
//! comes with it.
//!
//! Some clients show a model only the text, so the text contains everything that the next call needs, such
//! as the ids. A reply without such a text is shown as its JSON.

use std::fmt::{self, Write as _};

use hornbook_corpus::day::Day;
use hornbook_corpus::ids::NodeId;
use hornbook_corpus::outline::Status;
use serde::Deserialize;

use super::corpus::NodeLink;
use super::currency::Currency;

/// Maximum number of list entries in the text. The JSON has all entries.
const LISTED: usize = 100;

/// The text of a reply, and the provisions that it names.
#[derive(Debug, Default)]
pub struct ModelText {
    pub text: String,
    pub links: Vec<ModelLink>,
}

/// A provision that a text names.
#[derive(Debug)]
pub struct ModelLink {
    pub id: NodeId,
    pub citation: String,
    pub heading: String,
}

/// A reply that has a text for models.
pub(super) trait ForModel {
    fn for_model(&self) -> ModelText;
}

/// Reads the JSON of a reply and writes its text. A row of the operations table names it with the type of its
/// reply.
pub(super) fn written_for_model<'b, R: ForModel + Deserialize<'b>>(json: &'b str) -> serde_json::Result<ModelText> {
    Ok(serde_json::from_str::<R>(json)?.for_model())
}

impl ModelText {
    pub(super) fn of(text: String) -> Self {
        Self { text, links: Vec::new() }
    }

    pub(super) fn link(&mut self, id: NodeId, citation: &str, heading: &str) {
        self.links.push(ModelLink { id, citation: citation.to_owned(), heading: heading.to_owned() });
    }

    /// Adds what editions do not know, a line for each.
    pub(super) fn notes(&mut self, notices: &[String]) {
        for notice in notices {
            let _ = writeln!(self.text, "Note: {notice}");
        }
    }

    /// Adds a line and a link for each node, with the number of its direct children.
    pub(super) fn list<'l, 's: 'l>(&mut self, nodes: impl ExactSizeIterator<Item = (&'l NodeLink<'s>, usize)>) {
        let count = nodes.len();
        for (node, child_count) in nodes.take(LISTED) {
            let NodeLink { id, citation, heading, .. } = node;
            let inside = match child_count {
                0 => String::new(),
                count => format!(", contains {count}"),
            };
            let _ = writeln!(self.text, "- {citation} {heading} ({}, id {id}{inside})", node.standing());
            self.link(*id, citation, heading);
        }
        if count > LISTED {
            let _ = writeln!(self.text, "The other {} of this page are in structuredContent.", count - LISTED);
        }
    }
}

/// The status of a provision, its days, and the day through which its edition is current.
pub(super) struct Standing {
    pub(super) status: Status,
    pub(super) from: Option<Day>,
    pub(super) to: Option<Day>,
    pub(super) through: Option<Day>,
    /// The day on which the copy was retrieved.
    pub(super) retrieved: Option<Day>,
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.status.as_str())?;
        for (word, day) in [("from", self.from), ("until", self.to)] {
            if let Some(day) = day {
                write!(f, ", {word} {day}")?;
            }
        }
        let Self { through, retrieved, .. } = *self;
        f.write_str(&Currency { through, retrieved, is_outdated: false }.after(", "))
    }
}

impl NodeLink<'_> {
    fn standing(&self) -> Standing {
        Standing {
            status: self.status,
            from: self.effective_from,
            to: self.effective_to,
            through: self.current_through,
            retrieved: self.retrieved_at,
        }
    }
}
