//! The operator's page: pending tasks, accounts, snapshots, and the state of the service.

use ::http::StatusCode;
use hornbook_accounts::records::AuditRecord;
use hornbook_accounts::records::{AccountStatus, CheckoutRecord, OrderRecord, OrderStage, PurchaseRecord};
use hornbook_accounts::views::AccountView;
use hornbook_base::thousands::grouped;
use maud::{Markup, html};

use super::plots;
use super::shared::OperatorContext;
use super::snapshot_control::SnapshotRow;
use crate::metrics::FailedRequest;
use crate::mount::MountResponse;
use crate::web::formatting::{day, day_and_time, dollars, signed, to_the_second};
use crate::web::frame::{Page, SiteSection};
use crate::web::page_error::PageError;
use crate::web::page_request::PageRequest;
use crate::web::response::{self, CachePolicy};
use crate::web::untrusted_text::counted;

/// Maximum number of rows in each list, and of recorded acts. The commands show the rest.
const ROWS: usize = 100;
const ACTS: usize = 20;

struct OverviewData {
    accounts: Vec<(AccountView, Option<String>)>,
    purchases: Vec<PurchaseRecord>,
    problems: Vec<CheckoutRecord>,
    orders: Vec<OrderRecord>,
    acts: Vec<AuditRecord>,
    snapshots: Vec<SnapshotRow>,
    report: Option<String>,
}

pub(super) async fn shown(shared: &OperatorContext, seen: &PageRequest<'_>) -> Result<MountResponse, PageError> {
    let (accounts, machinery) = (shared.accounts(), std::sync::Arc::clone(&shared.machinery));
    let now = shared.shell.service.now();
    let office = shared.shell.desk.operator_work(move || {
        let login = |view: &AccountView| accounts.person(view.record.id).map(|person| person.login.as_str().to_owned());
        let mut purchases = accounts.waiting_purchases()?;
        purchases.retain(|purchase| purchase.checkout.is_none());
        let (problems, orders) = (accounts.payment_problems()?, accounts.open_orders()?);
        let mut views = accounts.accounts(now)?;
        // Pending accounts come first, then the newest ones.
        views.sort_by_key(|view| (view.record.status != AccountStatus::Pending, std::cmp::Reverse(view.record.id)));
        views.truncate(ROWS);
        Ok(OverviewData {
            accounts: views
                .into_iter()
                .map(|view| {
                    let login = login(&view);
                    (view, login)
                })
                .collect(),
            purchases,
            problems,
            orders,
            acts: accounts.acts(ACTS)?,
            snapshots: machinery.snapshots(),
            report: machinery.report(),
        })
    });
    let office = office.await?;
    let metrics = &shared.metrics;
    let main = html! {
        h1 { "Running the service" }
        (health(shared))
        (purchases(seen, &office.purchases, &office.problems))
        (orders(seen, &office.orders))
        (accounts_of(seen, &office.accounts))
        (snapshots(shared, seen, &office.snapshots, office.report.as_deref()))
        section aria-labelledby="latency" {
            h2 #latency { "Response times since the start" }
            (plots::heat_map("Response times by operation", &metrics.latencies()))
            h3 { "Stages of a call" }
            (plots::heat_map("Times by stage", &metrics.stages()))
        }
        (errors(&metrics.recent_failures()))
        (acts(&office.acts))
    };
    let page = Page::new("Running the service", SiteSection::Operator, main);
    Ok(response::page(StatusCode::OK, page.html(&seen.visitor), CachePolicy::NoStore).into())
}

fn health(shared: &OperatorContext) -> Markup {
    let service = &shared.shell.service;
    let corpus = service.corpus();
    let damage = corpus.snapshot().damage().first().map(str::to_owned);
    let ledger = service.accounts().health();
    html! {
        section aria-labelledby="health" {
            h2 #health { "Health" }
            dl {
                dt { "Ledger" }
                dd { @match ledger { Ok(()) => "working", Err(why) => strong.bad { (why) } } }
                dt { "Snapshot" }
                dd { code { (corpus.id()) } @if let Some(what) = damage { " " strong.bad { "damaged: " (what) } } }
                dt { "Searches waiting" } dd { (service.waiting()) }
                dt { "Version" } dd { (env!("CARGO_PKG_VERSION")) }
            }
        }
    }
}

