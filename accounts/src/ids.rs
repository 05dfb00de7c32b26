//! Ids and amounts, each with its own type, so that they cannot be confused.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

macro_rules! numbered {
    ($($(#[$doc:meta])* $name:ident, $prefix:literal, $what:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub struct $name(pub u32);

        impl $name {
            pub(crate) fn to_key(self) -> [u8; 4] {
                self.0.to_be_bytes()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }

        impl FromStr for $name {
            type Err = String;
            fn from_str(text: &str) -> Result<Self, String> {
                let number = text.strip_prefix($prefix).unwrap_or(text).parse();
                number.map(Self).map_err(|_| format!(concat!("'{}' is not a valid ", $what, ", such as ", $prefix, "17"), text))
            }
        }

        impl Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
            }
        }
    )*};
}
numbered!(
    /// An account; `acct-17`.
    AccountId, "acct-", "account id";
    /// A key of an account; `key-17`. The secret itself is [`super::key::PlainKey`].
    KeyId, "key-", "key id";
    /// A purchase of a pack; `buy-17`.
    PurchaseId, "buy-", "purchase id";
    /// Something that a key watches; `watch-17`.
    WatchId, "watch-", "watch id";
);

impl AccountId {
    pub(crate) fn from_key(key: &[u8]) -> Option<Self> {
        Some(Self(u32::from_be_bytes(key.try_into().ok()?)))
    }
}

impl KeyId {
    pub(crate) fn from_key(key: &[u8]) -> Option<Self> {
        Some(Self(u32::from_be_bytes(key.try_into().ok()?)))
    }
}

/// The number of an entry in the ledger; the first is 1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, Default)]
#[serde(transparent)]
pub struct EntryNumber(pub u64);

impl EntryNumber {
    pub(crate) fn to_key(self) -> [u8; 8] {
        self.0.to_be_bytes()
    }
}

impl fmt::Display for EntryNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A formation order: a random UUID.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct OrderId(pub uuid::Uuid);

impl fmt::Display for OrderId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.hyphenated().fmt(f)
    }
}

impl FromStr for OrderId {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        uuid::Uuid::try_parse(text).map(Self).map_err(|_| format!("'{text}' is not a valid order id, which is a UUID"))
    }
}

/// A checkout: a page on which a payment provider takes a payment for us. The id is a random UUID.
/// The provider repeats it in every report on that payment.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CheckoutId(pub uuid::Uuid);

impl fmt::Display for CheckoutId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.hyphenated().fmt(f)
    }
}

impl FromStr for CheckoutId {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        uuid::Uuid::try_parse(text)
            .map(Self)
            .map_err(|_| format!("'{text}' is not a valid checkout id, which is a UUID"))
    }
}

/// A draft of a formation order: a random UUID.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DraftId(pub uuid::Uuid);

impl fmt::Display for DraftId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.hyphenated().fmt(f)
    }
}

/// An amount of credits that is never negative: a cost, a price in credits, a balance.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Credits(pub u32);

impl Credits {
    /// `1 credit`, `2 credits`.
    pub fn in_words(count: impl Into<u64>) -> String {
        match count.into() {
            1 => "1 credit".to_owned(),
            count => format!("{count} credits"),
        }
    }
}

impl fmt::Display for Credits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
