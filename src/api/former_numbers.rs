//! Citations of numbers that only an older edition has: what they are now.

use std::sync::Arc;

use hornbook_search::{AnswerKind, CitationAnswer, LawOnDay};

use super::corpus::Corpus;
use super::error::ApiError;
use super::node_history::{NodeChange, NodeHistory};

impl Corpus {
    /// Adds to the answer for a number that the served edition does not have what became of it, if an older edition has
    /// it. The answer stays `not_held`: the law has no such number.
    pub(super) fn follow_former_number(
        self: &Arc<Self>,
        law: &LawOnDay,
        answer: &mut CitationAnswer,
    ) -> Result<(), ApiError> {
        let Some(citation) = answer.citation.clone() else { return Ok(()) };
        if answer.answer != AnswerKind::NotHeld || !answer.candidates.is_empty() || !self.has_shelf() {
            return Ok(());
        }
        let in_edition = |edition: &Self| edition.engine().resolve(&citation).ok()?.first()?.node_id;
        let Some(history) = self.in_any_edition(in_edition).and_then(|id| NodeHistory::of(self, id)) else {
            return Ok(());
        };
        let Some((edition, last)) = history.editions.last() else { return Ok(()) };
        let change = history.changes.last().map(|change| described(self, change)).transpose()?.unwrap_or_default();
        if last.place.is_some() {
            let day =
                edition.current_through.map_or(String::new(), |day| format!("; ask with asOf={day} for its text"));
            answer.message = format!("{citation} was in an older edition ({}){change}{day}", edition.edition);
            return Ok(());
        }
        let now = self.snapshot().cards.get(last.node)?.citation.to_owned();
        answer.candidates =
            self.engine().resolve_on(law, &now)?.into_iter().flat_map(|found| found.candidates).collect();
        answer.message = format!("{citation} has another number now: it is {now}{change}");
        Ok(())
    }
}

/// `: renumbered, after 2016-09-14, by 2025-08-26`.
fn described(corpus: &Arc<Corpus>, change: &NodeChange<'_>) -> Result<String, ApiError> {
    let listed = change.listed(corpus)?;
    Ok(format!(": {}, {}", listed.kind.as_str(), listed.date.sentence()))
}
