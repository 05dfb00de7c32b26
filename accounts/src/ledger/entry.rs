//! One ledger entry: the amount, the account, the reason and the balance after it.

use hornbook_base::clock::{Month, UnixMillis};
use sha2::{Digest, Sha256};

use crate::ids::{AccountId, EntryNumber, KeyId, PurchaseId};
use crate::state::codec::{Decoder, Malformed, RecordEncoder};

#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum EntryKind {
    Usage,
    Grant,
    Purchase,
    Refund,
    Adjustment,
}

impl EntryKind {
    const ALL: [Self; 5] = [Self::Usage, Self::Grant, Self::Purchase, Self::Refund, Self::Adjustment];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Usage => "usage",
            Self::Grant => "grant",
            Self::Purchase => "purchase",
            Self::Refund => "refund",
            Self::Adjustment => "adjustment",
        }
    }
}

/// The object that an entry refers to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reference {
    None,
    /// The usage entry that a refund gives back.
    Entry(EntryNumber),
    Purchase(PurchaseId),
}

/// The actor and the reason of an entry; usage needs neither.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct EntryNote {
    pub(crate) actor: String,
    pub(crate) reason: String,
}

/// The short number of an operation's name; a separate table contains the names.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct OperationCode(pub(crate) u16);

/// An entry before it is appended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Draft {
    pub(crate) at: UnixMillis,
    pub(crate) kind: EntryKind,
    pub(crate) account: AccountId,
    pub(crate) key: Option<KeyId>,
    pub(crate) operation: Option<OperationCode>,
    /// The credits that the account gained; negative for usage.
    pub(crate) credits: i64,
    /// The part of a usage that the allotment paid; negative in a refund.
    pub(crate) from_allotment: i64,
    /// The month of that allotment.
    pub(crate) month: Month,
    pub(crate) reference: Reference,
    pub(crate) note: Option<EntryNote>,
}

impl Draft {
    /// A change of a wallet that is not a call.
    pub(crate) fn correction(
        account: AccountId,
        kind: EntryKind,
        credits: i64,
        at: UnixMillis,
        reference: Reference,
        note: EntryNote,
    ) -> Self {
        let (month, note) = (at.month(), Some(note));
        Self { at, kind, account, key: None, operation: None, credits, from_allotment: 0, month, reference, note }
    }

    /// The refund of this debit, given the debit's number.
    pub(crate) fn refunded(self, debit: EntryNumber) -> Self {
        Self {
            kind: EntryKind::Refund,
            credits: -self.credits,
            from_allotment: -self.from_allotment,
            reference: Reference::Entry(debit),
            note: Some(EntryNote {
                actor: "system".to_owned(),
                reason: "the response to the call was not 200".to_owned(),
            }),
            ..self
        }
    }

    /// The credits that a usage cost.
    pub(crate) fn charged(&self) -> u32 {
        u32::try_from(-self.credits).unwrap_or(0)
    }

    /// The credits that the wallet gained.
    pub(crate) fn to_wallet(&self) -> i64 {
        self.credits + self.from_allotment
    }

    /// Bought credits that are taken back, whether or not they were spent.
    pub(crate) fn taken_back(&self) -> i64 {
        match (self.kind, self.reference) {
            (EntryKind::Refund, Reference::Purchase(_)) => -self.credits,
            _ => 0,
        }
    }
}

/// An entry with its number and its balance.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Entry {
    pub(crate) number: EntryNumber,
    pub(crate) draft: Draft,
    /// The account's previous entry.
    pub(crate) previous: Option<EntryNumber>,
    /// The account's wallet after this entry.
    pub(crate) balance_after: i64,
}

const HAS_KEY: u8 = 1 << 3;
const HAS_OPERATION: u8 = 1 << 4;
const HAS_NOTE: u8 = 1 << 5;
const REFERS_TO_ENTRY: u8 = 1 << 6;
const REFERS_TO_PURCHASE: u8 = 1 << 7;

impl Entry {
    /// The time and the key, if this is a charged call.
    pub(super) fn charged_call(&self) -> Option<(UnixMillis, KeyId)> {
        match (self.draft.kind, self.draft.key) {
            (EntryKind::Usage, Some(key)) => Some((self.draft.at, key)),
            _ => None,
        }
    }

