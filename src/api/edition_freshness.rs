//! How current an edition is, and what it does not know about the requested day.
//!
//! If a source does not state through which day it is current, it contains nothing later than the day on which it was
//! retrieved. That day is shown as the day of the copy, never as a day through which the copy is current.

use hornbook_corpus::day::Day;
use hornbook_corpus::ids::{CodeBodyId, NodeOrdinal, OrdinalRange};
use hornbook_corpus::outline::Status;
use hornbook_corpus::validity::ShownWording;

use super::as_of::RequestedDay;
use super::corpus::Corpus;
use super::currency::Currency;
use super::error::ApiError;

/// What an edition knows about a day.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum EditionCertainty {
    /// It knows the law of that day.
    Certain,
    /// Its source does not state through which day it is current. It was not retrieved before the day.
    Unstated,
    /// The day is after the edition's last day, by at most a year. The law may have changed in between. The last day
    /// is the one through which the edition is current or, if that is not stated, the one on which it was retrieved.
    Past,
    /// The same, by more than a year.
    LongPast,
    /// It knows the law of its last day, but not since when this wording has been law.
    Undated,
    /// The day is before its oldest wording.
    TooEarly,
}

impl EditionCertainty {
    /// The letter for this in the version of an answer. Another letter if the notice has other words than before.
    pub(super) const fn letter(self) -> char {
        match self {
            Self::Certain => 'c',
            Self::Unstated => 'r',
            Self::Past => 'p',
            Self::LongPast => 'l',
            Self::Undated => 'u',
            Self::TooEarly => 'e',
        }
    }
}

/// How current the edition of a node is, for a given day.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct EditionFreshness {
    pub(super) through: Option<Day>,
    /// The day on which the copy was retrieved, if `through` is not stated.
    pub(super) retrieved: Option<Day>,
    pub(super) knowledge: EditionCertainty,
}

impl EditionFreshness {
    pub(super) fn of(corpus: &Corpus, node: NodeOrdinal, shown: &ShownWording, day: Day) -> Result<Self, ApiError> {
        let (through, retrieved) = corpus.edition_days(node)?;
        let is_provision = corpus.snapshot().outline.is_provision(node);
        Ok(Self { through, retrieved, knowledge: knowledge(through, retrieved, is_provision, shown, day) })
    }

    /// The freshness of all nodes in a range together: that of the oldest edition.
    pub(super) fn of_range(corpus: &Corpus, nodes: OrdinalRange, day: Day) -> Self {
        let through = corpus.engine().oldest_current_through(nodes);
        let retrieved = if through.is_none() { corpus.oldest_retrieved(nodes) } else { None };
        let whole = ShownWording::constant(Status::InForce);
        Self { through, retrieved, knowledge: knowledge(through, retrieved, false, &whole, day) }
    }

    /// The notice for readers. `None` if the edition knows the law of the day.
    pub(super) fn notice(&self) -> Option<String> {
        let edition = match (self.through, self.retrieved) {
            (Some(through), _) => format!("This edition is current through {through}"),
            (None, Some(retrieved)) => format!(
                "The source does not state through which day it is current; this copy was retrieved on {retrieved}"
            ),
            (None, None) => "The source does not state through which day it is current".to_owned(),
        };
        match self.knowledge {
            EditionCertainty::Certain => None,
            EditionCertainty::Unstated => Some(format!("{edition}.")),
            EditionCertainty::Past => Some(format!("{edition}. It does not include later changes.")),
            EditionCertainty::LongPast => Some(format!(
                "{edition}, more than a year before the requested day. The law may have changed since then."
            )),
            EditionCertainty::Undated => {
                Some(format!("{edition}. It does not state since when this wording has been law."))
            }
            EditionCertainty::TooEarly => Some(format!("{edition}. It contains no wordings older than its first one.")),
        }
    }

    pub(super) const fn is_outdated(&self) -> bool {
        matches!(self.knowledge, EditionCertainty::LongPast)
    }

    pub(super) const fn currency(&self) -> Currency {
        Currency { through: self.through, retrieved: self.retrieved, is_outdated: self.is_outdated() }
    }
}

/// What the editions of several nodes do not know about a day: each statement once, with the name of
/// its code body.
#[derive(Debug, Default)]
pub(super) struct EditionNotices {
    seen: Vec<(Option<CodeBodyId>, EditionFreshness)>,
    notices: Vec<String>,
}

impl EditionNotices {
    /// Adds a node, and returns how current its edition is.
    pub(super) fn add(
        &mut self,
        corpus: &Corpus,
        node: NodeOrdinal,
        shown: &ShownWording,
        asked: &RequestedDay,
    ) -> Result<EditionFreshness, ApiError> {
        let freshness = EditionFreshness::of(corpus, node, shown, asked.day)?;
        if !freshness.is_worth_a_notice(asked) {
            return Ok(freshness);
        }
        let body = corpus.snapshot().code_body_of(node);
        let key = (body.map(|body| body.id), freshness);
        if !self.seen.contains(&key) {
            self.seen.push(key);
            let name = body.map(|body| format!("{}: ", body.name)).unwrap_or_default();
            self.notices.extend(freshness.notice().map(|notice| format!("{name}{notice}")));
        }
        Ok(freshness)
    }

