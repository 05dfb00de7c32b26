//! `/formation/track`: shows the progress of a company formation to anyone with its number and
//! tracking token. It changes nothing. The token is sent in a form, so it appears in no address,
//! history or log.

use std::sync::Arc;

use ::http::{HeaderMap, Method, StatusCode};
use hornbook_accounts::Accounts;
use hornbook_accounts::ids::OrderId;
use hornbook_accounts::tracking::{OrderView, StageStatus};
use maud::{Markup, html};

use super::html::{TRACK_PATH, words};
use crate::formation::us_state::UsState;
use crate::mount::{Methods, Mount, MountFuture, MountRequest, MountResponse, RateLimitedBy};
use crate::web::form::FormFields;
use crate::web::form_security::BrowserCookies;
use crate::web::formatting::day_and_time;
use crate::web::page_context::PageContext;
use crate::web::page_error::PageError;
use crate::web::page_request::PageRequest;

pub struct TrackingPage {
    shell: Arc<PageContext>,
}

impl TrackingPage {
    pub const fn new(shell: Arc<PageContext>) -> Self {
        Self { shell }
    }

    async fn visited(&self, request: MountRequest<'_>) -> MountResponse {
        let seen = PageRequest::of(&self.shell, &request);
        if *request.method != Method::POST {
            return seen.page(StatusCode::OK, TITLE, asked(false));
        }
        match self.found(&request).await {
            Ok(Some(order)) => seen.page(StatusCode::OK, TITLE, shown(&order)),
            Ok(None) => seen.page(StatusCode::NOT_FOUND, TITLE, asked(true)),
            Err(trouble) => trouble.into_answer(&seen.visitor, request.id),
        }
    }

    /// Returns None for an unknown order and also for a wrong token.
    async fn found(&self, request: &MountRequest<'_>) -> Result<Option<OrderView>, PageError> {
        let form = FormFields::read(request.headers, request.body).map_err(|why| PageError::Refused(why.to_owned()))?;
        let Ok(id) = form.text("order").trim().parse::<OrderId>() else { return Ok(None) };
        let (accounts, token) = (Arc::clone(self.shell.service.accounts()), form.text("tracking").trim().to_owned());
        self.shell.desk.visitor_work(move || accounts.track_order(id, &token)).await
    }
}

const TITLE: &str = "Track a company formation";

fn asked(is_unknown: bool) -> Markup {
    html! {
        h1 { (TITLE) }
        @if is_unknown { p.banner role="alert" { "There is no order with this number and token. Check both." } }
        p { "Both were shown when the order was accepted." }
        form.entry method="post" action=(TRACK_PATH) {
            label for="order" { "Order number" }
            input #order type="text" name="order" required maxlength="36" spellcheck="false" autocomplete="off";
            label for="tracking" { "Tracking token" }
            input #tracking type="text" name="tracking" required maxlength="100" spellcheck="false" autocomplete="off";
            button type="submit" { "Show" }
        }
    }
}

fn shown(order: &OrderView) -> Markup {
    let state = order.jurisdiction.parse::<UsState>().ok();
    html! {
        h1 { (order.entity_name) }
        p.lead.stage { (words(&order.entity_type)) ", " (state.map_or(order.jurisdiction.as_str(), |state| state.name())) }
        ol.stages {
            @for stage in &order.stages {
                @let (class, word) = match stage.status {
                    StageStatus::Completed => ("done", "done"),
                    StageStatus::Current => ("now", "in progress"),
                    StageStatus::Pending => ("later", "to come"),
                };
                li class=(class) aria-current=[(stage.status == StageStatus::Current).then_some("step")] {
                    strong { (words(stage.stage.name())) } " " span.count { (word) @if let Some(at) = stage.at { ", " (day_and_time(at)) } }
                }
            }
        }
        p { a href=(TRACK_PATH) { "Look up another order" } }
    }
}

impl Mount for TrackingPage {
    fn matches_path(&self, path: &str) -> bool {
        path == TRACK_PATH
    }

    fn methods(&self, _path: &str) -> Methods {
        Methods::GetAndPost
    }

    fn limit(&self) -> RateLimitedBy {
        RateLimitedBy::ByAddress
    }

    fn needs_newest(&self, headers: &HeaderMap, accounts: &Accounts) -> bool {
        BrowserCookies::of(headers).is_unknown_to(accounts)
    }

    fn answer<'a>(&'a self, request: MountRequest<'a>) -> MountFuture<'a> {
        Box::pin(self.visited(request))
    }
}
