//! `/settings`: an account on one page.

use std::sync::Arc;

use ::http::StatusCode;
use hornbook_accounts::changes::{SessionView, SignedIn};
use hornbook_accounts::records::{AccountStatus, PurchaseRecord, PurchaseStatus};
use hornbook_accounts::tier::{PackName, Tariff};
use hornbook_accounts::views::AccountView;
use hornbook_base::thousands::grouped;
use maud::{Markup, html};

use super::chart::{self, Usage, UsageSums};
use super::keys::{self, ShownKey};
use super::shared::{SettingsContext, action};
use super::sign_in::new_password_field;
use super::watches;
use crate::mount::MountResponse;
use crate::web::formatting::{credits, day, day_and_time, dollars, signed};
use crate::web::frame::{Page, SiteSection};
use crate::web::page_error::PageError;
use crate::web::page_request::PageRequest;
use crate::web::response::{self, CachePolicy, redirect};
use crate::web::return_path::ReturnPath;

use crate::web::visitor::Visitor;

const CHARTED_DAYS: usize = 30;

/// Maximum number of purchases in the list, the newest first.
const PURCHASES_SHOWN: usize = 20;

struct Account {
    view: AccountView,
    keys: Vec<ShownKey>,
    purchases: Vec<PurchaseRecord>,
    sessions: Vec<SessionView>,
    sums: UsageSums,
    watches: usize,
}

pub(super) async fn shown(shared: &SettingsContext, seen: &PageRequest<'_>) -> Result<MountResponse, PageError> {
    let is_after_sign_in = seen.request.parameters.iter().any(|(name, _)| name == "signed-in");
    let Visitor::Person(person) = &seen.visitor else {
        return Ok(redirect(if is_after_sign_in { "/settings/sign-in?again" } else { "/settings/sign-in" }).into());
    };
    // Somebody who waits for approval could do no more there than before.
    let back = ReturnPath::of_page(seen).filter(|_| is_after_sign_in && person.status == AccountStatus::Approved);
    if let Some(back) = back {
        return Ok(redirect(back.as_str()).into());
    }
    let (accounts, now, id) = (shared.accounts(), shared.shell.service.now(), person.account);
    let sums = Arc::clone(&shared.sums);
    let account = shared.shell.desk.statement_work(move || {
        Ok(Account {
            view: accounts.account(id, now)?,
            keys: keys::of(&accounts, id, now.wall),
            purchases: accounts.newest_purchases(id, PURCHASES_SHOWN)?,
            sessions: accounts.sessions(id, now.wall),
            watches: watches::count(&accounts, id)?,
            sums: sums.of(&accounts, id, now.wall.day(), CHARTED_DAYS)?,
        })
    });
    let account = account.await?;
    let tariff = shared.accounts().settings().tariff;
    let usage = Usage::of(&account.sums, now.wall.day(), CHARTED_DAYS);
    let main = html! {
        h1 { "Your account" }
        (account_summary(person, &account.view))
        (money(&account.view))
        section aria-labelledby="usage" {
            h2 #usage { "Usage in the last " (CHARTED_DAYS) " days" }
            (chart::by_day(&usage))
            @if account.sums.is_cut { p.count { "Includes only the newest " (chart::ENTRIES_MAX) " entries since the last view." } }
            p { a href="/settings/ledger" { "Ledger" } " · " a href="/settings/ledger.csv" { "Export as CSV" } }
        }
        (watches::summary(account.watches))
        (keys::sections(seen, &account.keys))
        (packs(seen, &tariff, &account.purchases))
        (password(seen))
        (browsers(seen, person, &account.sessions))
        (deletion(seen))
    };
    let page = Page::new("Your account", SiteSection::Account, main);
    Ok(response::page(StatusCode::OK, page.html(&seen.visitor), CachePolicy::NoStore).into())
}

fn account_summary(person: &SignedIn, view: &AccountView) -> Markup {
    html! {
        @if view.record.status == AccountStatus::Pending {
            p.banner role="status" {
                strong { "Waiting for approval." } " The operator of this service approves each new account. You can search and use keys once yours is approved."
            }
        }
        dl {
            dt { "Signed in as" } dd { (person.login.as_str()) }
            dt { "Account" } dd { code { (view.record.id) } }
            dt { "Tier" } dd { (view.record.tier) ", " (grouped(view.limits.per_minute)) " calls a minute, " (grouped(view.limits.per_day)) " a day" }
        }
    }
}

