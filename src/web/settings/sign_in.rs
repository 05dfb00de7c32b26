//! Signing in, up and out, and one-time links. Error messages do not reveal who has an account.

use ::http::StatusCode;
use hornbook_accounts::changes::{ActContext, AuthProof, EndSessions, LinkChoice, LinkView, SignUp};
use hornbook_accounts::entropy::SystemEntropy;
use hornbook_accounts::error::ChangeError;
use hornbook_accounts::key::LinkToken;
use hornbook_accounts::people::{Login, PASSWORD_CHARS_MIN, Password, SignUpPolicy};
use hornbook_accounts::tier::{PackName, Tariff};
use hornbook_base::sentence::sentence;
use hornbook_base::thousands::grouped;
use maud::{Markup, html};

use super::shared::{SettingsContext, page_with_form};
use crate::mount::MountResponse;
use crate::web::form::FormFields;
use crate::web::form_security::{end_session, set_session};
use crate::web::formatting::dollars;
use crate::web::page_context::PolicyPages;
use crate::web::page_error::PageError;
use crate::web::page_request::PageRequest;
use crate::web::response::redirect;
use crate::web::return_path::{ReturnPath, link_with_return};
use crate::web::visitor::Visitor;
use crate::web::work_queues::PasswordAttempt;

/// The same message for an unknown name and for a wrong password.
const NOT_KNOWN: &str = "The name or the password is wrong.";

pub(super) fn sign_in_page(
    shared: &SettingsContext,
    seen: &PageRequest<'_>,
    problem: &str,
    back: Option<&ReturnPath>,
) -> MountResponse {
    if let Visitor::Person(_) = seen.visitor {
        return redirect(back.map_or("/settings", ReturnPath::as_str)).into();
    }
    let status = if problem.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    let came_back = seen.request.parameters.iter().any(|(name, _)| name == "again");
    page_with_form(seen, status, "Sign in", |token| {
        html! {
            h1 { "Sign in" }
            (alert(problem))
            @if came_back && problem.is_empty() {
                p.banner role="alert" {
                    "Your browser did not keep the sign-in. Browsers keep it only over https, or over http on this machine. Ask the "
                    "operator to serve this address over https."
                }
            }
            form.entry method="post" action="/settings/sign-in" {
                (token)
                @if let Some(back) = back { (back.field()) }
                (login_field())
                label for="password" { "Password" }
                input #password type="password" name="password" autocomplete="current-password" required maxlength="200";
                button type="submit" { "Sign in" }
            }
            p { "Forgot your password? Ask the operator of this service for a link to choose a new one." }
            @match shared.shell.sign_up {
                SignUpPolicy::Invited => p { "No account yet? The operator of this service creates accounts and can send you a link." },
                _ => p { "No account yet? " a href=(with_return("/settings/sign-up", back)) { "Sign up" } "." },
            }
        }
    })
}

pub(super) async fn sign_in(
    shared: &SettingsContext,
    seen: &PageRequest<'_>,
    form: &FormFields,
) -> Result<MountResponse, PageError> {
    let (accounts, login) = (shared.accounts(), form.text("login").to_owned());
    let (name, password) = (login.clone(), form.text("password").to_owned());
    let proved = shared
        .shell
        .desk
        .password_work(seen.request.client, PasswordAttempt::Named(&name), move || {
            Ok(accounts.check_login(&login, &password))
        })
        .await?;
    let back = ReturnPath::of_form(form);
    match proved {
        Some(proof) => signed_in(shared, seen, proof, back.as_ref()).await,
        None => Ok(sign_in_page(shared, seen, NOT_KNOWN, back.as_ref())),
    }
}

/// The address of a page that hands on where the person came from.
fn with_return(page: &str, back: Option<&ReturnPath>) -> String {
    back.map_or_else(|| page.to_owned(), |back| link_with_return(page, back.as_str()))
}

/// Opens a session with a new token, and ends the browser's previous session.
pub(super) async fn signed_in(
    shared: &SettingsContext,
    seen: &PageRequest<'_>,
    proof: AuthProof,
    back: Option<&ReturnPath>,
) -> Result<MountResponse, PageError> {
    let (accounts, act) = (shared.accounts(), ActContext { actor: proof.account().into(), ..seen.act.clone() });
    if let Some(person) = accounts.person(proof.account()) {
        shared.shell.desk.record_sign_in(seen.request.client, person.login.as_str());
    }
    let (device, address) = (device(seen), seen.request.client);
    let before =
        if let Visitor::Person(person) = &seen.visitor { Some((person.account, person.session)) } else { None };
    let token = shared.shell.desk.work(move || {
        if let Some((account, session)) = before {
            accounts.end_sessions(account, EndSessions::One(session), &act)?;
        }
        accounts.open_session(proof, &device, address, &act, &mut SystemEntropy)
    });
    let token = token.await?;
    let seconds = shared.shell.service.accounts().settings().session_millis / 1000;
    // Redirects to a page of this site. If the browser drops the cookie, that page explains the
    // problem; otherwise it leads on to where the person came from.
    let mut answer: MountResponse = redirect(&with_return("/settings?signed-in", back)).into();
    set_session(&mut answer.response, &token, seconds);
    Ok(answer)
}

