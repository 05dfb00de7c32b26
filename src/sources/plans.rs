//! The ready plans of `corpus/plans/fetched`, compiled in: one for each source of the catalogue that can be fetched and
//! imported. `hornbook fetch` puts a source's plan next to its folder, so that `hornbook build` needs nothing else.

use super::catalogue::{PublishedSource, SourceReadiness, find};

/// A plan, and the source whose files it reads.
#[derive(Clone, Copy, Debug)]
pub struct ReadyPlan {
    pub source: &'static str,
    pub text: &'static str,
}

macro_rules! ready {
    ($($source:literal),* $(,)?) => {
        &[$(ReadyPlan {
            source: $source,
            text: include_str!(concat!("../../corpus/plans/fetched/", $source, ".toml")),
        }),*]
    };
}

const READY_PLANS: &[ReadyPlan] = ready![
    "ak-code-unicourt",
    "co-code-unicourt",
    "dc-code",
    "ga-code-unicourt",
    "hi-statutes-json",
    "il-chicago-zoning",
    "ky-code-unicourt",
    "ma-cambridge-zoning",
    "md-comar",
    "ms-code-unicourt",
    "nc-code-unicourt",
    "nd-code-unicourt",
    "nj-code",
    "ri-code-unicourt",
    "states-statutes-json",
    "us-cfr",
    "us-code",
    "us-code-deep",
    "us-ecfr",
    "ut-spanish-fork-code",
    "va-code-unicourt",
    "vt-code-unicourt",
    "wy-code-unicourt",
];

/// Plans that include those of several sources.
const COLLECTIONS: &[SourceCollection] =
    &[SourceCollection { name: "us-law", text: include_str!("../../corpus/plans/us-law.toml") }];

/// The folder of the included plans in the repository. `hornbook fetch` puts all plans into one folder.
const INCLUDED_FOLDER: &str = "fetched/";

/// A plan of sources that `hornbook fetch` brings together.
#[derive(Clone, Copy, Debug)]
pub struct SourceCollection {
    pub name: &'static str,
    text: &'static str,
}

impl SourceCollection {
    pub fn find(name: &str) -> Option<&'static Self> {
        COLLECTIONS.iter().find(|collection| collection.name == name)
    }

    pub fn all() -> &'static [Self] {
        COLLECTIONS
    }

    /// The sources whose plans it includes, in its order.
    pub fn sources(&self) -> impl Iterator<Item = &'static PublishedSource> {
        let names = self.text.lines().filter_map(|line| {
            line.trim().strip_prefix('"')?.strip_suffix("\",")?.strip_prefix(INCLUDED_FOLDER)?.strip_suffix(".toml")
        });
        names.filter_map(find)
    }

    /// The text of the plan for a folder that also has the plans of its sources.
    pub fn plan(&self) -> String {
        self.text.replace(&format!("\"{INCLUDED_FOLDER}"), "\"")
    }
}

