//! A provision as a page of a book.

use std::ops::Range;

use maud::{Markup, Render, html};

use super::address::path;
use super::citations;
use super::cited::CitationAnswer;
use super::lines::{self, Line};
use super::mentions::Mentions;
use super::reply::{Link, List, Note, Provision, Wording};
use crate::web::letters::{Letters, visible};

/// From so many bytes a text has contents of its own, and is drawn part by part.
const LONG_BYTES: usize = 20 << 10;

/// Words of a subdivision that stand in the contents of a long text.
const CONTENTS_CHARS: usize = 60;

/// A provision that is being set.
pub(super) struct Setting<'p> {
    pub(super) provision: &'p Provision<'p>,
    pub(super) mentions: Mentions,
    /// What lies in a container.
    pub(super) contents: Option<Markup>,
    /// How clients see the service, without a slash at its end.
    pub(super) base_url: &'p str,
}

impl Setting<'_> {
    pub(super) fn main(&self) -> Markup {
        let provision = self.provision;
        html! {
            (crumbs(provision))
            article.law {
                header {
                    p.citation { (Letters(&provision.citation)) }
                    h1 { (Letters(&provision.heading)) }
                }
                (standing(provision))
                (self.tools())
                (self.text())
                @if let Some(contents) = &self.contents { (contents) }
                @if let Some(credit) = &provision.source_credit { p.credit { (Letters(credit)) } }
                @for wording in &provision.wordings { (other_wording(wording)) }
                @if !provision.notes.is_empty() { (notes(&provision.notes)) }
            }
            (neighbours(provision))
            (references(provision))
            (self.provenance())
        }
    }

    /// The text by its subdivisions, with contents where it is long.
    fn text(&self) -> Markup {
        let text = &*self.provision.text;
        if text.is_empty() {
            return html! {};
        }
        let lines = lines::of(text);
        let is_long = text.len() >= LONG_BYTES;
        html! {
            @if is_long { (contents(&lines)) }
            div.text.long[is_long] {
                @for part in parts(&lines, is_long) {
                    section { @for line in part { (self.line(line)) } }
                }
            }
        }
    }

    fn line(&self, line: &Line<'_>) -> Markup {
        let (own, outer) = match line.anchors.split_last() {
            Some((own, outer)) => (Some(own), outer),
            None => (None, &[][..]),
        };
        html! {
            p id=[own] data-depth=[(line.depth > 0).then_some(line.depth)] {
                @for anchor in outer { span id=(anchor) {} }
                @if !line.label.is_empty() {
                    @match own {
                        Some(own) => { a.label href={ "#" (own) } { (line.label) } " " }
                        None => { span.label { (line.label) } " " }
                    }
                }
                (self.linked(line.start..line.start + line.text.len()))
            }
        }
    }

    /// A range of the text, with what it cites as links.
    fn linked(&self, bytes: Range<usize>) -> Markup {
        let text = &*self.provision.text;
        let mut at = bytes.start;
        html! {
            @for mention in self.mentions.within(bytes.clone()) {
                (Letters(&text[at..mention.bytes.start]))
                a.ref href={ (path(&mention.id)) (mention.anchor) } title=(visible(&mention.title)) {
                    (Letters(&text[mention.bytes.clone()]))
                }
                @let _ = at = mention.bytes.end;
            }
            (Letters(&text[at..bytes.end]))
        }
    }

    fn tools(&self) -> Markup {
        let Provision { id, .. } = self.provision;
        let address = format!("{}{}", self.base_url, path(id));
        html! {
            div.tools {
                details {
                    summary { "Cite" }
                    dl.forms {
                        @for form in citations::forms(self.provision, &address) {
                            dt { (form.name) }
                            dd {
                                code { (Letters(&form.text)) }
                                button type="button" data-copy hidden { "Copy" span.unseen { " " (form.name) } }
                            }
                        }
                    }
                }
                a href={ (path(id)) ".md" } { "Markdown" }
                a href={ (path(id)) ".txt" } { "Text" }
                button type="button" data-print hidden { "Print" }
            }
        }
    }

    fn provenance(&self) -> Markup {
        let provenance = &self.provision.provenance;
        let rows = [
            ("Publisher", &provenance.publisher),
            ("Edition", &provenance.edition),
            ("Current through", &provenance.current_through),
            ("Retrieved", &provenance.retrieved_at),
            ("Licence", &provenance.license),
        ];
        html! {
            section.provenance aria-labelledby="provenance" {
                h2 #provenance { "Where this text is from" }
                dl {
                    @for (name, value) in rows {
                        @if let Some(value) = value { dt { (name) } dd { (Letters(value)) } }
                    }
                    @if let Some(url) = &provenance.source_url {
                        dt { "Source" }
                        dd {
                            @match is_web(url) {
                                true => { a href=(url) rel="external noreferrer" { (Letters(url)) } }
                                false => { (Letters(url)) }
                            }
                        }
                    }
                    dt { "Content hash" }
                    dd {
                        code.hash { (provenance.content_hash) }
                        details {
                            summary { "How to check it" }
                            p { "The hash is SHA-256 over the bytes of the law's text, without heading and notes. With a key of this server:" }
                            pre { code {
                                "curl -s -H \"Authorization: Bearer $KEY\" \\\n  " (self.base_url) "/api/v1/node/" (self.provision.id)
                                " \\\n  | jq -j .text | sha256sum"
                            } }
                        }
                    }
                    dt { "Snapshot" } dd { code.hash { (Letters(provenance.snapshot)) } }
                }
            }
        }
    }
}

