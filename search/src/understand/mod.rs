//! Understands a query: its citations, phrases, exclusions, and the words that affect the ranking.
//!
//! Quotes and dashes without a meaning are treated as spaces. A citation that the snapshot does not
//! contain stays in the query as words. If a query has only stop words, they are searched for. A query
//! is used completely or refused: [`check_query`].

mod cited;
mod split_compounds;
mod stop_words;
mod synonyms;
mod words;

use std::collections::HashSet;
use std::ops::Range;

use hornbook_corpus::analyzer::TokenRole;
use hornbook_corpus::ids::NodeOrdinal;
use hornbook_corpus::nodes::NodesError;
use hornbook_corpus::ranges::OrdinalRanges;
use hornbook_corpus::snapshot::Snapshot;

use super::error::QueryError;
use super::limits::{EXCLUSIONS_MAX, PHRASES_MAX, QUERY_CHARS_MAX};
use super::places::{NamedPlace, Places};

pub(super) use cited::number_of;
use cited::{citations_in, cited_by, numbers_in};
pub(super) use split_compounds::SplitCompound;
use split_compounds::{TypedToken, split_compounds};
pub(super) use stop_words::{is_stop_word, is_stop_word_as_typed};
use synonyms::add_synonyms;
pub(super) use synonyms::has_synonym_entry;
pub use synonyms::{SynonymFault, SynonymFaults, SynonymTable};
pub(super) use words::{AlternativeTerm, QueryWord, is_quote, term_of, terms_in_sequence, with_analyzer};

/// A longer sequence of words is not looked up as typed.
const ROW_WORDS_MAX: usize = 48;

/// The kind of a query, which decides the weights of keyword and semantic search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueryKind {
    /// A sentence in the user's own words: meaning counts more than wording.
    Question,
    /// A few words that name a subject.
    Topic,
    /// Words taken from the law itself: wording counts more than meaning.
    Phrase,
}

impl QueryKind {
    /// The kind if no provision contains the words as typed.
    pub(super) const fn if_not_verbatim(self) -> Self {
        match self {
            Self::Phrase => Self::Topic,
            kind => kind,
        }
    }

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Question => "question",
            Self::Topic => "topic",
            Self::Phrase => "phrase",
        }
    }
}

/// Terms in sequence.
pub(super) type PhraseTerms = Vec<String>;

/// A query that has been understood.
#[derive(Clone, Debug)]
pub(super) struct ParsedQuery {
    pub kind: QueryKind,
    /// The cited provisions, in the order of their citations, each once.
    pub cited: Vec<NodeOrdinal>,
    /// Whether the query consists only of citations. Then `words` has the words of the citations.
    pub is_citation_alone: bool,
    /// The words that affect the ranking, each once.
    pub words: Vec<QueryWord>,
    /// Every hit must contain them.
    pub phrases: Vec<PhraseTerms>,
    /// No hit may contain them.
    pub excluded: Vec<PhraseTerms>,
    /// Pairs of neighbouring words that the law may write as one word.
    pub apart: Vec<SplitCompound>,
    /// The words in sequence as typed, if they may be text of the law. Provisions that contain this
    /// sequence rank higher.
    pub word_sequence: Option<PhraseTerms>,
    /// Section numbers without the name of a code, as terms.
    pub numbers: Vec<String>,
    /// The place that the query names, if it matters to the search.
    pub place: Option<SearchedPlace>,
    /// The byte ranges of plain words, without citations, phrases, exclusions, and a place that
    /// restricts the search.
    pub plain: Vec<Range<usize>>,
    /// The text to embed.
    pub meaning: String,
    /// The text without stop words, otherwise as typed.
    pub content: String,
}

/// A place that a query names.
#[derive(Clone, Debug)]
pub(super) struct SearchedPlace {
    pub named: NamedPlace,
    pub effect: PlaceMeaning,
}

/// The effect of a place in the query on the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PlaceMeaning {
    /// Only the law of the place is searched.
    Narrows,
    /// The law of the place ranks higher.
    IsPreferred,
    /// The filter of the request already restricts the search to the place, so its words add nothing.
    AlreadyFiltered,
    /// The place is meant, but its law is not loaded.
    IsNotLoaded,
}

