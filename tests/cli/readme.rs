//! The commands of README.md and docs/operating.md, as they are written there.

use std::fs;
use std::path::Path;
use std::process::Output;

use crate::{hornbook, sample_plan, stderr, stdout};

/// The lines of a document that call `hornbook`, without their remarks.
fn commands(document: &str) -> Vec<String> {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(document)).unwrap();
    let commands =
        text.lines().filter_map(|line| line.strip_prefix("    ")).filter(|line| line.starts_with("hornbook "));
    let without_remark = |line: &str| line.split(" #").next().unwrap_or(line).trim().trim_end_matches(" &").to_owned();
    commands.map(without_remark).collect()
}

/// The words of a command line, with its quotes read as a shell reads them.
fn words(command: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quote = false;
    for letter in command.chars() {
        match letter {
            '\'' => quote = !quote,
            ' ' if !quote => words.push(String::new()),
            letter => words.last_mut().unwrap().push(letter),
        }
    }
    words.retain(|word| !word.is_empty());
    words.split_off(1)
}

fn run(dir: &Path, arguments: &[String]) -> Output {
    hornbook().current_dir(dir).args(arguments).output().unwrap()
}

#[test]
fn every_command_of_the_documents_is_accepted() {
    let (readme, guide) = (commands("README.md"), commands("docs/operating.md"));
    assert!(readme.len() > 25 && guide.len() > 8, "{} and {} commands were found", readme.len(), guide.len());
    let dir = tempfile::tempdir().unwrap();
    for command in readme.iter().chain(&guide) {
        let output = run(dir.path(), &[words(command), vec!["--help".to_owned()]].concat());
        assert!(output.status.success(), "{command}: {}", stderr(&output));
    }
}

/// Those that need neither a server nor the network run with the sample in the place of SNAPSHOT.
#[test]
fn the_commands_of_the_readme_that_work_offline_run() {
    let dir = tempfile::tempdir().unwrap();
    let set_up = |arguments: &[&str]| {
        let output = hornbook().current_dir(dir.path()).args(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
        stdout(&output)
    };
    let plan = sample_plan();
    set_up(&["build", plan.to_str().unwrap()]);
    set_up(&["build", plan.to_str().unwrap(), "--out", "SNAPSHOT"]);
    set_up(&["account", "create", "ACCOUNT", "--approve"]);
    let mut ran = 0;
    for command in commands("README.md") {
        let arguments = words(&command);
        let offline = [
            "account", "config", "grant", "inspect", "key", "resolve", "search", "snapshot", "sources", "suggest",
            "verify",
        ];
        if !offline.contains(&arguments[0].as_str()) {
            continue;
        }
        ran += 1;
        let output = run(dir.path(), &arguments);
        // The sample does not contain the law of the examples, and says so.
        let is_not_in_the_sample = command.contains("inspect") && stderr(&output).contains("va code 13.1-345")
            || command.contains("--jurisdiction") && stderr(&output).contains("jurisdiction")
            || command.contains(" resolve ") && stderr(&output).contains("did not resolve");
        assert!(output.status.success() || is_not_in_the_sample, "{command}: {}{}", stdout(&output), stderr(&output));
    }
    assert!(ran > 10, "{ran} commands ran");
}
