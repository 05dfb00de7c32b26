//! The table as documents: the name, address and form of each. The documentation for people is a page, in `web/docs`.
//!
//! Each document has a checked-in copy under `docs/rendered`, so that a review of a change shows what its readers will
//! see. `make documents` renews the copies and the table in README.md.

mod catalog;
mod discovery;
mod examples;
mod llms;
pub mod markdown;

use super::openapi;
use crate::accounts::tier::Tariff;
pub use examples::Examples;

/// Where the documentation for people is.
pub const DOCS_PATH: &str = "/docs";

/// What documents say that is not in the table.
#[derive(Clone, Copy, Debug)]
pub struct Setting<'s> {
    /// How clients see the service, without a slash at its end.
    pub base_url: &'s str,
    /// Id of the snapshot that is served.
    pub snapshot: &'s str,
    /// Of that snapshot.
    pub examples: &'s Examples,
    pub tariff: &'s Tariff,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Document {
    /// A program's first look at the service.
    Discovery,
    OpenApi,
    /// For language models.
    Llms,
    /// Which of these there are, as RFC 9727 has it.
    Catalog,
}

impl Document {
    pub const ALL: [Self; 4] = [Self::Discovery, Self::OpenApi, Self::Llms, Self::Catalog];

    /// Where it is found.
    pub const fn paths(self) -> &'static [&'static str] {
        match self {
            Self::Discovery => &["/api/v1", "/.well-known/hornbook.json"],
            Self::OpenApi => &["/api/v1/openapi.json"],
            Self::Llms => &["/llms.txt"],
            Self::Catalog => &["/.well-known/api-catalog"],
        }
    }

    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Discovery | Self::OpenApi => "application/json",
            Self::Llms => "text/plain; charset=utf-8",
            Self::Catalog => "application/linkset+json; profile=\"https://www.rfc-editor.org/info/rfc9727\"",
        }
    }

    /// Of the checked-in copy.
    pub const fn file_name(self) -> &'static str {
        match self {
            Self::Discovery => "discovery.json",
            Self::OpenApi => "openapi.json",
            Self::Llms => "llms.txt",
            Self::Catalog => "api-catalog.json",
        }
    }

    /// Headers that only this document has.
    pub fn headers(self) -> Vec<(&'static str, String)> {
        match self {
            Self::Catalog => vec![("link", catalog::links())],
            Self::Discovery | Self::OpenApi | Self::Llms => Vec::new(),
        }
    }

    pub fn render(self, setting: &Setting<'_>) -> String {
        match self {
            Self::Discovery => format!("{:#}\n", discovery::document(setting)),
            Self::OpenApi => format!("{:#}\n", openapi::document(setting.base_url)),
            Self::Llms => llms::text(setting),
            Self::Catalog => format!("{:#}\n", catalog::document(setting.base_url)),
        }
    }
}
