//! Compares editions of the law: what was added, amended, repealed, renumbered and moved between two snapshots.
//!
//! [`compare()`] finds the changes of every code body that two snapshots share. Texts are compared without typography and
//! spacing, and shown as they are: [`text_difference`] marks the words that differ. The changes of a pair are kept in a
//! file ([`ChangesFile`]), because to compare two editions of a large code takes seconds.
//!
//! [`BodyEditions`] orders the editions of one code body and says which of them answers for a day.
//!
//! A comparison takes time in proportion to the law: what would take longer is bounded, and then reported as one
//! replaced passage.

mod change;
mod changes_file;
mod compare;
mod container_name;
mod containers;
mod content_match;
mod credit;
mod difference;
mod edition;
mod ended_ranges;
mod html_page;
mod listing;
mod renumbering;
mod shelved;
mod words;

pub use change::{ChangeKind, ChangedParts, LawChange};
pub use changes_file::{BodyChanges, ChangesFile};
pub use compare::{CompareError, compare, without_counterpart};
pub use difference::{TextDifference, TextDifferenceKind, marked_text, text_difference};
pub use edition::{BodyEditions, CodeEdition};
pub use html_page::{BodyComparison, DIFFERENCE_STYLE, html_page, side_by_side};
pub use listing::{ChangeDate, ChangeDateKind, ListedChange, ListedNode, listed};
pub use shelved::{changes_between, remove_changes_without, shelved, write_shelved};
pub use words::has_same_words;
