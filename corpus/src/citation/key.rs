//! The key of a citation: equal for all spellings of one citation, different for different citations.

use std::fmt;

use super::grammar::Grammar;
use super::text::{CitationText, END, OTHER, SECTION_SIGN};
use super::value::{Citation, ConstitutionUnit, Locator, Unit, WordingKind};

/// A normalised citation of one provision, such as `us/usc/42/300aa-1`, without subdivisions. If a citation matches
/// no form, its key is `~` followed by its folded text.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CitationKey(Box<str>);

impl CitationKey {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// A key of another kind than those of provisions, such as that of a section of an act.
    pub(super) fn of_text(key: String) -> Self {
        Self(key.into())
    }

    /// The key of a text that matches no form. Case, section signs, kinds of dashes and numbers of spaces make no
    /// difference to it.
    pub fn folded(text: &str) -> Self {
        let folded = CitationText::new(text);
        let mut key = String::with_capacity(text.len() + 1);
        key.push('~');
        let mut pos = 0;
        let mut gap = false;
        loop {
            let (sign, len) = folded.at(pos);
            match sign {
                END => break,
                b' ' | SECTION_SIGN => gap = key.len() > 1,
                sign => {
                    if std::mem::take(&mut gap) {
                        key.push(' ');
                    }
                    match sign {
                        OTHER => key.extend(folded.slice(pos, pos + len).chars().flat_map(char::to_lowercase)),
                        sign if sign.is_ascii_graphic() => key.push(char::from(sign.to_ascii_lowercase())),
                        _ => key.push_str(folded.slice(pos, pos + len)),
                    }
                }
            }
            pos += len;
        }
        Self(key.into())
    }
}

impl fmt::Display for CitationKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for CitationKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CitationKey({})", self.0)
    }
}

impl Grammar {
    /// The key of the cited provision. It has no meaning if this grammar does not contain the citation's body.
    pub fn key(&self, citation: &Citation) -> CitationKey {
        let mut key = String::with_capacity(40);
        key.push_str(self.body(citation.body).map_or("?", |body| body.key));
        if let Some(title) = &citation.title {
            push_folded(&mut key, title);
        }
        if citation.appendix {
            key.push_str("/app");
        }
        match &citation.place {
            Locator::Numbered { unit, number, last, wording } => {
                key.push_str(match unit {
                    Unit::Section => "",
                    Unit::Part => "/part",
                    Unit::Chapter => "/chapter",
                });
                push_folded(&mut key, number);
                if let Some(last) = last {
                    key.push_str("...");
                    key.extend(last.chars().map(|c| c.to_ascii_lowercase()));
                }
                if *wording == Some(WordingKind::Permanent) {
                    key.push_str("~perm");
                }
            }
            Locator::Constitution(parts) => push_parts(&mut key, parts),
        }
        CitationKey(key.into())
    }

    /// The key of a text that is one citation.
    pub fn key_of_text(&self, text: &str) -> Option<CitationKey> {
        self.parse(text).ok().map(|citation| self.key(&citation))
    }

    /// The key of a stored citation, whether or not it matches a form.
    pub fn key_or_folded(&self, text: &str) -> CitationKey {
        self.key_of_text(text).unwrap_or_else(|| CitationKey::folded(text))
    }
}

fn push_folded(key: &mut String, part: &str) {
    key.push('/');
    key.extend(part.chars().map(|c| c.to_ascii_lowercase()));
}

fn push_parts(key: &mut String, parts: &[(ConstitutionUnit, Box<str>)]) {
    for (unit, value) in parts {
        key.push_str(match unit {
            ConstitutionUnit::Preamble => "/preamble",
            ConstitutionUnit::DeclarationOfRights => "/declaration",
            ConstitutionUnit::BillOfRights => "/rights",
            ConstitutionUnit::Chapter => "/chapter",
            ConstitutionUnit::Part => "/part",
            ConstitutionUnit::Article => "/art",
            ConstitutionUnit::Amendment => "/amend",
            ConstitutionUnit::Section => "/sec",
            ConstitutionUnit::Clause => "/cl",
            ConstitutionUnit::Paragraph => "/para",
        });
        if !value.is_empty() {
            push_folded(key, value);
        }
    }
}
