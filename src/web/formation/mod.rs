//! Pages of company formation.
//!
//! `review` is the page on which a person accepts a formation that a program prepared, `html` its HTML and
//! `headers` its headers. `returned` are the pages for customers who come back from the payment page, and
//! `tracking` shows the progress of an order.

mod headers;
mod html;
pub mod returned;
pub mod review;
pub mod tracking;