/// A form with one button.
fn button(seen: &PageRequest<'_>, path: &str, fields: &[(&str, &str)], word: &str, what: &str) -> Markup {
    html! {
        form method="post" action=(path) {
            (seen.token_field())
            @for (name, value) in fields { input type="hidden" name=(name) value=(value); }
            button.quiet type="submit" { (word) span.unseen { " " (what) } }
        }
    }
}

fn with_reference(seen: &PageRequest<'_>, path: &str, fields: &[(&str, &str)], what: &str) -> Markup {
    html! {
        form.row method="post" action=(path) {
            (seen.token_field())
            @for (name, value) in fields { input type="hidden" name=(name) value=(value); }
            input type="text" name="reference" maxlength="200" placeholder="payment reference" aria-label={ "Payment reference of " (what) };
            button type="submit" { "Confirm payment" span.unseen { " of " (what) } }
        }
    }
}

fn purchases(seen: &PageRequest<'_>, purchases: &[PurchaseRecord], problems: &[CheckoutRecord]) -> Markup {
    html! {
        section aria-labelledby="purchases" {
            h2 #purchases { "Purchases to confirm" }
            @if purchases.is_empty() { p { "None." } }
            ul.rows {
                @for purchase in purchases.iter().take(ROWS) {
                    @let id = purchase.id.to_string();
                    li {
                        span { strong { (id) } " " (purchase.pack.tier()) ", " (dollars(purchase.price_cents)) ", " (purchase.account) span.count { " since " (day(purchase.requested_at)) } }
                        div.actions {
                            (with_reference(seen, "/operator/purchase", &[("purchase", &id), ("do", "confirm")], &id))
                            (button(seen, "/operator/purchase", &[("purchase", &id), ("do", "cancel")], "Cancel", &id))
                        }
                    }
                }
            }
            @if !problems.is_empty() {
                h3 { "Payments with a problem" }
                ul.rows {
                    @for checkout in problems.iter().take(ROWS) {
                        li {
                            span { strong { (checkout.account) } " " (checkout.problems.join("; ")) }
                            (button(seen, "/operator/problem", &[("checkout", &checkout.id.to_string()), ("shown", &checkout.problems.len().to_string())], "Done", "with this payment"))
                        }
                    }
                }
            }
        }
    }
}

fn orders(seen: &PageRequest<'_>, orders: &[OrderRecord]) -> Markup {
    html! {
        section aria-labelledby="orders" {
            h2 #orders { "Company formations in progress" }
            @if orders.is_empty() { p { "None." } }
            ul.rows {
                @for order in orders.iter().take(ROWS) {
                    @let id = order.id.to_string();
                    @let stage = order.stage();
                    li {
                        span {
                            strong { (order.entity_name) } ", " (order.entity_type.replace('_', " ")) " in " (order.jurisdiction) ", " (order.account)
                            span.count { " " (stage.name().replace('_', " ")) @if let Some(reached) = order.stages.last() { " since " (day(reached.at)) } }
                        }
                        div.actions {
                            @if stage <= OrderStage::Payment {
                                (with_reference(seen, "/operator/order", &[("order", &id), ("do", "confirm")], &order.entity_name))
                                (button(seen, "/operator/order", &[("order", &id), ("do", "discard")], "Discard", &order.entity_name))
                            } @else {
                                form.row method="post" action="/operator/order" {
                                    (seen.token_field())
                                    input type="hidden" name="order" value=(id);
                                    input type="hidden" name="do" value="advance";
                                    select name="stage" aria-label={ "Next stage of " (order.entity_name) } {
                                        @for next in OrderStage::ALL.into_iter().filter(|next| *next > stage) { option value=(next.name()) { (next.name().replace('_', " ")) } }
                                    }
                                    button type="submit" { "Move" span.unseen { " " (order.entity_name) } }
                                }
                            }
                            (button(seen, "/operator/order", &[("order", &id), ("do", "intake")], "Show the intake", &order.entity_name))
                        }
                    }
                }
            }
        }
    }
}

