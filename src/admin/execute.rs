//! Executes one command. The result is JSON, which the command line prints as JSON or as text.

use std::path::Path;

use hornbook_accounts::Accounts;
use hornbook_accounts::actor::Actor;
use hornbook_accounts::audit_text::{AuditPart, WrittenText};
use hornbook_accounts::changes::{ActContext, IssuedKey, LINK_MILLIS, NewKey, NewOrder};
use hornbook_accounts::entropy::Entropy;
use hornbook_accounts::error::ChangeError;
use hornbook_accounts::ids::{AccountId, Credits, KeyId};
use hornbook_accounts::key::KeyKind;
use hornbook_accounts::people::{LINK_PATH, PersonRole};
use hornbook_accounts::records::{
    AccountStatus, CheckoutRecord, KeyRecord, OrderRecord, Payable, PurchaseRecord, PurchaseStatus, StageReached,
};
use hornbook_accounts::views::{AccountView, KeyView};
use hornbook_base::clock::{MILLIS_PER_DAY, Now, UnixMillis};
use serde_json::{Value, json};

use super::AdminError;
use super::command::{
    AccountCommand, AccountRef, AdminCommand, KeyCommand, KeyRef, LedgerCommand, OrderCommand, PurchaseCommand,
};

/// Makes the server load what changed outside it. The error is the reason why it did not.
pub type Reload = dyn Fn() -> Result<Value, String> + Send + Sync;

pub(super) fn no_server() -> AdminError {
    AdminError::Refused(
        "no server runs on this data directory; 'hornbook serve' loads data/current when it starts".to_owned(),
    )
}

/// The context in which a command is executed.
pub(super) struct CommandContext<'d> {
    pub(super) accounts: &'d Accounts,
    /// None if no server runs.
    pub(super) reload: Option<&'d Reload>,
    pub(super) actor: Actor,
    pub(super) now: Now,
    pub(super) entropy: &'d mut dyn Entropy,
}