fn crumbs(provision: &Provision<'_>) -> Markup {
    html! {
        nav.crumbs aria-label="Place in the code" {
            ol {
                @if let Some(jurisdiction) = provision.jurisdiction { li { a href={ "/browse#" (jurisdiction) } { (Letters(jurisdiction)) } } }
                @if let (Some(body), Some(id)) = (&provision.code_body, provision.code_body_id) {
                    li { a href={ "/browse/" (id) } { (Letters(body)) } }
                }
                @for above in &provision.path { li { (link_with(above, &Letters(&above.heading))) } }
            }
        }
    }
}

/// What a reader must know before the first word.
fn standing(provision: &Provision<'_>) -> Markup {
    let Provision { status, effective_from, effective_to, wordings, former_citations, parallel_citations, .. } =
        provision;
    html! {
        @if *status != "in force" {
            p.banner role="note" { strong { "No longer in force: " (status) "." } " It is kept here for reference." }
        }
        @if effective_from.is_some() || effective_to.is_some() {
            p.banner.mild role="note" {
                "This wording is in effect"
                @if let Some(from) = effective_from { " from " time datetime=(from) { (from) } }
                @if let Some(to) = effective_to { " until " time datetime=(to) { (to) } }
                "."
            }
        }
        @if !wordings.is_empty() {
            p.banner.mild role="note" {
                "There " @if wordings.len() == 1 { "is another wording" } @else { "are " (wordings.len()) " other wordings" }
                " under this citation, " a href="#wordings" { "below" } "."
            }
        }
        @if !former_citations.is_empty() { p.also { "Formerly cited as " (joined(former_citations)) "." } }
        @if !parallel_citations.is_empty() { p.also { "Also cited as " (joined(parallel_citations)) "." } }
    }
}

fn joined<'c>(citations: &'c [impl AsRef<str> + 'c]) -> Markup {
    html! { @for (place, citation) in citations.iter().enumerate() { @if place > 0 { "; " } (Letters(citation.as_ref())) } }
}

/// The subdivisions of the first level, as far as the text has any.
fn contents(lines: &[Line<'_>]) -> Markup {
    let first: Vec<(&String, &Line<'_>)> =
        lines.iter().filter(|line| line.depth == 0).filter_map(|line| Some((line.anchors.first()?, line))).collect();
    html! {
        @if first.len() > 1 {
            details.contents open {
                summary { "Contents of this provision" }
                ol {
                    @for (anchor, line) in first {
                        li { a href={ "#" (anchor) } { span.label { "(" (anchor) ")" } " " (Letters(beginning(line.text))) } }
                    }
                }
            }
        }
    }
}

/// The first words.
fn beginning(text: &str) -> &str {
    let end = text.char_indices().nth(CONTENTS_CHARS).map_or(text.len(), |(end, _)| end);
    let words = &text[..end];
    if end == text.len() { words } else { words.rsplit_once(' ').map_or(words, |(words, _)| words) }
}

/// The lines by subdivisions of the first level where the text is long: browsers then draw only what is seen.
fn parts<'l, 't>(lines: &'l [Line<'t>], is_long: bool) -> Vec<&'l [Line<'t>]> {
    /// Lines of a part without subdivisions.
    const LINES_MAX: usize = 60;
    if !is_long {
        return vec![lines];
    }
    let mut parts = Vec::new();
    let mut from = 0;
    for (at, line) in lines.iter().enumerate().skip(1) {
        let begins = line.depth == 0 && !line.label.is_empty();
        if begins || at - from >= LINES_MAX {
            parts.push(&lines[from..at]);
            from = at;
        }
    }
    parts.push(&lines[from..]);
    parts
}

