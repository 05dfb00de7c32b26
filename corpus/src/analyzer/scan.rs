//! Splits a text into groups of tokens. A group is a single word, or a compound and its parts.
//!
//! A piece is a run of letters and digits. Whether the character between two pieces joins them depends on both
//! pieces. Plain ASCII words take a fast path that must give the same result. All buffers are bounded: a piece is
//! truncated to [`TERM_BYTES_MAX`], and a group has at most [`PARTS_MAX`] pieces.

use super::fold::{CharClass, fold, kind_at};
use super::stem::CachedStemmer;
use super::token::{AnalyzedToken, BytesInText, PARTS_MAX, TERM_BYTES_MAX, TokenRole};

/// A run of letters and digits, folded.
#[derive(Clone, Copy, Debug)]
struct AlnumRun {
    /// Its position in the folded text.
    folded: BytesInText,
    /// Its position in the source text.
    bytes: BytesInText,
    char_count: usize,
    has_digit: bool,
    all_digits: bool,
    all_ascii: bool,
    /// A single capital letter, as in an abbreviation.
    lone_capital: bool,
    /// Single letters with periods between them, already joined.
    abbreviation: bool,
    /// The joiner before this piece in the whole term of its group.
    joiner: &'static str,
}

#[derive(Clone, Copy, Debug)]
struct PendingToken {
    term: BytesInText,
    bytes: BytesInText,
    position: u32,
    position_count: u32,
    role: TokenRole,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Scanner {
    stemmer: CachedStemmer,
    at: usize,
    position: u32,
    folded: String,
    pieces: Vec<AlnumRun>,
    /// The terms of the group, one after another.
    terms: String,
    group: Vec<PendingToken>,
}

impl Scanner {
    /// Resets the scanner for a new text.
    pub(super) fn start(&mut self) {
        self.at = 0;
        self.position = 0;
        self.group.clear();
    }

    pub(super) fn group_len(&self) -> usize {
        self.group.len()
    }

    pub(super) fn token(&self, index: usize) -> AnalyzedToken<'_> {
        let PendingToken { term, bytes, position, position_count, role } = self.group[index];
        AnalyzedToken { text: &self.terms[term.range()], bytes, position, position_count, role }
    }

    /// Reads the next group. Returns false at the end of the text. Until the next [`Self::start`], every call must
    /// pass the same text.
    pub(super) fn next_group(&mut self, text: &str) -> bool {
        self.group.clear();
        self.terms.clear();
        loop {
            self.skip_ascii_between_words(text);
            let Some((kind, c, len)) = kind_at(text, self.at) else { return false };
            match kind {
                CharClass::Alnum if c.is_ascii() => {
                    if !self.take_plain_word(text) {
                        self.take_group(text);
                    }
                    return true;
                }
                CharClass::Alnum => {
                    self.take_group(text);
                    // A character may fold to nothing; then there is no word here.
                    if !self.group.is_empty() {
                        return true;
                    }
                }
                CharClass::Fraction => {
                    self.take_fraction(c, len);
                    return true;
                }
                _ => self.at += len,
            }
        }
    }

    fn skip_ascii_between_words(&mut self, text: &str) {
        let rest = &text.as_bytes()[self.at..];
        let between = rest.iter().position(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii());
        self.at += between.unwrap_or(rest.len());
    }

    /// The fast path: takes an ASCII word that is certainly not joined to the text after it. Returns false if the
    /// slow path must decide.
    fn take_plain_word(&mut self, text: &str) -> bool {
        let bytes = text.as_bytes();
        let start = self.at;
        let mut end = start;
        let mut has_digit = false;
        while let Some(&byte) = bytes.get(end) {
            if byte.is_ascii_digit() {
                has_digit = true;
            } else if !byte.is_ascii_alphabetic() {
                break;
            }
            end += 1;
        }
        let follower = bytes.get(end).copied().unwrap_or(b' ');
        let after = bytes.get(end + 1).copied().unwrap_or(b' ');
        let ends_here = match follower {
            b'.' => after.is_ascii() && !after.is_ascii_alphanumeric() && end - start > 1,
            b',' => after.is_ascii() && !after.is_ascii_digit(),
            b'-' | b':' | b'\'' => false,
            _ => follower.is_ascii(),
        };
        if !ends_here {
            return false;
        }
        let kept = end.min(start + TERM_BYTES_MAX);
        self.terms.push_str(&text[start..kept]);
        self.terms.make_ascii_lowercase();
        if !has_digit && kept == end {
            self.stemmer.stem_tail(&mut self.terms, 0);
        }
        let term = BytesInText { start: 0, end: self.terms.len() };
        self.push_word(term, BytesInText { start, end });
        self.at = end;
        true
    }

