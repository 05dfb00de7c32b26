//! Through which day a document is current, as its metadata states.
//!
//! All titles of the United States Code that are published together name one release point, `Online@119-36`. A title
//! that no law has changed keeps the day on which it was last made, although it includes the laws of the release
//! point. So the newest title shows the day of the release point, and a single title does not. A volume of the Code of
//! Federal Regulations states its own day.

use hornbook_corpus::day::Day;
use roxmltree::Node;

use super::reading::UslmReader;
use super::scheme::Scheme;
use crate::pattern::Pattern;
use crate::report::WarningKind;

/// The beginning of the name of a release point.
const RELEASE_POINT: &str = "Online@";

/// The edition that a document states.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct StatedEdition {
    /// The release point that it belongs to, if it is a title of the United States Code.
    pub(crate) release_point: Option<String>,
    pub(crate) day: Day,
}

/// Reads the edition from the beginning of a file.
pub(crate) fn stated_edition(head: &str) -> Option<StatedEdition> {
    let first = |pattern: &str| Some(Pattern::fixed(pattern).captures(head)?[1].to_owned());
    if let Some(release_point) = first(r"<docPublicationName\b[^>]*>\s*(Online@[^<\s]+)\s*<") {
        let day = day_of(&first(r"<dcterms:created\b[^>]*>\s*([^<]+)")?)?;
        return Some(StatedEdition { release_point: Some(release_point), day });
    }
    let day = day_of(&first(r"<docReleasePoint\b[^>]*>\s*([^<]+)")?)?;
    Some(StatedEdition { release_point: None, day })
}

/// The day in `2024-12-18T07:56:31` or `2017-04-01`.
fn day_of(stated: &str) -> Option<Day> {
    stated.trim().get(..10)?.parse().ok()
}

/// Gives the nodes of a volume of regulations its day, and warns of a day that is not understood.
pub(super) fn apply(reading: &mut UslmReader<'_>, root: Node<'_, '_>) {
    let meta = root.children().find(|child| child.has_tag_name("meta"));
    let child = |name: &str| meta?.children().find(|child| child.tag_name().name() == name);
    let words = |node: Node<'_, '_>| node.children().filter_map(|part| part.is_text().then(|| part.text())?).collect();
    let is_release = |name: Node<'_, '_>| name.text().is_some_and(|name| name.trim().starts_with(RELEASE_POINT));
    let stated = match reading.scheme {
        Scheme::UnitedStatesCode => child("created").filter(|_| child("docPublicationName").is_some_and(is_release)),
        Scheme::Regulations => child("docReleasePoint"),
    };
    let Some(stated) = stated else { return };
    let text: String = words(stated);
    let Some(day) = day_of(&text) else {
        let what = format!("the day '{}' of this edition is not understood", text.trim());
        let position = reading.position(stated);
        reading.parsed.warn(WarningKind::Dates, position, what);
        return;
    };
    if reading.scheme == Scheme::Regulations {
        let day = day.to_string();
        reading.parsed.nodes.iter_mut().for_each(|node| node.content.current_through = Some(day.clone()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_state_a_release_point_and_volumes_a_day() {
        let title = |created: &str| {
            format!(
                "<uscDoc><meta><docPublicationName>Online@119-36</docPublicationName>\
                 <dcterms:created>{created}</dcterms:created></meta>"
            )
        };
        let edition = stated_edition(&title("2025-08-26T07:18:38")).unwrap();
        assert_eq!(
            (edition.release_point.as_deref(), edition.day.to_string()),
            (Some("Online@119-36"), "2025-08-26".into())
        );
        assert_eq!(stated_edition(&title("yesterday")), None);
        let other = title("2025-08-26T07:18:38").replace("Online@119-36", "Main edition of 2024");
        assert_eq!(stated_edition(&other), None);
        let volume = "<cfrDoc><meta><docReleasePoint style=\"-uslm-sgm:REVISED\">2017-04-01</docReleasePoint>";
        let edition = stated_edition(volume).unwrap();
        assert_eq!((edition.release_point, edition.day.to_string()), (None, "2017-04-01".into()));
    }
}
