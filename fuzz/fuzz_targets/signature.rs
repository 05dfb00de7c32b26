//! Any text as a signature, a key or a channel: it is refused, or is what it was made from.
//!
//! The first byte selects what the rest is read as.
#![no_main]

use std::path::Path;
use std::sync::LazyLock;

use hornbook_pack::{Channel, FileHash, PublicKey, SecretKey, verify};
use libfuzzer_sys::fuzz_target;

const HASH: FileHash = FileHash([7; 64]);

static KEY: LazyLock<SecretKey> = LazyLock::new(|| SecretKey::from_random([1; 32], [1; 8]));

fuzz_target!(|bytes: &[u8]| {
    let Some((&pick, rest)) = bytes.split_first() else { return };
    let text = String::from_utf8_lossy(rest);
    let path = Path::new("law.pack");
    match pick % 4 {
        0 => {
            if let Ok(comment) = verify(path, &HASH, &text, &[KEY.public()]) {
                // Nobody else can sign; only the first line may be another.
                let signed = KEY.sign(&HASH, &comment);
                let lines = |text: &str| text.lines().skip(1).map(str::to_owned).collect::<Vec<_>>();
                assert_eq!(lines(&text), lines(&signed));
            }
        }
        1 => {
            if let Ok(key) = PublicKey::parse(&text) {
                assert_eq!(key.line(), text.trim());
            }
        }
        2 => {
            if let Ok(key) = SecretKey::parse(&text, path) {
                let again = SecretKey::parse(&key.file_text(), path).expect("what was written can be read");
                assert_eq!(again.public(), key.public());
                verify(path, &HASH, &key.sign(&HASH, "x"), &[key.public()]).expect("a key verifies what it signed");
            }
        }
        _ => {
            if let Ok(channel) = Channel::parse(rest) {
                assert!(channel.packs.iter().all(|pack| !pack.file.contains('/') && !pack.file.starts_with('.')));
                let text = serde_json::to_vec(&channel).expect("a channel can be written");
                assert_eq!(Channel::parse(&text).expect("what was written can be read"), channel);
            }
        }
    }
});
