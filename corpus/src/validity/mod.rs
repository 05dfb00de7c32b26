//! Which wording of a provision is the law on a day: one rule for all sources.
//!
//! A source prints one wording of a provision or several, and says of each since when and until when it is law, or
//! nothing. [`on`] (`rule`) says which of them is to be shown on a day, and what it is then. The answer depends on the wordings and
//! the day alone.
//!
//! 1. A wording is current from its first day to the day before its end.
//! 2. Of several current wordings, the one that began last is the law; of those that began on the same day, or whose
//!    sources name no first day, the one that ends first: what is law until a day is law before it, whatever the other is.
//! 3. Where none is current, the one that ended last is shown, as what its end made it; where none has begun, the next.
//! 4. Nothing is decided by words that are not understood: with a wording of uncertain validity among them, or where two
//!    wordings have the same days, the provision is uncertain.

mod file;
mod rule;

pub use file::{FILE_NAME, ShownWording, Standings, ValidityIndex, ValidityWriter};
pub use rule::{Standing, Validity, on, turning_days};
