//! The build plan: a TOML file that lists the content of a snapshot and the origin of each part.

use std::path::{Path, PathBuf};

use hornbook_base::regular_file;
use hornbook_corpus::embed::Embedder;
use hornbook_corpus::ids::{ShortCode, is_source_key};
use hornbook_corpus::jurisdictions::GovernmentLevel;
use hornbook_corpus::provision_url::ProvisionUrl;
use hornbook_corpus::vectors::SpaceName;
use serde::Deserialize;

use crate::import::Importer;
use crate::import::zoning::ZoningOptions;
use crate::source_files::{self, SourceError};
use crate::values::is_date;

/// A plan with every county and city of the country is smaller than this.
const PLAN_BYTES_MAX: u64 = 64 << 20;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The name of the snapshot in manifest and coverage.
    pub name: String,
    /// Whether the headings of provisions are indexed. With `false`, headings can be used as
    /// queries to evaluate search.
    #[serde(default = "yes")]
    pub index_headings: bool,
    /// Plans whose sources and jurisdictions belong to the snapshot too, relative to this plan. The paths in them are
    /// relative to this plan, or to `--sources DIR`.
    #[serde(default)]
    pub include: Vec<PathBuf>,
    /// Counties, cities, and other jurisdictions that are not in the built-in inventory.
    #[serde(default, rename = "jurisdiction")]
    pub jurisdictions: Vec<PlannedJurisdiction>,
    #[serde(default, rename = "source")]
    pub sources: Vec<PlannedSource>,
    /// Embeds the passages a second time, for a second vector space of the snapshot.
    #[serde(default)]
    pub encoder: Option<PlannedEncoder>,
}

fn yes() -> bool {
    true
}

/// A sentence encoder, and a table that embeds queries in the same space without running the encoder.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedEncoder {
    /// The name of the second vector space.
    pub space: SpaceName,
    /// The folder of the encoder, relative to the plan (or to `--sources DIR`).
    pub folder: PathBuf,
    /// A safetensors file, relative to the plan (or to `--sources DIR`). Without it only deep
    /// searches, whose queries the encoder embeds, use the space.
    #[serde(default)]
    pub query_table: Option<PathBuf>,
    /// The SHA-256 of the weights that the table was made for.
    pub sha256: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedJurisdiction {
    pub code: ShortCode,
    pub name: String,
    pub level: GovernmentLevel,
    #[serde(default)]
    pub parent: Option<ShortCode>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedSource {
    pub format: &'static Importer,
    /// A file, a folder or an archive, relative to the plan (or to `--sources DIR`).
    pub path: PathBuf,
    /// Only the file with this path within the folder or archive.
    #[serde(default)]
    pub member: Option<String>,
    pub jurisdiction: ShortCode,
    /// The name of the code body; required for every format but zoning.
    #[serde(default)]
    pub code_body: Option<String>,
    /// The stable key of the code body, such as `us/usc`, from which ids are made.
    #[serde(default)]
    pub key: Option<String>,
    /// The citation of provisions without their own: `Arden Rev. Stat. § {number}`.
    #[serde(default)]
    pub citation: Option<String>,
    pub publisher: String,
    /// Optional, like `retrieved` and `url`, if receipts next to the files state it.
    #[serde(default)]
    pub edition: Option<String>,
    #[serde(default)]
    pub current_through: Option<String>,
    #[serde(default)]
    pub retrieved: Option<String>,
    pub license: String,
    #[serde(default)]
    pub url: Option<String>,
    /// The address of a provision on the publisher's site:
    /// `https://law.example/title-{title}/section-{number}`.
    #[serde(default)]
    pub provision_url: Option<ProvisionUrl>,
    /// What this copy of the code lacks, in words that end a sentence: `title 62, and most headings`.
    #[serde(default)]
    pub lacks: Option<String>,
    /// Tags of every provision of the source.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Options of the format; each importer documents its keys.
    #[serde(default)]
    pub options: toml::Table,
    #[serde(default)]
    pub zoning: Option<ZoningOptions>,
}

impl PlannedSource {
    /// The name of the source in messages and the manifest.
    pub fn name(&self) -> String {
        match &self.code_body {
            Some(body) => body.clone(),
            None => format!("zoning of {}", self.jurisdiction),
        }
    }
}

/// Why a plan cannot be used. `place` is `file:line` or the file.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    #[error("cannot read the plan {}: {source}", .path.display())]
    Read { path: PathBuf, source: std::io::Error },
    #[error("{place}: {what}")]
    Invalid { place: String, what: String },
}

