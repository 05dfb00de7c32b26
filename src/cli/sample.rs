//! The sample corpus, compressed and contained in the program. `build.rs` in the root folder packs
//! it.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use flate2::read::GzDecoder;

/// Names and lengths of the files, in the order in which they are packed.
const FILES: &[(&str, usize)] = include!(concat!(env!("OUT_DIR"), "/sample_files.rs"));
const PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/sample.gz"));

/// File name of the plan.
pub(super) const PLAN: &str = "plan.toml";

/// Writes all files into a folder.
pub(super) fn unpack_into(folder: &Path) -> io::Result<()> {
    let mut packed = GzDecoder::new(PACKED);
    for (name, length) in FILES {
        let mut bytes = vec![0; *length];
        packed.read_exact(&mut bytes)?;
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap_or(folder))?;
        fs::write(path, bytes)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_unpacked_is_the_sample_of_the_source_tree() {
        let dir = tempfile::tempdir().unwrap();
        unpack_into(dir.path()).unwrap();
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/sample");
        for (name, _) in FILES {
            let same = fs::read(source.join(name)).unwrap() == fs::read(dir.path().join(name)).unwrap();
            assert!(same, "{name} differs");
        }
        assert!(FILES.iter().any(|(name, _)| *name == PLAN));
        // The changelog states this size.
        assert!(PACKED.len() < 80_000, "{} bytes", PACKED.len());
    }
}
