//! The keys of an account on its page: what each may do and spend, and the forms that change them.

use hornbook_accounts::Accounts;
use hornbook_accounts::budget::{Budget, BudgetStatus, BudgetView};
use hornbook_accounts::ids::{AccountId, KeyId};
use hornbook_accounts::key::KeyKind;
use hornbook_accounts::scope::Scope;
use hornbook_accounts::views::KeyView;
use hornbook_base::clock::UnixMillis;
use maud::{Markup, html};

use super::shared::{SettingsContext, action};
use crate::mount::MountResponse;
use crate::web::form::FormFields;
use crate::web::formatting::day;
use crate::web::page_error::PageError;
use crate::web::page_request::PageRequest;
use crate::web::response::redirect;
use crate::web::untrusted_text::grouped;

/// A key that works.
pub(super) struct ShownKey {
    key: KeyView,
    /// The name of the key that created it.
    created_by: Option<String>,
    /// Whether keys that it created still work.
    has_created: bool,
    budget: Option<BudgetView>,
}

/// The keys of an account that work, each followed by those that it created.
pub(super) fn of(accounts: &Accounts, account: AccountId, now: UnixMillis) -> Vec<ShownKey> {
    let mut keys = accounts.keys(Some(account));
    keys.retain(|KeyView { record, .. }| {
        let is_live = record.revoked_at.is_none() && record.expires_at.is_none_or(|expires_at| now < expires_at);
        is_live && record.kind != KeyKind::Web
    });
    let mut shown = Vec::with_capacity(keys.len());
    add_below(None, &keys, &mut shown);
    let budget = |key: &KeyView| accounts.key_budget(key.record.id, now);
    let shown = shown.into_iter().map(|(key, created_by): (&KeyView, Option<&KeyView>)| ShownKey {
        budget: budget(key),
        created_by: created_by.map(|creator| creator.record.name.clone()),
        has_created: keys.iter().any(|other| other.record.parent == Some(key.record.id)),
        key: key.clone(),
    });
    shown.collect()
}

/// Adds the keys that a key created, or those of people. A key whose creator has ended does not work.
fn add_below<'k>(
    creator: Option<&'k KeyView>,
    keys: &'k [KeyView],
    shown: &mut Vec<(&'k KeyView, Option<&'k KeyView>)>,
) {
    let parent: Option<KeyId> = creator.map(|creator| creator.record.id);
    for key in keys.iter().filter(|key| key.record.parent == parent) {
        shown.push((key, creator));
        add_below(Some(key), keys, shown);
    }
}

pub(super) fn section(seen: &PageRequest<'_>, keys: &[ShownKey]) -> Markup {
    html! {
        section aria-labelledby="keys" {
            h2 #keys { "Keys for programs" }
            @if keys.is_empty() {
                p { "You have no key yet. A program needs one to search and read the law here." }
            } @else {
                ul.rows { @for shown in keys { li { (one(seen, shown)) } } }
            }
            form.entry method="post" action="/settings/keys" {
                (seen.token_field())
                label for="key-name" { "Name of a new key" }
                input #key-name type="text" name="name" required maxlength="100" placeholder="my program";
                fieldset {
                    legend { "What the key may be used for (its scopes)" }
                    @for scope in Scope::ALL {
                        label.tick { input type="checkbox" name="scopes" value=(scope.name()) checked; span { (scope.name()) span.count { " " (use_of(scope)) } } }
                    }
                }
                label for="key-days" { "Days until it expires (empty: it does not)" }
                input #key-days type="number" name="days" min="1" max="65535";
                (budget_fields("new", Budget::default()))
                button type="submit" { "Create a key" }
            }
        }
    }
}

fn one(seen: &PageRequest<'_>, ShownKey { key, created_by, has_created, budget }: &ShownKey) -> Markup {
    let (record, id) = (&key.record, key.record.id.to_string());
    html! {
        div {
            strong { (record.name) } " " code { (record.prefix) "…" }
            div.count {
                "For " (record.scopes.names().collect::<Vec<_>>().join(", ")) br;
                @if let Some(creator) = created_by { "Created by the key " strong { (creator) } ", and ends with it" br; }
                @if *has_created {
                    // A key with a budget stops at once when it is replaced.
                    @if budget.is_some() { "Replace and Revoke also end the keys that it created" }
                    @else { "Revoke also ends the keys that it created; Replace ends them a day later" }
                    br;
                }
                @match key.last_used { Some(at) => { "Last used " (day(at)) }, None => "Not used yet" }
                @match record.expires_at { Some(at) => { ", expires " (day(at)) }, None => ", does not expire" }
                @if let Some(budget) = budget {
                    br; "Budget: " (budget.limits) ". Spent: " (budget.spent_in_words()) "."
                    @if let Some(notice) = budget.status.and_then(BudgetStatus::notice) { " " strong { (notice) " are spent." } }
                }
            }
            details {
                summary { @if budget.is_some() { "Change its budget" } @else { "Give it a budget" } }
                form.entry method="post" action="/settings/keys/budget" {
                    (seen.token_field())
                    input type="hidden" name="key" value=(id);
                    (budget_fields(&id, budget.map(|budget| budget.limits).unwrap_or_default()))
                    button type="submit" { "Save the budget of " (record.name) }
                }
            }
        }
        div.actions {
            (action(seen, "/settings/keys/rotate", "key", &id, "Replace", &record.name))
            (action(seen, "/settings/keys/revoke", "key", &id, "Revoke", &record.name))
        }
    }
}

/// The fields of a budget: name, label and value.
fn budget_fields(form: &str, limits: Budget) -> Markup {
    let fields = [
        ("budget", "in all", limits.total),
        ("monthly_budget", "in a month", limits.per_month),
        ("daily_budget", "on a day", limits.per_day),
    ];
    html! {
        fieldset {
            legend { "Credits it may spend (empty: as many as the account has)" }
            @for (name, per, limit) in fields {
                label for={ (name) "-" (form) } { (per) }
                input id={ (name) "-" (form) } type="number" name=(name) min="0" max=(u32::MAX) value=[limit];
            }
        }
    }
}

/// Reads the fields of a budget.
pub(super) fn budget_of(form: &FormFields) -> Result<Budget, PageError> {
    let limit = |name: &str| match form.text(name).trim() {
        "" => Ok(None),
        text => text.parse().map(Some).map_err(|_| {
            let most = grouped(u32::MAX);
            PageError::Refused(format!("a budget is a whole number of credits up to {most}, or empty"))
        }),
    };
    Ok(Budget { total: limit("budget")?, per_month: limit("monthly_budget")?, per_day: limit("daily_budget")? })
}

pub(super) async fn set_budget(
    shared: &SettingsContext,
    seen: &PageRequest<'_>,
    form: &FormFields,
    key: KeyId,
) -> Result<MountResponse, PageError> {
    let (budget, accounts, act) = (budget_of(form)?, shared.accounts(), seen.act.clone());
    shared.shell.desk.work(move || accounts.set_key_budget(key, budget, &act)).await?;
    Ok(redirect("/settings#keys").into())
}

/// What a scope allows a program to do.
const fn use_of(scope: Scope) -> &'static str {
    match scope {
        Scope::Search => "search the law",
        Scope::Node => "read provisions",
        Scope::Browse => "list contents",
        Scope::Gis => "zoning maps",
        Scope::Formation => "company formation",
    }
}
