//! Flat provisions as JSON Lines, one provision per line: jurisdiction, code body, path of ancestor headings, citation,
//! heading, text, a reference into the source and a status.
//!
//! Containers are made from the paths. The status is refined beyond the two words of the format. A number that the
//! citation lacks is taken from the heading. Two lines with the same citation become wordings of one provision if they
//! are.

use hornbook_corpus::outline::Status;
use serde::Deserialize;

use crate::gather::{Content, ContentNote, Gatherer, Handle, NewNode, OnRepeat};
use crate::import::{ImportError, LINE_BYTES_MAX, Target, json_mistake, slug};
use crate::order::SortKey;
use crate::report::{Place, WarningKind, Warnings};
use crate::source_files::{SourceFile, parse_lines};

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Line {
    jurisdiction: String,
    code_body: String,
    path: Vec<String>,
    citation: String,
    heading: String,
    text: String,
    #[serde(rename = "ref")]
    reference: String,
    status: String,
    #[serde(default)]
    note: Option<String>,
}

/// Reads one file of flat provisions.
pub fn import(
    file: SourceFile<'_>,
    target: Target<'_>,
    gatherer: &mut Gatherer,
    warnings: &mut Warnings,
) -> Result<u64, ImportError> {
    let name = file.place.clone();
    let mut count = 0;
    let place = |number| Place { file: name.clone(), line: Some(number) };
    let parse = |number: u32, text: &str| {
        let invalid = |what: String| ImportError::Invalid { place: place(number), what };
        let line: Line = serde_json::from_str(text).map_err(|error| invalid(json_mistake(&error)))?;
        check(&line, target).map_err(invalid)?;
        Ok::<_, ImportError>(line)
    };
    parse_lines(file, LINE_BYTES_MAX, parse, |number, line| {
        let place = place(number);
        let parent = add_containers(&line, target, gatherer, &place)?;
        gatherer.add(provision(line, parent, target, &place, warnings))?;
        count += 1;
        Ok(())
    })?;
    Ok(count)
}

fn check(line: &Line, target: Target<'_>) -> Result<(), String> {
    if line.jurisdiction != target.jurisdiction {
        return Err(format!(
            "this line is of '{}', the plan's source is of '{}'; give each jurisdiction a source of its own",
            line.jurisdiction, target.jurisdiction
        ));
    }
    if line.code_body != target.code_body {
        return Err(format!(
            "this line is of '{}', the plan's source is of '{}'; correct code_body or split the file",
            line.code_body, target.code_body
        ));
    }
    Ok(())
}

/// Makes sure that every container on the path exists; returns the innermost.
fn add_containers(
    line: &Line,
    target: Target<'_>,
    gatherer: &mut Gatherer,
    place: &Place,
) -> Result<Option<Handle>, ImportError> {
    let mut parent = None;
    let mut key = target.key.to_owned();
    let mut citation = target.code_body.to_owned();
    let mut path = String::from("path");
    for heading in &line.path {
        let heading = heading.trim();
        let label = Label::of(heading);
        path = format!("{path}\n{heading}");
        key = format!("{key}/{}", label.key_part(heading));
        citation = format!("{citation}, {}", label.citation_part(heading));
        let handle = Handle::new(target.key, &path);
        if !gatherer.has(handle) {
            let content = Content {
                citation: citation.clone(),
                heading: heading.to_owned(),
                level: label.level.to_ascii_lowercase(),
                number: label.number.map(str::to_owned),
                reference: path.clone(),
                source: target.source,
                ..Content::default()
            };
            let (key, place) = (key.clone(), place.clone());
            let sort = SortKey::default();
            gatherer.add(NewNode { handle, parent, key, sort, on_repeat: OnRepeat::Reconcile, content, place })?;
        }
        parent = Some(handle);
    }
    Ok(parent)
}

/// The level and number that a container's heading begins with: `CHAPTER 21—CIVIL RIGHTS`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Label<'a> {
    level: &'a str,
    number: Option<&'a str>,
}