impl PlaceMeaning {
    /// Whether the words of the place are searched for.
    const fn keeps_words(self) -> bool {
        matches!(self, Self::IsPreferred | Self::IsNotLoaded)
    }
}

/// The settings for reading a query.
#[derive(Clone, Copy)]
pub(super) struct ParseOptions<'r> {
    /// The weight of a synonym relative to the word itself; with 0, no synonyms are added.
    pub synonym_share: f32,
    /// The operator's own synonyms.
    pub own_synonyms: &'r SynonymTable,
    /// The places that the query may name. `None` if the names of places are ordinary words.
    pub places: Option<&'r Places>,
    /// The ranges of the request's filter, if it has any.
    pub ranges: Option<&'r OrdinalRanges>,
}

/// Checks that a query is valid. This takes microseconds and needs no snapshot.
pub fn check_query(query: &str) -> Result<(), QueryError> {
    check_length(query)?;
    if query.trim().is_empty() {
        return Err(QueryError::Empty);
    }
    let pieces = pieces_of(query, &[]);
    let count = |kind| pieces.iter().filter(|piece| piece.kind == kind).count();
    let (phrases, exclusions) = (count(PieceKind::Phrase), count(PieceKind::Exclusion));
    if phrases > PHRASES_MAX {
        return Err(QueryError::TooManyPhrases { count: phrases });
    }
    if exclusions > EXCLUSIONS_MAX {
        return Err(QueryError::TooManyExclusions { count: exclusions });
    }
    if exclusions > 0 && exclusions == pieces.len() {
        return Err(QueryError::OnlyExclusions);
    }
    Ok(())
}

/// Refuses a text that is longer than the maximum length of a query.
pub(super) fn check_length(text: &str) -> Result<(), QueryError> {
    // A character has at least one byte.
    let chars = if text.len() > QUERY_CHARS_MAX { text.chars().count() } else { 0 };
    if chars > QUERY_CHARS_MAX { Err(QueryError::TooLong { chars }) } else { Ok(()) }
}

pub(super) fn understand(
    snapshot: &Snapshot,
    query: &str,
    reading: ParseOptions<'_>,
) -> Result<ParsedQuery, NodesError> {
    let mut citations = citations_in(snapshot, query)?;
    let mut taken_out: Vec<Range<usize>> = citations.iter().map(|citation| citation.bytes.clone()).collect();
    let mut pieces = pieces_of(query, &taken_out);
    let place = reading.places.and_then(|places| searched_place(places, query, &pieces, &taken_out, reading.ranges));
    if let Some(SearchedPlace { named, effect }) = &place
        && !effect.keeps_words()
    {
        taken_out.extend(named.bytes.iter().cloned());
        pieces = pieces_of(query, &taken_out);
    }
    // A citation inside an exclusion does not count as cited.
    citations.retain(|citation| {
        let holds =
            |piece: &QueryPiece| piece.range.start <= citation.bytes.start && citation.bytes.end <= piece.range.end;
        !pieces.iter().any(|piece| piece.kind == PieceKind::Exclusion && holds(piece))
    });
    let mut plain = String::with_capacity(query.len());
    let mut phrases = Vec::new();
    let mut excluded = Vec::new();
    for piece in &pieces {
        let text = &query[piece.range.clone()];
        match piece.kind {
            PieceKind::Plain => push_spaced(&mut plain, text),
            PieceKind::Phrase => {
                push_spaced(&mut plain, text);
                push_phrase(&mut phrases, text);
            }
            PieceKind::Exclusion => push_phrase(&mut excluded, text),
        }
    }
    let is_citation_alone = plain.trim().is_empty() && excluded.is_empty();
    // The words of the citation mark the places where other provisions cite it.
    if plain.trim().is_empty() {
        citations.iter().for_each(|citation| push_spaced(&mut plain, &query[citation.bytes.clone()]));
    }
    let mut read = read_words(&plain);
    let of_law = add_synonyms(&mut read.words, &read.in_a_row, reading.synonym_share, reading.own_synonyms);
    let kind = kind_of(&plain, &read, !phrases.is_empty());
    let may_be_law = phrases.is_empty() && kind != QueryKind::Question && read.in_a_row.len() >= 3;
    let in_a_row = (may_be_law && read.in_a_row.len() <= ROW_WORDS_MAX).then_some(read.in_a_row);
    let numbers = numbers_in(&read.words);
    let apart = split_compounds(&read.typed);
    let mut content = read.content;
    // Words such as `how can I` blur the meaning of a question, unless it has only one other word. In a heading or a
    // quotation they matter.
    let mut meaning = if kind == QueryKind::Question && read.words.len() > 1 { content.clone() } else { plain };
    for said in of_law {
        push_spaced(&mut meaning, said);
        push_spaced(&mut content, said);
    }
    Ok(ParsedQuery {
        kind,
        cited: cited_by(citations),
        is_citation_alone,
        numbers,
        words: read.words,
        phrases,
        excluded,
        apart,
        word_sequence: in_a_row,
        place,
        plain: plain_of(&pieces),
        meaning,
        content,
    })
}

