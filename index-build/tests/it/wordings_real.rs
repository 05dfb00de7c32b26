//! Tests which wording is the law on three days each: real sections as their importers deliver
//! them, with the rule that decides for all sources.

use std::path::Path;

use hornbook_corpus::day::Day;
use hornbook_corpus::validity::{self, Validity};
use hornbook_index_build::wording_validity::wordings_of;

use crate::corpora::corpora;
use crate::imported::{Imported, documents, import};
use crate::open_law_source;
use crate::state_json::{idaho_plan, of_plan, south_dakota, washington};

/// A day, the status of the section on it, and the start of the displayed text.
type Fact = (&'static str, &'static str, &'static str);

fn check(wordings: Vec<(Validity, hornbook_index_build::content::Content)>, name: &str, facts: [Fact; 3]) {
    let (claims, contents): (Vec<_>, Vec<_>) = wordings.into_iter().unzip();
    for (day, status, begins) in facts {
        let standing = validity::state_on(&claims, day.parse().unwrap());
        let text = contents[standing.wording].text.as_deref().unwrap_or_default();
        assert_eq!((standing.status.as_str(), text.starts_with(begins)), (status, true), "{name} on {day}: {text:.80}");
    }
}

fn check_all(imported: &Imported, facts: &[(&str, [Fact; 3])]) {
    for (key, facts) in facts {
        check(wordings_of(imported.node(key).clone(), Day::LAST), key, *facts);
    }
}

fn state(corpora: &Path, archive: &str, source: &crate::imported::Source<'_>, chapters: &[&str]) -> Imported {
    let picks = |path: &str| chapters.iter().any(|chapter| path.contains(chapter));
    import(&documents(&corpora.join(archive), source.format, picks), source)
}

#[test]
fn south_dakota_changes_on_its_days() {
    let Some(corpora) = corpora() else { return };
    let chapters = ["title-9-", "title-13-", "title-1-", "title-10-", "title-58-", "title-22-"];
    let imported = state(&corpora, "sd-statutes-json-2026.tar.zst", &south_dakota(), &chapters);
    let gone =
        |begins| [("2025-12-31", "in force", begins), ("2026-01-01", "repealed", ""), ("2026-11-24", "repealed", "")];
    let election = [
        ("2025-12-31", "in force", "In each municipality an annual election"),
        ("2026-01-01", "in force", "In each municipality an election of officers"),
        ("2026-11-24", "in force", "In each municipality an election of officers"),
    ];
    check_all(
        &imported,
        &[
            ("sd/sdcl/s9-13-1", election),
            ("sd/sdcl/s9-13-1.2", gone("If the joint election provided for")),
            ("sd/sdcl/s9-13-40", gone("Any other provision of this chapter")),
            ("sd/sdcl/s13-7-10.2", gone("If the joint election provided for")),
            ("sd/sdcl/s13-7-10.4", gone("For any school board election")),
            (
                "sd/sdcl/s10-45-2",
                [
                    ("2026-11-24", "in force", "There is hereby imposed a tax"),
                    ("2027-06-30", "in force", "There is hereby imposed a tax"),
                    ("2027-07-01", "in force", "There is hereby imposed a tax"),
                ],
            ),
            (
                "sd/sdcl/s10-35-1.9",
                [
                    ("2026-11-24", "in force", "The first year after"),
                    ("2045-12-31", "in force", "The first year after"),
                    ("2046-01-01", "repealed", "The first year after"),
                ],
            ),
            (
                "sd/sdcl/s58-17-84.1",
                [
                    ("2018-06-30", "uncertain", "Any health benefit plan"),
                    ("2019-06-30", "uncertain", "Any health benefit plan"),
                    ("2026-11-24", "uncertain", "Any health benefit plan"),
                ],
            ),
        ],
    );
    let rate = |day: &str| {
        let wordings = wordings_of(imported.node("sd/sdcl/s10-45-2").clone(), Day::LAST);
        let claims: Vec<Validity> = wordings.iter().map(|(claim, _)| *claim).collect();
        let text = &wordings[validity::state_on(&claims, day.parse().unwrap()).wording].1.text;
        text.as_ref().is_some_and(|text| text.contains("four and one-half percent"))
    };
    assert_eq!(["2027-06-30", "2027-07-01"].map(rate), [false, true]);
}

#[test]
fn idaho_changes_on_its_days() {
    let Some(corpora) = corpora() else { return };
    let plan = idaho_plan();
    let chapters = ["title-title-19/", "title-title-49/", "title-title-67/", "title-title-39/"];
    let imported = state(&corpora, "id-statutes-json-2026.tar.zst", &of_plan(&plan), &chapters);
    check_all(
        &imported,
        &[
            (
                "id/code/s49-1804",
                [
                    ("2025-12-31", "in force", "Any authorized officer within the jurisdiction"),
                    ("2026-01-01", "in force", "Any authorized officer who dispatches"),
                    ("2026-11-24", "in force", "Any authorized officer who dispatches"),
                ],
            ),
            (
                "id/code/s49-1803a",
                [
                    ("2025-12-31", "in force", "(1) Any authorized officer"),
                    ("2026-01-01", "expired", "(1) Any authorized officer"),
                    ("2026-11-24", "expired", "(1) Any authorized officer"),
                ],
            ),
            (
                "id/code/s67-6227",
                [
                    ("2026-11-24", "in force", "(1) There is hereby created"),
                    ("2026-12-30", "in force", "(1) There is hereby created"),
                    ("2026-12-31", "expired", "(1) There is hereby created"),
                ],
            ),
            (
                "id/code/s39-7803",
                [
                    ("2000-01-01", "uncertain", "Any tobacco product manufacturer"),
                    ("2026-11-24", "uncertain", "Any tobacco product manufacturer"),
                    ("2035-01-01", "uncertain", "Any tobacco product manufacturer"),
                ],
            ),
        ],
    );
}

#[test]
fn washington_changes_on_its_days() {
    let Some(corpora) = corpora() else { return };
    let chapters = [
        "/title-title-18/",
        "/title-title-9/",
        "/title-title-7/",
        "/title-title-42/",
        "/title-title-46/",
        "-43-131.",
        "-28b-76.",
    ];
    let imported = state(&corpora, "wa-statutes-json-2026.tar.zst", &washington(), &chapters);
    let nurses = "An advanced registered nurse practitioner may sign";
    check_all(
        &imported,
        &[
            (
                "wa/rcw/s18.79.256",
                [
                    ("2026-11-24", "in force", nurses),
                    ("2027-06-29", "in force", nurses),
                    ("2027-06-30", "in force", "An advanced practice registered nurse may sign"),
                ],
            ),
            (
                // A list of repeals in chapter 43.131 names it.
                "wa/rcw/s28b.76.730",
                [("2026-06-30", "in force", ""), ("2026-07-01", "repealed", ""), ("2026-11-24", "repealed", "")],
            ),
            (
                "wa/rcw/s7.120.010",
                [
                    ("2025-12-31", "not yet effective", ""),
                    ("2026-01-01", "in force", ""),
                    ("2026-11-24", "in force", ""),
                ],
            ),
            (
                "wa/rcw/s42.17a.001",
                [
                    ("2025-12-31", "in force", "It is"),
                    ("2026-01-01", "transferred", ""),
                    ("2026-11-24", "transferred", ""),
                ],
            ),
            (
                "wa/rcw/s9.41.114",
                [
                    ("2020-01-01", "uncertain", "(1) A dealer shall report"),
                    ("2026-11-24", "uncertain", "(1) A dealer shall report"),
                    ("2035-01-01", "uncertain", "(1) A dealer shall report"),
                ],
            ),
        ],
    );
}

#[test]
fn the_district_changes_on_its_days() {
    let Some(corpora) = corpora() else { return };
    let plan = open_law_source::district();
    let all = open_law_source::documents(&corpora.join(plan.archive));
    let (nodes, _) = open_law_source::import(&all, &plan).unwrap();
    let find = |key: &str| {
        let node = nodes.iter().find(|node| node.key == key).unwrap_or_else(|| panic!("there is no {key}"));
        let mut content = node.content.clone();
        content.wordings.extend(node.wordings.iter().cloned());
        wordings_of(content, Day::LAST)
    };
    let facts = [
        (
            "dc/code/s1-303.21",
            [
                ("2024-10-08", "in force", "(a) The Mayor, pursuant to subchapter I"),
                ("2024-10-24", "in force", "(a) The Mayor shall issue"),
                ("2026-11-24", "in force", "(a) The Mayor shall issue"),
            ],
        ),
        // Only the heading of their subchapter states this.
        (
            "dc/code/s32-1691.02",
            [
                ("2024-09-29", "in force", "(a) The WIC, in collaboration"),
                ("2024-09-30", "expired", "(a) The WIC, in collaboration"),
                ("2026-11-24", "expired", "(a) The WIC, in collaboration"),
            ],
        ),
        (
            "dc/code/s1-309.14",
            [
                ("2024-10-08", "in force", "(a) There is established"),
                ("2025-12-30", "in force", "(a) There is established"),
                ("2025-12-31", "expired", "(a) There is established"),
            ],
        ),
        // The last section of its subchapter ends the subchapter, which is in force today.
        (
            "dc/code/s44-664.01",
            [("2024-10-08", "in force", ""), ("2029-09-29", "in force", ""), ("2029-09-30", "expired", "")],
        ),
        // That section says 'this chapter', and other subchapters of the chapter are in force.
        (
            "dc/code/s44-662.01",
            [("2016-09-29", "in force", ""), ("2016-09-30", "uncertain", ""), ("2026-11-24", "uncertain", "")],
        ),
        (
            "dc/code/s10-1906",
            [("2023-12-30", "in force", ""), ("2023-12-31", "expired", ""), ("2026-11-24", "expired", "")],
        ),
        (
            "dc/code/s44-663.01",
            [("2017-09-29", "in force", ""), ("2017-09-30", "expired", ""), ("2026-11-24", "expired", "")],
        ),
        (
            "dc/code/s3-151",
            [("2017-01-01", "uncertain", ""), ("2024-10-08", "uncertain", ""), ("2026-11-24", "uncertain", "")],
        ),
    ];
    for (key, facts) in facts {
        check(find(key), key, facts);
    }
}
