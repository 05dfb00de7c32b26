use proptest::prelude::*;

use super::*;
use crate::ids::NodeOrdinal;

fn paragraph(depth: u8, label: usize) -> Line {
    Line::labelled(LineKind::Paragraph, depth, label)
}

#[test]
fn anchors_follow_the_labels_down_and_up_again() {
    let text = "(a) One.\n(1) Two:\n(A) three;\nflush\n(2) four.\n(b)(1) Five.\n(2) six\n(c), (d) Seven.";
    let lines = [
        paragraph(0, 3),
        paragraph(1, 3),
        paragraph(2, 3),
        paragraph(1, 0),
        paragraph(1, 3),
        paragraph(0, 6),
        paragraph(1, 3),
        paragraph(0, 8),
    ];
    let layout = Layout { lines: lines.to_vec(), marks: Vec::new() };
    assert_eq!(layout.check_against_text(text), None);
    let set = layout_lines(text, Some(layout.as_ref()));
    let names: Vec<Option<&str>> = set.iter().map(|line| line.anchor.as_ref().map(|a| a.name.as_str())).collect();
    assert_eq!(names, [Some("a"), Some("a-1"), Some("a-1-A"), None, Some("a-2"), Some("b-1"), Some("b-2"), Some("c")]);
    assert_eq!(set[2].anchor.as_ref().unwrap().path, "(a)(1)(A)");
    assert_eq!(&text[set[5].range.clone()], "(b)(1) Five.");
}

/// The Code of the District of Columbia has subsections such as `(b-2)`.
#[test]
fn a_label_with_a_hyphen_is_not_two_labels() {
    let text = "(b) One:\n(2) two\n(b-2) Three.";
    let layout = Layout { lines: vec![paragraph(0, 3), paragraph(1, 3), paragraph(0, 5)], marks: Vec::new() };
    let set = layout_lines(text, Some(layout.as_ref()));
    let names: Vec<&str> = set.iter().map(|line| line.anchor.as_ref().unwrap().name.as_str()).collect();
    assert_eq!(names, ["b", "b-2", "b_2"]);
    assert_eq!(set[2].anchor.as_ref().unwrap().path, "(b-2)");
    assert_eq!((anchor_name(&["b", "2"]), anchor_name(&["b-2"])), ("b-2".into(), "b_2".into()));
}

#[test]
fn a_text_without_a_layout_or_with_that_of_another_is_plain_paragraphs() {
    let short = Layout { lines: vec![paragraph(3, 1)], marks: Vec::new() };
    let long = Layout { lines: vec![paragraph(3, 1); 3], marks: Vec::new() };
    for layout in [None, Some(short.as_ref()), Some(long.as_ref())] {
        let set = layout_lines("one\ntwo", layout);
        assert_eq!(set.len(), 2);
        assert!(set.iter().all(|line| line.kind == LineKind::Paragraph && line.depth == 0 && line.anchor.is_none()));
    }
}

/// A damaged snapshot may contain any values.
#[test]
fn an_invalid_label_length_gives_no_label() {
    for bytes in [1, 9] {
        let layout = Layout { lines: vec![paragraph(2, bytes)], marks: Vec::new() };
        let set = layout_lines("§ 1", Some(layout.as_ref()));
        assert_eq!((set[0].label_bytes, set[0].depth, &set[0].anchor), (0, 2, &None));
    }
}

#[test]
fn layouts_that_do_not_fit_their_text_are_found() {
    let one_line = |mark: Mark| Layout { lines: vec![paragraph(0, 0)], marks: vec![mark] };
    assert!(Layout::default().check_against_text("x").unwrap().contains("the layout has 0 lines, but the text has 1"));
    let label = Layout { lines: vec![paragraph(0, 1)], marks: Vec::new() };
    assert!(label.check_against_text("§ 1").unwrap().contains("label of line 0"));
    assert!(one_line(Mark::new(MarkKind::Emphasis, 2, 9)).check_against_text("short").unwrap().contains("mark at 2"));
    assert_eq!(one_line(Mark::new(MarkKind::Emphasis, 0, 5)).check_against_text("short"), None);
}

