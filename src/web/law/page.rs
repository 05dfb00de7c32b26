//! Renders the page of a provision.

use hornbook_base::sentence::sentence;
use hornbook_corpus::day::Day;
use hornbook_corpus::layout::LayoutRef;
use hornbook_corpus::outline::Status;
use maud::{Markup, Render, html};

use super::address::{View, day_parameter, is_web};
use super::citations;
use super::cited::{message_for_people, verdict};
use super::dated_provision::DatedProvision;
use super::mentions::CitationLinks;
use super::references::entry;
use super::standing::{banners, in_effect};
use super::text::LawText;
use super::timeline::Timeline;
use crate::api::operation::WATCHES_PAGE_PATH;
use crate::api::replies::{LinkedCandidate, NodeLink, NoteReply, ReferenceList, ResolveReply, WordingReply};
use crate::web::formatting::{currency_of, day_form, status_of, written_day};
use crate::web::untrusted_text::{UntrustedText, short_heading};

/// Notes shorter than this are open by default.
const OPEN_NOTE_BYTES: usize = 2_000;

/// The data for rendering a provision.
pub(super) struct ProvisionPage<'p> {
    pub(super) provision: &'p DatedProvision<'p>,
    pub(super) mentions: CitationLinks,
    /// The layouts of the text, of the other wordings and of the notes, in this order.
    pub(super) layouts: Vec<Option<LayoutRef<'p>>>,
    /// The list of the children of a container.
    pub(super) contents: Option<Markup>,
    /// None if no other edition of its code is kept.
    pub(super) timeline: Option<Timeline>,
    /// The day whose law the page shows.
    pub(super) day: Day,
    /// The public address of the service, without a slash at the end.
    pub(super) base_url: &'p str,
}

impl<'p> ProvisionPage<'p> {
    pub(super) fn main(&self) -> Markup {
        let provision = self.provision;
        let text = LawText::main_text(&provision.text, self.layout(0), &self.mentions);
        html! {
            (crumbs(provision))
            article.law {
                header {
                    p.citation { (UntrustedText(&provision.citation)) }
                    h1 { (UntrustedText(&provision.heading)) }
                }
                (self.paper_line())
                (banners(provision, self.day))
                (self.tools())
                @if !provision.text.is_empty() { (text.contents()) (text.html()) }
                @if let Some(contents) = &self.contents { (contents) }
                @if let Some(credit) = &provision.source_credit { p.credit { (UntrustedText(credit)) } }
                (self.footnotes(text.footnotes()))
                @for (wording, place) in provision.wordings.iter().zip(1..) { (self.other_wording(wording, place)) }
                @if let Some(timeline) = &self.timeline { (timeline.section(self.provision, self.day)) }
                (self.notes(text.footnotes()))
            }
            (neighbours(provision))
            (references(provision))
            (self.provenance())
            (self.previews())
        }
    }