/// The browser and the system, so that the owner can recognise the session.
fn device(seen: &PageRequest<'_>) -> String {
    let agent = seen.request.headers.get(::http::header::USER_AGENT).and_then(|value| value.to_str().ok());
    let agent = agent.unwrap_or_default();
    let find = |names: &[&'static str]| names.iter().find(|name| agent.contains(**name)).copied();
    let browser = find(&["Firefox", "Edg", "OPR", "Chrome", "Safari", "curl"]).unwrap_or("a browser");
    let system = find(&["Android", "iPhone", "iPad", "Windows", "Mac OS", "Linux"]);
    system.map_or(browser.to_owned(), |system| format!("{browser} on {system}"))
}

pub(super) fn sign_up_page(
    shared: &SettingsContext,
    seen: &PageRequest<'_>,
    problem: &str,
    login: Option<&str>,
    back: Option<&ReturnPath>,
) -> Result<MountResponse, PageError> {
    if shared.shell.sign_up == SignUpPolicy::Invited {
        return Err(PageError::NotFound);
    }
    let status = if problem.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    Ok(page_with_form(seen, status, "Sign up", |token| {
        html! {
            h1 { "Sign up" }
            (alert(problem))
            @if shared.shell.sign_up == SignUpPolicy::Approval {
                p { "The operator of this service approves each account. You can sign in at once, and search as soon as you are approved." }
            }
            (what_it_costs(&shared.accounts().settings().tariff))
            form.entry method="post" action="/settings/sign-up" {
                (token)
                @if let Some(back) = back { (back.field()) }
                label for="login" { "Name or e-mail address" }
                input #login type="text" name="login" value=[login] autocomplete="username" required maxlength="100" autocapitalize="none" spellcheck="false";
                (new_password_field())
                (policies(&shared.shell.policies))
                button type="submit" { "Sign up" }
            }
            p { "Do you have an account? " a href=(with_return("/settings/sign-in", back)) { "Sign in" } "." }
        }
    }))
}

/// What an account gives for nothing, and what more costs.
fn what_it_costs(tariff: &Tariff) -> Markup {
    let (units, credits) = (tariff.free.monthly_units, tariff.free.credits_on_approval.0);
    let packs = PackName::ALL.map(|name| tariff.pack(name));
    let cheapest = packs.iter().min_by_key(|pack| pack.price_cents);
    html! {
        p {
            @match (units, credits) {
                (0, 0) => { "An account is free; its calls need credits." }
                (0, credits) => { "An account is free, with " (grouped(credits)) " credits once approved. A search costs one." }
                (units, 0) => { "An account is free, with " (grouped(units)) " searches a month." }
                (units, credits) => { "An account is free, with " (grouped(units)) " searches a month and " (grouped(credits)) " credits once approved." }
            }
            @if let Some(pack) = cheapest {
                " More come in packs, from " (dollars(pack.price_cents)) " for " (grouped(pack.credits.0)) " credits. Nothing is charged before you buy one."
            }
        }
    }
}

/// What signing up agrees to, and what is kept.
fn policies(pages: &PolicyPages) -> Markup {
    let page = |address: &str, name: &str| html! { a href=(address) rel="noreferrer" { (name) } };
    html! {
        p.count {
            "This server keeps your name, a hash of your password, and the time, kind and price of each call, but not the words of a search, "
            "unless you save it to be watched. You can delete the account yourself."
            @match (&pages.terms, &pages.privacy) {
                (Some(terms), Some(privacy)) => {
                    " Signing up accepts the " (page(terms, "terms of use")) " of its operator, who also says what happens to "
                    (page(privacy, "personal data")) "."
                }
                (Some(terms), None) => { " Signing up accepts the " (page(terms, "terms of use")) " of its operator." }
                (None, Some(privacy)) => { " Its operator says what happens to " (page(privacy, "personal data")) "." }
                (None, None) => {}
            }
        }
    }
}

pub(super) async fn sign_up(
    shared: &SettingsContext,
    seen: &PageRequest<'_>,
    form: &FormFields,
) -> Result<MountResponse, PageError> {
    if shared.shell.sign_up == SignUpPolicy::Invited {
        return Err(PageError::NotFound);
    }
    let (name, back) = (form.text("login"), ReturnPath::of_form(form));
    let wish = name.parse::<Login>().and_then(|login| {
        let password = Password::new(form.text("password"))?;
        Ok(SignUp { login, password, approve: shared.shell.sign_up == SignUpPolicy::Open })
    });
    let wish = match wish {
        Ok(wish) => wish,
        Err(why) => return sign_up_page(shared, seen, &why, Some(name), back.as_ref()),
    };
    let (accounts, act) = (shared.accounts(), seen.act.clone());
    shared.shell.desk.count_sign_up(seen.request.client)?;
    let made = shared.shell.desk.password_work(seen.request.client, PasswordAttempt::Named(name), move || {
        refusable(accounts.sign_up(wish, &act, &mut SystemEntropy))
    });
    match made.await? {
        Ok(proof) => signed_in(shared, seen, proof, back.as_ref()).await,
        Err(why) => sign_up_page(shared, seen, &why, Some(name), back.as_ref()),
    }
}

/// Turns a refusal into a value that the page can show, because the person can correct the input.
fn refusable<T>(result: Result<T, ChangeError>) -> Result<Result<T, String>, ChangeError> {
    match result {
        Ok(done) => Ok(Ok(done)),
        Err(ChangeError::Refused(why)) => Ok(Err(why)),
        Err(error) => Err(error),
    }
}

pub(super) async fn sign_out(shared: &SettingsContext, seen: &PageRequest<'_>) -> Result<MountResponse, PageError> {
    let (accounts, act) = (shared.accounts(), seen.act.clone());
    let (account, session) = (seen.person()?.account, seen.person()?.session);
    shared.shell.desk.work(move || accounts.end_sessions(account, EndSessions::One(session), &act)).await?;
    let mut answer: MountResponse = redirect("/settings/sign-in").into();
    end_session(&mut answer.response);
    Ok(answer)
}

async fn link_view(shared: &SettingsContext, seen: &PageRequest<'_>, link: LinkToken) -> Result<LinkView, PageError> {
    let (accounts, now) = (shared.accounts(), seen.act.at);
    let view = shared.shell.desk.visitor_work(move || accounts.link(&link, now)).await?;
    view.ok_or(PageError::NotFound)
}

/// Opening a link does not use it up, because programs that preview links may fetch it.
pub(super) async fn link_page(
    shared: &SettingsContext,
    seen: &PageRequest<'_>,
    link: LinkToken,
    problem: Option<&str>,
) -> Result<MountResponse, PageError> {
    let view = link_view(shared, seen, link).await?;
    let status = if problem.is_none() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    let (title, words) = match &view {
        LinkView::FirstOperator => {
            ("Create the operator account", "It manages this service: accounts, payments and snapshots.".to_owned())
        }
        LinkView::Invited { name, .. } => ("Choose how to sign in", format!("This is for the account of {name}.")),
        LinkView::NewPassword { login } => {
            let login = login.as_str();
            ("Choose a new password", format!("It is for {login}. Every signed-in browser will be signed out."))
        }
    };
    let needs_login = !matches!(view, LinkView::NewPassword { .. });
    Ok(page_with_form(seen, status, title, |token| {
        html! {
            h1 { (title) }
            (alert(problem.unwrap_or_default()))
            p { (words) }
            form.entry method="post" {
                (token)
                @if needs_login { (login_field()) }
                (new_password_field())
                button type="submit" { "Save and sign in" }
            }
        }
    }))
}

pub(super) async fn use_link(
    shared: &SettingsContext,
    seen: &PageRequest<'_>,
    link: LinkToken,
    form: &FormFields,
) -> Result<MountResponse, PageError> {
    let view = link_view(shared, seen, link.clone()).await?;
    let needs_login = !matches!(view, LinkView::NewPassword { .. });
    let answer = Password::new(form.text("password")).and_then(|password| {
        let login = if needs_login { Some(form.text("login").parse::<Login>()?) } else { None };
        Ok(LinkChoice { login, password })
    });
    let answer = match answer {
        Ok(answer) => answer,
        Err(why) => return link_page(shared, seen, link, Some(&why)).await,
    };
    let (accounts, act, used) = (shared.accounts(), seen.act.clone(), link.clone());
    let name = link.digest().to_hex();
    let made = shared.shell.desk.password_work(seen.request.client, PasswordAttempt::Named(&name), move || {
        refusable(accounts.use_link(&used, answer, &act, &mut SystemEntropy))
    });
    match made.await? {
        Ok(proof) => signed_in(shared, seen, proof.ok_or(PageError::NotFound)?, None).await,
        Err(why) => link_page(shared, seen, link, Some(&why)).await,
    }
}

fn alert(problem: &str) -> Markup {
    html! { @if !problem.is_empty() { p.banner role="alert" { (sentence(problem)) } } }
}

fn login_field() -> Markup {
    html! {
        label for="login" { "Name or e-mail address" }
        input #login type="text" name="login" autocomplete="username" required maxlength="100" autocapitalize="none" spellcheck="false";
    }
}

pub(super) fn new_password_field() -> Markup {
    html! {
        label for="new-password" { "New password, at least " (PASSWORD_CHARS_MIN) " characters" }
        input #new-password type="password" name="password" autocomplete="new-password" required minlength=(PASSWORD_CHARS_MIN) maxlength="200";
    }
}
