//! Reads the sources of one paragraph in order and follows short forms: `Id.`, `id. § 108`, `§ 108(b)` alone,
//! `subsection (b)`, `section 107 of the Act`.
//!
//! A short form is **certain** if only one provision can be meant. What may mean several is reported as unclear.

use std::ops::Range;
use std::sync::LazyLock;

use hornbook_corpus::citation::{Citation, Grammar, Locator, ParseError, Unit};
use regex::{Captures, Regex};

use crate::brief::{FINDINGS_MAX, UNREADABLE};
use crate::brief_context::{
    BriefContext, FullCitation, LatestSource, Series, separators, series_of, series_of_container,
};
use crate::sources::{BlockItem, CitedText, ShortForm, any_overlaps, beginning_of, end_of, range_at};

/// The number of words before a section sign that may be the name of a code.
const NAME_WORDS_MAX: usize = 8;

/// Words with a capital letter that may come before a section of the code that is spoken of.
const STARTERS: [&str; 34] = [
    "See", "Under", "And", "But", "Or", "In", "Of", "By", "Cf", "Accord", "Also", "Both", "With", "To", "Neither",
    "Nor", "While", "Although", "Because", "Since", "Thus", "Where", "When", "If", "That", "Then", "As", "For", "From",
    "Per", "Unlike", "Like", "Yet", "The",
];

/// Maximum number of bytes between a citation and the definition of a name for it.
const DEFINITION_BYTES_MAX: usize = 160;

/// Maximum number of bytes before a section sign that are read as the name of a code.
const NAME_BYTES_MAX: usize = 160;

/// Maximum number of sources before a subdivision that are compared with each other.
const NEAR_MAX: usize = 64;

const NUMBER: &str = r"[0-9][0-9A-Za-z]*(?:(?:[-–:]|-?\.)[0-9A-Za-z]+)*";

/// A number that can be read without a section sign, such as `24-3-104`.
const JOINED_NUMBER: &str = r"[A-Z]{0,2}[0-9][0-9A-Za-z]*(?:(?:[-–:]|-?\.)[0-9A-Za-z]+)+";
const SUBDIVISIONS: &str = r"(?:\s?\((?:[0-9]{1,3}|[a-z]{1,2}|[A-Z]{1,2}|[ivxl]{1,6}|[IVXL]{1,6})\))+";

static ID: LazyLock<Regex> = LazyLock::new(|| {
    expression(&format!(
        r"\b(?:[Ii]d|[Ii]bid)\.(?:,?\s(?:at\s)?(?:(?:§§?|[Ss]ections?|[Ss]ec\.)\s?(?P<number>{NUMBER})(?P<inside>{SUBDIVISIONS})?|(?P<joined>{JOINED_NUMBER})(?P<inside_joined>{SUBDIVISIONS})?|(?P<alone>{SUBDIVISIONS})|(?P<page>at\s[0-9]+|¶\s?[0-9]+|[0-9]+\b)))?"
    ))
});

static BARE: LazyLock<Regex> = LazyLock::new(|| {
    expression(&format!(
        r"(?:§{{1,2}}|\b(?:[Ss]ections?|[Ss]ecs?\.|[Rr]ules?|r\.))\s?(?P<number>{NUMBER})(?P<inside>{SUBDIVISIONS})?"
    ))
});

/// A further number of a list such as `§§ 106 and 107(1)`.
static FURTHER: LazyLock<Regex> = LazyLock::new(|| {
    expression(&format!(r"^(?:,\s?(?:and\s|or\s)?|\s(?:and|or|&)\s)(?P<number>{NUMBER})(?P<inside>{SUBDIVISIONS})?"))
});

/// A number alone, with its subdivision: `24-3-104(b)`.
static ALONE: LazyLock<Regex> =
    LazyLock::new(|| expression(&format!(r"\b(?P<number>{JOINED_NUMBER})(?P<inside>{SUBDIVISIONS})")));