    fn layout(&self, part: usize) -> Option<LayoutRef<'p>> {
        self.layouts.get(part).copied().flatten()
    }

    fn other_wording(&self, wording: &WordingReply<'_>, place: usize) -> Markup {
        let WordingReply { label, status, effective_from, effective_to, text, source_credit, notes, .. } = wording;
        html! {
            section.wording id=[(place == 1).then_some("wordings")] {
                h2 { (UntrustedText(label)) }
                @if effective_from.is_some() || effective_to.is_some() || *status != Status::InForce {
                    p.also {
                        @if *status != Status::InForce { (sentence(status.as_str())) " " }
                        (in_effect(*status, *effective_from, *effective_to, self.day))
                    }
                }
                (LawText::secondary_text(text, self.layout(place)).html())
                @if let Some(credit) = source_credit { p.credit { (UntrustedText(credit)) } }
                @for NoteReply { topic, text } in notes {
                    details {
                        summary { (UntrustedText(topic)) }
                        div.note { (LawText::secondary_text(text, None).html()) }
                    }
                }
            }
        }
    }

    /// The notes that the text refers to by number.
    fn footnotes(&self, footnotes: &[u32]) -> Markup {
        let found: Vec<(u32, &NoteReply<'_>)> =
            footnotes.iter().filter_map(|place| Some((*place, self.provision.notes.get(*place as usize)?))).collect();
        html! {
            @if !found.is_empty() {
                section.footnotes aria-label="Footnotes" {
                    ol { @for (place, note) in found { li id={ "note-" (place) } { (UntrustedText(&note.text)) } } }
                }
            }
        }
    }

    fn notes(&self, footnotes: &[u32]) -> Markup {
        let notes = self.provision.notes.iter().zip(0_u32..).filter(|(_, place)| !footnotes.contains(place));
        let notes: Vec<(&NoteReply<'_>, u32)> = notes.collect();
        let first = 1 + self.provision.wordings.len();
        html! {
            @if !notes.is_empty() {
                section.notes {
                    h2 #notes { "Notes and history" }
                    @for (NoteReply { topic, text }, place) in notes {
                        // A note without text is the title of the notes after it.
                        @if text.is_empty() { h3 { (UntrustedText(topic)) } } @else {
                            details open[text.len() < OPEN_NOTE_BYTES] {
                                summary { (UntrustedText(topic)) }
                                div.note { (LawText::secondary_text(text, self.layout(first + place as usize)).html()) }
                            }
                        }
                    }
                }
            }
        }
    }

    /// Hidden previews. The script shows them beside their references.
    fn previews(&self) -> Markup {
        html! {
            div hidden { @for (place, preview) in self.mentions.previews().iter().enumerate() {
                div id={ "preview-" (place) } {
                    p {
                        span.citation { (UntrustedText(&preview.citation)) } " " span.heading { (UntrustedText(&preview.heading)) }
                        (status_of(preview.status, preview.effective_from, preview.effective_to))
                    }
                    p { (UntrustedText(&preview.beginning)) }
                }
            } }
        }
    }

    fn tools(&self) -> Markup {
        let address = format!("{}{}", self.base_url, self.provision.path());
        let day = self.provision.named_day.as_deref();
        html! {
            div.tools {
                details {
                    summary { "Cite" }
                    dl.forms {
                        @for form in citations::forms(self.provision, &address) {
                            dt { (form.name) }
                            dd {
                                code { (UntrustedText(&form.text)) }
                                button type="button" data-copy hidden { "Copy" span.unseen { " " (form.name) } }
                            }
                        }
                    }
                }
                a href=(self.provision.path_of(View::Markdown)) { "Markdown" }
                a href=(self.provision.path_of(View::Text)) { "Text" }
                a href=(self.provision.path_of(View::History)) { "History" }
                a href={ (WATCHES_PAGE_PATH) "?node=" (self.provision.id) } rel="nofollow" { "Watch" }
                (day_form(self.provision.path(), day))
                button type="button" data-print hidden { "Print" }
            }
        }
    }

    /// Where a printed page comes from, on paper only. The script adds the day of printing.
    fn paper_line(&self) -> Markup {
        let edition = self.provision.provenance.edition.as_deref();
        html! {
            p.paper {
                (self.base_url) (self.provision.path_of(View::Page))
                br;
                @if let Some(edition) = edition { "Edition: " (UntrustedText(edition)) ". " }
                (self.currency())
                "Shown as of " (written_day(self.day)) "." span data-printed {}
            }
        }
    }

    /// The day through which the edition is current or, if it states none, the day of the copy. A sentence.
    fn currency(&self) -> Markup {
        let provenance = &self.provision.provenance;
        let retrieved = provenance.retrieved_at.as_deref().and_then(|day| day.parse().ok());
        html! {
            @match (provenance.current_through, retrieved) {
                (Some(through), _) => { "Current through " (written_day(through)) ". " }
                (None, Some(retrieved)) => { "Copy of " (written_day(retrieved)) ". " }
                (None, None) => {}
            }
        }
    }

    fn provenance(&self) -> Markup {
        let provenance = &self.provision.provenance;
        let text = |value: &str| UntrustedText(value).render();
        let day = |iso: &str| iso.parse().map_or_else(|_| text(iso), written_day);
        // A source that states no day is current through its retrieval at most.
        let copy = provenance.retrieved_at.as_deref().map(|iso| html! { "not stated; copy of " (day(iso)) });
        let rows = [
            ("Publisher", provenance.publisher.as_deref().map(text)),
            ("Edition", provenance.edition.as_deref().map(text)),
            ("Current through", provenance.current_through.map(written_day).or(copy)),
            ("Retrieved", provenance.retrieved_at.as_deref().map(day)),
            ("License", provenance.license.as_deref().map(text)),
        ];
        let addresses = [("Official source", &provenance.official_url), ("Read from", &provenance.source_url)];
        html! {
            section.provenance aria-labelledby="provenance" {
                h2 #provenance { "Source of this text" }
                dl {
                    @for (name, value) in rows {
                        @if let Some(value) = value { dt { (name) } dd { (value) } }
                    }
                    @for (name, url) in addresses {
                        @if let Some(url) = url {
                            dt { (name) }
                            dd {
                                @match is_web(url) {
                                    true => { a href=(url) rel="external noreferrer" { (UntrustedText(url)) } }
                                    false => { (UntrustedText(url)) }
                                }
                            }
                        }
                    }
                    @if !self.provision.text.is_empty() {
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
                    }
                    dt { "Snapshot" } dd { code.hash { (UntrustedText(&provenance.snapshot)) } }
                }
            }
        }
    }
}

fn crumbs(provision: &DatedProvision<'_>) -> Markup {
    html! {
        nav.crumbs aria-label="Place in the code" {
            ol {
                @if let Some(jurisdiction) = provision.jurisdiction.as_deref() { li { a href={ "/browse#" (jurisdiction) } { (UntrustedText(jurisdiction.as_str())) } } }
                @if let (Some(body), Some(id)) = (&provision.code_body, provision.code_body_id) {
                    li { a href={ "/browse/" (id) } { (UntrustedText(body)) } }
                }
                @for above in &provision.path { li { a href=(above.url) { (short_heading(&above.heading)) } } }
            }
        }
    }
}

fn neighbours(provision: &DatedProvision<'_>) -> Markup {
    let neighbour = |link: &NodeLink<'_>, rel: &str, word: &str| {
        html! { a rel=(rel) href=(link.url) { span.word { (word) } span.citation { (UntrustedText(&link.citation)) } span.heading { (short_heading(&link.heading)) (status_of(link.status, link.effective_from, link.effective_to)) } } }
    };
    html! {
        nav.neighbours aria-label="Before and after" {
            @if let Some(previous) = &provision.previous { (neighbour(previous, "prev", "Previous")) }
            @if let Some(next) = &provision.next { (neighbour(next, "next", "Next")) }
        }
    }
}

