//! Reads the places that notes name: `section 1973f of Title 42`, `section 5 of this title`.

/// A section of the Code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CodePlace<'a> {
    pub(super) title: &'a str,
    pub(super) number: &'a str,
    /// The subdivision of it that is named, if any: `(f)`.
    pub(super) part: &'a str,
}

impl<'a> CodePlace<'a> {
    /// Reads a place, from its number on: `1973f of Title 42, The ...`. `that` is the title that was named before.
    /// Returns the text behind it. Former titles and appendices are not read, because other law has their numbers now.
    pub(super) fn read(text: &'a str, own_title: &'a str, that: Option<&'a str>) -> Option<(Self, &'a str)> {
        let (number, mut rest) = number_at(text)?;
        let behind_number = rest;
        while let Some(inner) = rest.strip_prefix('(') {
            rest = &inner[inner.find(')')? + 1..];
        }
        let part = &behind_number[..behind_number.len() - rest.len()];
        let rest = rest.strip_prefix(" of ")?;
        if let Some(rest) = rest.strip_prefix("this title") {
            return Some((Self { title: own_title, number, part }, rest));
        }
        if let Some(rest) = rest.strip_prefix("that title") {
            return Some((Self { title: that?, number, part }, rest));
        }
        let rest = rest.strip_prefix("Title ").or_else(|| rest.strip_prefix("title "))?;
        let digits = rest.find(|sign: char| !sign.is_ascii_digit()).unwrap_or(rest.len());
        let (title, rest) = rest.split_at(digits);
        let is_appendix = rest.starts_with(", Appendix") || rest.starts_with(|sign: char| sign.is_alphanumeric());
        (digits > 0 && !is_appendix).then_some((Self { title, number, part }, rest))
    }

    pub(super) fn is_part(&self) -> bool {
        !self.part.is_empty()
    }

    pub(super) fn citation(&self) -> String {
        citation(self.title, self.number) + self.part
    }
}

/// The citation of a section, with the plain dash of citations.
pub(super) fn citation(title: &str, number: &str) -> String {
    format!("{title} U.S.C. § {}", number.replace('–', "-"))
}

/// Whether a text that begins with a number names a section of an act: `114 of act Oct. 31, 1949`.
pub(super) fn is_section_of_act(text: &str) -> bool {
    let law = number_at(text).and_then(|(_, rest)| Some(rest.split_once(" of ")?.1)).unwrap_or_default();
    let has_name = ["the ", "title "].iter().filter_map(|word| law.strip_prefix(word));
    ["act ", "ch. ", "div. ", "pt. ", "Pub. L. "].iter().any(|word| law.starts_with(word))
        || has_name.into_iter().any(|name| name.starts_with(|sign: char| sign.is_ascii_uppercase()))
}

/// The number at the beginning of a text: `1395w–4` of `1395w–4(a) of this title`.
pub(super) fn number_at(text: &str) -> Option<(&str, &str)> {
    let is_number = |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, '–' | '-');
    let end = text.find(|sign| !is_number(sign)).unwrap_or(text.len());
    text.starts_with(|sign: char| sign.is_ascii_digit()).then(|| text.split_at(end))
}

/// The rest of a sentence, up to its period. A period behind an abbreviation is none.
pub(super) fn sentence(text: &str) -> &str {
    let mut from = 0;
    while let Some(at) = text[from..].find(". ").map(|at| from + at) {
        let word = text[..at].rsplit([' ', '(', '“']).next().unwrap_or_default();
        let is_abbreviation = word.len() <= 4 && word.starts_with(|sign: char| sign.is_ascii_alphabetic());
        if !is_abbreviation || word == "Code" || word == "Act" {
            return &text[..at];
        }
        from = at + 2;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_goes_on_behind_an_abbreviation() {
        for (text, expected) in [
            ("by Pub. L. 1–2, ch. 3. The rest", "by Pub. L. 1–2, ch. 3"),
            ("by act Aug. 4, 1949. Later", "by act Aug. 4, 1949"),
            ("of the Code. It", "of the Code"),
            ("of this title.", "of this title."),
        ] {
            assert_eq!(sentence(text), expected);
        }
    }
}
