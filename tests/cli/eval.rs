//! `hornbook eval`: judged queries on the sample.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::{hornbook, sample_plan, stderr, stdout};

const JUDGED: &str = r#"{"id": "c1", "kind": "citation", "split": "tune", "query": "3 s.f.c. 1823", "jurisdiction": null, "relevant": [{"citation": "3 S.F.C. § 1823", "ref": "", "grade": 3}]}
{"id": "q1", "kind": "question", "split": "report", "query": "how tall may a fence be", "jurisdiction": "XA", "relevant": [{"citation": "Port Arden Mun. Code § 17.40.030", "ref": "", "grade": 3}, {"citation": "Arden Rev. Stat. § 999-9-999", "ref": "", "grade": 1}]}
{"id": "q2", "kind": "question", "split": "report", "query": "how tall may a fence be", "jurisdiction": "VA", "relevant": [{"citation": "Va. Code § 1-1", "ref": "", "grade": 3}]}
"#;

fn eval(snapshot: &Path, judged: &Path, arguments: &[&str]) -> std::process::Output {
    hornbook().arg("eval").arg(snapshot).arg(judged).args(arguments).output().unwrap()
}

fn built(plan: &Path, out: &Path) {
    let output = hornbook().arg("build").arg(plan).args(["--quiet", "--out"]).arg(out).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
}

#[test]
fn judged_queries_are_measured_compared_and_counted() {
    let dir = tempfile::tempdir().unwrap();
    let (out, judged) = (dir.path().join("snapshot"), dir.path().join("judged.jsonl"));
    built(&sample_plan(), &out);
    fs::write(&judged, JUDGED).unwrap();

    let arguments =
        ["--json", "--queries", "--compare", "hybrid,keyword", "--try", "topic.keyword=0.9", "--rounds", "2"];
    let output = eval(&out, &judged, &arguments);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stderr(&output).contains("searching: 18 searches"), "{}", stderr(&output));
    let reported: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let modes: Vec<&str> =
        reported["runs"].as_array().unwrap().iter().map(|run| run["mode"].as_str().unwrap()).collect();
    assert_eq!(modes, ["hybrid", "semantic", "keyword"]);
    for run in reported["runs"].as_array().unwrap() {
        let kinds: Vec<&str> =
            run["kinds"].as_array().unwrap().iter().map(|kind| kind["kind"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["citation", "question", "all"]);
        for kind in run["kinds"].as_array().unwrap() {
            assert_eq!(kind["measures"]["first"]["mean"], 1.0, "{run}");
            assert_eq!(
                kind["measures"]["nDCG@10"]["low"], 1.0,
                "provisions missing from the snapshot do not lower the measure"
            );
        }
        assert_eq!(run["queries"][1]["id"], "q1");
        assert_eq!(run["latencyMicros"]["searches"], 4);
        assert!(run["latencyMicros"]["median"].as_f64().unwrap() > 0.0);
    }
    let compared = reported["compared"].as_array().unwrap();
    assert_eq!(compared.len(), 4, "two modes, and each mode with and without --try");
    assert_eq!(compared[0]["name"], "hybrid against keyword");
    assert_eq!(compared[0]["kinds"][0]["pValue"], 1.0);
    assert_eq!(reported["leftOut"]["queries"][0], "q2");
    assert_eq!(reported["leftOut"]["judgements"], 1);

    let tuned = stdout(&eval(&out, &judged, &["--split", "tune", "--mode", "keyword", "--rounds", "0"]));
    assert!(tuned.contains("1.000 (1.000 to 1.000)") && !tuned.contains("median"), "{tuned}");
    let reported = stdout(&eval(&out, &judged, &["--split", "report"]));
    assert!(reported.contains(": 1 query\n") && reported.contains(": 1 judged provision\n"), "{reported}");
}

