//! Secondary indexes: the records of a table that belong to one account, or to one payment.
//! [`StateWriter`](super::StateWriter) updates them with every record that it puts or removes, from the
//! record itself, so that no change can forget them.

use serde_json::Value;

use super::error::StateError;
use super::table::StateTable;

/// One index: maps an owner, as named in the records, to its records.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Index {
    /// "pending" -> the accounts that people created themselves and that wait for approval.
    PendingSignUps,
    /// Account -> its keys, including the revoked ones.
    Keys,
    /// Account -> its purchases.
    Purchases,
    /// Account -> its purchases that wait for their payment.
    WaitingPurchases,
    /// Hash of an idempotency key -> the purchase that was requested with it.
    PurchasesByRetry,
    /// Account -> its orders.
    Orders,
    /// Account -> its orders that are not completed.
    OpenOrders,
    /// Account -> its sessions.
    Sessions,
    /// Account -> its drafts that wait for a review.
    OpenDrafts,
    /// Account -> the links that let its person sign in.
    Links,
    /// Purpose of a link without an account -> those links.
    LinksByPurpose,
    /// Order -> the checkouts at which it can be paid.
    CheckoutsByOrder,
    /// Reference of a payment -> the checkout at which it arrived.
    CheckoutsByPayment,
    /// Account -> its checkouts with a problem.
    PaymentProblems,
    /// Key -> its watches.
    Watches,
    /// Key -> the reports for its watches.
    WatchReports,
    /// "waiting" -> the reports that are still to be sent.
    WaitingReports,
}

impl Index {
    pub(super) const ALL: [Self; 17] = [
        Self::PendingSignUps,
        Self::Keys,
        Self::Purchases,
        Self::WaitingPurchases,
        Self::PurchasesByRetry,
        Self::Orders,
        Self::OpenOrders,
        Self::Sessions,
        Self::OpenDrafts,
        Self::Links,
        Self::LinksByPurpose,
        Self::CheckoutsByOrder,
        Self::CheckoutsByPayment,
        Self::PaymentProblems,
        Self::Watches,
        Self::WatchReports,
        Self::WaitingReports,
    ];

    /// The table whose records the index finds.
    pub(crate) const fn table(self) -> StateTable {
        match self {
            Self::PendingSignUps => StateTable::Accounts,
            Self::Keys => StateTable::Keys,
            Self::Purchases | Self::WaitingPurchases | Self::PurchasesByRetry => StateTable::Purchases,
            Self::Orders | Self::OpenOrders => StateTable::Orders,
            Self::Sessions => StateTable::Sessions,
            Self::OpenDrafts => StateTable::Drafts,
            Self::Links | Self::LinksByPurpose => StateTable::Links,
            Self::CheckoutsByOrder | Self::CheckoutsByPayment | Self::PaymentProblems => StateTable::Checkouts,
            Self::Watches => StateTable::Watches,
            Self::WatchReports | Self::WaitingReports => StateTable::WatchReports,
        }
    }

    /// The stored number. A number is never reused for another index.
    pub(super) const fn number(self) -> u8 {
        match self {
            Self::Keys => 1,
            Self::Purchases => 2,
            Self::WaitingPurchases => 3,
            Self::PurchasesByRetry => 4,
            Self::Orders => 5,
            Self::OpenOrders => 6,
            Self::Sessions => 7,
            Self::OpenDrafts => 8,
            Self::Links => 9,
            Self::LinksByPurpose => 10,
            Self::CheckoutsByOrder => 11,
            Self::CheckoutsByPayment => 12,
            Self::PaymentProblems => 13,
            Self::PendingSignUps => 14,
            Self::Watches => 15,
            Self::WatchReports => 16,
            Self::WaitingReports => 17,
        }
    }

    pub(super) fn of(table: StateTable) -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(move |index| index.table() == table)
    }

    fn owner(self, record: &Value) -> Option<&str> {
        let text = |path: &str| record.pointer(path).and_then(Value::as_str);
        let last_stage = || record.pointer("/stages").and_then(Value::as_array).and_then(|stages| stages.last());
        match self {
            Self::PendingSignUps => {
                text("/status").filter(|status| *status == "pending" && record["signedUp"] == Value::Bool(true))
            }
            Self::Keys | Self::Purchases | Self::Orders | Self::Sessions => text("/account"),
            Self::WaitingPurchases => text("/account").filter(|_| text("/status") == Some("requested")),
            Self::PurchasesByRetry => text("/retry"),
            Self::OpenOrders => {
                text("/account").filter(|_| last_stage().is_none_or(|reached| reached["stage"] != "completed"))
            }
            Self::OpenDrafts => text("/account").filter(|_| record.pointer("/state/open").is_some()),
            Self::Links => text("/purpose/signIn/account"),
            Self::LinksByPurpose => text("/purpose"),
            Self::CheckoutsByOrder => text("/pays/order"),
            Self::CheckoutsByPayment => text("/payment"),
            Self::PaymentProblems => text("/account").filter(|_| record.pointer("/problems/0").is_some()),
            Self::Watches | Self::WatchReports => text("/key"),
            Self::WaitingReports => text("/delivery/state").filter(|state| *state == "waiting"),
        }
    }

    /// The prefix of the keys of all entries of this owner. It contains the length, so that no
    /// owner's prefix is the beginning of another's.
    fn prefix(self, owner: &str) -> Vec<u8> {
        let mut key = vec![self.number()];
        key.extend_from_slice(&(owner.len() as u32).to_be_bytes());
        key.extend_from_slice(owner.as_bytes());
        key
    }
}

