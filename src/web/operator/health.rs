//! The state of the service: ledger, snapshot, age of the law, memory, disk, backups, and what was refused.

use hornbook_accounts::records::AuditRecord;
use hornbook_base::clock::UnixMillis;
use hornbook_base::process_memory::ProcessMemory;
use hornbook_base::thousands::grouped;
use hornbook_corpus::catalogue::Source;
use hornbook_corpus::day::Day;
use maud::{Markup, html};

use super::control::DiskSpace;
use super::shared::OperatorContext;
use crate::api::as_of::today;
use crate::web::formatting::{day_and_time, to_the_second, written_day};

/// The newest recorded acts that are searched for the last backup.
pub(super) const ACTS_SEARCHED: usize = 5_000;

/// The status of a response to a request over a limit.
const TOO_MANY: u16 = 429;

/// The act that the audit log records for a backup.
const BACKUP: &str = "backup";

/// The newest backup among acts in chronological order.
pub(super) fn last_backup(acts: &[AuditRecord]) -> Option<&AuditRecord> {
    acts.iter().rev().find(|act| act.act == BACKUP)
}

pub(super) fn section(shared: &OperatorContext, disk: Option<DiskSpace>, backup: Option<&AuditRecord>) -> Markup {
    let service = &shared.shell.service;
    let corpus = service.corpus();
    let damage = corpus.snapshot().damage().first().map(str::to_owned);
    let ledger = service.accounts().health();
    let now = service.now();
    let started = i64::try_from(service.started_at_millis()).unwrap_or(i64::MAX);
    html! {
        section aria-labelledby="health" {
            h2 #health { "Health" }
            dl {
                dt { "Ledger" }
                dd { @match ledger { Ok(()) => "working", Err(why) => strong.bad { (why) } } }
                dt { "Snapshot" }
                dd { code { (corpus.id()) } @if let Some(what) = damage { " " strong.bad { "damaged: " (what) } } }
                dt { "Law" } dd { (age_of_law(&corpus.catalogue().sources, today(now))) }
                dt { "Running" } dd { (written_duration(now.wall.0 - started)) ", since " (day_and_time(UnixMillis(started))) }
                dt { "Searches waiting" } dd { (service.waiting()) }
                dt { "Memory" }
                dd { @match ProcessMemory::read() {
                    Some(memory) => { (megabytes(memory.anonymous)) " of its own, " (megabytes(memory.resident)) " with mapped files" },
                    None => "unknown",
                } }
                dt { "Disk" }
                dd { @match disk {
                    Some(DiskSpace { free, total }) => { (megabytes(free)) " free of " (megabytes(total)) },
                    None => "unknown",
                } }
                dt { "Last backup" }
                dd { @match backup {
                    Some(act) => { (to_the_second(&act.at)) ", " (act.on) },
                    None => { "none recorded; " code { "hornbook backup" } " makes one" },
                } }
                dt { "Version" } dd { (env!("CARGO_PKG_VERSION")) }
            }
        }
    }
}

/// What was answered and refused since the start.
pub(super) fn refused(shared: &OperatorContext) -> Markup {
    let metrics = &shared.metrics;
    let (statuses, errors, closed) = (metrics.answers_by_status(), metrics.errors(), metrics.refused_connections());
    let answered = |range: std::ops::RangeInclusive<u16>| statuses.range(range).map(|(_, count)| count).sum::<u64>();
    let limited = answered(TOO_MANY..=TOO_MANY);
    html! {
        section aria-labelledby="refused" {
            h2 #refused { "Answered and refused since the start" }
            p {
                (grouped(answered(100..=399))) " answered, " (grouped(limited)) " over a limit (429), "
                (grouped(answered(400..=499) - limited)) " refused for other reasons, " (grouped(answered(500..=599))) " failed."
            }
            @if !errors.is_empty() || !closed.is_empty() {
                div.scroll tabindex="0" role="group" aria-labelledby="refused" {
                    table {
                        thead { tr { th scope="col" { "Reason" } th.number scope="col" { "Times" } } }
                        tbody {
                            @for (code, count) in &errors { tr { th scope="row" { code { (code) } } td.number { (grouped(*count)) } } }
                            @for (why, count) in &closed { tr { th scope="row" { "connection closed: " (why) } td.number { (grouped(*count)) } } }
                        }
                    }
                }
            }
        }
    }
}

/// How old the editions are.
fn age_of_law(sources: &[Source], today: Day) -> Markup {
    let mut days: Vec<Day> =
        sources.iter().filter_map(|source| source.current_through.as_deref()?.parse().ok()).collect();
    days.sort_unstable();
    let old = days.iter().filter(|day| day.one_year_later() < today).count();
    let undated = sources.len() - days.len();
    html! {
        @match days.as_slice() {
            [] => "no edition says through when it is current",
            [only] => { "current through " (written_day(*only)) },
            [first, .., last] if first == last => { "current through " (written_day(*first)) },
            [first, .., last] => { "current through days from " (written_day(*first)) " to " (written_day(*last)) },
        }
        @if old > 0 { "; " strong { (grouped(old as u64)) " of " (grouped(sources.len() as u64)) " sources are over a year old" } }
        @if undated > 0 && !days.is_empty() { "; " (grouped(undated as u64)) " without a day" }
        " (" a href="/coverage" { "coverage" } ")"
    }
}

fn megabytes(bytes: u64) -> String {
    format!("{} MB", grouped(bytes >> 20))
}

/// `3 days 4 hours`, `12 minutes`.
fn written_duration(millis: i64) -> String {
    let minutes = (millis / 60_000).max(0);
    let unit = |count: i64, name: &str| format!("{count} {name}{}", if count == 1 { "" } else { "s" });
    match (minutes / 1_440, minutes / 60 % 24, minutes % 60) {
        (0, 0, minutes) => unit(minutes, "minute"),
        (0, hours, minutes) => format!("{} {}", unit(hours, "hour"), unit(minutes, "minute")),
        (days, hours, _) => format!("{} {}", unit(days, "day"), unit(hours, "hour")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_two_units() {
        let minute = 60_000;
        for (millis, expected) in [
            (-5, "0 minutes"),
            (minute, "1 minute"),
            (61 * minute, "1 hour 1 minute"),
            (26 * 60 * minute, "1 day 2 hours"),
        ] {
            assert_eq!(written_duration(millis), expected);
        }
    }
}
