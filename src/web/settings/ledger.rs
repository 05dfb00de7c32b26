//! The ledger of an account, page by page and as CSV.

use std::fmt::Write;
use std::sync::Arc;

use ::http::StatusCode;
use ::http::header::{CONTENT_DISPOSITION, HeaderValue};
use bytes::Bytes;
use futures_util::stream;
use hornbook_accounts::ids::{AccountId, EntryNumber};
use hornbook_accounts::views::EntryView;
use maud::html;

use super::shared::SettingsContext;
use crate::mount::{BodyEndsEarly, MountResponse, RemainingBody};
use crate::web::formatting::{day_and_time, signed};
use crate::web::page_context::PageContext;
use crate::web::page_error::PageError;
use crate::web::page_request::PageRequest;
use crate::web::response::{self, CachePolicy};
use crate::web::work_queues::ExportPermit;

const ENTRIES_PER_PAGE: usize = 50;

/// The number of entries that an export reads and sends at once.
const ENTRIES_PER_PART: usize = 1_000;

/// Where the list begins that the request asks for. None: at the newest entry.
fn first_entry(seen: &PageRequest<'_>) -> Result<Option<EntryNumber>, PageError> {
    let from = seen.request.parameters.iter().find(|(name, _)| name == "from").map(|(_, number)| number.parse());
    Ok(from.transpose().map_err(|_| PageError::NotFound)?.map(EntryNumber))
}

/// The number of the entry that follows full pages.
fn next_entry(entries: &[EntryView], count: usize) -> Option<EntryNumber> {
    entries.last().and_then(|entry| entry.previous).filter(|_| entries.len() == count)
}

pub(super) async fn shown(shared: &SettingsContext, seen: &PageRequest<'_>) -> Result<MountResponse, PageError> {
    let (account, from) = (seen.person()?.account, first_entry(seen)?);
    let accounts = shared.accounts();
    let page = move || accounts.entries_from(account, from, ENTRIES_PER_PAGE);
    let entries = shared.shell.desk.statement_work(page).await?;
    let next = next_entry(&entries, ENTRIES_PER_PAGE);
    let main = html! {
        h1 { "Ledger" }
        p { "What was granted, bought and used, newest first. The free units of a month are used before credits." }
        p { a href="/settings/ledger.csv" { "Export as CSV" } " · " a href="/settings" { "Back to your account" } }
        div.scroll tabindex="0" role="group" aria-label="Ledger" {
            table.ledger.stacked {
                thead {
                    tr {
                        th scope="col" { "Entry" } th scope="col" { "Time" } th scope="col" { "Kind" } th scope="col" { "For" }
                        th.number scope="col" { "Amount" } th.number scope="col" { "From free units" } th.number scope="col" { "Credits left" } th scope="col" { "Key" }
                    }
                }
                tbody {
                    @for entry in &entries {
                        tr {
                            th scope="row" { (entry.id) }
                            td data-name="Time" { (day_and_time(entry.at)) }
                            td data-name="Kind" { (entry.kind.name()) }
                            td data-name="For" { (entry.operation.as_deref().or(entry.note.as_deref()).unwrap_or("–")) }
                            td.number data-name="Amount" { (signed(entry.credits)) }
                            td.number data-name="From free units" { (entry.from_allotment) }
                            td.number data-name="Credits left" { (signed(entry.balance_after)) }
                            td data-name="Key" { (entry.key_prefix.as_deref().unwrap_or("–")) }
                        }
                    }
                }
            }
        }
        @if entries.is_empty() { p { "There is nothing yet." } }
        @if let Some(next) = next { p { a.button.quiet rel="next" href={ "/settings/ledger?from=" (next) } { "Earlier" } } }
    };
    Ok(seen.page(StatusCode::OK, "Ledger", main))
}

/// The whole ledger, read and sent in parts, so that neither its length nor a slow reader takes memory or a thread.
pub(super) async fn exported(shared: &SettingsContext, seen: &PageRequest<'_>) -> Result<MountResponse, PageError> {
    let (account, from) = (seen.person()?.account, first_entry(seen)?);
    let permit = shared.shell.desk.begin_export(account)?;
    let mut export = LedgerExport { shell: Arc::clone(&shared.shell), permit, account, from };
    let first = [COLUMNS, &export.part().await?].concat();
    let mut response = response::text(StatusCode::OK, "text/csv; charset=utf-8", first.into(), CachePolicy::NoStore);
    let attachment = HeaderValue::from_static("attachment; filename=\"hornbook-ledger.csv\"");
    response.headers_mut().insert(CONTENT_DISPOSITION, attachment);
    let rest = export.from.is_some().then(|| export.into_parts());
    Ok(MountResponse { rest, ..response.into() })
}

/// An export in progress.
struct LedgerExport {
    shell: Arc<PageContext>,
    permit: ExportPermit,
    account: AccountId,
    /// The entry that follows. Before the first part, None means the newest one; afterwards, that there is none.
    from: Option<EntryNumber>,
}

impl LedgerExport {
    /// The next entries as lines.
    async fn part(&mut self) -> Result<String, PageError> {
        let accounts = Arc::clone(self.shell.service.accounts());
        let (account, from) = (self.account, self.from);
        let read = move || accounts.entries_from(account, from, ENTRIES_PER_PART);
        let entries = self.shell.desk.export_work(&self.permit, read).await?;
        self.from = next_entry(&entries, ENTRIES_PER_PART);
        Ok(as_csv(&entries))
    }

    fn into_parts(self) -> RemainingBody {
        Box::pin(stream::unfold(self, async |mut export| {
            export.from?;
            let part = export.part().await;
            if part.is_err() {
                export.from = None;
            }
            Some((part.map(Bytes::from).map_err(|_| BodyEndsEarly), export))
        }))
    }
}

const COLUMNS: &str = "id,at,kind,operation,credits,fromAllotment,balanceAfter,keyPrefix,note\r\n";

/// Formats entries as lines of CSV according to RFC 4180.
fn as_csv(entries: &[EntryView]) -> String {
    let mut csv = String::new();
    for entry in entries {
        let (operation, key) = (quoted(entry.operation.as_deref()), quoted(entry.key_prefix.as_deref()));
        let (id, at, kind, note) = (entry.id, entry.at, entry.kind.name(), quoted(entry.note.as_deref()));
        let (credits, free, balance) = (entry.credits, entry.from_allotment, entry.balance_after);
        // Writing to a string cannot fail.
        let _ = write!(csv, "{id},{at},{kind},{operation},{credits},{free},{balance},{key},{note}\r\n");
    }
    csv
}

/// A text as a CSV field. Text that a spreadsheet would read as a formula gets an apostrophe in
/// front.
fn quoted(text: Option<&str>) -> String {
    let text = text.unwrap_or_default();
    let mark = if text.starts_with(['=', '+', '-', '@', '\t', '\r']) { "'" } else { "" };
    if mark.is_empty() && !text.contains([',', '"', '\r', '\n']) {
        return text.to_owned();
    }
    format!("\"{mark}{}\"", text.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_where_they_need_it_and_formulas_are_text() {
        assert_eq!(quoted(Some("search")), "search");
        assert_eq!(quoted(Some("a, \"b\"\n")), "\"a, \"\"b\"\"\n\"");
        assert_eq!(quoted(Some("=cmd()")), "\"'=cmd()\"");
        assert_eq!(quoted(None), "");
    }
}
