//! `hornbook snapshot keygen`: makes the pair of keys that signs packs and channels.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use clap::Args;
use hornbook_pack::SecretKey;
use ring::rand::{SecureRandom, SystemRandom};

use crate::cli::CommandResult;
use crate::cli::output::{CommandError, print};

/// Make a pair of keys that signs packs and channels
///
/// Writes the secret key to FILE, which only its owner can read, and the public key beside it. Both are files of
/// minisign; the secret key has no password. Boxes that shall accept the signatures name the public key in
/// snapshots.trusted_keys.
#[derive(Debug, Args)]
pub(crate) struct Keygen {
    /// The file for the secret key, such as law.key
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

impl Keygen {
    pub(super) fn run(self) -> CommandResult {
        let public = self.out.with_extension("pub");
        if public == self.out {
            return Err("the secret key needs another name than the public key; write --out law.key".into());
        }
        let (mut seed, mut number) = ([0; 32], [0; 8]);
        let random = SystemRandom::new();
        random
            .fill(&mut seed)
            .and_then(|()| random.fill(&mut number))
            .map_err(|_| "the system has no random numbers")?;
        let key = SecretKey::from_random(seed, number);
        write_new(&self.out, &key.file_text(), 0o600)?;
        write_new(&public, &key.public().file_text(), 0o644)?;
        print(&format!(
            "wrote the secret key to {} and the public key to {}\n\nBoxes accept its signatures with\n  \
             HORNBOOK_SNAPSHOTS_TRUSTED_KEYS={}\n",
            self.out.display(),
            public.display(),
            key.public().line()
        ))
    }
}

/// Never replaces a file: a lost secret key cannot be made again.
fn write_new(path: &Path, text: &str, mode: u32) -> Result<(), CommandError> {
    let opened = OpenOptions::new().write(true).create_new(true).mode(mode).open(path);
    let written = opened.and_then(|mut file| file.write_all(text.as_bytes()).and_then(|()| file.sync_all()));
    written.map_err(|error| format!("cannot write {}: {error}", path.display()).into())
}

/// Reads a secret key.
pub(super) fn read_key(path: &Path) -> Result<SecretKey, CommandError> {
    let text = fs::read_to_string(path).map_err(|error| format!("cannot read the key {}: {error}", path.display()))?;
    Ok(SecretKey::parse(&text, path)?)
}
