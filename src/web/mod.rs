//! HTML pages for people. They work without scripts, load nothing from other servers, and set no
//! cookies for readers.
//!
//! Shared parts:
//! - `shell`: state shared by all pages, and their calls into the service; `visitor`: the reader of
//!   a page
//! - `frame`: head, header and footer; `response`: HTTP headers; `assets`: stylesheet and scripts,
//!   served by `files`
//! - `errors`: error pages; `pager`: links between the pages of a list
//! - `letters`: rendering of untrusted text; `figures`: formatting of amounts and times
//!
//! Public pages, which `site` serves:
//! - `search`, `law` (reading pages), `contents`, `coverage`, `zoning` (maps), `docs` (API
//!   documentation)
//! - `indexing`: robots.txt and sitemaps
//!
//! Company formation and payment:
//! - `review`: the page on which a person accepts a formation that a program prepared; `pages`: its
//!   HTML; `answer`: its headers
//! - `payments`: how an accepted order is paid; `returned`: pages for customers who return from the
//!   payment page; `tracking`: the progress of an order
//!
//! Pages for signed-in people:
//! - `settings` and `operator`
//! - `browser`: cookies; `form`: form bodies; `seen`: a request with its sender; `desk`: executes
//!   their work; `trouble`: their errors

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
