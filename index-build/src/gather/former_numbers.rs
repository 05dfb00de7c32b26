//! Former numbers that a table of a code states for provisions of all its documents.

use std::collections::HashMap;

use super::Gatherer;
use crate::former_number::FormerNumber;
use crate::report::{WarningKind, Warnings};

impl Gatherer {
    /// Records a row of a table of former numbers. The provision may follow in another document.
    pub fn add_former_number(&mut self, row: FormerNumber) {
        self.former_numbers.push(row);
    }

    /// Gives provisions the former numbers that tables state. A number in several rows belongs to none of them: the
    /// provision was divided, or two provisions had this number.
    pub(super) fn apply_former_numbers(&mut self, warnings: &mut Warnings) {
        let rows = std::mem::take(&mut self.former_numbers);
        if rows.is_empty() {
            return;
        }
        let mut rows_of: HashMap<&str, usize> = HashMap::new();
        rows.iter().for_each(|row| *rows_of.entry(&row.former_citation).or_default() += 1);
        let mut by_key: HashMap<&str, Vec<u32>> = HashMap::new();
        for (number, node) in (0_u32..).zip(&self.nodes).filter(|(_, node)| node.is_provision) {
            by_key.entry(&node.key).or_default().push(number);
        }
        for row in &rows {
            let why = match by_key.get(row.key.as_str()) {
                None => "no provision has the new number",
                Some(_) if rows_of[row.former_citation.as_str()] > 1 => "it is in several rows",
                Some(nodes) => {
                    for &node in nodes {
                        self.former_of.entry(node).or_default().push(row.former_citation.clone());
                    }
                    continue;
                }
            };
            let what = format!("the former number '{}' is not used: {why}", row.former_citation);
            warnings.add(WarningKind::UnreadRenumbering, &row.position, what);
        }
    }
}
