//! The filters beside the results: jurisdictions, kinds of law and subjects.
//!
//! A count promises how many provisions a click shows, so it appears only where that is certain: in a search by words.
//! A search by meaning considers a fixed number of passages, so a smaller part of the law shows others than the whole.

use std::iter::successors;

use hornbook_base::thousands::grouped;
use hornbook_corpus::catalogue::Jurisdiction;
use hornbook_search::Mode;
use maud::{Markup, html};

use super::query::SearchPageQuery;
use crate::api::replies::{FacetsReply, JurisdictionCount, SearchReply, TagCount};
use crate::web::untrusted_text::UntrustedText;

/// Maximum number of entries of a kind.
const ENTRIES_MAX: usize = 12;

/// The tags that name a kind of law. All other tags are subjects.
const KINDS_OF_LAW: &[&str] = &["constitution", "statute", "regulation", "ordinance", "municipal", "tribal"];

/// Which entries have a count that is the total of the search behind them.
struct ShownCounts {
    jurisdictions: bool,
    tags: bool,
}

impl ShownCounts {
    fn of(query: &SearchPageQuery, found: &SearchReply<'_>) -> Self {
        // A number may cite a provision, which is then found without the words of the query.
        let has_number = query.text.contains(|letter: char| letter.is_ascii_digit());
        let is_by_words = query.mode() == Mode::Keyword && query.min_score.is_none() && !has_number;
        // In another part of the law, words may be corrected otherwise, and the name of a place may be a word.
        let is_restated = found.corrected_query.is_some() || found.understood.is_some() || !found.not_here.is_empty();
        let is_partial = query.jurisdiction.is_some() || query.code_body.is_some() || query.subtree.is_some();
        Self {
            jurisdictions: is_by_words && (query.is_exact || !is_restated && !is_partial),
            // Another tag would take the place of the chosen one.
            tags: is_by_words && query.tag.is_none(),
        }
    }
}

pub(super) fn filters(
    query: &SearchPageQuery,
    found: &SearchReply<'_>,
    facets: &FacetsReply<'_>,
    known: &[Jurisdiction],
) -> Markup {
    let counts = ShownCounts::of(query, found);
    let chosen = query.jurisdiction.as_deref();
    let jurisdictions = distinct(&facets.jurisdictions, known, chosen);
    html! {
        aside #filters .facets aria-label="Filters" {
            @if jurisdictions.len() > 1 || chosen.is_some() {
                h2 { "Jurisdictions" }
                ul {
                    @if chosen.is_some() { li { a href=(query.with("jurisdiction", None)) { "All jurisdictions" } } }
                    @for facet in jurisdictions.iter().take(ENTRIES_MAX) {
                        @let code = facet.value.as_str();
                        @let is_listed = |above: &str| jurisdictions.iter().any(|other| other.value.as_str() == above);
                        @let is_within = above(known, code).any(is_listed);
                        @let is_chosen = is_chosen(chosen, code).then_some("true");
                        li class=[is_within.then_some("within")] {
                            a href=(query.with("jurisdiction", Some(code))) aria-current=[is_chosen] {
                                span { (UntrustedText(&facet.name)) }
                                @if counts.jurisdictions { (count(facet.count)) }
                            }
                        }
                    }
                }
            }
            (tags(query, facets, &counts, "Kinds of law", true))
            (tags(query, facets, &counts, "Subjects", false))
        }
    }
}

