//! Unpacks a snapshot into a folder: file after file, each block checked before it is written.
//!
//! A cut leaves files that end early. The next attempt checks them block by block, keeps what is right, and goes on
//! from there. Nothing more than one block and the index is in memory. The folder is a snapshot only after
//! [`check_contents`]: it shows that the index lists exactly the files of the manifest.

use std::collections::HashSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::Path;

use hornbook_base::hex;
use hornbook_corpus::manifest::{FILE_NAME, HASH_FILE_NAME, Manifest};

use crate::coding;
use crate::earlier::EarlierFiles;
use crate::error::{PackError, io_error};
use crate::fault_points::reached;
use crate::index::{PackIndex, PackedFile};
use crate::pack_file::{PackFile, needs_earlier};

/// Unpacks a pack into a folder, in which an earlier attempt may have stopped. `earlier` is the snapshot that a pack
/// of changes needs. `progress` receives byte counts of the unpacked files.
pub fn unpack(
    pack: &PackFile,
    folder: &Path,
    earlier: Option<&Path>,
    progress: impl FnMut(u64),
) -> Result<(), PackError> {
    let index = pack.index();
    if index.since.is_some() && earlier.is_none() {
        return Err(needs_earlier(pack.path(), index));
    }
    let mut earlier = earlier.map(|dir| EarlierFiles::new(dir, &index.earlier_paths));
    fill(folder, index, &mut |number| pack.block(number, earlier.as_mut()), progress)
}

/// Writes all files of an index into a folder. `block` returns the checked contents of a block; it is called at most
/// once for each, in ascending order, and only for blocks that the folder lacks.
pub(crate) fn fill<E: From<PackError>>(
    folder: &Path,
    index: &PackIndex,
    block: &mut dyn FnMut(u32) -> Result<Vec<u8>, E>,
    mut progress: impl FnMut(u64),
) -> Result<(), E> {
    remove_strays(folder, index)?;
    check_space(folder, index)?;
    let first_places = index.first_places();
    let mut next_new = 0;
    for (number, file) in (0..).zip(&index.files) {
        let path = folder.join(&file.path);
        let parent = path.parent().unwrap_or(folder);
        fs::create_dir_all(parent).map_err(io_error(parent, "create the folder"))?;
        let mut out = open_to_resume(&path).map_err(io_error(&path, "open"))?;
        let kept = whole_blocks(&mut out, index, file).map_err(io_error(&path, "read"))?;
        progress(kept.bytes);
        let mut hasher = kept.hasher;
        for block_number in &file.blocks[..kept.blocks] {
            next_new = next_new.max(block_number + 1);
        }
        for block_number in &file.blocks[kept.blocks..] {
            let contents = if *block_number < next_new {
                written_before(folder, index, first_places[*block_number as usize], *block_number)?
            } else {
                next_new = block_number + 1;
                block(*block_number)?
            };
            out.write_all(&contents).map_err(io_error(&path, "write"))?;
            hasher.update(&contents);
            progress(contents.len() as u64);
            reached("block written");
        }
        if *hasher.finalize().as_bytes() != file.hash {
            let what = format!("the blocks of '{}' do not make the file with its hash", file.path);
            return Err(PackError::Contents { snapshot: index.snapshot.clone(), what }.into());
        }
        reached(&format!("file {number}"));
    }
    check_contents(folder, index)?;
    Ok(())
}

/// Refuses a snapshot for which there is no room before anything is written. A small pack can state a large one: many
/// files can use one block.
fn check_space(folder: &Path, index: &PackIndex) -> Result<(), PackError> {
    let found =
        |file: &PackedFile| fs::metadata(folder.join(&file.path)).map_or(0, |found| found.len().min(file.bytes));
    let needed = index.files.iter().map(|file| file.bytes - found(file)).fold(0, u64::saturating_add);
    let space =
        rustix::fs::statvfs(folder).map_err(|error| io_error(folder, "find the free space of")(error.into()))?;
    let available = space.f_bavail.saturating_mul(space.f_frsize);
    if needed > available {
        return Err(PackError::NoSpace { folder: folder.to_owned(), needed, available });
    }
    Ok(())
}

