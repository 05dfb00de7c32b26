//! The forms of the operator's page. They make the same changes as the commands, in the name of the
//! operator's account.

use ::http::StatusCode;
use hornbook_accounts::audit_text::WrittenText;
use hornbook_accounts::entropy::SystemEntropy;
use hornbook_accounts::error::ChangeError;
use hornbook_accounts::ids::{AccountId, CheckoutId, OrderId, PurchaseId};
use hornbook_accounts::key::LinkToken;
use hornbook_accounts::people::{LINK_PATH, PersonRole};
use hornbook_accounts::records::OrderStage;
use maud::html;

use super::accounts;
use super::shared::OperatorContext;
use crate::mount::MountResponse;
use crate::web::form::FormFields;
use crate::web::page_error::PageError;
use crate::web::page_request::PageRequest;
use crate::web::response::redirect;

pub(super) async fn account(
    shared: &OperatorContext,
    seen: &PageRequest<'_>,
    form: &FormFields,
) -> Result<MountResponse, PageError> {
    let id: AccountId = form.text("account").parse().map_err(PageError::Refused)?;
    let (accounts, act) = (shared.accounts(), seen.act.clone());
    match form.text("do") {
        "approve" => shared.shell.desk.operator_work(move || accounts.approve_account(id, &act)).await.map(drop)?,
        "disable" if id == seen.person()?.account => {
            return Err(PageError::Refused("this is your own account; nobody else could enable it again".to_owned()));
        }
        "disable" => shared.shell.desk.operator_work(move || accounts.disable_account(id, &act)).await.map(drop)?,
        "ask to delete" => return accounts::ask_to_delete(shared, seen, id).await,
        "delete" if id == seen.person()?.account => {
            return Err(PageError::Refused("this is your own account; delete it in the settings".to_owned()));
        }
        "delete" if form.text("typed").trim() != id.to_string() => {
            return Err(PageError::Refused(format!("to delete {id}, enter its id in the form; nothing was deleted")));
        }
        "delete" => {
            shared.shell.desk.operator_work(move || accounts.delete_account_as_operator(id, &act)).await?;
        }
        "link" => {
            let made = shared
                .shell
                .desk
                .operator_work(move || accounts.make_link(id, PersonRole::Customer, &act, &mut SystemEntropy));
            return Ok(link_shown(shared, seen, &made.await?));
        }
        _ => return Err(not_known()),
    }
    Ok(redirect("/operator#accounts").into())
}

pub(super) async fn invite(
    shared: &OperatorContext,
    seen: &PageRequest<'_>,
    form: &FormFields,
) -> Result<MountResponse, PageError> {
    let name = form.text("name").trim().to_owned();
    let role = if form.text("operator") == "yes" { PersonRole::Operator } else { PersonRole::Customer };
    let (accounts, act) = (shared.accounts(), seen.act.clone());
    let made = shared.shell.desk.operator_work(move || {
        let id = accounts.create_account(name, &act)?.id;
        accounts.approve_account(id, &act)?;
        accounts.make_link(id, role, &act, &mut SystemEntropy)
    });
    Ok(link_shown(shared, seen, &made.await?))
}

/// The only page that shows a link.
fn link_shown(shared: &OperatorContext, seen: &PageRequest<'_>, link: &LinkToken) -> MountResponse {
    let link = format!("{}{LINK_PATH}{}", shared.shell.service.base_url(), link.reveal());
    let main = html! {
        h1 { "A one-time link" }
        p.banner { strong { "Hand it over now." } " It is shown only this once. It works once, within three days. Anyone who has it can sign in." }
        p.secret { code { (link) } }
        p { a.button href="/operator#accounts" { "Back" } }
    };
    seen.page(StatusCode::OK, "A one-time link", main)
}