const LEVELS: [(&str, &str); 12] = [
    ("title", "t"),
    ("subtitle", "st"),
    ("division", "d"),
    ("chapter", "ch"),
    ("subchapter", "sch"),
    ("part", "pt"),
    ("subpart", "spt"),
    ("article", "art"),
    ("subarticle", "sart"),
    ("appendix", "app"),
    ("subdivision", "sd"),
    ("unit", "u"),
];

impl<'a> Label<'a> {
    fn of(heading: &'a str) -> Self {
        let bare = heading.trim_start_matches('[');
        let (word, rest) = bare.split_once(char::is_whitespace).unwrap_or((bare, ""));
        if !LEVELS.iter().any(|(level, _)| word.eq_ignore_ascii_case(level)) {
            return Self { level: "division", number: None };
        }
        let end = rest.find(|c: char| c.is_whitespace() || matches!(c, '—' | '–' | ':' | ']')).unwrap_or(rest.len());
        let number = rest[..end].trim_end_matches(['.', '-', ',']);
        let is_number = number.len() <= 12
            && (number.bytes().any(|b| b.is_ascii_digit()) || number.bytes().all(|b| b.is_ascii_uppercase()));
        Self { level: word, number: Some(number).filter(|number| is_number && !number.is_empty()) }
    }

    fn key_part(self, heading: &str) -> String {
        let short =
            LEVELS.iter().find(|(level, _)| self.level.eq_ignore_ascii_case(level)).map_or("", |(_, short)| short);
        let part = match self.number {
            Some(number) => format!("{short}{}", slug(number)),
            None => slug(heading).chars().take(60).collect(),
        };
        if part.is_empty() { "x".to_owned() } else { part }
    }

    fn citation_part(self, heading: &str) -> String {
        match self.number {
            Some(number) => {
                let mut level = self.level.to_ascii_lowercase();
                level[..1].make_ascii_uppercase();
                format!("{level} {number}")
            }
            None => heading.to_owned(),
        }
    }
}

fn provision(
    line: Line,
    parent: Option<Handle>,
    target: Target<'_>,
    place: &Place,
    warnings: &mut Warnings,
) -> NewNode {
    let (citation, heading) = with_number(&line.citation, line.heading, place, warnings);
    let status = read_status(&line.status, &heading, &line.text, place, warnings);
    if status.is_living() && line.text.trim().is_empty() {
        warnings.add(WarningKind::EmptyProvision, place, format!("'{citation}' is in force but has no text"));
    }
    let number = number_of(&citation).to_owned();
    // The line number keeps handles apart; keys, which ids are made from, come from citations alone.
    let handle = Handle::new(target.key, &format!("line\n{place}"));
    let is_url = line.reference.starts_with("https://") || line.reference.starts_with("http://");
    let mut tags = target.tags.to_vec();
    tags.sort_unstable();
    NewNode {
        handle,
        parent,
        key: format!("{}/{}", target.key, key_of(&citation, &line.reference)),
        sort: SortKey::of_citation(&citation),
        on_repeat: OnRepeat::Reconcile,
        content: Content {
            citation,
            heading,
            level: "section".into(),
            number: Some(number).filter(|number| !number.is_empty()),
            status: Some(status),
            text: Some(line.text),
            notes: line.note.map(|text| ContentNote { topic: "Note".into(), text }).into_iter().collect(),
            tags,
            source_url: is_url.then(|| line.reference.clone()),
            reference: line.reference,
            source: target.source,
            ..Content::default()
        },
        place: place.clone(),
    }
}

