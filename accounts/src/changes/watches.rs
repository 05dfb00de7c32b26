//! Adds and removes watches, sets where reports are sent, and stores reports and their deliveries.

use hornbook_base::clock::UnixMillis;

use super::act::{ActContext, audit};
use super::keys::{check_is_live, key};
use super::orders::random_uuid;
use super::run::{last_ids, no_memory_effect};
use super::watch_records::{forget_watches, report_key};
use crate::Accounts;
use crate::entropy::Entropy;
use crate::error::ChangeError;
use crate::ids::{KeyId, WatchId};
use crate::records::{LAST_IDS_KEY, get_json, owned_json, put_json};
use crate::state::{Index, StateTable};
use crate::visible_text::VisibleText;
use crate::watches::{
    Delivery, DeliveryState, REPORTED_SWAP_KEY, REPORTS_MAX, ReportedSwap, WATCHES_MAX, WatchRecord, WatchReport,
    WatchSubject, WatchWebhook, WebhookPolicy,
};

/// The maximum length of the address of a webhook.
const URL_BYTES_MAX: usize = 2_000;

impl Accounts {
    /// Watches something for a key. A key that watches it already keeps its watch. The second value is whether the
    /// watch is new.
    pub fn add_watch(
        &self,
        owner: KeyId,
        subject: WatchSubject,
        name: Option<String>,
        at: UnixMillis,
    ) -> Result<(WatchRecord, bool), ChangeError> {
        let name = name.map(|name| VisibleText::new("name", name)).transpose()?;
        self.change(move |poster| {
            check_is_live(&key(poster, owner)?, at)?;
            let watches: Vec<WatchRecord> = owned_json(&poster.writing, Index::Watches, &owner)?;
            if let Some(known) = watches.iter().find(|known| known.subject == subject) {
                return Ok(((known.clone(), false), no_memory_effect()));
            }
            if watches.len() >= WATCHES_MAX {
                let message = format!("{owner} watches {WATCHES_MAX} things, which is the maximum; remove some");
                return Err(ChangeError::Refused(message));
            }
            let mut ids = last_ids(poster)?;
            ids.watch += 1;
            let record = WatchRecord { id: WatchId(ids.watch), key: owner, created_at: at, subject, name };
            put_json(&mut poster.writing, StateTable::Meta, LAST_IDS_KEY, &ids)?;
            put_json(&mut poster.writing, StateTable::Watches, &record.id.to_key(), &record)?;
            Ok(((record, true), no_memory_effect()))
        })
    }

    /// Removes a watch of one of these keys.
    pub fn remove_watch(&self, owners: &[KeyId], id: WatchId) -> Result<WatchRecord, ChangeError> {
        let owners = owners.to_vec();
        self.change(move |poster| {
            let known: Option<WatchRecord> = get_json(&poster.writing, StateTable::Watches, &id.to_key())?;
            let known = known.filter(|known| owners.contains(&known.key));
            let record = known.ok_or_else(|| ChangeError::not_found("watch", id))?;
            poster.writing.remove(StateTable::Watches, &id.to_key())?;
            Ok((record, no_memory_effect()))
        })
    }

    /// Sets where the reports of a key are sent, with a new secret; `None`: nowhere.
    pub fn set_watch_webhook(
        &self,
        owner: KeyId,
        url: Option<String>,
        act: &ActContext,
        entropy: &mut dyn Entropy,
    ) -> Result<Option<WatchWebhook>, ChangeError> {
        if let Some(url) = &url {
            check_webhook(self.settings().webhooks, url)?;
        }
        let (id, act) = (random_uuid(entropy)?, act.clone());
        self.change(move |poster| {
            let record = key(poster, owner)?;
            check_is_live(&record, act.at)?;
            let webhook = url.map(|url| WatchWebhook { key: owner, url, id, set_at: act.at });
            let what = match &webhook {
                Some(webhook) => {
                    put_json(&mut poster.writing, StateTable::WatchWebhooks, &owner.to_key(), webhook)?;
                    "webhook set"
                }
                None => {
                    poster.writing.remove(StateTable::WatchWebhooks, &owner.to_key())?;
                    "webhook remove"
                }
            };
            audit(poster, &act, what, &[&owner, &" of ", &record.account])?;
            Ok((webhook, no_memory_effect()))
        })
    }