/// The place that a query names, and its effect on a search within some ranges.
fn searched_place(
    places: &Places,
    query: &str,
    pieces: &[QueryPiece],
    citations: &[Range<usize>],
    ranges: Option<&OrdinalRanges>,
) -> Option<SearchedPlace> {
    let plain: Vec<Range<usize>> = plain_of(pieces);
    let named = places.named_in(query, &plain)?;
    let nodes = places.get(named.place).nodes;
    // A citation determines the place of its law, and its law must be found wherever it is.
    let may_be_taken_out = named.is_certain && citations.is_empty() && has_more_content(query, &named.bytes);
    let effect = match ranges {
        _ if nodes.is_empty() && (!named.is_certain || ranges.is_some()) => return None,
        _ if nodes.is_empty() => PlaceMeaning::IsNotLoaded,
        None if may_be_taken_out => PlaceMeaning::Narrows,
        None => PlaceMeaning::IsPreferred,
        Some(ranges) if may_be_taken_out && ranges.intersect(&nodes.into()) == *ranges => PlaceMeaning::AlreadyFiltered,
        Some(_) => return None,
    };
    Some(SearchedPlace { named, effect })
}

/// Whether a query contains more to search for than the given parts.
fn has_more_content(query: &str, parts: &[Range<usize>]) -> bool {
    let says_more = |piece: &QueryPiece| match piece.kind {
        PieceKind::Plain => terms_in_sequence(&query[piece.range.clone()]).iter().any(|term| !is_stop_word(term)),
        PieceKind::Phrase => true,
        PieceKind::Exclusion => false,
    };
    pieces_of(query, parts).iter().any(says_more)
}

fn plain_of(pieces: &[QueryPiece]) -> Vec<Range<usize>> {
    let plain = pieces.iter().filter(|piece| piece.kind == PieceKind::Plain);
    plain.map(|piece| piece.range.clone()).collect()
}

