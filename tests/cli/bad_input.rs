//! Bad input gives one clear line with file and position and a failing exit code, and leaves no partial output.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::{hornbook, sample_plan, stderr};

pub(crate) const PLAN_HEAD: &str = r#"
name = "t"
[[source]]
format = "native"
path = "law.jsonl"
jurisdiction = "VA"
code_body = "A Code"
key = "va/a"
citation = "A Code § {number}"
publisher = "p"
edition = "e"
retrieved = "2026-01-01"
license = "l"
url = "u"
"#;

/// Builds a plan with one native file. Returns the error message, after checking that nothing is left behind.
fn build_error(plan: &str, law: &[u8], arguments: &[&str]) -> String {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("plan.toml"), plan).unwrap();
    fs::write(dir.path().join("law.jsonl"), law).unwrap();
    let places = dir.path().join("places");
    fs::create_dir(&places).unwrap();
    let output = hornbook()
        .arg("build")
        .arg(dir.path().join("plan.toml"))
        .arg("--out")
        .arg(places.join("out"))
        .args(arguments)
        .output()
        .unwrap();
    let message = stderr(&output);
    assert!(!output.status.success(), "the build succeeded");
    assert_eq!(fs::read_dir(&places).unwrap().count(), 0, "something is left behind: {message}");
    let last = message.lines().filter(|line| line.starts_with("hornbook: ")).collect::<Vec<_>>();
    assert_eq!(last.len(), 1, "the message has more than one line: {message}");
    assert!(!message.contains("panicked"), "{message}");
    message[message.find("hornbook: ").unwrap()..].to_owned()
}

fn law(lines: &[&str]) -> Vec<u8> {
    lines.join("\n").into_bytes()
}

const VALID_LINE: &str = r#"{"key":"s1","level":"section","number":"1","heading":"H","text":"Words."}"#;

