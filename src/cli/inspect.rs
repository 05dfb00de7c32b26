//! `hornbook inspect`: the contents of a snapshot.

use std::path::PathBuf;

use clap::Args;
use hornbook_base::hex;
use hornbook_corpus::catalogue::CodeBody;
use hornbook_corpus::ids::{NodeId, NodeOrdinal, OrdinalRange, ShortCode};
use hornbook_corpus::nodes::{NodeRecord, NodesError, Wording};
use hornbook_corpus::outline::Status;
use hornbook_corpus::snapshot::Snapshot;
use hornbook_corpus::validity::Validity;
use serde_json::{Value, json};

use crate::cli::output::{print, print_json, print_json_line, status_mark};
use crate::cli::table::{TextTable, bytes};
use crate::cli::{CommandResult, GlobalOptions, account_table};

/// Maximum number of citations printed from a list of references. `--json` prints all.
const CITED_SHOWN: usize = 20;

/// Show the contents of a snapshot
///
/// Without options: its jurisdictions, code bodies, sources and files. With --node: a provision or
/// container, by id or by citation in any spelling, with the provisions that it cites and those
/// that cite it. With --outline: the tree of headings.
#[derive(Debug, Args)]
pub(crate) struct Inspect {
    /// Folder of the snapshot [default: the current one]
    snapshot: Option<PathBuf>,

    /// Show one node, by id, source key or citation
    #[arg(long, value_name = "ID|CITATION", conflicts_with = "outline")]
    node: Option<String>,

    /// Show, as Markdown tables, what its build read: sections and words of each source, and what was left out, by reason
    #[arg(long, conflicts_with_all = ["outline", "node"])]
    account: bool,

    /// Show the outline: all containers and provisions, indented
    #[arg(long)]
    outline: bool,

    /// Show the outline only of this jurisdiction and the jurisdictions in it
    #[arg(long, value_name = "CODE", requires = "outline")]
    jurisdiction: Option<ShortCode>,

    /// Show only the outline below this node
    #[arg(long, value_name = "ID|CITATION", requires = "outline", conflicts_with = "jurisdiction")]
    below: Option<String>,

    /// Show only this many levels of the outline
    #[arg(long, value_name = "LEVELS", requires = "outline")]
    depth: Option<u8>,
}

impl Inspect {
    pub(super) fn run(self, options: &GlobalOptions) -> CommandResult {
        let folder = options.snapshot(self.snapshot.clone())?;
        let snapshot = Snapshot::open(&folder)?;
        let json = options.json;
        if let Some(wanted) = &self.node {
            let nodes = find(&snapshot, wanted)?;
            return show_nodes(&snapshot, &nodes, json);
        }
        if self.account {
            return print(&account_table::tables(&snapshot, &folder)?);
        }
        if self.outline {
            return self.show_outline(&snapshot, json);
        }
        match json {
            true => print_json(&json!({ "manifest": snapshot.manifest, "catalogue": snapshot.catalogue })),
            false => print(&summary(&snapshot)?),
        }
    }

    fn show_outline(&self, snapshot: &Snapshot, json: bool) -> CommandResult {
        let range = match (&self.jurisdiction, &self.below) {
            (Some(code), _) => {
                let jurisdiction = snapshot.catalogue.jurisdiction(code);
                jurisdiction
                    .ok_or_else(|| format!("the snapshot has no jurisdiction {code}; 'hornbook inspect' lists them"))?
                    .subtree
            }
            (None, Some(wanted)) => snapshot.outline.subtree(find(snapshot, wanted)?[0]),
            (None, None) => OrdinalRange::new(0, snapshot.outline.len()),
        };
        let base = if range.is_empty() { 0 } else { snapshot.outline.depth(NodeOrdinal(range.start)) };
        let mut body: Option<&CodeBody> = None;
        for ordinal in range.iter().map(NodeOrdinal) {
            let here = snapshot.code_body_of(ordinal);
            if here.map(|here| here.id) != body.map(|body| body.id) && !json {
                let name = here.map_or("", |here| here.name.as_str());
                print(&format!("{name} ({})\n", here.map_or("", |here| here.jurisdiction.as_str())))?;
            }
            body = here;
            let depth = snapshot.outline.depth(ordinal).saturating_sub(base);
            if self.depth.is_none_or(|levels| depth < levels) {
                show_outline_line(snapshot, ordinal, depth, json)?;
            }
        }
        Ok(())
    }
}

