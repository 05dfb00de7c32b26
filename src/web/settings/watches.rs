//! `/settings/watches`: what an account watches, what changed among it, and the forms that add and remove watches.

use std::sync::Arc;

use ::http::StatusCode;
use hornbook_accounts::Accounts;
use hornbook_accounts::error::ChangeError;
use hornbook_accounts::ids::{AccountId, KeyId, WatchId};
use hornbook_accounts::key::KeyKind;
use hornbook_accounts::records::AccountStatus;
use hornbook_accounts::watches::{SavedSearch, WatchSubject};
use hornbook_base::sentence::sentence;
use hornbook_base::thousands::grouped;
use hornbook_corpus::ids::NodeId;
use hornbook_search::check_query;
use maud::{Markup, html};
use uuid::Uuid;

use super::shared::{SettingsContext, action};
use crate::api::corpus::Corpus;
use crate::api::operation::WATCHES_PAGE_PATH;
use crate::api::page_links::{PageLinks, page_path};
use crate::api::replies::{WatchReply, WatchReportReply, WatchedChangeReply};
use crate::mount::MountResponse;
use crate::web::form::FormFields;
use crate::web::formatting;
use crate::web::frame::{Page, SiteSection};
use crate::web::law::timeline::what_happened;
use crate::web::page_error::PageError;
use crate::web::page_request::PageRequest;
use crate::web::response::{self, CachePolicy, redirect};
use crate::web::return_path::link_with_return;
use crate::web::untrusted_text::{UntrustedText, counted, short_heading};
use crate::web::visitor::Visitor;

/// A report shows this many changes.
const SHOWN_CHANGES_MAX: usize = 100;

/// The newest reports are shown, up to this number.
const SHOWN_REPORTS_MAX: usize = 10;

/// Everything that an account watches.
struct AccountWatches {
    /// Each watch with the name of its key, unless the person added it on these pages.
    watches: Vec<(WatchReply, Option<String>)>,
    reports: Vec<WatchReportReply>,
}

pub(super) async fn shown(shared: &SettingsContext, seen: &PageRequest<'_>) -> Result<MountResponse, PageError> {
    let corpus = shared.shell.service.corpus();
    let wanted = seen.request.parameters.iter().find(|(name, _)| name == "node");
    let wanted = wanted.and_then(|(_, value)| corpus.snapshot().ordinal(NodeId(Uuid::try_parse(value).ok()?)));
    let Visitor::Person(person) = &seen.visitor else {
        let back = wanted.and_then(|node| page_path(corpus.snapshot(), node).ok());
        let sign_in = "/settings/sign-in";
        return Ok(redirect(&back.map_or_else(|| sign_in.to_owned(), |back| link_with_return(sign_in, &back))).into());
    };
    let proposed = wanted.and_then(|node| Some(corpus.snapshot().cards.get(node).ok()?.citation.to_owned()));
    let (accounts, account, served) = (shared.accounts(), person.account, Arc::clone(&corpus));
    let found = shared.shell.desk.statement_work(move || of_account(&accounts, account, &served)).await?;
    let main = html! {
        h1 { "Law you watch" }
        @if person.status != AccountStatus::Approved {
            p.banner role="status" { "You can watch law once your account is approved." }
        } @else { (form(seen, proposed.as_deref())) }
        (reports(&found))
        (list(seen, &found.watches))
        p { a href="/settings" { "Your account" } }
    };
    let page = Page::new("Law you watch", SiteSection::Account, main);
    Ok(response::page(StatusCode::OK, page.html(&seen.visitor), CachePolicy::NoStore).into())
}

fn of_account(accounts: &Accounts, account: AccountId, corpus: &Corpus) -> Result<AccountWatches, ChangeError> {
    let pages = PageLinks::new("", None);
    let failed = |error: crate::api::error::ApiError| ChangeError::Refused(error.message);
    let (mut watches, mut reports) = (Vec::new(), Vec::new());
    for view in accounts.keys(Some(account)).into_iter().filter(|view| view.record.revoked_at.is_none()) {
        let of_program = (view.record.kind != KeyKind::Web).then(|| view.record.name.to_string());
        for record in accounts.watches(view.record.id)? {
            watches.push((WatchReply::of(corpus, &pages, record).map_err(failed)?, of_program.clone()));
        }
        for report in accounts.watch_reports(view.record.id)?.into_iter().take(SHOWN_REPORTS_MAX) {
            reports.push(WatchReportReply::of(corpus, &pages, report).map_err(failed)?);
        }
    }
    reports.sort_by(|one, other| other.at.cmp(&one.at));
    reports.truncate(SHOWN_REPORTS_MAX);
    Ok(AccountWatches { watches, reports })
}

fn form(seen: &PageRequest<'_>, proposed: Option<&str>) -> Markup {
    html! {
        form.entry method="post" action=(WATCHES_PAGE_PATH) {
            (seen.token_field())
            label for="watch-what" { "A citation, or words to search for" }
            input #watch-what type="text" name="what" required maxlength="1024" value=[proposed] autofocus[proposed.is_some()];
            p.count { "A provision or a whole chapter is watched under whatever number it gets. Of a search, the first 50 results are watched." }
            button type="submit" { "Watch" }
        }
    }
}

fn reports(found: &AccountWatches) -> Markup {
    html! {
        section aria-labelledby="changed" {
            h2 #changed { "What changed" }
            @if found.reports.is_empty() {
                p { "Nothing yet. When a newer edition of the law is served here, what it changed among the law you watch is listed here." }
            }
            @for report in &found.reports {
                h3 { (report.at[..10]) " " span.count { (counted(report.total as usize)) } }
                @if let Some(why) = &report.unknown { p.banner role="note" { (UntrustedText(&sentence(why))) } }
                ul.links { @for watched in report.changes.iter().take(SHOWN_CHANGES_MAX) { li { (changed(watched)) } } }
                @if report.changes.len() > SHOWN_CHANGES_MAX {
                    p.count { "The first " (SHOWN_CHANGES_MAX) " of " (grouped(report.total)) "; programs get all at " code { "/api/v1/watches/changes" } }
                }
            }
        }
    }
}