#[test]
fn mistakes_in_sources_are_reported_with_file_and_line() {
    let cases: &[(&str, Vec<u8>, &str)] = &[
        ("duplicate keys", law(&[VALID_LINE, VALID_LINE]), "law.jsonl:2: the key 'va/a/s1' is already used at"),
        (
            "a cycle",
            law(&[
                VALID_LINE,
                r#"{"key":"a","parent":"b","level":"title","heading":"A"}"#,
                r#"{"key":"b","parent":"a","level":"title","heading":"B"}"#,
            ]),
            "law.jsonl:2: 'va/a/a' is its own ancestor",
        ),
        (
            "no such parent",
            law(&[VALID_LINE, r#"{"key":"a","parent":"b","level":"title","heading":"A"}"#]),
            "law.jsonl:2: the parent 'b' of 'va/a/a' does not exist",
        ),
        ("no bytes", Vec::new(), "law.jsonl: this source has no provisions"),
        (
            "containers alone",
            law(&[r#"{"key":"a","level":"title","heading":"A"}"#]),
            "law.jsonl: this source has no provisions",
        ),
        ("no JSON", law(&[VALID_LINE, "{"]), "law.jsonl:2: this is not valid JSON"),
        (
            "wrong encoding",
            b"{\"key\":\"s1\",\"heading\":\"caf\xe9\"}".to_vec(),
            "law.jsonl:1: byte 27 of the line is not UTF-8",
        ),
        (
            "a misspelt field",
            law(&[r#"{"key":"s1","level":"section","number":"1","txt":""}"#]),
            "law.jsonl:1: unknown field 'txt'",
        ),
    ];
    for (case, law, expected) in cases {
        let message = build_error(PLAN_HEAD, law, &[]);
        assert!(message.contains(expected), "{case}: {message}");
    }
}

#[test]
fn all_mistakes_of_a_source_are_reported_at_once() {
    let message =
        build_error(PLAN_HEAD, &law(&["{", VALID_LINE, r#"{"key":3,"level":"section","number":"2","text":[]}"#]), &[]);
    assert!(message.starts_with("hornbook: 3 errors in the sources; nothing was built:\n"), "{message}");
    for expected in [
        "law.jsonl:1: this is not valid JSON",
        "law.jsonl:3: field 'key': expected a text in quotes, found a number",
        "law.jsonl:3: field 'text': expected a text in quotes, found a list",
    ] {
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn plan_errors_include_a_hint() {
    let good = law(&[VALID_LINE]);
    let cases = [
        (PLAN_HEAD.replace("law.jsonl", "absent.jsonl"), "absent.jsonl: there is no such file"),
        (PLAN_HEAD.replace("\"VA\"", "\"VAA\""), "jurisdiction VAA is unknown"),
        (PLAN_HEAD.replace("edition", "editoin"), "plan.toml:11: unknown field `editoin`"),
        (PLAN_HEAD.replace("{number}", "number"), "citation must contain {number}"),
        ("name = ".to_owned(), "plan.toml:1"),
    ];
    for (plan, expected) in cases {
        let message = build_error(&plan, &good, &[]);
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn strict_makes_the_first_warning_an_error() {
    let empty = law(&[r#"{"key":"s1","level":"section","number":"1","heading":"H","text":""}"#]);
    let message = build_error(PLAN_HEAD, &empty, &["--strict"]);
    assert!(
        message.contains("law.jsonl:1: 'A Code § 1' is in force but has no text (the only warning; --strict"),
        "{message}"
    );
}

/// The error message of a build that must fail within 20 seconds.
fn build_error_within_20_s(plan: &Path, out: &Path) -> String {
    let mut child = hornbook().arg("build").arg(plan).arg("--out").arg(out).stderr(Stdio::piped()).spawn().unwrap();
    let began = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if began.elapsed() > Duration::from_secs(20) {
            child.kill().unwrap();
            child.wait().unwrap();
            return "the build did not end".to_owned();
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let output = child.wait_with_output().unwrap();
    assert!(!output.status.success(), "the build succeeded");
    stderr(&output)
}

#[test]
fn only_plain_files_are_read() {
    let zoned = "[source.zoning]\nzone_property = 'z'\nzones = 'PLACE'\n";
    let head = "name = 't'\n[[source]]\nformat = 'native'\n";
    let zoning = PLAN_HEAD.replace("\"native\"", "\"geojson-zoning\"") + zoned;
    let unsaid = PLAN_HEAD.replace("edition = \"e\"\n", "");
    for (case, plan, place) in [
        ("the plan", head.to_owned(), "plan.toml"),
        ("a source", PLAN_HEAD.to_owned(), "law.jsonl"),
        ("a table of zones", zoning.replace("PLACE", "zones.csv"), "zones.csv"),
        ("a receipt", unsaid, "law.jsonl.receipt.json"),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        fs::write(path("plan.toml"), plan).unwrap();
        fs::write(path("law.jsonl"), VALID_LINE).unwrap();
        let _ = fs::remove_file(path(place));
        mkfifo(&path(place));
        let message = build_error_within_20_s(&path("plan.toml"), &path("out"));
        assert!(message.contains("it is a named pipe") && message.contains(place), "{case}: {message}");
        fs::remove_file(path(place)).unwrap();
        std::os::unix::fs::symlink("/dev/null", path(place)).unwrap();
        let message = build_error_within_20_s(&path("plan.toml"), &path("out"));
        assert!(message.contains("it is a device") && message.contains(place), "{case}: {message}");
        assert!(!path("out").exists());
    }
}

fn mkfifo(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[test]
fn unwritable_targets_are_reported() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("file"), "x").unwrap();
    let output =
        hornbook().arg("build").arg(sample_plan()).arg("--out").arg(dir.path().join("file/out")).output().unwrap();
    assert!(!output.status.success() && stderr(&output).contains("file"), "{}", stderr(&output));

    let taken = dir.path().join("taken");
    fs::create_dir(&taken).unwrap();
    fs::write(taken.join("cat.jpg"), "x").unwrap();
    let output = hornbook().arg("build").arg(sample_plan()).arg("--out").arg(&taken).arg("--replace").output().unwrap();
    assert!(!output.status.success() && stderr(&output).contains("not replaced"), "{}", stderr(&output));
    assert!(taken.join("cat.jpg").exists());
}

/// A full disk, simulated by a limit on file size, which works the same on every file system, and
/// by a small tmpfs if this test may mount one.
#[test]
fn a_full_disk_is_reported_and_leaves_no_files() {
    let dir = tempfile::tempdir().unwrap();
    for blocks in [8, 64, 200] {
        let out = dir.path().join("limited");
        let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
        let mut command = Command::new("sh");
        command
            .args(["-c", &script])
            .arg(env!("CARGO_BIN_EXE_hornbook"))
            .arg("build")
            .arg(sample_plan())
            .arg("--out")
            .arg(&out);
        let output = command.output().unwrap();
        assert!(!output.status.success(), "{blocks} blocks were enough");
        let message = stderr(&output);
        assert!(message.contains("hornbook: cannot ") && !message.contains("panicked"), "{message}");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "something is left behind");
    }
    let small = dir.path().join("small");
    fs::create_dir(&small).unwrap();
    let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=600k", "tmpfs"]).arg(&small).output();
    if !mounted.is_ok_and(|output| output.status.success()) {
        println!("skipped: this test may not mount a small file system");
        return;
    }
    let output = hornbook().arg("build").arg(sample_plan()).arg("--out").arg(small.join("out")).output();
    let left = fs::read_dir(&small).map(Iterator::count);
    let unmounted = Command::new("umount").arg(&small).status();
    let output = output.unwrap();
    assert!(unmounted.is_ok_and(|status| status.success()));
    assert!(!output.status.success() && stderr(&output).contains("No space left"), "{}", stderr(&output));
    assert_eq!(left.unwrap(), 0);
}

#[test]
fn folders_that_are_not_snapshots_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    for command in ["verify", "inspect"] {
        let output = hornbook().arg(command).arg(dir.path()).output().unwrap();
        assert!(!output.status.success() && stderr(&output).contains("is not a snapshot"), "{}", stderr(&output));
    }
    let out = dir.path().join("out");
    assert!(hornbook().arg("build").arg(sample_plan()).arg("--out").arg(&out).output().unwrap().status.success());
    let output = hornbook().arg("inspect").arg(&out).args(["--node", "99 U.S.C. § 9"]).output().unwrap();
    assert!(!output.status.success() && stderr(&output).contains("has no node '99 U.S.C. § 9'"), "{}", stderr(&output));
}