impl CommandContext<'_> {
    fn act(&self) -> ActContext {
        ActContext { actor: self.actor.clone(), at: self.now.wall }
    }

    pub(super) fn execute(&mut self, command: AdminCommand) -> Result<Value, AdminError> {
        let act = self.act();
        match command {
            AdminCommand::Inbox { done } => {
                if let Some(checkout) = done {
                    self.accounts.close_payment_problems(checkout, usize::MAX, &act)?;
                }
                inbox(self.accounts, self.now)
            }
            AdminCommand::Account(command) => self.account(command),
            AdminCommand::Key(command) => self.key(command),
            AdminCommand::Grant { account, credits, reason } => {
                let account = self.account_id(&account)?;
                let entry = self.accounts.grant(account, Credits(credits), reason, &act)?;
                self.entry_result(account, entry.0)
            }
            AdminCommand::Purchase(command) => self.purchase(command),
            AdminCommand::Order(command) => self.order(command),
            AdminCommand::Ledger(command) => self.ledger(command),
            AdminCommand::Reload => {
                let reload = self.reload.ok_or_else(no_server)?;
                let reloaded = reload().map_err(AdminError::Refused)?;
                let snapshot = reloaded["snapshot"].as_str().unwrap_or_default().to_owned();
                self.accounts.record_act(&act, "reload", &[&WrittenText(&snapshot)])?;
                Ok(reloaded)
            }
            AdminCommand::Audit { count } => Ok(json!(self.accounts.acts(count)?)),
            AdminCommand::Backup { to } => {
                let made = backup(self.accounts, &to)?;
                self.accounts.record_act(&act, "backup", &[&WrittenText(&to.display().to_string())])?;
                Ok(made)
            }
            AdminCommand::Restore { .. } => Err(AdminError::Refused(
                "the state cannot be replaced while the server uses it; stop the server, then restore".to_owned(),
            )),
        }
    }

    fn account(&mut self, command: AccountCommand) -> Result<Value, AdminError> {
        let act = self.act();
        let id = match command {
            AccountCommand::Create { name, approve } => {
                let id = self.accounts.create_account(name, &act)?.id;
                if approve {
                    self.accounts.approve_account(id, &act)?;
                }
                id
            }
            AccountCommand::Approve { account } => self.accounts.approve_account(self.account_id(&account)?, &act)?.id,
            AccountCommand::Disable { account } => self.accounts.disable_account(self.account_id(&account)?, &act)?.id,
            AccountCommand::Link { account, operator } => {
                return self.link(
                    self.account_id(&account)?,
                    if operator { PersonRole::Operator } else { PersonRole::Customer },
                );
            }
            AccountCommand::Role { account, role } => {
                let id = self.account_id(&account)?;
                self.accounts.set_role(id, role, &act)?;
                id
            }
            AccountCommand::Delete { account, yes } => return self.delete_account(self.account_id(&account)?, yes),
            AccountCommand::List => {
                let accounts = self.accounts.accounts(self.now)?;
                return Ok(accounts.iter().map(|view| self.account_json(view)).collect());
            }
            AccountCommand::Show { account } => {
                let account = self.account_id(&account)?;
                let mut shown = self.account_json(&self.accounts.account(account, self.now)?);
                shown["keys"] = self.accounts.keys(Some(account)).iter().map(|key| self.key_json(key)).collect();
                shown["ledger"] = self.entries(account, 10)?;
                return Ok(shown);
            }
        };
        Ok(self.account_json(&self.accounts.account(id, self.now)?))
    }

    /// Deletes an account, or says what that would do.
    fn delete_account(&self, id: AccountId, yes: bool) -> Result<Value, AdminError> {
        let view = self.accounts.account(id, self.now)?;
        let keys = self.accounts.keys(Some(id));
        let is_given = |key: &&KeyView| key.record.revoked_at.is_none() && key.record.kind != KeyKind::Web;
        let keys = keys.iter().filter(is_given).count();
        if yes {
            self.accounts.delete_account_as_operator(id, &self.act())?;
        }
        Ok(json!({
            "id": id,
            "deleted": yes,
            "keys": keys,
            "creditsLost": view.remaining.credits(),
            "remains": "payments, usage and administrative acts, under the number of the account and without its name: the \
                        books must add up",
            "next": if yes { Value::Null } else { json!(format!("hornbook account delete {id} --yes")) },
        }))
    }

    fn key(&mut self, command: KeyCommand) -> Result<Value, AdminError> {
        let act = self.act();
        match command {
            KeyCommand::Create { account, name, scopes, expires_in_days, budget, test } => {
                let account = self.account_id(&account)?;
                let kind = if test { KeyKind::Test } else { KeyKind::Live };
                let expires_at = expires_in_days.map(|days| act.at.plus_millis(i64::from(days) * MILLIS_PER_DAY));
                let wish = NewKey { account, name, kind, scopes, expires_at, budget: budget.into() };
                let issued = self.accounts.create_key(wish, &act, self.entropy)?;
                Ok(self.issued_json(&issued))
            }
            KeyCommand::Rotate { key, overlap_sec } => {
                let overlap = overlap_sec.saturating_mul(1000);
                let key = self.key_id(&key)?;
                let issued = self.accounts.rotate_key(key, overlap, &act, self.entropy)?;
                Ok(self.issued_json(&issued))
            }
            KeyCommand::Revoke { key } => {
                let key = self.key_id(&key)?;
                Ok(self.key_record_json(&self.accounts.revoke_key(key, &act)?))
            }
            KeyCommand::Budget { key, budget } => {
                let key = self.key_id(&key)?;
                Ok(self.key_record_json(&self.accounts.set_key_budget(key, budget.into(), &act)?))
            }
            KeyCommand::List { account } => {
                let account = account.map(|account| self.account_id(&account)).transpose()?;
                Ok(self.accounts.keys(account).iter().map(|key| self.key_json(key)).collect())
            }
        }
    }

    fn issued_json(&self, issued: &IssuedKey) -> Value {
        let mut shown = self.key_record_json(&issued.record);
        // The only place where the text of a key leaves the program.
        shown["key"] = json!(issued.secret.reveal());
        shown
    }

    fn key_json(&self, view: &KeyView) -> Value {
        let mut shown = self.key_record_json(&view.record);
        shown["lastUsed"] = time(view.last_used);
        shown
    }

    fn key_record_json(&self, record: &KeyRecord) -> Value {
        let budget = self.accounts.key_budget(record.id, self.now.wall);
        json!({
            "id": record.id,
            "account": record.account,
            "name": record.name,
            "prefix": record.prefix,
            "scopes": record.scopes.to_string(),
            "createdAt": record.created_at.to_string(),
            "createdBy": record.parent,
            "agentAt": record.grant.as_ref().map(|grant| &grant.returns_to),
            "expiresAt": time(record.expires_at),
            "revokedAt": time(record.revoked_at),
            "budget": budget.map(|budget| budget.limits.to_string()),
            "spent": budget.map(|budget| budget.spent_in_words()),
        })
    }

    fn purchase(&self, command: PurchaseCommand) -> Result<Value, AdminError> {
        let act = self.act();
        Ok(match command {
            PurchaseCommand::Request { account, pack } => {
                purchase_json(&self.accounts.request_purchase(self.account_id(&account)?, pack, &act)?)
            }
            PurchaseCommand::Approve { purchase, reference } => {
                purchase_json(&self.accounts.pay_purchase(purchase, reference, &act)?)
            }
            PurchaseCommand::Cancel { purchase } => purchase_json(&self.accounts.cancel_purchase(purchase, &act)?),
            PurchaseCommand::Refund { purchase, reason } => {
                json!({ "entry": self.accounts.refund_purchase(purchase, reason, &act)? })
            }
            PurchaseCommand::List => self.accounts.purchases()?.iter().map(purchase_json).collect(),
        })
    }

    fn order(&mut self, command: OrderCommand) -> Result<Value, AdminError> {
        let act = self.act();
        Ok(match command {
            OrderCommand::Create { account, entity_name, entity_type, jurisdiction } => {
                let account = self.account_id(&account)?;
                let wish = NewOrder { account, entity_name, entity_type, jurisdiction };
                let (order, token) = self.accounts.create_order(wish, &act, self.entropy)?;
                let mut shown = order_json(&order);
                shown["token"] = json!(token);
                shown
            }
            OrderCommand::Advance { order, stage } => order_json(&self.accounts.advance_order(order, stage, &act)?),
            OrderCommand::ConfirmPayment { order, reference } => {
                order_json(&self.accounts.pay_order(order, reference, &act)?)
            }
            OrderCommand::Discard { order } => order_json(&self.accounts.discard_order(order, &act)?),
            OrderCommand::Show { order, intake } => {
                let found = self.accounts.order(order)?;
                let found = found.ok_or_else(|| ChangeError::NotFound { what: "order", id: order.to_string() })?;
                let mut shown = order_json(&found);
                shown["moves"] = found.stages.iter().map(move_json).collect();
                if intake {
                    shown["intake"] = json!(self.accounts.order_intake(order, &act, self.entropy)?);
                }
                shown
            }
            OrderCommand::GiveUpSealed { yes } => {
                let sealed = self.accounts.remove_undecryptable(yes, &act)?;
                json!({ "drafts": sealed.drafts, "intakes": sealed.intakes, "removed": yes })
            }
            OrderCommand::List => self.accounts.orders()?.iter().map(order_json).collect(),
        })
    }

    fn ledger(&self, command: LedgerCommand) -> Result<Value, AdminError> {
        Ok(match command {
            LedgerCommand::Show { account, count } => self.entries(self.account_id(&account)?, count)?,
            LedgerCommand::Verify => {
                let mut report = json!(self.accounts.verify_ledger()?);
                report["ledger"] = json!("intact");
                report
            }
            LedgerCommand::Adjust { account, credits, reason } => {
                let account = self.account_id(&account)?;
                let entry = self.accounts.adjust(account, credits, reason, &self.act())?;
                return self.entry_result(account, entry.0);
            }
            LedgerCommand::RollUp { older_than_days } => {
                let before = self.now.wall.plus_millis(-i64::from(older_than_days) * MILLIS_PER_DAY);
                let rolled_up = self.accounts.roll_up(before, self.now.wall)?;
                let on: [&dyn AuditPart; 4] = [&rolled_up, &" entries older than ", &older_than_days, &" days"];
                self.accounts.record_act(&self.act(), "ledger roll-up", &on)?;
                json!({ "rolledUp": rolled_up })
            }
        })
    }

    fn account_id(&self, account: &AccountRef) -> Result<AccountId, AdminError> {
        let AccountRef(text) = account;
        if let Ok(id) = text.parse() {
            return Ok(self.accounts.account(id, self.now)?.record.id);
        }
        let accounts = self.accounts.accounts(self.now)?;
        let named = accounts.iter().filter(|view| *view.record.name == **text).map(|view| view.record.id);
        unique_match("account", "name", text, named.collect())
    }

    fn key_id(&self, key: &KeyRef) -> Result<KeyId, AdminError> {
        let KeyRef(text) = key;
        if let Ok(id) = text.parse() {
            return Ok(id);
        }
        let keys = self.accounts.keys(None);
        let shown = keys.iter().filter(|view| view.record.prefix == *text).map(|view| view.record.id);
        unique_match("key", "prefix", text, shown.collect())
    }

    /// An account's newest entries, with their actors.
    fn entries(&self, account: AccountId, count: usize) -> Result<Value, AdminError> {
        let entries = self.accounts.recent_entries(account, count)?;
        let with_actor = entries.iter().map(|entry| {
            let mut shown = json!(entry);
            shown["actor"] = json!(entry.actor);
            shown
        });
        Ok(with_actor.collect())
    }

    fn entry_result(&self, account: AccountId, entry: u64) -> Result<Value, AdminError> {
        let balance = self.accounts.account(account, self.now)?.remaining.wallet;
        Ok(json!({ "account": account, "entry": entry, "creditsRemaining": balance }))
    }
}

