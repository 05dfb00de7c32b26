//! The changes that people make to their own account. Changes that give access to others or cannot
//! be undone require the password.

use ::http::StatusCode;
use hornbook_accounts::changes::{AuthProof, EndSessions, IssuedKey, NewKey, SessionId};
use hornbook_accounts::entropy::SystemEntropy;
use hornbook_accounts::error::ChangeError;
use hornbook_accounts::ids::KeyId;
use hornbook_accounts::key::KeyKind;
use hornbook_accounts::people::Password;
use hornbook_accounts::records::{AccountStatus, KeyRecord};
use hornbook_accounts::scope::ScopeSet;
use hornbook_accounts::tier::PackName;
use hornbook_base::clock::MILLIS_PER_DAY;
use hornbook_base::thousands::grouped;
use maud::html;

use super::buying::purchase;
use super::keys::{self, budget_of, end_of, scopes_of};
use super::shared::SettingsContext;
use super::sign_in::signed_in;
use crate::api::examples::Examples;
use crate::api::operation::{Method, Operation};
use crate::api::operations::OPERATIONS;
use crate::api::replies::PurchaseReply;
use crate::mount::MountResponse;
use crate::web::assets::SETTINGS;
use crate::web::form::FormFields;
use crate::web::form_security::end_session;
use crate::web::formatting::dollars;
use crate::web::frame::{Page, SiteSection};
use crate::web::page_error::PageError;
use crate::web::page_request::PageRequest;
use crate::web::response::{self, CachePolicy, redirect};

use crate::web::visitor::Visitor;
use crate::web::work_queues::PasswordAttempt;

/// An account that has had this many keys, including revoked ones and without agents and the keys that keys created,
/// cannot create more on its pages.
const KEYS_MAX: usize = 200;

/// A replaced key works for one more day.
const OVERLAP_MILLIS: u64 = MILLIS_PER_DAY as u64;

pub(super) async fn create_key(
    shared: &SettingsContext,
    seen: &PageRequest<'_>,
    form: &FormFields,
) -> Result<MountResponse, PageError> {
    let account = seen.person()?.account;
    check_may_have_keys(shared, seen)?;
    let wish = NewKey {
        account,
        name: form.text("name").trim().to_owned(),
        kind: KeyKind::Live,
        scopes: scopes_of(form, "choose what the key may be used for")?,
        expires_at: end_of(form, seen.act.at, "a key expires after 1 to 65535 days, or never")?,
        budget: budget_of(form)?,
    };
    let (accounts, act) = (shared.accounts(), seen.act.clone());
    let issued = shared.shell.desk.work(move || accounts.create_key(wish, &act, &mut SystemEntropy)).await?;
    shown_once(shared, seen, &issued).await
}

pub(super) async fn rotate_key(
    shared: &SettingsContext,
    seen: &PageRequest<'_>,
    form: &FormFields,
) -> Result<MountResponse, PageError> {
    let key = own_key(shared, seen, form)?;
    check_may_have_keys(shared, seen)?;
    let (accounts, act) = (shared.accounts(), seen.act.clone());
    let issued =
        shared.shell.desk.work(move || accounts.rotate_key(key, OVERLAP_MILLIS, &act, &mut SystemEntropy)).await?;
    shown_once(shared, seen, &issued).await
}

pub(super) async fn revoke_key(
    shared: &SettingsContext,
    seen: &PageRequest<'_>,
    form: &FormFields,
) -> Result<MountResponse, PageError> {
    let key = own_key(shared, seen, form)?;
    let (accounts, act) = (shared.accounts(), seen.act.clone());
    shared.shell.desk.work(move || accounts.revoke_key(key, &act)).await?;
    Ok(redirect(keys::section_of(&shared.accounts(), key)).into())
}

pub(super) async fn set_budget(
    shared: &SettingsContext,
    seen: &PageRequest<'_>,
    form: &FormFields,
) -> Result<MountResponse, PageError> {
    let key = own_key(shared, seen, form)?;
    keys::set_budget(shared, seen, form, key).await
}