/// Some citations end where the number should stand; the heading has it: `§ 20-13.1.`
fn with_number(citation: &str, heading: String, place: &Place, warnings: &mut Warnings) -> (String, String) {
    let citation = citation.trim_end();
    if !citation.ends_with('§') {
        return (citation.to_owned(), heading);
    }
    let after = heading.trim_start().trim_start_matches('§').trim_start();
    let end = after.find(|c: char| c.is_whitespace()).unwrap_or(after.len());
    let number = after[..end].trim_end_matches(['.', ',', ';', ':']);
    if heading.trim_start().starts_with('§') && number.bytes().any(|b| b.is_ascii_digit()) {
        warnings.add(
            WarningKind::MissingNumber,
            place,
            format!("the citation has no number; '{number}' is taken from the heading"),
        );
        return (format!("{citation} {number}"), after[end..].trim().to_owned());
    }
    warnings.add(
        WarningKind::MissingNumber,
        place,
        "neither citation nor heading has a number; the heading stands in for it",
    );
    let stand_in =
        if heading.trim().is_empty() { "unnumbered".to_owned() } else { format!("unnumbered ({})", heading.trim()) };
    (format!("{citation} {stand_in}"), heading)
}

/// What stands after the section sign, or after the name of the code.
fn number_of(citation: &str) -> &str {
    match citation.rsplit_once('§') {
        Some((_, number)) => number.trim(),
        None => citation.split_once(' ').map_or("", |(_, number)| number.trim()),
    }
}

/// The stable end of a provision's key: `t42/s1983` where the source has such an identifier, else from the citation.
fn key_of(citation: &str, reference: &str) -> String {
    let by_identifier = reference.strip_prefix("/us/usc/").filter(|_| !reference.contains(' '));
    if let Some(rest) = by_identifier {
        let parts: Vec<String> = rest.split('/').map(slug).filter(|part| !part.is_empty()).collect();
        return parts.join("/");
    }
    let number = slug(number_of(citation));
    let number: String = number.chars().take(120).collect();
    if number.is_empty() { "s".to_owned() } else { format!("s{number}") }
}

