//! `/oauth/authorize`: a person lets an agent in, and chooses what it may do and spend.
//!
//! The server redirects no browser to another site: registration is open, so anybody could use this address to lead
//! people elsewhere. The person's answer is a page with a link back, which the browser follows by itself after an
//! answer and not after an error. A redirect after a form would also break the content security policy.

use std::sync::Arc;

use ::http::{HeaderMap, Method, StatusCode};
use hornbook_accounts::Accounts;
use hornbook_accounts::budget::Budget;
use hornbook_accounts::changes::AgentLimits;
use hornbook_accounts::entropy::SystemEntropy;
use hornbook_accounts::records::AccountStatus;
use hornbook_base::sentence::sentence;
use maud::{Markup, html};

use super::keys::{budget_fields, budget_of, end_of, scope_fields, scopes_of};
use crate::mount::{Methods, Mount, MountFuture, MountRequest, MountResponse, RateLimitedBy};
use crate::oauth::{AUTHORIZE_PATH, AuthorizationRequest, RequestError, ReturnAddress, SignIn};
use crate::web::form::FormFields;
use crate::web::frame::{Page, SiteSection};
use crate::web::page_context::PageContext;
use crate::web::page_error::{PageError, SIGN_IN};
use crate::web::page_request::PageRequest;
use crate::web::response::{self, CachePolicy, redirect};
use crate::web::return_path::link_with_return;
use crate::web::untrusted_text::UntrustedText;
use crate::web::visitor::Visitor;
use crate::web_origin::SiteRelation;

/// How long an agent is let in unless the person chooses otherwise, in days.
const DAYS: u16 = 90;

pub struct ConsentPage {
    shell: Arc<PageContext>,
    sign_in: Arc<SignIn>,
}

impl ConsentPage {
    pub fn new(shell: Arc<PageContext>, sign_in: Arc<SignIn>) -> Self {
        Self { shell, sign_in }
    }

    async fn visited(&self, request: MountRequest<'_>) -> MountResponse {
        let seen = PageRequest::of(&self.shell, &request);
        let answered = match *request.method {
            Method::POST => self.answer_of_person(&seen).await,
            _ => self.asked(&seen),
        };
        answered.unwrap_or_else(|error| error.into_answer(&seen.visitor, request.id))
    }

    /// The question, or why it is not asked.
    fn asked(&self, seen: &PageRequest<'_>) -> Result<MountResponse, PageError> {
        let request = match self.sign_in.request(seen.request.parameters) {
            Ok(request) => request,
            Err(RequestError::Untrusted(why)) => return Ok(untrusted(seen, why)),
            Err(RequestError::Refused { why, back, error }) => return Ok(refused(seen, &why, &back, error)),
        };
        let Visitor::Person(_) = &seen.visitor else { return Ok(sign_in_first(seen)) };
        self.check_may_allow(seen)?;
        Ok(question(seen, &request))
    }

    async fn answer_of_person(&self, seen: &PageRequest<'_>) -> Result<MountResponse, PageError> {
        let person = seen.person()?;
        let form = seen.form(&self.shell)?;
        self.shell.desk.count_change(person.account)?;
        let request = match self.sign_in.request(seen.request.parameters) {
            Ok(request) => request,
            Err(RequestError::Untrusted(why)) => return Ok(untrusted(seen, why)),
            Err(RequestError::Refused { why, back, error }) => return Ok(refused(seen, &why, &back, error)),
        };
        if form.text("decision") != "allow" {
            let address = request.back.with_denial();
            return Ok(leaving(seen, "Not allowed", "The program gets no access.", &request.back, &address));
        }
        self.check_may_allow(seen)?;
        let limits = limits_of(&form, seen)?;
        if !limits.scopes.is_within(request.scopes) {
            return Err(PageError::Refused("the program did not ask for that; open the page again".to_owned()));
        }
        let (back, allowed) = request.allowed(person.account, limits);
        let (accounts, at) = (Arc::clone(self.shell.service.accounts()), seen.act.at);
        let code = self.shell.desk.work(move || accounts.allow_agent(allowed, at, &mut SystemEntropy)).await?;
        let code = code.ok_or(PageError::Busy)?;
        let address = back.with_code(&code);
        let text =
            "The program has a minute to connect. You can change its budget and disconnect it on your account's page.";
        Ok(leaving(seen, "Allowed", text, &back, &address))
    }

    fn check_may_allow(&self, seen: &PageRequest<'_>) -> Result<(), PageError> {
        let person = seen.person()?;
        if person.status != AccountStatus::Approved {
            let message = "your account waits for approval; it can let agents in once it is approved";
            return Err(PageError::Refused(message.to_owned()));
        }
        Ok(self.shell.service.accounts().check_may_let_in(person.account)?)
    }
}