fn check_may_have_keys(shared: &SettingsContext, seen: &PageRequest<'_>) -> Result<(), PageError> {
    let person = seen.person()?;
    if person.status != AccountStatus::Approved {
        return Err(PageError::Refused(
            "your account waits for approval; it can have keys once it is approved".to_owned(),
        ));
    }
    let keys = shared.accounts().keys(Some(person.account));
    let keys = keys.iter().filter(|key| key.record.parent.is_none() && key.record.kind != KeyKind::Agent).count();
    if keys < KEYS_MAX {
        return Ok(());
    }
    Err(PageError::Refused(format!("this account has had {keys} keys, which is the maximum; ask the operator")))
}

/// The key named in the form, if it belongs to this person. The error is the same for keys of
/// others and for unknown keys.
fn own_key(shared: &SettingsContext, seen: &PageRequest<'_>, form: &FormFields) -> Result<KeyId, PageError> {
    let account = seen.person()?.account;
    let id: KeyId = form.text("key").parse().map_err(PageError::Refused)?;
    let is_own = |record: KeyRecord| record.account == account && record.kind != KeyKind::Web;
    let found = shared.accounts().key_record(id).ok();
    found
        .filter(|record| is_own(record.clone()))
        .map(|_| id)
        .ok_or_else(|| PageError::Refused(format!("there is no key {id}")))
}

/// The only page that shows the text of a key.
async fn shown_once(
    shared: &SettingsContext,
    seen: &PageRequest<'_>,
    issued: &IssuedKey,
) -> Result<MountResponse, PageError> {
    let key = issued.secret.reveal();
    let examples = shared.shell.service.corpus().examples().await?;
    let example = first_call(issued.record.scopes, &examples);
    let main = html! {
        h1 { "Your new key" }
        p.banner { strong { "Copy it now." } " It is shown only this once: the service keeps a hash of it, not the key." }
        p.secret {
            code #new-key { (key) }
            button.quiet type="button" data-copy="new-key" hidden { "Copy" }
        }
        dl {
            dt { "Name" } dd { (issued.record.name) }
            dt { "Scopes" } dd { (issued.record.scopes.names().collect::<Vec<_>>().join(", ")) }
        }
        @if let Some(replaced) = issued.record.replaces {
            @if issued.record.budget.is_some() {
                p { "It replaces the key " (replaced) ", which has stopped, and goes on with its budget." }
            } @else {
                p { "It replaces the key " (replaced) ", which still works for a day." }
            }
        }
        @if let Some(example) = example {
            h2 { "Use it" }
            @let address = format!("{}{example}", shared.shell.service.base_url());
            pre tabindex="0" { code { "curl -H 'Authorization: Bearer " (key) "' \\\n  '" (address) "'" } }
        }
        p { a.button href="/settings#keys" { "I have copied it" } }
    };
    let page = Page { scripts: &[&SETTINGS], ..Page::new("Your new key", SiteSection::Account, main) };
    Ok(response::page(StatusCode::OK, page.html(&seen.visitor), CachePolicy::NoStore).into())
}

/// A call that a key with these scopes may make, and whose example works on the served snapshot.
fn first_call(scopes: ScopeSet, examples: &Examples) -> Option<String> {
    let may = |operation: &&Operation| operation.metering().is_some_and(|metering| scopes.has_any_of(metering.any_of));
    let routes = OPERATIONS.iter().filter(may).filter_map(|operation| operation.route);
    routes.filter(|route| route.method == Method::Get).find_map(|route| examples.fill(route.example))
}

