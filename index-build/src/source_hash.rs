//! Hashes the sources of this program. The build script does this while the program is compiled.
//!
//! The result of a build depends on the importers, the chunker, the format and the libraries they
//! use. The program version does not show whether these changed, so their hash is an input of every
//! build.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

const FNV_OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
const FNV_PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;

/// FNV-1a with 128 bits. It avoids a dependency in the build script, and nobody gains from a collision.
pub(crate) struct SourceHash(u128);

impl SourceHash {
    pub(crate) fn new() -> Self {
        Self(FNV_OFFSET)
    }

    /// Adds a name and its content. The lengths keep one from running into the other.
    pub(crate) fn add(&mut self, name: &str, content: &[u8]) {
        for part in [name.as_bytes(), content] {
            let length = (part.len() as u64).to_le_bytes();
            for &byte in length.iter().chain(part) {
                self.0 = (self.0 ^ u128::from(byte)).wrapping_mul(FNV_PRIME);
            }
        }
    }

    pub(crate) fn to_hex(&self) -> String {
        format!("{:032x}", self.0)
    }
}

/// The files below a folder, with paths relative to it, in the same order on every machine.
pub(crate) fn files_below(folder: &Path) -> io::Result<Vec<(String, PathBuf)>> {
    let mut files = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(dir)? {
            let path = entry?.path();
            if path.is_dir() {
                open.push(path);
                continue;
            }
            let below = path.strip_prefix(folder).expect("it is below the folder");
            let name: Vec<_> = below.iter().map(|part| part.to_string_lossy()).collect();
            files.push((name.join("/"), path));
        }
    }
    files.sort();
    Ok(files)
}

/// The packages of a lock file that a package depends on, directly or indirectly, each as written
/// in the lock file. All versions of a name are included, because only Cargo knows which one is
/// used.
pub(crate) fn locked_below<'l>(lock: &'l str, package: &str) -> Vec<&'l str> {
    let blocks: Vec<&str> = lock.split("[[package]]").skip(1).collect();
    let mut wanted = vec![package];
    let mut found = vec![false; blocks.len()];
    while let Some(name) = wanted.pop() {
        for (block, found) in blocks.iter().zip(&mut found) {
            if *found || value(block, "name") != Some(name) {
                continue;
            }
            *found = true;
            let (_, dependencies) = block.split_once("dependencies = [").unwrap_or_default();
            let dependencies = dependencies.lines().filter_map(|line| line.trim().strip_prefix('"'));
            wanted.extend(dependencies.filter_map(|line| line.split([' ', '"']).next()));
        }
    }
    blocks.into_iter().zip(found).filter(|(_, found)| *found).map(|(block, _)| block.trim()).collect()
}

fn value<'l>(block: &'l str, key: &str) -> Option<&'l str> {
    let line = block.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = \""))?;
    line.strip_suffix('"')
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCK: &str = "version = 4\n\n\
        [[package]]\nname = \"a\"\nversion = \"1.0.0\"\n\n\
        [[package]]\nname = \"b\"\nversion = \"1.0.0\"\ndependencies = [\n \"a\",\n \"c 2.0.0\",\n]\n\n\
        [[package]]\nname = \"c\"\nversion = \"2.0.0\"\ndependencies = [\n \"b\",\n]\n\n\
        [[package]]\nname = \"d\"\nversion = \"1.0.0\"\ndependencies = [\n \"a\",\n]\n";

    #[test]
    fn transitive_dependencies_are_found() {
        let names = |package| -> Vec<_> {
            locked_below(LOCK, package).into_iter().filter_map(|block| value(block, "name")).collect()
        };
        assert_eq!(names("b"), ["a", "b", "c"]);
        assert_eq!(names("d"), ["a", "d"]);
        assert_eq!(names("e"), [""; 0]);
    }

    #[test]
    fn names_contents_and_order_count() {
        let hash = |files: &[(&str, &str)]| {
            let mut hash = SourceHash::new();
            files.iter().for_each(|(name, content)| hash.add(name, content.as_bytes()));
            hash.to_hex()
        };
        let one = hash(&[("a.rs", "x"), ("b.rs", "y")]);
        assert_eq!(one, hash(&[("a.rs", "x"), ("b.rs", "y")]));
        for other in [&[("a.rs", "x"), ("b.rs", "z")][..], &[("a.rs", "x"), ("c.rs", "y")], &[("a.rs", "xb.rsy")]] {
            assert_ne!(one, hash(other));
        }
    }

    #[test]
    fn files_have_the_same_names_and_order_everywhere() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("b")).unwrap();
        for name in ["c", "b/d", "a"] {
            fs::write(dir.path().join(name), name).unwrap();
        }
        let names: Vec<String> = files_below(dir.path()).unwrap().into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["a", "b/d", "c"]);
    }
}
