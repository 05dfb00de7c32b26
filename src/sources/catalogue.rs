//! The catalogue of official sources: `catalogue.toml`, compiled in and checked by tests.
//!
//! An entry lists the publisher of a body of law, its address, format and terms, and whether Hornbook
//! imports it, with the obstacle if not. An address is `verified` only if a document names it. Unknown
//! facts are marked as unknown.

use std::fmt;
use std::sync::LazyLock;

use hornbook_index_build::import::IMPORTERS;
use serde::{Deserialize, Serialize};

use super::address::{DownloadUrl, NoAddress};

static CATALOGUE: LazyLock<Vec<PublishedSource>> =
    LazyLock::new(|| parse(include_str!("catalogue.toml")).expect("a test reads the catalogue that is compiled in"));

/// All sources, federal law first.
pub fn sources() -> &'static [PublishedSource] {
    &CATALOGUE
}

pub fn find(name: &str) -> Option<&'static PublishedSource> {
    sources().iter().find(|source| source.name == name)
}

fn parse(text: &str) -> Result<Vec<PublishedSource>, toml::de::Error> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct File {
        source: Vec<PublishedSource>,
    }
    toml::from_str::<File>(text).map(|file| file.source)
}

/// A body of law as one publisher offers it.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all(serialize = "camelCase"))]
pub struct PublishedSource {
    /// As in commands: `us-code`.
    pub name: String,
    /// The code of its jurisdiction.
    pub jurisdiction: String,
    /// The law: `United States Code`.
    pub title: String,
    pub kind: SourceKind,
    pub publisher: String,
    /// The publisher's page about it.
    pub page: String,
    /// Whether a document names the page; `documented` names that document.
    #[serde(default)]
    pub verified: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub documented: Option<String>,
    pub format: String,
    /// Terms of use as far as they are known.
    pub license: String,
    /// The format in plans, if Hornbook reads it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub importer: Option<String>,
    /// The obstacle to fetching or importing it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub obstacle: Option<String>,
    /// Set if nobody has built all of it with its plan: the part that was built, or the basis of the plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub untried: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edition: Option<Edition>,
    #[serde(default, rename = "file")]
    pub files: Vec<DownloadTemplate>,
}

/// The kind of publisher.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SourceKind {
    /// The government, or its official publisher.
    Official,
    /// A public repository or archive with a copy of what the government published.
    Copy,
}

/// Which edition is fetched, where addresses contain it.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all(serialize = "camelCase"))]
pub struct Edition {
    /// An edition that is known to exist.
    pub known: String,
    /// A page that names the latest one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<String>,
    /// The text on that page before the edition, and the text after it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub before: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub after: String,
}

/// Files to download: one, or one for each number of `numbers`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all(serialize = "camelCase"))]
pub struct DownloadTemplate {
    /// May contain `{edition}`, `{edition/}` (its first hyphen as a slash) and `{number}`.
    pub url: String,
    /// Relative to the folder of all sources; begins with the source's name. May contain `{number}`.
    pub path: String,
    /// First and last number of each range.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub numbers: Vec<[u32; 2]>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}

/// A file of a source, with its path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePlace {
    pub address: DownloadUrl,
    pub path: String,
    pub number: Option<u32>,
    pub sha256: Option<String>,
}

impl PublishedSource {
    pub fn is_fetchable(&self) -> bool {
        !self.files.is_empty()
    }

    /// Its status in one or two words, for `hornbook sources`.
    pub fn state(&self) -> SourceReadiness {
        let is_imported = self.importer.as_ref().is_some_and(|name| IMPORTERS.iter().any(|own| own.name == name));
        match (self.is_fetchable(), is_imported) {
            (true, true) if self.obstacle.is_none() && self.untried.is_some() => SourceReadiness::Untried,
            (true, true) if self.obstacle.is_none() => SourceReadiness::Ready,
            (_, true) => SourceReadiness::ByHand,
            (true, false) => SourceReadiness::NotImported,
            (false, false) => SourceReadiness::NotYet,
        }
    }

    /// All its files, in the given edition.
    pub fn places(&self, edition: Option<&str>) -> Result<Vec<FilePlace>, NoAddress> {
        let edition = edition.or(self.edition.as_ref().map(|edition| edition.known.as_str())).unwrap_or_default();
        let mut places = Vec::new();
        for file in &self.files {
            let numbers = file.numbers.iter().flat_map(|&[first, last]| first..=last).map(Some);
            let numbers: Vec<Option<u32>> = if file.numbers.is_empty() { vec![None] } else { numbers.collect() };
            for number in numbers {
                let filled = |text: &str| filled(text, edition, number);
                let address = DownloadUrl::parse(&filled(&file.url))?;
                places.push(FilePlace { address, path: filled(&file.path), number, sha256: file.sha256.clone() });
            }
        }
        Ok(places)
    }
}

fn filled(text: &str, edition: &str, number: Option<u32>) -> String {
    let text = text.replace("{edition/}", &edition.replacen('-', "/", 1)).replace("{edition}", edition);
    number.map_or(text.clone(), |number| text.replace("{number}", &number.to_string()))
}

