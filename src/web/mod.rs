//! Pages for people. They need no script, load nothing from elsewhere, and are never stored.
//!
//! `review` is the page on which a person accepts a company formation that a program prepared, `pages` its HTML,
//! `answer` the headers of every page, `payments` how an accepted order is paid.

mod answer;
mod pages;
pub mod payments;
pub mod review;
