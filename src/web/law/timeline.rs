//! What became of a provision through the editions that are kept: on its page and on the page of its history.

use std::sync::Arc;

use hornbook_base::sentence::sentence;
use hornbook_corpus::day::Day;
use hornbook_corpus::ids::NodeId;
use hornbook_editions::{ChangeKind, CodeEdition, ListedChange};
use maud::{Markup, html};

use super::address::View;
use super::dated_provision::DatedProvision;
use crate::api::corpus::Corpus;
use crate::api::error::ApiError;
use crate::api::node_history::NodeHistory;
use crate::web::formatting::{self, written_day};
use crate::web::untrusted_text::UntrustedText;

/// A page of law shows at most this many changes; the page of the history has all.
const SHOWN_MAX: usize = 8;

/// The changes of a provision, for its page.
pub(super) struct Timeline {
    /// The latest first, each with the days between which it came.
    changes: Vec<(ListedChange, Option<[Day; 2]>)>,
    total: usize,
    /// The oldest edition that has the provision, and how many have it.
    oldest: CodeEdition,
    editions: usize,
}

impl Timeline {
    /// None if no other edition of the provision's code is kept. `served` has the shelf.
    pub(super) fn of(served: &Arc<Corpus>, id: NodeId) -> Result<Option<Self>, ApiError> {
        if !served.has_shelf() {
            return Ok(None);
        }
        let Some(history) = NodeHistory::of(served, id) else { return Ok(None) };
        let Some((oldest, _)) = history.editions.first().copied() else { return Ok(None) };
        if history.editions.len() == 1 && history.changes.is_empty() {
            return Ok(None);
        }
        let latest = history.changes.iter().rev().take(SHOWN_MAX);
        let changes = latest.map(|change| {
            let days = change.old.0.current_through.zip(change.new.0.current_through);
            let is_comparable = change.change.old.is_some() && change.change.new.is_some();
            Ok((change.listed(served)?, days.filter(|_| is_comparable).map(<[Day; 2]>::from)))
        });
        Ok(Some(Self {
            changes: changes.collect::<Result<_, ApiError>>()?,
            total: history.changes.len(),
            oldest: oldest.clone(),
            editions: history.editions.len(),
        }))
    }

    /// The section of the page of a provision on a day.
    pub(super) fn section(&self, provision: &DatedProvision<'_>, day: Day) -> Markup {
        let history = provision.path_of(View::History);
        let coming = provision.wordings.iter().filter_map(|wording| wording.effective_from);
        let coming: Vec<Day> = coming.filter(|from| *from > day).collect();
        html! {
            section.changes aria-labelledby="changes" {
                h2 #changes { "Changes" }
                @if self.changes.is_empty() && coming.is_empty() {
                    p { "Unchanged in the " (self.editions) " editions that are kept here." }
                } @else {
                    ol.timeline {
                        @for from in &coming {
                            li { strong { a href="#wordings" { "Another wording" } } " takes effect on " (written_day(*from)) "." }
                        }
                        @for (change, days) in &self.changes {
                            li {
                                (described(change))
                                @if let Some([from, to]) = days.filter(|_| is_reworded(change)) {
                                    " " a href={ (history) "?from=" (from) "&to=" (to) "#compare" } { "Compare" span.unseen { " " (written_day(from)) " with " (written_day(to)) } }
                                }
                            }
                        }
                    }
                }
                @if self.total > self.changes.len() { p { a href=(history) { "All " (self.total) " changes" } } }
                (self.floor())
            }
        }
    }

    /// How far back it is known.
    fn floor(&self) -> Markup {
        html! {
            p.also {
                "Oldest edition that is kept here: " (UntrustedText(&self.oldest.edition))
                @if let Some(day) = self.oldest.current_through { ", current through " (written_day(day)) }
                ". What changed before is not known."
            }
        }
    }
}

/// Changes, the latest first.
pub(super) fn list(changes: &[ListedChange]) -> Markup {
    html! {
        @if !changes.is_empty() { ol.timeline { @for change in changes { li { (described(change)) } } } }
    }
}

fn described(change: &ListedChange) -> Markup {
    html! {
        strong { (UntrustedText(&sentence(&what_happened(change)))) }
        " " (formatting::notice(&sentence(&change.date.sentence())))
        @if !change.acts.is_empty() { " " span.also { "By " (UntrustedText(&change.acts.join("; "))) "." } }
    }
}

pub(in crate::web) fn is_reworded(change: &ListedChange) -> bool {
    change.differs.iter().any(|part| part == "text")
}

/// A change in words: `reworded, with another heading`, `renumbered from 14 U.S.C. § 652`.
pub(in crate::web) fn what_happened(change: &ListedChange) -> String {
    let formerly = change.formerly.as_ref().map_or(String::new(), |before| format!(" from {}", before.citation));
    // What is named besides the kind. Of law that is gone or new, nothing needs to be named.
    let named: &[&str] = match change.kind {
        ChangeKind::Reworded => &["heading", "place"],
        ChangeKind::Retitled => &["place"],
        ChangeKind::Moved => &["text", "heading"],
        ChangeKind::Renumbered if change.formerly.is_some() => &["text", "heading"],
        _ => &[],
    };
    let also: Vec<&str> = change.differs.iter().map(String::as_str).filter(|part| named.contains(part)).collect();
    let also = if also.is_empty() { String::new() } else { format!(", with another {}", also.join(" and ")) };
    format!("{}{formerly}{also}", change.kind.as_str())
}
