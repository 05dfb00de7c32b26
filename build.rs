//! Packs the sample corpus into the program, so that the quick start works without other files.
//! Writes the concatenated files, compressed with gzip, and a list of their names and lengths.

use std::env;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;

const SAMPLE: &str = "corpus/sample";

fn main() {
    println!("cargo::rerun-if-changed={SAMPLE}");
    println!("cargo::rerun-if-changed=build.rs");
    let mut files = Vec::new();
    collect(Path::new(SAMPLE), &mut files);
    files.sort();
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    let mut list = String::from("&[\n");
    for path in files {
        let name =
            path.strip_prefix(SAMPLE).expect("the path is inside the sample folder").to_str().expect("names are ASCII");
        let bytes = fs::read(&path).unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
        list += &format!("    ({name:?}, {}),\n", bytes.len());
        packed.write_all(&bytes).expect("memory can be written");
    }
    list += "]\n";
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR for build scripts"));
    let packed = packed.finish().expect("memory can be written");
    fs::write(out.join("sample.gz"), packed).expect("OUT_DIR can be written");
    fs::write(out.join("sample_files.rs"), list).expect("OUT_DIR can be written");
}

/// Collects all files except `*.md`, which are for readers of the source.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("cannot list {}: {error}", folder.display()));
    for entry in entries {
        let path = entry.unwrap_or_else(|error| panic!("cannot list {}: {error}", folder.display())).path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_none_or(|extension| extension != "md") {
            files.push(path);
        }
    }
}
