//! The addresses of the web pages on which people read what an answer contains.

use hornbook_corpus::day::Day;
use hornbook_corpus::ids::NodeId;

use super::as_of::{AS_OF_NAME, RequestedDay};
use super::operation::CheckedCall;

/// The beginning of the path of every page of a provision or container.
pub(crate) const LAW_PATH: &str = "/law/";

/// Makes the addresses of the pages for the answers of one call.
#[derive(Clone, Debug)]
pub(super) struct PageLinks {
    base_url: String,
    /// The day that the call named: the page then shows the same wording.
    named_day: Option<Day>,
}

impl PageLinks {
    pub(super) fn of<C>(call: &CheckedCall<'_, C>, asked: &RequestedDay) -> Self {
        Self { base_url: call.base_url.to_owned(), named_day: asked.is_named.then_some(asked.day) }
    }

    pub(super) fn page_of(&self, node: NodeId) -> String {
        let page = format!("{}{LAW_PATH}{node}", self.base_url);
        match self.named_day {
            Some(day) => format!("{page}?{AS_OF_NAME}={day}"),
            None => page,
        }
    }
}
