//! The counts of every plan for the real files: how many wordings state when they are law, and that
//! every word is accounted for. `HORNBOOK_RENEW_GOLDEN` writes the table again.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use hornbook_index_build::check::check;
use hornbook_index_build::report::WordsReport;
use hornbook_index_build::validity_counts::ValidityCounts;

use crate::common::options;
use crate::corpora::corpora;

const COUNTS_FILE: &str = "tests/it/real_counts.tsv";
const COLUMNS: &str = "plan and source\tprovisions\twith several wordings\twordings\tfrom a day\tuntil a day\tboth\tuncertain\t\
                       undated\tstatuses\twords lost";
/// It contains everything that the plans of single sources contain.
const ALL_TOGETHER: &str = "everything.toml";

fn plans() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/plans/real-files");
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let is_read = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name != ALL_TOGETHER && !name.starts_with("zoning-")
    };
    let mut plans: Vec<PathBuf> = paths.filter(is_read).collect();
    plans.sort();
    plans
}

pub(crate) fn row(name: &str, counts: &ValidityCounts, words: &WordsReport) -> String {
    let ValidityCounts { provisions, several, wordings, from, to, both, uncertain, undated, statuses } = counts;
    let statuses: Vec<String> = statuses.iter().map(|(status, count)| format!("{status} {count}")).collect();
    let lost = words.unaccounted;
    format!(
        "{name}\t{provisions}\t{several}\t{wordings}\t{from}\t{to}\t{both}\t{uncertain}\t{undated}\t{}\t{lost}",
        statuses.join(", ")
    )
}

fn rows_of(plan: &Path, sources: &Path) -> Vec<String> {
    let mut options = options(plan, Path::new("not-written"));
    options.sources = Some(sources.to_owned());
    let checked = check(&options).unwrap_or_else(|error| panic!("{}: {error}", plan.display()));
    let plan = plan.file_stem().unwrap_or_default().to_string_lossy();
    let named = checked.validity.iter().zip(&checked.words);
    let rows = named.map(|((source, counts), words)| {
        if words.unaccounted > 0 {
            println!("{plan}: {} words lost, such as {:?}", words.unaccounted, words.unaccounted_examples);
        }
        row(&format!("{plan}: {source}"), counts, words)
    });
    rows.collect()
}

/// If `HORNBOOK_REAL_PLANS` contains comma-separated parts of plan names, only these plans are read
/// and displayed.
#[test]
fn the_counts_of_the_real_files_are_those_of_the_table() {
    let Some(corpora) = corpora() else { return };
    let only =
        env::var_os("HORNBOOK_REAL_PLANS").map_or_else(String::new, |names| names.to_string_lossy().into_owned());
    let is_picked = |plan: &&PathBuf| only.split(',').any(|part| plan.to_string_lossy().contains(part));
    let plans = plans();
    let rows: Vec<String> = plans.iter().filter(is_picked).flat_map(|plan| rows_of(plan, &corpora)).collect();
    let found = format!("{COLUMNS}\n{}\n", rows.join("\n"));
    if !only.is_empty() {
        print!("{found}");
    } else if env::var_os("HORNBOOK_RENEW_GOLDEN").is_some() {
        fs::write(COUNTS_FILE, found).unwrap();
    } else {
        let expected = fs::read_to_string(COUNTS_FILE).unwrap();
        for (found, expected) in found.lines().zip(expected.lines()) {
            assert_eq!(found, expected);
        }
        assert_eq!(found.lines().count(), expected.lines().count());
    }
}
