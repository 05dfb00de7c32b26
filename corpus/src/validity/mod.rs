//! Which wording of a provision is in force on a day: one rule for all sources.
//!
//! A source prints one or more wordings of a provision. For each it may state from when and until when it is in
//! force. [`state_on`] (in `rule`) decides which wording is shown on a day, and the status of the provision. The result
//! depends only on the wordings and the day.
//!
//! 1. A wording is current from its first day to the day before its end.
//! 2. Of several current wordings, the one that began last is in force. If they began on the same day, or if their
//!    sources state no first day, it is the one that ends first: a wording that is in force until a certain day has
//!    priority before that day.
//! 3. If no wording is current, the one that ended last is shown, with its status after the end. If none has begun,
//!    the one that begins next is shown.
//! 4. The status is uncertain if the validity of any wording is uncertain, or if rule 2 does not decide because
//!    wordings have the same days.

mod file;
mod rule;

pub use file::{FILE_NAME, ShownWording, StatesOnDay, ValidityIndex, ValidityWriter};
pub use rule::{StateOnDay, Validity, change_days, state_on};
