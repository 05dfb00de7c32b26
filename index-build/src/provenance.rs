//! The origin and date of a source, from the plan or, where the plan does not state them, from the
//! receipts of its files. Some formats state in each file through which day it is current.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

use hornbook_corpus::day::Day;

use crate::import::uslm::edition::{StatedEdition, stated_edition};
use crate::import::{ReadMode, SourceContent, cfr_annual, ecfr};
use crate::plan::PlannedSource;
use crate::receipt::{Receipt, ReceiptError};
use crate::source_files::{self, SourceError, SourceFile};

/// If the files have more editions than this, the rest are only counted.
const EDITIONS_STATED_MAX: usize = 4;

/// Files state their edition within this many bytes.
const HEAD_BYTES: u64 = 64 << 10;

/// The origin that every provision of a source shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SourceProvenance {
    pub(crate) edition: String,
    /// The day through which all its files are current. None if neither the plan nor every file states one.
    pub(crate) current_through: Option<String>,
    pub(crate) retrieved: String,
    pub(crate) url: String,
}

/// Why the origin of a source is unknown.
#[derive(Debug, thiserror::Error)]
pub enum ProvenanceError {
    #[error("{0}")]
    Source(#[from] SourceError),
    #[error("{0}")]
    Receipt(#[from] ReceiptError),
    /// Neither the plan nor a receipt states these fields.
    #[error(
        "{place}: neither the plan nor a receipt of 'hornbook fetch' next to the file gives {}; every provision shows its origin, so add it to the plan",
        .fields.join(" and ")
    )]
    Unknown { place: String, fields: Vec<&'static str> },
}

impl SourceProvenance {
    /// The origin of a planned source whose file or folder is at `path`.
    pub(crate) fn of(planned: &PlannedSource, path: &Path) -> Result<Self, ProvenanceError> {
        let current_through = match &planned.current_through {
            Some(day) => Some(day.clone()),
            None => stated_by_files(planned, path)?.map(|day| day.to_string()),
        };
        let is_silent = planned.edition.is_none() || planned.retrieved.is_none() || planned.url.is_none();
        let received = if is_silent { received(path)? } else { None };
        let of_receipts = |part: fn(&MergedReceipts) -> Option<String>| received.as_ref().and_then(part);
        let edition = planned.edition.clone().or_else(|| of_receipts(|received| Some(received.edition.clone())));
        let retrieved = planned.retrieved.clone().or_else(|| of_receipts(|received| Some(received.retrieved.clone())));
        let url = planned.url.clone().or_else(|| of_receipts(|received| Some(received.url.clone())));
        match (edition, retrieved, url) {
            (Some(edition), Some(retrieved), Some(url)) => Ok(Self { edition, current_through, retrieved, url }),
            (edition, retrieved, url) => {
                let fields = [("edition", edition), ("retrieved", retrieved), ("url", url)];
                let fields = fields.into_iter().filter(|(_, value)| value.is_none()).map(|(field, _)| field);
                Err(ProvenanceError::Unknown { place: path.display().to_string(), fields: fields.collect() })
            }
        }
    }
}

/// The oldest day through which the files of a source are current, if every file states its own. Titles of the United
/// States Code that share a release point are all current through the newest of their days.
fn stated_by_files(planned: &PlannedSource, path: &Path) -> Result<Option<Day>, SourceError> {
    let stated: fn(&str) -> Option<StatedEdition> = match planned.format.name {
        "uslm" => stated_edition,
        "ecfr" => |head| Some(StatedEdition { release_point: None, day: ecfr::stated_day(head)? }),
        "cfr-annual" => |head| Some(StatedEdition { release_point: None, day: cfr_annual::stated_day(head)? }),
        _ => return Ok(None),
    };
    let SourceContent::Law { read: ReadMode::Documents { wants, .. }, .. } = planned.format.content else {
        return Ok(None);
    };
    let (mut release_points, mut others, mut is_silent) = (BTreeMap::<String, Day>::new(), Vec::new(), false);
    source_files::for_each(path, planned.member.as_deref(), |file: SourceFile<'_>| {
        let SourceFile { place, reader } = file;
        if is_silent || !wants(&place) {
            return Ok(());
        }
        let mut head = Vec::new();
        let read = reader.take(HEAD_BYTES).read_to_end(&mut head);
        read.map_err(|source| SourceError::Io { place, doing: "read it", source })?;
        match stated(&String::from_utf8_lossy(&head)) {
            Some(StatedEdition { release_point: Some(name), day }) => {
                let newest = release_points.entry(name).or_insert(day);
                *newest = day.max(*newest);
            }
            Some(StatedEdition { release_point: None, day }) => others.push(day),
            None => is_silent = true,
        }
        Ok::<(), SourceError>(())
    })?;
    Ok(release_points.into_values().chain(others).min().filter(|_| !is_silent))
}

