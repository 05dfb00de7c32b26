//! Two pages without scripts for customers who come back from Stripe. They say nothing of the payment, which may still be on
//! its way.

use ::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use ::http::{HeaderValue, Response};
use bytes::Bytes;

use crate::api::cards::{LEFT_PATH, PAID_PATH};
use crate::door::{Answering, Door, DoorAnswer, Limit, Methods, Visit};

pub struct ReturnPages;

impl Door for ReturnPages {
    fn is_at(&self, path: &str) -> bool {
        [PAID_PATH, LEFT_PATH].contains(&path)
    }

    fn methods(&self, _: &str) -> Methods {
        Methods::Get
    }

    fn limit(&self) -> Limit {
        Limit::ByAddress
    }

    fn answer<'a>(&'a self, visit: Visit<'a>) -> Answering<'a> {
        let page = if visit.path == PAID_PATH { PAID } else { LEFT };
        let mut response = Response::new(Bytes::from_static(page.as_bytes()));
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'"));
        Box::pin(std::future::ready(DoorAnswer::from(response)))
    }
}

const PAID: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Thank you</title>\
                    <h1>Thank you</h1><p>Your payment is on its way to us. What you paid for goes on as soon as it \
                    has arrived, usually within a minute. You can close this page.</p></html>\n";

const LEFT: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Not paid</title>\
                    <h1>Not paid</h1><p>You left the payment page, and nothing was charged. The link to it works for a \
                    day.</p></html>\n";