impl Plan {
    pub fn open(path: &Path) -> Result<Self, PlanError> {
        let mut plan = Self::read(path)?;
        for name in std::mem::take(&mut plan.include) {
            plan.take_in(&path.parent().unwrap_or(Path::new("")).join(name))?;
        }
        Ok(plan)
    }

    /// Reads one file, without the plans that it includes.
    fn read(path: &Path) -> Result<Self, PlanError> {
        let text = regular_file::read_text(path, PLAN_BYTES_MAX)
            .map_err(|source| PlanError::Read { path: path.to_owned(), source })?;
        Self::parse(&text, path)
    }

    /// Adds the sources and jurisdictions of an included plan.
    fn take_in(&mut self, path: &Path) -> Result<(), PlanError> {
        let mut included = Self::read(path)?;
        if !included.include.is_empty() || included.encoder.is_some() || !included.index_headings {
            let what = "an included plan has only name, [[jurisdiction]] and [[source]]; include, encoder and \
                        index_headings belong into the plan that includes it";
            return Err(PlanError::Invalid { place: path.display().to_string(), what: what.to_owned() });
        }
        self.jurisdictions.append(&mut included.jurisdictions);
        self.sources.append(&mut included.sources);
        Ok(())
    }

    /// Removes the sources whose files are not below `base`, and returns them.
    pub(crate) fn remove_absent(&mut self, base: &Path) -> Vec<PlannedSource> {
        // A download that failed leaves an empty folder.
        let is_present = |source: &PlannedSource| {
            let files = source_files::list(&base.join(&source.path));
            !matches!(files, Err(SourceError::Missing { .. } | SourceError::Empty { .. }))
        };
        let (present, absent) = std::mem::take(&mut self.sources).into_iter().partition(is_present);
        self.sources = present;
        absent
    }

    pub fn parse(text: &str, path: &Path) -> Result<Self, PlanError> {
        let plan: Self = toml::from_str(text).map_err(|error| {
            let line = error.span().map_or(1, |span| 1 + text[..span.start.min(text.len())].matches('\n').count());
            PlanError::Invalid { place: format!("{}:{line}", path.display()), what: error.message().to_owned() }
        })?;
        plan.check().map_err(|what| PlanError::Invalid { place: path.display().to_string(), what })?;
        Ok(plan)
    }

    fn check(&self) -> Result<(), String> {
        if self.sources.is_empty() && self.include.is_empty() {
            return Err("the plan has no [[source]], so there is nothing to build".into());
        }
        let of_encoder = self.encoder.iter().filter_map(|encoder| check_encoder(encoder).err());
        let of_sources = self.sources.iter().filter_map(|source| check_source(source).err());
        let wrong: Vec<String> = of_encoder.chain(of_sources).collect();
        if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
    }
}

fn check_encoder(encoder: &PlannedEncoder) -> Result<(), String> {
    if encoder.space.as_str() == Embedder::ID {
        return Err(format!("encoder: space = '{}' is the built-in space; choose another name", encoder.space));
    }
    let sha256 = &encoder.sha256;
    if sha256.len() != 64 || !sha256.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(format!("encoder: sha256 = '{sha256}' is not a SHA-256 in 64 hexadecimal digits"));
    }
    Ok(())
}

