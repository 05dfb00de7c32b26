//! Sets the headers of responses, by the constants of the table in `api::headers`.

use std::borrow::Cow;
use std::sync::LazyLock;

use hornbook_accounts::admission::{CallPrice, MeteringReceipt};
use hornbook_accounts::budget::BudgetStatus;
use hornbook_accounts::rate_limit::{RateLimits, RateRemaining};
use hornbook_base::decimal;
use hyper::HeaderMap;
use hyper::header::{HeaderName, HeaderValue};

use super::request_parts;
use crate::api::headers::{
    BUDGET_NOTICE, BUDGET_REMAINING, CREDITS_COST, CREDITS_REMAINING, HEADERS, Header, IDEMPOTENCY_REPLAYED, LINK,
    RATE_LIMIT, RATE_LIMIT_LIMIT, RATE_LIMIT_POLICY, RATE_LIMIT_REMAINING, RATE_LIMIT_RESET,
    RESEARCH_ALLOTMENT_REMAINING, SERVER_TIMING,
};
use crate::api::pinned_snapshot::SNAPSHOT_NAME;
use crate::api::reply::Pages;
use crate::percent;

/// Clients and proxies refuse longer heads: nginx accepts 4 or 8 KB by default.
const HEAD_BYTES_MAX: usize = 8 << 10;

/// The links to other pages may take half of that.
const LINK_BYTES_MAX: usize = HEAD_BYTES_MAX / 2;

/// Expected length of a query, or of a link without its URL. Few are longer.
const LINK_BYTES: usize = 64;

/// Expected length of a stage in `Server-Timing`. Few are longer.
const STAGE_BYTES: usize = 24;

/// Expected length of `RateLimit` and `RateLimit-Policy`. Most are shorter.
const RATE_BYTES: usize = 64;

/// Enough for any response, except one to another origin.
const HEADERS_MOSTLY: usize = 20;

/// A map that does not have to grow while headers are set.
pub(super) fn new_header_map() -> HeaderMap {
    HeaderMap::with_capacity(HEADERS_MOSTLY)
}

/// The header names of the table, checked once and not for each response.
static NAMES: LazyLock<Vec<HeaderName>> =
    LazyLock::new(|| HEADERS.iter().map(|header| HeaderName::from_static(header.field)).collect());

fn name(header: Header) -> HeaderName {
    NAMES.get(header.index).cloned().unwrap_or_else(|| HeaderName::from_static(header.field))
}

/// Sets a header of the table. A text that is not a valid header value is left out.
pub(super) fn set(head: &mut HeaderMap, header: Header, text: &str) {
    if let Ok(value) = text.try_into() {
        head.insert(name(header), value);
    }
}

/// Sets a header of the table if the response does not have it yet.
pub(super) fn set_if_absent(head: &mut HeaderMap, header: Header, text: &str) {
    if !head.contains_key(name(header)) {
        set(head, header, text);
    }
}

/// Sets a header of the table to a constant value.
pub(super) fn set_fixed(head: &mut HeaderMap, header: Header, value: &'static str) {
    head.insert(name(header), HeaderValue::from_static(value));
}

pub(super) fn set_number(head: &mut HeaderMap, header: Header, number: impl Into<u64>) {
    set(head, header, itoa::Buffer::new().format(number.into()));
}

/// What a call cost and what is left. Only a receipt contains this.
pub(super) fn paid(head: &mut HeaderMap, receipt: &MeteringReceipt) {
    set_number(head, CREDITS_REMAINING, receipt.credits_remaining());
    set_number(head, RESEARCH_ALLOTMENT_REMAINING, receipt.allotment_remaining());
    budget(head, receipt.budget());
    set_number(head, CREDITS_COST, if receipt.is_replay() { 0 } else { receipt.charged().0 });
    if receipt.is_replay() {
        set_fixed(head, IDEMPOTENCY_REPLAYED, "true");
    }
    pace(head, &receipt.left());
}

/// What a call would cost, and what it would leave.
pub(super) fn priced(head: &mut HeaderMap, price: &CallPrice) {
    set_number(head, CREDITS_REMAINING, price.remaining.credits());
    set_number(head, RESEARCH_ALLOTMENT_REMAINING, price.remaining.allotment);
    budget(head, price.budget);
    set_number(head, CREDITS_COST, price.cost.0);
    pace(head, &price.left);
}

