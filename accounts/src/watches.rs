//! What keys watch, and what was reported to them: the stored records, and how they are read.
//!
//! After each swap of snapshots, the program compares the two and stores one report for each key whose watches something
//! concerns. A report that is still to be sent to a webhook is found by an index, so that a restart loses none.

use std::fmt;

use hornbook_base::clock::UnixMillis;
use hornbook_base::hex;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use super::Accounts;
use super::directory::KeyState;
use super::entropy::Entropy;
use super::error::ChangeError;
use super::ids::{AccountId, KeyId, WatchId};
use super::records::{AccountStatus, all_from_json, read_json};
use super::sealing::Owner;
use super::state::{Index, StateTable};
use super::visible_text::VisibleText;

/// The maximum number of watches of a key.
pub const WATCHES_MAX: usize = 1_000;

/// The newest reports of a key are kept, up to this number.
pub const REPORTS_MAX: usize = 50;

/// A report lists this many changes at most, and says how many there are.
pub const REPORTED_CHANGES_MAX: usize = 1_000;

/// To which addresses reports may be sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum WebhookPolicy {
    /// To none.
    #[default]
    Off,
    /// Over TLS, and to addresses of the public internet.
    Public,
    /// To any, also within the operator's own network.
    Any,
}

/// Something that a key watches.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WatchRecord {
    pub id: WatchId,
    pub key: KeyId,
    pub created_at: UnixMillis,
    pub subject: WatchSubject,
    /// What its owner calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<VisibleText>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum WatchSubject {
    /// A provision or container, under whatever number.
    Node(Uuid),
    /// Whatever has this number.
    Citation(String),
    Search(SavedSearch),
}

/// A search whose first results are watched.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SavedSearch {
    pub q: String,
    /// Short codes; empty: all.
    pub jurisdictions: Vec<String>,
    /// Empty: all.
    pub code_bodies: Vec<Uuid>,
}

/// What one swap of snapshots changed for the watches of a key.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WatchReport {
    pub key: KeyId,
    /// The number of the swap.
    pub swap: u32,
    pub at: UnixMillis,
    /// The snapshots before and after.
    pub from: String,
    pub to: String,
    /// The number of changes; more than are listed if there were very many.
    pub total: u32,
    pub changes: Vec<WatchedChange>,
    /// Why the changes are not known, if they are not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown: Option<String>,
    /// None if the key had no webhook.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery: Option<Delivery>,
}

/// A change, and the watches that it concerns.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WatchedChange {
    pub watches: Vec<WatchId>,
    /// As `changes` lists it.
    pub change: Value,
}

/// How far a report has come on its way to a webhook.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Delivery {
    pub state: DeliveryState,
    pub attempts: u32,
    /// When it is sent next, or when it was delivered or given up.
    pub at: UnixMillis,
    /// Why the last attempt failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum DeliveryState {
    Waiting,
    Delivered,
    GivenUp,
}

impl DeliveryState {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Delivered => "delivered",
            Self::GivenUp => "givenUp",
        }
    }
}

/// Where the reports of a key are sent. `Debug` does not show the address, which may contain a secret.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WatchWebhook {
    pub key: KeyId,
    pub url: String,
    /// Chosen at random with each address. The secret that signs is derived from it.
    pub(crate) id: Uuid,
    pub set_at: UnixMillis,
}

impl fmt::Debug for WatchWebhook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WatchWebhook").field("key", &self.key).finish_non_exhaustive()
    }
}

/// The last swap that was reported.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ReportedSwap {
    pub number: u32,
    /// The snapshot that was served after it.
    pub snapshot: String,
}

pub(crate) const REPORTED_SWAP_KEY: &[u8] = b"reported-swap";

impl Accounts {
    /// The watches of a key, the oldest first.
    pub fn watches(&self, key: KeyId) -> Result<Vec<WatchRecord>, ChangeError> {
        let found = self.shared.with_reading(|reading| {
            all_from_json(Index::Watches, &reading.owned_by(Index::Watches, &key.to_string())?)
        });
        Ok(found?)
    }

    /// The reports for a key, the newest first.
    pub fn watch_reports(&self, key: KeyId) -> Result<Vec<WatchReport>, ChangeError> {
        let owner = key.to_string();
        let found = self.shared.with_reading(|reading| {
            let newest = reading.newest_owned_by(Index::WatchReports, &owner, REPORTS_MAX)?;
            all_from_json(Index::WatchReports, &newest)
        });
        Ok(found?)
    }

    /// The reports that are still to be sent, the oldest first.
    pub fn waiting_reports(&self) -> Result<Vec<WatchReport>, ChangeError> {
        let found = self.shared.with_reading(|reading| {
            all_from_json(Index::WaitingReports, &reading.owned_by(Index::WaitingReports, "waiting")?)
        });
        Ok(found?)
    }

    pub fn watch_webhook(&self, key: KeyId) -> Result<Option<WatchWebhook>, ChangeError> {
        Ok(self.shared.with_reading(|reading| read_json(reading, StateTable::WatchWebhooks, &key.to_key()))?)
    }

    /// The secret that signs what is sent to a webhook. It is stored nowhere.
    pub fn webhook_secret(&self, webhook: &WatchWebhook, entropy: &mut dyn Entropy) -> Result<String, ChangeError> {
        let owner = Owner { kind: "watch webhook", id: webhook.id, secret: webhook.id.as_bytes() };
        let mut bytes = [0; 32];
        self.shared.seal_key(entropy)?.derived(owner).fill(&mut bytes).map_err(ChangeError::Entropy)?;
        Ok(format!("whsec_{}", hex::encode(&bytes)))
    }

    pub fn reported_swap(&self) -> Result<Option<ReportedSwap>, ChangeError> {
        Ok(self.shared.with_reading(|reading| read_json(reading, StateTable::Meta, REPORTED_SWAP_KEY))?)
    }

    /// The keys of an account that work, or of all accounts, in the order of their numbers.
    pub fn watching_keys(&self, account: Option<AccountId>, now: UnixMillis) -> Vec<KeyId> {
        let directory = self.shared.directory();
        let works = |key: &KeyState| {
            key.is_live(now)
                && directory
                    .account(key.account.id)
                    .is_some_and(|account| account.record().status == AccountStatus::Approved)
        };
        let of_account = directory.keys().filter(|key| account.is_none_or(|account| key.account.id == account));
        let mut keys: Vec<KeyId> = of_account.filter(|key| works(key)).map(|key| key.id).collect();
        keys.sort_unstable();
        keys
    }
}
