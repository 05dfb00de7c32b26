//! The numbers of a section that has several: `59-41 to 59-60`, `.04—.05`.

use crate::import::ranges::numbers_after;
use crate::pattern::Pattern;

/// The numbers that a section represents, besides the one as printed.
pub(super) fn represented(number: &str) -> Vec<String> {
    let form = Pattern::fixed(r"^(\.?\w[\w.-]*)(?: (to|through|and) |—)(\.?\w[\w.-]*)$");
    let Some(found) = form.captures(number) else { return Vec::new() };
    let (first, last) = (&found[1], &found[3]);
    if ![first, last].iter().all(|number| number.ends_with(|c: char| c.is_ascii_digit())) {
        return Vec::new();
    }
    let others = match found.get(2).map(|joint| joint.as_str()) {
        Some("and") => vec![last.to_owned()],
        _ => numbers_after(first, last),
    };
    std::iter::once(first.to_owned()).chain(others).collect()
}

/// Splits off the rest of a range that the publisher put before the heading: `.03` and `— .07 Recodified to …`.
/// Returns the last number and the heading.
pub(super) fn range_in_heading<'h>(number: &str, heading: &'h str) -> Option<(&'h str, &'h str)> {
    let form = Pattern::fixed(r"^(?:[—–]|to |through ) ?(\.?\d[\w.-]*\d)\.? (\p{Lu}.*)$");
    let found = form.captures(heading)?;
    let (last, heading) = (found.get(1)?.as_str(), found.get(2)?.as_str());
    let stem = number.trim_end_matches(|c: char| c.is_ascii_digit());
    (!stem.is_empty() && last.starts_with(stem) && last != number).then_some((last, heading))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_and_lists_represent_their_numbers() {
        assert_eq!(represented("9-4 to 9-6"), ["9-4", "9-5", "9-6"]);
        assert_eq!(represented("2B-8 through 2B-9"), ["2B-8", "2B-9"]);
        assert_eq!(represented("9-3 and 9-5"), ["9-3", "9-5"]);
        assert_eq!(represented(".08—.10"), [".08", ".09", ".10"]);
        assert_eq!(represented("H101 to H103"), ["H101", "H102", "H103"]);
        for one in ["31–3302.06a", "8–201.", "9-4", "Standards and rules", ".05-1"] {
            assert_eq!(represented(one), Vec::<String>::new(), "{one}");
        }
    }

    #[test]
    fn a_heading_may_begin_with_the_rest_of_a_range() {
        assert_eq!(range_in_heading(".03", "— .07 Recodified to X."), Some((".07", "Recodified to X.")));
        assert_eq!(range_in_heading("9-4", "to 9-12. Reserved."), Some(("9-12", "Reserved.")));
        for heading in ["—Performance Standards", "— 12 Standards", "Recodified to 9-12 Now.", "— 8-12 Standards"]
        {
            assert_eq!(range_in_heading("9-4", heading), None, "{heading}");
        }
    }
}
