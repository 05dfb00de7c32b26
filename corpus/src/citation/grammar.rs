//! The grammar: the citation forms in use, and the parser for a text that is one citation or a list.

use std::fmt;
use std::sync::LazyLock;

use super::enclosing_provision::EnclosingProvision;
use super::find::{Citations, FirstLetters};
use super::forms::{BodyForm, FormError, Forms};
use super::matching::{self, CitationMatch, Matcher};
use super::shared::READINGS_MAX;
use super::text::{CitationText, END};
use super::value::{BodyRef, Citation, GrammarBody};

/// The key of the code that `title 42` means if no code is named.
const US_CODE_KEY: &str = "us/usc";

/// Maximum length, in bytes, of a text that is parsed as one citation.
const CITATION_LEN_MAX: usize = 400;

/// All known citation forms: those of federal and state law, and those that a plan adds.
#[derive(Clone)]
pub struct Grammar {
    pub(super) forms: Forms,
    us_code: BodyRef,
    openings: FirstLetters,
}

/// Why a text is not one citation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    #[error("cannot read a citation from an empty text; write one such as '42 U.S.C. § 1983'")]
    Empty,
    #[error(
        "cannot read a text of {bytes} bytes as a citation; a citation has at most {most} bytes",
        most = CITATION_LEN_MAX
    )]
    TooLong { bytes: usize },
    /// It names no known code.
    #[error(
        "cannot read '{text}' as a citation: it names no known code; write the code and the section, such as \
         '42 U.S.C. § 1983' or 'Va. Code § 13.1-345'"
    )]
    NoForm { text: String },
    /// It names a code, but not a section number or an existing title of that code.
    #[error(
        "cannot read '{text}' as a citation: it names '{body}', but no section, title or chapter of it; check the \
         number"
    )]
    NoNumber { text: String, body: String },
    /// It names an edition of a code from before the code was numbered as it is today.
    #[error(
        "'{text}' cites the edition of {edition}; {body} has its present numbers since {since}, so the section may \
         have another number today; cite that number"
    )]
    FormerEdition { text: String, body: String, edition: u16, since: u16 },
    /// Several codes have the name, and the number fits each of them.
    #[error("'{text}' may mean {}; write the full name of the code", .readings.join(" or "))]
    Ambiguous { text: String, readings: Vec<String> },
    /// A citation is followed by other text.
    #[error("read the citation '{citation}', but not the text after it: '{rest}'; remove that text")]
    Trailing { citation: String, rest: String },
    /// A list of citations.
    #[error("read {count} citations where one was expected; give them one at a time")]
    Several { count: usize },
    /// A list has more elements than are resolved.
    #[error("only the first {read} citations of the list were read; send the others in another request")]
    ListTooLong { read: usize },
}

static BUILT_IN: LazyLock<Grammar> = LazyLock::new(|| {
    let forms = Forms::built_in();
    let us_code = forms.rows().find(|(_, form)| form.body().key == US_CODE_KEY).map(|(body, _)| body);
    let us_code = us_code.expect("the form table has a row for the United States Code");
    let openings = FirstLetters::new(&forms.names);
    Grammar { forms, us_code, openings }
});

impl fmt::Debug for Grammar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Grammar").field("bodies", &self.bodies().count()).finish_non_exhaustive()
    }
}

