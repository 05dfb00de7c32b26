//! The day whose law a call asks for.

use std::sync::Arc;

use hornbook_base::clock::Now;
use hornbook_corpus::day::Day;
use hornbook_search::LawOnDay;

use super::operation::CheckedCall;
pub use super::page_links::AS_OF_NAME;
use super::page_links::PageLinks;
use super::parameters::Param;

pub(super) const AS_OF: Param<Option<Day>> = Param::optional(AS_OF_NAME, "as of a day, 2026-01-31; default: today");

/// The day that a call asks about, with the law as of that day.
#[derive(Clone, Debug)]
pub(super) struct RequestedDay {
    pub(super) day: Day,
    /// Whether the call gave the day. If it did not, the day is today.
    pub(super) is_named: bool,
    pub(super) law: Arc<LawOnDay>,
    /// The pages that show the law of this day.
    pub(super) pages: PageLinks,
}

impl RequestedDay {
    /// For an operation whose table row lists [`AS_OF`].
    pub(super) fn of<C>(call: &CheckedCall<'_, C>) -> Self {
        Self::named_or_today(call, call.get(&AS_OF))
    }

    pub(super) fn named_or_today<C>(call: &CheckedCall<'_, C>, named: Option<Day>) -> Self {
        let day = named.unwrap_or_else(|| today(call.now));
        let law = call.corpus.engine().law_on(Some(day));
        Self { day, is_named: named.is_some(), law, pages: PageLinks::new(call.link_base, named) }
    }
}

/// Today by the service's clock, in UTC.
pub fn today(now: Now) -> Day {
    let (year, month, day) = now.wall.day().civil();
    u32::try_from(year).ok().and_then(|year| Day::from_parts(year, month, day)).unwrap_or(Day::LAST)
}
