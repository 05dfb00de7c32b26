//! What the forms of the Code of Federal Regulations have in common, so that sources of different forms fill one code body.
//!
//! [`names`] makes keys, citations and levels; [`place`] is where in the code a document is being read; [`setter`] sets the
//! text of a provision and nests its flat paragraphs; [`elements`] knows the elements that the electronic and the annual
//! edition share; [`tables`] reads their tables; [`effect`] finds dates in notes. The importers are `ecfr`, `cfr_annual` and `regml`.

mod effect;
pub(crate) mod elements;
pub(crate) mod names;
pub(crate) mod place;
pub(crate) mod run;
pub(crate) mod setter;
pub(crate) mod tables;
