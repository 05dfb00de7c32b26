//! The queries: from a file, or a built-in list of all kinds of queries that fits any law.

use std::path::Path;

use hornbook_base::hex;
use hornbook_search::Mode;
use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::BenchError;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BenchQuery {
    pub text: String,
    pub jurisdiction: Option<String>,
    /// Overrides the mode of the run.
    pub mode: Option<Mode>,
}

/// A line that is a JSON object; other fields are ignored.
#[derive(Deserialize)]
struct QueryLine {
    query: String,
    jurisdiction: Option<String>,
    mode: Option<String>,
}

/// Questions, keywords, phrases and citations, roughly in the proportions of real queries.
const BUILT_IN: &[&str] = &[
    "how long may a landlord keep the security deposit",
    "who may inspect the books of a corporation",
    "what must a certificate of formation say",
    "can a tenant break a lease early",
    "when is a permit needed to build a fence",
    "what happens if a company does not file its annual report",
    "is an employer liable for wages of a contractor",
    "how can a license be revoked",
    "who pays for damage to a public road",
    "security deposit return deadline",
    "limited liability company registered agent",
    "zoning variance hearing notice",
    "false statement penalty",
    "water quality standards",
    "civil rights action under color of law",
    "open meetings public records",
    "motor vehicle registration renewal",
    "minimum lot size",
    "setback from street",
    "appeal to circuit court within thirty days",
    "\"notice and hearing\" license",
    "\"unless the context otherwise requires\"",
    "tax exemption -property",
    "42 U.S.C. 1983",
];

pub fn built_in() -> Vec<BenchQuery> {
    BUILT_IN.iter().map(|text| BenchQuery { text: (*text).to_owned(), jurisdiction: None, mode: None }).collect()
}

/// Reads a file with one query per line. A line is plain text, or a JSON object with `query` and
/// optionally `jurisdiction` and `mode`, like the judged queries in `tests/quality`.
pub fn read(path: &Path) -> Result<Vec<BenchQuery>, BenchError> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| BenchError(format!("cannot read the queries of {}: {error}", path.display())))?;
    let mut queries = Vec::new();
    for (place, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        queries.push(query(line.trim()).map_err(|why| {
            BenchError(format!(
                "{}, line {}: {why}; write {{\"query\": \"...\"}} or plain text",
                path.display(),
                place + 1
            ))
        })?);
    }
    if queries.is_empty() {
        return Err(BenchError(format!("{} has no queries; write one query per line", path.display())));
    }
    Ok(queries)
}

fn query(line: &str) -> Result<BenchQuery, String> {
    if !line.starts_with('{') {
        return Ok(BenchQuery { text: line.to_owned(), jurisdiction: None, mode: None });
    }
    let QueryLine { query, jurisdiction, mode } = serde_json::from_str(line).map_err(|error| error.to_string())?;
    let mode = mode.map(|name| name.parse::<Mode>().map_err(|error| error.to_string())).transpose()?;
    Ok(BenchQuery { text: query, jurisdiction, mode })
}

/// A hash of a list of queries, so that a comparison can warn if two results used different queries.
pub fn fingerprint(lines: &[String]) -> String {
    hex::encode(&Sha256::digest(lines.join("\n"))[..8])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_objects_are_read_and_errors_name_the_line() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let write = |text: &str| std::fs::write(file.path(), text).unwrap();
        write("plain words\n\n{\"query\": \"a\", \"jurisdiction\": \"VA\", \"mode\": \"keyword\", \"grade\": 3}\n");
        let queries = read(file.path()).unwrap();
        assert_eq!(queries[0], BenchQuery { text: "plain words".to_owned(), jurisdiction: None, mode: None });
        assert_eq!((queries[1].jurisdiction.as_deref(), queries[1].mode), (Some("VA"), Some(Mode::Keyword)));
        write("a\n{\"question\": 1}\n");
        let error = read(file.path()).unwrap_err().to_string();
        assert!(error.contains("line 2") && error.contains("query"), "{error}");
        write("{\"query\": \"a\", \"mode\": \"psychic\"}");
        assert!(read(file.path()).unwrap_err().to_string().contains("psychic"));
        write("\n");
        assert!(read(file.path()).unwrap_err().to_string().contains("no queries"));
    }
}
