//! The page of `hornbook eval --html`: the results of two settings or snapshots side by side, with
//! marked differences. It is a single file that loads no other resources.

use hornbook::evaluate::{ListedHit, SideResult};
use maud::{DOCTYPE, Markup, PreEscaped, html};

/// The results of both sides for one query.
pub(super) struct ComparedQuery {
    pub query: String,
    pub kind: String,
    pub first: SideResult,
    pub second: SideResult,
}

impl ComparedQuery {
    fn gain(&self) -> f64 {
        self.second.ndcg - self.first.ndcg
    }

    fn is_same(&self) -> bool {
        let ids = |side: &SideResult| side.listed.iter().map(|listed| listed.id).collect::<Vec<_>>();
        ids(&self.first) == ids(&self.second)
    }
}

/// Renders the page. The queries whose measure changes most come first.
pub(super) fn page(names: [&str; 2], mut pairs: Vec<ComparedQuery>) -> String {
    pairs.sort_by(|a, b| b.gain().abs().total_cmp(&a.gain().abs()).then_with(|| a.query.cmp(&b.query)));
    let changed = pairs.iter().filter(|pair| !pair.is_same()).count();
    let better = pairs.iter().filter(|pair| pair.gain() > 0.0).count();
    let worse = pairs.iter().filter(|pair| pair.gain() < 0.0).count();
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { "Answers side by side" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                h1 { "Answers side by side" }
                p { "Left: " (names[0]) ". Right: " (names[1]) "." }
                p {
                    (pairs.len()) " queries; the first ten results of " (changed) " differ. nDCG@10 is better on the right for "
                    (better) " and worse for " (worse) ". A grade is shown in front of each judged result."
                }
                @for pair in &pairs { (compared_query_html(pair)) }
            }
        }
    };
    markup.into_string()
}

fn compared_query_html(pair: &ComparedQuery) -> Markup {
    let ComparedQuery { query, kind, first, second } = pair;
    html! {
        details open[!pair.is_same()] {
            summary {
                b { (query) } " " span.kind { (kind) } " "
                (format!("{:.3} to {:.3}", first.ndcg, second.ndcg))
                @if pair.is_same() { " · same results" }
            }
            div.sides { (listing(first, second, "gone")) (listing(second, first, "new")) }
        }
    }
}

/// Renders the results of one side. Results missing on the other side are marked; results at
/// another rank there show that rank.
fn listing(side: &SideResult, other: &SideResult, lacking: &str) -> Markup {
    html! {
        ol {
            @for (place, listed) in side.listed.iter().enumerate() {
                @let there = other.listed.iter().position(|other| other.id == listed.id);
                li class=[there.is_none().then_some(lacking)] {
                    (result(listed))
                    @match there {
                        None => { " " span.mark { (lacking) } }
                        Some(there) if there != place => { " " span.mark { "there " (there + 1) } }
                        Some(_) => {}
                    }
                }
            }
        }
    }
}

fn result(listed: &ListedHit) -> Markup {
    html! {
        @if listed.grade > 0 { span.grade { (listed.grade) } " " }
        b { (listed.citation) } " " (listed.heading)
        @if !listed.is_living { " (no longer in force)" }
    }
}

const STYLE: &str = "body{font:15px/1.4 system-ui,sans-serif;margin:2rem auto;max-width:80rem;padding:0 1rem;color:#222;background:#fff}\
details{border-top:1px solid #ccc;padding:.5rem 0}summary{cursor:pointer}.kind{color:#666}\
.sides{display:grid;grid-template-columns:1fr 1fr;gap:2rem}.grade{background:#14532d;color:#fff;border-radius:.2rem;padding:0 .35rem}\
.new{background:#dcfce7}.gone{background:#fee2e2}.mark{color:#555;font-size:.85em}";

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(name: &str, heading: &str, grade: u8) -> ListedHit {
        let id = hornbook_corpus::ids::NodeId::from_source_key(name);
        ListedHit { id, citation: name.to_owned(), heading: heading.to_owned(), is_living: true, grade }
    }

    #[test]
    fn differences_are_marked_and_everything_is_escaped() {
        let (a, b, c) = (listed("§ 1", "<script>alert(1)</script>", 3), listed("§ 2", "b", 0), listed("§ 3", "c", 0));
        let pair = |query: &str, second: Vec<ListedHit>, ndcg: f64| ComparedQuery {
            query: query.to_owned(),
            kind: "topic".to_owned(),
            first: SideResult { ndcg: 0.5, listed: vec![b.clone(), a.clone()] },
            second: SideResult { ndcg, listed: second },
        };
        let pairs = vec![pair("same", vec![b.clone(), a.clone()], 0.5), pair("a & b", vec![a.clone(), c], 1.0)];
        let page = page(["as it is", "tried"], pairs);
        assert!(!page.contains("<script") && page.contains("&lt;script&gt;") && page.contains("a &amp; b"), "{page}");
        assert!(page.contains("there 1") && page.contains("there 2"), "moved: {page}");
        assert_eq!((page.matches("class=\"gone\"").count(), page.matches("class=\"new\"").count()), (1, 1));
        assert!(page.find("a &amp; b").unwrap() < page.find("<b>same").unwrap(), "the greatest change comes first");
        assert!(page.contains("2 queries; the first ten results of 1 differ") && page.contains("same results"));
        assert!(!page.contains("http") && !page.contains("src="), "it loads nothing");
    }
}