/// The tags that are kinds of law, or those that are not.
fn tags(
    query: &SearchPageQuery,
    facets: &FacetsReply<'_>,
    counts: &ShownCounts,
    title: &str,
    are_kinds: bool,
) -> Markup {
    let is_kind = |tag: &str| KINDS_OF_LAW.contains(&tag);
    let tags: Vec<&TagCount<'_>> = facets.tags.iter().filter(|facet| is_kind(&facet.value) == are_kinds).collect();
    let chosen = query.tag.as_deref();
    html! {
        @if !tags.is_empty() {
            h2 { (title) }
            ul {
                @if chosen.is_some_and(|chosen| chosen.split(',').any(|tag| is_kind(tag) == are_kinds)) {
                    li { a href=(query.with("tag", None)) { "All " (title.to_lowercase()) } }
                }
                @for facet in tags.into_iter().take(ENTRIES_MAX) {
                    @let is_chosen = is_chosen(chosen, &facet.value);
                    li { a href=(query.with("tag", Some(&facet.value))) aria-current=[is_chosen.then_some("true")] {
                        span { (UntrustedText(&facet.value)) }
                        @if counts.tags { (count(facet.count)) }
                    } }
                }
            }
        }
    }
}

fn count(count: u32) -> Markup {
    html! { span.count { (grouped(count)) } }
}

/// Whether a value is among the chosen ones, which are separated by commas.
fn is_chosen(chosen: Option<&str>, value: &str) -> bool {
    chosen.is_some_and(|chosen| chosen.split(',').any(|one| one.trim().eq_ignore_ascii_case(value)))
}

fn parent_of<'k>(known: &'k [Jurisdiction], code: &str) -> Option<&'k str> {
    known.iter().find(|one| one.short_code.as_str() == code)?.parent.as_ref().map(|parent| parent.as_str())
}

/// The jurisdictions above one, nearest first.
fn above<'k>(known: &'k [Jurisdiction], code: &str) -> impl Iterator<Item = &'k str> {
    successors(parent_of(known, code), |above| parent_of(known, above)).take(known.len())
}

/// The jurisdictions without those whose results are all of one county or city, which is listed itself.
fn distinct<'f>(
    facets: &'f [JurisdictionCount<'f>],
    known: &[Jurisdiction],
    chosen: Option<&str>,
) -> Vec<&'f JurisdictionCount<'f>> {
    let is_repeated = |facet: &JurisdictionCount<'_>| {
        let is_below =
            |other: &JurisdictionCount<'_>| parent_of(known, other.value.as_str()) == Some(facet.value.as_str());
        facets.iter().any(|other| other.count == facet.count && is_below(other))
    };
    facets.iter().filter(|facet| is_chosen(chosen, facet.value.as_str()) || !is_repeated(facet)).collect()
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use hornbook_corpus::ids::OrdinalRange;
    use hornbook_corpus::jurisdictions::GovernmentLevel;

    use super::*;

    #[test]
    fn a_state_is_listed_if_it_has_more_results_than_one_of_its_cities() {
        let place = |code: &str, parent: Option<&str>| Jurisdiction {
            short_code: code.parse().unwrap(),
            name: code.to_owned(),
            level: GovernmentLevel::State,
            parent: parent.map(|parent| parent.parse().unwrap()),
            subtree: OrdinalRange::default(),
            nodes: OrdinalRange::default(),
            provisions: 0,
            chunks: 0,
        };
        let known = [place("XA", None), place("XA-A", Some("XA")), place("XA-B", Some("XA")), place("XB", None)];
        let listed = |counts: [u32; 4], chosen: Option<&str>| {
            let facets: Vec<JurisdictionCount<'_>> = known
                .iter()
                .zip(counts)
                .filter(|(_, count)| *count > 0)
                .map(|(one, count)| JurisdictionCount {
                    value: Cow::Borrowed(&one.short_code),
                    name: one.name.as_str().into(),
                    count,
                })
                .collect();
            let listed = distinct(&facets, &known, chosen);
            listed.iter().map(|facet| facet.value.to_string()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(listed([7, 7, 0, 7], None), "XA-A XB");
        assert_eq!(listed([7, 5, 2, 0], None), "XA XA-A XA-B");
        assert_eq!(listed([7, 7, 0, 7], Some("XA")), "XA XA-A XB", "the chosen one stays");
    }
}
