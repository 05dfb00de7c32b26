//! What the page says if nothing was found: why, as far as it is known, and the one step that helps most.

use hornbook_corpus::catalogue::Jurisdiction;
use hornbook_search::Mode;
use maud::{Markup, html};

use super::query::SearchPageQuery;
use crate::api::as_of::AS_OF_NAME;
use crate::web::law::cited::NOT_LOADED;
use crate::web::untrusted_text::UntrustedText;

/// `chosen` is the jurisdiction that the search is restricted to. `is_explained` is set if a message above already says
/// what is missing, or corrects the words.
pub(super) fn nothing(chosen: Option<&Jurisdiction>, query: &SearchPageQuery, is_explained: bool) -> Markup {
    html! {
        section.nothing {
            @match chosen.filter(|chosen| chosen.subtree.is_empty()) {
                Some(chosen) => {
                    h2 { (NOT_LOADED) ": " (UntrustedText(&chosen.name)) }
                    p { a href=(query.with("jurisdiction", None)) { "Search in all jurisdictions" } }
                }
                None => {
                    h2 { "Nothing was found" }
                    @if !is_explained { p { (next_step(query)) } }
                }
            }
        }
    }
}

/// The step that is most likely to find something: what restricts the search most is left out first.
fn next_step(query: &SearchPageQuery) -> Markup {
    let filters = query.narrowing();
    let (address, step) = if !query.is_first() {
        (query.with("page", None), "Back to the first page of results")
    } else if let [(name, _)] = filters.as_slice() {
        (query.with(name, None), without(name))
    } else if !filters.is_empty() {
        (query.without_filters(), "Search in all law, without the filters")
    } else if query.text.contains('"') {
        (query.with("q", Some(&query.text.replace('"', ""))), "Search without the quotation marks")
    } else if query.has_exclusions() {
        (query.with("q", Some(&query.text_without_exclusions())), "Search without the excluded words")
    } else if query.mode() != Mode::Hybrid {
        (query.with("mode", None), "Search by words and meaning together")
    } else if query.day.is_some() {
        (query.with(AS_OF_NAME, None), "Search the law of today")
    } else {
        return html! { "No law here is about these words. " a href="/coverage" { "See which law is here" } };
    };
    html! { a href=(address) { (step) } }
}

/// The step that leaves out a filter.
fn without(filter: &str) -> &'static str {
    match filter {
        "jurisdiction" => "Search in all jurisdictions",
        "tag" => "Search all kinds of law and subjects",
        "status" => "Search law of any status",
        "minScore" => "Search results of any score",
        _ => "Search in all law",
    }
}
