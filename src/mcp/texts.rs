//! The text of a result, for models: short, with a link to each provision. Programs read the JSON that
//! comes with it.
//!
//! Most operations that answer with provisions have a writer here. Other answers are shown as their JSON.
//! Some clients show a model only the text, so the text contains everything that the next call needs,
//! such as the ids.

use std::borrow::{Borrow, Cow};
use std::fmt::{self, Write as _};
use std::ops::Deref;

use serde::Deserialize;
use serde_json::{Value, json};

/// Maximum length of the JSON that is shown for an answer without a writer.
const JSON_SHOWN_MAX: usize = 16 << 10;

/// Maximum number of list entries in the text. The JSON has all entries.
const LISTED: usize = 100;

/// The URI of a provision as a resource, up to its id.
pub(super) const NODE_URI: &str = "hornbook://node/";

#[derive(Default)]
pub(super) struct ToolText {
    pub(super) text: String,
    pub(super) links: Vec<Value>,
}

/// A string in an answer, borrowed from the answer if it contains no escapes.
#[derive(Deserialize)]
#[serde(transparent)]
struct JsonText<'b>(#[serde(borrow)] Cow<'b, str>);

impl Deref for JsonText<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for JsonText<'_> {
    fn borrow(&self) -> &str {
        self
    }
}

impl fmt::Display for JsonText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

/// The text and the links of an operation's answer.
pub(super) fn tool_text(operation: &str, body: &str) -> ToolText {
    let reported = match operation {
        "search" => serde_json::from_str(body).ok().map(search),
        "node" => serde_json::from_str(body).ok().map(|node| node_text(&node)),
        "browse" => serde_json::from_str(body).ok().map(browse),
        "references" => serde_json::from_str(body).ok().map(references),
        "resolve" => serde_json::from_str(body).ok().map(|resolved| resolve(&resolved)),
        "gis-at" => serde_json::from_str(body).ok().map(zones),
        "code-bodies" => serde_json::from_str(body).ok().map(|list| code_bodies(&list)),
        "coverage" => serde_json::from_str(body).ok().map(coverage),
        _ => None,
    };
    reported.unwrap_or_else(|| as_json(body))
}

/// The JSON itself. Research connectors read it from the text.
fn as_json(body: &str) -> ToolText {
    let text = match body.len() {
        ..=JSON_SHOWN_MAX => body.to_owned(),
        length => format!("The answer has {length} bytes of JSON; all of it is in structuredContent."),
    };
    ToolText { text, links: Vec::new() }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", bound(deserialize = "'de: 'b"))]
struct ResultsPageJson<'b> {
    results: Vec<HitJson<'b>>,
    page: u32,
    page_size: u32,
    total: u32,
    corrected_query: Option<JsonText<'b>>,
    understood: Option<UnderstoodPlaceJson<'b>>,
    #[serde(default)]
    not_here: Vec<NotHereJson<'b>>,
    #[serde(default)]
    notices: Vec<JsonText<'b>>,
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'b"))]
struct UnderstoodPlaceJson<'b> {
    name: JsonText<'b>,
    words: JsonText<'b>,
    #[serde(rename = "as")]
    effect: &'b str,
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'b"))]
struct NotHereJson<'b> {
    message: JsonText<'b>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", bound(deserialize = "'de: 'b"))]
struct HitJson<'b> {
    node_id: JsonText<'b>,
    citation: JsonText<'b>,
    heading: JsonText<'b>,
    snippet: JsonText<'b>,
    #[serde(flatten, borrow)]
    standing: ProvisionStatus<'b>,
    relation: Option<&'b str>,
}

/// The status of a provision on the day, and the day through which its edition is current.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", bound(deserialize = "'de: 'b"))]
struct ProvisionStatus<'b> {
    status: JsonText<'b>,
    effective_from: Option<JsonText<'b>>,
    effective_to: Option<JsonText<'b>>,
    current_through: Option<JsonText<'b>>,
}