/// What is left of the limit with the fewest credits, and a notice about the one of which most is spent.
fn budget(head: &mut HeaderMap, budget: Option<BudgetStatus>) {
    let Some(status) = budget else { return };
    set_number(head, BUDGET_REMAINING, status.nearest.left);
    if let Some(notice) = status.notice() {
        set(head, BUDGET_NOTICE, &notice);
    }
}

/// How many calls are left. `X-RateLimit-Remaining` and `X-RateLimit-Reset` describe the limit that is nearer.
pub(super) fn pace(head: &mut HeaderMap, left: &RateRemaining) {
    let RateRemaining {
        limits: RateLimits { per_minute, per_day },
        in_minute,
        minute_reset_sec,
        in_day,
        day_reset_sec,
    } = *left;
    set_number(head, RATE_LIMIT_LIMIT, per_minute);
    set_number(head, RATE_LIMIT_REMAINING, in_minute.min(in_day));
    set_number(head, RATE_LIMIT_RESET, if in_day < in_minute { day_reset_sec } else { minute_reset_sec });
    let [per_minute, per_day, in_minute, in_day] = [per_minute, per_day, in_minute, in_day].map(u64::from);
    let names = ["\"minute\";r=", ";t=", ", \"day\";r=", ";t="];
    set(head, RATE_LIMIT, &joined(names, [in_minute, minute_reset_sec, in_day, day_reset_sec]));
    let policy = joined(["\"minute\";q=", ";w=60, \"day\";q="], [per_minute, per_day]) + ";w=86400";
    set(head, RATE_LIMIT_POLICY, &policy);
}

/// Joins the texts, each followed by its number.
fn joined<const N: usize>(texts: [&str; N], numbers: [u64; N]) -> String {
    let mut all = String::with_capacity(RATE_BYTES);
    for (text, number) in texts.into_iter().zip(numbers) {
        all.push_str(text);
        decimal::push(&mut all, number);
    }
    all
}

