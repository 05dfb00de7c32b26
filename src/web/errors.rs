//! Error pages: what went wrong and what to do, in the frame of the site.

use ::http::header::{HeaderValue, RETRY_AFTER};
use ::http::{Response, StatusCode};
use bytes::Bytes;
use hornbook_base::sentence::sentence;
use maud::{Markup, html};

use super::frame::{Page, SiteSection};
use super::response::{self, CachePolicy};
use super::visitor::Visitor;
use crate::api::error::{ApiError, ErrorCode};
use crate::api::subject::Subject;
use crate::mount::{ErrorPageInfo, MountResponse};

/// The message for an unknown address.
const NOTHING_HERE: &str = "there is nothing at this address";

/// The error page of a failed call, for this visitor.
pub(super) fn answer(error: &ApiError, visitor: &Visitor, request_id: &str) -> MountResponse {
    let status = StatusCode::from_u16(error.code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = page(&ErrorPageInfo { status, message: &error.message, request_id }, visitor);
    if let Some(seconds) = error.retry_after_sec {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    let (code, internal) = (error.code, error.internal.clone());
    MountResponse { error: Some(code.code()), internal, ..response.into() }
}

/// The error page of an unknown address.
pub(super) fn not_found(visitor: &Visitor, request_id: &str) -> MountResponse {
    let error = ApiError::new(ErrorCode::NotFound, NOTHING_HERE);
    answer(&error, visitor, request_id)
}

/// The error page of an unknown address below a page that lists the known ones.
pub(super) fn not_found_below(parent: &str, name: &str, visitor: &Visitor, request_id: &str) -> MountResponse {
    let error = ErrorPageInfo { status: StatusCode::NOT_FOUND, message: NOTHING_HERE, request_id };
    let advice = html! { p { a.button href=(parent) { (name) } " " a.button.quiet href="/" { "Search" } } };
    let response = page_with_advice(&error, &advice, visitor);
    MountResponse { error: Some(ErrorCode::NotFound.code()), ..response.into() }
}

pub(super) fn page(error: &ErrorPageInfo<'_>, visitor: &Visitor) -> Response<Bytes> {
    page_with_advice(error, &advice(error.status, error.request_id), visitor)
}

fn page_with_advice(error: &ErrorPageInfo<'_>, advice: &Markup, visitor: &Visitor) -> Response<Bytes> {
    let title = title(error.status);
    let page = Page::new(
        title,
        SiteSection::Other,
        html! {
            div.notice-page {
                p.status { (error.status.as_u16()) }
                h1 { (title) }
                p.lead { (sentence(message_for_people(error))) }
                (advice)
            }
        },
    );
    response::page(error.status, page.html(visitor), CachePolicy::NoStore)
}

fn title(status: StatusCode) -> &'static str {
    match status.as_u16() {
        401 => "This needs an account",
        402 => "No credits are left",
        403 => "Not allowed",
        404 => "Not found",
        405 => "Method not allowed",
        422 => "This cannot be answered",
        429 => "Too many requests",
        500 => "Something went wrong",
        503 => "Try again in a moment",
        _ => "This did not work",
    }
}

fn advice(status: StatusCode, request_id: &str) -> Markup {
    match status.as_u16() {
        401 => {
            let keys = Subject::Account.path();
            html! {
                p {
                    a href="/settings/sign-in" { "Sign in" } " · " a href=(keys) { "How to get a key" } " · "
                    a href="/" { "Search" }
                }
            }
        }
        404 => html! {
            p { "Check the address, search the law, or look through the contents." }
            p { a.button href="/" { "Search" } " " a.button.quiet href="/browse" { "Contents" } }
        },
        500 => {
            html! { p { "If it happens again, tell the operator of this server: request " code { (request_id) } "." } }
        }
        429 | 503 => html! { p { "Wait a moment, then reload this page." } },
        _ => html! { p { a href="/" { "Back to the search" } } },
    }
}

/// The message for people. Messages with 404 have advice for programs after the semicolon; it is
/// left out, because `advice` replaces it.
fn message_for_people<'m>(error: &ErrorPageInfo<'m>) -> &'m str {
    let what = error.message.split_once("; ").map(|(what, _)| what);
    what.filter(|_| error.status == StatusCode::NOT_FOUND).unwrap_or(error.message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_reads_as_a_sentence_and_is_escaped() {
        let error =
            ErrorPageInfo { status: StatusCode::NOT_FOUND, message: "there is nothing at /<b>", request_id: "r" };
        let shown = page(&error, &Visitor::Anonymous);
        let text = std::str::from_utf8(shown.body()).unwrap();
        assert!(text.contains("There is nothing at /&lt;b&gt;."), "{text}");
        assert_eq!(shown.status(), 404);
        let error = ErrorPageInfo { message: "there is no node 1; take ids from search results", ..error };
        let shown = page(&error, &Visitor::Anonymous);
        assert!(std::str::from_utf8(shown.body()).unwrap().contains("There is no node 1.</p>"));
    }
}
