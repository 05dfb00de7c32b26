//! `hornbook check`: what it prints and writes, and its exit codes.

use std::fs;
use std::io::Write;
use std::process::{Output, Stdio};

use serde_json::Value;

use crate::{hornbook, sample_plan, stderr, stdout};

struct Folder(tempfile::TempDir);

impl Folder {
    fn with_sample() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let built = hornbook().current_dir(dir.path()).arg("build").arg(sample_plan()).output().unwrap();
        assert!(built.status.success(), "{}", stderr(&built));
        Self(dir)
    }

    fn check(&self, arguments: &[&str]) -> Output {
        hornbook().current_dir(self.0.path()).arg("check").args(arguments).output().unwrap()
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.0.path().join(name), text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.0.path().join(name)).unwrap()
    }
}

#[test]
fn the_exit_code_says_whether_anything_is_wrong_or_could_not_be_checked() {
    let folder = Folder::with_sample();
    folder.write("right.txt", "Arden Rev. Stat. § 24-2-203(c) and 42 U.S.C. § 1983.");
    let right = folder.check(&["right.txt"]);
    assert_eq!(right.status.code(), Some(0), "{}", stderr(&right));
    assert!(stdout(&right).contains("look: not in this corpus: 42 U.S.C. § 1983"), "{}", stdout(&right));
    assert!(
        stdout(&right).ends_with("2 citations, 0 quotations: 0 wrong, 1 to look at, 1 right\n"),
        "{}",
        stdout(&right)
    );
    assert!(
        !stdout(&right).contains("24-2-203") && stdout(&folder.check(&["right.txt", "--all"])).contains("24-2-203")
    );

    folder.write("wrong.md", "# A\n\nSee Arden Rev. Stat. § 24-2-999.\n");
    let wrong = folder.check(&["wrong.md"]);
    assert_eq!(wrong.status.code(), Some(1));
    assert!(
        stdout(&wrong).starts_with("wrong.md: line 3, column 5: WRONG: no such section: Arden Rev. Stat. § 24-2-999\n")
    );
    assert_eq!(stderr(&wrong), "hornbook: wrong.md: 1 of 1 finding is wrong\n");

    folder.write("broken.docx", "PK");
    fs::write(folder.0.path().join("latin.txt"), b"caf\xe9").unwrap();
    for (arguments, reported) in [
        (&["absent.txt"][..], "cannot read 'absent.txt'"),
        (&["broken.docx"], "broken.docx: cannot read the document as .docx"),
        (&["latin.txt"], "latin.txt: byte 3 of the document is not UTF-8"),
        (&["right.txt", "--snapshot", "nowhere"], "nowhere"),
        (&["right.txt", "--html", "nowhere/a.html"], "cannot write 'nowhere/a.html'"),
        (&["right.txt", "--format", "odt"], "write one of text, markdown, html, docx, pdf"),
    ] {
        let refused = folder.check(arguments);
        assert_eq!(refused.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&refused).contains(reported), "{arguments:?}: {}", stderr(&refused));
    }
}

#[test]
fn reports_are_json_html_and_sarif_with_the_same_findings() {
    let folder = Folder::with_sample();
    let text = "“A tenant may withhold consent.” Arden Rev. Stat. § 24-2-203(c). Id. Arden Rev. Stat. § 1-1-9 <b>";
    folder.write("brief.txt", text);
    let output = folder.check(&["brief.txt", "--json", "--html", "report.html", "--sarif", "report.sarif"]);
    assert_eq!(output.status.code(), Some(1));
    let report: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let verdicts: Vec<&str> =
        report["findings"].as_array().unwrap().iter().map(|finding| finding["verdict"].as_str().unwrap()).collect();
    assert_eq!(verdicts, ["altered", "resolved", "resolved", "no_such_section"]);
    let page = folder.read("report.html");
    assert!(
        page.contains("<ins title=\"only in the law\">not unreasonably</ins>") && page.contains("&lt;b&gt;"),
        "{page}"
    );
    assert!(!page.contains("http"), "it needs nothing else");
    let log: Value = serde_json::from_str(&folder.read("report.sarif")).unwrap();
    assert_eq!((&log["version"], &log["runs"][0]["tool"]["driver"]["name"]), (&"2.1.0".into(), &"hornbook".into()));
    let results = log["runs"][0]["results"].as_array().unwrap();
    let levels: Vec<&str> = results.iter().map(|result| result["level"].as_str().unwrap()).collect();
    assert_eq!(levels, ["error", "none", "none", "error"]);
    let rules: Vec<&str> = log["runs"][0]["tool"]["driver"]["rules"]
        .as_array()
        .unwrap()
        .iter()
        .map(|rule| rule["id"].as_str().unwrap())
        .collect();
    for result in results {
        assert!(rules.contains(&result["ruleId"].as_str().unwrap()), "{result:#}");
        let region = &result["locations"][0]["physicalLocation"]["region"];
        let (column, snippet) = (region["startColumn"].as_u64().unwrap(), region["snippet"]["text"].as_str().unwrap());
        let found: String = text.chars().skip(column as usize - 1).collect();
        assert!(region["startLine"] == 1 && found.starts_with(snippet), "{region:#}");
    }
}

#[test]
fn standard_input_and_a_day_are_checked_too() {
    let folder = Folder::with_sample();
    let mut command = hornbook();
    command.current_dir(folder.0.path()).args(["check", "-", "--as-of", "2026-08-01", "--since", "2026-06-01"]);
    let mut running = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    running.stdin.take().unwrap().write_all("Arden Rev. Stat. § 24-2-201.".as_bytes()).unwrap();
    let output = running.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(
        stdout(&output).contains("-: line 1, column 1: look: reworded since: Arden Rev. Stat. § 24-2-201"),
        "{}",
        stdout(&output)
    );
}
