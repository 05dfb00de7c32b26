//! Any bytes as the index of a pack, and any change to a whole pack: it is refused, or gives back what was packed.
//!
//! The first byte selects the one or the other.
#![no_main]

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;
use std::sync::LazyLock;

use hornbook_index_build::build::{BuildOptions, Destination, build};
use hornbook_index_build::progress::ProgressDisplay;
use hornbook_pack::{PackFile, PackIndex, pack, unpack};
use libfuzzer_sys::fuzz_target;

struct Sample {
    dir: tempfile::TempDir,
    pack: Vec<u8>,
    index: PackIndex,
}

/// The sample snapshot, built and packed once.
static SAMPLE: LazyLock<Sample> = LazyLock::new(|| {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let plan = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/sample/plan.toml");
    let options = BuildOptions {
        plan,
        sources: None,
        destination: Destination::Folder(dir.path().join("snapshot")),
        strict: false,
        replace: false,
        accept_loss: false,
        skip_absent: false,
        fresh: true,
        progress: ProgressDisplay::Silent,
    };
    build(&options).expect("the sample builds");
    let path = dir.path().join("sample.pack");
    let out = File::create_new(&path).expect("the pack can be written");
    let summary = pack(&dir.path().join("snapshot"), None, out, &path, |_| ()).expect("the sample can be packed");
    Sample { pack: fs::read(&path).expect("the pack is there"), index: summary.index, dir }
});

fuzz_target!(|bytes: &[u8]| {
    let Some((&pick, rest)) = bytes.split_first() else { return };
    if pick % 2 == 0 { any_index(rest) } else { changed_pack(rest) }
});

fn any_index(bytes: &[u8]) {
    let Some((at, index)) = bytes.split_first_chunk::<4>() else { return };
    let Ok(index) = PackIndex::decode(index, u64::from(u32::from_le_bytes(*at))) else { return };
    for file in &index.files {
        assert!(!file.path.starts_with('/') && file.path.split('/').all(|part| part != ".." && !part.is_empty()));
        let length: u64 = file.blocks.iter().map(|block| u64::from(index.blocks[*block as usize].bytes)).sum();
        assert_eq!(length, file.bytes);
    }
}

fn changed_pack(changes: &[u8]) {
    let sample = &*SAMPLE;
    let mut changed = sample.pack.clone();
    for change in changes.chunks_exact(5) {
        let place = u32::from_le_bytes([change[0], change[1], change[2], change[3]]) as usize % changed.len();
        changed[place] = change[4];
    }
    let path = sample.dir.path().join("changed.pack");
    fs::write(&path, &changed).expect("the pack can be written");
    let Ok(opened) = PackFile::open(&path) else { return };
    assert_eq!(*opened.index(), sample.index, "no other index has this hash");
    let folder = sample.dir.path().join("unpacked");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir(&folder).expect("the folder can be created");
    if unpack(&opened, &folder, None, |_| ()).is_ok() {
        assert_eq!(files(&folder), files(&sample.dir.path().join("snapshot")));
    }
}

fn files(folder: &Path) -> BTreeMap<String, blake3::Hash> {
    let index = &SAMPLE.index;
    let hash = |path: &str| blake3::hash(&fs::read(folder.join(path)).expect("the file is there"));
    index.files.iter().map(|file| (file.path.clone(), hash(&file.path))).collect()
}