#[test]
fn heading_queries_work_without_indexed_headings() {
    let dir = tempfile::tempdir().unwrap();
    let plan = fs::read_to_string(sample_plan()).unwrap();
    let folder = sample_plan().parent().unwrap().to_owned();
    fs::write(dir.path().join("plan.toml"), format!("index_headings = false\n{plan}")).unwrap();
    let measured = |index_headings: bool| -> f64 {
        let out = dir.path().join(format!("snapshot-{index_headings}"));
        match index_headings {
            true => built(&sample_plan(), &out),
            false => {
                let mut build = hornbook();
                build.arg("build").arg(dir.path().join("plan.toml")).arg("--sources").arg(&folder);
                let output = build.args(["--quiet", "--out"]).arg(&out).output().unwrap();
                assert!(output.status.success(), "{}", stderr(&output));
            }
        }
        let output = hornbook()
            .args(["eval", "--json", "--mode", "keyword", "--rounds", "0", "--headings", "100"])
            .arg(&out)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        let reported: Value = serde_json::from_str(&stdout(&output)).unwrap();
        assert_eq!(reported["runs"][0]["kinds"][0]["queries"], 100);
        reported["runs"][0]["kinds"][0]["measures"]["nDCG@10"]["mean"].as_f64().unwrap()
    };
    let (with, without) = (measured(true), measured(false));
    assert!(with > 0.9 && without < with - 0.2, "{with} with headings, {without} without");
}

#[test]
fn invalid_eval_input_is_reported_in_one_line() {
    let dir = tempfile::tempdir().unwrap();
    let (out, judged) = (dir.path().join("snapshot"), dir.path().join("judged.jsonl"));
    built(&sample_plan(), &out);
    let line = JUDGED.lines().next().unwrap();
    for (text, arguments, expected) in [
        (format!("{line}\n{{"), &[][..], "judged.jsonl:2: "),
        (line.replace("\"grade\": 3", "\"grade\": 9"), &[], "grades are from 1 to 3"),
        (line.replace("3 S.F.C. § 1823", "3 S.F.C. § 99999"), &[], "contains none of the judged provisions"),
        (line.to_owned(), &["--try", "question.colour=1"], "is not a parameter; the parameters are breadcrumb"),
        (line.to_owned(), &["--compare", "hybrid"], "name two modes"),
    ] {
        fs::write(&judged, text).unwrap();
        let output = eval(&out, &judged, arguments);
        assert!(!output.status.success() && stderr(&output).contains(expected), "{}", stderr(&output));
    }
    let output = eval(&out, &dir.path().join("none.jsonl"), &[]);
    assert!(stderr(&output).contains("cannot read judged queries"), "{}", stderr(&output));
}

#[test]
fn queries_are_made_from_a_snapshot_fitted_and_shown_side_by_side() {
    let dir = tempfile::tempdir().unwrap();
    let (out, judged, page) =
        (dir.path().join("snapshot"), dir.path().join("made.jsonl"), dir.path().join("page.html"));
    built(&sample_plan(), &out);
    let make = || stdout(&hornbook().arg("eval").arg(&out).args(["--make", "8"]).output().unwrap());
    let made = make();
    assert_eq!(made, make(), "the same law gives the same queries");
    for kind in ["heading", "repealed", "definition", "reference"] {
        let count = made.matches(&format!("\"kind\":\"{kind}\"")).count();
        assert!((1..=8).contains(&count), "{count} of {kind}");
    }
    fs::write(&judged, &made).unwrap();

    let reported: Value =
        serde_json::from_str(&stdout(&eval(&out, &judged, &["--json", "--mode", "hybrid", "--rounds", "0"]))).unwrap();
    assert_eq!(reported["leftOut"]["queries"].as_array().unwrap().len(), 0, "all queries are usable");
    let headings =
        reported["runs"][0]["kinds"].as_array().unwrap().iter().find(|kind| kind["kind"] == "heading").unwrap();
    assert!(headings["measures"]["MRR@10"]["mean"].as_f64().unwrap() > 0.9, "{headings}");

    let fitted = stdout(&eval(&out, &judged, &["--fit"]));
    assert!(fitted.contains("--try topic.citedBy=") && fitted.contains("# phrase, fitted to"), "{fitted}");

    let arguments = ["--html", page.to_str().unwrap(), "--try", "topic.keyword=0.01"];
    assert!(eval(&out, &judged, &arguments).status.success());
    let html = fs::read_to_string(&page).unwrap();
    assert!(html.starts_with("<!DOCTYPE html>") && html.contains("Right: topic.keyword=0.01"), "{html}");
    assert!(html.contains("class=\"mark\"") && !html.contains("<script"), "{html}");
    let one_side = eval(&out, &judged, &["--html", page.to_str().unwrap()]);
    assert!(stderr(&one_side).contains("add --try or --against"), "{}", stderr(&one_side));
}