/// How far a source can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SourceReadiness {
    /// `hornbook fetch` gets it and `hornbook build` reads it.
    Ready,
    /// It has a plan, but nobody has built all of it.
    Untried,
    /// It can be imported, but something must be done by hand first.
    ByHand,
    /// It can be fetched, but no importer reads it.
    NotImported,
    NotYet,
}

impl fmt::Display for SourceReadiness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ready => "ready",
            Self::Untried => "untried",
            Self::ByHand => "by hand",
            Self::NotImported => "no importer",
            Self::NotYet => "not yet",
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use hornbook_corpus::jurisdictions::BUILT_IN_JURISDICTIONS;

    use super::*;

    /// The formats of existing and planned importers.
    const FORMATS: [&str; 13] = [
        "uslm",
        "open-law",
        "ecfr",
        "cfr-annual",
        "regml",
        "state-html",
        "state-json",
        "page-json",
        "municipal-html",
        "plain-text",
        "native",
        "provisions-jsonl",
        "geojson-zoning",
    ];

    #[test]
    fn every_entry_says_what_it_must() {
        let mut names = BTreeSet::new();
        for source in parse(include_str!("catalogue.toml")).unwrap() {
            let name = &source.name;
            assert!(names.insert(name.clone()), "{name} occurs twice");
            let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
            assert!(name.bytes().all(plain) && !name.is_empty(), "{name}");
            assert!(source.jurisdiction.parse::<hornbook_corpus::ids::ShortCode>().is_ok(), "{name}");
            for text in [&source.title, &source.publisher, &source.format, &source.license] {
                assert!(!text.trim().is_empty() && text.trim() == text, "{name}");
            }
            let page = DownloadUrl::parse(&source.page).unwrap();
            assert!(page.to_string().starts_with("http"), "{name}");
            assert_eq!(source.verified, source.documented.is_some(), "{name}: verified says a document names the page");
            assert!(source.importer.as_ref().is_none_or(|importer| FORMATS.contains(&importer.as_str())), "{name}");
            let can_be_ready = source.is_fetchable() && source.importer.is_some();
            assert!(source.obstacle.is_some() || can_be_ready, "{name}: name the obstacle");
            assert!(source.obstacle.is_none() || source.untried.is_none(), "{name}: nobody can try it");
        }
    }

    #[test]
    fn files_are_fetched_by_https_alone_into_folders_of_their_sources() {
        let mut paths = BTreeSet::new();
        for source in sources() {
            for place in source.places(None).unwrap() {
                let (name, path) = (&source.name, &place.path);
                let url = place.address.to_string();
                assert!(url.starts_with("https://") && !url.contains(['{', '}']), "{name}: {url}");
                assert!(path.starts_with(&format!("{name}/")) && !path.contains(['{', '}']), "{name}: {path}");
                assert!(path.split('/').all(|part| !part.is_empty() && part != ".."), "{name}: {path}");
                assert!(paths.insert(path.clone()), "{path} is the place of two files");
            }
            let uses_edition = source.files.iter().any(|file| file.url.contains("{edition"));
            assert_eq!(uses_edition, source.edition.is_some(), "{}", source.name);
            for edition in source.edition.iter().filter(|edition| edition.page.is_some()) {
                assert!(!edition.before.is_empty() && !edition.after.is_empty(), "{}", source.name);
            }
        }
    }

    #[test]
    fn every_jurisdiction_and_the_ten_largest_cities_have_an_official_source() {
        let official = |code: &str| {
            sources().iter().any(|source| source.jurisdiction == code && source.kind == SourceKind::Official)
        };
        for entry in BUILT_IN_JURISDICTIONS {
            assert!(official(entry.code), "{} has no entry", entry.name);
        }
        for city in [
            "NY-NEW-YORK",
            "CA-LOS-ANGELES",
            "IL-CHICAGO",
            "TX-HOUSTON",
            "AZ-PHOENIX",
            "PA-PHILADELPHIA",
            "TX-SAN-ANTONIO",
            "CA-SAN-DIEGO",
            "TX-DALLAS",
            "CA-SAN-JOSE",
        ] {
            assert!(official(city), "{city} has no entry");
        }
    }

    #[test]
    fn editions_and_numbers_are_filled_in() {
        let text = r#"
[[source]]
name = "a"
jurisdiction = "US"
title = "t"
kind = "official"
publisher = "p"
page = "https://law.example/"
format = "f"
license = "unknown"
[source.edition]
known = "119-36"
[[source.file]]
url = "https://law.example/{edition/}/x@{edition}-{number}.zip"
path = "a/{number}.zip"
numbers = [[1, 2], [9, 9]]
"#;
        let source = parse(text).unwrap().remove(0);
        let places = source.places(None).unwrap();
        assert_eq!(places.len(), 3);
        assert_eq!(places[2].address.to_string(), "https://law.example/119/36/x@119-36-9.zip");
        assert_eq!((places[1].path.as_str(), places[1].number), ("a/2.zip", Some(2)));
        let other = source.places(Some("119-73not60")).unwrap();
        assert_eq!(other[0].address.path(), "/119/73not60/x@119-73not60-1.zip");
    }
}