pub(super) async fn purchase(
    shared: &OperatorContext,
    seen: &PageRequest<'_>,
    form: &FormFields,
) -> Result<MountResponse, PageError> {
    let id: PurchaseId = form.text("purchase").parse().map_err(PageError::Refused)?;
    let (reference, accounts, act) = (reference(form), shared.accounts(), seen.act.clone());
    match form.text("do") {
        "confirm" => {
            shared.shell.desk.operator_work(move || accounts.pay_purchase(id, reference, &act)).await.map(drop)?;
        }
        "cancel" => shared.shell.desk.operator_work(move || accounts.cancel_purchase(id, &act)).await.map(drop)?,
        _ => return Err(not_known()),
    }
    Ok(redirect("/operator#purchases").into())
}

pub(super) async fn problem(
    shared: &OperatorContext,
    seen: &PageRequest<'_>,
    form: &FormFields,
) -> Result<MountResponse, PageError> {
    let id: CheckoutId = form.text("checkout").parse().map_err(PageError::Refused)?;
    let shown = form.text("shown").parse().map_err(|_| not_known())?;
    let (accounts, act) = (shared.accounts(), seen.act.clone());
    shared.shell.desk.operator_work(move || accounts.close_payment_problems(id, shown, &act)).await?;
    Ok(redirect("/operator#purchases").into())
}

pub(super) async fn order(
    shared: &OperatorContext,
    seen: &PageRequest<'_>,
    form: &FormFields,
) -> Result<MountResponse, PageError> {
    let id: OrderId = form.text("order").parse().map_err(PageError::Refused)?;
    let (reference, accounts, act) = (reference(form), shared.accounts(), seen.act.clone());
    match form.text("do") {
        "confirm" => {
            shared.shell.desk.operator_work(move || accounts.pay_order(id, reference, &act)).await.map(drop)?;
        }
        "discard" => shared.shell.desk.operator_work(move || accounts.discard_order(id, &act)).await.map(drop)?,
        "advance" => {
            let stage = OrderStage::parse(form.text("stage")).map_err(PageError::Refused)?;
            shared.shell.desk.operator_work(move || accounts.advance_order(id, stage, &act)).await.map(drop)?;
        }
        "intake" => {
            let intake =
                shared.shell.desk.operator_work(move || accounts.order_intake(id, &act, &mut SystemEntropy)).await?;
            let text = intake.and_then(|intake| serde_json::to_string_pretty(&intake).ok());
            let main = html! {
                h1 { "Intake of order " (id) }
                p { "The audit log records that you opened it." }
                pre tabindex="0" { (text.as_deref().unwrap_or("This order has none.")) }
                p { a href="/operator#orders" { "Back" } }
            };
            return Ok(seen.page(StatusCode::OK, "Intake of an order", main));
        }
        _ => return Err(not_known()),
    }
    Ok(redirect("/operator#orders").into())
}

/// Switches to another snapshot, newer or older. The attempt is recorded even if it fails.
pub(super) async fn snapshot(
    shared: &OperatorContext,
    seen: &PageRequest<'_>,
    form: &FormFields,
) -> Result<MountResponse, PageError> {
    let name = form.text("snapshot").to_owned();
    let (accounts, machinery) = (shared.accounts(), std::sync::Arc::clone(&shared.machinery));
    let act = seen.act.clone();
    let served = shared.shell.desk.long_work(move || match machinery.serve_snapshot(&name) {
        Ok(served) => accounts.record_act(&act, "reload", &[&WrittenText(&served)]),
        Err(why) => {
            accounts.record_act(&act, "reload refused", &[&WrittenText(&why)])?;
            Err(ChangeError::Refused(why))
        }
    });
    served.await?;
    Ok(redirect("/operator#snapshots").into())
}

fn reference(form: &FormFields) -> Option<String> {
    Some(form.text("reference").trim().to_owned()).filter(|reference| !reference.is_empty())
}

fn not_known() -> PageError {
    PageError::Refused("the form contains an unknown action".to_owned())
}
