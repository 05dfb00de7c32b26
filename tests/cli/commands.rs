//! Commands that succeed, and simple errors.

use std::path::Path;

use crate::{hornbook, sample_plan, stderr, stdout};

fn build_into(out: &Path) -> String {
    let output = hornbook().arg("build").arg(sample_plan()).arg("--out").arg(out).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    stdout(&output)
}

#[test]
fn build_verify_and_inspect_report_their_results() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("snapshot");
    let report = build_into(&out);
    for expected in
        ["Arden Revised Statutes", "XA-PORT-ARDEN", "linked", "pending", "warnings", "built ", "of CPU time"]
    {
        assert!(report.contains(expected), "no '{expected}' in:\n{report}");
    }
    assert!(build_into(&out).contains("nothing changed"));

    let verified = hornbook().arg("verify").arg(&out).output().unwrap();
    assert!(verified.status.success() && stdout(&verified).contains("is intact"), "{}", stderr(&verified));

    let inspect = |arguments: &[&str]| {
        let output = hornbook().arg("inspect").arg(&out).args(arguments).output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        stdout(&output)
    };
    assert!(inspect(&[]).contains("jurisdictions without law yet"));
    let node = inspect(&["--node", "arden rev stat 24-2-201"]);
    assert!(
        node.starts_with("Arden Rev. Stat. § 24-2-201") && node.contains("Other wording") && node.contains("SHA-256"),
        "{node}"
    );
    let json: serde_json::Value =
        serde_json::from_str(&inspect(&["--json", "--node", "Arden Rev. Stat. § 24-2-201"])).unwrap();
    let id = json[0]["id"].as_str().unwrap();
    assert_eq!(inspect(&["--node", id]), node);
    let cited = inspect(&["--node", "Arden Rev. Stat. § 12-2-104"]);
    let line = "  cites Arden Rev. Stat. § 12-2-102, Arden Rev. Stat. § 12-2-104a, Arden Rev. Stat. § 12-1-105\n";
    assert!(cited.contains(line) && cited.contains("  cited by Arden Rev. Stat. § "), "{cited}");
    let outline = inspect(&["--outline", "--jurisdiction", "XA-HOLLIS"]);
    assert!(outline.contains("Hollis County Code") && outline.contains("Millbrook Town Code"), "{outline}");
    assert!(!outline.contains("Arden Revised Statutes"), "{outline}");
    let summary: serde_json::Value = serde_json::from_str(&inspect(&["--json"])).unwrap();
    assert_eq!(summary["manifest"]["counts"]["zoningLayers"], 2);
    assert!(summary["manifest"]["counts"]["references"].as_u64().unwrap() > 80, "{summary:#}");
}

#[test]
fn search_prints_snippets_plain_into_a_pipe_and_highlights_as_json() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("snapshot");
    build_into(&out);
    let search = |arguments: &[&str]| {
        let output = hornbook().arg("search").arg(&out).arg("security deposit").args(arguments).output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        stdout(&output)
    };
    let reported = search(&[]);
    assert!(reported.contains("security deposit") && !reported.contains('\u{1b}'), "{reported}");
    let on = |day: &str| search(&["--as-of", day]);
    let statutes = "Arden Revised Statutes (XA), current through 2026-01-01";
    assert!(on("2027-01-01").contains(&format!("{statutes}\n")), "{}", on("2027-01-01"));
    assert!(on("2027-01-02").contains(&format!("{statutes} (over a year old)\n")), "{}", on("2027-01-02"));
    let json: serde_json::Value = serde_json::from_str(&search(&["--json"])).unwrap();
    let snippet: Vec<char> = json["results"][0]["snippet"].as_str().unwrap().chars().collect();
    let highlights = json["results"][0]["highlights"].as_array().unwrap();
    let words = highlights.iter().map(|highlight| {
        let place = |name: &str| highlight[name].as_u64().unwrap() as usize;
        snippet[place("start")..place("end")].iter().collect::<String>().to_lowercase()
    });
    let words: Vec<String> = words.collect();
    assert_eq!(json["results"][0]["currentThrough"], "2026-01-01");
    assert!(words.iter().any(|word| word == "deposit") && words.iter().any(|word| word == "security"), "{words:?}");
}