fn money(view: &AccountView) -> Markup {
    let (left, all) = (view.remaining.allotment, view.monthly_units);
    html! {
        section aria-labelledby="credits" {
            h2 #credits { "Credits" }
            dl {
                dt { "Balance" } dd { strong { (signed(view.remaining.wallet)) } " credits, which do not expire" }
                dt { "This month" }
                dd {
                    (grouped(left)) " of " (grouped(all)) " free units left; they are used first "
                    @if all > 0 { meter min="0" max=(all) value=(left) aria-label="free units left" { (left) } }
                }
            }
        }
    }
}

fn packs(seen: &PageRequest<'_>, tariff: &Tariff, purchases: &[PurchaseRecord]) -> Markup {
    html! {
        section aria-labelledby="packs" {
            h2 #packs { "Packs of credits" }
            p.count { "Buying one shows its price and how to pay first. Credits do not expire." }
            ul.packs {
                @for name in PackName::ALL {
                    @let pack = tariff.pack(name);
                    li {
                        h3 { (name.tier()) }
                        p { strong { (credits(pack.credits)) " credits" } br; (dollars(pack.price_cents)) }
                        p.count { (grouped(pack.limits.per_minute)) " calls a minute, " (grouped(pack.limits.per_day)) " a day" }
                        (action(seen, "/settings/packs", "pack", name.tier().name(), "Buy", name.tier().name()))
                    }
                }
            }
            @if !purchases.is_empty() {
                div.scroll tabindex="0" role="group" aria-label="Your purchases" {
                    table.stacked {
                        thead { tr { th scope="col" { "Purchase" } th scope="col" { "Pack" } th scope="col" { "Price" } th scope="col" { "Requested" } th scope="col" { "State" } } }
                        tbody {
                            @for purchase in purchases {
                                tr {
                                    th scope="row" { code { (purchase.id) } }
                                    td data-name="Pack" { (purchase.pack.tier()) }
                                    td data-name="Price" { (dollars(purchase.price_cents)) }
                                    td data-name="Requested" { (day(purchase.requested_at)) }
                                    td data-name="State" { (state_of(purchase.status)) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

const fn state_of(status: PurchaseStatus) -> &'static str {
    match status {
        PurchaseStatus::Requested => "waiting for payment",
        PurchaseStatus::Paid => "paid",
        PurchaseStatus::Cancelled => "cancelled",
        PurchaseStatus::Refunded => "refunded",
    }
}

fn current_password_field(id: &str) -> Markup {
    html! {
        label for=(id) { "Current password" }
        input id=(id) type="password" name="current" autocomplete="current-password" required maxlength="200";
    }
}

fn password(seen: &PageRequest<'_>) -> Markup {
    html! {
        section aria-labelledby="password" {
            h2 #password { "Password" }
            form.entry method="post" action="/settings/password" {
                (seen.token_field())
                (current_password_field("current-for-new"))
                (new_password_field())
                p.count { "This signs out every other browser." }
                button type="submit" { "Change the password" }
            }
        }
    }
}

fn browsers(seen: &PageRequest<'_>, person: &SignedIn, sessions: &[SessionView]) -> Markup {
    html! {
        section aria-labelledby="browsers" {
            h2 #browsers { "Signed-in browsers" }
            ul.rows {
                @for session in sessions {
                    li {
                        span {
                            strong { (session.device) }
                            @if session.id == person.session { " (this one)" }
                            span.count { " since " (day(session.created_at)) ", last used " (day_and_time(session.last_seen_at)) }
                        }
                        @if session.id != person.session {
                            (action(seen, "/settings/sessions", "session", &session.id.to_string(), "Sign out", &session.device))
                        }
                    }
                }
            }
            div.actions {
                form method="post" action="/settings/sign-out" { (seen.token_field()) button type="submit" { "Sign out here" } }
                @if sessions.len() > 1 { (action(seen, "/settings/sessions", "session", "others", "Sign out all others", "")) }
            }
        }
    }
}

fn deletion(seen: &PageRequest<'_>) -> Markup {
    html! {
        section aria-labelledby="leaving" {
            h2 #leaving { "Delete the account" }
            details {
                summary { "What is deleted, and how to do it" }
                p { "Your name, password, keys and sessions are deleted. Credits that are left are lost. Payments, usage and administrative changes of the account stay on record under its number, without your name." }
                form.entry method="post" action="/settings/delete" {
                    (seen.token_field())
                    (current_password_field("current-for-leaving"))
                    label.tick { input type="checkbox" name="sure" value="yes" required; " I am sure" }
                    button type="submit" { "Delete my account" }
                }
            }
        }
    }
}
