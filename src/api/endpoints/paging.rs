//! Pages of results: the page that a call asks for, and the pages that exist.

use hornbook_search::RESULTS_MAX;

use crate::api::error::Violation;
use crate::api::operation::CheckedCall;
use crate::api::parameters::{BoundedInteger, Param};
use crate::api::reply::Pages;

pub(in crate::api) const PAGE: Param<BoundedInteger<1, RESULTS_MAX>> =
    Param::page_number("page number from 1; page times limit is at most 10,000");

pub(in crate::api) const LIMIT: Param<BoundedInteger<1, 100>> = Param::with_default("limit", "20", "results per page");

/// One page of the first [`RESULTS_MAX`] results.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Paging {
    pub(super) page: u32,
    pub(super) limit: u32,
}

impl Paging {
    pub(super) fn of<C>(call: &CheckedCall<'_, C>) -> Result<Self, Violation> {
        let (page, limit) = (call.get(&PAGE), call.get(&LIMIT));
        match page.checked_mul(limit) {
            Some(end) if end <= RESULTS_MAX => Ok(Self { page, limit }),
            _ => {
                let message = format!("page x limit is beyond result {RESULTS_MAX}, the last that can be paged to");
                Err(Violation::new(PAGE.rule.name, message))
            }
        }
    }

    /// The number of results before the page.
    pub(super) fn skipped(self) -> usize {
        (self.page as usize - 1) * self.limit as usize
    }

    /// The pages of `total` results, without those that a call cannot ask for.
    pub(super) fn pages(self, total: usize) -> Pages {
        let reachable = RESULTS_MAX / self.limit;
        let needed = total.div_ceil(self.limit as usize);
        Pages { page: self.page, last: u32::try_from(needed).unwrap_or(u32::MAX).clamp(1, reachable) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_page_is_reachable() {
        let last = |limit: u32, total: usize| Paging { page: 1, limit }.pages(total).last;
        assert_eq!((last(20, 0), last(20, 20), last(20, 21)), (1, 1, 2));
        assert_eq!((last(100, 9_999), last(100, 10_001), last(100, usize::MAX)), (100, 100, 100));
        // 333 pages of 30 reach 9,990; the 334th would end beyond the last result.
        assert_eq!(last(30, 10_000), 333);
        assert_eq!(Paging { page: 3, limit: 20 }.skipped(), 40);
    }
}