    fn push_word(&mut self, term: BytesInText, bytes: BytesInText) {
        let position = self.position;
        self.group.push(PendingToken { term, bytes, position, position_count: 1, role: TokenRole::Word });
        self.position += 1;
    }

    /// Reads ½ like `1/2`, as two consecutive numbers.
    fn take_fraction(&mut self, c: char, len: usize) {
        let bytes = BytesInText { start: self.at, end: self.at + len };
        let mut digits = String::new();
        // The fraction slash, which folding would drop, separates the numbers.
        unicode_normalization::char::decompose_compatible(c, |part| {
            digits.push(if part.is_ascii_digit() { part } else { ' ' });
        });
        for number in digits.split_ascii_whitespace() {
            let start = self.terms.len();
            self.terms.push_str(number);
            self.push_word(BytesInText { start, end: self.terms.len() }, bytes);
        }
        self.at += len;
    }

    /// The slow path: reads pieces while joiners connect them, then emits the group.
    fn take_group(&mut self, text: &str) {
        self.folded.clear();
        self.pieces.clear();
        let (first, mut at) = self.read_piece(text, self.at);
        self.pieces.push(first);
        if first.lone_capital
            && let Some(end) = self.read_spaced_capitals(text, at)
        {
            at = end;
        } else {
            at = self.read_joined_pieces(text, at);
        }
        self.at = at;
        self.emit_group();
    }

    fn read_joined_pieces(&mut self, text: &str, mut at: usize) -> usize {
        while self.pieces.len() < PARTS_MAX {
            let Some((kind, right_at)) = joiner_at(text, at) else { break };
            let folded_len = self.folded.len();
            let (right, next_at) = self.read_piece(text, right_at);
            let last = self.pieces.last_mut().expect("a group starts with a piece");
            match bond(last, kind, &right) {
                Bond::Abbreviation if right.folded.end - last.folded.start <= TERM_BYTES_MAX => {
                    last.folded.end = right.folded.end;
                    last.bytes.end = right.bytes.end;
                    last.char_count += right.char_count;
                    last.all_ascii &= right.all_ascii;
                    last.abbreviation = true;
                }
                Bond::Compound(joiner) => self.pieces.push(AlnumRun { joiner, ..right }),
                Bond::Apart | Bond::Abbreviation => {
                    self.folded.truncate(folded_len);
                    break;
                }
            }
            at = next_at;
        }
        at
    }

    /// Reads capitals with periods and single spaces between them, as in `U. S. C.`. Returns their end if there are
    /// at least two.
    fn read_spaced_capitals(&mut self, text: &str, mut at: usize) -> Option<usize> {
        let mut end = None;
        while let Some((capital_at, next_at)) = spaced_capital_after(text, at) {
            if self.folded.len() >= TERM_BYTES_MAX {
                break;
            }
            self.folded.push(text.as_bytes()[capital_at].to_ascii_lowercase() as char);
            let first = &mut self.pieces[0];
            first.folded.end += 1;
            first.bytes.end = next_at;
            first.abbreviation = true;
            at = next_at;
            end = Some(next_at);
        }
        end
    }