fn show_nodes(snapshot: &Snapshot, nodes: &[NodeOrdinal], json: bool) -> CommandResult {
    if json {
        let nodes: Result<Vec<Value>, _> = nodes.iter().map(|&node| node_json(snapshot, node)).collect();
        return print_json(&nodes?);
    }
    let mut out = String::new();
    for (number, &node) in nodes.iter().enumerate() {
        if number > 0 {
            out += &format!("\n{}\n\n", "-".repeat(40));
        }
        out += &node_text(snapshot, node)?;
    }
    print(&out)
}

fn show_outline_line(snapshot: &Snapshot, node: NodeOrdinal, depth: u8, json: bool) -> CommandResult {
    let record = snapshot.nodes.get(node)?;
    if json {
        let id = snapshot.outline.id(node).map(|id| id.to_string());
        let line = json!({
            "id": id,
            "depth": depth,
            "citation": record.citation,
            "heading": record.wording(0).heading,
            "status": snapshot.outline.status(node),
        });
        return print_json_line(&line);
    }
    let indent = "  ".repeat(usize::from(depth) + 1);
    let status = status_mark(snapshot.outline.status(node));
    print(&format!("{indent}{}  {}{status}\n", record.citation, record.wording(0).heading))
}

/// Finds nodes by id, source key or citation. If there are none, the error suggests what to try
/// next.
fn find(snapshot: &Snapshot, wanted: &str) -> Result<Vec<NodeOrdinal>, Box<dyn std::error::Error>> {
    if let Some(node) = wanted.parse::<NodeId>().ok().and_then(|id| snapshot.ordinal(id)) {
        return Ok(vec![node]);
    }
    if let Some(node) = snapshot.ordinal(NodeId::from_source_key(wanted)) {
        return Ok(vec![node]);
    }
    let cited = snapshot.nodes_with_citation(wanted)?;
    if cited.is_empty() {
        let message = format!(
            "the snapshot has no node '{wanted}'; 'hornbook inspect --outline' lists them, 'hornbook search' finds them"
        );
        return Err(message.into());
    }
    Ok(cited.into_iter().map(|(node, _)| node).collect())
}

/// Summarizes the contents of a snapshot.
pub(crate) fn summary(snapshot: &Snapshot) -> Result<String, Box<dyn std::error::Error>> {
    let manifest = &snapshot.manifest;
    let counts = &manifest.counts;
    let mut out = format!(
        "{}\nsnapshot {}, format {}, built by hornbook {}\n{} nodes, {} provisions, {} chunks, {} references, {} of text\n\n",
        manifest.name,
        manifest.snapshot,
        manifest.format,
        manifest.builder,
        counts.nodes,
        counts.provisions,
        counts.chunks,
        counts.references,
        bytes(counts.text_bytes)
    );
    if let Some(encoded) = &snapshot.encoded {
        out += &format!("second vector space, from a sentence encoder: {}\n\n", encoded.rows().space());
    }
    let mut bodies = TextTable::new(["jurisdiction", "code body", "nodes", "provisions", "chunks"]);
    for body in &snapshot.catalogue.code_bodies {
        let cells = [
            body.jurisdiction.to_string(),
            body.name.clone(),
            body.nodes.len().to_string(),
            body.provisions.to_string(),
            body.chunks.to_string(),
        ];
        bodies.row(cells);
    }
    out += &bodies.render();
    let placeholders: Vec<&str> =
        snapshot.catalogue.jurisdictions.iter().filter(|j| j.is_placeholder()).map(|j| j.short_code.as_str()).collect();
    out += &format!("\njurisdictions without law yet ({}): {}\n", placeholders.len(), placeholders.join(" "));
    if snapshot.zoning.iter().len() > 0 {
        let mut layers = TextTable::new(["zoning layer", "features", "status", "citations"]);
        for layer in snapshot.zoning.iter() {
            let entry = layer.entry();
            let cells = [
                entry.short_code.to_string(),
                entry.feature_count.to_string(),
                entry.status.as_str().to_owned(),
                entry.citation_quality.as_str().to_owned(),
            ];
            layers.row(cells);
        }
        out += &format!("\n{}", layers.render());
    }
    let mut sources = TextTable::new(["source", "publisher", "edition", "current through", "retrieved", "licence"]);
    for source in &snapshot.catalogue.sources {
        let through = source.current_through.clone().unwrap_or_else(|| "-".into());
        sources.row([
            source.name.clone(),
            source.publisher.clone(),
            source.edition.clone(),
            through,
            source.retrieved.clone(),
            source.license.clone(),
        ]);
    }
    out += &format!("\n{}", sources.render());
    let mut files = TextTable::new(["file", "size"]);
    for file in &manifest.files {
        files.row([file.path.clone(), bytes(file.size)]);
    }
    out += &format!("\n{}", files.render());
    Ok(out)
}

