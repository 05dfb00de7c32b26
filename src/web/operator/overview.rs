//! The operator's page: pending tasks, snapshots, errors and acts; `health` and `accounts` render the rest of it.

use ::http::StatusCode;
use hornbook_accounts::records::AuditRecord;
use hornbook_accounts::records::{CheckoutRecord, OrderRecord, OrderStage, PurchaseRecord};
use hornbook_base::thousands::grouped;
use hornbook_search::Mode;
use maud::{Markup, html};

use super::accounts::FoundAccounts;
use super::control::{DiskSpace, SettingRow, SnapshotRow};
use super::shared::{OperatorContext, button};
use super::{accounts, health, plots, preview};
use crate::metrics::FailedRequest;
use crate::mount::MountResponse;
use crate::web::formatting::{day, day_and_time, dollars, to_the_second};
use crate::web::frame::{Page, SiteSection};
use crate::web::page_error::PageError;
use crate::web::page_request::PageRequest;
use crate::web::response::{self, CachePolicy};
use crate::web::untrusted_text::{UntrustedText, counted};

/// Maximum number of rows in each list, and of recorded acts. The commands show the rest.
const ROWS: usize = 100;
const ACTS: usize = 20;

/// The origin of a setting that nobody set.
const DEFAULT: &str = "default";

struct OverviewData {
    accounts: FoundAccounts,
    purchases: Vec<PurchaseRecord>,
    problems: Vec<CheckoutRecord>,
    orders: Vec<OrderRecord>,
    acts: Vec<AuditRecord>,
    backup: Option<AuditRecord>,
    snapshots: Vec<SnapshotRow>,
    report: Option<String>,
    disk: Option<DiskSpace>,
}

pub(super) async fn shown(shared: &OperatorContext, seen: &PageRequest<'_>) -> Result<MountResponse, PageError> {
    let (accounts, machinery) = (shared.accounts(), std::sync::Arc::clone(&shared.machinery));
    let now = shared.shell.service.now();
    let wanted = seen.parameter(accounts::SEARCH).unwrap_or_default().trim().to_owned();
    let office = shared.shell.desk.operator_work(move || {
        let mut purchases = accounts.waiting_purchases()?;
        purchases.retain(|purchase| purchase.checkout.is_none());
        let (problems, orders) = (accounts.payment_problems()?, accounts.open_orders()?);
        let recorded = accounts.acts(health::ACTS_SEARCHED)?;
        Ok(OverviewData {
            accounts: FoundAccounts::find(&accounts, now, &wanted)?,
            purchases,
            problems,
            orders,
            backup: health::last_backup(&recorded).cloned(),
            acts: recorded[recorded.len().saturating_sub(ACTS)..].to_vec(),
            snapshots: machinery.snapshots(),
            report: machinery.report(),
            disk: machinery.disk(),
        })
    });
    let office = office.await?;
    let metrics = &shared.metrics;
    let main = html! {
        h1 { "Running the service" }
        (health::section(shared, office.disk, office.backup.as_ref()))
        (health::refused(shared))
        (purchases(seen, &office.purchases, &office.problems))
        (orders(seen, &office.orders))
        (accounts::section(seen, &office.accounts))
        (snapshots(shared, seen, &office.snapshots, office.report.as_deref()))
        section aria-labelledby="latency" {
            h2 #latency { "Response times since the start" }
            (plots::heat_map("Response times by operation", &metrics.latencies()))
            h3 { "Stages of a call" }
            (plots::heat_map("Times by stage", &metrics.stages()))
        }
        (errors(&metrics.recent_failures()))
        section aria-labelledby="preview-title" {
            h2 #preview-title { "Search preview" }
            (preview::form("", Mode::default(), false))
        }
        (acts(&office.acts))
        (settings(shared.machinery.settings()))
    };
    let page = Page::new("Running the service", SiteSection::Operator, main);
    Ok(response::page(StatusCode::OK, page.html(&seen.visitor), CachePolicy::NoStore).into())
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

/// The values that the program was started with.
fn settings(settings: &[SettingRow]) -> Markup {
    html! {
        section aria-labelledby="settings-in-force" {
            h2 #settings-in-force { "Settings in force" }
            details {
                summary { (counted(settings.len())) " settings, " (counted(settings.iter().filter(|setting| setting.origin != DEFAULT).count())) " of them not the default" }
                div.scroll tabindex="0" role="group" aria-labelledby="settings-in-force" {
                    table.stacked {
                        thead { tr { th scope="col" { "Setting" } th scope="col" { "Value" } th scope="col" { "From" } } }
                        tbody {
                            @for SettingRow { name, value, origin } in settings {
                                tr { th scope="row" { code { (name) } } td data-name="Value" { (UntrustedText(value)) } td data-name="From" { (UntrustedText(origin)) } }
                            }
                        }
                    }
                }
            }
        }
    }
}
