//! The pages for customers who return from the payment page. They do not state whether the payment
//! arrived, because it may still be in progress. They need no sign-in: a browser that comes from
//! another site does not send our cookies.

use std::sync::Arc;

use ::http::{HeaderMap, StatusCode};
use hornbook_accounts::Accounts;
use maud::html;

use super::html::TRACK_PATH;
use crate::api::cards::{CHECKOUT_CANCELLED_PATH, PAID_PATH};
use crate::mount::{Methods, Mount, MountFuture, MountRequest, MountResponse, RateLimitedBy};
use crate::web::form_security::BrowserCookies;
use crate::web::frame::{Page, SiteSection};
use crate::web::page_context::PageContext;
use crate::web::response::{self, CachePolicy};
use crate::web::visitor::Visitor;

pub struct ReturnPages {
    shell: Arc<PageContext>,
}

impl ReturnPages {
    pub const fn new(shell: Arc<PageContext>) -> Self {
        Self { shell }
    }

    fn page(&self, request: &MountRequest<'_>) -> MountResponse {
        let is_paid = request.path == PAID_PATH;
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
        let visitor = Visitor::of(request, self.shell.service.accounts(), self.shell.service.now());
        response::page(StatusCode::OK, Page::new(title, SiteSection::Other, main).html(&visitor), CachePolicy::NoStore)
            .into()
    }
}

impl Mount for ReturnPages {
    fn matches_path(&self, path: &str) -> bool {
        [PAID_PATH, CHECKOUT_CANCELLED_PATH].contains(&path)
    }

    fn methods(&self, _: &str) -> Methods {
        Methods::Get
    }

    fn limit(&self) -> RateLimitedBy {
        RateLimitedBy::ByAddress
    }

    fn needs_newest(&self, headers: &HeaderMap, accounts: &Accounts) -> bool {
        BrowserCookies::of(headers).is_unknown_to(accounts)
    }

    fn answer<'a>(&'a self, request: MountRequest<'a>) -> MountFuture<'a> {
        Box::pin(std::future::ready(self.page(&request)))
    }
}
