//! The grammar: the forms in use, and parsing a text that is one citation.

use std::fmt;
use std::sync::LazyLock;

use super::find::{Citations, Openings};
use super::forms::{BodyForm, FormError, Forms};
use super::home::Home;
use super::matching::{self, Found, Matcher};
use super::shared::READINGS_MAX;
use super::text::{END, Text};
use super::value::{Body, BodyRef, Citation};

/// The key of the body that `title 42` alone means.
const US_CODE_KEY: &str = "us/usc";

/// Longest text that is read as one citation, in bytes.
const CITATION_LEN_MAX: usize = 400;

/// Every form of citation known: those of federal and state law, and those a plan added.
#[derive(Clone)]
pub struct Grammar {
    pub(super) forms: Forms,
    us_code: BodyRef,
    openings: Openings,
}

/// Why a text is not one citation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParseError {
    Empty,
    TooLong {
        bytes: usize,
    },
    /// No known code is named in it.
    NoForm {
        text: String,
    },
    /// A code is named, but no number of it (or no title that it has) stands where one should.
    NoNumber {
        text: String,
        body: String,
    },
    /// The name is one of several codes, and the number could be of each.
    Ambiguous {
        text: String,
        readings: Vec<String>,
    },
    /// A citation, and then something else.
    Trailing {
        citation: String,
        rest: String,
    },
    /// A list of citations.
    Several {
        count: usize,
    },
    /// A list goes on behind the last element that is answered.
    ListTooLong {
        read: usize,
    },
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(f, "cannot read a citation from an empty text; write one such as '42 U.S.C. § 1983'"),
            Self::TooLong { bytes } => {
                write!(f, "cannot read a text of {bytes} bytes as a citation; one has at most {CITATION_LEN_MAX} bytes")
            }
            Self::NoForm { text } => write!(
                f,
                "cannot read '{text}' as a citation: no known code is named in it; write the code and the section, such as \
                 '42 U.S.C. § 1983' or 'Va. Code § 13.1-345'"
            ),
            Self::NoNumber { text, body } => write!(
                f,
                "cannot read '{text}' as a citation: it names '{body}', but no section, title or chapter of it; check the number"
            ),
            Self::Ambiguous { text, readings } => {
                write!(f, "'{text}' may be {}; write out the name of the code that is meant", readings.join(" or "))
            }
            Self::Trailing { citation, rest } => {
                write!(f, "read the citation '{citation}', but not the rest: '{rest}'; remove that")
            }
            Self::Several { count } => {
                write!(f, "read {count} citations where one was expected; give them one at a time")
            }
            Self::ListTooLong { read } => {
                write!(f, "only the first {read} citations of the list were read; send the others in another request")
            }
        }
    }
}

impl std::error::Error for ParseError {}

static BUILT_IN: LazyLock<Grammar> = LazyLock::new(|| {
    let forms = Forms::built_in();
    let us_code = forms.rows().find(|(_, form)| form.body().key == US_CODE_KEY).map(|(body, _)| body);
    let us_code = us_code.expect("the form table has a row for the United States Code");
    let openings = Openings::new(&forms.names);
    Grammar { forms, us_code, openings }
});

impl fmt::Debug for Grammar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Grammar").field("bodies", &self.bodies().count()).finish_non_exhaustive()
    }
}

