//! Words that say what became of a provision, where a source has no field for it: `Repealed by Acts 1995`, `[Reserved]`.

use hornbook_corpus::outline::Status;

/// A longer text is law, whatever it begins with.
pub(crate) const REMARK_BYTES_MAX: usize = 300;

/// The status that a heading begins with, or that stands in brackets at its end: `Dogs. [Repealed, § 2 ch 1 SLA 1963.]`
pub(crate) fn heading_status(heading: &str) -> Option<Status> {
    let bracketed = || heading.trim_end().trim_end_matches('.').strip_suffix(']')?.rsplit_once('[');
    // What is repealed on a day that is named may be law yet.
    let is_planned =
        |remark: &str| remark.get(..18).is_some_and(|start| start.eq_ignore_ascii_case("repealed effective"));
    let remark = || bracketed().map(|(_, remark)| remark.trim()).filter(|remark| !is_planned(remark));
    named_status(heading).or_else(|| named_status(remark()?))
}

/// The status that a heading is, with nothing behind it but how it came about: `[Amended and Renumbered.]`, `Repealed by Acts
/// 1995.` What stands under it is a remark, however long it is. But `Reserved name.` heads law.
pub(crate) fn whole_status(heading: &str) -> Option<Status> {
    const WORDS: [(&str, Status); 14] = [
        ("repealed and renumbered", Status::Renumbered),
        ("renumbered and repealed", Status::Renumbered),
        ("amended and renumbered", Status::Renumbered),
        ("repealed", Status::Repealed),
        ("deleted", Status::Repealed),
        ("renumbered", Status::Renumbered),
        ("redesignated", Status::Renumbered),
        ("reserved", Status::Reserved),
        // Never law.
        ("vetoed", Status::Reserved),
        ("omitted", Status::Omitted),
        ("transferred", Status::Transferred),
        ("recodified", Status::Transferred),
        ("expired", Status::Expired),
        ("terminated", Status::Expired),
    ];
    let bare = heading.trim_start_matches(['(', '[']).to_ascii_lowercase();
    let behind = |word: &str| bare.strip_prefix(word);
    let (rest, status) = WORDS.iter().find_map(|(word, status)| Some((behind(word)?, *status)))?;
    let is_whole = rest.trim_end_matches(['.', ']', ')', ' ']).is_empty();
    let goes_on = [". ", " by ", ", by ", " for future use"].iter().any(|start| rest.starts_with(start));
    (is_whole || goes_on).then_some(status)
}

/// The status that a heading or text begins with.
pub(crate) fn named_status(text: &str) -> Option<Status> {
    const WORDS: [(&str, Status); 11] = [
        ("repealed", Status::Repealed),
        ("reserved", Status::Reserved),
        ("omitted", Status::Omitted),
        ("transferred", Status::Transferred),
        ("recodified", Status::Transferred),
        ("renumbered", Status::Renumbered),
        ("redesignated", Status::Renumbered),
        ("expired", Status::Expired),
        // Enacted, and not law.
        ("not effective.", Status::Reserved),
        ("not in effect.", Status::Reserved),
        ("defeated at referendum", Status::Reserved),
    ];
    let bare = text.trim_start_matches(|c: char| !c.is_alphabetic()).as_bytes();
    WORDS
        .into_iter()
        .find(|(word, _)| bare.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word.as_bytes())))
        .map(|(_, status)| status)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_that_are_a_status_are_told_from_headings_of_law() {
        assert_eq!(whole_status("[Amended and Renumbered.]"), Some(Status::Renumbered));
        assert_eq!(whole_status("Repealed. 2021, No. 49, § 2."), Some(Status::Repealed));
        assert_eq!(whole_status("Repealed by Acts 1995."), Some(Status::Repealed));
        assert_eq!(whole_status("[Reserved for future use.]"), Some(Status::Reserved));
        assert_eq!(whole_status("[Deleted.]"), Some(Status::Repealed));
        assert_eq!(whole_status("[Terminated.]"), Some(Status::Expired));
        assert_eq!(whole_status("Reserved name."), None);
        assert_eq!(whole_status("Omitted parties; definitions."), None);
        assert_eq!(whole_status("[Repealed effective July 1, 2030.] Signs."), None);
    }

    #[test]
    fn headings_name_their_status_at_the_start_or_in_brackets_at_the_end() {
        assert_eq!(heading_status("Repealed by Acts 1995."), Some(Status::Repealed));
        assert_eq!(heading_status("Dogs. [Repealed, § 2 ch 1 SLA 1963.]"), Some(Status::Repealed));
        assert_eq!(heading_status("Cats [Renumbered as AS 01.05.2.]."), Some(Status::Renumbered));
        assert_eq!(heading_status("Hens. [Repealed]  "), Some(Status::Repealed));
        assert_eq!(heading_status("Hens. [Repealed effective July 1, 2030.]"), None);
        assert_eq!(heading_status("The [repealed] act"), None);
        assert_eq!(heading_status("Effect of repeal. [See note.]"), None);
        assert_eq!(heading_status("§]"), None);
    }
}