impl fmt::Display for ProvisionStatus<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.status)?;
        let days = [("from", &self.effective_from), ("until", &self.effective_to)];
        for (word, day) in days.into_iter().chain([("current through", &self.current_through)]) {
            if let Some(day) = day {
                write!(f, ", {word} {day}")?;
            }
        }
        Ok(())
    }
}

fn search(found: ResultsPageJson<'_>) -> ToolText {
    let ResultsPageJson { results, page, page_size, total, corrected_query, understood, not_here, notices } = found;
    let mut reported = ToolText::default();
    if let Some(corrected) = corrected_query {
        let _ = writeln!(
            reported.text,
            "Searched for \"{corrected}\", because words were misspelled; exact=true searches for them as typed."
        );
    }
    if let Some(UnderstoodPlaceJson { name, words, effect }) = understood {
        let what = if effect == "filter" { "Searched only in" } else { "Results rank higher if they are from" };
        let _ = writeln!(
            reported.text,
            "{what} {name}, because the query says \"{words}\"; exact=true searches everywhere equally."
        );
    }
    for NotHereJson { message } in &not_here {
        let _ = writeln!(reported.text, "Not here: {message}.");
    }
    for notice in &notices {
        let _ = writeln!(reported.text, "Note: {notice}");
    }
    let _ = match results.len() {
        0 => writeln!(reported.text, "No provisions on this page; {total} match in all."),
        count if results[0].relation.is_some() => {
            writeln!(reported.text, "{count} of {total} provisions around the one that is cited, page {page}:")
        }
        count => writeln!(reported.text, "{count} of {total} provisions that match, page {page}:"),
    };
    let before = u64::from(page - page.min(1)) * u64::from(page_size);
    for (place, HitJson { node_id, citation, heading, snippet, standing, relation }) in results.iter().enumerate() {
        let number = before + place as u64 + 1;
        let _ = writeln!(
            reported.text,
            "\n{number}. {citation} {heading} ({standing}{}, id {node_id})\n{snippet}",
            related(*relation)
        );
        reported.links.push(link(node_id, citation, heading));
    }
    reported
}

/// How a provision is related to the one that the query names.
fn related(relation: Option<&str>) -> &'static str {
    match relation {
        Some("citing") => ", cites it",
        Some("cited") => ", is cited by it",
        Some("neighbour") => ", is next to it",
        _ => "",
    }
}

/// A link to a provision.
fn link(id: &str, citation: &str, heading: &str) -> Value {
    json!({
        "type": "resource_link",
        "uri": format!("{NODE_URI}{id}"),
        "name": citation,
        "title": heading,
        "mimeType": "text/markdown",
    })
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", bound(deserialize = "'de: 'b"))]
struct NodeJson<'b> {
    id: JsonText<'b>,
    citation: JsonText<'b>,
    heading: JsonText<'b>,
    text: JsonText<'b>,
    breadcrumb: Vec<JsonText<'b>>,
    #[serde(flatten, borrow)]
    standing: ProvisionStatus<'b>,
    validity_remark: Option<JsonText<'b>>,
    notice: Option<JsonText<'b>>,
    #[serde(default)]
    successors: Vec<Linked<'b>>,
    child_count: usize,
    wordings: Vec<WordingJson<'b>>,
    notes: Vec<NoteJson<'b>>,
    provenance: ProvenanceJson<'b>,
    offset: Option<usize>,
    next_offset: Option<usize>,
    total_chars: Option<usize>,
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'b"))]
struct WordingJson<'b> {
    label: JsonText<'b>,
    text: JsonText<'b>,
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'b"))]
struct NoteJson<'b> {
    topic: JsonText<'b>,
    text: JsonText<'b>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", bound(deserialize = "'de: 'b"))]
struct ProvenanceJson<'b> {
    source_url: Option<JsonText<'b>>,
    official_url: Option<JsonText<'b>>,
    publisher: Option<JsonText<'b>>,
    current_through: Option<JsonText<'b>>,
}

