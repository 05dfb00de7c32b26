//! `hornbook bench`: a snapshot in process, a server on loopback, and a comparison of two results.
//! No figure is asserted.

use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::Value;

use crate::serving::QuickStartServer;
use crate::{hornbook, sample_plan, stderr, stdout};

fn built(out: &Path) {
    let output = hornbook().arg("build").arg(sample_plan()).args(["--quiet", "--out"]).arg(out).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
}

fn bench(target: &Path, arguments: &[&str]) -> Output {
    hornbook().arg("bench").arg(target).args(arguments).output().unwrap()
}

const SHORT_RUN_ARGUMENTS: [&str; 6] = ["--rounds", "2", "--duration", "0.3", "--warm-up", "0.05"];

/// Checks that every round is complete and that the rounds add up to the total.
fn assert_consistent(result: &Value, stages: &[&str]) {
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
fn a_snapshot_is_measured_in_open_and_closed_loop_saved_plotted_and_compared() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name).display().to_string();
    let snapshot = dir.path().join("snapshot");
    built(&snapshot);

    let (open, page) = (at("open.json"), at("open.html"));
    let arguments =
        [&SHORT_RUN_ARGUMENTS[..], &["--rate", "200", "--save", &open, "--report", &page, "--json"]].concat();
    let output = bench(&snapshot, &arguments);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stderr(&output).contains("round 2 of 2: "), "{}", stderr(&output));
    let reported: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(reported, serde_json::from_slice::<Value>(&fs::read(&open).unwrap()).unwrap());
    assert_eq!((&reported["load"]["perSecond"], &reported["load"]["arrivals"]), (&200.0.into(), &"poisson".into()));
    assert_consistent(&reported, &["understand", "keyword", "vector", "snippet"]);

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
    let output = bench(
        &snapshot,
        &[&SHORT_RUN_ARGUMENTS[..], &["--concurrency", "2", "--queries", &queries, "--save", &closed]].concat(),
    );
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("skipped 1 of 2 queries, because the snapshot does not contain their jurisdiction"),
        "{}",
        stderr(&output)
    );
    let text = stdout(&output);
    assert!(text.contains("closed loop, 2 workers") && text.contains("p99.9") && text.contains("snippet"), "{text}");

    let compare = |arguments: &[&str]| {
        let output = hornbook().args(["bench", "compare", &open, &closed]).args(arguments).output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        stdout(&output)
    };
    let text = compare(&[]);
    assert!(text.contains("different queries") && text.contains("loads differ"), "{text}");
    assert!(text.contains("too few rounds for a verdict"), "{text}");
    let reported: Value = serde_json::from_str(&compare(&["--json"])).unwrap();
    assert_eq!(reported["rows"][0]["name"], "throughput");
    assert_eq!(reported["rows"][0]["verdict"], "tooFewRounds");
}

#[test]
fn a_server_is_measured_over_keep_alive_connections_with_separate_refusals() {
    let dir = tempfile::tempdir().unwrap();
    let server = QuickStartServer::quick(&dir.path().join("data"));
    let base = format!("http://{}", server.address);
    let measure = |arguments: &[&str]| {
        let output =
            hornbook().args(["bench", &base, "--json"]).args(SHORT_RUN_ARGUMENTS).args(arguments).output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        serde_json::from_str::<Value>(&stdout(&output)).unwrap()
    };
    // A free key may call 30 times a minute; these are 28 requests.
    let searched = measure(&["--key", &server.key, "--rate", "40", "--workers", "4", "--arrivals", "even"]);
    assert_consistent(&searched, &["keyword", "vector"]);

    let encrypted = format!("https://{}", server.address);
    let output =
        hornbook().args(["bench", &encrypted, "--path", "/healthz"]).args(SHORT_RUN_ARGUMENTS).output().unwrap();
    assert!(stderr(&output).contains("does not speak TLS here; use http://"), "{}", stderr(&output));

    // Successes are measured; failures are counted by their status.
    let mixed = measure(&["--concurrency", "1", "--path", "/healthz", "--path", "/readyz", "--path", "/nowhere"]);
    let (answered, failed) = (&mixed["total"]["answered"], &mixed["total"]["failed"]["404"]);
    assert!(failed.as_u64().unwrap() > 0 && answered.as_u64() > failed.as_u64(), "{mixed:#}");

    let live = measure(&["--concurrency", "2", "--path", "/healthz", "--path", "/readyz"]);
    assert_consistent(&live, &[]);
    assert_eq!(live["total"]["failed"], serde_json::json!({}));
    assert_eq!((&live["target"]["isUrl"], &live["target"]["queries"]), (&true.into(), &2.into()));
}