/// The form knows `in force` and `repealed`, and says the latter of everything dead; heading and text know better.
fn read_status(word: &str, heading: &str, text: &str, place: &Place, warnings: &mut Warnings) -> Status {
    const REMARK_BYTES_MAX: usize = 300;
    let marked = |text: &str| {
        let bare = text.trim_start_matches(|c: char| !c.is_alphabetic()).to_ascii_lowercase();
        let words = [
            ("repealed", Status::Repealed),
            ("reserved", Status::Reserved),
            ("omitted", Status::Omitted),
            ("transferred", Status::Transferred),
            ("recodified", Status::Transferred),
            ("renumbered", Status::Renumbered),
            ("redesignated", Status::Renumbered),
            ("expired", Status::Expired),
        ];
        words.into_iter().find(|(word, _)| bare.starts_with(word)).map(|(_, status)| status)
    };
    let by_heading = marked(heading).filter(|_| text.len() <= REMARK_BYTES_MAX);
    let by_text = marked(text).filter(|_| text.len() <= REMARK_BYTES_MAX);
    match word {
        "in force" => by_heading.or(by_text.filter(|_| text.len() <= 40)).unwrap_or(Status::InForce),
        "repealed" => by_heading.or(by_text).unwrap_or(Status::Repealed),
        other => {
            warnings.add(
                WarningKind::UnknownStatus,
                place,
                format!("the status '{other}' is unknown; taken as in force"),
            );
            Status::InForce
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(citation: &str, heading: &str, text: &str, reference: &str, status: &str, path: &[&str]) -> String {
        serde_json::json!({
            "jurisdiction": "XA", "codeBody": "Arden Code", "path": path, "citation": citation,
            "heading": heading, "text": text, "ref": reference, "status": status,
        })
        .to_string()
    }

    fn import_lines(lines: &[String]) -> Result<(Vec<(String, Content)>, u64), String> {
        let dir = tempfile::tempdir().unwrap();
        let mut gatherer = Gatherer::new(dir.path()).unwrap();
        let target = Target {
            jurisdiction: "XA",
            code_body: "Arden Code",
            key: "xa/code",
            citation: None,
            source: 0,
            tags: &[],
        };
        let mut warnings = Warnings::default();
        let text = lines.join("\n");
        let file = SourceFile { place: "x.jsonl".into(), reader: &mut text.as_bytes() };
        import(file, target, &mut gatherer, &mut warnings).map_err(|error| error.to_string())?;
        let tree = gatherer.finish_body(&mut warnings).map_err(|error| error.to_string())?;
        let spool = gatherer.into_spool();
        let nodes = tree.into_iter().map(|node| (node.key, spool.read(node.content).unwrap())).collect();
        Ok((nodes, warnings.total()))
    }

    #[test]
    fn paths_become_containers_and_lines_stand_in_code_order() {
        let lines = [
            line("Arden Code § 20-2", "B", "b", "r", "in force", &["Title 20. Families.", "Chapter 1. Marriage."]),
            line("Arden Code § 3-1", "A", "a", "r", "in force", &["Title 3. Farms."]),
            line("Arden Code § 20-1", "C", "c", "r", "in force", &["Title 20. Families.", "Chapter 1. Marriage."]),
        ];
        let keys: Vec<_> =
            import_lines(&lines).unwrap().0.into_iter().map(|(key, content)| (key, content.citation)).collect();
        let expected = [
            ("xa/code/t3", "Arden Code, Title 3"),
            ("xa/code/s3-1", "Arden Code § 3-1"),
            ("xa/code/t20", "Arden Code, Title 20"),
            ("xa/code/t20/ch1", "Arden Code, Title 20, Chapter 1"),
            ("xa/code/s20-1", "Arden Code § 20-1"),
            ("xa/code/s20-2", "Arden Code § 20-2"),
        ];
        assert_eq!(keys, expected.map(|(key, citation)| (key.to_owned(), citation.to_owned())));
    }

    #[test]
    fn a_number_missing_from_the_citation_is_taken_from_the_heading() {
        let lines = [line("Arden Code § ", "§ 20-13.1.", "Repealed by Acts 1995.", "r", "repealed", &[])];
        let (nodes, warnings) = import_lines(&lines).unwrap();
        assert_eq!((nodes[0].1.citation.as_str(), nodes[0].1.heading.as_str()), ("Arden Code § 20-13.1", ""));
        assert_eq!(warnings, 1);
    }

    #[test]
    fn dead_provisions_say_how_they_died() {
        let status = |heading: &str, text: &str, word: &str| {
            import_lines(&[line("Arden Code § 1", heading, text, "r", word, &[])]).unwrap().0[0].1.status
        };
        assert_eq!(status("Omitted", "", "repealed"), Some(Status::Omitted));
        assert_eq!(status("[Reserved]", "", "in force"), Some(Status::Reserved));
        assert_eq!(status("§§ 3, 4. Transferred", "", "repealed"), Some(Status::Transferred));
        assert_eq!(status("Hunting", "Expired.", "repealed"), Some(Status::Expired));
        assert_eq!(status("Hunting", "Gone.", "repealed"), Some(Status::Repealed));
        assert_eq!(status("Reserved powers", &"The state keeps them. ".repeat(30), "in force"), Some(Status::InForce));
    }

    #[test]
    fn federal_identifiers_are_the_keys() {
        assert_eq!(key_of("42 U.S.C. § 300aa–1", "/us/usc/t42/s300aa–1"), "t42/s300aa-1");
        assert_eq!(key_of("5 U.S.C. App. § 1", "/us/usc/t5a/pl/92/463/s1"), "t5a/pl/92/463/s1");
        assert_eq!(key_of("COMAR 26.08.02.01", "us/md/exec/comar/26/08/02.xml"), "s26.08.02.01");
    }

    #[test]
    fn lines_of_another_code_are_refused_with_their_place() {
        let stray = line("Arden Code § 1", "A", "a", "r", "in force", &[]).replace("\"XA\"", "\"XB\"");
        let message = import_lines(&[line("Arden Code § 2", "A", "a", "r", "in force", &[]), stray]).unwrap_err();
        assert!(message.starts_with("x.jsonl:2: this line is of 'XB'"), "{message}");
    }
}