fn push_spaced(to: &mut String, text: &str) {
    if !to.is_empty() {
        to.push(' ');
    }
    to.push_str(text.trim());
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PieceKind {
    Plain,
    Phrase,
    Exclusion,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct QueryPiece {
    kind: PieceKind,
    range: Range<usize>,
}

/// Splits a query into plain words, phrases and exclusions. The given citations are left out.
fn pieces_of(query: &str, citations: &[Range<usize>]) -> Vec<QueryPiece> {
    let mut pieces = Vec::new();
    let mut at = 0;
    let mut plain_from = 0;
    let mut after_space = true;
    while let Some(c) = query[at..].chars().next() {
        if let Some(citation) = citations.iter().find(|citation| citation.start <= at && at < citation.end) {
            push_piece(&mut pieces, query, PieceKind::Plain, plain_from..at);
            at = citation.end;
            plain_from = at;
            after_space = true;
            continue;
        }
        let next = at + c.len_utf8();
        let negated = c == '-' && after_space;
        let opening = if negated { next } else { at };
        let (kind, phrase_kind) = match negated {
            true => (Some(PieceKind::Exclusion), PieceKind::Exclusion),
            false => (None, PieceKind::Phrase),
        };
        if let Some((inner, end)) = quoted(query, opening) {
            push_piece(&mut pieces, query, PieceKind::Plain, plain_from..at);
            push_piece(&mut pieces, query, phrase_kind, inner);
            (at, plain_from, after_space) = (end, end, true);
            continue;
        }
        let word = query[next..].find(char::is_whitespace).map_or(query.len(), |len| next + len);
        if let Some(kind) = kind
            && query[next..word].starts_with(char::is_alphanumeric)
        {
            push_piece(&mut pieces, query, PieceKind::Plain, plain_from..at);
            push_piece(&mut pieces, query, kind, next..word);
            (at, plain_from, after_space) = (word, word, true);
            continue;
        }
        after_space = c.is_whitespace();
        at = next;
    }
    push_piece(&mut pieces, query, PieceKind::Plain, plain_from..query.len());
    pieces
}

fn push_piece(pieces: &mut Vec<QueryPiece>, query: &str, kind: PieceKind, range: Range<usize>) {
    if query[range.clone()].contains(char::is_alphanumeric) {
        pieces.push(QueryPiece { kind, range });
    }
}

/// The range between the quote at `at` and the next quote, and the position after that; `None` if the
/// quote is not closed.
fn quoted(query: &str, at: usize) -> Option<(Range<usize>, usize)> {
    let quote = query[at..].chars().next().filter(|&c| is_quote(c))?;
    let start = at + quote.len_utf8();
    let (len, closing) = query[start..].char_indices().find(|&(_, c)| is_quote(c))?;
    Some((start..start + len, start + len + closing.len_utf8()))
}

fn push_phrase(to: &mut Vec<PhraseTerms>, text: &str) {
    let terms = terms_in_sequence(text);
    if !terms.is_empty() && !to.contains(&terms) {
        to.push(terms);
    }
}

struct ReadWords {
    words: Vec<QueryWord>,
    content: String,
    in_a_row: PhraseTerms,
    /// The words that are not part of a compound.
    typed: Vec<TypedToken>,
    stop_words: usize,
}

/// Reads the words that affect the ranking, each once. Stop words are left out unless there is nothing else.
fn read_words(text: &str) -> ReadWords {
    let mut all: Vec<(QueryWord, bool)> = Vec::new();
    let mut in_a_row = Vec::new();
    let mut typed: Vec<TypedToken> = Vec::new();
    let mut content = String::with_capacity(text.len());
    with_analyzer(|analyzer| {
        analyzer.analyze(text, |token| {
            let term = token.text.to_owned();
            let spelling = &text[token.bytes.range()];
            let previous = typed.last().map(|(spelling, _)| spelling.as_str());
            let is_stop = is_stop_word_as_typed(&term, &spelling.to_lowercase(), previous);
            if token.role != TokenRole::Whole && !is_stop {
                push_spaced(&mut content, spelling);
            }
            match token.role {
                TokenRole::Whole => all.push((QueryWord::compound(term), false)),
                TokenRole::Part => {
                    in_a_row.push(term.clone());
                    // Parts come after their compound.
                    if let Some((compound, _)) = all.last_mut() {
                        compound.parts.push(term);
                    }
                }
                TokenRole::Word => {
                    in_a_row.push(term.clone());
                    typed.push((spelling.to_lowercase(), term.clone()));
                    all.push((QueryWord::of(term), is_stop));
                }
            }
        });
    });
    let stop_words = all.iter().filter(|(_, is_stop)| *is_stop).count();
    if stop_words < all.len() {
        all.retain(|(_, is_stop)| !is_stop);
    } else {
        content = text.to_owned();
    }
    let mut seen = HashSet::new();
    let mut words: Vec<QueryWord> = all.into_iter().map(|(word, _)| word).collect();
    words.retain(|word| seen.insert((word.whole.clone(), word.parts.clone())));
    ReadWords { words, content, in_a_row, typed, stop_words }
}

fn kind_of(text: &str, read: &ReadWords, has_phrases: bool) -> QueryKind {
    if has_phrases {
        return QueryKind::Phrase;
    }
    let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|word| !word.is_empty());
    let first = words.next().unwrap_or_default();
    let asks = QUESTION_OPENINGS.iter().any(|opening| first.eq_ignore_ascii_case(opening))
        || text.trim_end().ends_with('?')
        || words.chain([first]).any(|word| FIRST_PERSON_WORDS.iter().any(|speaker| word.eq_ignore_ascii_case(speaker)));
    let reads_like_law = read.in_a_row.len() >= 6 && read.stop_words * 4 >= read.in_a_row.len();
    match (asks, reads_like_law) {
        (true, _) => QueryKind::Question,
        (false, true) => QueryKind::Phrase,
        (false, false) => QueryKind::Topic,
    }
}

/// Whether a query is a question in the user's own words. This takes microseconds and needs no snapshot.
pub(super) fn is_question(query: &str) -> bool {
    let has_phrases = pieces_of(query, &[]).iter().any(|piece| piece.kind == PieceKind::Phrase);
    kind_of(query, &read_words(query), has_phrases) == QueryKind::Question
}

const QUESTION_OPENINGS: [&str; 29] = [
    "how", "what", "whats", "what's", "when", "where", "which", "who", "whom", "whose", "why", "can", "could", "do",
    "does", "did", "is", "are", "am", "was", "were", "will", "would", "should", "must", "may", "has", "have", "if",
];

/// Words that people use when they describe their own case.
const FIRST_PERSON_WORDS: [&str; 9] = ["i", "my", "me", "we", "our", "you", "your", "i'm", "someone"];

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(query: &str) -> Vec<(PieceKind, &str)> {
        pieces_of(query, &[]).into_iter().map(|piece| (piece.kind, query[piece.range].trim())).collect()
    }

    #[test]
    fn queries_are_split_into_words_phrases_and_exclusions() {
        use PieceKind::{Exclusion, Phrase, Plain};
        assert_eq!(pieces("security deposit"), [(Plain, "security deposit")]);
        assert_eq!(
            pieces("pay “security deposit” -hotel -\"motel room\" now"),
            [
                (Plain, "pay"),
                (Phrase, "security deposit"),
                (Exclusion, "hotel"),
                (Exclusion, "motel room"),
                (Plain, "now")
            ]
        );
        assert_eq!(pieces("non-profit - hospital -"), [(Plain, "non-profit - hospital -")]);
        assert_eq!(pieces("-hotel"), [(Exclusion, "hotel")]);
        assert_eq!(pieces("an \"open quote"), [(Plain, "an \"open quote")]);
        assert_eq!(pieces("\"\" \"-\" '"), []);
    }

    #[test]
    fn query_kinds_follow_from_the_wording() {
        let kind = |text: &str| kind_of(text, &read_words(text), false);
        assert_eq!(kind("how much can my landlord keep"), QueryKind::Question);
        assert_eq!(kind("fence height?"), QueryKind::Question);
        assert_eq!(kind("earned income tax credit eligibility"), QueryKind::Topic);
        assert_eq!(kind("the board shall adopt rules for the conduct of its business"), QueryKind::Phrase);
    }

    #[test]
    fn stop_words_rank_only_where_nothing_else_does() {
        let words =
            |text: &str| -> Vec<String> { read_words(text).words.into_iter().flat_map(|word| word.parts).collect() };
        assert_eq!(words("what is the fence"), terms_in_sequence("fence"));
        assert_eq!(words("to be or not to be"), terms_in_sequence("to be or not"));
    }

    #[test]
    fn queries_are_refused_beyond_each_limit_and_not_at_it() {
        let longest = "é".repeat(QUERY_CHARS_MAX);
        let exclusions = |count: usize| format!("tax{}", " -\"of the\"".repeat(count));
        let phrases = |count: usize| "\"of the\" ".repeat(count);
        for (query, expected) in [
            ("tax".to_owned(), Ok(())),
            (" \t".to_owned(), Err(QueryError::Empty)),
            (longest.clone(), Ok(())),
            (format!("{longest}é"), Err(QueryError::TooLong { chars: QUERY_CHARS_MAX + 1 })),
            (exclusions(EXCLUSIONS_MAX), Ok(())),
            (exclusions(EXCLUSIONS_MAX + 1), Err(QueryError::TooManyExclusions { count: EXCLUSIONS_MAX + 1 })),
            (phrases(PHRASES_MAX), Ok(())),
            (phrases(PHRASES_MAX + 1), Err(QueryError::TooManyPhrases { count: PHRASES_MAX + 1 })),
            ("-hens".to_owned(), Err(QueryError::OnlyExclusions)),
            ("-hens, -\"guinea fowl\"".to_owned(), Err(QueryError::OnlyExclusions)),
            ("-hens fowl".to_owned(), Ok(())),
            ("- - -".to_owned(), Ok(())),
        ] {
            assert_eq!(check_query(&query), expected, "{query}");
        }
    }
}