impl Grammar {
    /// The forms of federal and state law.
    pub fn built_in() -> &'static Self {
        &BUILT_IN
    }

    /// The built-in forms and further ones, such as those of cities. A name or key that is already taken is refused.
    pub fn with_bodies(added: &[BodyForm]) -> Result<Self, FormError> {
        let mut grammar = Self::built_in().clone();
        for body in added {
            grammar.forms.add_body(body)?;
        }
        grammar.openings = Openings::new(&grammar.forms.names);
        Ok(grammar)
    }

    /// Every code body of the grammar, built-in ones first.
    pub fn bodies(&self) -> impl Iterator<Item = (BodyRef, Body<'_>)> {
        self.forms.rows().map(|(body, form)| (body, form.body()))
    }

    /// The United States Code.
    pub(super) fn us_code(&self) -> BodyRef {
        self.us_code
    }

    /// The body of a citation; `None` for a reference that another grammar gave out.
    pub fn body(&self, body: BodyRef) -> Option<Body<'_>> {
        self.forms.row(body).map(|form| form.body())
    }

    /// Whether the sections of a body are counted anew in each title, which a citation then names: `42 U.S.C. § 1983`.
    pub fn has_titles(&self, body: BodyRef) -> bool {
        self.forms.row(body).is_some_and(|form| form.title.is_some())
    }

    /// Whether the numbers of a body's sections begin with those of the containers around them.
    pub fn has_joined_numbers(&self, body: BodyRef) -> bool {
        self.forms.row(body).is_some_and(|form| form.has_joined_numbers())
    }

    /// The body with a key such as `us/usc`.
    pub fn body_with_key(&self, key: &str) -> Option<BodyRef> {
        self.bodies().find(|(_, body)| body.key == key).map(|(reference, _)| reference)
    }

    /// Reads a text that is one citation and nothing else, whatever its spelling.
    pub fn parse(&self, text: &str) -> Result<Citation, ParseError> {
        let mut citations = self.parse_list(text)?;
        match (citations.pop(), citations.len()) {
            (Some(citation), 0) => Ok(citation),
            (_, others) => Err(ParseError::Several { count: others + 1 }),
        }
    }

    /// Reads a text that is one citation or one list of them, such as `42 U.S.C. §§ 1981, 1983`.
    pub fn parse_list(&self, text: &str) -> Result<Vec<Citation>, ParseError> {
        match self.parse_reading(text, None) {
            Err(error @ ParseError::NoNumber { .. }) => match self.readings(text) {
                readings if readings.len() > 1 => {
                    let all = readings.iter().map(|list| list.iter().map(|citation| self.format(citation)));
                    let readings = all.map(|list| list.collect::<Vec<_>>().join(", ")).collect();
                    Err(ParseError::Ambiguous { text: text.trim().to_owned(), readings })
                }
                _ => Err(error),
            },
            read => read,
        }
    }

    /// What a text may mean that names a code by a name which several codes have; one reading or none of other texts.
    pub fn readings(&self, text: &str) -> Vec<Vec<Citation>> {
        let mut readings = Vec::new();
        for reading in 0..READINGS_MAX {
            if let Ok(citations) = self.parse_reading(text, Some(reading))
                && !readings.contains(&citations)
            {
                readings.push(citations);
            }
        }
        readings
    }

    fn parse_reading(&self, text: &str, reading: Option<usize>) -> Result<Vec<Citation>, ParseError> {
        if text.len() > CITATION_LEN_MAX {
            return Err(ParseError::TooLong { bytes: text.len() });
        }
        let folded = Text::new(text);
        let start = folded.skip_spaces(0);
        if folded.sign(start) == END {
            return Err(ParseError::Empty);
        }
        let matcher = Matcher { reading, ..self.matcher(folded) };
        let Some(Found { items, end }) = matcher.at(start).filter(|found| !found.items.is_empty()) else {
            return Err(self.explain_failure(text, folded, start));
        };
        let rest = skip_closing(folded, end);
        if rest < text.len() {
            let citation = folded.slice(start, end).to_owned();
            return Err(ParseError::Trailing { citation, rest: folded.slice(rest, text.len()).to_owned() });
        }
        Ok(items.into_iter().map(|(_, citation)| citation).collect())
    }

    /// Every citation in a running text, in order, with the bytes it stands in. A list gives several.
    pub fn find_in<'g, 't>(&'g self, text: &'t str) -> Citations<'g, 't> {
        Citations::new(self.matcher(Text::new(text)), &self.openings)
    }

    /// The same in the text of a provision, where `section 5 of this title`, `Regulation .03 of this chapter` and, in many codes, a
    /// bare `§ 13.1-345` cite the provision's own code.
    pub fn find_in_provision<'g, 't>(&'g self, text: &'t str, home: Home<'t>) -> Citations<'g, 't> {
        Citations::new(Matcher { home: Some(home), ..self.matcher(Text::new(text)) }, &self.openings)
    }

    pub(super) fn matcher<'g, 't>(&'g self, text: Text<'t>) -> Matcher<'g, 't> {
        Matcher { forms: &self.forms, text, us_code: self.us_code, home: None, reading: None }
    }

    fn explain_failure(&self, text: &str, folded: Text<'_>, start: usize) -> ParseError {
        let name_start = folded.skip_spaces(folded.digits_end(start));
        let named = self.forms.names.longest(folded, name_start).and_then(|(name, _)| self.body(name.body));
        match named {
            Some(body) => ParseError::NoNumber { text: text.to_owned(), body: body.name.to_owned() },
            None => ParseError::NoForm { text: text.to_owned() },
        }
    }
}

/// Past what may close a citation: publisher and year, full stop, quotes.
pub(super) fn skip_closing(text: Text<'_>, mut pos: usize) -> usize {
    for _ in 0..4 {
        pos = text.skip_comma(pos);
        if let Some(after) = matching::skip_parenthetical(text, pos) {
            pos = after;
        } else if matches!(text.sign(pos), b'.' | b';') {
            pos += 1;
        }
    }
    pos
}
