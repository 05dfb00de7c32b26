//! Packing and unpacking against the plain model: the files of a folder.

use std::fs;

use hornbook_base::random::SplitMix64;
use hornbook_corpus::manifest::Manifest;
use proptest::prelude::*;

use super::*;
use crate::index::{BlockCoding, BlockPlace};
use crate::unpack::fill;
use crate::{PackError, hash_file};

/// Bytes that compress somewhat and repeat pieces of each other, as the files of snapshots do.
fn random_bytes(random: &mut SplitMix64, length: usize) -> Vec<u8> {
    let mut bytes: Vec<u8> = Vec::with_capacity(length);
    while bytes.len() < length {
        match random.below(4) {
            0 => bytes.extend((0..random.below(5000)).map(|_| random.draw() as u8)),
            1 => bytes.extend((0..random.below(5000)).map(|_| b"law of the land "[random.index(16)])),
            2 => bytes.extend(vec![random.draw() as u8; random.index(30_000)]),
            _ if bytes.is_empty() => {}
            _ => {
                let from = random.index(bytes.len());
                let to = (from + random.index(60_000)).min(bytes.len());
                bytes.extend_from_within(from..to);
            }
        }
    }
    bytes.truncate(length);
    bytes
}

fn random_folder(seed: u64) -> FolderContents {
    let mut random = SplitMix64(seed);
    let names = ["a.bin", "keyword/b", "keyword/deep/c", "manifest", "report.json", "z"];
    let mut files = FolderContents::new();
    for name in &names[..1 + random.index(names.len())] {
        let length = [0, 1, 4096, 70_000, 250_000][random.index(5)];
        files.insert((*name).to_owned(), random_bytes(&mut random, length));
    }
    files
}

/// The same files after some amendments: bytes replaced, inserted and removed.
fn amended(files: &FolderContents, seed: u64) -> FolderContents {
    let mut random = SplitMix64(seed);
    let mut files = files.clone();
    for bytes in files.values_mut() {
        for _ in 0..random.below(4) {
            let from = random.index(bytes.len() + 1);
            let to = (from + random.index(300)).min(bytes.len());
            let length = random.index(300);
            let inserted = random_bytes(&mut random, length);
            bytes.splice(from..to, inserted);
        }
    }
    if random.below(3) == 0 {
        files.insert("new.bin".to_owned(), random_bytes(&mut random, 50_000));
    }
    files
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn unpacking_restores_every_byte_and_packing_gives_the_same_pack(seed: u64) {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        sealed(&at("old"), &random_folder(seed));
        let summary = packed(&at("old"), None, &at("one.pack"));
        packed(&at("old"), None, &at("two.pack"));
        let bytes = fs::read(at("one.pack")).unwrap();
        prop_assert_eq!(&bytes, &fs::read(at("two.pack")).unwrap());
        prop_assert_eq!(summary.hash, hash_file(&bytes[..]).unwrap());
        let opened = PackFile::open(&at("one.pack")).unwrap();
        prop_assert_eq!(opened.hash(|_| ()).unwrap(), summary.hash);
        prop_assert_eq!((opened.index(), opened.index_place()), (&summary.index, summary.place));
        unpacked(&at("one.pack"), &at("again"), None).unwrap();
        prop_assert_eq!(contents(&at("again")), contents(&at("old")));
    }

    #[test]
    fn a_pack_of_changes_restores_what_the_complete_pack_restores(seed: u64) {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        let files = random_folder(seed);
        let old = sealed(&at("old"), &files);
        let new = sealed(&at("new"), &amended(&files, seed));
        prop_assume!(old.snapshot != new.snapshot);
        packed(&at("new"), None, &at("complete.pack"));
        packed(&at("new"), Some(&at("old")), &at("changes.pack"));
        packed(&at("new"), Some(&at("old")), &at("again.pack"));
        prop_assert_eq!(fs::read(at("changes.pack")).unwrap(), fs::read(at("again.pack")).unwrap());
        unpacked(&at("changes.pack"), &at("from-changes"), Some(&at("old"))).unwrap();
        unpacked(&at("complete.pack"), &at("from-complete"), None).unwrap();
        prop_assert_eq!(contents(&at("from-changes")), contents(&at("new")));
        prop_assert_eq!(contents(&at("from-complete")), contents(&at("new")));

        // Only the index of the earlier pack is at hand: blocks are left out, none is patched.
        let old_index = packed(&at("old"), None, &at("old.pack")).index;
        let earlier = EarlierBlocks::of_index(&old_index);
        let out = fs::File::create_new(at("by-index.pack")).unwrap();
        let by_index = pack(&at("new"), Some(&earlier), out, &at("by-index.pack"), |_| ()).unwrap();
        let is_patched = |packed: &crate::PackedBytes| matches!(packed.coding, BlockCoding::Patched { .. });
        prop_assert!(!by_index.index.blocks.iter().filter_map(|block| block.packed()).any(is_patched));
        unpacked(&at("by-index.pack"), &at("from-by-index"), Some(&at("old"))).unwrap();
        prop_assert_eq!(contents(&at("from-by-index")), contents(&at("new")));
    }

    #[test]
    fn a_changed_byte_is_found_or_harmless_and_a_cut_is_found(seed: u64) {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        let files = random_folder(seed);
        sealed(&at("old"), &files);
        packed(&at("old"), None, &at("a.pack"));
        let whole = fs::read(at("a.pack")).unwrap();
        let mut random = SplitMix64(seed);
        for round in 0..12 {
            let mut changed = whole.clone();
            // Half of the changes are in the last bytes, where index and trailer are.
            let place = if round % 2 == 0 { random.index(whole.len()) } else { whole.len() - 1 - random.index(600.min(whole.len())) };
            changed[place] ^= 1 << random.below(8);
            let cut = round == 11;
            if cut {
                changed.truncate(place);
            }
            fs::write(at("b.pack"), &changed).unwrap();
            let folder = at(&format!("{round}"));
            match unpacked(&at("b.pack"), &folder, None) {
                Ok(()) => prop_assert!(!cut && contents(&folder) == contents(&at("old")), "{}", place),
                Err(error) => prop_assert!(error.to_string().contains("b.pack"), "{}", error),
            }
        }
    }

    #[test]
    fn an_interrupted_attempt_is_resumed_whatever_it_left(seed: u64) {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        sealed(&at("old"), &random_folder(seed));
        packed(&at("old"), None, &at("a.pack"));
        unpacked(&at("a.pack"), &at("again"), None).unwrap();
        let mut random = SplitMix64(seed);
        for (path, mut bytes) in contents(&at("again")) {
            let file = at("again").join(&path);
            match random.below(5) {
                0 => fs::remove_file(&file).unwrap(),
                1 => {
                    bytes.truncate(random.index(bytes.len() + 1));
                    fs::write(&file, bytes).unwrap();
                }
                2 if !bytes.is_empty() => {
                    let place = random.index(bytes.len());
                    bytes[place] ^= 1;
                    fs::write(&file, bytes).unwrap();
                }
                3 => {
                    bytes.extend(b"more");
                    fs::write(&file, bytes).unwrap();
                }
                _ => {}
            }
        }
        fs::create_dir_all(at("again/strange")).unwrap();
        fs::write(at("again/strange/x"), "x").unwrap();
        std::os::unix::fs::symlink("/etc/passwd", at("again/a-link")).unwrap();
        unpacked(&at("a.pack"), &at("again"), None).unwrap();
        prop_assert_eq!(contents(&at("again")), contents(&at("old")));
    }
}

