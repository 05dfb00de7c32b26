//! HTML pages for people. They work without scripts, load nothing from other servers, and set no
//! cookies for readers.
//!
//! Shared parts:
//! - `page_context`: state shared by all pages, and their calls into the service; `visitor`: the reader of a
//!   page
//! - `frame`: head, header and footer; `response`: HTTP headers; `assets`: stylesheet and scripts, served by
//!   `files`
//! - `errors`: error pages; `pager`: links between the pages of a list
//! - `untrusted_text`: rendering of untrusted text; `formatting`: amounts and times
//!
//! Public pages, which `public_pages` serves:
//! - `search`, `law` (reading pages), `contents`, `check` (documents), `coverage`, `zoning` (maps), `docs` (API
//!   documentation)
//! - `indexing`: robots.txt and sitemaps
//!
//! Pages of their own:
//! - `formation`: accepting, paying and following a company formation
//! - `settings` and `operator`: pages for signed-in people
//!
//! What pages with forms share:
//! - `form_security`: cookies and origins; `form`, `upload`: form bodies; `page_request`: a request with its sender;
//!   `work_queues`: executes their work; `page_error`: their errors

mod assets;
mod changes;
mod check;
mod contents;
mod coverage;
pub mod docs;
mod errors;
pub mod files;
mod form;
mod form_security;
pub mod formation;
mod formatting;
mod frame;
mod heading_case;
mod indexing;
mod law;
pub mod operator;
pub mod page_context;
mod page_error;
mod page_request;
mod pager;
pub mod public_pages;
mod response;
mod return_path;
mod search;
pub mod settings;
mod untrusted_text;
mod upload;
mod visitor;
mod work_queues;
pub mod zoning;