fn limits_of(form: &FormFields, seen: &PageRequest<'_>) -> Result<AgentLimits, PageError> {
    let scopes = scopes_of(form, "choose what the agent may be used for")?;
    let expires_at = end_of(form, seen.act.at, "access ends after 1 to 65535 days, or never")?;
    Ok(AgentLimits { scopes, budget: budget_of(form)?, expires_at })
}

/// Browsers send the session's cookie only with requests that come from this site. So a person who follows a link of
/// another site seems to be a stranger, until a page of this site asks again.
fn sign_in_first(seen: &PageRequest<'_>) -> MountResponse {
    let here = address(seen);
    if seen.request.origin.relation != Some(SiteRelation::Other) {
        return redirect(&link_with_return(SIGN_IN, &here)).into();
    }
    let main = html! {
        h1 { "One moment" }
        p { a.button href=(here) { "Continue" } }
    };
    followed(seen, "One moment", main, &here)
}

fn address(seen: &PageRequest<'_>) -> String {
    format!("{AUTHORIZE_PATH}?{}", seen.request.query.unwrap_or_default())
}

fn question(seen: &PageRequest<'_>, request: &AuthorizationRequest) -> MountResponse {
    let name = request.client_name();
    let main = html! {
        h1 { "Let an agent in?" }
        p { "A program that calls itself " strong { (UntrustedText(name)) } " asks to use your account." }
        p.banner.mild {
            "The answer goes to " strong { (UntrustedText(&request.back.shown())) } ". Anybody can choose a name, so allow this only if you "
            "started it there yourself a moment ago."
        }
        form.entry method="post" action=(address(seen)) {
            (seen.token_field())
            (scope_fields("What the agent may be used for (its scopes)", request.scopes))
            (budget_fields("agent", Budget::default()))
            label for="agent-days" { "Days until its access ends (empty: when you end it)" }
            input #agent-days type="number" name="days" min="1" max="65535" value=(DAYS);
            div.actions {
                button type="submit" name="decision" value="allow" { "Allow" }
                button.quiet type="submit" name="decision" value="deny" { "Do not allow" }
            }
        }
        p.count { "Its calls are charged to your account and are in your ledger. Other websites and programs get nothing." }
    };
    seen.page(StatusCode::OK, "Let an agent in?", main)
}

/// Only the person sees this error. The page has no link to the address that the request names.
fn untrusted(seen: &PageRequest<'_>, why: &str) -> MountResponse {
    let main = html! {
        h1 { "This request cannot be answered" }
        p.banner role="alert" { (sentence(why)) }
        p { "If a program sent you here, close this page and start again in the program." }
    };
    seen.page(StatusCode::BAD_REQUEST, "This request cannot be answered", main)
}

fn refused(seen: &PageRequest<'_>, why: &str, back: &ReturnAddress, error: &str) -> MountResponse {
    let main = html! {
        h1 { "The program made a mistake" }
        p.banner role="alert" { (sentence(why)) }
        (link_back(back, &back.with_error(error)))
    };
    seen.page(StatusCode::BAD_REQUEST, "The program made a mistake", main)
}

/// The page after an answer, which the browser leaves by itself.
fn leaving(seen: &PageRequest<'_>, title: &str, text: &str, back: &ReturnAddress, address: &str) -> MountResponse {
    let main = html! {
        h1 { (title) }
        p { (text) }
        (link_back(back, address))
    };
    followed(seen, title, main, address)
}

fn link_back(back: &ReturnAddress, address: &str) -> Markup {
    html! {
        p { a.button href=(address) rel="noreferrer" { "Return to " (UntrustedText(&back.name)) } }
        p.count { "The link leads to " (UntrustedText(&back.shown())) "." }
    }
}

/// A page that the browser leaves for an address by itself.
fn followed(seen: &PageRequest<'_>, title: &str, main: Markup, address: &str) -> MountResponse {
    let head = html! { meta http-equiv="refresh" content={ "0;url=" (address) }; };
    let page = Page { head, has_search_box: false, ..Page::new(title, SiteSection::Other, main) };
    response::page(StatusCode::OK, page.html(&seen.visitor), CachePolicy::NoStore).into()
}

impl Mount for ConsentPage {
    fn matches_path(&self, path: &str) -> bool {
        path == AUTHORIZE_PATH
    }

    fn methods(&self, _path: &str) -> Methods {
        Methods::GetAndPost
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
