//! The review page: shows a prepared company formation to the holder of its link, and creates an
//! order from it once.
//!
//! The token in the path is the capability. There are no cookies and no sign-in, so other sites
//! have nothing to abuse. GET changes nothing, so programs that preview links may fetch the page.
//! Accepting is a POST, which is refused if the browser states that the form is from another site.
//! A repeated acceptance returns the same order.

use std::sync::Arc;

use ::http::{Method, StatusCode};
use hornbook_accounts::actor::Actor;
use hornbook_accounts::changes::{Acceptance, ActContext, DraftView};
use hornbook_accounts::entropy::SystemEntropy;
use hornbook_accounts::error::ChangeError;
use hornbook_accounts::key::LinkToken;
use hornbook_accounts::records::{OrderRecord, OrderStage};
use serde::Deserialize;

use super::headers::page;
use super::html::{self, ReviewHtmlPage, ReviewState};
use crate::api::error::ApiError;
use crate::api::order_payments::{NextStep, Payments};
use crate::api::service::Service;
use crate::formation::REVIEW_PATH;
use crate::formation::intake::Intake;
use crate::mount::{Methods, Mount, MountFuture, MountRequest, MountResponse, RateLimitedBy};
use crate::web_origin::{RequestOrigin, SendingPage, SiteRelation, WebOrigin};

/// The default text, if the operator configures none.
const HOW_TO_PAY: &str = "The operator of this service will contact you about the payment.";

/// The actor of an acceptance in the audit log and in the stages of an order.
const ACTOR: &str = "review page";

pub struct ReviewPage {
    service: Arc<Service>,
    payments: Arc<dyn Payments>,
    how_to_pay: String,
    /// The origin of this service.
    origin: Option<WebOrigin>,
}

impl ReviewPage {
    pub fn new(service: Arc<Service>, payments: Arc<dyn Payments>, how_to_pay: Option<String>) -> Self {
        let origin = WebOrigin::of_url(service.base_url());
        Self { service, payments, how_to_pay: how_to_pay.unwrap_or_else(|| HOW_TO_PAY.to_owned()), origin }
    }

    async fn visited(&self, request: MountRequest<'_>) -> MountResponse {
        let answered = match token_in(request.path) {
            None => Err(ReviewError::Gone),
            Some(token) if *request.method == Method::POST => self.posted(token, &request).await,
            Some(token) => self.shown(token).await,
        };
        answered.unwrap_or_else(ReviewError::into_answer)
    }

    async fn shown(&self, token: LinkToken) -> Result<MountResponse, ReviewError> {
        match self.draft(token).await? {
            DraftView::Open { content, expires_at } => {
                let shown = html::review(&content, &intake_of(&content.intake)?, expires_at, ReviewState::First);
                Ok(page(StatusCode::OK, &shown))
            }
            // The payment begins only with a POST: link previews must not create sessions at a
            // payment service.
            DraftView::Accepted { order, .. } => {
                Ok(page(StatusCode::OK, &html::accepted(&order, None, None, &self.how_to_pay)))
            }
        }
    }

    async fn posted(&self, token: LinkToken, request: &MountRequest<'_>) -> Result<MountResponse, ReviewError> {
        if !self.is_own_form(request.origin) {
            return Err(ReviewError::OtherSite);
        }
        if !is_confirmed(request.body) {
            return self.not_confirmed(token).await;
        }
        let accounts = Arc::clone(self.service.accounts());
        let act = ActContext { actor: Actor::program(ACTOR), at: self.service.now().wall };
        let accepted = self.in_background(move || accounts.accept_draft(&token, &act, &mut SystemEntropy));
        let Acceptance { order, tracking_token, .. } = accepted.await?.ok_or(ReviewError::Gone)?;
        // The person sees the order and its token even if the payment cannot begin.
        let (next, failure) = match self.next(&order).await {
            Ok(next) => (next, None),
            Err(why) => (None, Some(why)),
        };
        let shown = html::accepted(&order, tracking_token.as_deref(), next.as_ref(), &self.how_to_pay);
        Ok(MountResponse { internal: failure, ..page(StatusCode::OK, &shown) })
    }

    async fn not_confirmed(&self, token: LinkToken) -> Result<MountResponse, ReviewError> {
        match self.draft(token.clone()).await? {
            DraftView::Open { content, expires_at } => {
                let shown = html::review(&content, &intake_of(&content.intake)?, expires_at, ReviewState::NotConfirmed);
                Ok(page(StatusCode::UNPROCESSABLE_ENTITY, &shown))
            }
            DraftView::Accepted { .. } => self.shown(token).await,
        }
    }

