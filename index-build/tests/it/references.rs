//! Cross references of the sample corpus and of real law: known ones, which were found by reading
//! the texts, and the general rules.

use std::path::Path;

use hornbook_corpus::ids::NodeOrdinal;
use hornbook_corpus::snapshot::Snapshot;
use hornbook_index_build::report::WarningKind;

use crate::common::{build_at, sample};
use crate::corpora::corpora;
use crate::real_law::built;

fn citation(snapshot: &Snapshot, node: NodeOrdinal) -> String {
    snapshot.nodes.get(node).unwrap().citation
}

fn outgoing(snapshot: &Snapshot, cited: &str) -> Vec<String> {
    let found = snapshot.nodes_with_citation(cited).unwrap();
    let &(node, _) = found.first().unwrap_or_else(|| panic!("no provision has the citation {cited}"));
    snapshot.references.outgoing(node).map(|cited| citation(snapshot, cited)).collect()
}

/// Asserts that only provisions are cited, each once, and never by themselves, and that incoming
/// lists are the transpose, in order.
fn assert_sound(snapshot: &Snapshot) {
    let total = snapshot.outline.len();
    let mut incoming: Vec<Vec<NodeOrdinal>> = vec![Vec::new(); total as usize];
    for node in (0..total).map(NodeOrdinal) {
        let mut out: Vec<NodeOrdinal> = snapshot.references.outgoing(node).collect();
        assert!(out.is_empty() || snapshot.outline.is_provision(node), "a container cites");
        for &cited in &out {
            assert!(snapshot.outline.is_provision(cited) && cited != node, "{}", citation(snapshot, node));
            incoming[cited.index()].push(node);
        }
        let listed = out.len();
        out.sort_unstable();
        out.dedup();
        assert_eq!(out.len(), listed, "{} lists a provision twice", citation(snapshot, node));
    }
    for (node, expected) in (0..).map(NodeOrdinal).zip(incoming) {
        assert_eq!(snapshot.references.incoming(node).collect::<Vec<_>>(), expected);
    }
    assert_eq!(snapshot.manifest.counts.references, snapshot.references.count() as u64);
}

fn sample_snapshot(dir: &Path) -> Snapshot {
    let out = dir.join("snapshot");
    let outcome = build_at(&sample().join("plan.toml"), &out).unwrap();
    let report = &outcome.report.references;
    assert_eq!(report.references, outcome.manifest.counts.references);
    assert!(report.citations > report.references && report.citing > 50 && report.cited > 50, "{report:?}");
    assert!(outcome.report.stages.iter().any(|stage| stage.name == "references"));
    Snapshot::verify(&out, |_| ()).unwrap()
}

#[test]
fn the_sample_cites_as_its_texts_say() {
    let dir = tempfile::tempdir().unwrap();
    let snapshot = sample_snapshot(dir.path());
    assert_sound(&snapshot);
    let out = |cited: &str| outgoing(&snapshot, cited);
    // By number only in the same code, by name from the code of a city, in order of mention.
    assert_eq!(out("Arden Rev. Stat. § 47-2-201"), ["Arden Rev. Stat. § 47-2-202", "14 S.F.C. § 1395w–4"]);
    assert!(out("Port Arden Mun. Code § 17.28.020").contains(&"Arden Rev. Stat. § 47-2-202".to_owned()));
    assert_eq!(
        out("Arden Rev. Stat. § 12-2-104"),
        ["12-2-102", "12-2-104a", "12-1-105"].map(|number| format!("Arden Rev. Stat. § {number}"))
    );
    assert_eq!(
        out("Arden Rev. Stat. § 18-2-210"),
        ["18-2-202", "18-2-205"].map(|number| format!("Arden Rev. Stat. § {number}"))
    );
    // 12-2-102 and 12-2-103 cite each other. A chapter is not a provision.
    let both = |a: &str, b: &str| out(a).iter().any(|cited| cited == b) && out(b).iter().any(|cited| cited == a);
    assert!(both("Arden Rev. Stat. § 12-2-102", "Arden Rev. Stat. § 12-2-103"));
    assert!(!out("Arden Rev. Stat. § 12-2-104a").iter().any(|cited| cited.contains("47-")));
}

#[test]
fn virginia_cites_its_own_code_and_what_is_not_held_is_left_out() {
    let Some(corpora) = corpora() else { return };
    let (_dir, snapshot) = built(&corpora, |source| source.contains("va-code"));
    assert_sound(&snapshot);
    let va = |numbers: &[&str]| numbers.iter().map(|number| format!("Va. Code § {number}")).collect::<Vec<_>>();
    let all = [
        ("Va. Code § 53.1-24", va(&["42.1-76"])),
        ("Va. Code § 56-231.41", va(&["13.1-620", "13.1-825"])),
        ("Va. Code § 13.1-345", va(&[])),
        // It also cites § 15.2-5101, in a title that is not among the sources.
        ("Va. Code § 56-232", va(&["56-233", "56-235", "56-240", "56-246", "56-250", "13.1-620"])),
    ];
    for (cited, expected) in all {
        let found = outgoing(&snapshot, cited);
        assert!(expected.iter().all(|one| found.contains(one)), "{cited}: {found:?}");
        assert!(!expected.is_empty() || found.is_empty(), "{cited}: {found:?}");
    }
}

#[test]
fn marylands_regulations_cite_their_neighbours_by_the_last_part() {
    let Some(corpora) = corpora() else { return };
    let (_dir, snapshot) = built(&corpora, |source| source.contains("md-comar"));
    assert_sound(&snapshot);
    assert_eq!(outgoing(&snapshot, "COMAR 26.11.30.05")[..2], ["COMAR 26.11.01.10", "COMAR 26.11.30.04"]);
    assert!(outgoing(&snapshot, "COMAR 10.09.02.07").contains(&"COMAR 10.09.09.07".to_owned()));
    assert!(outgoing(&snapshot, "COMAR 26.13.07.11").contains(&"COMAR 26.13.07.13".to_owned()));
}