/// The combined content of the receipts of all files of a source.
struct MergedReceipts {
    /// The editions of all files.
    edition: String,
    retrieved: String,
    url: String,
}

/// None if a file of the source has no receipt. Every file is checked against its receipt.
fn received(path: &Path) -> Result<Option<MergedReceipts>, ProvenanceError> {
    let mut receipts = Vec::new();
    for file in source_files::list(path)? {
        let Some(receipt) = Receipt::read(&file)? else { return Ok(None) };
        receipt.check(&file)?;
        receipts.push(receipt);
    }
    // The earliest day is used, because law that changed after it may be missing.
    let Some(oldest) = receipts.iter().min_by_key(|receipt| &receipt.retrieved) else { return Ok(None) };
    let url = if receipts.len() == 1 { &oldest.final_url } else { &oldest.page };
    Ok(Some(MergedReceipts { edition: editions(&receipts), retrieved: oldest.retrieved.clone(), url: url.clone() }))
}

/// The edition of the files of a source. If they differ, all editions in the order of their
/// retrieval, so that provisions of an older file do not look as recent as the newest.
fn editions(receipts: &[Receipt]) -> String {
    let mut dated: Vec<(&str, String)> = receipts.iter().map(|r| (r.retrieved.as_str(), edition(r))).collect();
    dated.sort();
    let mut editions: Vec<String> = Vec::new();
    for (_, edition) in dated {
        if !editions.contains(&edition) {
            editions.push(edition);
        }
    }
    let left_out = editions.len().saturating_sub(EDITIONS_STATED_MAX);
    if left_out > 0 {
        // The oldest matter most, and the newest shows the span.
        editions.drain(EDITIONS_STATED_MAX - 1..editions.len() - 1);
        editions.insert(EDITIONS_STATED_MAX - 1, format!("{left_out} others"));
    }
    match editions.as_slice() {
        [one] => one.clone(),
        several => format!("{}, depending on the file", several.join(" or ")),
    }
}