fn node_text(node: &NodeJson<'_>) -> ToolText {
    let NodeJson {
        id, citation, heading, text, breadcrumb, standing, child_count, wordings, notes, provenance, ..
    } = node;
    let mut out = format!("# {citation} {heading}\n{}\nStatus: {standing}\n", breadcrumb.join(" > "));
    if let Some(remark) = &node.validity_remark {
        let _ = writeln!(out, "The publisher says: {remark}");
    }
    for Linked { id, citation, heading, .. } in &node.successors {
        let _ = writeln!(out, "Now: {citation} {heading} (id {id})");
    }
    if let Some(notice) = &node.notice {
        let _ = writeln!(out, "Note: {notice}");
    }
    let _ = writeln!(out, "\n{text}");
    if *child_count > 0 {
        let _ = writeln!(out, "\nIt contains {child_count} more; list them with law.browse and parent {id}.");
    }
    let others = wordings.iter().map(|wording| (&wording.label, &wording.text));
    let others = others.chain(notes.iter().map(|note| (&note.topic, &note.text)));
    for (name, text) in others.filter(|(_, text)| !text.is_empty()) {
        let _ = writeln!(out, "\n## {name}\n{text}");
    }
    let ProvenanceJson { source_url, official_url, publisher, current_through } = provenance;
    let through = current_through.as_ref().map(|date| format!("current through {date}"));
    let source = [publisher.as_deref(), through.as_deref(), official_url.as_deref().or(source_url.as_deref())];
    let source: Vec<&str> = source.into_iter().flatten().collect();
    if !source.is_empty() {
        let _ = writeln!(out, "\nSource: {}", source.join("; "));
    }
    if let (Some(offset), Some(total)) = (node.offset, node.total_chars) {
        let _ = match node.next_offset {
            Some(next) => writeln!(
                out,
                "\nThis part has the characters {offset} to {next} of {total}. Call again with offset {next} for the next."
            ),
            None => writeln!(out, "\nThis is the last part, from character {offset} of {total}."),
        };
    }
    ToolText { text: out, links: vec![link(id, citation, heading)] }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", bound(deserialize = "'de: 'b"))]
struct Linked<'b> {
    id: JsonText<'b>,
    citation: JsonText<'b>,
    heading: JsonText<'b>,
    #[serde(flatten, borrow)]
    standing: ProvisionStatus<'b>,
    child_count: Option<usize>,
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'b"))]
struct ChildrenJson<'b> {
    nodes: Vec<Linked<'b>>,
    total: usize,
    page: u32,
}

fn browse(children: ChildrenJson<'_>) -> ToolText {
    let ChildrenJson { nodes, total, page } = children;
    list_of(&nodes, format!("{} of {total} children, page {page}:", nodes.len()))
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'b"))]
struct ReferencesJson<'b> {
    direction: JsonText<'b>,
    nodes: Vec<Linked<'b>>,
    total: usize,
    page: u32,
}

fn references(references: ReferencesJson<'_>) -> ToolText {
    let ReferencesJson { direction, nodes, total, page } = references;
    let what = if &*direction == "in" { "provisions that cite it" } else { "provisions that it cites" };
    list_of(&nodes, format!("{} of {total} {what}, page {page}:", nodes.len()))
}