/// Returns the only match. No match, or several, is an error.
fn unique_match<T: std::fmt::Display>(what: &str, by: &str, text: &str, found: Vec<T>) -> Result<T, AdminError> {
    let several: Vec<String> = found.iter().map(T::to_string).collect();
    match <[T; 1]>::try_from(found) {
        Ok([one]) => Ok(one),
        Err(_) if several.is_empty() => Err(AdminError::Refused(format!(
            "there is no {what} with the id or {by} '{text}'; '{what} list' shows every {what}"
        ))),
        Err(_) => {
            let several = several.join(", ");
            Err(AdminError::Refused(format!("'{text}' is the {by} of {several}; give the id of the one you mean")))
        }
    }
}

/// The items that wait for the operator, oldest first, each with the next command.
fn inbox(accounts: &Accounts, now: Now) -> Result<Value, AdminError> {
    let by_arrangement = |record: &&PurchaseRecord| {
        // A purchase by card waits for its customer.
        record.status == PurchaseStatus::Requested && record.checkout.is_none()
    };
    let purchase = |record: &PurchaseRecord| {
        json!({
            "id": record.id,
            "account": record.account,
            "pack": record.pack,
            "priceCents": record.price_cents,
            "requestedAt": record.requested_at.to_string(),
            "next": format!("hornbook purchase approve {}", record.id),
        })
    };
    let payment = |record: &CheckoutRecord| {
        let paid_for = match record.pays {
            Payable::Purchase(id) => id.to_string(),
            Payable::Order(id) => id.to_string(),
        };
        json!({
            "id": record.id,
            "account": record.account,
            "paidFor": paid_for,
            "payment": record.payment,
            "problem": record.problems.join("; "),
            "next": format!("hornbook inbox --done {}", record.id),
        })
    };
    let order = |record: &OrderRecord| {
        json!({
            "id": record.id,
            "account": record.account,
            "state": record.stage().name(),
            "since": time(record.stages.last().map(|reached| reached.at)),
            "next": format!("hornbook order show {}", record.id),
        })
    };
    let account = |view: &AccountView| {
        json!({
            "id": view.record.id,
            "name": view.record.name,
            "createdAt": view.record.created_at.to_string(),
            "next": format!("hornbook account approve {}", view.record.id),
        })
    };
    let pending = |view: &&AccountView| view.record.status == AccountStatus::Pending;
    Ok(json!({
        "purchases": accounts.waiting_purchases()?.iter().filter(by_arrangement).map(purchase).collect::<Value>(),
        "payments": accounts.payment_problems()?.iter().map(payment).collect::<Value>(),
        "orders": accounts.open_orders()?.iter().map(order).collect::<Value>(),
        "accounts": accounts.accounts(now)?.iter().filter(pending).map(account).collect::<Value>(),
    }))
}