/// If a publisher names no edition, its files are the current ones of that day.
fn edition(receipt: &Receipt) -> String {
    receipt.edition.clone().unwrap_or_else(|| format!("as of {}", receipt.retrieved))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::plan::Plan;
    use crate::receipt::{RECEIPT_FORMAT, sha256_of};

    fn planned(given: &str) -> Plan {
        let text = format!(
            "name = 't'\n[[source]]\nformat = 'native'\npath = 'a'\njurisdiction = 'XA'\ncode_body = 'c'\nkey = 'xa/c'\n\
             publisher = 'p'\nlicense = 'l'\n{given}"
        );
        Plan::parse(&text, Path::new("plan.toml")).unwrap()
    }

    fn put(file: &Path, edition: Option<&str>, retrieved: &str) {
        fs::write(file, retrieved).unwrap();
        let receipt = Receipt {
            format: RECEIPT_FORMAT,
            source: "s".into(),
            edition: edition.map(str::to_owned),
            page: "https://law.example/page".into(),
            url: "https://law.example/asked".into(),
            final_url: "https://law.example/final".into(),
            retrieved: retrieved.into(),
            checked: "2026-12-31".into(),
            bytes: fs::metadata(file).unwrap().len(),
            sha256: sha256_of(file).unwrap(),
            etag: None,
            last_modified: None,
        };
        receipt.write(file).unwrap();
    }

    #[test]
    fn the_plan_has_priority_over_receipts() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a");
        put(&file, Some("E"), "2026-03-01");
        let of = |given: &str| SourceProvenance::of(&planned(given).sources[0], &file);
        let found = of("").unwrap();
        assert_eq!(
            (found.edition.as_str(), found.retrieved.as_str(), found.url.as_str()),
            ("E", "2026-03-01", "https://law.example/final")
        );
        assert_eq!(of("edition = 'mine'").unwrap().edition, "mine");
        fs::write(&file, "2026-03-02").unwrap();
        assert!(of("").unwrap_err().to_string().contains("SHA-256"), "the file differs from its receipt");
        let all = of("edition = 'mine'\nretrieved = '2026-01-01'\nurl = 'u'").unwrap();
        assert_eq!(all.url, "u", "a plan that states everything needs no receipt");
    }

    #[test]
    fn missing_origin_fields_are_listed() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a");
        fs::write(&file, "x").unwrap();
        let unknown = SourceProvenance::of(&planned("edition = 'e'").sources[0], &file).unwrap_err().to_string();
        assert!(unknown.contains("gives retrieved and url"), "{unknown}");
        put(&file, None, "2026-03-01");
        assert_eq!(SourceProvenance::of(&planned("").sources[0], &file).unwrap().edition, "as of 2026-03-01");
    }

    #[test]
    fn files_of_several_editions_are_not_all_dated_by_the_newest() {
        let dir = tempfile::tempdir().unwrap();
        let edition = || SourceProvenance::of(&planned("").sources[0], dir.path()).unwrap().edition;
        put(&dir.path().join("1.xml"), Some("release 9"), "2026-03-09");
        put(&dir.path().join("2.xml"), Some("release 9"), "2026-03-08");
        assert_eq!(edition(), "release 9");
        put(&dir.path().join("3.xml"), Some("release 10"), "2026-03-10");
        assert_eq!(edition(), "release 9 or release 10, depending on the file");
        put(&dir.path().join("4.xml"), None, "2026-03-07");
        assert_eq!(edition(), "as of 2026-03-07 or release 9 or release 10, depending on the file");
        for day in 11..15 {
            put(&dir.path().join(format!("{day}.xml")), Some(&format!("release {day}")), &format!("2026-03-{day}"));
        }
        let expected = "as of 2026-03-07 or release 9 or release 10 or 3 others or release 14, depending on the file";
        assert_eq!(edition(), expected);
    }

    #[test]
    fn files_state_through_which_day_they_are_current() {
        let through = |format: &str, files: &[&str], given: &str| {
            let dir = tempfile::tempdir().unwrap();
            for (number, text) in files.iter().enumerate() {
                fs::write(dir.path().join(format!("{number}.xml")), text).unwrap();
            }
            let mut planned = planned(&format!("edition = 'e'\nretrieved = '2026-01-01'\nurl = 'u'\n{given}"));
            planned.sources[0].format = crate::import::IMPORTERS.iter().find(|known| known.name == format).unwrap();
            SourceProvenance::of(&planned.sources[0], dir.path()).unwrap().current_through
        };
        let title = |release: &str, created: &str| {
            format!(
                "<uscDoc><meta><docPublicationName>Online@{release}</docPublicationName>\
                 <dcterms:created>{created}T07:00:00</dcterms:created></meta></uscDoc>"
            )
        };
        // A title without changes keeps its day, so the newest title of a release point counts.
        let [old, new] = ["2015-11-30", "2025-08-26"].map(|day| title("119-36", day));
        assert_eq!(through("uslm", &[&old, &new], "").as_deref(), Some("2025-08-26"));
        let earlier = title("119-30", "2025-07-01");
        assert_eq!(through("uslm", &[&old, &earlier, &new], "").as_deref(), Some("2025-07-01"));
        assert_eq!(through("uslm", &[&old, "<uscDoc/>"], ""), None, "a file that states nothing may be older");
        assert_eq!(through("uslm", &[&new], "current_through = '2025-09-01'").as_deref(), Some("2025-09-01"));
        let amended = ["<AMDDATE>Dec. 29, 2022(fm)\n</AMDDATE>", "<AMDDATE>Jan. 3, 2023</AMDDATE>"];
        assert_eq!(through("ecfr", &amended, "").as_deref(), Some("2022-12-29"));
        assert_eq!(through("ecfr", &["<AMDDATE>soon</AMDDATE>"], ""), None);
        let revised = "<AMDDATE>Sept. 19, 2011</AMDDATE><REVISED>Revised as of October 1, 2011</REVISED>";
        assert_eq!(through("cfr-annual", &[revised], "").as_deref(), Some("2011-10-01"));
        assert_eq!(through("native", &[revised], ""), None);
    }

    #[test]
    fn a_folder_needs_a_receipt_for_every_file() {
        let dir = tempfile::tempdir().unwrap();
        put(&dir.path().join("1.xml"), Some("2026-02"), "2026-03-02");
        put(&dir.path().join("2.xml"), Some("2026-01"), "2026-03-01");
        let found = SourceProvenance::of(&planned("").sources[0], dir.path()).unwrap();
        let expected = SourceProvenance {
            edition: "2026-01 or 2026-02, depending on the file".into(),
            current_through: None,
            retrieved: "2026-03-01".into(),
            url: "https://law.example/page".into(),
        };
        assert_eq!(found, expected);
        fs::write(dir.path().join("3.xml"), "by hand").unwrap();
        assert!(SourceProvenance::of(&planned("").sources[0], dir.path()).is_err());
    }
}
