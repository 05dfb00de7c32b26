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

mod assets;
mod contents;
mod coverage;
pub mod docs;
mod errors;
pub mod files;
mod form;
mod form_security;
mod formatting;
mod frame;
mod indexing;
mod law;
pub mod operator;
pub mod page_context;
mod page_error;
mod page_request;
mod pager;
pub mod payments;
pub mod public_pages;
mod response;
pub mod return_pages;
pub mod review;
mod review_html;
mod review_response;
mod search;
pub mod settings;
pub mod tracking;
mod untrusted_text;
mod visitor;
mod work_queues;
pub mod zoning;