#[test]
fn equal_blocks_are_packed_once_and_parts_of_files_are_read_without_the_rest() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let bytes = random_bytes(&mut SplitMix64(7), 300_000);
    let twice = FolderContents::from([("a".to_owned(), bytes.clone()), ("b".to_owned(), bytes.clone())]);
    sealed(&at("once"), &FolderContents::from([("a".to_owned(), bytes.clone())]));
    sealed(&at("twice"), &twice);
    let once = packed(&at("once"), None, &at("once.pack"));
    let both = packed(&at("twice"), None, &at("twice.pack"));
    assert!(both.index.packed_bytes() < once.index.packed_bytes() + 1000);
    let opened = PackFile::open(&at("twice.pack")).unwrap();
    for (from, length) in [(0, 1), (0, 300_000), (17_000, 40_000), (299_999, 1), (300_000, 0)] {
        let part = opened.read_file("b", from, length).unwrap().unwrap();
        assert_eq!(part, bytes[from as usize..(from + length) as usize]);
    }
    assert_eq!(opened.read_file("b", 1, 300_000).unwrap(), None);
    assert_eq!(opened.read_file("b", u64::MAX, 2).unwrap(), None);
    assert_eq!(opened.read_file("c", 0, 0).unwrap(), None);
    unpacked(&at("twice.pack"), &at("again"), None).unwrap();
    assert_eq!(without_manifest(contents(&at("again"))), twice);
}

