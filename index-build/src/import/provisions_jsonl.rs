//! Flat provisions as JSON Lines, one provision per line: jurisdiction, code body, path of ancestor
//! headings, citation, heading, text, a reference into the source and a status.
//!
//! Containers are made from the paths. The status is refined beyond the two values of the format. A
//! number that the citation lacks is taken from the heading. Two lines with the same citation
//! become wordings of one provision if they are different wordings.

use hornbook_corpus::outline::Status;
use serde::Deserialize;

use crate::content::{Content, ContentNote, NewNode, NodeHandle, OnRepeat};
use crate::effect;
use crate::import::converted_text::ConvertedText;
use crate::import::crosswalk::{self, Crosswalk, Dispositions, SectionWords};
use crate::import::intake::{ImportError, SourceIntake};
use crate::import::json_line::{self, Field, FieldShape, nullable, required};
use crate::import::levels::Label;
use crate::import::remark::{REMARK_BYTES_MAX, named_status};
use crate::import::slug::slug;
use crate::import::target::{ImportTarget, LINE_BYTES_MAX};
use crate::order::SortKey;
use crate::pattern::Pattern;
use crate::report::{SourcePosition, WarningKind, Warnings};
use crate::source_files::{SourceFile, parse_lines};

/// The key of the United States Code.
const US_CODE: &str = "us/usc";

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ProvisionLine {
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

/// The fields of a line, for messages.
const FIELDS: &[Field] = &[
    required("jurisdiction", FieldShape::Text),
    required("codeBody", FieldShape::Text),
    required("path", FieldShape::Texts),
    required("citation", FieldShape::Text),
    required("heading", FieldShape::Text),
    required("text", FieldShape::Text),
    required("ref", FieldShape::Text),
    required("status", FieldShape::Text),
    nullable("note", FieldShape::Text),
];

/// Reads one file of flat provisions.
pub fn import(
    file: SourceFile<'_>,
    target: ImportTarget<'_>,
    intake: &mut SourceIntake<'_>,
) -> Result<u64, ImportError> {
    let name = file.place.clone();
    let mut count = 0;
    let parse = |_: u32, text: &str| {
        let mut line: ProvisionLine = json_line::parse(text, FIELDS)?;
        check(&line, target).map_err(|mistake| vec![mistake])?;
        let mut text = ConvertedText::read(std::mem::take(&mut line.text));
        line.text = std::mem::take(&mut text.text);
        let mut note = ConvertedText::read(line.note.take().unwrap_or_default());
        line.note = Some(std::mem::take(&mut note.text)).filter(|note| !note.is_empty());
        Ok::<_, Vec<String>>((line, text, note))
    };
    parse_lines(file, LINE_BYTES_MAX, parse, |number, parsed| {
        let position = SourcePosition { file: name.clone(), line: Some(number) };
        match parsed {
            Ok((mut line, text, note)) => {
                let parent = add_containers(&line, target, intake, &position)?;
                let numbers = numbers_before(&line.heading).to_owned();
                line.heading.drain(..numbers.len());
                intake.left_out.extend(Some((NUMBERS_IN_HEADINGS, numbers)).filter(|(_, numbers)| !numbers.is_empty()));
                let mut provision = provision(line, parent, target, &position, intake.warnings);
                add_converted(text, note, &mut provision.content, &mut intake.left_out);
                intake.add(provision)?;
                count += 1;
                Ok(())
            }
            Err(mistakes) => intake.refuse(&position, mistakes),
        }
    })?;
    Ok(count)
}

/// Adds what was found within the text and the note: layouts, and footnotes as notes. Marks of a layout name footnotes by
/// their place among the notes.
fn add_converted(
    text: ConvertedText,
    mut note: ConvertedText,
    content: &mut Content,
    left_out: &mut Vec<(&'static str, String)>,
) {
    content.layout = text.layout;
    // Other notes have no layout.
    if let Some(own) = content.notes.first_mut().filter(|_| !note.left_out.is_empty()) {
        note.layout.offset_footnotes(text.footnotes.len() + 1);
        own.layout = note.layout;
        content.notes.append(&mut note.footnotes);
    }
    content.notes.splice(0..0, text.footnotes);
    left_out.extend(text.left_out.into_iter().chain(note.left_out));
}

fn check(line: &ProvisionLine, target: ImportTarget<'_>) -> Result<(), String> {
    if line.jurisdiction != target.jurisdiction {
        return Err(format!(
            "field 'jurisdiction': this line belongs to '{}', but the source in the plan to '{}'; give each jurisdiction its own source",
            line.jurisdiction, target.jurisdiction
        ));
    }
    if line.code_body != target.code_body {
        return Err(format!(
            "field 'codeBody': this line belongs to '{}', but the source in the plan to '{}'; correct code_body or split the file",
            line.code_body, target.code_body
        ));
    }
    Ok(())
}

/// Makes sure that every container on the path exists, and returns the innermost.
fn add_containers(
    line: &ProvisionLine,
    target: ImportTarget<'_>,
    intake: &mut SourceIntake<'_>,
    position: &SourcePosition,
) -> Result<Option<NodeHandle>, ImportError> {
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
        let handle = NodeHandle::new(target.key, &path);
        if !intake.gatherer.has(handle) {
            let content = Content {
                citation: citation.clone(),
                heading: heading.to_owned(),
                level: label.level.to_ascii_lowercase(),
                number: label.number.map(str::to_owned),
                reference: path.clone(),
                source: target.source,
                ..Content::default()
            };
            let (key, position) = (key.clone(), position.clone());
            let sort = SortKey::default();
            intake.add(NewNode { handle, parent, key, sort, on_repeat: OnRepeat::Reconcile, content, position })?;
        }
        parent = Some(handle);
    }
    Ok(parent)
}

fn provision(
    line: ProvisionLine,
    parent: Option<NodeHandle>,
    target: ImportTarget<'_>,
    position: &SourcePosition,
    warnings: &mut Warnings,
) -> NewNode {
    let (citation, heading) = with_number(&line.citation, line.heading, position, warnings);
    let (effect, heading) = effect::of_heading(&heading);
    let status = read_status(&line.status, &heading, &line.text, position, warnings);
    if status.may_be_in_force() && line.text.trim().is_empty() {
        warnings.add(WarningKind::EmptyProvision, position, format!("'{citation}' is in force but has no text"));
    }
    let number = number_of(&citation).to_owned();
    // The line number keeps handles distinct. Keys, from which ids are made, depend only on citations.
    let handle = NodeHandle::new(target.key, &format!("line\n{position}"));
    let is_url = line.reference.starts_with("https://") || line.reference.starts_with("http://");
    let mut tags = target.tags.to_vec();
    tags.sort_unstable();
    let key = key_of(&citation, &line.reference);
    let mut content = Content {
        citation,
        heading,
        effect,
        level: "section".into(),
        number: Some(number).filter(|number| !number.is_empty()),
        status: Some(status),
        text: Some(line.text),
        notes: line
            .note
            .map(|text| ContentNote { topic: "Note".into(), text, ..ContentNote::default() })
            .into_iter()
            .collect(),
        tags,
        source_url: is_url.then(|| line.reference.clone()),
        reference: line.reference,
        source: target.source,
        ..Content::default()
    };
    read_crosswalk(&mut content, target, position, warnings);
    NewNode {
        handle,
        parent,
        key: format!("{}/{}", target.key, key),
        sort: SortKey::of_citation(&content.citation),
        on_repeat: OnRepeat::Reconcile,
        content,
        position: position.clone(),
    }
}

/// Reads what the notes of a section of the United States Code say about other numbers of its law.
fn read_crosswalk(content: &mut Content, target: ImportTarget<'_>, position: &SourcePosition, warnings: &mut Warnings) {
    let Some((title, number)) = content.citation.split_once(" U.S.C. § ").filter(|_| target.key == US_CODE) else {
        return;
    };
    let notes = crosswalk::notes_by_topic(content.notes.iter().map(|note| note.text.as_str()));
    let found = Crosswalk::of(&SectionWords {
        title,
        number: Some(number).filter(|number| !number.contains("...")),
        status: content.status.unwrap_or(Status::InForce),
        heading: &content.heading,
        notes: &notes,
        credit: None,
        dispositions: &Dispositions::default(),
    });
    for (kind, position, what) in found.add_to(content, position) {
        warnings.add(kind, &position, what);
    }
}

/// Some citations end where the number should be. Then the number is taken from the heading: `§ 20-13.1.`
fn with_number(
    citation: &str,
    heading: String,
    position: &SourcePosition,
    warnings: &mut Warnings,
) -> (String, String) {
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
            position,
            format!("the citation has no number; '{number}' is taken from the heading"),
        );
        return (format!("{citation} {number}"), after[end..].trim().to_owned());
    }
    warnings.add(
        WarningKind::MissingNumber,
        position,
        "neither citation nor heading has a number; the heading is used instead",
    );
    let stand_in =
        if heading.trim().is_empty() { "unnumbered".to_owned() } else { format!("unnumbered ({})", heading.trim()) };
    (format!("{citation} {stand_in}"), heading)
}

