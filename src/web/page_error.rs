//! Errors of pages for signed-in people.

use ::http::StatusCode;
use ::http::header::{HeaderValue, RETRY_AFTER};
use hornbook_accounts::error::ChangeError;
use hornbook_base::sentence::sentence;
use maud::html;

use super::frame::{Page, SiteSection};
use super::response::{self, CachePolicy, redirect};
use super::visitor::Visitor;
use crate::api::error::ApiError;
use crate::mount::MountResponse;

/// The paths of the pages for signing in and up.
pub(super) const SIGN_IN: &str = "/settings/sign-in";
pub(super) const SIGN_UP: &str = "/settings/sign-up";

#[derive(Debug)]
pub(super) enum PageError {
    SignInFirst,
    /// The page does not exist or this person may not see it. The response does not reveal which.
    NotFound,
    /// The form was sent from another site or is too old.
    ForeignForm,
    /// The message states what is wrong and what to do.
    Refused(String),
    RateLimited {
        seconds: u64,
    },
    Busy,
    /// The message is for the log.
    Failed(String),
    Api(Box<ApiError>),
}

impl From<ChangeError> for PageError {
    fn from(error: ChangeError) -> Self {
        match error {
            ChangeError::Refused(why) => Self::Refused(why),
            ChangeError::NotFound { what, id } => Self::Refused(format!("there is no {what} {id}")),
            other => Self::Failed(other.to_string()),
        }
    }
}

impl From<ApiError> for PageError {
    fn from(error: ApiError) -> Self {
        Self::Api(Box::new(error))
    }
}

impl PageError {
    pub(super) fn into_answer(self, visitor: &Visitor, request_id: &str) -> MountResponse {
        let error_page = |status, title: &str, text: &str| -> MountResponse {
            let main = html! {
                h1 { (title) }
                p.banner role="alert" { (sentence(text)) }
                p { a href="/settings" { "Back to your account" } }
            };
            response::page(status, Page::new(title, SiteSection::Other, main).html(visitor), CachePolicy::NoStore)
                .into()
        };
        match self {
            Self::SignInFirst => redirect(SIGN_IN).into(),
            Self::NotFound => super::errors::not_found(visitor, request_id),
            Self::ForeignForm => error_page(
                StatusCode::FORBIDDEN,
                "Not accepted",
                "The form was sent from another site, or it is too old. Open its page again and send it from there.",
            ),
            Self::Refused(why) => error_page(StatusCode::UNPROCESSABLE_ENTITY, "Not done", &why),
            Self::RateLimited { seconds } => {
                let text = format!("Too many attempts. Try again in {seconds} seconds.");
                let mut answer = error_page(StatusCode::TOO_MANY_REQUESTS, "Wait a moment", &text);
                answer.response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
                answer
            }
            Self::Busy => error_page(
                StatusCode::SERVICE_UNAVAILABLE,
                "One moment",
                "The service is busy. Try again in a few seconds.",
            ),
            Self::Failed(why) => {
                let text = "Something went wrong. Check whether it was done before you try again.";
                let answer = error_page(StatusCode::SERVICE_UNAVAILABLE, "Try again", text);
                MountResponse { internal: Some(why), ..answer }
            }
            Self::Api(error) => super::errors::answer(&error, visitor, request_id),
        }
    }
}
