//! The receiver of everything that importers read, and the errors of reading.

use std::fmt;

use hornbook_corpus::texts::TEXT_BYTES_MAX;

use crate::content::{Content, NewNode};
use crate::effect::Effect;
use crate::gather::Gatherer;
use crate::import::document::Parsed;
use crate::mistakes::Mistakes;
use crate::report::{WarningKind, Warnings};
use crate::source_files::SourceError;
use crate::spool::SpoolError;

/// Receives the output of an importer: nodes, warnings, and mistakes that make the build fail.
#[derive(Debug)]
pub struct SourceIntake<'a> {
    pub gatherer: &'a mut Gatherer,
    pub warnings: &'a mut Warnings,
    pub mistakes: &'a mut Mistakes,
    /// Words of the file that is read line by line which are left out on purpose, with the kind of words.
    pub left_out: Vec<(&'static str, String)>,
}

impl<'a> SourceIntake<'a> {
    pub fn new(gatherer: &'a mut Gatherer, warnings: &'a mut Warnings, mistakes: &'a mut Mistakes) -> Self {
        Self { gatherer, warnings, mistakes, left_out: Vec::new() }
    }

    pub fn add(&mut self, node: NewNode) -> Result<(), ImportError> {
        if let Some(bytes) = too_long(&node.content) {
            // Not passed to the gatherer, because later steps do not expect such a long text.
            let what = format!(
                "'{}' has a text of {bytes} bytes, but the limit is {TEXT_BYTES_MAX}; check whether the file is damaged, or divide the provision",
                node.key
            );
            self.mistakes.add(&node.position, what);
            return if self.mistakes.is_full() { Err(ImportError::TooManyMistakes) } else { Ok(()) };
        }
        if let Some(what) = layout_mistake(&node.content) {
            // With a wrong layout, a reader would split the text in the wrong places.
            self.mistakes
                .add(&node.position, format!("'{}' has an invalid layout: {what}; please report this", node.key));
        }
        for content in std::iter::once(&node.content).chain(&node.content.wordings) {
            if let Effect { remark: Some(remark), uncertain: true, .. } = &content.effect {
                let what = format!(
                    "'{}': '{remark}' does not show when this wording is law; its validity is marked as uncertain",
                    node.content.citation
                );
                self.warnings.add(WarningKind::UncertainValidity, &node.position, what);
            }
        }
        Ok(self.gatherer.add(node, self.mistakes)?)
    }

    /// Processes everything that was found in a document.
    pub fn take(&mut self, parsed: Parsed) -> Result<(), ImportError> {
        for (kind, position, what) in parsed.warnings {
            self.warnings.add(kind, position, what);
        }
        for (position, what) in parsed.mistakes {
            self.mistakes.add(position, what);
        }
        for include in parsed.includes {
            self.gatherer.include(include, self.mistakes);
        }
        for row in parsed.former_numbers {
            self.gatherer.add_former_number(row);
        }
        for node in parsed.inferred {
            self.gatherer.infer(node);
        }
        for node in parsed.nodes {
            if parsed.uses_plan_patterns {
                self.gatherer.count_fit(&node.content, &node.position);
            }
            self.add(node)?;
        }
        if self.mistakes.is_full() { Err(ImportError::TooManyMistakes) } else { Ok(()) }
    }

    /// Reports every mistake of a line. Reading continues unless there are too many.
    pub fn refuse(&mut self, position: &impl fmt::Display, mistakes: Vec<String>) -> Result<(), ImportError> {
        mistakes.into_iter().for_each(|what| self.mistakes.add(position, what));
        if self.mistakes.is_full() { Err(ImportError::TooManyMistakes) } else { Ok(()) }
    }
}

/// The length of the first text of a node, or of its wordings, that is longer than a snapshot allows.
fn too_long(content: &Content) -> Option<usize> {
    let own = [Some(&content.heading), content.text.as_ref(), content.source_credit.as_ref()];
    let notes = content.notes.iter().flat_map(|note| [&note.topic, &note.text]);
    let mut lengths = own.into_iter().flatten().chain(notes).map(String::len);
    lengths.find(|length| *length > TEXT_BYTES_MAX).or_else(|| content.wordings.iter().find_map(too_long))
}

/// The first error in the layouts that an importer made for the texts of a node.
fn layout_mistake(content: &Content) -> Option<String> {
    let of_text = (&content.layout, content.text.as_deref().unwrap_or_default());
    let of_notes = content.notes.iter().map(|note| (&note.layout, note.text.as_str()));
    let mut set = std::iter::once(of_text).chain(of_notes).filter(|(layout, _)| !layout.is_empty());
    let own = set.find_map(|(layout, text)| layout.check_against_text(text));
    own.or_else(|| content.wordings.iter().find_map(layout_mistake))
}

/// Why reading a source stopped early. Mistakes in single lines do not stop it.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    #[error("{0}")]
    Source(#[from] SourceError),
    #[error("{0}")]
    Spool(#[from] SpoolError),
    /// The mistakes are in the intake.
    #[error("there are too many errors in the sources")]
    TooManyMistakes,
}