fn accounts_of(seen: &PageRequest<'_>, accounts: &[(AccountView, Option<String>)]) -> Markup {
    html! {
        section aria-labelledby="accounts" {
            h2 #accounts { "Accounts" }
            div.scroll tabindex="0" role="group" aria-labelledby="accounts" {
                table.stacked {
                    thead { tr { th scope="col" { "Account" } th scope="col" { "Signs in as" } th scope="col" { "State" } th scope="col" { "Tier" } th.number scope="col" { "Credits" } th scope="col" { "Since" } th scope="col" { span.unseen { "Change" } } } }
                    tbody {
                        @for (view, login) in accounts {
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

fn snapshots(
    shared: &OperatorContext,
    seen: &PageRequest<'_>,
    snapshots: &[SnapshotRow],
    report: Option<&str>,
) -> Markup {
    let served = shared.shell.service.corpus();
    let counts = &served.snapshot().manifest.counts;
    html! {
        section aria-labelledby="snapshots" {
            h2 #snapshots { "Snapshots" }
            dl {
                dt { "Served" } dd { code { (served.id()) } }
                dt { "Provisions" } dd { (grouped(counts.provisions)) " in " (grouped(counts.code_bodies)) " codes" }
                dt { "Zoning layers" } dd { (counts.zoning_layers) }
            }
            @if let Some(report) = report { details { summary { "Report of its build" } pre tabindex="0" { (report) } } }
            ul.rows {
                @for row in snapshots {
                    li {
                        span {
                            strong { (row.name) }
                            @match &row.id {
                                Ok(_) => span.count { " " (grouped(row.provisions)) " provisions, " (counted((row.bytes >> 20) as usize)) " MB" },
                                Err(why) => { " " strong.bad { (why) } }
                            }
                        }
                        @if row.is_served { span { "served" } }
                        @else if row.id.is_ok() { (button(seen, "/operator/snapshot", &[("snapshot", &row.name)], "Serve", &row.name)) }
                    }
                }
            }
            p.count { "A snapshot is verified before it is served. If anything is wrong with it, the current one stays." }
        }
    }
}

fn errors(failures: &[FailedRequest]) -> Markup {
    html! {
        section aria-labelledby="errors" {
            h2 #errors { "Recent errors" }
            @if failures.is_empty() { p { "None since the start." } } @else {
                div.scroll tabindex="0" role="group" aria-labelledby="errors" {
                    table.stacked {
                        thead { tr { th scope="col" { "Time" } th scope="col" { "Status" } th scope="col" { "Operation" } th scope="col" { "Code" } th scope="col" { "Why" } th scope="col" { "Request" } } }
                        tbody {
                            @for failed in failures.iter().rev() {
                                tr {
                                    td { (day_and_time(hornbook_base::clock::UnixMillis(failed.at_millis))) }
                                    td data-name="Status" { (failed.status) } td data-name="Operation" { (failed.operation) } td data-name="Code" { (failed.code.unwrap_or("–")) }
                                    td data-name="Why" { (failed.why.as_deref().unwrap_or("–")) } td data-name="Request" { code { (failed.request) } }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn acts(acts: &[AuditRecord]) -> Markup {
    html! {
        section aria-labelledby="acts" {
            h2 #acts { "Recent administrative actions" }
            div.scroll tabindex="0" role="group" aria-labelledby="acts" {
                table.stacked {
                    thead { tr { th scope="col" { "Time" } th scope="col" { "By" } th scope="col" { "Action" } th scope="col" { "On" } } }
                    tbody { @for act in acts.iter().rev() { tr { td { (to_the_second(&act.at)) } td data-name="By" { (act.actor) } td data-name="Action" { (act.act) } td data-name="On" { (act.on) } } } }
                }
            }
        }
    }
}