fn any_layout() -> impl Strategy<Value = Layout> {
    let line = (0_u8..7, 0_u8..8, 0_u16..400).prop_map(Line::from);
    let mark = (0_u32..400, 0_u32..9, 0_u32..8, 0_u32..4).prop_map(Mark::from);
    (prop::collection::vec(line, 0..9), prop::collection::vec(mark, 0..5)).prop_map(|(lines, marks)| {
        let marks = if lines.is_empty() { Vec::new() } else { marks };
        Layout { lines, marks }
    })
}

proptest! {
    #[test]
    fn layouts_read_back_and_flipped_bits_are_never_shown(
        nodes in prop::collection::vec(prop::collection::vec(any_layout(), 0..4), 1..6),
        flip in any::<prop::sample::Index>(),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = LayoutWriter::create(dir.path()).unwrap();
        for node in &nodes {
            writer.push(node.iter()).unwrap();
        }
        writer.finish().unwrap();
        let check = |layouts: &Layouts, is_whole: bool| {
            assert_eq!(layouts.node_count(), nodes.len());
            for (place, node) in nodes.iter().enumerate() {
                for (part, layout) in node.iter().enumerate() {
                    let found = layouts.of_part(NodeOrdinal(place as u32), part);
                    let expected = (!layout.is_empty()).then(|| layout.as_ref());
                    assert!(found == expected || (found.is_none() && !is_whole), "{found:?} {expected:?}");
                }
            }
        };
        check(&Layouts::open(dir.path()).unwrap(), true);
        let path = dir.path().join(FILE_NAME);
        let mut bytes = std::fs::read(&path).unwrap();
        // Change a byte of the lines. The tables after lines and marks are covered only by the hash of the file.
        let lines: usize = nodes.iter().flatten().map(|layout| 4 * layout.lines.len()).sum();
        if lines > 0 {
            let start = 192;
            bytes[start + flip.index(lines)] ^= 1;
            std::fs::write(&path, &bytes).unwrap();
            check(&Layouts::open(dir.path()).unwrap(), false);
        }
    }
}

fn one_paragraph_written() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = LayoutWriter::create(dir.path()).unwrap();
    writer.push([Layout { lines: vec![paragraph(0, 0)], marks: Vec::new() }].iter()).unwrap();
    writer.finish().unwrap();
    dir
}

#[test]
fn corrupt_tables_are_refused_or_empty() {
    let dir = one_paragraph_written();
    let layouts = Layouts::open(dir.path()).unwrap();
    assert!(layouts.of_text(NodeOrdinal(0)).is_some());
    assert_eq!(layouts.of_part(NodeOrdinal(0), 1), None);
    assert_eq!(layouts.of_text(NodeOrdinal(1)), None);
    assert_eq!(layouts.of_text(NodeOrdinal(u32::MAX)), None);
    let path = dir.path().join(FILE_NAME);
    let whole = std::fs::read(&path).unwrap();
    for at in 192..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] = 0xff;
        std::fs::write(&path, &bytes).unwrap();
        if let Ok(layouts) = Layouts::open(dir.path()) {
            let _ = layouts.of_text(NodeOrdinal(0));
        }
    }
}

/// Version 1 has no covered cells and is otherwise the same.
#[test]
fn a_file_of_version_1_is_read_too() {
    let dir = one_paragraph_written();
    let path = dir.path().join(FILE_NAME);
    for (version, is_read) in [(1, true), (2, true), (3, false)] {
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[8] = version;
        bytes[24..28].fill(0);
        // The checksum covers the header and the table of four sections.
        let sum = crc32fast::hash(&bytes[..32 + 4 * 32]);
        bytes[24..28].copy_from_slice(&sum.to_le_bytes());
        std::fs::write(&path, &bytes).unwrap();
        let opened = Layouts::open(dir.path()).ok();
        assert_eq!(opened.is_some_and(|layouts| layouts.of_text(NodeOrdinal(0)).is_some()), is_read, "{version}");
    }
}