/// Buys a pack with the same operation that programs call.
pub(super) async fn buy(
    shared: &SettingsContext,
    seen: &PageRequest<'_>,
    form: &FormFields,
) -> Result<MountResponse, PageError> {
    seen.person()?;
    let pack = PackName::parse(form.text("pack")).map_err(PageError::Refused)?;
    let PurchaseReply { purchase, price_cents, credits, checkout_url, .. } =
        purchase(&shared.shell, seen, pack).await?;
    let main = html! {
        h1 { "Your purchase" }
        dl {
            dt { "Number" } dd { code { (purchase) } }
            dt { "Pack" } dd { (pack.tier()) ", " (grouped(credits)) " credits" }
            dt { "Price" } dd { (dollars(price_cents)) }
        }
        p role="status" { "Nothing is charged yet." }
        // A link and not a redirect, because the content security policy allows forms to lead only
        // to this site.
        @if let Some(url) = &checkout_url { p { a.button href=(url) rel="noreferrer" { "Pay by card" } } }
        h2 { "What happens next" }
        ol {
            @if checkout_url.is_some() {
                li { "You pay on the page of the payment provider, within a day. If you do not, it costs nothing." }
                li { "Within a minute of the payment, your account and every key of it has the credits." }
            } @else {
                li { "You pay the operator of this service as agreed with them, and name the number of the purchase." }
                li { "As soon as they confirm the payment, your account and every key of it has the credits." }
            }
            li { "Your account lists the purchase: as waiting for payment, then as paid." }
        }
        p { a href="/settings" { "Back to your account" } }
    };
    Ok(seen.page(StatusCode::OK, "Your purchase", main))
}

pub(super) async fn change_password(
    shared: &SettingsContext,
    seen: &PageRequest<'_>,
    form: &FormFields,
) -> Result<MountResponse, PageError> {
    let password = Password::new(form.text("password")).map_err(PageError::Refused)?;
    let act = seen.act.clone();
    let changed = proved(shared, seen, form, move |accounts, proof| {
        accounts.change_password(proof, &password, &act, &mut SystemEntropy)
    });
    signed_in(shared, seen, changed.await?, None).await
}

pub(super) async fn end_sessions(
    shared: &SettingsContext,
    seen: &PageRequest<'_>,
    form: &FormFields,
) -> Result<MountResponse, PageError> {
    let person = seen.person()?;
    let which = match form.text("session") {
        "others" => EndSessions::OthersThan(person.session),
        id => EndSessions::One(
            SessionId::parse(id).ok_or_else(|| PageError::Refused("there is no such browser".to_owned()))?,
        ),
    };
    let (accounts, account, act) = (shared.accounts(), person.account, seen.act.clone());
    shared.shell.desk.work(move || accounts.end_sessions(account, which, &act)).await?;
    Ok(redirect("/settings#browsers").into())
}

pub(super) async fn delete(
    shared: &SettingsContext,
    seen: &PageRequest<'_>,
    form: &FormFields,
) -> Result<MountResponse, PageError> {
    if form.text("sure") != "yes" {
        return Err(PageError::Refused("tick that you are sure; nothing was deleted".to_owned()));
    }
    let act = seen.act.clone();
    proved(shared, seen, form, move |accounts, proof| accounts.delete_account(proof, &act)).await?;
    let main = html! {
        h1 { "Your account is deleted" }
        p { "Your name, password and keys are deleted. Payments, usage and administrative changes of the account stay on record under its number, without your name." }
    };
    let page = Page::new("Deleted", SiteSection::Other, main).html(&Visitor::Anonymous);
    let mut answer: MountResponse = response::page(StatusCode::OK, page, CachePolicy::NoStore).into();
    end_session(&mut answer.response);
    Ok(answer)
}

/// Runs a change that requires the current password.
async fn proved<T: Send + 'static>(
    shared: &SettingsContext,
    seen: &PageRequest<'_>,
    form: &FormFields,
    then: impl FnOnce(&hornbook_accounts::Accounts, AuthProof) -> Result<T, ChangeError> + Send + 'static,
) -> Result<T, PageError> {
    let person = seen.person()?;
    let (accounts, account, current) = (shared.accounts(), person.account, form.text("current").to_owned());
    let done = shared.shell.desk.password_work(seen.request.client, PasswordAttempt::SignedIn(account), move || {
        let wrong = || ChangeError::Refused("the current password is wrong; nothing was changed".to_owned());
        let proof = accounts.recheck_password(account, &current).ok_or_else(wrong)?;
        then(&accounts, proof)
    });
    done.await
}
