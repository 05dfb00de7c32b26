//! Citations: the typed value, the table of every code's form, parsing, formatting and keys.
//!
//! [`Grammar`] holds the forms of federal and state law (`forms.tsv`) and those that a build plan adds. It reads one citation
//! ([`Grammar::parse`]) or every one in running text ([`Grammar::find_in`]), writes the canonical form ([`Grammar::format`])
//! and folds either to a [`CitationKey`]. It knows no snapshot: what is held comes in through [`Holdings`].
//!
//! Reading order: `value` (what a citation is), `forms` (the table), `text` (folding of what people type), `names` (which code
//! a name means), `number` (section numbers and ranges), `matching` (a citation at one place), `home` (what a provision says of its own code), then the surfaces above it.

mod constitution;
mod find;
mod format;
mod forms;
mod grammar;
mod home;
mod key;
mod matching;
mod names;
mod number;
mod resolve;
mod tail;
mod text;
mod value;

pub use find::Citations;
pub use forms::{BodyForm, FormError};
pub use grammar::{Grammar, ParseError};
pub use home::Home;
pub use key::CitationKey;
pub use resolve::{Coverage, Holdings, Inventory, RANGE_MAX, Resolution};
pub use value::{Body, BodyRef, Citation, ConstitutionUnit, Place, Unit, Wording};
