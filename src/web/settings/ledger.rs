//! The ledger of an account, page by page and as CSV.

use std::fmt::Write;

use ::http::StatusCode;
use ::http::header::{CONTENT_DISPOSITION, HeaderValue, LINK};
use hornbook_accounts::ids::EntryNumber;
use hornbook_accounts::views::EntryView;
use maud::html;

use super::shared::SettingsContext;
use crate::mount::MountResponse;
use crate::web::formatting::{day_and_time, signed};
use crate::web::page_error::PageError;
use crate::web::page_request::PageRequest;
use crate::web::response::{self, CachePolicy};

const ENTRIES_PER_PAGE: usize = 50;

/// Maximum number of entries in one file. A longer ledger is split into several files.
const ENTRIES_PER_FILE: usize = 50_000;

/// Entries in descending order from a starting entry, and the number of the next entry.
async fn entries(
    shared: &SettingsContext,
    seen: &PageRequest<'_>,
    count: usize,
) -> Result<(Vec<EntryView>, Option<EntryNumber>), PageError> {
    let person = seen.person()?;
    let from = seen.request.parameters.iter().find(|(name, _)| name == "from").map(|(_, number)| number.parse());
    let from = from.transpose().map_err(|_| PageError::NotFound)?.map(EntryNumber);
    let (accounts, account) = (shared.accounts(), person.account);
    let entries = shared.shell.desk.statement_work(move || accounts.entries_from(account, from, count)).await?;
    let next = entries.last().and_then(|entry| entry.previous).filter(|_| entries.len() == count);
    Ok((entries, next))
}

pub(super) async fn shown(shared: &SettingsContext, seen: &PageRequest<'_>) -> Result<MountResponse, PageError> {
    let (entries, next) = entries(shared, seen, ENTRIES_PER_PAGE).await?;
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

pub(super) async fn exported(shared: &SettingsContext, seen: &PageRequest<'_>) -> Result<MountResponse, PageError> {
    shared.shell.desk.count_export(seen.person()?.account)?;
    let (entries, next) = entries(shared, seen, ENTRIES_PER_FILE).await?;
    let mut response =
        response::text(StatusCode::OK, "text/csv; charset=utf-8", as_csv(&entries).into(), CachePolicy::NoStore);
    let headers = response.headers_mut();
    headers.insert(CONTENT_DISPOSITION, HeaderValue::from_static("attachment; filename=\"hornbook-ledger.csv\""));
    if let Some(next) =
        next.map(|next| HeaderValue::from_str(&format!("</settings/ledger.csv?from={next}>; rel=\"next\"")))
    {
        headers.extend(next.ok().map(|next| (LINK, next)));
    }
    Ok(response.into())
}

const COLUMNS: &str = "id,at,kind,operation,credits,fromAllotment,balanceAfter,keyPrefix,note\r\n";

/// Formats entries as CSV according to RFC 4180.
fn as_csv(entries: &[EntryView]) -> String {
    let mut csv = COLUMNS.to_owned();
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