    /// Folds the piece that begins with the letter or digit at `start`. Also returns the offset at which to continue.
    fn read_piece(&mut self, text: &str, start: usize) -> (AlnumRun, usize) {
        let folded_start = self.folded.len();
        let mut piece = AlnumRun {
            folded: BytesInText { start: folded_start, end: folded_start },
            bytes: BytesInText { start, end: start },
            char_count: 0,
            has_digit: false,
            all_digits: true,
            all_ascii: true,
            lone_capital: false,
            abbreviation: false,
            joiner: "",
        };
        let mut at = start;
        while let Some((kind, c, len)) = kind_at(text, at) {
            match kind {
                CharClass::Alnum => {
                    let folded = &mut self.folded;
                    fold(c, |part| {
                        piece.char_count += 1;
                        piece.has_digit |= part.is_numeric();
                        piece.all_digits &= part.is_ascii_digit();
                        piece.all_ascii &= part.is_ascii();
                        if folded.len() + part.len_utf8() <= folded_start + TERM_BYTES_MAX {
                            folded.push(part);
                        }
                    });
                }
                CharClass::Mark => {}
                CharClass::Ignorable => {
                    at += len;
                    continue;
                }
                CharClass::Apostrophe => match after_apostrophe(text, at + len, piece.all_digits) {
                    AfterApostrophe::SameWord => {
                        at += len;
                        continue;
                    }
                    AfterApostrophe::PossessiveUntil(end) => {
                        at = end;
                        break;
                    }
                    AfterApostrophe::NewWord => break,
                },
                _ => break,
            }
            at += len;
            piece.bytes.end = at;
        }
        piece.folded.end = self.folded.len();
        piece.lone_capital = piece.bytes.end == start + 1 && text.as_bytes()[start].is_ascii_uppercase();
        (piece, at)
    }

    fn emit_group(&mut self) {
        self.pieces.retain(|piece| piece.folded.start < piece.folded.end);
        let part_count = self.pieces.len() as u32;
        let whole = self.push_whole_term();
        if let Some(term) = whole {
            let bytes =
                BytesInText { start: self.pieces[0].bytes.start, end: self.pieces[part_count as usize - 1].bytes.end };
            let (position, role) = (self.position, TokenRole::Whole);
            self.group.push(PendingToken { term, bytes, position, position_count: part_count, role });
        }
        let role = if whole.is_some() { TokenRole::Part } else { TokenRole::Word };
        for index in 0..self.pieces.len() {
            let piece = self.pieces[index];
            let start = self.terms.len();
            self.terms.push_str(&self.folded[piece.folded.range()]);
            let is_uncut_word = !piece.has_digit && piece.all_ascii && piece.char_count <= TERM_BYTES_MAX;
            if is_uncut_word {
                self.stemmer.stem_tail(&mut self.terms, start);
            }
            self.push_word(BytesInText { start, end: self.terms.len() }, piece.bytes);
            if let Some(token) = self.group.last_mut() {
                token.role = role;
            }
        }
    }

    /// Writes the whole term of a compound: numbers with their joiners, two words as one word. Compounds of more
    /// words (`cost-of-living`) are never written as one word, so they have no whole term.
    fn push_whole_term(&mut self) -> Option<BytesInText> {
        let is_number = self.pieces.iter().any(|piece| piece.has_digit);
        let has_whole = if is_number { self.pieces.len() >= 2 } else { self.pieces.len() == 2 };
        let whole_len: usize =
            self.pieces.iter().map(|piece| piece.folded.end - piece.folded.start + piece.joiner.len()).sum();
        if !has_whole || whole_len > TERM_BYTES_MAX {
            return None;
        }
        let start = self.terms.len();
        for piece in &self.pieces {
            if is_number {
                self.terms.push_str(piece.joiner);
            }
            self.terms.push_str(&self.folded[piece.folded.range()]);
        }
        let is_ascii_word = !is_number && self.pieces.iter().all(|piece| piece.all_ascii);
        if is_ascii_word {
            self.stemmer.stem_tail(&mut self.terms, start);
        }
        Some(BytesInText { start, end: self.terms.len() })
    }
}

