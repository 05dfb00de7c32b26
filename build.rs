//! Packs the sample corpus into the program, so that the quick start works without other files.
//! Writes the concatenated files, compressed with gzip, and a list of their names and lengths.
//! For `hornbook --version` it passes on the target, and to releases the commit.

use std::env;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use flate2::Compression;
use flate2::write::GzEncoder;

const SAMPLE: &str = "corpus/sample";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    pass_on_version();
    pack_sample();
}

/// Only a release is compiled again after each commit.
#[expect(clippy::disallowed_methods, reason = "cargo passes to build scripts in the environment what it knows")]
fn pass_on_version() {
    let of_cargo = |name: &str| env::var(name).unwrap_or_else(|_| panic!("cargo sets {name} for build scripts"));
    println!("cargo::rustc-env=BUILD_TARGET={}", of_cargo("TARGET"));
    println!("cargo::rerun-if-env-changed=SOURCE_COMMIT");
    let commit = env::var("SOURCE_COMMIT").ok().or_else(|| {
        if of_cargo("PROFILE") != "release" {
            return None;
        }
        println!("cargo::rerun-if-changed={}", git(&["rev-parse", "--git-path", "logs/HEAD"])?);
        git(&["rev-parse", "--short=12", "HEAD"])
    });
    if let Some(commit) = commit {
        println!("cargo::rustc-env=BUILD_COMMIT={commit}");
    }
}

/// None where the source is no clone, or there is no git.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn pack_sample() {
    println!("cargo::rerun-if-changed={SAMPLE}");
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
