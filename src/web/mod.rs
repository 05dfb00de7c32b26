//! Pages for people. They work without scripts, load nothing from elsewhere, and set no cookie for readers.
//!
//! `shell` is what all pages share and the way of their calls into the service, `visitor` who asks; `frame` is head, header
//! and footer of every page, `response` its headers, `assets` the stylesheet and the scripts, `files` their door, `errors` what is shown when
//! something fails; `site` is the door of the public pages, `search` the search page, `law` the reading pages, `contents` the way to them, `coverage` what is loaded, `zoning` maps of zones, `docs` the documentation of the API,
//! `indexing` what invites search engines; `pager` links the pages of a list, `letters` puts text of others into pages, `figures` writes amounts and times.
//!
//! `review` is the page on which a person accepts a company formation that a program prepared, `pages` its HTML,
//! `answer` its headers, `payments` how an accepted order is paid, `returned` where people are when they have paid, `tracking` how far it is. `settings` and `operator` are for
//! people who are signed in: `browser` knows their cookies, `form` their forms, `seen` who sent them, `desk` does the work.

mod answer;
mod assets;
mod browser;
mod contents;
mod coverage;
mod desk;
pub mod docs;
mod errors;
mod figures;
pub mod files;
mod form;
mod frame;
mod indexing;
mod law;
mod letters;
pub mod operator;
mod pager;
mod pages;
pub mod payments;
mod response;
pub mod returned;
pub mod review;
mod search;
mod seen;
pub mod settings;
pub mod shell;
pub mod site;
pub mod tracking;
mod trouble;
mod visitor;
pub mod zoning;