#[test]
fn a_run_in_which_most_requests_are_refused_stops_and_says_why() {
    let dir = tempfile::tempdir().unwrap();
    let server = QuickStartServer::quick(&dir.path().join("data"));
    let base = format!("http://{}", server.address);
    let stopped = |arguments: &[&str]| {
        let mut command = hornbook();
        command.args(["bench", &base]).args(SHORT_RUN_ARGUMENTS).args(arguments).args(["--data", "/nonexistent"]);
        let output = command.output().unwrap();
        assert!(!output.status.success() && stdout(&output).is_empty(), "{}", stdout(&output));
        stderr(&output)
    };
    let without_key = stopped(&["--concurrency", "1"]);
    assert!(without_key.contains("round 1 of 2: 0 per second, p50 -, p99 -"), "{without_key}");
    assert!(without_key.contains("stopped after round 1: ") && without_key.contains(" x 401)"), "{without_key}");
    assert!(
        without_key.contains("the server says: ") && without_key.contains("--key or HORNBOOK_KEY"),
        "{without_key}"
    );

    // The demo key's 30 calls a minute are used up soon, and later calls are refused.
    let too_often = stopped(&["--rate", "500", "--key", &server.key]);
    assert!(too_often.contains(" x 429)") && too_often.contains("--set free.per_minute="), "{too_often}");
}

#[test]
fn a_tls_server_is_measured_with_its_certificate_authority() {
    let dir = tempfile::tempdir().unwrap();
    let (certificate, private_key) = (dir.path().join("cert.pem"), dir.path().join("key.pem"));
    let names = ["127.0.0.1".to_owned(), "localhost".to_owned()];
    let rcgen::CertifiedKey { cert, signing_key } = rcgen::generate_simple_self_signed(names).unwrap();
    fs::write(&certificate, cert.pem()).unwrap();
    fs::write(&private_key, signing_key.serialize_pem()).unwrap();
    let settings =
        [format!("tls.certificate={}", certificate.display()), format!("tls.private_key={}", private_key.display())];
    let server = QuickStartServer::with(&dir.path().join("data"), &settings.each_ref().map(String::as_str));
    let base = format!("https://{}", server.address);
    let measure = |arguments: &[&str]| {
        hornbook()
            .args(["bench", &base, "--json", "--path", "/healthz"])
            .args(SHORT_RUN_ARGUMENTS)
            .args(arguments)
            .output()
            .unwrap()
    };
    for trusting in [&["--ca", certificate.to_str().unwrap()][..], &["--insecure"]] {
        let output = measure(trusting);
        assert!(output.status.success(), "{}", stderr(&output));
        let result: Value = serde_json::from_str(&stdout(&output)).unwrap();
        assert!(result["total"]["answered"].as_u64().unwrap() > 0, "{result:#}");
        assert_eq!(result["total"]["failed"], serde_json::json!({}));
    }
    let refused = stderr(&measure(&["--ca", private_key.to_str().unwrap()]));
    assert!(refused.contains("cannot read certificates from"), "{refused}");
    // The system does not trust a new self-signed certificate.
    let refused = stderr(&measure(&[]));
    assert!(refused.contains("--ca"), "{refused}");
}

#[test]
fn invalid_bench_targets_are_refused_in_one_line() {
    let dir = tempfile::tempdir().unwrap();
    let refused = |arguments: &[&str], what: &str| {
        let output = hornbook().arg("bench").args(arguments).output().unwrap();
        assert!(!output.status.success());
        assert!(stderr(&output).contains(what), "{arguments:?}: {}", stderr(&output));
    };
    refused(&["ftp://law.example"], "write it as http://");
    refused(&["http://law.example/api/v1"], "without a path");
    refused(&["https://law.example", "--insecure", "--ca", "x"], "cannot be used with");
    refused(&["http://127.0.0.1:1", "--concurrency", "1"], "check that the server is running");
    refused(&[&dir.path().display().to_string()], "manifest");
    refused(&["127.0.0.1:8080"], "write the URL of the server: http://127.0.0.1:8080");
    refused(&["x", "--rate", "0"], "greater than 0");
    refused(&["x", "--rate", "5", "--concurrency", "2"], "cannot be used with");
    refused(&["x", "--workers", "5"], "--rate");
    refused(&["compare", "README.md", "README.md"], "is not a result of 'hornbook bench --save'");
    refused(&["data/none", "--path", "/healthz"], "--path needs a server");
}
