//! Pages for people. They work without scripts, load nothing from elsewhere, and set no cookie for readers.
//!
//! `shell` is what all pages share and the way of their calls into the service, `visitor` who asks; `frame` is head, header
//! and footer of every page, `response` its headers, `assets` the stylesheet and the scripts, `errors` what is shown when
//! something fails; `site` is the door of the public pages, `law` the reading pages, `contents` the way to them; `letters` puts text of others into pages.
//!
//! `review` is the page on which a person accepts a company formation that a program prepared, `pages` its HTML,
//! `answer` its headers, `payments` how an accepted order is paid.

mod answer;
pub mod assets;
mod contents;
mod errors;
mod frame;
mod law;
mod letters;
mod pages;
pub mod payments;
mod response;
pub mod review;
pub mod shell;
pub mod site;
mod visitor;
