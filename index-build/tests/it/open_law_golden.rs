//! Thirty provisions of each code, picked at random once and compared by eye with their source.
//! Stores their layout, hashes and lengths, but no law text.

use std::fmt::Write as _;
use std::path::Path;

use hornbook_corpus::layout::{Layout, LineKind};

use crate::common::SeededRandom;
use crate::open_law_source::Node;

const PICKED: usize = 30;

/// Compares with the golden file, or writes it if the environment variable is set.
pub(crate) fn check(name: &str, nodes: &[Node]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/open-law-{name}.txt"));
    if std::env::var_os("HORNBOOK_RENEW_GOLDEN").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, described(picked(nodes).into_iter())).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap();
    let keys: Vec<&str> = golden.lines().filter_map(|line| line.strip_prefix("# ")).collect();
    assert_eq!(keys.len(), PICKED);
    let again = described(keys.iter().map(|key| nodes.iter().find(|node| node.key == *key).unwrap()));
    for (known, found) in golden.lines().zip(again.lines()) {
        assert_eq!(known, found, "in {}", path.display());
    }
    assert_eq!(golden.lines().count(), again.lines().count());
}

/// Provisions with text, most of them longer than a line.
fn picked(nodes: &[Node]) -> Vec<&Node> {
    let mut numbers = SeededRandom(2_024);
    let mut picked: Vec<&Node> = Vec::new();
    while picked.len() < PICKED {
        let node = &nodes[numbers.below(nodes.len() as u64) as usize];
        let lines = node.content.layout.lines.len();
        if lines > 0
            && (lines > 1 || picked.len().is_multiple_of(3))
            && picked.iter().all(|other| other.key != node.key)
        {
            picked.push(node);
        }
    }
    picked
}

fn described<'n>(nodes: impl Iterator<Item = &'n Node>) -> String {
    let mut out = String::new();
    for node in nodes {
        let content = &node.content;
        writeln!(out, "# {}", node.key).unwrap();
        writeln!(out, "{} | {:?} | depth {}", content.citation, content.status.unwrap(), node.depth).unwrap();
        writeln!(out, "heading {}", sum(&content.heading)).unwrap();
        let text = content.text.as_deref().unwrap_or_default();
        writeln!(out, "text {}: {}", sum(text), set(text, &content.layout)).unwrap();
        for note in node.notes() {
            writeln!(out, "note {} {}: {} lines", note.topic, sum(&note.text), note.layout.lines.len()).unwrap();
        }
        writeln!(out, "credit {}", sum(content.source_credit.as_deref().unwrap_or_default())).unwrap();
        for wording in &node.wordings {
            let text = wording.text.as_deref().unwrap_or_default();
            writeln!(out, "wording {}: {}", sum(text), set(text, &wording.layout)).unwrap();
        }
        out.push('\n');
    }
    out
}

/// The length of a text and the start of its hash.
fn sum(text: &str) -> String {
    format!("{} {}", text.len(), &blake3::hash(text.as_bytes()).to_hex()[..12])
}

/// One entry per line: `1(A)` is a paragraph with this label at depth 1, `H0` a heading, `T0.3` a
/// row of table 0 with three cells.
fn set(text: &str, layout: &Layout) -> String {
    let lines = text.split('\n').zip(&layout.lines).map(|(text, line)| {
        let label = &text[..line.label_bytes()];
        let cells = text.split('\t').count();
        match line.kind().unwrap() {
            LineKind::Paragraph => format!("{}{label}", line.depth),
            LineKind::Heading => format!("H{}{label}", line.depth),
            LineKind::TableHead => format!("TH{}.{cells}", line.table().unwrap()),
            LineKind::TableRow => format!("T{}.{cells}", line.table().unwrap()),
            LineKind::TableNote => format!("TN{}", line.table().unwrap()),
            LineKind::Block => format!("B{}", line.depth),
            LineKind::Image => "image".to_owned(),
        }
    });
    lines.collect::<Vec<_>>().join(" ")
}
