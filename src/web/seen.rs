//! A request with its sender, and the check that its form comes from this site.

use ::http::StatusCode;
use maud::{Markup, html};

use super::browser::{Browser, is_from_here};
use super::form::Form;
use super::frame::{Page, Section};
use super::response::{self, Keep};
use super::shell::Shell;
use super::trouble::Trouble;
use super::visitor::Visitor;
use crate::accounts::changes::{Act, SignedIn};
use crate::door::{DoorAnswer, Visit};

/// A request with its sender.
pub(super) struct Seen<'v> {
    pub(super) visit: &'v Visit<'v>,
    pub(super) visitor: Visitor,
    pub(super) browser: Browser,
    pub(super) act: Act,
}

impl<'v> Seen<'v> {
    pub(super) fn of(shell: &Shell, visit: &'v Visit<'v>) -> Self {
        let now = shell.service.now();
        let visitor = Visitor::of(visit, shell.service.accounts(), now);
        let mut browser = Browser::of(visit.headers);
        let actor = match &visitor {
            Visitor::Person(person) => person.account.to_string(),
            Visitor::Anonymous => {
                // An expired session must not be used to check form tokens.
                browser.session = None;
                "visitor".to_owned()
            }
        };
        Self { visit, visitor, browser, act: Act { actor, at: now.wall } }
    }

    pub(super) fn person(&self) -> Result<&SignedIn, Trouble> {
        match &self.visitor {
            Visitor::Person(person) => Ok(person),
            Visitor::Anonymous => Err(Trouble::SignInFirst),
        }
    }

    /// Parses the form and verifies that it comes from this site.
    pub(super) fn form(&self, shell: &Shell) -> Result<Form, Trouble> {
        if !is_from_here(self.visit.headers, &shell.origin) {
            return Err(Trouble::NotOurForm);
        }
        let form = Form::read(self.visit.headers, self.visit.body);
        let form = form.map_err(|why| Trouble::Refused(why.to_owned()))?;
        if self.browser.accepts(form.text("token")) { Ok(form) } else { Err(Trouble::NotOurForm) }
    }

    /// The hidden field with the token, which every form needs.
    pub(super) fn token_field(&self) -> Markup {
        let token = self.browser.form_token().unwrap_or_default();
        html! { input type="hidden" name="token" value=(token); }
    }

    pub(super) fn page(&self, status: StatusCode, title: &str, main: Markup) -> DoorAnswer {
        let section = match self.visit.segments.first().map(AsRef::as_ref) {
            Some("settings") => Section::Account,
            Some("operator") => Section::Operator,
            _ => Section::Other,
        };
        let page = Page::new(title, section, main);
        response::page(status, page.html(&self.visitor), Keep::Nowhere).into()
    }
}