/// Whether two pieces belong together, and how the whole term is written.
enum Bond {
    Apart,
    /// Single letters with periods between them: one word.
    Abbreviation,
    /// Parts of a compound, with this joiner between them.
    Compound(&'static str),
}

fn bond(left: &AlnumRun, joiner: CharClass, right: &AlnumRun) -> Bond {
    let is_single_letter = |piece: &AlnumRun| piece.char_count == 1 && !piece.has_digit;
    // `240.10b` and `F.2d` are compounds; in `Act.2` and `5.Definitions` a space is missing.
    let fits_a_number = |piece: &AlnumRun| piece.has_digit || (piece.char_count <= 2 && !piece.abbreviation);
    let is_number = (left.has_digit || right.has_digit) && fits_a_number(left) && fits_a_number(right);
    match joiner {
        CharClass::Dash => Bond::Compound("-"),
        CharClass::LongDash if left.has_digit && right.has_digit => Bond::Compound("-"),
        CharClass::Dot if (left.abbreviation || is_single_letter(left)) && is_single_letter(right) => {
            Bond::Abbreviation
        }
        CharClass::Dot if is_number => Bond::Compound("."),
        CharClass::Colon if is_number => Bond::Compound(":"),
        CharClass::Comma if is_thousands(left, right) => Bond::Compound(""),
        _ => Bond::Apart,
    }
}

/// `1,250,000`: up to three digits, then groups of three.
fn is_thousands(left: &AlnumRun, right: &AlnumRun) -> bool {
    left.all_digits && left.char_count <= 3 && right.all_digits && right.char_count == 3
}

/// The joiner at `at`, if a letter or digit follows it, and the offset of that letter or digit.
fn joiner_at(text: &str, at: usize) -> Option<(CharClass, usize)> {
    let (joiner, _, joiner_len) = kind_at(text, at)?;
    if !matches!(joiner, CharClass::Dash | CharClass::LongDash | CharClass::Dot | CharClass::Colon | CharClass::Comma) {
        return None;
    }
    let right_at = skip_ignorable(text, at + joiner_len);
    let (right, ..) = kind_at(text, right_at)?;
    (right == CharClass::Alnum).then_some((joiner, right_at))
}

fn skip_ignorable(text: &str, mut at: usize) -> usize {
    while let Some((CharClass::Ignorable, _, len)) = kind_at(text, at) {
        at += len;
    }
    at
}

/// Matches `. C.` after a lone capital. Returns the start and end of the second capital.
fn spaced_capital_after(text: &str, at: usize) -> Option<(usize, usize)> {
    let (CharClass::Dot, _, dot_len) = kind_at(text, at)? else { return None };
    let (CharClass::Space, _, space_len) = kind_at(text, at + dot_len)? else { return None };
    let capital_at = at + dot_len + space_len;
    if !text.as_bytes().get(capital_at)?.is_ascii_uppercase() {
        return None;
    }
    let (CharClass::Dot, _, dot_len) = kind_at(text, capital_at + 1)? else { return None };
    let goes_on = matches!(kind_at(text, capital_at + 1 + dot_len), Some((CharClass::Alnum, ..)));
    (!goes_on).then_some((capital_at, capital_at + 1))
}

enum AfterApostrophe {
    /// `o'clock`: the apostrophe is ignored.
    SameWord,
    /// `employer's`: the word ends before the apostrophe, and reading continues at this offset.
    PossessiveUntil(usize),
    NewWord,
}

fn after_apostrophe(text: &str, at: usize, after_digits: bool) -> AfterApostrophe {
    let at = skip_ignorable(text, at);
    let Some((CharClass::Alnum, c, len)) = kind_at(text, at) else { return AfterApostrophe::NewWord };
    let ends_after_s =
        !matches!(kind_at(text, skip_ignorable(text, at + len)), Some((CharClass::Alnum | CharClass::Mark, ..)));
    if matches!(c, 's' | 'S') && ends_after_s {
        return AfterApostrophe::PossessiveUntil(at + len);
    }
    if after_digits || c.is_numeric() { AfterApostrophe::NewWord } else { AfterApostrophe::SameWord }
}