#[test]
fn suggest_completes_what_was_typed() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("snapshot");
    build_into(&out);
    let suggest = |arguments: &[&str]| {
        let output = hornbook().arg("suggest").arg(&out).args(arguments).output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        stdout(&output)
    };
    assert!(suggest(&["fences", "and"]).starts_with("Fences and hedges  (Port Arden Mun. Code § 17.40.030)"));
    assert!(suggest(&["definitions"]).starts_with("Definitions  ("));
    assert!(suggest(&["secruity deposit"]).starts_with("did you mean: security deposit\n"));
    assert_eq!(suggest(&["qqqqqq"]), "no suggestions\n");
    let old = suggest(&["--as-of", "2028-01-01", "fences and"]);
    assert!(old.contains("  [current through 2026-01-01 (over a year old)]\n"), "{old}");
    let json: serde_json::Value = serde_json::from_str(&suggest(&["--json", "--limit", "2", "def"])).unwrap();
    assert_eq!(json["suggestions"][0]["text"], "Definitions");
    assert_eq!(json["suggestions"].as_array().unwrap().len(), 2);
}

#[test]
fn resolve_prints_every_answer_and_fails_unless_all_are_resolved() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("snapshot");
    build_into(&out);
    let resolve = |citation: &str, arguments: &[&str]| {
        let output = hornbook().arg("resolve").arg(&out).arg(citation).args(arguments).output().unwrap();
        (output.status.code(), stdout(&output), stderr(&output))
    };
    let (code, reported, _) = resolve("arden rev stat 24-2-201(a)", &[]);
    assert_eq!(code, Some(0));
    assert!(
        reported.starts_with("resolved: Arden Rev. Stat. § 24-2-201(a)") && reported.contains("subdivision (a)"),
        "{reported}"
    );
    let (_, old, _) = resolve("arden rev stat 24-2-201", &["--as-of", "2028-01-01"]);
    assert!(old.contains("\n    current through 2026-01-01 (over a year old)\n"), "{old}");
    let (code, json, message) = resolve("Arden Rev. Stat. §§ 24-2-201, 99-9-999", &["--json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["answers"][0]["answer"], "resolved");
    assert_eq!(json["answers"][0]["nodeId"], json["answers"][0]["candidates"][0]["nodeId"]);
    assert_eq!(json["answers"][1]["answer"], "not_held");
    assert_eq!(code, Some(1));
    assert_eq!(message, "hornbook: 1 of 2 citations did not resolve to one provision\n");
}

#[test]
fn wrong_argument_order_is_an_error_that_shows_the_right_one() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("snapshot");
    build_into(&out);
    let snapshot = out.display().to_string();
    let refusal = |arguments: &[&str]| {
        let output = hornbook().args(arguments).output().unwrap();
        assert!(!output.status.success() && stdout(&output).is_empty(), "{arguments:?}");
        stderr(&output)
    };
    let message = refusal(&["resolve", "42 U.S.C. 1983", &snapshot]);
    assert_eq!(
        message,
        format!("hornbook: the snapshot comes first: hornbook resolve '{snapshot}' '42 U.S.C. 1983'\n")
    );
    assert!(
        refusal(&["search", "fence", "height", &snapshot]).contains(&format!("search '{snapshot}' 'fence height'"))
    );
    assert!(refusal(&["suggest", &snapshot]).contains("put the query after it"));
    let elsewhere = dir.path().display().to_string();
    assert!(refusal(&["resolve", &elsewhere, "42 U.S.C. 1983"]).contains("is not a snapshot"));
}

#[test]
fn bad_flags_give_the_same_hint_as_bad_settings() {
    for (arguments, expected) in [
        (
            &["serve", "--listen", "8480"][..],
            "--listen sets server.listen to '8480'; it takes an IP address and a port: write",
        ),
        (&["healthcheck", "--listen", "here"], "--listen sets server.listen to 'here'"),
        (&["config", "show", "--set", "log.requests=some"], "it takes all, errors or none"),
        (&["config", "explain", "server.listne"], "did you mean server.listen?"),
    ] {
        let output = hornbook().args(arguments).output().unwrap();
        assert!(!output.status.success() && stderr(&output).contains(expected), "{arguments:?}: {}", stderr(&output));
    }
    let explained = stdout(&hornbook().args(["config", "explain", "log"]).output().unwrap());
    assert!(explained.contains("log.format\n") && explained.contains("$HORNBOOK_LOG_FORMAT\n"), "{explained}");
    assert!(!explained.contains("server."), "{explained}");
}

/// Runs a command whose output pipe is closed.
fn run_with_closed_stdout(arguments: &[&str]) {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = hornbook();
    let output = command.args(arguments).stdout(writer).output().unwrap();
    assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""), "{arguments:?}");
}

