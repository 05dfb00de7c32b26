//! One change between two editions.

use hornbook_corpus::day::Day;
use hornbook_corpus::ids::NodeOrdinal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A node that differs between two editions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LawChange {
    pub kind: ChangeKind,
    /// The node in the older edition. At least one of the two is there.
    pub old: Option<NodeOrdinal>,
    /// The node in the newer edition. It has another id if the provision was renumbered.
    pub new: Option<NodeOrdinal>,
    pub parts: ChangedParts,
    /// The day from which the publisher says that the change is law.
    pub effective: Option<Day>,
}

/// What happened, by the change that weighs most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// It is new.
    Added,
    /// It is law again, with the same heading or words.
    Restored,
    /// The newer edition says that it is repealed.
    Repealed,
    /// It is found under another number, or the newer edition says that it was renumbered or transferred.
    Renumbered,
    /// It is no longer law for another reason: expired, omitted, reserved.
    Ended,
    /// The newer edition does not contain it and gives no reason; the copy may be incomplete. If a whole title or
    /// chapter is missing, only that is listed.
    Missing,
    /// Its words differ.
    Reworded,
    /// Only its heading differs.
    Retitled,
    /// It is in another place of the code.
    Moved,
    /// The publisher states otherwise whether and when it is law.
    Restated,
    /// Only notes and credits differ, or what only one edition has was not law in it.
    Notes,
    /// Only the newer edition contains it, but its source credit does not say that it is new: it names an act from
    /// before the older edition, or begins with an amendment or another number. The older copy may be incomplete.
    Found,
}

impl ChangeKind {
    pub const ALL: [Self; 12] = [
        Self::Added,
        Self::Restored,
        Self::Repealed,
        Self::Renumbered,
        Self::Ended,
        Self::Missing,
        Self::Reworded,
        Self::Retitled,
        Self::Moved,
        Self::Restated,
        Self::Notes,
        Self::Found,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Restored => "restored",
            Self::Repealed => "repealed",
            Self::Renumbered => "renumbered",
            Self::Ended => "ended",
            Self::Missing => "missing",
            Self::Reworded => "reworded",
            Self::Retitled => "retitled",
            Self::Moved => "moved",
            Self::Restated => "restated",
            Self::Notes => "notes",
            Self::Found => "found",
        }
    }

    pub(crate) fn from_byte(byte: u8) -> Option<Self> {
        Self::ALL.get(usize::from(byte)).copied()
    }

    /// Whether the law itself differs, not only what accompanies it.
    pub const fn is_of_law(self) -> bool {
        !matches!(self, Self::Notes)
    }
}

/// The parts of a node that differ. All are empty if only one edition has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChangedParts(u8);

impl ChangedParts {
    pub const TEXT: Self = Self(1);
    pub const HEADING: Self = Self(1 << 1);
    pub const PLACE: Self = Self(1 << 2);
    pub const STATUS: Self = Self(1 << 3);
    /// The wordings for other days.
    pub const WORDINGS: Self = Self(1 << 4);
    pub const NOTES: Self = Self(1 << 5);

    const NAMES: [(Self, &'static str); 6] = [
        (Self::TEXT, "text"),
        (Self::HEADING, "heading"),
        (Self::PLACE, "place"),
        (Self::STATUS, "status"),
        (Self::WORDINGS, "wordings"),
        (Self::NOTES, "notes"),
    ];

    #[must_use]
    pub(crate) const fn with(self, part: Self, differs: bool) -> Self {
        if differs { Self(self.0 | part.0) } else { self }
    }

    pub const fn has(self, part: Self) -> bool {
        self.0 & part.0 != 0
    }

    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Their names.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        Self::NAMES.into_iter().filter(move |(part, _)| self.has(*part)).map(|(_, name)| name)
    }

    pub(crate) const fn byte(self) -> u8 {
        self.0
    }

    pub(crate) const fn from_byte(byte: u8) -> Self {
        Self(byte & ((1 << Self::NAMES.len()) - 1))
    }
}
