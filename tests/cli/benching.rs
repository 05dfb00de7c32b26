//! `hornbook bench`: a snapshot in process, a server on loopback, and two results compared. No figure is asserted.

use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::Value;

use crate::serving::Started;
use crate::{hornbook, sample_plan, stderr, stdout};

fn built(out: &Path) {
    let output = hornbook().arg("build").arg(sample_plan()).args(["--quiet", "--out"]).arg(out).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
}

fn bench(target: &Path, arguments: &[&str]) -> Output {
    hornbook().arg("bench").arg(target).args(arguments).output().unwrap()
}

const SHORT: [&str; 6] = ["--rounds", "2", "--duration", "0.3", "--warm-up", "0.05"];

/// Every round has what it should, and the rounds add up to all.
fn assert_sound(result: &Value, stages: &[&str]) {
    let rounds = result["rounds"].as_array().unwrap();
    let sum = |name: &str| rounds.iter().map(|round| round[name].as_u64().unwrap()).sum::<u64>();
    for name in ["answered", "refused", "unsent"] {
        assert_eq!(result["total"][name], sum(name), "{name}");
    }
    assert!(sum("answered") > 0, "{result:#}");
    let answered = |round: &&Value| round["answered"] != 0;
    for round in rounds.iter().chain([&result["total"]]).filter(answered) {
        let latency = &round["latency"];
        let values = latency["percentiles"].as_array().unwrap().iter().map(|pair| pair[1].as_f64().unwrap());
        let values: Vec<f64> = values.collect();
        assert!(values.len() == 6 && values.is_sorted() && values[0] > 0.0, "{latency:#}");
        assert!(latency["min"].as_f64() <= latency["max"].as_f64());
        let buckets = latency["buckets"].as_array().unwrap();
        assert_eq!(buckets.iter().map(|bucket| bucket[1].as_u64().unwrap()).sum::<u64>(), latency["count"]);
        let named: Vec<&str> =
            round["stages"].as_array().unwrap().iter().map(|stage| stage["name"].as_str().unwrap()).collect();
        assert!(stages.iter().all(|stage| named.contains(stage)), "{named:?}");
    }
}

#[test]
fn a_snapshot_is_measured_in_both_loops_kept_drawn_and_compared() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name).display().to_string();
    let snapshot = dir.path().join("snapshot");
    built(&snapshot);

    let (open, page) = (at("open.json"), at("open.html"));
    let arguments = [&SHORT[..], &["--rate", "200", "--save", &open, "--report", &page, "--json"]].concat();
    let output = bench(&snapshot, &arguments);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stderr(&output).contains("round 2 of 2: "), "{}", stderr(&output));
    let told: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(told, serde_json::from_slice::<Value>(&fs::read(&open).unwrap()).unwrap());
    assert_eq!((&told["load"]["perSecond"], &told["load"]["arrivals"]), (&200.0.into(), &"poisson".into()));
    assert_sound(&told, &["understand", "keyword", "vector", "snippet"]);

    let page = fs::read_to_string(&page).unwrap();
    assert_eq!(page.matches("<svg").count(), 3);
    for foreign in ["<script", "http://", "https://", "NaN", "url("] {
        assert!(!page.contains(foreign), "{foreign}");
    }

    let again = bench(&snapshot, &arguments);
    assert!(!again.status.success() && stderr(&again).contains("are not overwritten"), "{}", stderr(&again));

    let closed = at("closed.json");
    let queries = at("queries.jsonl");
    fs::write(&queries, "fence height\n{\"query\": \"deposit\", \"jurisdiction\": \"ZZ\"}\n").unwrap();
    let output =
        bench(&snapshot, &[&SHORT[..], &["--concurrency", "2", "--queries", &queries, "--save", &closed]].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stderr(&output).contains("1 of 2 queries are left out"), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.contains("closed loop, 2 at once") && text.contains("p99.9") && text.contains("snippet"), "{text}");

    let compare = |arguments: &[&str]| {
        let output = hornbook().args(["bench", "compare", &open, &closed]).args(arguments).output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        stdout(&output)
    };
    let text = compare(&[]);
    assert!(text.contains("different queries") && text.contains("loads differ"), "{text}");
    assert!(text.contains("too few rounds to tell"), "{text}");
    let told: Value = serde_json::from_str(&compare(&["--json"])).unwrap();
    assert_eq!(told["rows"][0]["name"], "throughput");
    assert_eq!(told["rows"][0]["verdict"], "tooFewRounds");
}

#[test]
fn a_server_is_measured_over_kept_connections_and_refusals_are_counted_apart() {
    let dir = tempfile::tempdir().unwrap();
    let server = Started::quick(&dir.path().join("data"));
    let base = format!("http://{}", server.address);
    let measure = |arguments: &[&str]| {
        let output = hornbook().args(["bench", &base, "--json"]).args(SHORT).args(arguments).output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        serde_json::from_str::<Value>(&stdout(&output)).unwrap()
    };
    // A free key may ask 30 times a minute: the rest of what is due is told to wait, which is no answer.
    let searched = measure(&["--key", &server.key, "--rate", "100", "--workers", "4", "--arrivals", "even"]);
    assert_sound(&searched, &["keyword", "vector"]);
    assert!(searched["total"]["failed"]["429"].as_u64().unwrap() > 0, "{searched:#}");
    assert!(searched["total"]["answered"].as_u64().unwrap() <= 30);

    let live = measure(&["--concurrency", "2", "--path", "/healthz", "--path", "/readyz"]);
    assert_sound(&live, &[]);
    assert_eq!(live["total"]["failed"], serde_json::json!({}));
    assert_eq!((&live["target"]["isUrl"], &live["target"]["queries"]), (&true.into(), &2.into()));
}

#[test]
fn what_cannot_be_measured_is_refused_in_one_line() {
    let dir = tempfile::tempdir().unwrap();
    let refused = |arguments: &[&str], what: &str| {
        let output = hornbook().arg("bench").args(arguments).output().unwrap();
        assert!(!output.status.success());
        assert!(stderr(&output).contains(what), "{arguments:?}: {}", stderr(&output));
    };
    refused(&["https://law.example"], "only http:// is measured");
    refused(&["http://127.0.0.1:1", "--concurrency", "1"], "is the server running?");
    refused(&[&dir.path().display().to_string()], "manifest");
    refused(&["x", "--rate", "0"], "above 0");
    refused(&["x", "--rate", "5", "--concurrency", "2"], "cannot be used with");
    refused(&["x", "--workers", "5"], "--rate");
    refused(&["compare", "README.md", "README.md"], "is no result of 'hornbook bench --save'");
    refused(&["data/none", "--path", "/healthz"], "--path asks a server");
}