impl Grammar {
    /// The grammar with the forms of federal and state law.
    pub fn built_in() -> &'static Self {
        &BUILT_IN
    }

    /// The built-in grammar with more forms, such as those of cities. Fails if a name or key is already taken.
    pub fn with_bodies(added: &[BodyForm]) -> Result<Self, FormError> {
        let mut grammar = Self::built_in().clone();
        for body in added {
            grammar.forms.add_body(body)?;
        }
        grammar.openings = FirstLetters::new(&grammar.forms.names);
        Ok(grammar)
    }

    /// Every code body of the grammar, built-in ones first.
    pub fn bodies(&self) -> impl Iterator<Item = (BodyRef, GrammarBody<'_>)> {
        self.forms.rows().map(|(body, form)| (body, form.body()))
    }

    /// The United States Code.
    pub(super) fn us_code(&self) -> BodyRef {
        self.us_code
    }

    /// Whether a title of the United States Code is law itself, so that its sections are no sections of acts.
    pub fn is_enacted_title(&self, title: &str) -> bool {
        self.forms.row(self.us_code).is_some_and(|form| form.is_cited_bare(Some(title)))
    }

    /// The body of a citation. `None` if the reference comes from another grammar and this one has no such body.
    pub fn body(&self, body: BodyRef) -> Option<GrammarBody<'_>> {
        self.forms.row(body).map(|form| form.body())
    }

    /// Whether section numbers restart in each title of a body, so that citations name the title: `42 U.S.C. § 1983`.
    pub fn has_titles(&self, body: BodyRef) -> bool {
        self.forms.row(body).is_some_and(|form| form.title.is_some())
    }

    /// Whether the section numbers of a body begin with the numbers of their containers.
    pub fn has_joined_numbers(&self, body: BodyRef) -> bool {
        self.forms.row(body).is_some_and(|form| form.has_prefixed_numbers())
    }

    /// The body with a key such as `us/usc`.
    pub fn body_with_key(&self, key: &str) -> Option<BodyRef> {
        self.bodies().find(|(_, body)| body.key == key).map(|(reference, _)| reference)
    }

    /// Parses a text that is exactly one citation, in any spelling.
    pub fn parse(&self, text: &str) -> Result<Citation, ParseError> {
        let mut citations = self.parse_list(text)?;
        match (citations.pop(), citations.len()) {
            (Some(citation), 0) => Ok(citation),
            (_, others) => Err(ParseError::Several { count: others + 1 }),
        }
    }

    /// Parses a text that is one citation or one list of citations, such as `42 U.S.C. §§ 1981, 1983`.
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

    /// The possible meanings of a text. There can be several if several codes share the name in it; otherwise there
    /// is one or none.
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
        let folded = CitationText::new(text);
        let start = folded.skip_spaces(0);
        if folded.folded_at(start) == END {
            return Err(ParseError::Empty);
        }
        let matcher = Matcher { reading, ..self.matcher(folded) };
        let Some(CitationMatch { items, end }) = matcher.at(start).filter(|found| !found.items.is_empty()) else {
            return Err(self.explain_failure(text, folded, start));
        };
        let rest = skip_closing(folded, end);
        if rest < text.len() {
            let citation = folded.slice(start, end).to_owned();
            return Err(ParseError::Trailing { citation, rest: folded.slice(rest, text.len()).to_owned() });
        }
        Ok(items.into_iter().map(|(_, citation)| citation).collect())
    }

    /// Finds every citation in running text, in order, with its byte range. A list gives several citations.
    pub fn find_in<'g, 't>(&'g self, text: &'t str) -> Citations<'g, 't> {
        Citations::new(self.matcher(CitationText::new(text)), &self.openings)
    }

    /// Like [`Self::find_in`], for the text of a provision. There, `section 5 of this title`,
    /// `Regulation .03 of this chapter` and, in many codes, a bare `§ 13.1-345` cite the provision's own code.
    pub fn find_in_provision<'g, 't>(&'g self, text: &'t str, home: EnclosingProvision<'t>) -> Citations<'g, 't> {
        Citations::new(Matcher { home: Some(home), ..self.matcher(CitationText::new(text)) }, &self.openings)
    }

    pub(super) fn matcher<'g, 't>(&'g self, text: CitationText<'t>) -> Matcher<'g, 't> {
        Matcher { forms: &self.forms, text, us_code: self.us_code, home: None, reading: None }
    }

    fn explain_failure(&self, text: &str, folded: CitationText<'_>, start: usize) -> ParseError {
        let name_start = folded.skip_spaces(folded.digits_end(start));
        if let Some((body, edition)) = self.matcher(folded).former_edition(name_start)
            && let Some(form) = self.forms.row(body)
            && let Some(since) = form.numbered_since
        {
            return ParseError::FormerEdition {
                text: text.to_owned(),
                body: form.body().name.to_owned(),
                edition,
                since,
            };
        }
        let named = self.forms.names.longest(folded, name_start).and_then(|(name, _)| self.body(name.body));
        match named {
            Some(body) => ParseError::NoNumber { text: text.to_owned(), body: body.name.to_owned() },
            None => ParseError::NoForm { text: text.to_owned() },
        }
    }
}

/// Skips what may follow a citation: publisher and year in parentheses, commas, full stops and semicolons.
pub(super) fn skip_closing(text: CitationText<'_>, mut pos: usize) -> usize {
    for _ in 0..4 {
        pos = text.skip_comma(pos);
        if let Some(after) = matching::skip_parenthetical(text, pos) {
            pos = after;
        } else if matches!(text.folded_at(pos), b'.' | b';') {
            pos += 1;
        }
    }
    pos
}
