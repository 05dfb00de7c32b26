//! The HTTP handler of `/settings`: dispatches requests to pages and forms.

use std::sync::Arc;

use ::http::{HeaderMap, Method};
use hornbook_accounts::Accounts;
use hornbook_accounts::key::LinkToken;
use hornbook_accounts::people::LINK_PATH;

use super::shared::SettingsContext;
use super::{account_changes, ledger, overview, sign_in, watches};
use crate::api::operation::WATCHES_PAGE_PATH;
use crate::mount::{Methods, Mount, MountFuture, MountRequest, MountResponse, RateLimitedBy};
use crate::web::page_context::PageContext;
use crate::web::page_error::PageError;
use crate::web::page_request::PageRequest;
use crate::web::return_path::ReturnPath;
use crate::web::visitor::Visitor;

pub struct AccountPages {
    shared: SettingsContext,
}

impl AccountPages {
    pub fn new(shell: Arc<PageContext>) -> Self {
        Self { shared: SettingsContext::new(shell) }
    }

    async fn visited(&self, request: MountRequest<'_>) -> MountResponse {
        let seen = PageRequest::of(&self.shared.shell, &request);
        let visitor = seen.visitor.clone();
        let answered = match *request.method {
            Method::POST => self.posted(seen).await,
            _ => self.shown(seen).await,
        };
        answered.unwrap_or_else(|trouble| trouble.into_answer(&visitor, request.id))
    }

    async fn shown(&self, seen: PageRequest<'_>) -> Result<MountResponse, PageError> {
        let shared = &self.shared;
        match seen.request.path {
            "/settings" => overview::shown(shared, &seen).await,
            "/settings/sign-in" => Ok(sign_in::sign_in_page(shared, &seen, "", ReturnPath::of_page(&seen).as_ref())),
            "/settings/sign-up" => sign_in::sign_up_page(shared, &seen, "", None, ReturnPath::of_page(&seen).as_ref()),
            "/settings/ledger" => ledger::shown(shared, &seen).await,
            WATCHES_PAGE_PATH => watches::shown(shared, &seen).await,
            "/settings/ledger.csv" => ledger::exported(shared, &seen).await,
            path => sign_in::link_page(shared, &seen, token_in(path)?, None).await,
        }
    }

    async fn posted(&self, seen: PageRequest<'_>) -> Result<MountResponse, PageError> {
        let shared = &self.shared;
        let form = seen.form(&self.shared.shell)?;
        if let Visitor::Person(person) = &seen.visitor {
            shared.shell.desk.count_change(person.account)?;
        }
        match seen.request.path {
            "/settings/sign-in" => sign_in::sign_in(shared, &seen, &form).await,
            "/settings/sign-up" => sign_in::sign_up(shared, &seen, &form).await,
            "/settings/sign-out" => sign_in::sign_out(shared, &seen).await,
            "/settings/keys" => account_changes::create_key(shared, &seen, &form).await,
            "/settings/keys/rotate" => account_changes::rotate_key(shared, &seen, &form).await,
            "/settings/keys/budget" => account_changes::set_budget(shared, &seen, &form).await,
            "/settings/keys/revoke" => account_changes::revoke_key(shared, &seen, &form).await,
            WATCHES_PAGE_PATH => watches::add(shared, &seen, &form).await,
            "/settings/watches/remove" => watches::remove(shared, &seen, &form).await,
            "/settings/packs" => account_changes::buy(shared, &seen, &form).await,
            "/settings/password" => account_changes::change_password(shared, &seen, &form).await,
            "/settings/sessions" => account_changes::end_sessions(shared, &seen, &form).await,
            "/settings/delete" => account_changes::delete(shared, &seen, &form).await,
            path => sign_in::use_link(shared, &seen, token_in(path)?, &form).await,
        }
    }
}

fn token_in(path: &str) -> Result<LinkToken, PageError> {
    path.strip_prefix(LINK_PATH).and_then(LinkToken::parse).ok_or(PageError::NotFound)
}

/// Paths that only show pages, paths with both a page and a form, and paths that only accept forms.
const PAGES: &[&str] = &["/settings", "/settings/ledger", "/settings/ledger.csv"];
const PAGES_WITH_FORMS: &[&str] = &["/settings/sign-in", "/settings/sign-up", WATCHES_PAGE_PATH];
const FORMS: &[&str] = &[
    "/settings/sign-out",
    "/settings/keys",
    "/settings/keys/rotate",
    "/settings/keys/budget",
    "/settings/keys/revoke",
    "/settings/watches/remove",
    "/settings/packs",
    "/settings/password",
    "/settings/sessions",
    "/settings/delete",
];

impl Mount for AccountPages {
    fn matches_path(&self, path: &str) -> bool {
        [PAGES, PAGES_WITH_FORMS, FORMS].iter().any(|paths| paths.contains(&path)) || path.starts_with(LINK_PATH)
    }

    fn methods(&self, path: &str) -> Methods {
        match path {
            path if PAGES.contains(&path) => Methods::Get,
            path if FORMS.contains(&path) => Methods::Post,
            _ => Methods::GetAndPost,
        }
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
