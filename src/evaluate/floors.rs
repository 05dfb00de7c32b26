//! The minimum quality that search must reach: a table of nDCG@10 by kind of query and mode, stored in a file.
//!
//! A line has the kind, the mode and the figure, separated by tabs. A measured value may be lower than
//! its floor by up to [`FLOOR_TOLERANCE`].

use std::path::Path;

use hornbook_search::Mode;

/// The tolerance below a floor. In a small set, one query more or less makes such a difference.
pub const FLOOR_TOLERANCE: f64 = 0.01;

/// One line of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct Floor {
    pub kind: String,
    pub mode: Mode,
    pub ndcg: f64,
}

/// A floor and the measured value.
#[derive(Clone, Debug, PartialEq)]
pub struct FloorCheck {
    pub floor: Floor,
    /// `None` if no query of this kind was searched in this mode.
    pub reached: Option<f64>,
}

impl FloorCheck {
    pub fn is_reached(&self) -> bool {
        self.reached.is_some_and(|reached| reached >= self.floor.ndcg - FLOOR_TOLERANCE)
    }
}

/// The reason why a table cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct FloorsError(String);

/// Reads a table.
pub fn read_floors(path: &Path) -> Result<Vec<Floor>, FloorsError> {
    let named = |what: String| FloorsError(format!("{}: {what}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| {
        named(format!("cannot be read: {error}; --renew-floors writes it from the measured values"))
    })?;
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
    lines.map(|(number, line)| floor(line).map_err(|what| named(format!("line {number}: {what}")))).collect()
}

fn floor(line: &str) -> Result<Floor, String> {
    let columns: Vec<&str> = line.split('\t').collect();
    let [kind, mode, ndcg] = columns[..] else {
        return Err("expected kind, mode and nDCG@10, separated by tabs".to_owned());
    };
    let mode = mode.parse().map_err(|error| format!("{error}"))?;
    let ndcg: f64 = ndcg.parse().map_err(|_| format!("'{ndcg}' is not a number"))?;
    Ok(Floor { kind: kind.to_owned(), mode, ndcg })
}

/// Formats a table as the content of its file.
pub fn floors_text(floors: &[Floor]) -> String {
    let line = |floor: &Floor| format!("{}\t{}\t{:.3}\n", floor.kind, floor.mode, floor.ndcg);
    let head = "# The minimum nDCG@10 by kind and mode; 'hornbook eval --renew-floors' writes this file.\n".to_owned();
    floors.iter().fold(head, |text, floor| text + &line(floor))
}

/// Compares the floors of a table with the measured values.
pub fn check_floors(floors: Vec<Floor>, measured: &[Floor]) -> Vec<FloorCheck> {
    let reached = |floor: &Floor| {
        measured.iter().find(|other| other.kind == floor.kind && other.mode == floor.mode).map(|other| other.ndcg)
    };
    floors.into_iter().map(|floor| FloorCheck { reached: reached(&floor), floor }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(kind: &str, mode: Mode, ndcg: f64) -> Floor {
        Floor { kind: kind.to_owned(), mode, ndcg }
    }

    #[test]
    fn losses_beyond_tolerance_and_missing_kinds_are_reported() {
        let floors =
            vec![of("topic", Mode::Hybrid, 0.7), of("topic", Mode::Keyword, 0.7), of("phrase", Mode::Hybrid, 0.9)];
        let measured = [of("topic", Mode::Hybrid, 0.691), of("topic", Mode::Keyword, 0.689)];
        let holds: Vec<bool> = check_floors(floors, &measured).iter().map(FloorCheck::is_reached).collect();
        assert_eq!(holds, [true, false, false]);
    }

    #[test]
    fn tables_round_trip_and_errors_name_the_line() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("floors.tsv");
        let floors = vec![of("topic", Mode::Hybrid, 0.712), of("everyday", Mode::Semantic, 0.5)];
        std::fs::write(&path, floors_text(&floors)).unwrap();
        assert_eq!(read_floors(&path).unwrap(), floors);
        std::fs::write(&path, "topic\thybrid\t0.5\ntopic\tfast\t0.5\n").unwrap();
        let error = read_floors(&path).unwrap_err().to_string();
        assert!(error.contains("line 2") && error.contains("unknown mode 'fast'"), "{error}");
        let missing = read_floors(&dir.path().join("none.tsv")).unwrap_err().to_string();
        assert!(missing.contains("--renew-floors"), "{missing}");
    }
}
