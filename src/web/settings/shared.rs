//! State and functions shared by the pages of `/settings`.

use std::sync::Arc;

use ::http::StatusCode;
use maud::{Markup, html};

use super::chart::KeptSums;
use crate::accounts::Accounts;
use crate::accounts::entropy::SystemEntropy;
use crate::accounts::key::LinkToken;
use crate::accounts::people::SignUpPolicy;
use crate::door::DoorAnswer;
use crate::web::browser::{form_token, set_form_cookie};
use crate::web::seen::Seen;
use crate::web::shell::Shell;
use crate::web::trouble::Trouble;

pub(super) struct Shared {
    pub(super) shell: Arc<Shell>,
    pub(super) sign_up: SignUpPolicy,
    pub(super) sums: Arc<KeptSums>,
}

impl Shared {
    pub(super) fn new(shell: Arc<Shell>, sign_up: SignUpPolicy) -> Self {
        Self { shell, sign_up, sums: Arc::default() }
    }

    pub(super) fn accounts(&self) -> Arc<Accounts> {
        Arc::clone(self.shell.service.accounts())
    }
}

/// A page with a form for a person who is not signed in. The browser gets a cookie that ties the
/// form to it.
pub(super) fn page_with_form(
    seen: &Seen<'_>,
    status: StatusCode,
    title: &str,
    main: impl FnOnce(Markup) -> Markup,
) -> DoorAnswer {
    if seen.browser.form_token().is_some() {
        return seen.page(status, title, main(seen.token_field()));
    }
    let Ok(cookie) = LinkToken::generate(&mut SystemEntropy) else {
        return Trouble::Failed("no randomness from the system".to_owned()).into_answer(&seen.visitor, seen.visit.id);
    };
    let field = html! { input type="hidden" name="token" value=(form_token(&cookie)); };
    let mut answer = seen.page(status, title, main(field));
    set_form_cookie(&mut answer.response, &cookie);
    answer
}