fn check_source(source: &PlannedSource) -> Result<(), String> {
    let at = format!("source '{}'", source.path.display());
    for (field, value) in [
        ("publisher", Some(&source.publisher)),
        ("edition", source.edition.as_ref()),
        ("license", Some(&source.license)),
        ("url", source.url.as_ref()),
        ("lacks", source.lacks.as_ref()),
    ] {
        if value.is_some_and(|value| value.trim().is_empty()) {
            return Err(format!(
                "{at}: {field} is empty; write it, because readers see it, or leave it out if it is optional"
            ));
        }
    }
    for (field, value) in
        [("retrieved", source.retrieved.as_ref()), ("current_through", source.current_through.as_ref())]
    {
        if let Some(date) = value.filter(|date| !is_date(date)) {
            return Err(format!("{at}: {field} = '{date}' is not a date; write it as 2026-01-31"));
        }
    }
    source.format.check_options(&source.options).map_err(|what| format!("{at}: {what}"))?;
    if !source.format.is_law() {
        return match source.zoning {
            Some(_) => Ok(()),
            None => Err(format!("{at}: format {} needs a [source.zoning] table", source.format.name)),
        };
    }
    if source.code_body.as_deref().is_none_or(|name| name.trim().is_empty()) {
        return Err(format!("{at}: code_body is missing; name the code, such as 'Code of Virginia'"));
    }
    let key = source.key.as_deref().unwrap_or_default();
    if !is_source_key(key) {
        return Err(format!(
            "{at}: key = '{key}' is not a key; use lower-case letters, digits, '.', '-', '_' and '/', such as 'va/code'"
        ));
    }
    if source.citation.as_deref().is_some_and(|template| template.matches("{number}").count() != 1) {
        return Err(format!("{at}: citation must contain {{number}} once, such as 'Va. Code § {{number}}'"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const SOURCE: &str = r#"
name = "t"
[[source]]
format = "native"
path = "a.jsonl"
jurisdiction = "xa"
code_body = "Arden Code"
key = "xa/code"
publisher = "p"
edition = "1"
retrieved = "2026-01-31"
license = "l"
url = "u"
"#;

    fn message(text: &str) -> String {
        Plan::parse(text, Path::new("plan.toml")).unwrap_err().to_string()
    }

    #[test]
    fn a_good_plan_is_read() {
        let plan = Plan::parse(SOURCE, Path::new("plan.toml")).unwrap();
        assert_eq!(plan.sources[0].jurisdiction.as_str(), "XA");
        assert!(plan.index_headings);
    }

    #[test]
    fn a_plan_includes_the_sources_of_others() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            path
        };
        let town = SOURCE.replace(
            "name = \"t\"",
            "name = 'town'\n[[jurisdiction]]\ncode = 'XA-TOWN'\nname = 'T'\nlevel = 'city'\nparent = 'XA'",
        );
        write("states/a.toml", SOURCE);
        write("states/b.toml", &town.replace("a.jsonl", "b.jsonl"));
        let both = "name = 'both'\ninclude = ['states/a.toml', 'states/b.toml']\n";
        let plan = Plan::open(&write("both.toml", both)).unwrap();
        let paths: Vec<_> = plan.sources.iter().map(|source| source.path.to_str().unwrap()).collect();
        assert_eq!((paths.as_slice(), plan.jurisdictions.len()), (["a.jsonl", "b.jsonl"].as_slice(), 1));
        let refused = |name: &str, text: &str| Plan::open(&write(name, text)).unwrap_err().to_string();
        assert!(refused("c.toml", "name = 'c'\ninclude = ['none.toml']").contains("none.toml"));
        assert!(
            refused("c.toml", "name = 'c'\ninclude = ['both.toml']").contains("both.toml: an included plan has only")
        );
        write("states/b.toml", &SOURCE.replace("format = \"native\"", "format = 'word'"));
        assert!(refused("both.toml", both).contains("states/b.toml:4: unknown format"));
    }

    #[test]
    fn bad_plans_are_refused_with_file_line_and_what_to_write() {
        assert!(message("name = 'x'").contains("no [[source]]"));
        let unknown = message(&SOURCE.replace("format = \"native\"", "format = \"word\""));
        assert!(unknown.starts_with("plan.toml:4: unknown format 'word'; the formats are native, "), "{unknown}");
        assert!(message(&SOURCE.replace("edition", "edtion")).contains("edtion"));
        assert!(message(&SOURCE.replace("2026-01-31", "2026-02-30")).contains("write it as 2026-01-31"));
        assert!(message(&SOURCE.replace("xa/code", "XA Code")).contains("lower-case"));
        assert!(
            message(&SOURCE.replace("jurisdiction = \"xa\"", "jurisdiction = \"x!\""))
                .contains("not a jurisdiction code")
        );
        assert!(message("name = ").starts_with("plan.toml:1"));
        let address = |template: &str| format!("{SOURCE}provision_url = '{template}'\n");
        assert!(Plan::parse(&address("https://law.example/{number}"), Path::new("plan.toml")).is_ok());
        assert!(message(&address("https://law.example/")).contains("must contain {number}"));
        assert!(message(&address("law.example/{number}")).contains("begins with https://"));
        let encoder = |space: &str, sha256: &str| {
            format!("{SOURCE}[encoder]\nspace = '{space}'\nfolder = 'm'\nquery_table = 'q'\nsha256 = '{sha256}'\n")
        };
        let sha256 = "0".repeat(64);
        assert!(Plan::parse(&encoder("minilm-256", &sha256), Path::new("plan.toml")).is_ok());
        assert!(message(&encoder("Mini LM", &sha256)).contains("'Mini LM' is not the name of an embedding space"));
        assert!(message(&encoder("law-static-256", &sha256)).contains("choose another name"));
        assert!(message(&encoder("minilm-256", "53aa")).contains("64 hexadecimal digits"));
        assert!(message(&encoder("minilm-256", &sha256).replace("query_table", "table")).contains("table"));
    }
}