static INSIDE: LazyLock<Regex> = LazyLock::new(|| {
    expression(&format!(
        r"\b(?P<level>(?i:subsection|paragraph|subparagraph|subdivision|clause|subclause))s?\s(?P<inside>{SUBDIVISIONS})"
    ))
});

/// The definition of a name, after what it names.
static DEFINITION: LazyLock<Regex> = LazyLock::new(|| {
    expression(
        r#"\((?:(?:hereinafter|hereafter|collectively)[,:]?\s)?(?:the\s)?[“"](?:[Tt]he\s)?(?P<name>[A-Z][^”"()]{1,60})[”"]\)"#,
    )
});

/// What follows a section number if it is one of another paper: `of the Agreement`.
static OF_WHAT: LazyLock<Regex> = LazyLock::new(|| {
    expression(r"^\s(?:of|to|in)\s(?:the|this|that|said|our|its)\s(?P<what>(?:[A-Z][\w’'-]*\s?|[a-z]+){1,6})")
});

fn expression(text: &str) -> Regex {
    Regex::new(text).expect("the expression is valid")
}

/// A source before its meaning is known.
enum SourceCandidate<'t> {
    Full(FullCitation),
    Other,
    Id(Captures<'t>),
    Bare(Captures<'t>),
    Alone(Captures<'t>),
    Inside(Captures<'t>),
}

/// All sources of a paragraph, in order.
pub(crate) fn short_forms(
    text: &str,
    full: Vec<(Range<usize>, FullCitation)>,
    others: Vec<Range<usize>>,
    (sentences, quoted): (&[Range<usize>], &[Range<usize>]),
    grammar: &Grammar,
    context: &mut BriefContext,
) -> Vec<BlockItem> {
    let mut candidates: Vec<(Range<usize>, SourceCandidate<'_>)> = Vec::new();
    candidates.extend(full.into_iter().map(|(range, citation)| (range, SourceCandidate::Full(citation))));
    candidates.extend(others.into_iter().map(|range| (range, SourceCandidate::Other)));
    candidates.sort_by_key(|(range, _)| range.start);
    let taken: Vec<Range<usize>> = candidates.iter().map(|(range, _)| range.clone()).collect();
    let is_free = |range: &Range<usize>| {
        // Within a quotation they are the words of its source, not of the document.
        !any_overlaps(quoted, range) && !any_overlaps(&taken, range)
    };
    let mut short: Vec<(Range<usize>, SourceCandidate<'_>)> = Vec::new();
    let mut add = |range: Range<usize>, candidate| {
        if is_free(&range) {
            short.push((range, candidate));
        }
    };
    ID.captures_iter(text).for_each(|found| add(found.get_match().range(), SourceCandidate::Id(found)));
    BARE.captures_iter(text).for_each(|found| add(found.get_match().range(), SourceCandidate::Bare(found)));
    ALONE.captures_iter(text).for_each(|found| add(found.get_match().range(), SourceCandidate::Alone(found)));
    INSIDE.captures_iter(text).for_each(|found| add(found.get_match().range(), SourceCandidate::Inside(found)));
    short.sort_by_key(|(range, _)| range.start);
    // `id. § 108` is also a bare section, which begins later.
    let mut end = 0;
    short.retain(|(range, _)| {
        let is_first = range.start >= end;
        end = if is_first { range.end } else { end };
        is_first
    });
    candidates.extend(short);
    candidates.sort_by_key(|(range, _)| range.start);
    let mut reader = BlockReader {
        text,
        sentences,
        grammar,
        context,
        sentence: usize::MAX,
        items: Vec::new(),
        in_sentence: Vec::new(),
        taken: &taken,
        in_block: Vec::new(),
    };
    for (range, candidate) in candidates {
        if reader.items.len() > FINDINGS_MAX {
            break;
        }
        reader.read(range, candidate);
    }
    reader.add_malformed();
    let BlockReader { items, in_block, context, .. } = reader;
    // What follows a block quotation still speaks of what comes before it.
    let is_quoted = quoted.first().is_some_and(|first| *first == (0..text.len()));
    if !is_quoted {
        context.in_block_before = in_block;
    }
    items
}

struct BlockReader<'t, 'c> {
    text: &'t str,
    sentences: &'t [Range<usize>],
    grammar: &'t Grammar,
    context: &'c mut BriefContext,
    /// The sentence of the latest source.
    sentence: usize,
    items: Vec<BlockItem>,
    /// The sources of that sentence.
    in_sentence: Vec<LatestSource>,
    /// Where the full citations and other sources are.
    taken: &'t [Range<usize>],
    /// The statutes of this paragraph.
    in_block: Vec<Citation>,
}

impl BlockReader<'_, '_> {
    fn read(&mut self, mut range: Range<usize>, candidate: SourceCandidate<'_>) {
        // A number of a list that was read with its first one.
        if self.items.last().is_some_and(|item| range.start < item.range.end) {
            return;
        }
        let sentence = range_at(self.sentences, range.start).unwrap_or(usize::MAX);
        let begins_sentence = self.items.is_empty() || sentence != self.sentence;
        if begins_sentence {
            self.in_sentence.clear();
        }
        if !matches!(candidate, SourceCandidate::Other) && self.touches_unreadable(&range) {
            self.sentence = sentence;
            self.push(range, Some(ShortForm::unreadable()), begins_sentence);
            return;
        }
        let form = match candidate {
            SourceCandidate::Full(FullCitation::Provision(citation)) => Some(self.full(range.end, citation)),
            SourceCandidate::Full(FullCitation::Container(container)) => {
                let series = series_of_container(&container, self.grammar);
                self.context.add_series(series.clone(), None);
                self.define(range.end, series);
                Some(ShortForm::container(container))
            }
            SourceCandidate::Other => None,
            SourceCandidate::Id(found) => match self.id(&found) {
                IdMeaning::Statute(form) => Some(form),
                IdMeaning::OtherSource => None,
            },
            SourceCandidate::Bare(found) => match self.bare(&mut range, &found) {
                BareMeaning::Statute(form) => Some(form),
                BareMeaning::OtherSource => None,
                BareMeaning::Nothing => return,
            },
            SourceCandidate::Alone(found) => match self.alone(&found) {
                Some(form) => Some(form),
                None => return,
            },
            SourceCandidate::Inside(found) => match self.inside(&found) {
                Some(form) => Some(form),
                None => return,
            },
        };
        self.sentence = sentence;
        self.push(range.clone(), form, begins_sentence);
        self.further_numbers(range.end);
    }

    fn full(&mut self, end: usize, citation: Citation) -> ShortForm {
        // A letter alone is no number: `title 4, U.S.C., § a long time ago`.
        if citation.number().is_some_and(|number| !number.contains(|sign: char| sign.is_ascii_digit())) {
            let name = self.grammar.body(citation.body).map_or("a code", |body| body.name);
            return ShortForm::malformed(format!("it names '{name}', but no number of a section; check the number"));
        }
        self.context.add_citation(&citation);
        if !self.grammar.has_titles(citation.body)
            && let Some(body) = self.grammar.body(citation.body)
        {
            self.context.define(body.name, series_of(&citation));
        }
        self.define(end, series_of(&citation));
        ShortForm::full(citation)
    }

    /// Whether a sign of a source, or one next to it, cannot be read.
    fn touches_unreadable(&self, range: &Range<usize>) -> bool {
        self.text[range.clone()].contains(UNREADABLE)
            || self.text[range.end..].starts_with(UNREADABLE)
            || self.text[..range.start].ends_with(UNREADABLE)
    }

    fn push(&mut self, range: Range<usize>, form: Option<ShortForm>, begins_sentence: bool) {
        let source = match form.as_ref().map(|form| &form.cited) {
            Some(CitedText::Provision(citation)) => LatestSource::Provision(citation.clone()),
            Some(CitedText::Container(container)) => LatestSource::Container(container.clone()),
            // An unclear short form changes nothing of what was cited before it.
            Some(_) => {
                self.items.push(BlockItem { range, cited: form });
                return;
            }
            None => LatestSource::Other,
        };
        self.context.cite(source.clone(), begins_sentence);
        self.in_block.extend(source.provision().cloned());
        self.in_sentence.push(source);
        self.items.push(BlockItem { range, cited: form });
    }

    /// The other numbers of a list such as `§§ 106 and 107`.
    fn further_numbers(&mut self, mut end: usize) {
        let Some(BlockItem { cited: Some(form), .. }) = self.items.last() else { return };
        let CitedText::Provision(first) = form.cited.clone() else { return };
        let (is_short, is_certain) = (form.is_short, form.is_certain);
        let shape = first.number().map(separators).unwrap_or_default();
        while let Some(found) = FURTHER.captures(&self.text[end..]) {
            let whole = found.get_match();
            let Some(number) = found.name("number") else { break };
            let inside = found.name("inside").map_or("", |inside| inside.as_str());
            // After a full citation the number may count something else, unless it looks like the first.
            let is_alike = !shape.is_empty() && separators(number.as_str()) == shape;
            if !is_short && !is_alike || self.is_taken(end + number.start()) {
                break;
            }
            let Some(citation) = self.cite_number(&series_of(&first), number.as_str(), inside) else { break };
            let range = end + number.start()..end + whole.end();
            end = range.end;
            self.push(range, Some(ShortForm::short(citation, is_certain)), false);
        }
    }

    /// Whether another source begins there.
    fn is_taken(&self, start: usize) -> bool {
        range_at(self.taken, start).is_some()
    }

    /// A number alone is a citation if it looks like the numbers of a code that was cited: `24-3-104(b)`.
    fn alone(&self, found: &Captures<'_>) -> Option<ShortForm> {
        let number = found.name("number")?.as_str();
        let inside = found.name("inside").map_or("", |inside| inside.as_str());
        let shape = separators(number);
        let series = self.context.series.iter().rev().find(|(_, shapes)| shapes.contains(&shape))?;
        let citation = self.cite_number(&series.0, number, inside)?;
        Some(ShortForm::short(citation, true))
    }

    /// Reads the definition of a name after a citation: `17 U.S.C. § 101 et seq. (the “Act”)`.
    fn define(&mut self, end: usize, series: Series) {
        let sentence = range_at(self.sentences, end.saturating_sub(1)).map(|place| &self.sentences[place]);
        let rest = &self.text[end..sentence.map_or(end, |sentence| sentence.end.max(end))];
        let rest = beginning_of(rest, DEFINITION_BYTES_MAX);
        if let Some(found) = DEFINITION.captures(rest)
            && let Some(name) = found.name("name")
            && !rest[..found.get_match().start()].contains(['“', '"'])
        {
            self.context.define(name.as_str().trim_end_matches([',', '.']), series);
        }
    }

    fn id(&self, found: &Captures<'_>) -> IdMeaning {
        let number = found.name("number").or_else(|| found.name("joined"));
        if let Some(number) = number
            && let Some(series) = self
                .context
                .only_series(self.in_sentence.last(), self.grammar)
                .or_else(|| self.context.numbers.get(number.as_str()).cloned())
        {
            let inside =
                found.name("inside").or_else(|| found.name("inside_joined")).map_or("", |inside| inside.as_str());
            let cited = self.cite_number(&series, number.as_str(), inside);
            let form = cited.map(|citation| ShortForm::short(citation, true));
            let unread = || ShortForm::unclear("its number has not the form of the code before it");
            return IdMeaning::Statute(form.unwrap_or_else(unread));
        }
        let meant = match self.context.meant_by_id(self.in_sentence.last()) {
            Ok(LatestSource::Provision(citation)) => citation,
            Ok(LatestSource::Container(container)) => {
                let form = ShortForm { is_short: true, ..ShortForm::container(container) };
                let is_alone = found.name("alone").is_none() && found.name("page").is_none();
                let unclear = || ShortForm::unclear("the source before it is a title or chapter; cite the section");
                return IdMeaning::Statute(if is_alone { form } else { unclear() });
            }
            Ok(LatestSource::Other) => return IdMeaning::OtherSource,
            Err(why) => return IdMeaning::Statute(ShortForm::unclear(why)),
        };
        if found.name("page").is_some() {
            return IdMeaning::Statute(ShortForm::unclear("it names a page, but the source before it is a statute"));
        }
        let citation = match found.name("alone") {
            Some(alone) => Citation { subdivisions: labels(alone.as_str()), ..meant },
            None => meant,
        };
        IdMeaning::Statute(ShortForm::short(citation, true))
    }

    fn bare(&self, range: &mut Range<usize>, found: &Captures<'_>) -> BareMeaning {
        let Some(number) = found.name("number") else { return BareMeaning::Nothing };
        let inside = found.name("inside").map_or("", |inside| inside.as_str());
        let before = self.text[..range.start].trim_end();
        let is_sign = self.text[range.start..].starts_with('§');
        let mut defined = self.defined_before(before);
        if defined.is_none()
            && let Some((series, end)) = self.defined_after(range.end)
        {
            defined = Some(series);
            range.end = end;
        }
        let (series, is_certain) = match defined {
            Some(series) => (Some(series), true),
            None => {
                if let Some(malformed) = self.malformed(range.clone()) {
                    return BareMeaning::Statute(malformed);
                }
                if self.is_of_other_paper(before, range.end) {
                    return BareMeaning::OtherSource;
                }
                let is_near = !self.in_block.is_empty();
                let is_joined = number.as_str().contains(['-', '–', '.', ':']);
                let is_section = self.text[range.start..].starts_with(['S', 's']);
                let is_known = is_near || is_joined || !self.context.in_block_before.is_empty();
                if !is_sign && !(is_known && (is_section || is_joined)) {
                    return BareMeaning::Nothing;
                }
                let shape = separators(number.as_str());
                // The code spoken of last whose numbers look like this one.
                let latest = || {
                    self.context
                        .series
                        .iter()
                        .rev()
                        .find(|(_, shapes)| shapes.contains(&shape))
                        .map(|(series, _)| series.clone())
                };
                // A number that was cited in full before is of the same code.
                let known = self.context.numbers.get(number.as_str()).cloned();
                let alike = known.or_else(latest);
                let is_certain = is_near || self.context.series.len() == 1 || alike.is_some() && is_joined;
                let last = || self.context.series.last().map(|(series, _)| series.clone());
                (alike.or_else(|| self.in_block.last().map(series_of)).or_else(last), is_certain)
            }
        };
        let Some(series) = series else {
            return match is_sign {
                true => BareMeaning::Statute(ShortForm::unclear("no code is named before it")),
                false => BareMeaning::Nothing,
            };
        };
        let fitting = std::iter::once(&series).chain(self.context.series.iter().rev().map(|(series, _)| series));
        let mut fitting = fitting.filter_map(|series| self.cite_number(series, number.as_str(), inside));
        match fitting.next() {
            Some(citation) => BareMeaning::Statute(ShortForm::short(citation, is_certain)),
            None if is_sign => {
                BareMeaning::Statute(ShortForm::unclear("its number has not the form of a code named before it"))
            }
            None => BareMeaning::Nothing,
        }
    }

    /// `the Act § 107`
    fn defined_before(&self, before: &str) -> Option<Series> {
        let defined = self.context.defined.iter().rev();
        let mut named = defined.filter(|(name, _)| before.ends_with(name.as_str()));
        named.next().map(|(_, series)| series.clone())
    }

    /// `section 107 of the Act`
    fn defined_after(&self, end: usize) -> Option<(Series, usize)> {
        let rest = self.text[end..].trim_start();
        let rest = ["of the ", "of that ", "of said ", "of ", "under the "]
            .iter()
            .find_map(|words| rest.strip_prefix(words))?;
        let defined = self.context.defined.iter().rev();
        let mut named = defined.filter(|(name, _)| {
            rest.strip_prefix(name.as_str()).is_some_and(|after| !after.starts_with(char::is_alphanumeric))
        });
        let (name, series) = named.next()?;
        Some((series.clone(), self.text.len() - rest.len() + name.len()))
    }

    /// Whether a section is one of a contract or book: `Restatement § 402A`, `Section 4.2 of the Agreement`.
    fn is_of_other_paper(&self, before: &str, end: usize) -> bool {
        let word = end_of(before, NAME_BYTES_MAX).rsplit(char::is_whitespace).next().unwrap_or_default();
        let word = word.trim_matches(|sign: char| !sign.is_alphanumeric());
        let ends_sentence = before.ends_with(['.', ':', ';', '?', '!', '(', '“', '"', ',', '—']);
        let is_named = word.starts_with(char::is_uppercase) && !ends_sentence && !STARTERS.contains(&word);
        let word_start = before.len()
            - end_of(before, NAME_BYTES_MAX).rfind(word).map_or(0, |at| end_of(before, NAME_BYTES_MAX).len() - at);
        let sentence = range_at(self.sentences, word_start).map_or(0, |place| self.sentences[place].start);
        let begins = end_of(&self.text[sentence..word_start], NAME_BYTES_MAX).trim().is_empty();
        if is_named && !begins {
            return true;
        }
        OF_WHAT.captures(&self.text[end..]).is_some_and(|found| {
            let what = found.name("what").map_or("", |what| what.as_str()).to_ascii_lowercase();
            let first = what.split_whitespace().next().unwrap_or_default();
            !["title", "code", "chapter", "act", "statute", "section", "same", "united"].contains(&first)
        })
    }

    /// Whether a section sign follows the name of a code without a number that can be read.
    fn malformed(&self, range: Range<usize>) -> Option<ShortForm> {
        let before = self.items.last().map_or(0, |item| item.range.end);
        malformed_before(self.text, range, before, self.grammar).map(ShortForm::malformed)
    }

    /// `subsection (b)` of the statute cited before it.
    fn inside(&self, found: &Captures<'_>) -> Option<ShortForm> {
        let of_sentence = self.in_sentence.iter().rev().take(NEAR_MAX).find_map(LatestSource::provision);
        let near = if self.in_block.is_empty() { &self.context.in_block_before } else { &self.in_block };
        let meant = of_sentence.or_else(|| near.last())?;
        let is_same =
            |other: &Citation| (other.body, &other.title, &other.place) == (meant.body, &meant.title, &meant.place);
        let is_certain = of_sentence.is_some() || near.iter().rev().take(NEAR_MAX).all(is_same);
        let level = found.name("level").map_or("", |level| level.as_str()).to_ascii_lowercase();
        let depth =
            ["subsection", "paragraph", "subparagraph", "clause", "subclause"].iter().position(|name| *name == level);
        let mut subdivisions = meant.subdivisions.clone();
        subdivisions.truncate(depth.unwrap_or(subdivisions.len()));
        subdivisions.extend(labels(found.name("inside").map_or("", |inside| inside.as_str())));
        Some(ShortForm::short(Citation { subdivisions, ..meant.clone() }, is_certain))
    }

    /// The citation of a number in a code. None if the code has no such numbers.
    fn cite_number(&self, (body, title): &Series, number: &str, inside: &str) -> Option<Citation> {
        let number = number.replace('–', "-");
        let place = Locator::Numbered { unit: Unit::Section, number: number.into(), last: None, wording: None };
        let citation = Citation {
            body: *body,
            title: title.clone(),
            appendix: false,
            place,
            subdivisions: labels(inside),
            note: false,
        };
        self.grammar.parse(&self.grammar.format(&citation)).ok().filter(|read| *read == citation)
    }

    /// Adds the section signs that no citation explains, if the name of a code is before them.
    fn add_malformed(&mut self) {
        let mut added = Vec::new();
        let mut items = self.items.iter().map(|item| item.range.clone()).peekable();
        let mut before = 0;
        for (at, sign) in self.text.match_indices(['§', UNREADABLE]) {
            if self.items.len() + added.len() > FINDINGS_MAX {
                break;
            }
            while let Some(item) = items.next_if(|item| item.end <= at) {
                before = item.end;
            }
            let is_explained = items.peek().is_some_and(|item| item.start <= at);
            if is_explained || self.text[..at].ends_with('§') {
                continue;
            }
            if let Some(why) = malformed_before(self.text, at..at + sign.len(), before, self.grammar) {
                let start = name_start(self.text, at, before);
                let form = if sign == "§" { ShortForm::malformed(why) } else { ShortForm::unreadable() };
                added.push(BlockItem { range: start..at + sign.len(), cited: Some(form) });
            }
        }
        self.items.extend(added);
        self.items.sort_by_key(|item| item.range.start);
    }
}

enum IdMeaning {
    Statute(ShortForm),
    OtherSource,
}

enum BareMeaning {
    Statute(ShortForm),
    OtherSource,
    /// It is no source.
    Nothing,
}

/// Why the words before a section sign, with the sign, are the beginning of a citation that cannot be read. `after` is
/// where the source before it ends.
fn malformed_before(text: &str, sign: Range<usize>, after: usize, grammar: &Grammar) -> Option<String> {
    let before = text[..sign.start].trim_end();
    let near = before.len() - end_of(before, NAME_BYTES_MAX).len();
    if !before[near..].contains(|letter: char| letter.is_ascii_alphabetic()) {
        return None;
    }
    let mut starts = before[near..].char_indices().rev().filter(|(_, letter)| letter.is_whitespace() || *letter == '(');
    let rest = beginning_of(&text[sign.end..], 24);
    let end = sign.end + rest.find([';', ')', ',']).unwrap_or(rest.len());
    let mut found = None;
    for _ in 0..NAME_WORDS_MAX {
        let start = near + starts.next().map_or(0, |(at, letter)| at + letter.len_utf8());
        if start < after {
            break;
        }
        match grammar.parse(&text[start..end]) {
            Err(error @ (ParseError::NoNumber { .. } | ParseError::FormerEdition { .. })) => {
                found = Some(error.to_string());
            }
            _ if found.is_some() => break,
            _ => {}
        }
        if start == near {
            break;
        }
    }
    found
}

/// Where the name before a section sign begins: its words with capital letters, and the number before them. `after` is
/// where the source before it ends.
fn name_start(text: &str, sign: usize, after: usize) -> usize {
    let before = text[..sign].trim_end();
    let near = end_of(&before[after.min(before.len())..], NAME_BYTES_MAX);
    let mut start = before.len();
    let mut at = before.len();
    for word in near.rsplit(' ').take(NAME_WORDS_MAX) {
        at -= word.len();
        let is_named = |first: char| first.is_uppercase() || first.is_ascii_digit();
        if !word.trim_start_matches(['(', '“', '"']).starts_with(is_named) {
            break;
        }
        start = at;
        at = at.saturating_sub(1);
    }
    if start == before.len() { sign } else { start }
}

fn labels(text: &str) -> Vec<Box<str>> {
    let inner = text.split(['(', ')']).map(str::trim).filter(|label| !label.is_empty());
    inner.map(Into::into).collect()
}
