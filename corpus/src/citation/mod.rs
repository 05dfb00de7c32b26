//! Citations: the typed value, the table of forms, parsing, formatting and keys.
//!
//! [`Grammar`] has the forms of federal and state law (`forms.tsv`) and those that a build plan adds. It parses one
//! citation ([`Grammar::parse`]) or finds all of them in running text ([`Grammar::find_in`]), writes the canonical
//! form ([`Grammar::format`]) and makes a [`CitationKey`] of a citation or a text. It does not depend on a
//! snapshot: the trait [`ProvisionLookup`] reports which provisions exist.
//!
//! Read the modules in this order: `value` (a citation), `forms` (the table), `text` (normalised input), `names`
//! (names of codes), `number` (section numbers and ranges), `shared` (names of more than one code), `matching` (a
//! citation at one position), `prose` (its number first), `enclosing_provision` and `own_code` (references to the
//! provision's own code), `other_law` (words after them), `acts` (acts by their popular names), then the rest.

mod act_section;
mod act_table;
mod acts;
mod constitution;
mod container;
mod container_mentions;
mod enclosing_provision;
mod find;
mod format;
mod forms;
mod grammar;
mod key;
mod list;
mod matching;
mod names;
mod number;
mod other_law;
mod own_code;
mod prose;
mod resolve;
mod shared;
mod tail;
mod text;
mod value;

pub use act_section::{ActLaw, LawDivision, SectionOfAct, act_name_key};
pub use acts::{ActSection, PopularCitation, SessionLaw};
pub use container::{Container, ContainerLevel, NamedContainer, NumberedContainer};
pub use container_mentions::MentionedContainer;
pub use enclosing_provision::EnclosingProvision;
pub use find::Citations;
pub use forms::{BodyForm, FormError};
pub use grammar::{Grammar, ParseError};
pub use key::CitationKey;
pub use number::compare as number_order;
pub use resolve::{
    ANSWERS_MAX, CitedItem, Coverage, HeldActSection, NodeLookup, ProvisionLookup, RANGE_MAX, Resolution,
};
pub use value::{BodyRef, Citation, ConstitutionUnit, GrammarBody, Locator, Unit, WordingKind};