const CENSUS: &str = "\
citation,citation_key,type,subtype,jurisdiction,occurrences,resolved,answer_kind
3 S.F.C. § 1823,3 s.f.c. § 1823,Statute,state_statute,XA,70,true,exact
Arden Rev. Stat. § 24-2-201,arden rev. stat. § 24-2-201,Statute,state_statute,XA,20,false,unresolved
Arden Rev. Stat. § 24-2-999,arden rev. stat. § 24-2-999,Statute,state_statute,XA,6,true,exact
\"Ruritania, or \"\"not\"\" § 5\",ruritania,Statute,state_statute,XA,4,false,unresolved
42 U.S.C. § 1983,42 u.s.c. § 1983,Statute,usc,US,900,true,exact
Fed. R. Civ. P. 12,fed. r. civ. p. 12,Court Rule,federal_rule,US,800,true,exact
";

#[test]
fn a_census_is_resolved_beside_another_resolver_and_every_miss_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let (out, census) = (dir.path().join("snapshot"), dir.path().join("census.csv"));
    built(&sample_plan(), &out);
    fs::write(&census, CENSUS).unwrap();
    let run = |arguments: &[&str]| {
        hornbook().arg("eval").arg(&out).args(arguments).arg("--census").arg(&census).output().unwrap()
    };

    let output = run(&[]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stderr(&output).contains("resolving: 6 citations"), "{}", stderr(&output));
    let text = stdout(&output);
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>().join(" ");
    let lines: Vec<String> = text.lines().map(words).collect();
    assert_eq!(
        lines,
        [
            "type jurisdiction rows resolved weighted other resolver weighted not loaded",
            "Court Rule US 0 - - - - 1",
            "Statute US 0 - - - - 1",
            "Statute XA 4 50.0 % 90.0 % 50.0 % 76.0 % 0",
            "",
            "Statute XA: 2 misses (not understood 1, no such section 1)",
            "occurrences reason other resolver citation",
            "6 no such section resolved Arden Rev. Stat. § 24-2-999",
            "4 not understood missed Ruritania, or \"not\" § 5",
        ]
    );

    let output = run(&["--json", "--misses", "1"]);
    let reported: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let arden = &reported["census"][2];
    assert_eq!(arden["loaded"], serde_json::json!({ "rows": 4, "occurrences": 100 }));
    assert_eq!(arden["resolved"]["occurrences"], 90);
    assert_eq!(arden["resolvedByOther"]["occurrences"], 76);
    assert_eq!(arden["misses"].as_array().unwrap().len(), 1);
    assert_eq!(arden["misses"][0]["reason"], "no_such_section");

    for (bad, message) in [
        (CENSUS.replace("occurrences", "times"), "census.csv, line 2: "),
        (CENSUS.replace(",20,false", ",twenty,false"), "census.csv, line 3: "),
        (CENSUS.replace(",6,true", ",6,perhaps"), "census.csv, line 4: "),
        (CENSUS.replace("\n3 S.F.C. § 1823,", "\n,"), "census.csv, line 2: the citation is empty"),
    ] {
        fs::write(&census, bad).unwrap();
        let output = run(&[]);
        assert!(!output.status.success());
        assert!(stderr(&output).contains(message), "{message}: {}", stderr(&output));
    }
    fs::remove_file(&census).unwrap();
    assert!(stderr(&run(&[])).contains("cannot read the census"));
}
