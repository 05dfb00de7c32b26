//! The pages for customers who return from the payment page. They do not state whether the payment
//! arrived, because it may still be in progress. They need no sign-in: a browser that comes from
//! another site does not send our cookies.

use std::sync::Arc;

use ::http::StatusCode;
use maud::html;

use super::frame::{Page, Section};
use super::pages::TRACK_PATH;
use super::response::{self, Keep};
use super::shell::Shell;
use super::visitor::Visitor;
use crate::api::cards::{LEFT_PATH, PAID_PATH};
use crate::door::{Answering, Door, DoorAnswer, Limit, Methods, Visit};

pub struct ReturnPages {
    shell: Arc<Shell>,
}

impl ReturnPages {
    pub const fn new(shell: Arc<Shell>) -> Self {
        Self { shell }
    }

    fn page(&self, visit: &Visit<'_>) -> DoorAnswer {
        let is_paid = visit.path == PAID_PATH;
        let title = if is_paid { "Thank you" } else { "Not paid" };
        let main = html! {
            h1 { (title) }
            @if is_paid {
                p.banner.mild role="status" {
                    "We have not received your payment yet; that usually takes a minute. Your order continues as soon as it arrives."
                }
            } @else {
                p.banner role="status" { "You left the payment page, and nothing was charged. The link to it works for a day." }
            }
            p { "If you bought credits, " a href="/settings" { "your account" } " shows them. If you paid for a company formation, "
                a href=(TRACK_PATH) { "follow it" } " with its order number and tracking token." }
        };
        let visitor = Visitor::of(visit, self.shell.service.accounts(), self.shell.service.now());
        response::page(StatusCode::OK, Page::new(title, Section::Other, main).html(&visitor), Keep::Nowhere).into()
    }
}

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
        Box::pin(std::future::ready(self.page(&visit)))
    }
}
