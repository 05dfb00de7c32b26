//! A request with its sender, and the check that its form comes from this site.

use ::http::StatusCode;
use hornbook_accounts::actor::Actor;
use hornbook_accounts::changes::{ActContext, SignedIn};
use maud::{Markup, html};

use super::form::FormFields;
use super::form_security::BrowserCookies;
use super::frame::{Page, SiteSection};
use super::page_context::PageContext;
use super::page_error::PageError;
use super::response::{self, CachePolicy};
use super::visitor::Visitor;
use crate::mount::{MountRequest, MountResponse};

/// A request with its sender.
pub(super) struct PageRequest<'v> {
    pub(super) request: &'v MountRequest<'v>,
    pub(super) visitor: Visitor,
    pub(super) browser: BrowserCookies,
    pub(super) act: ActContext,
}

impl<'v> PageRequest<'v> {
    pub(super) fn of(shell: &PageContext, request: &'v MountRequest<'v>) -> Self {
        let now = shell.service.now();
        let visitor = Visitor::of(request, shell.service.accounts(), now);
        let mut browser = BrowserCookies::of(request.headers);
        let actor = match &visitor {
            Visitor::Person(person) => person.account.into(),
            Visitor::Anonymous => {
                // An expired session must not be used to check form tokens.
                browser.session = None;
                Actor::program("visitor")
            }
        };
        Self { request, visitor, browser, act: ActContext { actor, at: now.wall } }
    }

    pub(super) fn person(&self) -> Result<&SignedIn, PageError> {
        match &self.visitor {
            Visitor::Person(person) => Ok(person),
            Visitor::Anonymous => Err(PageError::SignInFirst),
        }
    }

    /// A parameter of the address.
    pub(super) fn parameter(&self, name: &str) -> Option<&str> {
        let found = self.request.parameters.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// Parses the form and verifies that it comes from this site.
    pub(super) fn form(&self, shell: &PageContext) -> Result<FormFields, PageError> {
        if !self.request.origin.is_of(shell.origin.as_ref()) {
            return Err(PageError::ForeignForm);
        }
        let form = FormFields::read(self.request.headers, self.request.body);
        let form = form.map_err(|why| PageError::Refused(why.to_owned()))?;
        if self.browser.accepts(form.text("token")) { Ok(form) } else { Err(PageError::ForeignForm) }
    }

    /// The hidden field with the token, which every form needs.
    pub(super) fn token_field(&self) -> Markup {
        let token = self.browser.form_token().unwrap_or_default();
        html! { input type="hidden" name="token" value=(token); }
    }

    pub(super) fn page(&self, status: StatusCode, title: &str, main: Markup) -> MountResponse {
        let section = match self.request.segments.first().map(AsRef::as_ref) {
            Some("settings") => SiteSection::Account,
            Some("operator") => SiteSection::Operator,
            _ => SiteSection::Other,
        };
        let page = Page::new(title, section, main);
        response::page(status, page.html(&self.visitor), CachePolicy::NoStore).into()
    }
}