/// Sets `Server-Timing`, such as `understand;dur=0.012, keyword;dur=0.300`, in milliseconds.
pub(super) fn timing(head: &mut HeaderMap, stages: &[(&'static str, u32)]) {
    let mut text = String::with_capacity(STAGE_BYTES * stages.len());
    for (name, micros) in stages {
        text.push_str(if text.is_empty() { "" } else { ", " });
        text.push_str(name);
        text.push_str(";dur=");
        decimal::push_millis(&mut text, u64::from(*micros));
    }
    if !text.is_empty() {
        set(head, SERVER_TIMING, &text);
    }
}

/// Where a page of a list was requested, as it was sent.
#[derive(Clone, Copy)]
pub(super) struct ListAddress<'a> {
    pub(super) path: &'a str,
    pub(super) query: Option<&'a str>,
    /// The snapshot of the list, if it is one of law: the other pages come from the same one.
    pub(super) snapshot: Option<&'a str>,
}

/// Sets the links to other pages. If all four are too long, only those to the previous and the next page
/// are sent. If even these are too long, none is sent. The body contains the page number and the number
/// of results.
pub(super) fn paging(head: &mut HeaderMap, pages: Pages, address: ListAddress<'_>) {
    let ListAddress { path, query, snapshot } = address;
    let mut others = String::with_capacity(query.map_or(0, str::len) + LINK_BYTES);
    let kept = |name: &str| name != "page" && name != SNAPSHOT_NAME;
    let asked = request_parts::pairs(query).filter_map(|pair| pair.decoded()).filter(|(name, _)| kept(name));
    let pinned = snapshot.map(|id| (Cow::Borrowed(SNAPSHOT_NAME), Cow::Borrowed(id)));
    for (name, value) in asked.chain(pinned) {
        for (part, end) in [(name, "="), (value, "&")] {
            percent::push(&mut others, &part);
            others.push_str(end);
        }
    }
    let prev = ("prev", (pages.page > 1).then(|| pages.page - 1));
    let next = ("next", (pages.page < pages.last).then(|| pages.page + 1));
    let (all, around) = ([("first", Some(1)), ("last", Some(pages.last)), prev, next], [prev, next]);
    let texts = [all.as_slice(), around.as_slice()].into_iter().map(|links| links_to(path, &others, links));
    if let Some(text) = texts.into_iter().find(|text| text.len() <= LINK_BYTES_MAX).filter(|text| !text.is_empty()) {
        set(head, LINK, &text);
    }
}

/// A link to each page that exists, such as `</path?q=law&page=1>; rel="first"`.
fn links_to(path: &str, query: &str, pages: &[(&str, Option<u32>)]) -> String {
    let mut text = String::with_capacity(pages.len() * (path.len() + query.len() + LINK_BYTES));
    for (rel, page) in pages.iter().filter_map(|(rel, page)| Some((*rel, (*page)?))) {
        for part in [if text.is_empty() { "<" } else { ", <" }, path, "?", query, "page="] {
            text.push_str(part);
        }
        decimal::push(&mut text, u64::from(page));
        for part in [">; rel=\"", rel, "\""] {
            text.push_str(part);
        }
    }
    text
}

/// Keeps the headers within the length that clients accept. Only the links to other pages grow with the
/// request.
pub(super) fn keep_small(head: &mut HeaderMap) {
    let link = &NAMES[LINK.index];
    if head.contains_key(link) && bytes(head) > HEAD_BYTES_MAX {
        head.remove(link);
    }
    debug_assert!(bytes(head) <= HEAD_BYTES_MAX, "{} bytes of headers", bytes(head));
}

/// The length of the headers over HTTP/1.
fn bytes(head: &HeaderMap) -> usize {
    head.iter().map(|(name, value)| name.as_str().len() + value.len() + ": \r\n".len()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SNAPSHOT: &str = "0123456789abcdef0123456789abcdef";

    fn links(q: &str, pages: Pages) -> Option<String> {
        let query = format!("q={}&snapshot={SNAPSHOT}&page=2", percent::encoded(q));
        let mut head = HeaderMap::new();
        let snapshot = Some(SNAPSHOT);
        paging(&mut head, pages, ListAddress { path: "/api/v1/search", query: Some(&query), snapshot });
        head.get(LINK.field).map(|links| links.to_str().unwrap().to_owned())
    }

    #[test]
    fn links_keep_the_query_and_change_the_page() {
        let links = links("a & b", Pages { page: 2, last: 3 }).unwrap();
        for (rel, page) in [("first", 1), ("prev", 1), ("next", 3), ("last", 3)] {
            assert!(
                links.contains(&format!(
                    "</api/v1/search?q=a%20%26%20b&snapshot={SNAPSHOT}&page={page}>; rel=\"{rel}\""
                )),
                "{links}"
            );
        }
    }

    #[test]
    fn links_that_would_be_too_long_are_left_out() {
        let pages = Pages { page: 2, last: 3 };
        for (apostrophes, rels) in
            [(300, &["first", "last", "prev", "next"][..]), (600, &["prev", "next"]), (2700, &[])]
        {
            let links = links(&"'".repeat(apostrophes), pages).unwrap_or_default();
            assert_eq!(links.matches("rel=").count(), rels.len(), "{apostrophes}");
            assert!(rels.iter().all(|rel| links.contains(&format!("rel=\"{rel}\""))), "{links}");
            assert!(links.len() <= LINK_BYTES_MAX);
        }
    }

    #[test]
    fn the_rate_headers_describe_both_windows_and_the_nearer_limit() {
        let limits = RateLimits { per_minute: 30, per_day: 1000 };
        let left = RateRemaining { limits, in_minute: 28, minute_reset_sec: 40, in_day: 998, day_reset_sec: 86_380 };
        for (left, remaining, reset) in [(left, "28", "40"), (RateRemaining { in_day: 0, ..left }, "0", "86380")] {
            let mut head = HeaderMap::new();
            pace(&mut head, &left);
            let text = |header: Header| head[header.field].to_str().unwrap().to_owned();
            assert_eq!((text(RATE_LIMIT_LIMIT), text(RATE_LIMIT_REMAINING)), ("30".to_owned(), remaining.to_owned()));
            assert_eq!(text(RATE_LIMIT_RESET), reset);
            assert_eq!(text(RATE_LIMIT_POLICY), r#""minute";q=30;w=60, "day";q=1000;w=86400"#);
            assert_eq!(text(RATE_LIMIT), format!(r#""minute";r=28;t=40, "day";r={};t=86380"#, left.in_day));
        }
    }
}