/// The text after the section sign, or after the name of the code.
fn number_of(citation: &str) -> &str {
    match citation.rsplit_once('§') {
        Some((_, number)) => number.trim(),
        None => citation.split_once(' ').map_or("", |(_, number)| number.trim()),
    }
}

/// The stable end of a provision key: `t42/s1983` if the source has such an identifier, otherwise
/// made from the citation.
fn key_of(citation: &str, reference: &str) -> String {
    let by_identifier = reference.strip_prefix("/us/usc/").filter(|_| !reference.contains(' '));
    if let Some(rest) = by_identifier {
        let parts: Vec<String> = rest.split('/').map(slug).filter(|part| !part.is_empty()).collect();
        return parts.join("/");
    }
    let number = slug(number_of(citation));
    let number: String = number.chars().take(120).collect();
    let own = if number.is_empty() { "s".to_owned() } else { format!("s{number}") };
    match title_before(citation) {
        Some(title) => format!("{title}/{own}"),
        None => own,
    }
}

/// The title before the code, as in `35 U.S.C. § 1`. Every title numbers its sections from 1, so
/// the title is part of the key.
fn title_before(citation: &str) -> Option<String> {
    let (before, _) = citation.rsplit_once('§')?;
    let title = slug(before);
    title.starts_with(|c: char| c.is_ascii_digit()).then(|| title.chars().take(120).collect())
}

