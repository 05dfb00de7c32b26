//! Detects law that a new snapshot would lose, as a guard against incomplete sources.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use hornbook_corpus::catalogue;
use serde::Deserialize;

/// A code body may lose up to this share of its provisions without an error.
const ACCEPTED_PERCENT: u64 = 10;

/// The compared part of `catalogue.json`. Other fields are ignored, so that snapshots in another
/// format can be compared too.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ComparedCatalogue {
    code_bodies: Vec<ComparedBody>,
}

#[derive(Deserialize)]
struct ComparedBody {
    key: String,
    name: String,
    provisions: u64,
}

/// A code body that would have far fewer provisions than before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    pub code_body: String,
    pub before: u64,
    pub after: u64,
}

/// The code bodies that would lose too much if the snapshot at `new` replaced the one at `old`. A
/// folder without a readable catalogue has nothing to lose.
pub(crate) fn excessive_losses(old: &Path, new: &Path) -> Vec<Loss> {
    let (Some(old), Some(new)) = (read(old), read(new)) else { return Vec::new() };
    let after: BTreeMap<&str, u64> = new.iter().map(|body| (body.key.as_str(), body.provisions)).collect();
    old.iter()
        .map(|body| Loss {
            code_body: body.name.clone(),
            before: body.provisions,
            after: after.get(body.key.as_str()).copied().unwrap_or(0),
        })
        .filter(|loss| loss.before.saturating_sub(loss.after) * 100 > loss.before * ACCEPTED_PERCENT)
        .collect()
}

/// Returns an error if replacing the snapshot at `kept` with the one at `built` would lose too much law.
pub fn refuse_loss(kept: &Path, built: &Path) -> Result<(), LossRefused> {
    let losses = excessive_losses(kept, built);
    if losses.is_empty() {
        return Ok(());
    }
    Err(LossRefused { losses, kept: kept.to_owned(), built: built.to_owned() })
}

fn read(snapshot: &Path) -> Option<Vec<ComparedBody>> {
    let text = fs::read(snapshot.join(catalogue::FILE_NAME)).ok()?;
    serde_json::from_slice::<ComparedCatalogue>(&text).ok().map(|catalogue| catalogue.code_bodies)
}

/// The snapshot was built, but it does not replace the existing one.
#[derive(Debug, thiserror::Error)]
#[error(
    "the new snapshot has far fewer provisions than {}, which therefore stays in use:{}\n\
     The new snapshot is at {}. Check that its sources are complete. If these numbers are right, run the same command \
     again with --accept-loss",
    .kept.display(),
    loss_lines(.losses),
    .built.display()
)]
pub struct LossRefused {
    pub losses: Vec<Loss>,
    /// The snapshot that stays in use.
    pub kept: PathBuf,
    /// The new one.
    pub built: PathBuf,
}

fn loss_lines(losses: &[Loss]) -> String {
    let line = |Loss { code_body, before, after }: &Loss| format!("\n  {code_body}: {before} before, {after} now");
    losses.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losing_up_to_a_tenth_is_accepted() {
        let dir = tempfile::tempdir().unwrap();
        let snapshot = |name: &str, bodies: &[(&str, u64)]| {
            let folder = dir.path().join(name);
            fs::create_dir(&folder).unwrap();
            let bodies: Vec<_> = bodies
                .iter()
                .map(|(key, provisions)| serde_json::json!({ "key": key, "name": key, "provisions": provisions, "new": 1 }))
                .collect();
            let text = serde_json::json!({ "codeBodies": bodies, "unknown": [] }).to_string();
            fs::write(folder.join(catalogue::FILE_NAME), text).unwrap();
            folder
        };
        let old = snapshot("old", &[("a", 100), ("b", 100), ("c", 3), ("d", 0)]);
        let new = snapshot("new", &[("a", 90), ("b", 89), ("e", 5)]);
        let loss = |code_body: &str, before, after| Loss { code_body: code_body.into(), before, after };
        assert_eq!(excessive_losses(&old, &new), [loss("b", 100, 89), loss("c", 3, 0)]);
        assert_eq!(excessive_losses(&new, &old), [loss("e", 5, 0)]);
        assert_eq!(excessive_losses(&dir.path().join("absent"), &new), []);
    }
}
