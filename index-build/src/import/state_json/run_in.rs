//! Repairs another extraction fault: paragraphs that lost the line feed between them,
//! `if it:(1)Barks; or(2)Bites.`

use crate::pattern::Pattern;

/// Splits the lines before every label that follows the preceding words without a space.
pub(super) fn separated(lines: &[String]) -> Vec<String> {
    let label = Pattern::fixed(
        r#"(?:[.;:,—]|\b(?:and|or|but))(?<label>\((?:\d{1,3}|[A-Za-z]{1,4})\)(?:\([0-9A-Za-z]{1,4}\))* ?[A-Z“"‘'])"#,
    );
    let mut separated = Vec::with_capacity(lines.len());
    for line in lines {
        let mut from = 0;
        for found in label.captures_iter(line) {
            let start = found.name("label").map_or(from, |label| label.start());
            separated.push(line[from..start].to_owned());
            from = start;
        }
        separated.push(line[from..].to_owned());
    }
    separated
}