    /// Stores a report, and removes the oldest beyond the maximum. A report of the same swap for the same key, which a
    /// run that was interrupted stored, stays as it is. Watches that `followed` names watch something else from now on.
    pub fn store_watch_report(
        &self,
        report: WatchReport,
        followed: Vec<(WatchId, WatchSubject)>,
    ) -> Result<(), ChangeError> {
        self.change(move |poster| {
            if poster.writing.get(StateTable::WatchReports, &report_key(&report))?.is_some() {
                return Ok(((), no_memory_effect()));
            }
            for (id, subject) in followed {
                let known: Option<WatchRecord> = get_json(&poster.writing, StateTable::Watches, &id.to_key())?;
                if let Some(known) = known {
                    let record = WatchRecord { subject, ..known };
                    put_json(&mut poster.writing, StateTable::Watches, &id.to_key(), &record)?;
                }
            }
            let has_webhook = poster.writing.get(StateTable::WatchWebhooks, &report.key.to_key())?.is_some();
            let delivery = has_webhook.then_some(Delivery {
                state: DeliveryState::Waiting,
                attempts: 0,
                at: report.at,
                why: None,
            });
            let kept: Vec<WatchReport> = owned_json(&poster.writing, Index::WatchReports, &report.key)?;
            let surplus = (kept.len() + 1).saturating_sub(REPORTS_MAX);
            for oldest in &kept[..surplus.min(kept.len())] {
                poster.writing.remove(StateTable::WatchReports, &report_key(oldest))?;
            }
            let report = WatchReport { delivery, ..report };
            put_json(&mut poster.writing, StateTable::WatchReports, &report_key(&report), &report)?;
            Ok(((), no_memory_effect()))
        })
    }

    /// Records that a swap is reported to all keys.
    pub fn set_reported_swap(&self, swap: ReportedSwap) -> Result<(), ChangeError> {
        self.change(move |poster| {
            put_json(&mut poster.writing, StateTable::Meta, REPORTED_SWAP_KEY, &swap)?;
            Ok(((), no_memory_effect()))
        })
    }

    /// Records what became of an attempt to send a report, unless the report is gone.
    pub fn set_delivery(&self, owner: KeyId, swap: u32, delivery: Delivery) -> Result<(), ChangeError> {
        self.change(move |poster| {
            let reports: Vec<WatchReport> = owned_json(&poster.writing, Index::WatchReports, &owner)?;
            if let Some(known) = reports.into_iter().find(|report| report.swap == swap) {
                let report = WatchReport { delivery: Some(delivery), ..known };
                put_json(&mut poster.writing, StateTable::WatchReports, &report_key(&report), &report)?;
            }
            Ok(((), no_memory_effect()))
        })
    }

    /// Removes the watches, reports and webhooks of keys that no longer work. Such a key cannot be used again.
    pub fn forget_watches_of_ended_keys(&self, now: UnixMillis) -> Result<(), ChangeError> {
        let live = self.watching_keys(None, now);
        let ended: Vec<KeyId> = self.keys(None).into_iter().map(|view| view.record.id).collect();
        for id in ended.into_iter().filter(|id| live.binary_search(id).is_err()) {
            // Only an end is for good: an account that is disabled may be approved again.
            let has_ended = self.key_record(id).is_ok_and(|record| check_is_live(&record, now).is_err());
            if has_ended && !(self.watches(id)?.is_empty() && self.watch_webhook(id)?.is_none()) {
                self.change(move |poster| {
                    forget_watches(poster, id)?;
                    Ok(((), no_memory_effect()))
                })?;
            }
        }
        Ok(())
    }
}

/// Refuses what no report could be sent to. Whether its host is within the operator's network is known only when it is
/// looked up, each time that something is sent.
fn check_webhook(policy: WebhookPolicy, url: &str) -> Result<(), ChangeError> {
    let is_encrypted = url.starts_with("https://");
    let fault = match policy {
        WebhookPolicy::Off => "this server sends no reports; its operator can allow it with watches.webhooks",
        WebhookPolicy::Public if !is_encrypted => "the address of a webhook begins with https://",
        WebhookPolicy::Any if !is_encrypted && !url.starts_with("http://") => {
            "the address of a webhook begins with https:// or http://"
        }
        _ if url.len() > URL_BYTES_MAX => "the address of a webhook has at most 2,000 bytes",
        _ if !url.bytes().all(|byte| byte.is_ascii_graphic()) => {
            "the address of a webhook has only letters, digits and signs of ASCII; write others as %C3%A9"
        }
        _ => return Ok(()),
    };
    Err(ChangeError::Refused(fault.to_owned()))
}
