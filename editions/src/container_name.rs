//! The names of containers, by which those of two editions are compared.

use hornbook_base::roman::from_roman;
use hornbook_corpus::ids::NodeOrdinal;
use hornbook_corpus::nodes::{NodeRecord, NodesError};
use hornbook_corpus::snapshot::Snapshot;

use crate::words::words;

/// The level of a container, and the words of its heading.
pub(crate) type ContainerName = (String, Vec<u64>);

/// The name of a container, for comparing it with those of another edition. `PART III` is `Part 3`.
pub(crate) fn container_name(of: &Snapshot, container: NodeOrdinal) -> Result<ContainerName, NodesError> {
    let NodeRecord { level, wordings, .. } = of.nodes.get(container)?;
    let level = level.to_lowercase();
    let heading = with_arabic_number(&wordings[0].heading, &level).to_lowercase();
    Ok((level, words(&heading).collect()))
}

/// A heading whose number behind the name of its level is in digits.
fn with_arabic_number(heading: &str, level: &str) -> String {
    let mut parts = heading.splitn(3, ' ');
    if let (Some(first), Some(second)) = (parts.next(), parts.next()) {
        let number = from_roman(second.trim_end_matches(['.', ':', '-', '—', '–']));
        if let Some(number) = number.filter(|_| first.eq_ignore_ascii_case(level)) {
            return format!("{first} {number} {}", parts.next().unwrap_or_default());
        }
    }
    heading.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_containers_are_compared_in_digits() {
        assert_eq!(with_arabic_number("Part III. Towns", "part"), "Part 3 Towns");
        assert_eq!(with_arabic_number("PART IV", "part"), "PART 4 ");
        for kept in ["Part 3 Towns", "I Towns", "Part CIVIL", "Civil I Towns", ""] {
            assert_eq!(with_arabic_number(kept, "part"), kept);
        }
    }
}
