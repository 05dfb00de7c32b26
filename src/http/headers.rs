//! The headers of answers.

use hyper::HeaderMap;
use hyper::header::{HeaderName, HeaderValue};

use crate::accounts::admission::Receipt;
use crate::accounts::pace::PaceLeft;
use crate::api::reply::Pages;
use crate::decimal;

/// A stage as it is told; few are longer.
const STAGE_BYTES: usize = 24;

/// Room for those of any answer but one to other origins.
const HEADERS: usize = 20;

/// Headers that need not grow while they are set.
pub(super) fn room() -> HeaderMap {
    HeaderMap::with_capacity(HEADERS)
}

/// Sets a header whose value is ours; one that cannot stand in a header is left out.
pub(super) fn set(headers: &mut HeaderMap, name: &'static str, value: impl TryInto<HeaderValue>) {
    if let Ok(value) = value.try_into() {
        headers.insert(HeaderName::from_static(name), value);
    }
}

/// The same where the value is always this one.
pub(super) fn set_fixed(headers: &mut HeaderMap, name: &'static str, value: &'static str) {
    headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
}

/// What a call cost and what is left: only a receipt can tell.
pub(super) fn paid(headers: &mut HeaderMap, receipt: &Receipt) {
    for (name, value) in receipt.headers() {
        set(headers, name, value);
    }
    let cost = if receipt.is_replay() { 0 } else { receipt.charged().0 };
    set(headers, "x-credits-cost", cost);
    if receipt.is_replay() {
        set_fixed(headers, "idempotency-replayed", "true");
    }
    pace(headers, &receipt.left());
}

/// How many calls are left.
pub(super) fn pace(headers: &mut HeaderMap, left: &PaceLeft) {
    set(headers, "x-ratelimit-limit", left.limits.per_minute);
    for (name, value) in left.headers() {
        set(headers, name, value);
    }
}

/// `understand;dur=0.012, keyword;dur=0.300`, in milliseconds.
pub(super) fn timing(headers: &mut HeaderMap, stages: &[(&'static str, u32)]) {
    let mut text = String::with_capacity(STAGE_BYTES * stages.len());
    for (name, micros) in stages {
        text.push_str(if text.is_empty() { "" } else { ", " });
        text.push_str(name);
        text.push_str(";dur=");
        decimal::push_millis(&mut text, u64::from(*micros));
    }
    if !text.is_empty() {
        set(headers, "server-timing", text);
    }
}

/// Where the other pages are.
pub(super) fn paging(headers: &mut HeaderMap, pages: Pages, path: &str, query: &[(String, String)]) {
    let address = |page: u32| {
        let others = query.iter().filter(|(name, _)| name != "page");
        let mut pairs: Vec<String> =
            others.map(|(name, value)| format!("{}={}", percent_encoded(name), percent_encoded(value))).collect();
        pairs.push(format!("page={page}"));
        format!("{path}?{}", pairs.join("&"))
    };
    let mut links = vec![("first", 1), ("last", pages.last)];
    if pages.page > 1 {
        links.push(("prev", pages.page - 1));
    }
    if pages.page < pages.last {
        links.push(("next", pages.page + 1));
    }
    let links: Vec<String> = links.iter().map(|(rel, page)| format!("<{}>; rel=\"{rel}\"", address(*page))).collect();
    set(headers, "link", links.join(", "));
}

/// As a part of a query is written.
pub(crate) fn percent_encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(char::from(byte)),
            _ => out += &format!("%{byte:02X}"),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_keep_the_query_and_change_the_page() {
        let query = [("q", "a & b"), ("page", "2")].map(|(name, value)| (name.to_owned(), value.to_owned()));
        let mut headers = HeaderMap::new();
        paging(&mut headers, Pages { page: 2, last: 3 }, "/api/v1/search", &query);
        let links = headers["link"].to_str().unwrap();
        for (rel, page) in [("first", 1), ("prev", 1), ("next", 3), ("last", 3)] {
            assert!(links.contains(&format!("</api/v1/search?q=a%20%26%20b&page={page}>; rel=\"{rel}\"")), "{links}");
        }
    }
}
