//! Pages for people. They work without scripts, load nothing from elsewhere, and set no cookie for readers.
//!
//! `shell` is what all pages share and the way of their calls into the service, `visitor` who asks; `frame` is head, header
//! and footer of every page, `response` its headers, `assets` the stylesheet and the scripts, `files` their door, `errors` what is shown when
//! something fails; `site` is the door of the public pages, `search` the search page, `law` the reading pages, `contents` the way to them; `letters` puts text of others into pages.
//!
//! `review` is the page on which a person accepts a company formation that a program prepared, `pages` its HTML,
//! `answer` its headers, `payments` how an accepted order is paid.

mod answer;
mod assets;
mod contents;
mod errors;
pub mod files;
mod frame;
mod law;
mod letters;
mod pages;
pub mod payments;
mod response;
pub mod review;
mod search;
pub mod shell;
pub mod site;
mod visitor;
