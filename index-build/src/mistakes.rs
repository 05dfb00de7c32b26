//! Mistakes in the sources, collected so that one run reports many of them.

use std::fmt;

/// A build stops reading after this many mistakes.
const MISTAKES_MAX: usize = 100;
/// A check continues much longer, because its purpose is to find all mistakes.
const CHECKED_MISTAKES_MAX: usize = 100_000;

/// Mistakes in the order in which they were found. Each line begins with the file and, if known,
/// the line number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistakes {
    lines: Vec<String>,
    limit: usize,
}

impl Default for Mistakes {
    fn default() -> Self {
        Self { lines: Vec::new(), limit: MISTAKES_MAX }
    }
}

impl Mistakes {
    /// Creates the collection for a check of the sources.
    pub(crate) fn for_check() -> Self {
        Self { lines: Vec::new(), limit: CHECKED_MISTAKES_MAX }
    }

    pub fn add(&mut self, position: impl fmt::Display, what: impl fmt::Display) {
        self.add_line(format!("{position}: {what}"));
    }

    /// Adds a message that already names its place.
    pub(crate) fn add_line(&mut self, line: String) {
        if !self.is_full() {
            self.lines.push(line);
        }
    }

    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    pub fn count(&self) -> usize {
        self.lines.len()
    }

    pub fn is_full(&self) -> bool {
        self.lines.len() >= self.limit
    }
}

impl fmt::Display for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.lines[..] {
            [only] => f.write_str(only),
            lines => {
                let stopped = if self.is_full() { ", and possibly more" } else { "" };
                write!(f, "{} errors in the sources{stopped}; nothing was built:", lines.len())?;
                lines.iter().try_for_each(|line| write!(f, "\n  {line}"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_mistake_is_a_line_and_more_are_a_list_that_ends() {
        let mut mistakes = Mistakes::default();
        mistakes.add("a.jsonl:1", "first");
        assert_eq!(mistakes.to_string(), "a.jsonl:1: first");
        mistakes.add("a.jsonl:2", "second");
        assert_eq!(
            mistakes.to_string(),
            "2 errors in the sources; nothing was built:\n  a.jsonl:1: first\n  a.jsonl:2: second"
        );
        (0..MISTAKES_MAX).for_each(|n| mistakes.add(n, "more"));
        let text = mistakes.to_string();
        assert!(text.starts_with("100 errors in the sources, and possibly more; nothing was built:\n"), "{text}");
        assert_eq!(text.lines().count(), 101);
    }
}
