//! Changes as one HTML page, with the wordings side by side.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::difference::{TextDifference, TextDifferenceKind};
use crate::listing::ListedChange;

/// The style of compared wordings.
pub const DIFFERENCE_STYLE: &str = include_str!("difference.css");

const PAGE_STYLE: &str = "\
    :root { color-scheme: light dark; }\
    body { font: 100%/1.55 Georgia, serif; margin: 0 auto; max-width: 72rem; padding: 1.5rem 1.25rem 4rem; }\
    h1, h2, h3 { line-height: 1.2; } .also { font-family: system-ui, sans-serif; opacity: .75; }\
    @media print { body { max-width: none; padding: 0; } a { color: inherit; } }";

/// The changes of one code body, each with the comparison of its wordings if they differ.
pub type BodyComparison = (String, Vec<(ListedChange, Vec<TextDifference>)>);

/// A page that needs no other file.
pub fn html_page(title: &str, bodies: &[BodyComparison]) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                style { (PreEscaped(PAGE_STYLE)) (PreEscaped(DIFFERENCE_STYLE)) }
            }
            body {
                main {
                    h1 { (title) }
                    @if bodies.is_empty() { p { "Nothing differs." } }
                    @for (name, changes) in bodies {
                        h2 { (name) }
                        p.also { (changes.len()) @if changes.len() == 1 { " change" } @else { " changes" } }
                        @for (change, differences) in changes { (section(change, differences)) }
                    }
                }
            }
        }
    };
    page.into_string()
}

fn section(change: &ListedChange, differences: &[TextDifference]) -> Markup {
    html! {
        section {
            h3 { (change.node.citation) " " (change.node.heading) }
            p.also {
                (change.kind.as_str())
                @if let Some(before) = &change.formerly { ", formerly " (before.citation) }
                ", " (change.date.sentence())
                @for act in &change.acts { "; " (act) }
            }
            @if !differences.is_empty() { (side_by_side([&html! {}, &html! {}], differences)) }
        }
    }
}

/// Two wordings beside each other, each below its heading, with the words marked that only one of them has.
pub fn side_by_side(headings: [&Markup; 2], differences: &[TextDifference]) -> Markup {
    html! {
        div.wordings {
            @for (heading, own) in headings.into_iter().zip([TextDifferenceKind::Removed, TextDifferenceKind::Added]) {
                div { (heading) }
                div.words { (wording(differences, own)) }
            }
        }
    }
}

/// One of the two wordings.
fn wording(differences: &[TextDifference], own: TextDifferenceKind) -> Markup {
    html! {
        @for TextDifference { kind, text } in differences {
            @match kind {
                TextDifferenceKind::Same => { (text) }
                kind if *kind == own && own == TextDifferenceKind::Removed => del { (text) },
                kind if *kind == own => ins { (text) },
                _ => {}
            }
        }
    }
}
