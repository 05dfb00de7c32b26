use std::fs;
use std::path::Path;

use proptest::prelude::*;

use super::file::KIND;
use super::*;
use crate::ids::NodeOrdinal;

/// Lists for up to forty nodes. A node cites other nodes, each once, in any order.
fn lists() -> impl Strategy<Value = Vec<Vec<u32>>> {
    (1..40_u32).prop_flat_map(|nodes| {
        let list = prop::sample::subsequence((0..nodes).collect::<Vec<_>>(), 0..=nodes as usize).prop_shuffle();
        prop::collection::vec(list, nodes as usize).prop_map(|mut lists| {
            for (node, list) in (0..).zip(&mut lists) {
                list.retain(|&cited| cited != node);
            }
            lists
        })
    })
}

fn write(dir: &Path, lists: &[Vec<u32>]) {
    let mut writer = ReferenceWriter::default();
    for list in lists {
        writer.push(&list.iter().copied().map(NodeOrdinal).collect::<Vec<_>>());
    }
    assert_eq!(writer.count(), lists.iter().map(Vec::len).sum::<usize>() as u64);
    writer.finish(dir).unwrap();
}

proptest! {
    #[test]
    fn incoming_is_the_exact_transpose_of_outgoing(lists in lists()) {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), &lists);
        let references = References::open(dir.path()).unwrap();
        prop_assert_eq!(references.node_count(), lists.len());
        prop_assert_eq!(references.count(), lists.iter().map(Vec::len).sum::<usize>());
        for (node, list) in (0..).zip(&lists) {
            let outgoing: Vec<u32> = references.outgoing(NodeOrdinal(node)).map(|cited| cited.0).collect();
            prop_assert_eq!(&outgoing, list);
            let citing: Vec<u32> = (0..).zip(&lists).filter(|(_, list)| list.contains(&node)).map(|(n, _)| n).collect();
            let incoming: Vec<u32> = references.incoming(NodeOrdinal(node)).map(|citing| citing.0).collect();
            prop_assert_eq!(incoming, citing);
        }
    }

    #[test]
    fn damaged_bytes_never_panic(lists in lists(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), &lists);
        let path = dir.path().join(FILE_NAME);
        let mut bytes = fs::read(&path).unwrap();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        fs::remove_file(&path).unwrap();
        fs::write(&path, bytes).unwrap();
        let Ok(references) = References::open(dir.path()) else { return Ok(()) };
        for node in (0..50).chain([u32::MAX]).map(NodeOrdinal) {
            let (out, into) = (references.outgoing(node).len(), references.incoming(node).len());
            prop_assert!(out + into <= 2 * references.count());
        }
    }
}

#[test]
fn lists_that_do_not_belong_together_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let file = |out: &[u32], outat: &[u64], into: &[u32], inat: &[u64]| {
        let path = dir.path().join(FILE_NAME);
        let _ = fs::remove_file(&path);
        let mut writer = crate::section_file::SectionWriter::create(&path, KIND, 4).unwrap();
        writer.section("out", out).unwrap();
        writer.section("outat", outat).unwrap();
        writer.section("in", into).unwrap();
        writer.section("inat", inat).unwrap();
        writer.finish().unwrap();
        References::open(dir.path()).map(|references| references.count()).map_err(|error| error.to_string())
    };
    assert_eq!(file(&[1], &[0, 1, 1], &[0], &[0, 0, 1]), Ok(1));
    for (out, outat, into, inat) in [
        (&[1][..], &[0, 2, 2][..], &[0][..], &[0, 0, 1][..]),
        (&[1], &[], &[0], &[0, 0, 1]),
        (&[1], &[0, 1, 1], &[0], &[0, 1]),
        (&[1], &[0, 1, 1], &[], &[0, 0, 0]),
    ] {
        let error = file(out, outat, into, inat).unwrap_err();
        assert!(error.contains(FILE_NAME) && error.contains("damaged"), "{error}");
    }
}