/// Writes a consistent, verified copy under its final name, or nothing.
fn backup(accounts: &Accounts, to: &Path) -> Result<Value, AdminError> {
    if to.exists() {
        let to = to.display();
        return Err(AdminError::Refused(format!("{to} already exists; name a new file for the backup")));
    }
    let proof = accounts.back_up(to)?;
    Ok(json!({ "backup": to.display().to_string(), "proof": proof }))
}

impl CommandContext<'_> {
    /// Creates a link for the owner of an account. The program sends no mail, so the operator
    /// passes the link on.
    fn link(&mut self, id: AccountId, role: PersonRole) -> Result<Value, AdminError> {
        let act = self.act();
        let token = self.accounts.make_link(id, role, &act, self.entropy)?;
        Ok(json!({
            "id": id,
            "role": role,
            // The only place where a command outputs the text of a link.
            "link": format!("{LINK_PATH}{}", token.reveal()),
            "expiresAt": act.at.plus_millis(LINK_MILLIS).to_string(),
            "next": "put the address of your service in front of the link and give it to the owner; it works once",
        }))
    }

    fn account_json(&self, view: &AccountView) -> Value {
        let mut shown = account_json(view);
        if let Some(person) = self.accounts.person(view.record.id) {
            shown["signsInAs"] = json!(person.login);
            shown["role"] = json!(person.role);
        }
        shown
    }
}