fn other_wording(wording: &Wording<'_>) -> Markup {
    let Wording { label, effective_from, effective_to, text } = wording;
    html! {
        section.wording #wordings {
            h2 { (Letters(label)) }
            @if effective_from.is_some() || effective_to.is_some() {
                p.also {
                    @if let Some(from) = effective_from { "From " (from) " " }
                    @if let Some(to) = effective_to { "until " (to) }
                }
            }
            div.text { (plain_lines(text)) }
        }
    }
}

fn notes(notes: &[Note<'_>]) -> Markup {
    html! {
        section.notes {
            h2 { "Notes of the publisher" }
            @for Note { topic, text } in notes {
                details open[text.len() < 2_000] {
                    summary { (Letters(topic)) }
                    div.note { @for line in text.lines().filter(|line| !line.trim().is_empty()) { p { (Letters(line)) } } }
                }
            }
        }
    }
}

/// Lines by their depth, without anchors: those belong to the text in force.
fn plain_lines(text: &str) -> Markup {
    html! {
        @for line in lines::of(text) {
            p data-depth=[(line.depth > 0).then_some(line.depth)] {
                @if !line.label.is_empty() { span.label { (line.label) } " " }
                (Letters(line.text))
            }
        }
    }
}

fn neighbours(provision: &Provision<'_>) -> Markup {
    let neighbour = |link: &Link<'_>, rel: &str, word: &str| {
        html! { a rel=(rel) href=(path(link.id)) { span.word { (word) } span.citation { (Letters(&link.citation)) } span.heading { (Letters(&link.heading)) } } }
    };
    html! {
        nav.neighbours aria-label="Before and after" {
            @if let Some(previous) = &provision.previous { (neighbour(previous, "prev", "Previous")) }
            @if let Some(next) = &provision.next { (neighbour(next, "next", "Next")) }
        }
    }
}

fn references(provision: &Provision<'_>) -> Markup {
    html! {
        @if provision.references.out.total + provision.references.r#in.total > 0 {
            div.references {
                (list(provision, &provision.references.out, "out", "Cites"))
                (list(provision, &provision.references.r#in, "in", "Cited by"))
            }
        }
    }
}

fn list(provision: &Provision<'_>, list: &List<'_>, direction: &str, title: &str) -> Markup {
    html! {
        @if list.total > 0 {
            section aria-labelledby=(direction) {
                h2 id=(direction) { (title) " " span.count { (list.total) } }
                ul.links { @for link in &list.nodes { li { (entry(link)) } } }
                @if list.total > list.nodes.len() {
                    p { a href={ (path(provision.id)) "/references?direction=" (direction) } { "All " (list.total) } }
                }
            }
        }
    }
}

/// Citation and heading, as lists have them.
pub(super) fn entry(link: &Link<'_>) -> Markup {
    link_with(
        link,
        &html! { span.citation { (Letters(&link.citation)) } " " span.heading { (Letters(&link.heading)) } },
    )
}

fn link_with(link: &Link<'_>, shown: &(impl Render + ?Sized)) -> Markup {
    html! { a href=(path(link.id)) { (shown) } }
}

/// Publishers may name anything as their address.
fn is_web(url: &str) -> bool {
    url.starts_with("https://") || url.starts_with("http://")
}

/// What a citation may name, where it does not lead to one page.
pub(super) fn candidates(citation: &str, answers: &[CitationAnswer]) -> Markup {
    html! {
        h1 { "What " q { (Letters(citation)) } " names" }
        @for answer in answers {
            p { (Letters(&answer.message)) "." }
            ul.links {
                @for candidate in &answer.candidates {
                    li { a href=(path(&candidate.node_id.to_string())) {
                        span.citation { (Letters(&candidate.citation)) } " " span.heading { (Letters(&candidate.heading)) }
                    } }
                }
            }
        }
        p { a href={ "/?q=" (crate::percent::encoded(citation)) } { "Search for these words instead" } }
    }
}
