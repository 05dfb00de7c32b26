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

/// The folder is written, built and searched as the document says, and the document shows what is written.
#[test]
fn own_law_is_served_by_the_commands_of_the_readme() {
    let dir = tempfile::tempdir().unwrap();
    let readme = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap();
    let section = readme.split_once("## Serving your own law\n").unwrap().1.split_once("\n## ").unwrap().0;
    let own =
        section.lines().filter_map(|line| line.strip_prefix("    hornbook ")).map(|line| format!("hornbook {line}"));
    let own: Vec<String> = own.map(|line| line.split(" #").next().unwrap().trim().to_owned()).collect();
    let [example, build, search, serve] = own.as_slice() else { panic!("{own:?}") };
    for command in [example, build] {
        let output = run(dir.path(), &words(command));
        assert!(output.status.success(), "{command}: {}{}", stdout(&output), stderr(&output));
    }
    let found = stdout(&run(dir.path(), &words(search)));
    assert!(found.lines().next().unwrap().contains("Example Town Code § 1-1"), "{found}");
    assert_eq!(serve, "hornbook serve");
    let cited = run(dir.path(), &words("hornbook inspect --node 'Example Town Code § 1-2'"));
    assert!(stdout(&cited).contains("Example Town Code § 1-1"), "its reference is found: {}", stdout(&cited));
    for (name, kind) in [("plan.toml", "toml"), ("code.jsonl", "json")] {
        let written = fs::read_to_string(dir.path().join("own-law").join(name)).unwrap();
        assert!(section.contains(&format!("```{kind}\n{written}```")), "README.md shows another {name}");
    }
    // What somebody has changed stays.
    fs::write(dir.path().join("own-law/plan.toml"), "mine").unwrap();
    let again = run(dir.path(), &words(example));
    assert!(
        !again.status.success() && stderr(&again).contains("own-law/plan.toml already exists"),
        "{}",
        stderr(&again)
    );
    assert_eq!(fs::read_to_string(dir.path().join("own-law/plan.toml")).unwrap(), "mine");
    assert!(run(dir.path(), &words("hornbook example own-law --out other")).status.success());
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
    for folder in ["SNAPSHOT", "OLD", "NEW"] {
        set_up(&["build", plan.to_str().unwrap(), "--out", folder]);
    }
    let current = fs::read_link(dir.path().join("data/current")).unwrap();
    let current = current.file_name().unwrap().to_str().unwrap();
    set_up(&["account", "create", "ACCOUNT", "--approve"]);
    fs::write(dir.path().join("motion.docx"), motion()).unwrap();
    let mut ran = 0;
    for command in commands("README.md") {
        let arguments: Vec<String> =
            words(&command).into_iter().map(|word| if word == "ID" { current.to_owned() } else { word }).collect();
        let offline = [
            "account", "check", "config", "diff", "grant", "inspect", "key", "resolve", "search", "snapshot",
            "sources", "suggest", "verify",
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
    let report = fs::read_to_string(dir.path().join("report.html")).unwrap();
    assert!(report.contains("1 citation and 1 quotation were checked"), "{report}");
}

/// A document of a word processor that cites and quotes the sample.
fn motion() -> Vec<u8> {
    let text = "“A tenant may not unreasonably withhold consent.” Arden Rev. Stat. § 24-2-203(c).";
    let document = format!(
        r#"<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:body></w:document>"#
    );
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    archive.start_file("word/document.xml", zip::write::SimpleFileOptions::default()).unwrap();
    std::io::Write::write_all(&mut archive, document.as_bytes()).unwrap();
    archive.finish().unwrap().into_inner()
}