fn account_json(view: &AccountView) -> Value {
    let record = &view.record;
    json!({
        "id": record.id,
        "name": record.name,
        "status": record.status,
        "tier": record.tier,
        "creditsRemaining": view.remaining.wallet,
        "allotmentRemaining": view.remaining.allotment,
        "companyFormed": record.company_formed,
        "createdAt": record.created_at.to_string(),
    })
}

fn purchase_json(record: &PurchaseRecord) -> Value {
    json!({
        "id": record.id,
        "account": record.account,
        "pack": record.pack,
        "status": record.status,
        "priceCents": record.price_cents,
        "credits": record.credits,
        "entry": record.entry,
        "paymentReference": record.payment_reference,
        "requestedAt": record.requested_at.to_string(),
        "settledAt": time(record.settled_at),
    })
}

fn order_json(record: &OrderRecord) -> Value {
    json!({
        "id": record.id,
        "account": record.account,
        "state": record.stage().name(),
        "entityName": record.entity_name,
        "entityType": record.entity_type,
        "jurisdiction": record.jurisdiction,
        "priceCents": record.price_cents,
        "paidAt": time(record.payment.as_ref().map(|payment| payment.at)),
        "paymentReference": record.payment.as_ref().and_then(|payment| payment.reference.as_ref()),
        "updatedAt": time(record.stages.last().map(|reached| reached.at)),
    })
}

fn move_json(reached: &StageReached) -> Value {
    json!({ "stage": reached.stage, "at": reached.at.to_string(), "actor": reached.actor })
}

fn time(at: Option<UnixMillis>) -> Value {
    at.map_or(Value::Null, |at| json!(at.to_string()))
}
