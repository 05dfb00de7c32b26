//! The fields of the replies of `search` and `suggest` that the search page uses.

use std::borrow::Cow;

use serde::Deserialize;

#[derive(Deserialize)]
pub(super) struct ResultsPageView<'b> {
    #[serde(borrow)]
    pub(super) results: Vec<HitView<'b>>,
    pub(super) total: u32,
    pub(super) depth: &'b str,
    #[serde(rename = "correctedQuery")]
    pub(super) corrected_query: Option<String>,
    #[serde(borrow)]
    pub(super) understood: Option<UnderstoodPlaceView<'b>>,
    #[serde(borrow)]
    pub(super) facets: Option<FacetsView<'b>>,
    #[serde(borrow, default)]
    pub(super) notices: Vec<Cow<'b, str>>,
    #[serde(rename = "notHere", borrow, default)]
    pub(super) not_here: Vec<NotHereView<'b>>,
}

/// The place that the query names.
#[derive(Deserialize)]
pub(super) struct UnderstoodPlaceView<'b> {
    #[serde(borrow)]
    pub(super) name: Cow<'b, str>,
    #[serde(borrow)]
    pub(super) words: Cow<'b, str>,
    #[serde(rename = "as")]
    effect: &'b str,
}

impl UnderstoodPlaceView<'_> {
    pub(super) fn is_filter(&self) -> bool {
        self.effect == "filter"
    }
}

/// Law that the query asks for but the corpus does not contain.
#[derive(Deserialize)]
pub(super) struct NotHereView<'b> {
    #[serde(borrow)]
    pub(super) citation: Option<Cow<'b, str>>,
    #[serde(borrow)]
    pub(super) message: Cow<'b, str>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct HitView<'b> {
    pub(super) node_id: &'b str,
    #[serde(borrow)]
    pub(super) citation: Cow<'b, str>,
    #[serde(borrow)]
    pub(super) heading: Cow<'b, str>,
    pub(super) jurisdiction: &'b str,
    #[serde(borrow)]
    pub(super) code_body: Cow<'b, str>,
    #[serde(borrow)]
    pub(super) snippet: Cow<'b, str>,
    pub(super) highlights: Vec<HighlightView>,
    pub(super) status: &'b str,
    pub(super) effective_from: Option<&'b str>,
    pub(super) effective_to: Option<&'b str>,
    pub(super) current_through: Option<&'b str>,
    pub(super) relation: Option<&'b str>,
}

/// A range in characters.
#[derive(Clone, Copy, Deserialize)]
pub(super) struct HighlightView {
    pub(super) start: usize,
    pub(super) end: usize,
}

#[derive(Deserialize)]
pub(super) struct FacetsView<'b> {
    #[serde(borrow)]
    pub(super) jurisdictions: Vec<Facet<'b>>,
    #[serde(borrow)]
    pub(super) tags: Vec<Facet<'b>>,
}

#[derive(Deserialize)]
pub(super) struct Facet<'b> {
    #[serde(borrow)]
    pub(super) value: Cow<'b, str>,
    #[serde(borrow)]
    pub(super) name: Option<Cow<'b, str>>,
    pub(super) count: u32,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SuggestedView {
    pub(super) did_you_mean: Option<String>,
}

/// Splits a snippet at its highlights. Each part states whether it is highlighted.
pub(super) fn parts<'s>(snippet: &'s str, highlights: &[HighlightView]) -> Vec<(&'s str, bool)> {
    let mut parts = Vec::with_capacity(highlights.len() * 2 + 1);
    let (mut bytes, mut chars) = (0, 0);
    for HighlightView { start, end } in highlights {
        let to = |bytes: usize, count: usize| {
            snippet[bytes..].char_indices().nth(count).map_or(snippet.len(), |(at, _)| bytes + at)
        };
        let from = to(bytes, start.saturating_sub(chars));
        let until = to(from, end.saturating_sub(*start));
        parts.push((&snippet[bytes..from], false));
        parts.push((&snippet[from..until], true));
        (bytes, chars) = (until, *end);
    }
    parts.push((&snippet[bytes..], false));
    parts.retain(|(text, _)| !text.is_empty());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snippet_is_cut_at_characters() {
        let marks = [HighlightView { start: 2, end: 6 }, HighlightView { start: 7, end: 99 }];
        let cut = parts("§ Säge é end", &marks);
        assert_eq!(cut, [("§ ", false), ("Säge", true), (" ", false), ("é end", true)]);
        assert_eq!(parts("plain", &[]), [("plain", false)]);
    }
}