/// A line and a link for each node.
fn list_of(nodes: &[Linked<'_>], head: String) -> ToolText {
    let mut reported = ToolText { text: head + "\n", links: Vec::new() };
    for Linked { id, citation, heading, standing, child_count } in nodes.iter().take(LISTED) {
        let inside = child_count.filter(|count| *count > 0).map(|count| format!(", contains {count}"));
        let _ = writeln!(reported.text, "- {citation} {heading} ({standing}, id {id}{})", inside.unwrap_or_default());
        reported.links.push(link(id, citation, heading));
    }
    if nodes.len() > LISTED {
        let _ = writeln!(reported.text, "The other {} of this page are in structuredContent.", nodes.len() - LISTED);
    }
    reported
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'b"))]
struct Resolved<'b> {
    answers: Vec<ResolutionJson<'b>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", bound(deserialize = "'de: 'b"))]
struct ResolutionJson<'b> {
    answer: JsonText<'b>,
    citation: Option<JsonText<'b>>,
    candidates: Vec<CandidateJson<'b>>,
    message: JsonText<'b>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", bound(deserialize = "'de: 'b"))]
struct CandidateJson<'b> {
    node_id: JsonText<'b>,
    citation: JsonText<'b>,
    heading: JsonText<'b>,
    #[serde(flatten, borrow)]
    standing: ProvisionStatus<'b>,
}

fn resolve(resolved: &Resolved<'_>) -> ToolText {
    let mut reported = ToolText::default();
    for ResolutionJson { answer, citation, candidates, message } in &resolved.answers {
        let _ = writeln!(reported.text, "{}: {answer}. {message}", citation.as_deref().unwrap_or("?"));
        for CandidateJson { node_id, citation, heading, standing } in candidates {
            let _ = writeln!(reported.text, "- {citation} {heading} ({standing}, id {node_id})");
            reported.links.push(link(node_id, citation, heading));
        }
    }
    reported
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", bound(deserialize = "'de: 'b"))]
struct AtPoint<'b> {
    short_code: JsonText<'b>,
    zones: Vec<ZoneJson<'b>>,
    provisions: Vec<Linked<'b>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", bound(deserialize = "'de: 'b"))]
struct ZoneJson<'b> {
    zone_code: JsonText<'b>,
    zone_name: Option<JsonText<'b>>,
    citation: Option<JsonText<'b>>,
    citation_status: JsonText<'b>,
    node_id: Option<JsonText<'b>>,
    on_boundary: bool,
}

fn zones(point: AtPoint<'_>) -> ToolText {
    let AtPoint { short_code, zones, provisions } = point;
    let mut reported = ToolText::default();
    let _ = writeln!(reported.text, "{} zones of {short_code} at this point.", zones.len());
    for ZoneJson { zone_code, zone_name, citation, citation_status, node_id, on_boundary } in &zones {
        let name = zone_name.as_deref().unwrap_or_default();
        let edge = if *on_boundary { ", on the edge of the zone" } else { "" };
        let citation = citation.as_deref().unwrap_or("no citation");
        let id = node_id.as_deref().map(|id| format!(", id {id}")).unwrap_or_default();
        let _ = writeln!(reported.text, "- {zone_code} {name}: {citation} ({citation_status}{id}{edge})");
    }
    if !provisions.is_empty() {
        let _ = writeln!(reported.text, "Read the provisions with law.get_node:");
    }
    for Linked { id, citation, heading, standing, .. } in &provisions {
        let _ = writeln!(reported.text, "- {citation} {heading} ({standing}, id {id})");
        reported.links.push(link(id, citation, heading));
    }
    reported
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", bound(deserialize = "'de: 'b"))]
struct CodeBodiesJson<'b> {
    code_bodies: Vec<CodeBodyJson<'b>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", bound(deserialize = "'de: 'b"))]
struct CodeBodyJson<'b> {
    id: JsonText<'b>,
    name: JsonText<'b>,
    jurisdiction: JsonText<'b>,
    provision_count: u32,
}

fn code_bodies(list: &CodeBodiesJson<'_>) -> ToolText {
    let mut text = format!("{} code bodies:\n", list.code_bodies.len());
    for CodeBodyJson { id, name, jurisdiction, provision_count } in &list.code_bodies {
        let _ = writeln!(text, "- {name} ({jurisdiction}, {provision_count} provisions, id {id})");
    }
    ToolText { text, links: Vec::new() }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", bound(deserialize = "'de: 'b"))]
struct CoverageJson<'b> {
    total_jurisdictions: usize,
    total_nodes: u32,
    jurisdictions: Vec<JurisdictionJson<'b>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", bound(deserialize = "'de: 'b"))]
struct JurisdictionJson<'b> {
    short_code: JsonText<'b>,
    name: JsonText<'b>,
    node_count: u32,
    placeholder: bool,
    gis_status: JsonText<'b>,
    #[serde(default)]
    code_bodies: Vec<CoveredBodyJson<'b>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", bound(deserialize = "'de: 'b"))]
struct CoveredBodyJson<'b> {
    name: JsonText<'b>,
    #[serde(default)]
    in_force_count: u32,
    current_through: Option<JsonText<'b>>,
    parts: PartsJson<'b>,
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'b"))]
struct PartsJson<'b> {
    level: Option<JsonText<'b>>,
    missing: Option<Vec<JsonText<'b>>>,
}

fn coverage(coverage: CoverageJson<'_>) -> ToolText {
    let CoverageJson { total_jurisdictions, total_nodes, jurisdictions } = coverage;
    let mut text = format!("{total_nodes} nodes of {total_jurisdictions} jurisdictions:\n");
    for JurisdictionJson { short_code, name, node_count, placeholder, gis_status, code_bodies } in &jurisdictions {
        let held = if *placeholder { "no law yet".to_owned() } else { format!("{node_count} nodes") };
        let zoning = if &**gis_status == "published" { ", zoning layer" } else { "" };
        let _ = writeln!(text, "- {short_code} {name}: {held}{zoning}");
        for CoveredBodyJson { name, in_force_count, current_through, parts: PartsJson { level, missing } } in
            code_bodies
        {
            let through = current_through.as_ref().map(|day| format!(", current through {day}")).unwrap_or_default();
            let _ = writeln!(text, "  - {name}: {in_force_count} provisions in force{through}");
            if let (Some(level), Some(missing @ [_, ..])) = (level, missing.as_deref()) {
                let missing = missing.iter().map(|number| &**number).collect::<Vec<_>>().join(", ");
                let _ = writeln!(text, "    missing {level}s: {missing}");
            }
        }
    }
    ToolText { text, links: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_of_results_has_numbers_ids_and_links() {
        let hit = |id: &str| json!({ "nodeId": id, "citation": "1 U.S.C. § 1", "heading": "Words", "snippet": "In \"this\"", "status": "current" });
        let body = json!({ "results": [hit("a"), hit("b")], "page": 2, "pageSize": 2, "total": 4 }).to_string();
        let reported = tool_text("search", &body);
        assert!(
            reported.text.contains("2 of 4 provisions")
                && reported.text.contains("\n4. 1 U.S.C. § 1 Words (current, id b)\nIn \"this\"")
        );
        assert!(!reported.text.contains("misspelt"));
        let body = body.replace("\"total\"", "\"correctedQuery\":\"noise level\",\"total\"");
        assert!(tool_text("search", &body).text.starts_with("Searched for \"noise level\", because"));
        assert_eq!(reported.links[1]["uri"], "hornbook://node/b");
        assert_eq!(reported.links.len(), 2);
    }

    #[test]
    fn a_recognized_place_is_named_with_exact_as_the_way_out() {
        let text = |effect: &str| {
            let understood =
                json!({ "jurisdiction": "DC", "name": "District of Columbia", "words": "in DC", "as": effect });
            let body = json!({ "results": [], "page": 1, "pageSize": 2, "total": 0, "understood": understood });
            tool_text("search", &body.to_string()).text
        };
        let narrowed = "Searched only in District of Columbia, because the query says \"in DC\"; exact=true searches";
        assert!(text("filter").starts_with(narrowed), "{}", text("filter"));
        assert!(text("preference").starts_with("Results rank higher if they are from District of Columbia, because"));
    }

    #[test]
    fn answers_without_a_writer_are_json_or_a_note_of_their_length() {
        assert_eq!(tool_text("me", r#"{"tier":"free"}"#).text, r#"{"tier":"free"}"#);
        assert_eq!(tool_text("search", r#"{"other":1}"#).text, r#"{"other":1}"#);
        let long = format!("\"{}\"", "a".repeat(JSON_SHOWN_MAX));
        assert!(tool_text("me", &long).text.contains("16386 bytes"));
    }
}