fn node_text(snapshot: &Snapshot, node: NodeOrdinal) -> Result<String, Box<dyn std::error::Error>> {
    let record = snapshot.nodes.get(node)?;
    let mut out = format!("{}  {}\n", record.citation, record.wording(0).heading);
    for line in facts(snapshot, node, &record)? {
        out += &format!("  {line}\n");
    }
    for (place, wording) in record.wordings.iter().enumerate() {
        if place > 0 {
            out += &format!("\n[Other wording: {}]\n{}\n", wording.heading, days(wording));
        }
        let text = snapshot.texts.get_verified(wording.text, &wording.text_sha256)?;
        if !text.is_empty() {
            out += &format!("\n{text}\n");
        }
        for note in &wording.notes {
            out += &format!("\n[{}]\n{}\n", note.topic, snapshot.texts.get(note.text)?);
        }
        if let Some(credit) = wording.source_credit {
            out += &format!("\n({})\n", snapshot.texts.get(credit)?.trim_matches(['(', ')']));
        }
    }
    Ok(out)
}

/// When a wording is in force, according to the source.
fn days(wording: &Wording) -> String {
    let Validity { status, from, to, then, is_uncertain, has_predecessor } = wording.validity;
    let mut facts = vec![status.as_str().to_owned()];
    facts.extend(from.map(|day| format!("from {day}")));
    facts.extend(has_predecessor.then(|| "amended on that day".to_owned()));
    facts.extend(to.map(|day| format!("until {day}")));
    facts.extend(then.map(|then| format!("then {}", then.as_str())));
    facts.extend(is_uncertain.then(|| Status::Uncertain.as_str().to_owned()));
    facts.extend(wording.remark.as_ref().map(|remark| format!("\"{remark}\"")));
    facts.join(", ")
}

fn facts(
    snapshot: &Snapshot,
    node: NodeOrdinal,
    record: &NodeRecord,
) -> Result<Vec<String>, Box<dyn std::error::Error>> {
    let mut above: Vec<String> = Vec::new();
    for ancestor in snapshot.outline.ancestors(node) {
        above.insert(0, snapshot.cards.get(ancestor)?.heading.to_owned());
    }
    let body = snapshot.code_body_of(node).map_or("", |body| body.name.as_str());
    let mut lines = vec![format!(
        "in {}",
        std::iter::once(body).chain(above.iter().map(String::as_str)).collect::<Vec<_>>().join(" > ")
    )];
    lines.push(format!(
        "{}, {}, node {node}, id {}",
        record.level,
        snapshot.outline.status(node).as_str(),
        snapshot.outline.id(node).ok_or("no id")?
    ));
    lines.push(format!("source key {}", record.source_key));
    lines.push(days(record.wording(0)));
    if let Some(source) = snapshot.catalogue.sources.get(usize::from(record.source)) {
        let through =
            record.current_through.as_ref().or(source.current_through.as_ref()).map_or("unknown", String::as_str);
        lines.push(format!(
            "from {}, {}, current through {through}, retrieved {}, {}",
            source.publisher, source.edition, source.retrieved, source.license
        ));
        lines.push(record.wording(0).source_url.clone().unwrap_or_else(|| source.url.clone()));
    }
    let hash = hex::encode(&record.wording(0).text_sha256);
    let (chunks, children) = (snapshot.chunks.chunks_of(node).len(), snapshot.outline.children(node).count());
    lines.push(format!("text SHA-256 {hash}; {chunks} chunks; {children} children"));
    let tags: Vec<&str> = record
        .tags
        .iter()
        .filter_map(|&tag| snapshot.catalogue.tags.get(usize::from(tag)))
        .map(String::as_str)
        .collect();
    for (label, values) in [
        ("tags", tags),
        ("formerly", texts(&record.former_citations)),
        ("now", record.now.iter().map(String::as_str).collect()),
        ("also", texts(&record.parallel_citations)),
        ("section of", texts(&record.act_sections)),
    ] {
        if !values.is_empty() {
            lines.push(format!("{label} {}", values.join(", ")));
        }
    }
    for (label, nodes) in [
        ("cites", snapshot.references.outgoing(node).collect::<Vec<_>>()),
        ("cited by", snapshot.references.incoming(node).collect()),
    ] {
        if !nodes.is_empty() {
            lines.push(format!("{label} {}", cited_line(snapshot, &nodes)?));
        }
    }
    Ok(lines)
}

