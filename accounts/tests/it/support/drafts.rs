//! Shared by the tests of drafts and orders: an intake, and the steps of the program and of the person.

use hornbook_accounts::changes::{Acceptance, DraftContent, DraftView, OpenedDraft};
use hornbook_accounts::entropy::SeededEntropy;
use hornbook_accounts::error::ChangeError;
use hornbook_accounts::ids::AccountId;
use hornbook_accounts::key::LinkToken;
use hornbook_accounts::{Accounts, Settings};
use hornbook_base::clock::{ManualClock, Now};
use serde_json::json;

use super::disk::SimulatedDisk;
use super::{act, create_customer, now_of, start_accounts};

pub(crate) const DAY_MILLIS: u64 = 86_400_000;

/// Words that occur nowhere else.
pub(crate) const PRIVATE: [&str; 4] =
    ["Quillibrant Ondarza", "77 Vexley Terrace", "q.ondarza@mail.example", "Ondarza Holdings LLC"];

pub(crate) fn draft_content(name: &str) -> DraftContent {
    DraftContent {
        entity_name: name.to_owned(),
        entity_type: "llc".to_owned(),
        jurisdiction: "DE".to_owned(),
        price_cents: Some(21_900),
        service_fee_cents: None,
        intake: json!({
            "names": [name],
            "people": [{ "name": PRIVATE[0], "address": { "street": PRIVATE[1] }, "email": PRIVATE[2] }],
        }),
    }
}

pub(crate) fn open(accounts: &Accounts, owner: AccountId, now: Now, seed: u64) -> Result<OpenedDraft, ChangeError> {
    let content = draft_content("Ondarza Holdings LLC");
    let opened = accounts.open_draft(owner, &content, None, now.wall, &mut SeededEntropy(seed))?;
    Ok(opened.expect("a draft without an idempotency key is always opened"))
}

pub(crate) fn accept(
    accounts: &Accounts,
    token: &LinkToken,
    now: Now,
    seed: u64,
) -> Result<Option<Acceptance>, ChangeError> {
    accounts.accept_draft(token, &act(now), &mut SeededEntropy(seed))
}

pub(crate) fn view_draft(accounts: &Accounts, token: &LinkToken, now: Now) -> Option<DraftView> {
    accounts.draft(token, now.wall, &mut SeededEntropy(0)).unwrap()
}

pub(crate) fn start_with_customer(clock: &ManualClock, settings: Settings) -> (SimulatedDisk, Accounts, AccountId) {
    let disk = SimulatedDisk::with_schema();
    let accounts = start_accounts(disk.medium(), settings, now_of(clock));
    let owner = create_customer(&accounts, 0, 1, now_of(clock)).account;
    (disk, accounts, owner)
}