/// The plan of a source that this version can build.
pub fn plan_for(source: &str) -> Option<&'static ReadyPlan> {
    let has_plan =
        find(source).is_some_and(|source| matches!(source.state(), SourceReadiness::Ready | SourceReadiness::Untried));
    READY_PLANS.iter().find(|plan| plan.source == source && has_plan)
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::fs;
    use std::path::{Path, PathBuf};

    use hornbook_index_build::import::IMPORTERS;
    use hornbook_index_build::plan::Plan;

    use super::*;
    use crate::sources::catalogue::sources;

    fn plans_in(folder: &str) -> Vec<(PathBuf, String)> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/plans").join(folder);
        let paths = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
        let plans = paths.filter(|path| path.extension().is_some_and(|end| end == "toml"));
        plans.map(|path| (path.clone(), fs::read_to_string(path).unwrap())).collect()
    }

    /// The plan, unless this version lacks one of its formats.
    fn parsed(path: &Path, text: &str) -> Option<Plan> {
        let formats = text.lines().filter_map(|line| line.strip_prefix("format = \"")?.strip_suffix('"'));
        let is_known = |format: &str| IMPORTERS.iter().any(|importer| importer.name == format);
        match formats.into_iter().find(|format| !is_known(format)) {
            Some(format) => {
                eprintln!("{}: skipped, there is no importer for {format}", path.display());
                None
            }
            None => Some(Plan::parse(text, path).unwrap()),
        }
    }

    #[test]
    fn every_source_that_can_be_fetched_and_imported_has_a_plan_and_no_other() {
        let possible = sources()
            .iter()
            .filter(|source| source.is_fetchable() && source.importer.is_some() && source.obstacle.is_none());
        let possible: BTreeSet<&str> = possible.map(|source| source.name.as_str()).collect();
        let compiled: BTreeSet<&str> = READY_PLANS.iter().map(|plan| plan.source).collect();
        assert_eq!(compiled, possible);
        let files: Vec<_> = plans_in("fetched");
        let files: BTreeSet<&str> = files.iter().filter_map(|(path, _)| path.file_stem()?.to_str()).collect();
        assert_eq!(files, possible);
    }

    #[test]
    fn plans_and_catalogue_agree() {
        let mut parsed_any = false;
        for ready in READY_PLANS {
            let source = find(ready.source).unwrap();
            let name = PathBuf::from(format!("{}.toml", ready.source));
            let Some(plan) = parsed(&name, ready.text) else { continue };
            parsed_any = true;
            let is_untried = ready.text.contains("Untried: ");
            let state = if is_untried { SourceReadiness::Untried } else { SourceReadiness::Ready };
            assert_eq!(source.state(), state, "{}: plan and catalogue disagree", ready.source);
            let places = source.places(None).unwrap();
            for planned in &plan.sources {
                let path = planned.path.to_str().unwrap();
                let is_fetched =
                    places.iter().any(|place| place.path == path || place.path.starts_with(&format!("{path}/")));
                assert!(is_fetched, "{}: nothing is fetched to {path}", ready.source);
                assert_eq!(Some(planned.format.name), source.importer.as_deref(), "{}", ready.source);
                assert!(planned.url.is_none() && planned.retrieved.is_none(), "{}: receipts say it", ready.source);
            }
        }
        assert!(parsed_any);
    }

    #[test]
    fn collections_include_ready_plans_and_each_code_body_once() {
        for collection in SourceCollection::all() {
            let folder = tempfile::tempdir().unwrap();
            for ready in READY_PLANS {
                fs::write(folder.path().join(format!("{}.toml", ready.source)), ready.text).unwrap();
            }
            let path = folder.path().join(format!("{}.toml", collection.name));
            fs::write(&path, collection.plan()).unwrap();
            let plan = Plan::open(&path).unwrap();
            let of_sources: usize = collection
                .sources()
                .map(|source| Plan::parse(plan_for(&source.name).unwrap().text, &path).unwrap().sources.len())
                .sum();
            assert_eq!(plan.sources.len(), of_sources, "{}: an included plan is not recognized", collection.name);
            let folder_of = |path: &Path| path.components().next().unwrap().as_os_str().to_owned();
            let mut homes: BTreeMap<&str, std::ffi::OsString> = BTreeMap::new();
            for source in &plan.sources {
                let Some(key) = source.key.as_deref() else { continue };
                let home = homes.entry(key).or_insert_with(|| folder_of(&source.path));
                assert_eq!(*home, folder_of(&source.path), "two sources have {key}");
            }
            assert!(find(collection.name).is_none(), "a source has the name of a collection");
        }
        let us_law: BTreeSet<&str> =
            SourceCollection::find("us-law").unwrap().sources().map(|source| source.name.as_str()).collect();
        let left_out: Vec<&str> =
            READY_PLANS.iter().map(|plan| plan.source).filter(|source| !us_law.contains(source)).collect();
        assert_eq!(left_out, ["us-cfr", "us-code-deep", "va-code-unicourt"], "its header says why");
    }

    /// The folder of the real files, if it exists. With `HORNBOOK_TEST_CORPORA` set, it must exist.
    fn real_files() -> Option<PathBuf> {
        let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpora");
        let folder = std::env::var_os("HORNBOOK_CORPORA").map_or_else(beside, PathBuf::from);
        let is_required = std::env::var_os("HORNBOOK_TEST_CORPORA").is_some();
        assert!(folder.is_dir() || !is_required, "HORNBOOK_TEST_CORPORA is set, but {} is not there", folder.display());
        folder.is_dir().then_some(folder)
    }

    #[test]
    fn the_plans_of_the_real_files_read_files_that_are_there() {
        let real_files = real_files();
        if real_files.is_none() {
            println!("skipped in part: without the real files, only that their plans parse is checked");
        }
        for (path, text) in plans_in("real-files") {
            for planned in parsed(&path, &text).into_iter().flat_map(|plan| plan.sources) {
                if let Some(real_files) = &real_files {
                    assert!(real_files.join(&planned.path).is_file(), "{}: {:?}", path.display(), planned.path);
                }
                let is_told = planned.url.is_some() && planned.retrieved.is_some() && planned.edition.is_some();
                assert!(is_told, "{}: these files have no receipts", path.display());
            }
        }
    }
}