/// Reason for leaving out the numbers of an entry for several sections.
const NUMBERS_IN_HEADINGS: &str = "numbers of sections in headings of entries for several, which their citations begin";

/// The numbers at the beginning of the heading of an entry for several sections: `§§ 231 to 250. Omitted`.
fn numbers_before(heading: &str) -> &str {
    let numbers = r"^§§ ?[\w–-]+(?:(?:, and |, | to | and )[\w–-]+)+\. ";
    Pattern::fixed(numbers).find(heading).map_or("", |found| found.as_str())
}

/// The status of a provision. The format only knows `in force` and `repealed`, which it uses for
/// everything no longer in force. Heading and text are more precise.
fn read_status(word: &str, heading: &str, text: &str, position: &SourcePosition, warnings: &mut Warnings) -> Status {
    let by_heading = named_status(heading).filter(|_| text.len() <= REMARK_BYTES_MAX);
    let by_text = named_status(text).filter(|_| text.len() <= REMARK_BYTES_MAX);
    match word {
        "in force" => by_heading.or(by_text.filter(|_| text.len() <= 40)).unwrap_or(Status::InForce),
        "repealed" => by_heading.or(by_text).unwrap_or(Status::Repealed),
        other => {
            warnings.add(
                WarningKind::UnknownStatus,
                position,
                format!("the status '{other}' is unknown; treated as in force"),
            );
            Status::InForce
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gather::Gatherer;
    use crate::mistakes::Mistakes;

    fn line(citation: &str, heading: &str, text: &str, reference: &str, status: &str, path: &[&str]) -> String {
        serde_json::json!({
            "jurisdiction": "XA", "codeBody": "Arden Code", "path": path, "citation": citation,
            "heading": heading, "text": text, "ref": reference, "status": status,
        })
        .to_string()
    }

    fn import_lines(lines: &[String]) -> Result<(Vec<(String, Content)>, u64), String> {
        let dir = tempfile::tempdir().unwrap();
        let (mut gatherer, mut warnings, mut mistakes) =
            (Gatherer::new(dir.path()).unwrap(), Warnings::default(), Mistakes::default());
        let target = ImportTarget {
            jurisdiction: "XA",
            code_body: "Arden Code",
            key: "xa/code",
            citation: None,
            source: 0,
            tags: &[],
            options: &toml::Table::new(),
        };
        let text = lines.join("\n");
        let file = SourceFile { place: "x.jsonl".into(), reader: &mut text.as_bytes() };
        let mut intake = SourceIntake::new(&mut gatherer, &mut warnings, &mut mistakes);
        import(file, target, &mut intake).map_err(|error| error.to_string())?;
        let tree = gatherer.finish_body(&mut warnings, &mut mistakes).unwrap();
        if !mistakes.is_empty() {
            return Err(mistakes.to_string());
        }
        let spool = gatherer.into_spool();
        let nodes = tree.into_iter().map(|node| (node.key, node.content.read(&spool).unwrap())).collect();
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
    fn footnotes_of_text_and_note_are_named_by_their_places() {
        let text = "Fees [1]   1 Of 1990.   are due.";
        let note = "Former law: <table><tr><td>A [1]   1 Ended.   </td><td>B</td></tr></table>";
        let mut one: serde_json::Value =
            serde_json::from_str(&line("Arden Code § 1", "Fees", text, "r", "in force", &[])).unwrap();
        one["note"] = note.into();
        let (nodes, _) = import_lines(&[one.to_string()]).unwrap();
        let content = &nodes[0].1;
        let notes: Vec<_> = content.notes.iter().map(|note| (note.topic.as_str(), note.text.as_str())).collect();
        assert_eq!(notes, [("Footnote", "Of 1990."), ("Note", "Former law:\nA\tB"), ("Footnote", "Ended.")]);
        let targets = |layout: &hornbook_corpus::layout::Layout| -> Vec<u32> {
            layout.marks.iter().map(|mark| mark.target).collect()
        };
        assert_eq!((targets(&content.layout), targets(&content.notes[1].layout)), (vec![0], vec![2]));
    }

    #[test]
    fn a_number_missing_from_the_citation_is_taken_from_the_heading() {
        let lines = [line("Arden Code § ", "§ 20-13.1.", "Repealed by Acts 1995.", "r", "repealed", &[])];
        let (nodes, warnings) = import_lines(&lines).unwrap();
        assert_eq!((nodes[0].1.citation.as_str(), nodes[0].1.heading.as_str()), ("Arden Code § 20-13.1", ""));
        assert_eq!(warnings, 1);
    }

    #[test]
    fn inactive_provisions_have_a_precise_status() {
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
    fn titles_before_the_code_are_part_of_keys_made_from_citations() {
        assert_eq!(key_of("35 U.S.C. § 1", "row 17"), "35-u.s.c/s1");
        assert_eq!(key_of("5 U.S.C. App. § 1", "row 18"), "5-u.s.c.-app/s1");
        assert_eq!(key_of("17 C.F.R. § 240.10b–5", "row 19"), "17-c.f.r/s240.10b-5");
        assert_eq!(key_of("Va. Code § 13.1-345", "row 20"), "s13.1-345");
    }

    #[test]
    fn sections_of_many_titles_with_made_up_references_give_no_warning() {
        let lines: Vec<String> = (1..=40)
            .flat_map(|title| {
                let path = format!("TITLE {title}—X");
                (1..=5).map(move |section| {
                    let citation = format!("{title} U.S.C. § {section}");
                    line(&citation, "Repealed", "Repealed.", &format!("row {title}/{section}"), "repealed", &[&path])
                })
            })
            .collect();
        let (nodes, warnings) = import_lines(&lines).unwrap();
        assert_eq!((nodes.len(), warnings), (40 + 200, 0));
        // The same without containers: nothing is treated as a repeat or another wording.
        let flat: Vec<String> = (1..=40)
            .map(|title| line(&format!("{title} U.S.C. § 1"), "Repealed", "Repealed.", "made up", "repealed", &[]))
            .collect();
        let (nodes, warnings) = import_lines(&flat).unwrap();
        assert_eq!((nodes.len(), warnings), (40, 0));
        // The same where the key does not contain the title.
        let articles: Vec<String> = ["Crim. Law", "Family Law", "Tax - General"]
            .map(|article| line(&format!("Md. Code, {article} § 1-101"), "Definitions", "Words.", "x", "in force", &[]))
            .to_vec();
        let (nodes, warnings) = import_lines(&articles).unwrap();
        assert_eq!((nodes.len(), warnings), (3, 0));
        assert_eq!(nodes[1].0, "xa/code/s1-101~2");
        // A real duplicate still causes a warning.
        let double = ["A.", "B."].map(|text| line("35 U.S.C. § 1", text, text, "x", "in force", &[])).to_vec();
        let (nodes, warnings) = import_lines(&double).unwrap();
        assert_eq!((nodes.len(), warnings), (2, 1));
    }

    #[test]
    fn mistakes_name_the_field() {
        let good = line("Arden Code § 2", "A", "a", "r", "in force", &[]);
        let bad = good.replace("\"path\":[]", "\"path\":{}").replace("\"heading\"", "\"haeding\"");
        let message = import_lines(&[good, bad]).unwrap_err();
        assert!(message.contains("x.jsonl:2: field 'path': expected a list of texts, found an object"), "{message}");
        assert!(message.contains("x.jsonl:2: unknown field 'haeding'"), "{message}");
        assert!(message.contains("x.jsonl:2: the field 'heading' is missing"), "{message}");
    }

    #[test]
    fn lines_of_another_code_are_refused_with_their_place() {
        let stray = line("Arden Code § 1", "A", "a", "r", "in force", &[]).replace("\"XA\"", "\"XB\"");
        let message = import_lines(&[line("Arden Code § 2", "A", "a", "r", "in force", &[]), stray]).unwrap_err();
        assert!(message.starts_with("x.jsonl:2: field 'jurisdiction': this line belongs to 'XB'"), "{message}");
    }
}
