//! What a code should have, and what the corpus has of it, on the extracts of real law.

use std::path::Path;

use hornbook_index_build::build::Destination;
use serde_json::{Value, json};

use crate::mcp;
use crate::sample::build_plan;
use crate::test_server::{TestServer, TestServerOptions, generous_tariff};

fn serving_extracts() -> (TestServer, tempfile::TempDir) {
    let data = tempfile::tempdir().unwrap();
    let plan = Path::new(env!("CARGO_MANIFEST_DIR")).join("index-build/tests/extracts/plan.toml");
    let built = build_plan(plan, Destination::Inactive(data.path().to_owned()));
    let target = Path::new("snapshots").join(built.path.file_name().unwrap());
    std::os::unix::fs::symlink(target, data.path().join("current")).unwrap();
    let options = TestServerOptions { mounts: mcp::with_mcp, ..TestServerOptions::default_for(generous_tariff()) };
    let server = TestServer::start_with_options(options, |_| ());
    server.service.reload_snapshot(data.path(), None).unwrap();
    (server, data)
}

fn numbers(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|number| number.as_str().unwrap()).collect()
}

#[test]
fn coverage_lists_the_titles_that_a_code_has_and_those_that_are_not_here() {
    let (server, _data) = serving_extracts();
    let key = server.create_full_key();
    let coverage = server.get("/api/v1/coverage", &key).json();
    let bodies: Vec<&Value> = coverage["jurisdictions"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|one| one["codeBodies"].as_array().unwrap())
        .collect();
    for (code, loaded, some_missing, count) in [
        ("United States Code", &["17"][..], &["1", "42", "54"][..], 56),
        ("Code of Federal Regulations", &["1", "12", "27", "47"], &["2", "40", "50"], 45),
        ("Code of the District of Columbia", &["46"], &["1", "28", "51"], 54),
    ] {
        let parts = &bodies.iter().find(|body| body["name"] == code).unwrap()["parts"];
        assert_eq!((&parts["level"], numbers(&parts["loaded"])), (&json!("title"), loaded.to_vec()), "{code}");
        let (expected, missing) = (numbers(&parts["expected"]), numbers(&parts["missing"]));
        assert!(some_missing.iter().all(|number| missing.contains(number)), "{code}: {missing:?}");
        let absent: Vec<&str> = expected.iter().copied().filter(|number| !loaded.contains(number)).collect();
        assert_eq!((missing.len(), missing), (count, absent), "{code}");
    }
    let answer = mcp::call(&server, "law.list_coverage", json!({}), Some(&key)).json();
    let told = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert!(told.contains("    missing titles: 1, 2, 3, "), "{told}");
}

#[test]
fn a_citation_of_a_title_that_is_not_here_is_told_from_one_that_does_not_exist() {
    let (server, _data) = serving_extracts();
    let key = server.create_full_key();
    let resolved = |citation: &str| {
        let answer = server.get(&format!("/api/v1/resolve?citation={}", citation.replace(' ', "+")), &key).json();
        let answer = &answer["answers"][0];
        [&answer["answer"], &answer["message"]].map(|value| value.as_str().unwrap().to_owned())
    };
    let [kind, message] = resolved("42 USC 1983");
    assert_eq!(kind, "outside_coverage");
    assert!(message.starts_with("this corpus does not contain title 42 of the United States Code"), "{message}");
    let [kind, message] = resolved("17 USC 99999");
    assert_eq!(kind, "not_held");
    assert!(message.contains("check the number"), "{message}");
}
