//! The HTTP handler of `/settings`: dispatches requests to pages and forms.

use std::sync::Arc;

use ::http::Method;

use super::shared::Shared;
use super::{entry, ledger, overview, own};
use crate::accounts::key::LinkToken;
use crate::accounts::people::{LINK_PATH, SignUpPolicy};
use crate::door::{Answering, Door, DoorAnswer, Limit, Methods, Visit};
use crate::web::seen::Seen;
use crate::web::shell::Shell;
use crate::web::trouble::Trouble;
use crate::web::visitor::Visitor;

pub struct Settings {
    shared: Shared,
}

impl Settings {
    pub fn new(shell: Arc<Shell>, sign_up: SignUpPolicy) -> Self {
        Self { shared: Shared::new(shell, sign_up) }
    }

    async fn visited(&self, visit: Visit<'_>) -> DoorAnswer {
        let seen = Seen::of(&self.shared.shell, &visit);
        let visitor = seen.visitor.clone();
        let answered = match *visit.method {
            Method::POST => self.posted(seen).await,
            _ => self.shown(seen).await,
        };
        answered.unwrap_or_else(|trouble| trouble.into_answer(&visitor, visit.id))
    }

    async fn shown(&self, seen: Seen<'_>) -> Result<DoorAnswer, Trouble> {
        let shared = &self.shared;
        match seen.visit.path {
            "/settings" => overview::shown(shared, &seen).await,
            "/settings/sign-in" => Ok(entry::sign_in_page(shared, &seen, "")),
            "/settings/sign-up" => entry::sign_up_page(shared, &seen, "", None),
            "/settings/ledger" => ledger::shown(shared, &seen).await,
            "/settings/ledger.csv" => ledger::exported(shared, &seen).await,
            path => entry::link_page(shared, &seen, token_in(path)?, None).await,
        }
    }

    async fn posted(&self, seen: Seen<'_>) -> Result<DoorAnswer, Trouble> {
        let shared = &self.shared;
        let form = seen.form(&self.shared.shell)?;
        if let Visitor::Person(person) = &seen.visitor {
            shared.shell.desk.count_change(person.account)?;
        }
        match seen.visit.path {
            "/settings/sign-in" => entry::sign_in(shared, &seen, &form).await,
            "/settings/sign-up" => entry::sign_up(shared, &seen, &form).await,
            "/settings/sign-out" => entry::sign_out(shared, &seen).await,
            "/settings/keys" => own::create_key(shared, &seen, &form).await,
            "/settings/keys/rotate" => own::rotate_key(shared, &seen, &form).await,
            "/settings/keys/revoke" => own::revoke_key(shared, &seen, &form).await,
            "/settings/packs" => own::buy(shared, &seen, &form).await,
            "/settings/password" => own::change_password(shared, &seen, &form).await,
            "/settings/sessions" => own::end_sessions(shared, &seen, &form).await,
            "/settings/delete" => own::delete(shared, &seen, &form).await,
            path => entry::use_link(shared, &seen, token_in(path)?, &form).await,
        }
    }
}

fn token_in(path: &str) -> Result<LinkToken, Trouble> {
    path.strip_prefix(LINK_PATH).and_then(LinkToken::parse).ok_or(Trouble::Nothing)
}

/// Paths that only show pages, paths with both a page and a form, and paths that only accept forms.
const PAGES: &[&str] = &["/settings", "/settings/ledger", "/settings/ledger.csv"];
const PAGES_WITH_FORMS: &[&str] = &["/settings/sign-in", "/settings/sign-up"];
const FORMS: &[&str] = &[
    "/settings/sign-out",
    "/settings/keys",
    "/settings/keys/rotate",
    "/settings/keys/revoke",
    "/settings/packs",
    "/settings/password",
    "/settings/sessions",
    "/settings/delete",
];

impl Door for Settings {
    fn is_at(&self, path: &str) -> bool {
        [PAGES, PAGES_WITH_FORMS, FORMS].iter().any(|paths| paths.contains(&path)) || path.starts_with(LINK_PATH)
    }

    fn methods(&self, path: &str) -> Methods {
        match path {
            path if PAGES.contains(&path) => Methods::Get,
            path if FORMS.contains(&path) => Methods::Post,
            _ => Methods::GetAndPost,
        }
    }

    fn limit(&self) -> Limit {
        Limit::ByAddress
    }

    fn answer<'a>(&'a self, visit: Visit<'a>) -> Answering<'a> {
        Box::pin(self.visited(visit))
    }
}
