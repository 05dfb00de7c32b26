//! State and functions shared by the pages of `/settings`.

use std::sync::Arc;

use ::http::StatusCode;
use hornbook_accounts::Accounts;
use hornbook_accounts::entropy::SystemEntropy;
use hornbook_accounts::key::LinkToken;
use maud::{Markup, html};

use super::chart::UsageSumsCache;
use crate::mount::MountResponse;
use crate::web::form_security::{form_token, set_form_cookie};
use crate::web::page_context::PageContext;
use crate::web::page_error::PageError;
use crate::web::page_request::PageRequest;

pub(super) struct SettingsContext {
    pub(super) shell: Arc<PageContext>,
    pub(super) sums: Arc<UsageSumsCache>,
}

impl SettingsContext {
    pub(super) fn new(shell: Arc<PageContext>) -> Self {
        Self { shell, sums: Arc::default() }
    }

    pub(super) fn accounts(&self) -> Arc<Accounts> {
        Arc::clone(self.shell.service.accounts())
    }
}

/// A page with a form for a person who is not signed in. The browser gets a cookie that ties the
/// form to it.
pub(super) fn page_with_form(
    seen: &PageRequest<'_>,
    status: StatusCode,
    title: &str,
    main: impl FnOnce(Markup) -> Markup,
) -> MountResponse {
    if seen.browser.form_token().is_some() {
        return seen.page(status, title, main(seen.token_field()));
    }
    let Ok(cookie) = LinkToken::generate(&mut SystemEntropy) else {
        return PageError::Failed("no randomness from the system".to_owned())
            .into_answer(&seen.visitor, seen.request.id);
    };
    let field = html! { input type="hidden" name="token" value=(form_token(&cookie)); };
    let mut answer = seen.page(status, title, main(field));
    set_form_cookie(&mut answer.response, &cookie);
    answer
}

/// A form with one button that makes one change.
pub(super) fn action(seen: &PageRequest<'_>, path: &str, field: &str, value: &str, word: &str, what: &str) -> Markup {
    html! {
        form method="post" action=(path) {
            (seen.token_field())
            input type="hidden" name=(field) value=(value);
            button.quiet type="submit" { (word) span.unseen { " " (what) } }
        }
    }
}
