//! Words that say what became of a provision, where a source has no field for it: `Repealed by Acts 1995`, `[Reserved]`.

use hornbook_corpus::outline::Status;

/// A longer text is law, whatever it begins with.
pub(crate) const REMARK_BYTES_MAX: usize = 300;

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