    /// The hash that links the entry: over the hash of the entry before, then every field at full width.
    pub(crate) fn hash_after(&self, before: &[u8; 32]) -> [u8; 32] {
        let draft = &self.draft;
        let mut hashed = [0u8; 104];
        hashed[..32].copy_from_slice(before);
        let (reference_tag, reference) = match draft.reference {
            Reference::None => (0u8, 0),
            Reference::Entry(number) => (1, number.0),
            Reference::Purchase(id) => (2, u64::from(id.0)),
        };
        let fields: [&[u8]; 13] = [
            &self.number.0.to_le_bytes(),
            &draft.at.0.to_le_bytes(),
            &[draft.kind as u8 | reference_tag << 4],
            &draft.account.0.to_le_bytes(),
            &draft.key.map_or(0, |key| key.0).to_le_bytes(),
            &draft.operation.map_or(0, |operation| operation.0).to_le_bytes(),
            &(draft.credits as i32).to_le_bytes(),
            &(draft.from_allotment as i32).to_le_bytes(),
            &draft.month.0.to_le_bytes(),
            &self.balance_after.to_le_bytes(),
            &self.previous.map_or(0, |number| number.0).to_le_bytes(),
            &reference.to_le_bytes(),
            &[u8::from(draft.note.is_some())],
        ];
        let mut at = 32;
        for field in fields {
            hashed[at..at + field.len()].copy_from_slice(field);
            at += field.len();
        }
        let mut hasher = Sha256::new();
        hasher.update(&hashed[..at]);
        if let Some(note) = &draft.note {
            hasher.update((note.actor.len() as u64).to_le_bytes());
            hasher.update(&note.actor);
            hasher.update(&note.reason);
        }
        hasher.finalize().into()
    }

    /// Encodes the entry in compact form. The time is the difference from the entry before it in its block.
    pub(crate) fn encode(&self, after: UnixMillis, to: &mut RecordEncoder) {
        let draft = &self.draft;
        let mut flags = draft.kind as u8;
        flags |= if draft.key.is_some() { HAS_KEY } else { 0 };
        flags |= if draft.operation.is_some() { HAS_OPERATION } else { 0 };
        flags |= if draft.note.is_some() { HAS_NOTE } else { 0 };
        flags |= match draft.reference {
            Reference::None => 0,
            Reference::Entry(_) => REFERS_TO_ENTRY,
            Reference::Purchase(_) => REFERS_TO_PURCHASE,
        };
        to.byte(flags);
        to.unsigned(draft.account.0.into());
        if let Some(key) = draft.key {
            to.unsigned(key.0.into());
        }
        if let Some(operation) = draft.operation {
            to.unsigned(operation.0.into());
        }
        to.signed(draft.at.0.wrapping_sub(after.0));
        to.signed(draft.credits);
        to.signed(draft.from_allotment);
        to.signed(i64::from(draft.month.0) - i64::from(draft.at.month().0));
        to.signed(self.balance_after);
        to.unsigned(self.previous.map_or(0, |previous| self.number.0 - previous.0));
        match draft.reference {
            Reference::None => {}
            Reference::Entry(number) => to.unsigned(number.0),
            Reference::Purchase(id) => to.unsigned(id.0.into()),
        }
        if let Some(note) = &draft.note {
            to.text(&note.actor);
            to.text(&note.reason);
        }
    }

    pub(crate) fn decode(number: EntryNumber, after: UnixMillis, from: &mut Decoder<'_>) -> Result<Self, Malformed> {
        let flags = from.byte()?;
        let kind = *EntryKind::ALL.get(usize::from(flags & 7)).ok_or(Malformed)?;
        let account = AccountId(from.number()?);
        let key = if flags & HAS_KEY != 0 { Some(KeyId(from.number()?)) } else { None };
        let operation = if flags & HAS_OPERATION != 0 { Some(OperationCode(from.number()?)) } else { None };
        let at = UnixMillis(after.0.wrapping_add(from.signed()?));
        let credits = i64::from(from.integer::<i32>()?);
        let from_allotment = i64::from(from.integer::<i32>()?);
        let month = i32::try_from(from.signed()?.checked_add(at.month().0.into()).ok_or(Malformed)?);
        let balance_after = from.signed()?;
        let distance: u64 = from.number()?;
        let previous = match distance {
            0 => None,
            distance => Some(EntryNumber(number.0.checked_sub(distance).ok_or(Malformed)?)),
        };
        let reference = match flags & (REFERS_TO_ENTRY | REFERS_TO_PURCHASE) {
            0 => Reference::None,
            REFERS_TO_ENTRY => Reference::Entry(EntryNumber(from.number()?)),
            REFERS_TO_PURCHASE => Reference::Purchase(PurchaseId(from.number()?)),
            _ => return Err(Malformed),
        };
        let note = if flags & HAS_NOTE != 0 {
            Some(EntryNote { actor: from.text()?.to_owned(), reason: from.text()?.to_owned() })
        } else {
            None
        };
        let month = Month(month.map_err(|_| Malformed)?);
        let draft = Draft { at, kind, account, key, operation, credits, from_allotment, month, reference, note };
        Ok(Self { number, draft, previous, balance_after })
    }
}
