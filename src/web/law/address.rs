//! Addresses of reading pages, and the check of external addresses that they link to.

use hornbook_corpus::ids::{NodeId, NodeOrdinal};

use crate::api::as_of::AS_OF_NAME;
use crate::api::corpus::Corpus;
use crate::api::error::ApiError;
use crate::api::page_links::{LAW_PATH, node_at, page_path};
use crate::percent;

/// The end of the path of a history.
pub(in crate::web) const HISTORY_SUFFIX: &str = "/history";

/// What an address shows of a provision or container.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum View {
    Page,
    Markdown,
    Text,
    References,
    History,
}

impl View {
    const ALL: [Self; 5] = [Self::Page, Self::Markdown, Self::Text, Self::References, Self::History];

    /// The end of its path, after the path of the page.
    pub(super) const fn suffix(self) -> &'static str {
        match self {
            Self::Page => "",
            Self::Markdown => ".md",
            Self::Text => ".txt",
            Self::References => "/references",
            Self::History => HISTORY_SUFFIX,
        }
    }
}

/// A node and what is shown of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::web) struct LawAddress {
    pub(super) node: NodeOrdinal,
    pub(super) view: View,
}

impl LawAddress {
    /// The address with this path, as written in a request; also in upper case, with a slash at its end, or with
    /// the id of the node.
    pub(in crate::web) fn of(corpus: &Corpus, path: &str) -> Option<Self> {
        let at = |page: &str| match page.strip_prefix(LAW_PATH) {
            Some(id) => corpus.snapshot().ordinal(id.parse::<NodeId>().ok()?),
            None => node_at(corpus.snapshot(), page.strip_prefix('/')?),
        };
        let path = path.trim_end_matches('/').to_ascii_lowercase();
        View::ALL.into_iter().find_map(|view| Some(Self { node: at(path.strip_suffix(view.suffix())?)?, view }))
    }

    /// Its only path that does not redirect.
    pub(super) fn path(self, corpus: &Corpus) -> Result<String, ApiError> {
        Ok(page_path(corpus.snapshot(), self.node)? + self.view.suffix())
    }
}

/// The parameter for the day, after the separator `sign`. Empty if no day is named.
pub(in crate::web) fn day_parameter(sign: char, named_day: Option<&str>) -> String {
    named_day.map_or_else(String::new, |day| format!("{sign}{AS_OF_NAME}={}", percent::encoded(day)))
}

/// The path of a page's address within the site.
pub(in crate::web) fn without_day(url: &str) -> &str {
    url.split('?').next().unwrap_or(url)
}

/// Whether an address that a publisher supplied is an HTTP URL.
pub(super) fn is_web(url: &str) -> bool {
    url.starts_with("https://") || url.starts_with("http://")
}