/// The first citations of a list, and the number of remaining ones.
fn cited_line(snapshot: &Snapshot, nodes: &[NodeOrdinal]) -> Result<String, NodesError> {
    let shown = citations(snapshot, nodes.iter().copied().take(CITED_SHOWN))?.join(", ");
    match nodes.len().saturating_sub(CITED_SHOWN) {
        0 => Ok(shown),
        more => Ok(format!("{shown} and {more} more")),
    }
}

fn citations(snapshot: &Snapshot, nodes: impl Iterator<Item = NodeOrdinal>) -> Result<Vec<String>, NodesError> {
    nodes.map(|node| Ok(snapshot.cards.get(node)?.citation.to_owned())).collect()
}

fn texts(values: &[String]) -> Vec<&str> {
    values.iter().map(String::as_str).collect()
}

fn node_json(snapshot: &Snapshot, node: NodeOrdinal) -> Result<Value, Box<dyn std::error::Error>> {
    let record = snapshot.nodes.get(node)?;
    let mut breadcrumb = Vec::new();
    for ancestor in snapshot.outline.ancestors(node) {
        breadcrumb.insert(0, snapshot.cards.get(ancestor)?.heading.to_owned());
    }
    let mut wordings = Vec::new();
    for wording in &record.wordings {
        wordings.push(wording_json(snapshot, wording)?);
    }
    let tags: Vec<&String> =
        record.tags.iter().filter_map(|&tag| snapshot.catalogue.tags.get(usize::from(tag))).collect();
    let (outgoing, incoming) = (snapshot.references.outgoing(node), snapshot.references.incoming(node));
    Ok(json!({
        "id": snapshot.outline.id(node).map(|id| id.to_string()),
        "ordinal": node,
        "sourceKey": record.source_key,
        "citation": record.citation,
        "heading": record.wording(0).heading,
        "level": record.level,
        "status": snapshot.outline.status(node),
        "codeBody": snapshot.code_body_of(node).map(|body| &body.name),
        "breadcrumb": breadcrumb,
        "wordings": wordings,
        "formerly": record.former_citations,
        "now": record.now,
        "actSections": record.act_sections,
        "parallelCitations": record.parallel_citations,
        "tags": tags,
        "references": { "out": citations(snapshot, outgoing)?, "in": citations(snapshot, incoming)? },
        "source": snapshot.catalogue.sources.get(usize::from(record.source)),
    }))
}

fn wording_json(snapshot: &Snapshot, wording: &Wording) -> Result<Value, Box<dyn std::error::Error>> {
    let mut notes = Vec::new();
    for note in &wording.notes {
        notes.push(json!({ "topic": note.topic, "text": snapshot.texts.get(note.text)? }));
    }
    let Validity { status, from, to, then, is_uncertain, has_predecessor } = wording.validity;
    Ok(json!({
        "heading": wording.heading,
        "status": status,
        "effectiveFrom": from,
        "effectiveTo": to,
        "amended": has_predecessor,
        "then": then,
        "uncertain": is_uncertain,
        "remark": wording.remark,
        "text": snapshot.texts.get_verified(wording.text, &wording.text_sha256)?,
        "notes": notes,
        "sourceCredit": wording.source_credit.map(|credit| snapshot.texts.get(credit)).transpose()?,
        "sourceUrl": wording.source_url,
    }))
}
