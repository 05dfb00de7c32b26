//! The accounts on the operator's page: found by name, sign-in name or id, and the question before one is deleted.

use std::cmp::Reverse;

use ::http::StatusCode;
use hornbook_accounts::Accounts;
use hornbook_accounts::error::ChangeError;
use hornbook_accounts::ids::AccountId;
use hornbook_accounts::records::AccountStatus;
use hornbook_accounts::views::AccountView;
use hornbook_base::clock::Now;
use maud::{Markup, html};

use super::shared::{OperatorContext, button};
use crate::mount::MountResponse;
use crate::web::formatting::{day, signed};
use crate::web::page_error::PageError;
use crate::web::page_request::PageRequest;
use crate::web::untrusted_text::counted;

/// The parameter with the words of a search for accounts.
pub(super) const SEARCH: &str = "account";

/// The maximum number of accounts that are shown.
const SHOWN_MAX: usize = 100;

/// Accounts with their sign-in names.
pub(super) struct FoundAccounts {
    wanted: String,
    shown: Vec<(AccountView, Option<String>)>,
    total: usize,
}

impl FoundAccounts {
    /// The accounts whose name, sign-in name or id contains the words; all of them if there are none. Accounts that wait
    /// come first, then the newest.
    pub(super) fn find(accounts: &Accounts, now: Now, wanted: &str) -> Result<Self, ChangeError> {
        let folded = wanted.to_lowercase();
        let login = |id: AccountId| accounts.person(id).map(|person| person.login.as_str().to_owned());
        let views = accounts.accounts(now)?.into_iter();
        let with_logins = views.map(|view| {
            let login = login(view.record.id);
            (view, login)
        });
        let mut found: Vec<_> = with_logins
            .filter(|(view, login)| {
                let id = view.record.id.to_string();
                let mut names = [Some(&*view.record.name), login.as_deref(), Some(&id)].into_iter().flatten();
                names.any(|name| name.to_lowercase().contains(&folded))
            })
            .collect();
        let order = |view: &AccountView| (view.record.status != AccountStatus::Pending, Reverse(view.record.id));
        found.sort_by_key(|(view, _)| order(view));
        let total = found.len();
        found.truncate(SHOWN_MAX);
        Ok(Self { wanted: wanted.to_owned(), shown: found, total })
    }
}

pub(super) fn section(seen: &PageRequest<'_>, found: &FoundAccounts) -> Markup {
    html! {
        section aria-labelledby="accounts" {
            h2 #accounts { "Accounts" }
            form.row method="get" action="/operator#accounts" {
                input type="text" name=(SEARCH) value=(found.wanted) maxlength="200" placeholder="name or id" aria-label="Search accounts";
                button type="submit" { "Search" }
            }
            p.count {
                @match (found.shown.len(), found.total) {
                    (0, _) => "None found.",
                    (shown, total) if shown == total => { (counted(total)) " found" },
                    (shown, total) => { (counted(shown)) " of " (counted(total)) "; those that wait, then the newest. Search for others." },
                }
                @if !found.wanted.is_empty() { " " a href="/operator#accounts" { "All accounts" } }
            }
            div.scroll tabindex="0" role="group" aria-labelledby="accounts" {
                table.stacked {
                    thead { tr { th scope="col" { "Account" } th scope="col" { "Signs in as" } th scope="col" { "State" } th scope="col" { "Tier" } th.number scope="col" { "Credits" } th scope="col" { "Since" } th scope="col" { span.unseen { "Change" } } } }
                    tbody {
                        @for (view, login) in &found.shown {
                            @let id = view.record.id.to_string();
                            @let status = view.record.status;
                            tr {
                                th scope="row" { (view.record.name) " " code { (id) } }
                                td data-name="Signs in as" { (login.as_deref().unwrap_or("–")) }
                                td data-name="State" { @if status == AccountStatus::Pending { strong { "waiting" } } @else { (format!("{status:?}").to_lowercase()) } }
                                td data-name="Tier" { (view.record.tier) }
                                td.number data-name="Credits" { (signed(view.remaining.wallet)) }
                                td data-name="Since" { (day(view.record.created_at)) }
                                td { div.actions {
                                    @if matches!(status, AccountStatus::Pending | AccountStatus::Disabled) {
                                        (button(seen, "/operator/account", &[("account", &id), ("do", "approve")], "Approve", &view.record.name))
                                    }
                                    @if status.is_open() {
                                        (button(seen, "/operator/account", &[("account", &id), ("do", "link")], "Sign-in link", &view.record.name))
                                        (button(seen, "/operator/account", &[("account", &id), ("do", "disable")], "Disable", &view.record.name))
                                    }
                                    @if status != AccountStatus::Deleted {
                                        (button(seen, "/operator/account", &[("account", &id), ("do", "ask to delete")], "Delete…", &view.record.name))
                                    }
                                } }
                            }
                        }
                    }
                }
            }
            form.entry method="post" action="/operator/invite" {
                (seen.token_field())
                label for="invited" { "Invite somebody: name for the new account" }
                input #invited type="text" name="name" required maxlength="200";
                label.tick { input type="checkbox" name="operator" value="yes"; " As an operator, who can manage the service" }
                button type="submit" { "Create an invitation link" }
            }
        }
    }
}

/// Asks before an account is deleted, and says what remains.
pub(super) async fn ask_to_delete(
    shared: &OperatorContext,
    seen: &PageRequest<'_>,
    id: AccountId,
) -> Result<MountResponse, PageError> {
    let (accounts, now) = (shared.accounts(), shared.shell.service.now());
    let view = shared.shell.desk.operator_work(move || accounts.account(id, now)).await?;
    let number = id.to_string();
    let main = html! {
        h1 { "Delete " (view.record.name) "?" }
        p { "The name, the sign-in, the watches and the sessions of " code { (number) } " are removed, and its keys are revoked. "
            strong { (signed(view.remaining.wallet)) " credits are lost." }
            " The ledger keeps its entries, with only the number of the account. This cannot be undone." }
        form.entry method="post" action="/operator/account" {
            (seen.token_field())
            input type="hidden" name="account" value=(number);
            input type="hidden" name="do" value="delete";
            label for="typed" { "To confirm, enter the id of the account" }
            input #typed type="text" name="typed" required maxlength="40" autocomplete="off";
            button type="submit" { "Delete for good" }
        }
        p { a href="/operator#accounts" { "Back" } }
    };
    Ok(seen.page(StatusCode::OK, "Delete an account", main))
}
