//! The keys of an account on its page, and the agents that it let in: what each may do and spend, and the forms that
//! change them.

use hornbook_accounts::Accounts;
use hornbook_accounts::budget::{Budget, BudgetStatus, BudgetView};
use hornbook_accounts::ids::{AccountId, KeyId};
use hornbook_accounts::key::KeyKind;
use hornbook_accounts::scope::{Scope, ScopeSet};
use hornbook_accounts::views::KeyView;
use hornbook_base::clock::{MILLIS_PER_DAY, UnixMillis};
use hornbook_base::thousands::grouped;
use maud::{Markup, html};

use super::shared::{SettingsContext, action};
use crate::mount::MountResponse;
use crate::web::form::FormFields;
use crate::web::formatting::day;
use crate::web::page_error::PageError;
use crate::web::page_request::PageRequest;
use crate::web::response::redirect;
use crate::web::untrusted_text::UntrustedText;

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
        created_by: created_by.map(|creator| creator.record.name.to_string()),
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

/// The sections of agents and of keys.
pub(super) fn sections(seen: &PageRequest<'_>, keys: &[ShownKey]) -> Markup {
    let (agents, keys): (Vec<&ShownKey>, Vec<&ShownKey>) =
        keys.iter().partition(|shown| shown.key.record.grant.is_some());
    html! {
        @if !agents.is_empty() { (agent_section(seen, &agents)) }
        (key_section(seen, &keys))
    }
}

fn agent_section(seen: &PageRequest<'_>, agents: &[&ShownKey]) -> Markup {
    html! {
        section aria-labelledby="agents" {
            h2 #agents { "Connected agents" }
            p { "You let these programs use your account. Disconnecting one takes effect at once." }
            ul.rows { @for shown in agents { li { (one_agent(seen, shown)) } } }
        }
    }
}

/// The agent chose its name, and everybody can choose any.
fn one_agent(seen: &PageRequest<'_>, shown: &ShownKey) -> Markup {
    let record = &shown.key.record;
    let returns_to = record.grant.as_ref().map(|grant| grant.returns_to.as_str()).unwrap_or_default();
    html! {
        div {
            strong { (UntrustedText(&record.name)) } " at " (UntrustedText(returns_to))
            (what_it_may(shown, "ends", "has no end"))
            (budget_form(seen, shown))
        }
        div.actions { (action(seen, "/settings/keys/revoke", "key", &record.id.to_string(), "Disconnect", &record.name)) }
    }
}

fn key_section(seen: &PageRequest<'_>, keys: &[&ShownKey]) -> Markup {
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
                (scope_fields("What the key may be used for (its scopes)", ScopeSet::ALL))
                label for="key-days" { "Days until it expires (empty: it does not)" }
                input #key-days type="number" name="days" min="1" max="65535";
                (budget_fields("new", Budget::default()))
                button type="submit" { "Create a key" }
            }
        }
    }
}

fn one(seen: &PageRequest<'_>, shown: &ShownKey) -> Markup {
    let (record, id) = (&shown.key.record, shown.key.record.id.to_string());
    html! {
        div {
            strong { (record.name) } " " code { (record.prefix) "…" }
            (what_it_may(shown, "expires", "does not expire"))
            (budget_form(seen, shown))
        }
        div.actions {
            (action(seen, "/settings/keys/rotate", "key", &id, "Replace", &record.name))
            (action(seen, "/settings/keys/revoke", "key", &id, "Revoke", &record.name))
        }
    }
}

/// What a key or an agent may do and spend, and until when.
fn what_it_may(ShownKey { key, created_by, has_created, budget }: &ShownKey, ends: &str, endless: &str) -> Markup {
    let record = &key.record;
    html! {
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
            @match record.expires_at { Some(at) => { ", " (ends) " " (day(at)) }, None => { ", " (endless) } }
            @if let Some(budget) = budget {
                br; "Budget: " (budget.limits) ". Spent: " (budget.spent_in_words()) "."
                @if let Some(notice) = budget.status.and_then(BudgetStatus::notice) { " " strong { (notice) " are spent." } }
            }
        }
    }
}

fn budget_form(seen: &PageRequest<'_>, ShownKey { key, budget, .. }: &ShownKey) -> Markup {
    let (name, id) = (&key.record.name, key.record.id.to_string());
    html! {
        details {
            summary { @if budget.is_some() { "Change its budget" } @else { "Give it a budget" } }
            form.entry method="post" action="/settings/keys/budget" {
                (seen.token_field())
                input type="hidden" name="key" value=(id);
                (budget_fields(&id, budget.map(|budget| budget.limits).unwrap_or_default()))
                button type="submit" { "Save the budget of " (UntrustedText(name)) }
            }
        }
    }
}

/// The section of the page that lists a key.
pub(super) fn section_of(accounts: &Accounts, key: KeyId) -> &'static str {
    let is_agent = accounts.key_record(key).is_ok_and(|record| record.kind == KeyKind::Agent);
    if is_agent { "/settings#agents" } else { "/settings#keys" }
}

/// A box for each of these scopes, ticked.
pub(super) fn scope_fields(legend: &str, offered: ScopeSet) -> Markup {
    html! {
        fieldset {
            legend { (legend) }
            @for scope in Scope::ALL {
                @if offered.has_any_of(ScopeSet::of(&[scope])) {
                    label.tick { input type="checkbox" name="scopes" value=(scope.name()) checked; span { (scope.name()) span.count { " " (use_of(scope)) } } }
                }
            }
        }
    }
}

/// Reads the boxes of scopes. `choose` says what to do if none is ticked.
pub(super) fn scopes_of(form: &FormFields, choose: &str) -> Result<ScopeSet, PageError> {
    let scopes = form.all("scopes").collect::<Vec<_>>().join(",");
    if scopes.is_empty() {
        return Err(PageError::Refused(choose.to_owned()));
    }
    scopes.parse().map_err(PageError::Refused)
}

/// Reads the days after which something ends; `None`: it does not.
pub(super) fn end_of(form: &FormFields, now: UnixMillis, rule: &str) -> Result<Option<UnixMillis>, PageError> {
    let days = form.text("days").trim();
    if days.is_empty() {
        return Ok(None);
    }
    let days: Option<u16> = days.parse().ok().filter(|days| *days > 0);
    let days = days.ok_or_else(|| PageError::Refused(rule.to_owned()))?;
    Ok(Some(now.plus_millis(i64::from(days) * MILLIS_PER_DAY)))
}

/// The fields of a budget: name, label and value.
pub(super) fn budget_fields(form: &str, limits: Budget) -> Markup {
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
    Ok(redirect(section_of(&shared.accounts(), key)).into())
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