#[test]
fn a_pack_of_changes_needs_its_earlier_snapshot_undamaged() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let files = FolderContents::from([("a".to_owned(), random_bytes(&mut SplitMix64(3), 300_000))]);
    sealed(&at("old"), &files);
    let mut new = files.clone();
    new.get_mut("a").unwrap()[150_000] ^= 1;
    sealed(&at("new"), &new);
    let changes = packed(&at("new"), Some(&at("old")), &at("changes.pack"));
    assert!(changes.bytes < 12_000, "{}", changes.bytes);
    let error = unpacked(&at("changes.pack"), &at("x"), None).unwrap_err();
    assert!(matches!(error, PackError::NeedsEarlier { .. }), "{error}");
    let mut damaged = files["a"].clone();
    for place in [10, 149_000, 290_000] {
        damaged[place] ^= 1;
        fs::write(at("old/a"), &damaged).unwrap();
        let error = unpacked(&at("changes.pack"), &at("x"), Some(&at("old"))).unwrap_err();
        assert!(matches!(error, PackError::Earlier { .. }), "{error}");
    }
    fs::write(at("old/a"), &damaged[..1000]).unwrap();
    assert!(matches!(unpacked(&at("changes.pack"), &at("x"), Some(&at("old"))), Err(PackError::Earlier { .. })));
    fs::write(at("old/a"), &files["a"]).unwrap();
    unpacked(&at("changes.pack"), &at("x"), Some(&at("old"))).unwrap();
    assert_eq!(contents(&at("x")), contents(&at("new")));
}

#[test]
fn a_damaged_snapshot_is_not_packed_and_a_pack_that_is_no_snapshot_is_not_unpacked() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    sealed(&at("old"), &FolderContents::from([("a".to_owned(), vec![1; 100]), ("b".to_owned(), vec![2; 100])]));
    fs::write(at("old/a"), [1; 99]).unwrap();
    let error = pack(&at("old"), None, io::sink(), &at("x"), |_| ()).unwrap_err().to_string();
    assert!(error.contains("old/a is damaged"), "{error}");

    // The index lists a file that the manifest does not.
    fs::write(at("old/a"), [1; 100]).unwrap();
    let summary = packed(&at("old"), None, &at("a.pack"));
    let mut index = summary.index.clone();
    let moved = index.files[0].clone();
    index.files.insert(1, crate::PackedFile { path: "aa".to_owned(), ..moved });
    let whole = fs::read(at("a.pack")).unwrap();
    let encoded = index.encode();
    let place =
        crate::IndexPlace { bytes: encoded.len() as u64, hash: *blake3::hash(&encoded).as_bytes(), ..summary.place };
    let blocks = &whole[..place.at as usize];
    fs::write(at("b.pack"), [blocks, &encoded, &crate::pack_file::trailer(&place)].concat()).unwrap();
    let error = unpacked(&at("b.pack"), &at("x"), None).unwrap_err();
    assert!(matches!(error, PackError::Contents { .. }), "{error}");
    assert!(Manifest::open(&at("x")).is_ok(), "the manifest itself was right");
}

/// A block that decompresses to more than it states: its hashes are right, as a hostile publisher would make them.
#[test]
fn a_block_that_decompresses_to_more_than_it_states_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    sealed(&at("old"), &FolderContents::from([("a".to_owned(), vec![7; 60_000])]));
    let summary = packed(&at("old"), None, &at("a.pack"));
    let bomb = zstd::bulk::compress(&vec![0; 1 << 30], 3).unwrap();
    let mut index = summary.index.clone();
    index.blocks[0].bytes = 60_000;
    index.blocks.truncate(1);
    index.files[0].blocks = vec![0];
    let BlockPlace::Packed(packed) = &mut index.blocks[0].place else { panic!() };
    (packed.bytes, packed.hash) = (bomb.len() as u32, *blake3::hash(&bomb).as_bytes());
    let decoded = crate::coding::decode(&index.blocks[0], index.blocks[0].packed().unwrap(), bomb, None);
    assert_eq!(decoded, Err(crate::coding::BlockFault::Damaged));
}

/// A file whose stated length no disk can hold.
#[test]
fn a_pack_that_states_more_than_the_disk_can_hold_is_refused_before_it_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    sealed(&at("old"), &FolderContents::from([("a".to_owned(), vec![7; 65_536])]));
    let mut index = packed(&at("old"), None, &at("a.pack")).index;
    index.files[0].bytes = 1 << 60;
    fs::create_dir(at("x")).unwrap();
    let filled: Result<(), PackError> = fill(&at("x"), &index, &mut |_| panic!("no block is needed"), |_| ());
    assert!(matches!(filled, Err(PackError::NoSpace { .. })));
    assert!(contents(&at("x")).is_empty());
}

#[test]
fn other_files_and_other_versions_are_refused_by_name() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    sealed(&at("old"), &FolderContents::from([("a".to_owned(), vec![1; 100])]));
    packed(&at("old"), None, &at("a.pack"));
    let mut bytes = fs::read(at("a.pack")).unwrap();
    bytes[8] = 9;
    fs::write(at("a.pack"), &bytes).unwrap();
    let error = PackFile::open(&at("a.pack")).unwrap_err().to_string();
    assert!(error.contains("version 9, this hornbook reads 2"), "{error}");
    for other in [&b"PK\x03\x04"[..], &[0; 300]] {
        fs::write(at("x"), other).unwrap();
        assert!(matches!(PackFile::open(&at("x")), Err(PackError::NotAPack { .. })));
    }
}