/// Checks that the index lists exactly the files of the manifest, and the snapshot that it names.
fn check_contents(folder: &Path, index: &PackIndex) -> Result<(), PackError> {
    let other = |what: String| PackError::Contents { snapshot: index.snapshot.clone(), what };
    let manifest = Manifest::open(folder)?;
    if manifest.snapshot != index.snapshot {
        return Err(other(format!("its manifest names the snapshot {}", manifest.snapshot)));
    }
    let is_listed = |file: &&PackedFile| file.path != FILE_NAME && file.path != HASH_FILE_NAME;
    let packed: Vec<_> = index.files.iter().filter(is_listed).collect();
    for (file, listed) in packed.iter().zip(&manifest.files) {
        if file.path != listed.path || file.bytes != listed.size || hex::encode(&file.hash) != listed.blake3 {
            return Err(other(format!("its '{}' is not the '{}' of its manifest", file.path, listed.path)));
        }
    }
    match packed.len() == manifest.files.len() {
        true => Ok(()),
        false => Err(other(format!("it has {} files, its manifest {}", packed.len(), manifest.files.len()))),
    }
}

/// The beginning of a file that an earlier attempt wrote.
struct KeptBlocks {
    blocks: usize,
    bytes: u64,
    hasher: blake3::Hasher,
}

/// Checks the blocks that are in a file already, and cuts off what follows the last one that is right.
fn whole_blocks(out: &mut File, index: &PackIndex, file: &PackedFile) -> io::Result<KeptBlocks> {
    let mut kept = KeptBlocks { blocks: 0, bytes: 0, hasher: blake3::Hasher::new() };
    let found = out.metadata()?.len();
    for number in &file.blocks {
        let entry = &index.blocks[*number as usize];
        if kept.bytes + u64::from(entry.bytes) > found {
            break;
        }
        let mut contents = vec![0; entry.bytes as usize];
        out.read_exact(&mut contents)?;
        if !coding::is_block(entry, &contents) {
            break;
        }
        kept.hasher.update(&contents);
        kept.blocks += 1;
        kept.bytes += u64::from(entry.bytes);
    }
    out.set_len(kept.bytes)?;
    io::Seek::seek(out, io::SeekFrom::Start(kept.bytes))?;
    Ok(kept)
}

/// A block that a file written before contains.
fn written_before(folder: &Path, index: &PackIndex, (file, at): (u32, u64), number: u32) -> Result<Vec<u8>, PackError> {
    let path = folder.join(&index.files[file as usize].path);
    let entry = &index.blocks[number as usize];
    let mut contents = vec![0; entry.bytes as usize];
    let opened = File::open(&path).and_then(|opened| opened.read_exact_at(&mut contents, at));
    opened.map_err(io_error(&path, "read"))?;
    if coding::is_block(entry, &contents) {
        return Ok(contents);
    }
    let source = io::Error::other("what was just written is damaged; check the disk");
    Err(PackError::Io { path, doing: "read back", source })
}

/// Nobody else writes into the folder; a link in it would still not be followed out of it.
fn open_to_resume(path: &Path) -> io::Result<File> {
    if let Ok(found) = fs::symlink_metadata(path) {
        if !found.is_file() {
            fs::remove_file(path)?;
        } else if found.permissions().readonly() {
            // The earlier attempt was killed when it had everything, just before the snapshot appeared.
            fs::set_permissions(path, fs::Permissions::from_mode(0o644))?;
        }
    }
    OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)
}

/// Removes what the index does not list: it was left by an attempt with another pack.
fn remove_strays(folder: &Path, index: &PackIndex) -> Result<(), PackError> {
    let files: HashSet<&str> = index.files.iter().map(|file| file.path.as_str()).collect();
    let folders: HashSet<&str> =
        files.iter().flat_map(|path| path.match_indices('/').map(|(slash, _)| &path[..slash])).collect();
    let mut open = vec![String::new()];
    while let Some(below) = open.pop() {
        let dir = folder.join(&below);
        for entry in fs::read_dir(&dir).map_err(io_error(&dir, "list"))? {
            let entry = entry.map_err(io_error(&dir, "list"))?;
            let path = entry.path();
            let kind = entry.file_type().map_err(io_error(&path, "find"))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let relative = if below.is_empty() { name } else { format!("{below}/{name}") };
            let removed = match (kind.is_dir(), kind.is_file()) {
                (true, _) if folders.contains(relative.as_str()) => {
                    open.push(relative);
                    continue;
                }
                (_, true) if files.contains(relative.as_str()) => continue,
                (true, _) => fs::remove_dir_all(&path),
                (false, _) => fs::remove_file(&path),
            };
            removed.map_err(io_error(&path, "remove"))?;
        }
    }
    Ok(())
}
