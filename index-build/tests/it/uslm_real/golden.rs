//! Thirty provisions picked at random once and compared with their source by eye: their layout,
//! lengths and hashes.
//!
//! `HORNBOOK_RENEW_GOLDEN=1` writes the file again for the same provisions and prints them for
//! comparison with the source.

use std::fmt::Write;
use std::path::Path;

use hornbook_corpus::layout::{Layout, layout_lines};
use hornbook_index_build::content::NewNode;
use sha2::{Digest, Sha256};

use super::titles;

fn file() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/uslm_real/provisions.txt")
}

/// Each line: the first letter of its kind, its depth, the anchor of its label.
fn structure(text: &str, layout: &Layout) -> String {
    let lines = layout_lines(text, Some(layout.as_ref())).into_iter().map(|line| {
        let anchor = line.anchor.map(|anchor| format!("({})", anchor.name)).unwrap_or_default();
        format!("{:?}{}{anchor}", line.kind, line.depth)
    });
    lines.collect::<Vec<_>>().join(" ")
}

fn hash(text: &str) -> String {
    Sha256::digest(text.as_bytes())[..6].iter().fold(String::new(), |mut hex, byte| {
        write!(hex, "{byte:02x}").unwrap();
        hex
    })
}

fn reported(node: &NewNode) -> String {
    let content = &node.content;
    let text = content.text.as_deref().unwrap();
    let status = content.status.unwrap().as_str();
    let mut reported =
        format!("{}\n  {} | {} | {status} | {}\n", node.key, content.citation, content.level, hash(&content.heading));
    if let Some(date) = &content.effect.from {
        writeln!(reported, "  effective from {date}").unwrap();
    }
    writeln!(reported, "  text {} {}: {}", text.len(), hash(text), structure(text, &content.layout)).unwrap();
    for mark in &content.layout.marks {
        writeln!(reported, "  mark {:?} {}+{} {}", mark.kind().unwrap(), mark.start, mark.length, mark.target).unwrap();
    }
    for note in &content.notes {
        let (length, hash, lines) = (note.text.len(), hash(&note.text), note.layout.lines.len());
        writeln!(reported, "  note {}: {length} {hash}, {lines} lines", note.topic).unwrap();
    }
    let credit = content.source_credit.as_deref().unwrap_or_default();
    writeln!(reported, "  credit {} {}", credit.len(), hash(credit)).unwrap();
    reported
}

#[test]
fn thirty_provisions_are_set_as_they_were_checked() {
    let Some(titles) = titles() else { return };
    let golden = std::fs::read_to_string(file()).unwrap();
    let keys: Vec<&str> = golden.lines().filter(|line| line.starts_with("us/")).collect();
    assert_eq!(keys.len(), 30);
    let nodes = || titles.iter().flat_map(|(_, parsed)| &parsed.nodes);
    let picked = keys.iter().map(|key| nodes().find(|node| node.key == *key).unwrap_or_else(|| panic!("{key}")));
    let now: String = picked.clone().map(reported).collect();
    if std::env::var_os("HORNBOOK_RENEW_GOLDEN").is_some() {
        picked.for_each(|node| println!("@@ {} {:#?}", node.key, node.content));
        return std::fs::write(file(), now).unwrap();
    }
    for (line, (now, golden)) in (1..).zip(now.lines().zip(golden.lines())) {
        assert_eq!(now, golden, "line {line}");
    }
    assert_eq!(now.len(), golden.len());
}
