//! The order in which the levels of a text nest.

use super::token::{Alphabet, LabelPunctuation, Style};

/// The styles of labels from the outermost level inwards. Texts deviate from it, so it is a
/// preference, not a rule. An empty scheme has no preference.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scheme {
    pub(super) levels: Vec<Style>,
}

impl Scheme {
    /// Infers the order from the text.
    pub fn found() -> Self {
        Self::default()
    }

    /// The scheme of the Code of Federal Regulations, whose fifth and sixth levels are in italics.
    pub fn cfr() -> Self {
        let mut scheme = Self::of("(a)(1)(i)(A)(1)(i)").unwrap_or_default();
        scheme.levels.iter_mut().skip(4).for_each(|style| style.italic = true);
        scheme
    }

    /// Parses a scheme from its first labels, such as `(1)(a)(i)(A)` or `A. 1. a.`. `i` and `I`
    /// represent roman numerals.
    pub fn of(labels: &str) -> Result<Self, String> {
        let mut levels = Vec::new();
        let mut rest = labels.trim();
        while !rest.is_empty() {
            let (form, label, after) = read_one(rest).ok_or_else(|| mistake(labels))?;
            let alphabet = match label {
                "1" => Alphabet::Number,
                "a" => Alphabet::Small,
                "A" => Alphabet::Capital,
                "i" => Alphabet::SmallRoman,
                "I" => Alphabet::CapitalRoman,
                _ => return Err(mistake(labels)),
            };
            levels.push(Style { form, alphabet, italic: false });
            rest = after.trim_start();
        }
        Ok(Self { levels })
    }

    pub(super) fn level(&self, depth: usize) -> Option<Style> {
        self.levels.get(depth).copied()
    }
}

fn read_one(text: &str) -> Option<(LabelPunctuation, &str, &str)> {
    if let Some((label, after)) = text.strip_prefix('(').and_then(|inner| inner.split_once(')')) {
        return Some((LabelPunctuation::Parentheses, label, after));
    }
    let end = text.find(['.', ')'])?;
    let form = if text[end..].starts_with('.') { LabelPunctuation::Period } else { LabelPunctuation::HalfParenthesis };
    Some((form, &text[..end], &text[end + 1..]))
}

fn mistake(labels: &str) -> String {
    format!(
        "'{labels}' is not an order of labels; write the first label of each level, such as '(a)(1)(i)(A)' or 'A. 1. a.'"
    )
}
