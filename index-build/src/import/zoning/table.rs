//! The zone table: code, name, category and provision of each zone, from a CSV file, the plan, or both.

use std::collections::BTreeMap;

use hornbook_corpus::zoning::layer::{PlaceholderReason, Zone, ZoneCitation};

use super::input::{ZoneTableFile, ZoningImportError};
use super::options::{ZoneRow, ZoningOptions};

/// Columns can be in any order. All but the first are optional.
const COLUMNS: [&str; 4] = ["zone", "name", "category", "provision"];

pub(super) struct ZoneTable {
    by_code: BTreeMap<String, ZoneRow>,
    /// Codes, by their letters and digits in upper case.
    by_letters: BTreeMap<String, Vec<String>>,
}

/// The result of looking up a code.
pub(super) enum ZoneLookup<'a> {
    Known(&'a ZoneRow),
    /// The code is unknown, but these codes have the same letters and digits; often empty.
    SimilarCodes(Vec<&'a ZoneRow>),
}

impl ZoneTable {
    pub(super) fn new(
        options: &ZoningOptions,
        table: Option<ZoneTableFile<'_>>,
        file: &str,
    ) -> Result<Self, ZoningImportError> {
        let mut zones = Self { by_code: BTreeMap::new(), by_letters: BTreeMap::new() };
        if let Some(table) = table {
            for (line, row) in read_csv(table)? {
                zones.add(row).map_err(|what| table_error(table.file, Some(line), what))?;
            }
        }
        for row in &options.zone {
            let in_plan = |what| ZoningImportError::Options { file: file.to_owned(), what };
            zones.add(row.clone()).map_err(in_plan)?;
        }
        if zones.by_code.is_empty() {
            let what =
                "there is no zone table; name a CSV file with zones = \"FILE\" or write [[source.zoning.zone]] rows";
            return Err(ZoningImportError::Options { file: file.to_owned(), what: what.to_owned() });
        }
        Ok(zones)
    }

    fn add(&mut self, row: ZoneRow) -> Result<(), String> {
        let row = trimmed(row);
        if row.zone.is_empty() {
            return Err("the zone code is empty".to_owned());
        }
        if self.by_code.contains_key(&row.zone) {
            return Err(format!("zone '{}' is defined twice; keep one of the rows", row.zone));
        }
        self.by_letters.entry(letters(&row.zone)).or_default().push(row.zone.clone());
        self.by_code.insert(row.zone.clone(), row);
        Ok(())
    }

    pub(super) fn look_up(&self, code: &str) -> ZoneLookup<'_> {
        if let Some(row) = self.by_code.get(code) {
            return ZoneLookup::Known(row);
        }
        let alike = self.by_letters.get(&letters(code)).into_iter().flatten();
        ZoneLookup::SimilarCodes(alike.filter_map(|known| self.by_code.get(known)).collect())
    }
}

impl ZoneRow {
    /// The zone as the table describes it, with its provision cited by `cite`.
    pub(super) fn zone(&self, cite: &dyn Fn(&str) -> ZoneCitation) -> Zone {
        let citation = match &self.provision {
            Some(provision) => cite(provision),
            None => ZoneCitation::Placeholder {
                citation: None,
                reason: PlaceholderReason::NoProvisionNamed,
                near: Vec::new(),
            },
        };
        Zone { code: self.zone.clone(), name: self.name.clone(), category: self.category.clone(), citation }
    }
}

fn trimmed(row: ZoneRow) -> ZoneRow {
    let filled = |text: Option<String>| text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
    ZoneRow {
        zone: row.zone.trim().to_owned(),
        name: filled(row.name),
        category: filled(row.category),
        provision: filled(row.provision),
    }
}

/// The letters and digits of a code: `RM-4.5`, `RM4.5` and `rm 4-.5` give the same result.
fn letters(code: &str) -> String {
    code.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_uppercase).collect()
}

fn read_csv(table: ZoneTableFile<'_>) -> Result<Vec<(u64, ZoneRow)>, ZoningImportError> {
    let text = table.text.strip_prefix('\u{feff}').unwrap_or(table.text);
    let mut reader = csv::ReaderBuilder::new().from_reader(text.as_bytes());
    let csv_error = |error: csv::Error| {
        let line = error.position().map(csv::Position::line);
        table_error(table.file, line, error.to_string())
    };
    let header = reader.headers().map_err(csv_error)?.clone();
    check_header(&header).map_err(|what| table_error(table.file, Some(1), what))?;
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(csv_error)?;
        let line = record.position().map_or(0, csv::Position::line);
        let row = record.deserialize(Some(&header)).map_err(csv_error)?;
        rows.push((line, row));
    }
    Ok(rows)
}

fn check_header(header: &csv::StringRecord) -> Result<(), String> {
    if let Some(unknown) = header.iter().find(|name| !COLUMNS.contains(name)) {
        return Err(format!("unknown column '{unknown}'; the columns are {}", COLUMNS.join(",")));
    }
    if !header.iter().any(|name| name == COLUMNS[0]) {
        return Err(format!("there is no column '{}'; the columns are {}", COLUMNS[0], COLUMNS.join(",")));
    }
    Ok(())
}

fn table_error(file: &str, line: Option<u64>, what: String) -> ZoningImportError {
    ZoningImportError::Table { file: file.to_owned(), line, what }
}
