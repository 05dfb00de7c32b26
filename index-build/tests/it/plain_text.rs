//! Codes that exist only as text: difficult cases in a small file, and Spanish Fork's text files
//! compared with its HTML.

use std::collections::BTreeSet;

use hornbook_index_build::import::IMPORTERS;
use hornbook_index_build::import::document::Document;
use hornbook_index_build::report::WarningKind;

use crate::corpora::corpora;
use crate::imported::{Source, check_damaged, documents, import, import_one};
use crate::municipal_html::spanish_fork;

const OPTIONS: &str = r"
section = '^§ (\d+\.\d+)\. (.*)$'
furniture = ['^Arden Code +Page \d+$']
credit = '^\(Ord\.'
paragraphs = 'empty-lines'
container = [{ level = 'title', pattern = '^TITLE (\d+) (.*)$' }, { level = 'chapter', pattern = '^CHAPTER (\d+)$' }]
";

const TEXT: &str = "TITLE 1 GENERAL
CHAPTER 2
§ 1.1. Names.
§ 1.2. Rules.

\u{c}Arden Code   Page 1
§ 1.1. Names.
This code is
the Arden Code.
(a) It may be
cited so;
\u{c}Arden Code   Page 2
(b) or not.

It is short.
(Ord. 12; Ord. 14)
§ 1.2. Rules.
None.
\u{c}TITLE 2 MORE
§ 2.1. Last.
One.
";

fn arden(options: &str) -> Source<'static> {
    Source {
        format: "plain-text",
        key: "xa/code",
        code_body: "Arden Code",
        citation: None,
        options: toml::from_str(options).unwrap(),
    }
}

fn refused(options: &str) -> String {
    let importer = IMPORTERS.iter().find(|importer| importer.name == "plain-text").unwrap();
    importer.check_options(&toml::from_str(options).unwrap()).unwrap_err()
}

#[test]
fn marks_furniture_and_paragraphs_are_options() {
    let imported = import_one("code.txt", TEXT, &arden(OPTIONS));
    assert!(imported.mistakes.is_empty(), "{}", imported.mistakes);
    let node = imported.node("xa/code/s1.1");
    assert_eq!(
        node.text.as_deref(),
        Some("This code is the Arden Code.\n(a) It may be cited so;\n(b) or not.\nIt is short.")
    );
    assert_eq!(
        (node.citation.as_str(), node.source_credit.as_deref()),
        ("Arden Code § 1.1", Some("(Ord. 12; Ord. 14)"))
    );
    let keys: Vec<_> = imported.nodes.iter().map(|(key, _, _)| key.as_str()).collect();
    let first = ["xa/code/t1", "xa/code/t1/ch2", "xa/code/s1.1", "xa/code/s1.2"];
    // A chapter ends with its title.
    assert_eq!(keys, [first.as_slice(), &["xa/code/t2", "xa/code/s2.1"]].concat());
}

/// Lines that are left out are counted, and shown if they read like law.
#[test]
fn left_out_lines_are_counted_and_law_in_them_is_reported() {
    let options = format!("begin = '^TITLE 1'\n{OPTIONS}").replace("furniture = [", "furniture = ['^Notice', ");
    let text = format!("A preface.\nContents\n{TEXT}Notice to all\nNotice shall be given in writing.\n");
    let imported = import_one("code.txt", &text, &arden(&options));
    assert!(imported.mistakes.is_empty(), "{}", imported.mistakes);
    assert_eq!(imported.node("xa/code/s2.1").text.as_deref(), Some("One."));
    let warnings: Vec<String> = imported.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        warnings,
        [
            "code.txt:1: 2 lines before the match of the option 'begin' were left out",
            "code.txt:24: 'furniture' leaves out 2 lines that match '^Notice'; the first is 'Notice to all'",
            "code.txt:8: 'furniture' leaves out 2 lines that match '^Arden Code +Page \\d+$'; the first is 'Arden Code   Page 1'",
            "code.txt:25: 'Notice shall be given in writing.' reads like law, but 'furniture' leaves it out",
        ]
    );
    assert_eq!((imported.count(WarningKind::LeftOut), imported.count(WarningKind::DoubtfulLeftOut)), (3, 1));
    let none = import_one("code.txt", TEXT, &arden(&options.replace("TITLE 1", "BOOK"))).mistakes.to_string();
    assert!(none.starts_with("code.txt:1: no line matches the option 'begin'"), "{none}");
}