fn references(provision: &DatedProvision<'_>) -> Markup {
    html! {
        @if provision.references.out.total + provision.references.r#in.total > 0 {
            div.references {
                (list(provision, &provision.references.out, "out", "Cites"))
                (list(provision, &provision.references.r#in, "in", "Cited by"))
            }
        }
    }
}

fn list(provision: &DatedProvision<'_>, list: &ReferenceList<'_>, direction: &str, title: &str) -> Markup {
    html! {
        @if list.total > 0 {
            section aria-labelledby=(direction) {
                h2 id=(direction) { (title) " " span.count { (list.total) } }
                ul.links { @for link in &list.nodes { li { (entry(link)) } } }
                @if list.total > list.nodes.len() {
                    p { a href={ (provision.path()) (View::References.suffix()) "?direction=" (direction) (day_parameter('&', provision.named_day.as_deref())) } { "All " (list.total) } }
                }
            }
        }
    }
}

/// The candidates for a citation that does not refer to exactly one page.
pub(super) fn candidates(citation: &str, reply: &ResolveReply) -> Markup {
    let answers = &reply.answers;
    let candidates = answers.iter().flat_map(|answer| &answer.candidates);
    let through = candidates.map(|candidate| candidate.cited.current_through);
    html! {
        @if answers.iter().any(|answer| !answer.candidates.is_empty()) {
            h1 { "Provisions for " q { (UntrustedText(citation)) } }
        } @else {
            h1 { (answers.first().and_then(verdict).unwrap_or("No provision")) ": " q { (UntrustedText(citation)) } }
        }
        @for answer in answers {
            p { (message_for_people(answer)) }
            ul.links {
                @for LinkedCandidate { cited: candidate, url, .. } in &answer.candidates {
                    li { a href=(url) {
                        span.citation { (UntrustedText(&candidate.citation)) } " " span.heading { (short_heading(&candidate.heading)) }
                        (status_of(candidate.status, candidate.effective_from, candidate.effective_to))
                    } }
                }
            }
        }
        (currency_of(through, &reply.notices))
        p { a href={ "/?q=" (crate::percent::encoded(citation)) } { "Search for these words instead" } }
    }
}
