//! What a page says about a provision before its text: the day, its status, when its wording is in effect,
//! and other wordings and citations.

use hornbook_corpus::day::Day;
use hornbook_corpus::outline::Status;
use maud::{Markup, html};

use super::dated_provision::DatedProvision;
use super::references::entry;
use crate::api::replies::NodeReply;
use crate::percent;
use crate::web::formatting::{self, written_day};
use crate::web::untrusted_text::UntrustedText;

/// The banners above the text. `day` is the day whose law the page shows.
pub(super) fn banners(provision: &DatedProvision<'_>, day: Day) -> Markup {
    let NodeReply { effective_from, effective_to, wordings, formerly, parallel_citations, .. } = &provision.reply;
    // Dates in the ISO 8601 format are compared as texts.
    let from = effective_from.map(|day| day.to_string());
    let is_old = effective_to.is_none()
        && wordings.is_empty()
        && from.as_deref() <= provision.provenance.retrieved_at.as_deref();
    html! {
        @if provision.named_day.is_some() {
            p.banner.mild role="note" {
                "The law as of " (written_day(day)) ". " a href=(provision.path()) { "The law of today" }
            }
        }
        (not_in_force(provision))
        @if effective_from.is_some() || effective_to.is_some() {
            // If the wording was already in effect when the source was retrieved, one line without
            // a banner is enough.
            p class=(if is_old { "also" } else { "banner mild" }) role="note" {
                (in_effect(provision.status, *effective_from, *effective_to, day))
            }
        }
        @if let Some(notice) = &provision.notice {
            p class=(if provision.is_outdated { "banner mild" } else { "also" }) role="note" {
                (formatting::notice(notice))
            }
        }
        @if !wordings.is_empty() {
            p.banner.mild role="note" {
                "There "
                @if wordings.len() == 1 { "is another wording" } @else { "are " (wordings.len()) " other wordings" }
                " under this citation, " a href="#wordings" { "below" } "."
            }
        }
        @if !formerly.is_empty() { p.also { "Formerly " (old_numbers(formerly)) "." } }
        @if !parallel_citations.is_empty() { p.also { "Also cited as " (joined(parallel_citations)) "." } }
    }
}

/// When a wording is in effect, as a sentence. Empty if neither day is known. On the day `to` it is no longer law.
pub(super) fn in_effect(status: Status, from: Option<Day>, to: Option<Day>, day: Day) -> Markup {
    let is_law = matches!(status, Status::InForce | Status::NotYetEffective);
    let days = html! {
        @if let Some(from) = from { " from " (written_day(from)) }
        @if let Some(to) = to { " until " (written_day(to)) }
    };
    html! {
        @match (from, to) {
            (None, None) => {}
            (Some(from), None) if from > day => { "Takes effect on " (written_day(from)) "." }
            (Some(from), None) if is_law => { "In effect since " (written_day(from)) "." }
            (Some(from), None) => { "This wording took effect on " (written_day(from)) "." }
            (_, Some(to)) if to <= day => { "This wording was in effect" (days) "." }
            (_, Some(_)) => { "In effect" (days) "." }
        }
    }
}

fn not_in_force(provision: &DatedProvision<'_>) -> Markup {
    let successors = &provision.successors;
    html! {
        @match provision.status {
            Status::InForce => {}
            Status::NotYetEffective => {
                p.banner role="note" { strong { "Not yet in force." } " This is its future text." }
            }
            Status::Uncertain if is_before_known_wordings(provision) => {
                p.banner role="note" {
                    strong { "This wording was not in effect on that day." }
                    " An earlier one may have been, which this copy does not contain."
                }
            }
            Status::Uncertain => {
                p.banner role="note" {
                    strong { "It is uncertain whether this is in force." }
                    @if let Some(remark) = &provision.validity_remark {
                        " The publisher says: " q { (UntrustedText(remark)) }
                    }
                }
            }
            status => {
                p.banner role="note" {
                    strong { "No longer in force: " (status.as_str()) "." } " It is kept here for reference."
                    @for successor in successors { " Now " (entry(successor)) "." }
                    @if let Some(now) = provision.now.as_ref().filter(|_| successors.is_empty()) {
                        " Now " (UntrustedText(now)) ", which this corpus does not contain."
                    }
                }
            }
        }
    }
}

/// Whether the day that was asked for is before the first day of the wording that is shown. Dates in
/// the ISO 8601 format are compared as texts.
fn is_before_known_wordings(provision: &DatedProvision<'_>) -> bool {
    let from = provision.reply.effective_from.map(|day| day.to_string());
    provision.named_day.as_deref().zip(from.as_deref()).is_some_and(|(day, from)| day < from)
}

/// Former citations, each with a link to what has the number today.
fn old_numbers(citations: &[String]) -> Markup {
    html! {
        @for (place, citation) in citations.iter().enumerate() {
            @if place > 0 { "; " }
            a href=(format!("/cite/{}", percent::encoded(citation))) { (UntrustedText(citation)) }
        }
    }
}

fn joined<'c>(citations: &'c [impl AsRef<str> + 'c]) -> Markup {
    html! {
        @for (place, citation) in citations.iter().enumerate() {
            @if place > 0 { "; " } (UntrustedText(citation.as_ref()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_days_of_a_wording_are_a_sentence() {
        let day = |text: &str| text.parse::<Day>().unwrap();
        let said = |status, from: Option<&str>, to: Option<&str>| {
            let shown = in_effect(status, from.map(day), to.map(day), day("2026-07-01")).into_string();
            shown.split('<').map(|part| part.rsplit('>').next().unwrap_or_default()).collect::<String>()
        };
        let (past, future) = (Some("2004-05-24"), Some("2030-01-01"));
        for (status, from, to, sentence) in [
            (Status::InForce, past, None, "In effect since May 24, 2004."),
            (Status::InForce, past, future, "In effect from May 24, 2004 until January 1, 2030."),
            (Status::InForce, None, future, "In effect until January 1, 2030."),
            (Status::NotYetEffective, future, None, "Takes effect on January 1, 2030."),
            (Status::Uncertain, future, None, "Takes effect on January 1, 2030."),
            (Status::Repealed, past, None, "This wording took effect on May 24, 2004."),
            (Status::Expired, None, past, "This wording was in effect until May 24, 2004."),
            (
                Status::Expired,
                past,
                Some("2026-07-01"),
                "This wording was in effect from May 24, 2004 until July 1, 2026.",
            ),
            (Status::InForce, None, None, ""),
        ] {
            assert_eq!(said(status, from, to), sentence);
        }
    }
}
