//! How current an edition is, in words for lists, tools and the command line.

use std::fmt;

use hornbook_corpus::day::Day;

/// The currency of an edition, in a few words: `current through 2022-09-30 (over a year old)`. Empty if no day is known.
#[derive(Clone, Copy, Debug)]
pub struct Currency {
    pub through: Option<Day>,
    /// The day on which the copy was retrieved, if `through` is not stated.
    pub retrieved: Option<Day>,
    pub is_outdated: bool,
}

impl Currency {
    /// On this day.
    pub fn on(day: Day, through: Option<Day>, retrieved: Option<Day>) -> Self {
        let is_outdated = through.or(retrieved).is_some_and(|last| day > last.one_year_later());
        Self { through, retrieved, is_outdated }
    }

    /// With a mark before it, unless it is empty.
    pub(super) fn after(self, mark: &str) -> String {
        let words = self.to_string();
        if words.is_empty() { words } else { format!("{mark}{words}") }
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.through, self.retrieved) {
            (Some(through), _) => write!(f, "current through {through}")?,
            (None, Some(retrieved)) => write!(f, "copy of {retrieved}")?,
            (None, None) => return Ok(()),
        }
        if self.is_outdated { f.write_str(" (over a year old)") } else { Ok(()) }
    }
}