#[test]
fn a_citation_that_several_provisions_have_means_the_nearest() {
    let dir = tempfile::tempdir().unwrap();
    let plan = "name = \"Articles\"\n[[jurisdiction]]\ncode = \"XA\"\nname = \"Arden\"\nlevel = \"state\"\n\n\
                [[source]]\nformat = \"native\"\npath = \"law.jsonl\"\njurisdiction = \"XA\"\ncode_body = \"Arden City Code\"\n\
                key = \"xa/code\"\ncitation = \"Arden City Code § {number}\"\npublisher = \"A\"\nedition = \"1\"\n\
                retrieved = \"2026-01-01\"\nlicense = \"none\"\nurl = \"https://example.org\"\n";
    std::fs::write(dir.path().join("plan.toml"), plan).unwrap();
    let mut lines = vec![];
    for article in 1..=3 {
        lines.push(format!(
            r#"{{"key": "a{article}", "level": "article", "number": "{article}", "heading": "Article {article}"}}"#
        ));
        // Article 3 has no section 1-2.
        for number in (1..=3).filter(|number| article < 3 || *number != 2) {
            let text = format!("As § 1-1, § 1-2 of this article, and § 1-{article} say, but not Article 2, § 1-3.");
            lines.push(format!(
                r#"{{"key": "a{article}/s{number}", "parent": "a{article}", "level": "section", "number": "1-{number}", "citation": "Arden City Code § 1-{number}", "heading": "Section {number}", "text": "{text}"}}"#
            ));
        }
    }
    std::fs::write(dir.path().join("law.jsonl"), lines.join("\n")).unwrap();
    build_at(&dir.path().join("plan.toml"), &dir.path().join("snapshot")).unwrap();
    let snapshot = Snapshot::verify(&dir.path().join("snapshot"), |_| ()).unwrap();
    assert_sound(&snapshot);
    let key = |node: NodeOrdinal| snapshot.nodes.get(node).unwrap().source_key;
    let cited: Vec<(String, Vec<String>)> = (0..snapshot.outline.len())
        .map(NodeOrdinal)
        .filter(|&node| snapshot.outline.is_provision(node))
        .map(|node| (key(node), snapshot.references.outgoing(node).map(key).collect()))
        .collect();
    let expected: [(&str, &[&str]); 8] = [
        ("a1/s1", &["a1/s2"]),
        ("a1/s2", &["a1/s1"]),
        ("a1/s3", &["a1/s1", "a1/s2"]),
        ("a2/s1", &["a2/s2"]),
        ("a2/s2", &["a2/s1"]),
        ("a2/s3", &["a2/s1", "a2/s2"]),
        ("a3/s1", &["a3/s3"]),
        ("a3/s3", &["a3/s1"]),
    ];
    assert_eq!(cited.len(), expected.len());
    for ((key, cited), (expected_key, expected)) in cited.iter().zip(expected) {
        assert!(key.ends_with(expected_key), "{key} instead of {expected_key}");
        assert_eq!(cited.len(), expected.len(), "{key}: {cited:?}");
        assert!(cited.iter().zip(expected).all(|(cited, expected)| cited.ends_with(expected)), "{key}: {cited:?}");
    }
}

/// A code of two titles, of which the first cites `cited` sections of the second, and the second has `held`.
fn two_titles(cited: u32, held: u32) -> Vec<String> {
    let dir = tempfile::tempdir().unwrap();
    let plan = "name = \"Two titles\"\n[[source]]\nformat = \"native\"\npath = \"law.jsonl\"\njurisdiction = \"VT\"\n\
                code_body = \"Vermont Statutes Annotated\"\nkey = \"vt/vsa\"\npublisher = \"A\"\nedition = \"1\"\n\
                retrieved = \"2026-01-01\"\nlicense = \"none\"\nurl = \"https://example.org\"\n";
    std::fs::write(dir.path().join("plan.toml"), plan).unwrap();
    let mut lines = vec![];
    for (title, count) in [(1, cited), (27, held)] {
        lines.push(format!(
            r#"{{"key": "t{title}", "level": "title", "number": "{title}", "heading": "Title {title}"}}"#
        ));
        for number in 1..=count {
            lines.push(format!(
                r#"{{"key": "t{title}/s{number}", "parent": "t{title}", "level": "section", "number": "{number}", "citation": "{title} V.S.A. § {number}", "heading": "Section {number}", "text": "As 27 V.S.A. § {number} and 42 U.S.C. § {number} say, and again 27 V.S.A. § {number}."}}"#
            ));
        }
    }
    std::fs::write(dir.path().join("law.jsonl"), lines.join("\n")).unwrap();
    let built = build_at(&dir.path().join("plan.toml"), &dir.path().join("snapshot")).unwrap();
    let warnings = built.report.warnings.warnings;
    warnings
        .into_iter()
        .filter(|warning| warning.kind == WarningKind::IncompleteCopy)
        .map(|one| one.to_string())
        .collect()
}

#[test]
fn a_title_that_lacks_much_of_what_is_cited_in_it_is_said_to_be_incomplete() {
    let warned = two_titles(130, 20);
    assert_eq!(
        warned,
        ["Vermont Statutes, title 27: 110 of 130 citations of its sections name one that is not among the 20 here; \
          the source seems to lack a part of it"]
    );
    // Nothing of the United States Code is here, which nobody promised, and some sections are repealed.
    assert_eq!(two_titles(130, 95), [] as [String; 0]);
    assert_eq!(two_titles(30, 11), [] as [String; 0]);
}
