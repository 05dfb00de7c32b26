//! The operations table rendered as documents: the name, path and media type of each. The documentation
//! for people is a web page, in `web/docs`.
//!
//! Each document has a checked-in copy in `docs/rendered`, so that a code review shows what its readers
//! will see. `make documents` updates the copies and the table in README.md.

mod catalog;
mod discovery;
mod llms;
pub mod markdown;

use hornbook_accounts::tier::Tariff;

use super::examples::Examples;
use super::openapi;

/// Data in the documents that does not come from the operations table.
#[derive(Clone, Copy, Debug)]
pub struct DocumentContext<'s> {
    /// The base URL that clients use, without a slash at its end.
    pub base_url: &'s str,
    /// Id of the served snapshot.
    pub snapshot: &'s str,
    /// Examples from that snapshot.
    pub examples: &'s Examples,
    pub tariff: &'s Tariff,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ApiDocument {
    /// What a program reads first to learn about the service.
    Discovery,
    OpenApi,
    /// For language models.
    Llms,
    /// The list of these documents, in the format of RFC 9727.
    Catalog,
}

impl ApiDocument {
    pub const ALL: [Self; 4] = [Self::Discovery, Self::OpenApi, Self::Llms, Self::Catalog];

    /// The paths at which it is served.
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

    /// File name of the checked-in copy.
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

    pub fn render(self, setting: &DocumentContext<'_>) -> String {
        match self {
            Self::Discovery => format!("{:#}\n", discovery::document(setting)),
            Self::OpenApi => format!("{:#}\n", openapi::document(setting.base_url)),
            Self::Llms => llms::text(setting),
            Self::Catalog => format!("{:#}\n", catalog::document(setting.base_url)),
        }
    }
}
