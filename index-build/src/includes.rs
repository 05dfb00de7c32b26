//! Documents that other documents include: `xi:include` names a file, whose nodes belong below the
//! place of the include.

use std::collections::{HashMap, HashSet};

use crate::content::NodeHandle;
use crate::mistakes::Mistakes;
use crate::report::SourcePosition;

/// A document states that another one belongs here.
#[derive(Clone, Debug)]
pub struct Include {
    /// The parent handle that the nodes of the included document name.
    pub document: NodeHandle,
    /// The node below which they belong; None if they are at the top of the code.
    pub below: Option<NodeHandle>,
    pub position: SourcePosition,
    /// The included document, for messages.
    pub name: String,
}

/// The includes of a code body.
#[derive(Debug, Default)]
pub(crate) struct Includes {
    places: HashMap<NodeHandle, Include>,
}

impl Includes {
    /// Adds an include. Including a document twice is a mistake of the source.
    pub(crate) fn add(&mut self, include: Include, mistakes: &mut Mistakes) {
        if let Some(first) = self.places.get(&include.document) {
            let what =
                format!("'{}' is already included at {}; include every document once", include.name, first.position);
            mistakes.add(include.position, what);
        } else {
            self.places.insert(include.document, include);
        }
    }

    /// Where the document with this handle belongs, if any document includes it.
    pub(crate) fn place_of(&self, document: NodeHandle) -> Option<Option<NodeHandle>> {
        self.places.get(&document).map(|include| include.below)
    }

    /// Checks that every include added nodes. A missing document would be lost law.
    pub(crate) fn check(&self, named: &HashSet<NodeHandle>, mistakes: &mut Mistakes) {
        let mut missing: Vec<&Include> =
            self.places.values().filter(|include| !named.contains(&include.document)).collect();
        missing.sort_by(|a, b| (&a.position, &a.name).cmp(&(&b.position, &b.name)));
        for include in missing {
            let what = format!("'{}' is included here, but the source contains no such file with law", include.name);
            mistakes.add(&include.position, what);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    pub(crate) fn clear(&mut self) {
        self.places.clear();
    }
}
