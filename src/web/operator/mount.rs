//! The HTTP handler of `/operator`.

use std::sync::Arc;

use ::http::{HeaderMap, Method};
use hornbook_accounts::Accounts;
use hornbook_accounts::people::PersonRole;
use hornbook_accounts::records::AccountStatus;

use super::control::OperatorControl;
use super::shared::OperatorContext;
use super::{actions, overview, preview};
use crate::metrics::Metrics;
use crate::mount::{Methods, Mount, MountFuture, MountRequest, MountResponse, RateLimitedBy};
use crate::web::page_context::PageContext;
use crate::web::page_error::PageError;
use crate::web::page_request::PageRequest;

pub struct OperatorPages {
    shared: OperatorContext,
}

impl OperatorPages {
    pub fn new(shell: Arc<PageContext>, metrics: Arc<Metrics>, machinery: Arc<dyn OperatorControl>) -> Self {
        Self { shared: OperatorContext { shell, metrics, machinery } }
    }

    async fn visited(&self, request: MountRequest<'_>) -> MountResponse {
        let seen = PageRequest::of(&self.shared.shell, &request);
        let visitor = seen.visitor.clone();
        let answered = self.answered(seen).await;
        answered.unwrap_or_else(|trouble| trouble.into_answer(&visitor, request.id))
    }

    async fn answered(&self, seen: PageRequest<'_>) -> Result<MountResponse, PageError> {
        let person = seen.person()?;
        if person.role != PersonRole::Operator || person.status != AccountStatus::Approved {
            return Err(PageError::NotFound);
        }
        if *seen.request.method != Method::POST {
            return match seen.request.path {
                preview::PATH => preview::shown(&self.shared, &seen).await,
                _ => overview::shown(&self.shared, &seen).await,
            };
        }
        let form = seen.form(&self.shared.shell)?;
        match seen.request.path {
            "/operator/account" => actions::account(&self.shared, &seen, &form).await,
            "/operator/invite" => actions::invite(&self.shared, &seen, &form).await,
            "/operator/purchase" => actions::purchase(&self.shared, &seen, &form).await,
            "/operator/problem" => actions::problem(&self.shared, &seen, &form).await,
            "/operator/order" => actions::order(&self.shared, &seen, &form).await,
            _ => actions::snapshot(&self.shared, &seen, &form).await,
        }
    }
}

const PAGES: [&str; 2] = ["/operator", preview::PATH];
const FORMS: &[&str] = &[
    "/operator/account",
    "/operator/invite",
    "/operator/purchase",
    "/operator/problem",
    "/operator/order",
    "/operator/snapshot",
];

impl Mount for OperatorPages {
    fn matches_path(&self, path: &str) -> bool {
        PAGES.contains(&path) || FORMS.contains(&path)
    }

    fn methods(&self, path: &str) -> Methods {
        if PAGES.contains(&path) { Methods::Get } else { Methods::Post }
    }

    fn limit(&self) -> RateLimitedBy {
        RateLimitedBy::ByAddress
    }

    fn needs_newest(&self, _headers: &HeaderMap, _accounts: &Accounts) -> bool {
        true
    }

    fn answer<'a>(&'a self, request: MountRequest<'a>) -> MountFuture<'a> {
        Box::pin(self.visited(request))
    }
}