    /// Adds the nodes of a list, each as it is on the day.
    pub(super) fn of(
        corpus: &Corpus,
        nodes: impl IntoIterator<Item = NodeOrdinal>,
        asked: &RequestedDay,
    ) -> Result<Vec<String>, ApiError> {
        let mut all = Self::default();
        for node in nodes {
            all.add(corpus, node, &asked.law.shown(node), asked)?;
        }
        Ok(all.into_vec())
    }

    pub(super) fn into_vec(self) -> Vec<String> {
        self.notices
    }
}

impl EditionFreshness {
    /// Whether a list shows the notice. For today only if the edition ended more than a year ago; for
    /// a day that the call gave also in other cases.
    fn is_worth_a_notice(self, asked: &RequestedDay) -> bool {
        match self.knowledge {
            EditionCertainty::LongPast => true,
            EditionCertainty::Past | EditionCertainty::Undated | EditionCertainty::TooEarly => asked.is_named,
            EditionCertainty::Certain | EditionCertainty::Unstated => false,
        }
    }
}

fn knowledge(
    through: Option<Day>,
    retrieved: Option<Day>,
    is_provision: bool,
    shown: &ShownWording,
    day: Day,
) -> EditionCertainty {
    let Some(last) = through.or(retrieved) else { return EditionCertainty::Unstated };
    if day > last.one_year_later() {
        return EditionCertainty::LongPast;
    }
    if day > last {
        return EditionCertainty::Past;
    }
    let Some(through) = through else { return EditionCertainty::Unstated };
    match (shown.status, shown.from) {
        _ if !is_provision || day == through => EditionCertainty::Certain,
        (_, Some(from)) if day < from => EditionCertainty::TooEarly,
        (_, None) => EditionCertainty::Undated,
        (_, Some(_)) => EditionCertainty::Certain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> Day {
        text.parse().unwrap()
    }

    #[test]
    fn certainty_depends_on_the_day_and_the_wording() {
        let through = Some(day("2022-09-30"));
        let undated = ShownWording::constant(Status::InForce);
        let dated = ShownWording { from: Some(day("2020-01-01")), ..undated };
        let early = ShownWording { status: Status::NotYetEffective, ..dated };
        let before_amendment = ShownWording { status: Status::Uncertain, ..dated };
        for (shown, date, expected) in [
            (&undated, "2022-09-30", EditionCertainty::Certain),
            (&undated, "2022-09-29", EditionCertainty::Undated),
            (&dated, "2022-09-29", EditionCertainty::Certain),
            (&early, "2019-12-31", EditionCertainty::TooEarly),
            (&before_amendment, "2019-12-31", EditionCertainty::TooEarly),
            (&dated, "2022-10-01", EditionCertainty::Past),
            (&dated, "2023-09-30", EditionCertainty::Past),
            (&dated, "2023-10-01", EditionCertainty::LongPast),
        ] {
            assert_eq!(knowledge(through, None, true, shown, day(date)), expected, "{date} {shown:?}");
        }
        assert_eq!(knowledge(through, None, false, &undated, day("2021-01-01")), EditionCertainty::Certain);
        assert_eq!(knowledge(None, None, true, &dated, day("2021-01-01")), EditionCertainty::Unstated);
    }

    #[test]
    fn a_copy_without_a_stated_day_contains_nothing_later_than_its_retrieval() {
        let retrieved = Some(day("2022-09-30"));
        let shown = ShownWording::constant(Status::InForce);
        for (date, expected, words) in [
            ("2022-09-30", EditionCertainty::Unstated, "retrieved on 2022-09-30."),
            ("2022-10-01", EditionCertainty::Past, "retrieved on 2022-09-30. It does not include later changes."),
            ("2023-09-30", EditionCertainty::Past, "retrieved on 2022-09-30. It does not include later changes."),
            (
                "2023-10-01",
                EditionCertainty::LongPast,
                "retrieved on 2022-09-30, more than a year before the requested day.",
            ),
        ] {
            let knowledge = knowledge(None, retrieved, true, &shown, day(date));
            assert_eq!(knowledge, expected, "{date}");
            let freshness = EditionFreshness { through: None, retrieved, knowledge };
            let notice = freshness.notice().unwrap();
            let start = "The source does not state through which day it is current; this copy was ";
            assert!(notice.starts_with(&format!("{start}{words}")), "{notice}");
            let old = if expected == EditionCertainty::LongPast { " (over a year old)" } else { "" };
            assert_eq!(freshness.currency().to_string(), format!("copy of 2022-09-30{old}"));
        }
    }

    #[test]
    fn a_notice_names_the_last_day_that_is_known() {
        let notice =
            |knowledge| EditionFreshness { through: Some(day("2022-09-30")), retrieved: None, knowledge }.notice();
        assert_eq!(notice(EditionCertainty::Certain), None);
        for knowledge in
            [EditionCertainty::Past, EditionCertainty::LongPast, EditionCertainty::Undated, EditionCertainty::TooEarly]
        {
            assert!(notice(knowledge).unwrap().starts_with("This edition is current through 2022-09-30"));
        }
    }
}