fn changed(watched: &WatchedChangeReply) -> Markup {
    let change = &watched.change;
    let names = html! {
        span.citation { (UntrustedText(&change.node.citation)) } " " span.heading { (short_heading(&change.node.heading)) }
    };
    html! {
        @match &watched.url { Some(url) => { a href=(url) { (names) } }, None => { (names) } }
        " " span.also {
            (UntrustedText(&sentence(&what_happened(change)))) " " (formatting::notice(&sentence(&change.date.sentence())))
            @if !change.acts.is_empty() { " By " (UntrustedText(&change.acts.join("; "))) "." }
        }
    }
}

fn list(seen: &PageRequest<'_>, watches: &[(WatchReply, Option<String>)]) -> Markup {
    html! {
        section aria-labelledby="watched" {
            h2 #watched { "Watched " span.count { (counted(watches.len())) } }
            @if watches.is_empty() { p { "Nothing. A provision's page has the link Watch." } }
            ul.rows { @for (watch, program) in watches { li {
                div {
                    (described(watch))
                    @if let Some(name) = &watch.name { " " span.count { (UntrustedText(name)) } }
                    @if let Some(program) = program { div.count { "By the key " (UntrustedText(program)) } }
                }
                div.actions { (action(seen, "/settings/watches/remove", "watch", &watch.id, "Stop", &name_of(watch))) }
            } } }
        }
    }
}

fn described(watch: &WatchReply) -> Markup {
    html! {
        @if let Some(search) = &watch.search {
            "Search: " strong { (UntrustedText(&search.q)) }
            @if !search.jurisdictions.is_empty() { " in " (search.jurisdictions.join(", ")) }
        } @else if let Some(now) = &watch.now {
            a href=(now.url) { span.citation { (UntrustedText(&now.citation)) } " " span.heading { (short_heading(&now.heading)) } }
        } @else {
            @match &watch.citation { Some(citation) => (UntrustedText(citation)), None => "A provision" }
            " " span.count { "not in the served edition" }
        }
    }
}

/// A short name of a watch, for the label of its button.
fn name_of(watch: &WatchReply) -> String {
    let now = watch.now.as_ref().map(|now| now.citation.clone());
    let search = || watch.search.as_ref().map(|search| search.q.clone());
    now.or_else(search).or_else(|| watch.citation.clone()).unwrap_or_else(|| watch.id.clone())
}

/// The section of the account's page.
pub(super) fn summary(count: usize) -> Markup {
    html! {
        section aria-labelledby="watches" {
            h2 #watches { "Law you watch" }
            p {
                @if count == 0 { "Nothing yet. What changes in the law you watch is listed on its page." }
                @else { (grouped(count as u64)) @if count == 1 { " thing." } @else { " things." } }
            }
            p { a href=(WATCHES_PAGE_PATH) { "What changed, and what you watch" } }
        }
    }
}

pub(super) async fn add(
    shared: &SettingsContext,
    seen: &PageRequest<'_>,
    form: &FormFields,
) -> Result<MountResponse, PageError> {
    let person = seen.person()?;
    if person.status != AccountStatus::Approved {
        return Err(PageError::Refused("you can watch law once your account is approved".to_owned()));
    }
    let (account, what) = (person.account, form.text("what").trim().to_owned());
    let (accounts, corpus, at) = (shared.accounts(), shared.shell.service.corpus(), seen.act.at);
    let added = shared.shell.desk.work(move || {
        let person = accounts.person(account);
        let owner = person.ok_or_else(|| ChangeError::Refused("this account has no person".to_owned()))?.web_key;
        accounts.add_watch(owner, subject_of(&what, &corpus)?, None, at)
    });
    added.await?;
    Ok(redirect("/settings/watches#watched").into())
}

/// A citation is watched as the provision that it names now, anything else as a search.
fn subject_of(what: &str, corpus: &Corpus) -> Result<WatchSubject, ChangeError> {
    check_query(what).map_err(|error| ChangeError::Refused(error.to_string()))?;
    let named = corpus.named_by(what).map_err(|error| ChangeError::Refused(error.message))?;
    if let Some(id) = named.and_then(|node| corpus.snapshot().outline.id(node)) {
        return Ok(WatchSubject::Node(id.0));
    }
    let search = SavedSearch { q: what.to_owned(), jurisdictions: Vec::new(), code_bodies: Vec::new() };
    Ok(WatchSubject::Search(search))
}

pub(super) async fn remove(
    shared: &SettingsContext,
    seen: &PageRequest<'_>,
    form: &FormFields,
) -> Result<MountResponse, PageError> {
    let account = seen.person()?.account;
    let id: WatchId = form.text("watch").parse().map_err(PageError::Refused)?;
    let accounts = shared.accounts();
    let removed = shared.shell.desk.work(move || {
        let owners: Vec<KeyId> = accounts.keys(Some(account)).into_iter().map(|view| view.record.id).collect();
        accounts.remove_watch(&owners, id)
    });
    removed.await?;
    Ok(redirect("/settings/watches#watched").into())
}

/// The number of watches of an account.
pub(super) fn count(accounts: &Accounts, account: AccountId) -> Result<usize, ChangeError> {
    let keys = accounts.keys(Some(account)).into_iter().filter(|view| view.record.revoked_at.is_none());
    keys.map(|view| Ok(accounts.watches(view.record.id)?.len())).sum()
}
