//! The records about the watches of a key: how they are found, handed over to another key, and removed.

use crate::ids::KeyId;
use crate::ledger::poster::LedgerTransaction;
use crate::records::{get_json, owned_json, put_json};
use crate::state::{Index, StateError, StateTable};
use crate::watches::{WatchRecord, WatchReport, WatchWebhook};

/// Sorted by swaps, so that the index of a key lists its oldest reports first.
pub(super) fn report_key(report: &WatchReport) -> Vec<u8> {
    [report.swap.to_be_bytes(), report.key.to_key()].concat()
}

/// Removes everything about the watches of a key.
pub(super) fn forget_watches(poster: &mut LedgerTransaction<'_>, owner: KeyId) -> Result<(), StateError> {
    for watch in owned_json::<WatchRecord>(&poster.writing, Index::Watches, &owner)? {
        poster.writing.remove(StateTable::Watches, &watch.id.to_key())?;
    }
    for report in owned_json::<WatchReport>(&poster.writing, Index::WatchReports, &owner)? {
        poster.writing.remove(StateTable::WatchReports, &report_key(&report))?;
    }
    poster.writing.remove(StateTable::WatchWebhooks, &owner.to_key())
}

/// Gives everything about the watches of a key to the key that replaces it. The secret of the webhook stays the same.
pub(super) fn hand_over_watches(poster: &mut LedgerTransaction<'_>, old: KeyId, new: KeyId) -> Result<(), StateError> {
    for watch in owned_json::<WatchRecord>(&poster.writing, Index::Watches, &old)? {
        let record = WatchRecord { key: new, ..watch };
        put_json(&mut poster.writing, StateTable::Watches, &record.id.to_key(), &record)?;
    }
    for report in owned_json::<WatchReport>(&poster.writing, Index::WatchReports, &old)? {
        poster.writing.remove(StateTable::WatchReports, &report_key(&report))?;
        let report = WatchReport { key: new, ..report };
        put_json(&mut poster.writing, StateTable::WatchReports, &report_key(&report), &report)?;
    }
    let webhook: Option<WatchWebhook> = get_json(&poster.writing, StateTable::WatchWebhooks, &old.to_key())?;
    if let Some(webhook) = webhook {
        poster.writing.remove(StateTable::WatchWebhooks, &old.to_key())?;
        let webhook = WatchWebhook { key: new, ..webhook };
        put_json(&mut poster.writing, StateTable::WatchWebhooks, &new.to_key(), &webhook)?;
    }
    Ok(())
}