#[test]
fn a_closed_pipe_ends_every_command_quietly() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("snapshot");
    build_into(&out);
    let (out, data) = (out.display().to_string(), dir.path().join("data").display().to_string());
    for arguments in [
        &["config", "show"][..],
        &["config", "show", "--json"],
        &["config", "explain"],
        &["--help"],
        &["--version"],
        &["help", "serve"],
        &["search", &out, "fence"],
        &["search", &out, "fence", "--json"],
        &["suggest", &out, "fence"],
        &["resolve", &out, "nonsense"],
        &["inspect", &out],
        &["inspect", &out, "--json"],
        &["inspect", &out, "--outline"],
        &["inspect", &out, "--outline", "--json"],
        &["inspect", &out, "--node", "3 S.F.C. 1823"],
        &["account", "create", "somebody", "--data", &data],
        &["account", "list", "--json", "--data", &data],
        &["ledger", "verify", "--data", &data],
    ] {
        run_with_closed_stdout(arguments);
    }
}

#[test]
fn counts_of_one_use_the_singular() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("plan.toml"), crate::bad_input::PLAN_HEAD).unwrap();
    let empty = r#"{"key":"s1","level":"section","number":"1","heading":"H","text":""}"#;
    std::fs::write(dir.path().join("law.jsonl"), empty).unwrap();
    let (plan, out) = (dir.path().join("plan.toml"), dir.path().join("out"));
    let report = stdout(&hornbook().arg("build").arg(plan).arg("--out").arg(out).output().unwrap());
    assert!(report.contains("\n1 warning:\n"), "{report}");
}

#[test]
fn a_data_directory_keeps_snapshots_by_content_and_points_at_the_current_one() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let build = || hornbook().arg("build").arg(sample_plan()).arg("--data").arg(&data).output().unwrap();
    assert!(build().status.success());
    let current = std::fs::read_link(data.join("current")).unwrap();
    assert!(current.starts_with("snapshots") && data.join(&current).join("manifest.json").exists());
    assert!(stdout(&build()).contains("nothing changed"));
    assert_eq!(std::fs::read_dir(data.join("snapshots")).unwrap().count(), 1);
}

#[test]
fn every_command_has_help() {
    for (arguments, expected) in [
        (&["--help"][..], "build"),
        (&["build", "--help"], "--strict"),
        (&["verify", "--help"], "Hashes every file"),
        (&["inspect", "--help"], "--outline"),
        (&["resolve", "--help"], "not_held"),
        (&["eval", "--help"], "--headings"),
        (&["suggest", "--help"], "Complete a heading"),
    ] {
        let output = hornbook().args(arguments).output().unwrap();
        assert!(output.status.success() && stdout(&output).contains(expected), "{arguments:?}");
    }
}

#[test]
fn the_version_names_features_and_target() {
    let version = stdout(&hornbook().arg("--version").output().unwrap());
    let lines: Vec<&str> = version.lines().collect();
    assert_eq!(lines[0], concat!("hornbook ", env!("CARGO_PKG_VERSION")));
    assert!(lines[1].starts_with("commit: ") && lines[2] == "features: encoder, postgres", "{version}");
    assert!(lines[3].starts_with("target: ") && lines[3].contains(std::env::consts::ARCH), "{version}");
    let short = stdout(&hornbook().arg("-V").output().unwrap());
    assert_eq!(short.trim(), lines[0]);
}

#[test]
fn completions_and_manual_pages_have_every_command() {
    let help = stdout(&hornbook().arg("--help").output().unwrap());
    let names = help.lines().filter_map(|line| line.strip_prefix("  ")?.split_once("  ")).map(|(name, _)| name.trim());
    let names: Vec<&str> = names.filter(|name| !name.is_empty() && !name.starts_with('-')).collect();
    assert!(names.len() > 30 && names.contains(&"build"), "{names:?}");
    for shell in ["bash", "zsh", "fish"] {
        let script = stdout(&hornbook().args(["completions", shell]).output().unwrap());
        let missing: Vec<&&str> = names.iter().filter(|name| !script.contains(**name)).collect();
        assert!(missing.is_empty() && script.contains("actor"), "{shell}: {missing:?}");
    }
    let dir = tempfile::tempdir().unwrap();
    assert!(hornbook().arg("man").arg("--out").arg(dir.path()).status().unwrap().success());
    let missing: Vec<&&str> =
        names.iter().filter(|name| !dir.path().join(format!("hornbook-{name}.1")).exists()).collect();
    assert!(missing.is_empty(), "{missing:?}");
    let build = std::fs::read_to_string(dir.path().join("hornbook-build.1")).unwrap();
    assert!(build.contains(concat!(".TH hornbook-build 1  \"hornbook ", env!("CARGO_PKG_VERSION"), "\"")), "{build}");
    let page = stdout(&hornbook().arg("man").output().unwrap());
    assert_eq!(page, std::fs::read_to_string(dir.path().join("hornbook.1")).unwrap());
    assert!(page.contains(".TH hornbook 1") && page.contains("US federal and state law"), "{page}");
}
