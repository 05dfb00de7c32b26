//! Plain-text tables, and numbers formatted for people.

/// A table whose columns are as wide as their widest cell. Numbers are aligned right, text left.
#[derive(Debug)]
pub(crate) struct TextTable<const N: usize> {
    rows: Vec<[String; N]>,
    aligns_numbers: bool,
}

impl<const N: usize> TextTable<N> {
    pub(crate) fn new(header: [&str; N]) -> Self {
        Self { rows: vec![header.map(str::to_owned)], aligns_numbers: true }
    }

    /// Aligns numbers left too, for columns that also contain words.
    pub(crate) fn left_aligned(self) -> Self {
        Self { aligns_numbers: false, ..self }
    }

    pub(crate) fn row(&mut self, cells: [String; N]) {
        self.rows.push(cells);
    }

    pub(crate) fn render(&self) -> String {
        let width = |column: usize| self.rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..N).map(width).collect();
        let starts_a_number = |cell: &str| cell.chars().next().is_none_or(|c| c.is_ascii_digit() || c == '-');
        let is_number =
            |column: usize| self.aligns_numbers && self.rows.iter().skip(1).all(|row| starts_a_number(&row[column]));
        let right: Vec<bool> = (0..N).map(is_number).collect();
        let mut out = String::new();
        for row in &self.rows {
            let mut line = String::new();
            for (column, cell) in row.iter().enumerate() {
                let padding = " ".repeat(widths[column] - cell.chars().count());
                let (before, after) = if right[column] { (padding.as_str(), "") } else { ("", padding.as_str()) };
                line += &format!("{before}{cell}{after}  ");
            }
            out += line.trim_end();
            out.push('\n');
        }
        out
    }
}

/// A size in a suitable unit.
pub(crate) fn bytes(count: u64) -> String {
    const UNITS: [&str; 5] = ["B", "kB", "MB", "GB", "TB"];
    let mut value = count as f64;
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    let digits = if unit == 0 || value >= 99.95 { 0 } else { 1 };
    format!("{value:.digits$} {}", UNITS[unit])
}

/// A duration in seconds or minutes.
pub(crate) fn seconds(value: f64) -> String {
    if value < 120.0 { format!("{value:.1} s") } else { format!("{:.1} min", value / 60.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_align_and_numbers_fit() {
        let mut table = TextTable::new(["name", "count"]);
        table.row(["Arden".into(), "7".into()]);
        table.row(["US".into(), "1200".into()]);
        assert_eq!(table.render(), "name   count\nArden      7\nUS      1200\n");
        assert_eq!([bytes(7), bytes(1_500), bytes(162_000_000), bytes(999_999)], ["7 B", "1.5 kB", "162 MB", "1.0 MB"]);
        assert_eq!([seconds(1.25), seconds(300.0)], ["1.2 s", "5.0 min"]);
    }
}
