//! The common part of the importers of the Code of Federal Regulations, so that sources of
//! different formats can fill one code body.
//!
//! [`names`] makes keys, citations and levels. [`place`] tracks the place in the code while a
//! document is read. [`text`] builds the text of a provision and nests its flat paragraphs.
//! [`elements`] reads the elements that the electronic and the annual edition share, [`tables`]
//! reads their tables, and [`effect`] finds dates in notes. The importers are `ecfr`, `cfr_annual`
//! and `regml`.

mod effect;
pub(crate) mod elements;
pub(crate) mod names;
pub(crate) mod place;
pub(crate) mod run;
pub(crate) mod tables;
pub(crate) mod text;