/// Everything after a credit belongs to it, but no credit is as long as a charter.
#[test]
fn a_credit_has_a_maximum_length() {
    let law = "The council shall meet.\n".repeat(4);
    let text = format!("§ 1.1. Names.\nOne.\n(Ord. 12;\nOrd. 14)\n\n{law}§ 1.2. Rules.\nNone.\n(Ord. 15)\n");
    let of = |most: usize| import_one("code.txt", &text, &arden(&format!("credit_words_max = {most}\n{OPTIONS}")));
    let bounded = of(10);
    let names = bounded.node("xa/code/s1.1");
    assert_eq!(names.source_credit.as_deref(), Some("(Ord. 12; Ord. 14)"));
    assert_eq!(names.text.as_deref(), Some(format!("One.\n{}", law.replace('\n', " ").trim_end()).as_str()));
    assert_eq!(bounded.node("xa/code/s1.2").source_credit.as_deref(), Some("(Ord. 15)"));
    let warning = bounded.warnings.iter().find(|warning| warning.kind == WarningKind::DoubtfulCredit).unwrap();
    assert!(
        warning
            .to_string()
            .starts_with("code.txt:3: the source credit of '1.1' would have 20 words, but the maximum is 10"),
        "{warning}"
    );
    assert_eq!(of(20).count(WarningKind::DoubtfulCredit), 0);
}

#[test]
fn mistakes_name_option_file_and_line() {
    assert_eq!(refused("section = '('"), "option 'section': '(' is not a regular expression: unclosed group");
    assert!(refused("section = 'x'").starts_with("option 'section': it has no group"));
    assert!(refused("furniture = []").contains("missing field `section`"));
    assert!(refused("section = '(a)'\npages = 1").contains("unknown field `pages`"));
    let level = "section = '(a)'\ncontainer = [{ level = 'tome', pattern = '(a)' }]";
    assert!(refused(level).starts_with("option 'container': 'tome' is not a level"));
    let stray = import_one("code.txt", &format!("Preface\n{TEXT}"), &arden(OPTIONS)).mistakes.to_string();
    assert!(stray.starts_with("code.txt:1: 'Preface' is before the first section"), "{stray}");
    let none = import_one("code.txt", "Nothing.\n", &arden(OPTIONS)).mistakes.to_string();
    assert!(none.starts_with("code.txt:1: no line matches the option 'section'"), "{none}");
}

#[test]
fn damaged_files_are_refused_with_their_place() {
    check_damaged(&Document { place: "code.txt".into(), bytes: TEXT.into() }, &arden(OPTIONS));
}

/// The city publishes these titles in both forms, with the same sections. In its text files of
/// other titles, lines of the law look like chapter headings.
#[test]
fn spanish_fork_as_text_has_the_sections_of_its_html() {
    const TITLES: [&str; 8] = ["1", "2", "4", "5", "8", "9", "10", "12"];
    let Some(corpora) = corpora() else { return };
    let archive = corpora.join("spanish-fork-ut-code-html-2024.tar.zst");
    let options = r"
skip = 'README|public-works'
section = '^(\d+\.(?:\d+\.)?\d+\.\d{3}) (.+)$'
credit = '^\(Ord\.'
container = [{ level = 'title', pattern = '^(\d+) ([A-Z, ]+)$' }, { level = 'chapter', pattern = '^(\d+\.\d\d) (.+)$' }]
";
    let text = Source { format: "plain-text", options: toml::from_str(options).unwrap(), ..spanish_fork() };
    let picks = |path: &str| TITLES.iter().any(|title| path.contains(&format!("/title_{title}_")));
    let keys = |source: &Source<'_>| -> BTreeSet<String> {
        let imported = import(&documents(&archive, source.format, picks), source);
        assert!(imported.mistakes.is_empty(), "{}", imported.mistakes);
        imported.provisions().map(|(key, _, _)| key.clone()).filter(|key| !key.contains('~')).collect()
    };
    let of_text = keys(&text);
    assert_eq!(of_text.len(), 494);
    assert_eq!(of_text, keys(&spanish_fork()));
}

/// A code with one file per section: numbers name the containers, and a remark states until when a
/// wording is law.
#[test]
fn numbers_name_containers_and_a_group_is_a_remark() {
    let options = r"
        section = '^(\d+-\d+-\d+)(?: \((?<remark>[^)]+)\))?\. (?<heading>.*)$'
        container = [{ level = 'title', number = '^\d+' }, { level = 'chapter', number = '^\d+-\d+' }]
        credit = '^Enacted by '
    ";
    let text = "57-22-4 (Superseded 07/01/14). Duties.\nAn owner shall pay.\nEnacted by Chapter 1, 1990\n57-22-5 (Subsec (2) \
                repealed). Rights.\nNone.";
    let text = text.replace("(Subsec (2) repealed)", "(Subsection 2 repealed)");
    let imported = import_one("0004.txt", &text, &arden(options));
    let duties = imported.node("xa/code/s57-22-4");
    assert_eq!((duties.heading.as_str(), duties.text.as_deref()), ("Duties.", Some("An owner shall pay.")));
    assert_eq!((duties.effect.to.as_deref(), duties.effect.uncertain), (Some("2014-07-01"), false));
    assert!(imported.node("xa/code/s57-22-5").effect.uncertain);
    assert_eq!(imported.node("xa/code/t57/ch57-22").heading, "Chapter 57-22");
    let both = "section = '^(a)'\ncontainer = [{ level = 'title' }]";
    assert!(refused(both).contains("either 'pattern'"), "{}", refused(both));
}
