//! Synonyms of the operator's own, in a file that is read at start, at each reload, and by commands that try it.

use std::path::Path;
use std::sync::Arc;

use hornbook_base::regular_file;
use hornbook_search::{SynonymFaults, SynonymTable};

/// The maximum size of the file.
const BYTES_MAX: u64 = 4 << 20;

/// The number of faults that an error lists.
const FAULTS_SHOWN: usize = 20;

/// Why a file of synonyms cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SynonymsError {
    #[error("cannot read the synonyms in {path}: {source}")]
    File { path: String, source: std::io::Error },
    #[error("{}", listed(.path, .faults))]
    Rows { path: String, faults: SynonymFaults },
}

/// Reads a file of synonyms. Without a file there are none.
pub fn read_synonyms(file: Option<&Path>) -> Result<Arc<SynonymTable>, SynonymsError> {
    let Some(file) = file else { return Ok(Arc::default()) };
    let path = || file.display().to_string();
    let text =
        regular_file::read_text(file, BYTES_MAX).map_err(|source| SynonymsError::File { path: path(), source })?;
    let table = SynonymTable::read(&text).map_err(|faults| SynonymsError::Rows { path: path(), faults })?;
    Ok(Arc::new(table))
}

/// One line for each fault, with its place.
fn listed(path: &str, faults: &SynonymFaults) -> String {
    let shown = faults.0.iter().take(FAULTS_SHOWN).map(|fault| format!("{path}:{}: {}", fault.line, fault.what));
    let mut lines: Vec<String> = shown.collect();
    if let Some(further) = faults.0.len().checked_sub(FAULTS_SHOWN).filter(|further| *further > 0) {
        lines.push(format!("{further} more"));
    }
    lines.join("\n")
}
