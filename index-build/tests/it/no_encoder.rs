//! Plans with a sentence encoder in a program that was built without encoder support.

use std::fs;

use crate::common::{build_at, copy_folder, sample};

#[test]
fn the_message_says_how_to_build_the_program() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("sources");
    copy_folder(&sample(), &folder);
    let plan = folder.join("plan.toml");
    let sha256 = "0".repeat(64);
    let table = format!("\n[encoder]\nspace = 'a'\nfolder = 'm'\nquery_table = 'q'\nsha256 = '{sha256}'\n");
    fs::write(&plan, fs::read_to_string(&plan).unwrap() + &table).unwrap();
    let refused = build_at(&plan, &dir.path().join("out")).unwrap_err().to_string();
    assert!(refused.contains("--no-default-features") && refused.contains("[encoder]"), "{refused}");
    assert!(!dir.path().join("out").exists());
}