impl Index {
    /// The first possible entry of an owner, and the end of its entries. Keys of records have at most 63 bytes.
    pub(super) fn entries(self, owner: &str) -> (Vec<u8>, Vec<u8>) {
        let prefix = self.prefix(owner);
        let end = [&prefix[..], &[0xff; 64]].concat();
        (prefix, end)
    }
}

/// The key of the record that an index entry points to.
pub(super) fn record_key_of(entry: &[u8]) -> Option<&[u8]> {
    let (length, rest) = entry.get(1..)?.split_first_chunk()?;
    rest.get(u32::from_be_bytes(*length) as usize..)
}

/// The keys of a record's index entries.
pub(super) fn entries_of(table: StateTable, key: &[u8], payload: &[u8]) -> Result<Vec<Vec<u8>>, StateError> {
    let record = serde_json::from_slice::<Value>(payload).map_err(|_| StateError::bad_record(table.name(), key))?;
    let owned = Index::of(table).filter_map(|index| Some(index.prefix(index.owner(&record)?)));
    Ok(owned.map(|prefix| [&prefix[..], key].concat()).collect())
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;
    use crate::state::State;
    use hornbook_base::random::SplitMix64;

    #[test]
    fn numbers_are_unique() {
        let numbers: BTreeSet<u8> = Index::ALL.iter().map(|index| index.number()).collect();
        assert_eq!(numbers.len(), Index::ALL.len());
    }

    fn record(random: &mut SplitMix64) -> Value {
        let account = format!("acct-{}", random.below(12));
        let some = |text: &str, random: &mut SplitMix64| (random.below(2) == 0).then(|| text.to_owned());
        let status = ["requested", "pending", "paid"][random.index(3)];
        serde_json::json!({
            "account": some(&account, random),
            "key": some(&account, random),
            "delivery": {"state": if random.below(2) == 0 { "waiting" } else { "delivered" }},
            "status": status,
            "signedUp": random.below(2) == 0,
            "retry": some("r", random),
            "stages": [{"stage": "details"}, {"stage": some("completed", random)}],
            "state": if random.below(2) == 0 { serde_json::json!({"open": "sealed"}) } else { serde_json::json!({"accepted": {}}) },
            "purpose": if random.below(2) == 0 { serde_json::json!("firstOperator") } else { serde_json::json!({"signIn": {"account": account}}) },
            "pays": {"order": some(&account, random)},
            "payment": some(&account, random),
            "problems": some("paid twice", random).into_iter().collect::<Vec<_>>(),
        })
    }

    /// Makes random puts and removals in tables with indexes. Each index must find what a scan of
    /// all records finds.
    #[test]
    fn an_index_finds_what_a_scan_finds() {
        let data = tempfile::tempdir().unwrap();
        let state = State::open(data.path()).unwrap();
        let tables: Vec<StateTable> =
            StateTable::ALL.into_iter().filter(|table| Index::of(*table).next().is_some()).collect();
        assert_eq!(tables.len(), 10);
        let mut random = SplitMix64(7);
        let mut model: BTreeMap<(&str, Vec<u8>), Value> = BTreeMap::new();
        for round in 0..30 {
            let mut writing = state.write().unwrap();
            for _ in 0..40 {
                let table = tables[random.index(tables.len())];
                let key = vec![random.below(20) as u8; 1 + random.index(2)];
                match random.below(5) {
                    0 => {
                        writing.remove(table, &key).unwrap();
                        model.remove(&(table.name(), key));
                    }
                    1 if round % 10 == 9 => {
                        writing.clear_table(table).unwrap();
                        model.retain(|(name, _), _| *name != table.name());
                    }
                    _ => {
                        let record = record(&mut random);
                        writing.put(table, &key, record.to_string().as_bytes()).unwrap();
                        model.insert((table.name(), key), record);
                    }
                }
            }
            // A dropped transaction changes nothing.
            if round % 7 == 3 {
                drop(writing);
                let reading = state.read().unwrap();
                model.clear();
                for table in &tables {
                    reading
                        .scan(*table, &[], &mut |key, payload| {
                            model.insert((table.name(), key.to_vec()), serde_json::from_slice(payload).unwrap());
                            Ok(true)
                        })
                        .unwrap();
                }
            } else {
                writing.commit().unwrap();
            }
            let (reading, writing) = (state.read().unwrap(), state.write().unwrap());
            for index in Index::ALL {
                let of_table = model.iter().filter(|((name, _), _)| *name == index.table().name());
                let all = of_table.filter(|(_, record)| index.owner(record).is_some()).count();
                assert_eq!(reading.indexed(index).unwrap().len(), all, "{index:?}");
                for owner in (0..12)
                    .map(|number| format!("acct-{number}"))
                    .chain(["r", "firstOperator", "pending", "waiting"].map(str::to_owned))
                {
                    let of_table = model.iter().filter(|((name, _), _)| *name == index.table().name());
                    let expected: Vec<Vec<u8>> = of_table
                        .filter(|(_, record)| index.owner(record) == Some(&owner))
                        .map(|((_, key), _)| key.clone())
                        .collect();
                    let keys =
                        |found: Vec<(Vec<u8>, Vec<u8>)>| found.into_iter().map(|(key, _)| key).collect::<Vec<_>>();
                    assert_eq!(keys(reading.owned_by(index, &owner).unwrap()), expected, "{index:?} of {owner}");
                    assert_eq!(keys(writing.owned_by(index, &owner).unwrap()), expected, "{index:?} of {owner}");
                    let newest: Vec<Vec<u8>> = expected.into_iter().rev().take(2).collect();
                    assert_eq!(keys(reading.newest_owned_by(index, &owner, 2).unwrap()), newest);
                }
            }
        }
        assert!(!model.is_empty());
    }
}