    async fn draft(&self, token: LinkToken) -> Result<DraftView, ReviewError> {
        let (accounts, now) = (Arc::clone(self.service.accounts()), self.service.now().wall);
        let found = self.in_background(move || accounts.draft(&token, now, &mut SystemEntropy));
        found.await?.ok_or(ReviewError::Gone)
    }

    /// Begins the payment. None if the order is already paid. The error is only for the log.
    async fn next(&self, order: &OrderRecord) -> Result<Option<NextStep>, String> {
        if order.payment.is_some() || order.stage() > OrderStage::Payment {
            return Ok(None);
        }
        self.payments.begin(order).await.map(Some)
    }

    /// Runs work that reads or writes the state, in the same queue as calls.
    async fn in_background<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, ChangeError> + Send + 'static,
    ) -> Result<T, ReviewError> {
        match self.service.heavy(move || Ok(work())).await {
            Ok(Ok(done)) => Ok(done),
            Ok(Err(ChangeError::Refused(why))) => Err(ReviewError::NotNow(why)),
            Ok(Err(error)) => Err(ReviewError::Failed(error.to_string())),
            Err(ApiError { internal: Some(why), .. }) => Err(ReviewError::Failed(why)),
            Err(_) => Err(ReviewError::Busy),
        }
    }

    /// Checks what the browser states about the page of the form. Our pages send no referrer, so
    /// browsers send the origin `null`; then the relation decides. A program sends neither
    /// header: it has the token, so it is accepted.
    fn is_own_form(&self, origin: &RequestOrigin<'_>) -> bool {
        let is_of_page = match &origin.page {
            SendingPage::NotStated | SendingPage::Hidden => true,
            SendingPage::Known(page) => Some(page) == self.origin.as_ref(),
            SendingPage::Invalid => false,
        };
        is_of_page && origin.relation != Some(SiteRelation::Other)
    }
}

impl Mount for ReviewPage {
    fn matches_path(&self, path: &str) -> bool {
        path.starts_with(REVIEW_PATH)
    }

    fn methods(&self, _path: &str) -> Methods {
        Methods::GetAndPost
    }

    fn limit(&self) -> RateLimitedBy {
        RateLimitedBy::ByAddress
    }

    fn answer<'a>(&'a self, request: MountRequest<'a>) -> MountFuture<'a> {
        Box::pin(self.visited(request))
    }
}

fn token_in(path: &str) -> Option<LinkToken> {
    path.strip_prefix(REVIEW_PATH).and_then(LinkToken::parse)
}

/// Reads a stored intake. It was checked when the draft was created. The error contains no details,
/// because they would be personal data.
fn intake_of(stored: &serde_json::Value) -> Result<Intake, ReviewError> {
    Intake::deserialize(stored)
        .map_err(|_| ReviewError::Failed("this version cannot read the intake of a draft".to_owned()))
}

/// Whether the checkbox was ticked.
fn is_confirmed(body: &[u8]) -> bool {
    body.split(|byte| *byte == b'&').any(|pair| pair == b"confirmed=yes")
}

/// The reason why there is no page.
enum ReviewError {
    /// Unknown, expired or withdrawn. The response does not reveal which.
    Gone,
    OtherSite,
    Busy,
    /// Contains a message for the person.
    NotNow(String),
    /// Contains a message for the log.
    Failed(String),
}

impl ReviewError {
    fn into_answer(self) -> MountResponse {
        let message_page = |status, title, text: &str| page(status, &ReviewHtmlPage::message(title, text));
        match self {
            Self::Gone => message_page(
                StatusCode::NOT_FOUND,
                "This link does not work",
                "It is mistyped, or it has expired. The sender can create a new one.",
            ),
            Self::OtherSite => message_page(
                StatusCode::FORBIDDEN,
                "Not accepted",
                "The form was sent from another site. Open the link that you were given and send the form there.",
            ),
            Self::Busy => message_page(
                StatusCode::SERVICE_UNAVAILABLE,
                "One moment",
                "The service is overloaded. Nothing was ordered; try again in a few seconds.",
            ),
            Self::NotNow(why) => message_page(StatusCode::CONFLICT, "Not accepted", &why),
            Self::Failed(why) => {
                let text = "Something went wrong. Try again in a minute: the order is placed only once.";
                let answer = message_page(StatusCode::SERVICE_UNAVAILABLE, "Try again", text);
                MountResponse { internal: Some(why), ..answer }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_needs_its_tick() {
        assert!(is_confirmed(b"confirmed=yes") && is_confirmed(b"a=b&confirmed=yes"));
        for body in [&b""[..], b"confirmed=no", b"confirmed=yesterday", b"confirmed", b"xconfirmed=yes"] {
            assert!(!is_confirmed(body));
        }
    }
}
