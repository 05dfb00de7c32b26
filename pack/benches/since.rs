//! How many bytes the changes between two snapshots need, in all and by file, and how long packing takes:
//!
//!     cargo bench -p hornbook-pack --bench since -- OLD NEW
//!
//! pack/FORMAT.md states the results and how the snapshots were made.

use std::collections::BTreeMap;
use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

use hornbook_pack::{EarlierBlocks, PackIndex, pack};

fn main() -> Result<(), Box<dyn Error>> {
    let folders: Vec<PathBuf> =
        std::env::args_os().skip(1).filter(|argument| argument != "--bench").map(Into::into).collect();
    let [old, new] = folders.as_slice() else {
        println!("not measured: name two snapshots, cargo bench -p hornbook-pack --bench since -- OLD NEW");
        return Ok(());
    };
    let nowhere = Path::new("the pack");
    let began = Instant::now();
    let complete = pack(new, None, io::sink(), nowhere, |_| ())?;
    let complete_seconds = began.elapsed().as_secs_f64();
    let earlier = EarlierBlocks::of_snapshot(old, |_| ())?;
    let began = Instant::now();
    let changes = pack(new, Some(&earlier), io::sink(), nowhere, |_| ())?;
    let changes_seconds = began.elapsed().as_secs_f64();
    println!("files     {:>12} bytes", complete.index.file_bytes());
    println!("complete  {:>12} bytes, packed in {complete_seconds:.1} s", complete.bytes);
    println!("changes   {:>12} bytes, packed in {changes_seconds:.1} s", changes.bytes);
    println!("share     {:>11.2} % of the complete pack", 100.0 * changes.bytes as f64 / complete.bytes as f64);
    println!(
        "index     {:>12} bytes of the complete pack, {} of the changes",
        complete.place.bytes, changes.place.bytes
    );
    let complete_files = bytes_of_files(&complete.index);
    let mut files: Vec<_> = bytes_of_files(&changes.index).into_iter().collect();
    files.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
    for (path, bytes) in files.iter().take(12) {
        println!("{path:36} {:>12} complete {bytes:>12} changes", complete_files[path]);
    }
    Ok(())
}

/// Packed bytes of the blocks that each file is the first to use.
fn bytes_of_files(index: &PackIndex) -> BTreeMap<String, u64> {
    let mut next = 0;
    let mut files = BTreeMap::new();
    for file in &index.files {
        let mut bytes = 0;
        for number in &file.blocks {
            if *number == next {
                bytes += index.blocks[*number as usize].packed().map_or(0, |packed| u64::from(packed.bytes));
                next += 1;
            }
        }
        files.insert(file.path.clone(), bytes);
    }
    files
}
