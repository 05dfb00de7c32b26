//! The history of a provision: its changes through the editions that are kept, and two wordings side by side.

use ::http::StatusCode;
use hornbook_base::sentence::sentence;
use hornbook_editions::side_by_side;
use maud::{Markup, html};

use super::address::View;
use super::timeline;
use crate::api::error::{ApiError, ErrorCode};
use crate::api::replies::{DatedWording, DiffReply, EditionReply, HistoryReply};
use crate::mount::MountResponse;
use crate::web::assets::DIFFERENCE;
use crate::web::formatting::{self, written_day};
use crate::web::frame::{Page, SiteSection};
use crate::web::page_context::{OpenPage, OperationCall};
use crate::web::response::{self, CachePolicy};
use crate::web::untrusted_text::UntrustedText;

pub(super) async fn answer(mut opened: OpenPage<'_>, id: &str, path: &str) -> Result<MountResponse, ApiError> {
    let of = [("id", id)];
    let news = opened.call(OperationCall { of: &of, ..OperationCall::read("history", &[]) }).await?;
    let history: HistoryReply = news.read()?;
    let days = ["from", "to"].map(|name| opened.parameter(name).map(str::trim).unwrap_or_default().to_owned());
    let compared = if history.editions.len() > 1 || days.iter().any(|day| !day.is_empty()) {
        Some(compared(&mut opened, &of, &days).await?)
    } else {
        None
    };
    let latest = history.editions.first();
    let names = latest.map(|edition| (edition.citation.clone(), edition.heading.clone())).unwrap_or_default();
    let page_path = path.strip_suffix(View::History.suffix()).unwrap_or(path);
    let main = html! {
        nav.crumbs aria-label="Place in the code" { ol { li { a href=(page_path) { (UntrustedText(&names.0)) " " (UntrustedText(&names.1)) } } } }
        h1 { "History" }
        @for notice in &history.notices { p.also role="note" { (formatting::notice(notice)) } }
        @if history.changes.is_empty() && history.editions.len() > 1 { p { "Nothing about it changed between the editions that are kept here." } }
        (timeline::list(&history.changes))
        (editions(&history.editions))
        @if let Some(compared) = compared { (compared) }
    };
    let title = format!("History of {}", names.0);
    let head = html! { link rel="stylesheet" href=(DIFFERENCE.path()); };
    let html = Page { head, ..Page::new(&title, SiteSection::Contents, main) }.html(&opened.visitor);
    Ok(opened.answer(response::page(StatusCode::OK, html, CachePolicy::NoStore)))
}

fn editions(editions: &[EditionReply]) -> Markup {
    html! {
        h2 #editions { "Editions kept here" }
        ul.links {
            @for edition in editions {
                li { a href=(edition.url) {
                    span.citation { (UntrustedText(&edition.citation)) } " "
                    span.heading { (UntrustedText(&edition.edition.edition)) }
                    @if let Some(day) = edition.edition.current_through { " " span.days { "current through " (written_day(day)) } }
                } }
            }
        }
    }
}

/// The comparison, or why there is none, below the form that chooses its days.
async fn compared(
    opened: &mut OpenPage<'_>,
    of: &[(&'static str, &str)],
    days: &[String; 2],
) -> Result<Markup, ApiError> {
    let query: Vec<(&str, &str)> =
        ["from", "to"].into_iter().zip(days.iter().map(String::as_str)).filter(|(_, day)| !day.is_empty()).collect();
    let found = match opened.call(OperationCall { of, ..OperationCall::read("diff", &query) }).await {
        Ok(news) => Ok(news.read::<DiffReply>()?),
        Err(error) if matches!(error.code, ErrorCode::ValidationError | ErrorCode::NotFound) => Err(error.message),
        Err(error) => return Err(error),
    };
    let shown = |found: &Result<DiffReply, String>, which: fn(&DiffReply) -> &DatedWording, typed: &str| {
        found.as_ref().map_or_else(|_| typed.to_owned(), |reply| which(reply).day.to_string())
    };
    let (from, to) = (shown(&found, |reply| &reply.from, &days[0]), shown(&found, |reply| &reply.to, &days[1]));
    Ok(html! {
        h2 #compare { "Two days compared" }
        form.filters method="get" {
            label { "From " input type="date" name="from" value=(from); }
            " " label { "to " input type="date" name="to" value=(to); }
            " " button type="submit" { "Compare" }
        }
        @match &found {
            Err(why) => p.banner role="alert" { (sentence(why)) },
            Ok(DiffReply { is_same: true, .. }) => p { "The words are the same on both days." },
            Ok(reply) => {
                (side_by_side([&heading(&reply.from), &heading(&reply.to)], &reply.differences))
            }
        }
    })
}

fn heading(wording: &DatedWording) -> Markup {
    html! {
        p.also {
            strong { (written_day(wording.day)) } ": " (UntrustedText(&wording.citation)) " "
            (UntrustedText(&wording.heading)) ", " (wording.status.as_str())
        }
    }
}
