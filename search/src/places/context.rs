//! Decides from the surrounding words whether a name means its place.
//!
//! `in Virginia`, `Virginia law` and `security deposit Virginia` mean the state. `Virginia creeper` is
//! a plant. `a Virginia landlord` may or may not mean the state. If a name may mean something else,
//! ignoring it is better than misreading it: a search in the wrong place does not find the right law.

use std::ops::Range;

use super::names::NameForm;
use super::words::{Case, PlaceWord};

/// A name in a piece of a query.
pub(super) struct NameInContext<'t> {
    pub text: &'t str,
    /// The words of the piece.
    pub words: &'t [PlaceWord],
    /// The indexes of the words of the name.
    pub name: Range<usize>,
    /// Whether the query begins with this piece.
    pub is_first_piece: bool,
    /// Whether the query ends with this piece.
    pub is_last_piece: bool,
}

/// A name that means its place, and the words that belong to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PlaceReading {
    pub words: Range<usize>,
    pub is_certain: bool,
}

/// A name and the words around it that belong to it.
struct PlacePhrase {
    words: Range<usize>,
    has_preposition: bool,
    has_law: bool,
    /// The query is about something done in the place, or coming from or going there.
    is_doubtful: bool,
}

const PREPOSITIONS: &[&str] = &["in", "inside", "throughout", "under", "within"];

/// Words for law in general. They add nothing to the place, because its law is searched anyway.
const LAW_WORDS: &[&str] = &["code", "codes", "law", "laws", "statute", "statutes"];

/// Words for one kind of law. They stay in the query, because a regulation is not a statute.
const KINDS_OF_LAW: &[&str] = &["ordinance", "ordinances", "regulation", "regulations", "rules"];

/// After a word for law, these words change its meaning: law enforcement, statute of limitations.
const AFTER_LAW_WORDS: &[&str] = &[
    "clerk",
    "clerks",
    "enforcement",
    "firm",
    "firms",
    "inspector",
    "journal",
    "library",
    "license",
    "of",
    "office",
    "officer",
    "officers",
    "official",
    "officials",
    "review",
    "revision",
    "school",
    "schools",
    "section",
    "student",
];

/// Kinds of place that can occur before `of` and a name.
const KINDS_OF_PLACE: &[&str] = &["city", "commonwealth", "county", "state", "territory", "town", "village"];

/// After `state`, these words make an institution or another place: state police, state park.
const STATE_INSTITUTIONS: &[&str] =
    &["bar", "college", "fair", "ferries", "lottery", "park", "patrol", "police", "prison", "university"];

/// After any name, these words make another name: Idaho Falls.
const NAME_SUFFIXES: &[&str] = &[
    "airlines",
    "airport",
    "avenue",
    "basin",
    "bay",
    "beach",
    "boulevard",
    "bridge",
    "canyon",
    "city",
    "college",
    "county",
    "creek",
    "delta",
    "falls",
    "gulf",
    "harbor",
    "heights",
    "highway",
    "hills",
    "island",
    "islands",
    "lake",
    "lakes",
    "metropolitan",
    "monument",
    "mountain",
    "mountains",
    "parkway",
    "peninsula",
    "plateau",
    "river",
    "rivers",
    "road",
    "sound",
    "springs",
    "square",
    "street",
    "trail",
    "turnpike",
    "university",
    "valley",
];

/// Before any name, these words make another name: Fort Washington.
const NAME_PREFIXES: &[&str] = &[
    "battleship",
    "camp",
    "cape",
    "fort",
    "george",
    "gulf",
    "lake",
    "martha",
    "mount",
    "mt",
    "port",
    "saint",
    "ss",
    "st",
    "uss",
];

/// Before `of` and any name, these words make another name: University of Virginia.
const OF_NAME_PREFIXES: &[&str] = &["bank", "bay", "coast", "gulf", "isle", "port", "strait", "treaty", "university"];

/// For the names of some places: the words that follow in names of other things, such as `Virginia creeper`.
const OTHER_NAMES: &[(&str, &[&str])] = &[
    ("alaska", &["native", "natives", "pollock", "railroad"]),
    ("arizona", &["cypress", "sycamore"]),
    ("california", &["condor", "poppy", "raisin", "raisins", "roll", "zephyr"]),
    ("colorado", &["beetle", "potato", "spruce"]),
    ("connecticut", &["general"]),
    ("delaware", &["indian", "indians", "nation", "tribe"]),
    ("florida", &["keys", "orange", "oranges", "panther", "panthers"]),
    ("georgia", &["pacific", "peach", "peaches", "tech"]),
    ("idaho", &["potato", "potatoes"]),
    ("indiana", &["bat", "bats", "limestone"]),
    ("kansas", &["nebraska"]),
    ("kentucky", &["bluegrass", "bourbon", "coffeetree", "derby"]),
    ("louisiana", &["black", "purchase"]),
    ("maine", &["coon", "lobster"]),
    ("mississippi", &["flyway", "mud"]),
    ("missouri", &["compromise", "synod"]),
    ("nevada", &["test"]),
    ("new mexico", &["whiptail"]),
    ("new york", &["convention", "mercantile", "stock", "times"]),
    ("north carolina", &["mutual"]),
    ("ohio", &["buckeye"]),
    ("oregon", &["grape", "spotted"]),
    ("pennsylvania", &["dutch", "railroad"]),
    ("rhode island", &["red", "reds"]),
    ("tennessee", &["walking", "whiskey"]),
    ("texas", &["hold", "holdem", "instruments", "longhorn", "longhorns", "tech"]),
    ("utah", &["prairie"]),
    ("vermont", &["castings"]),
    (
        "virginia",
        &["bluebell", "bluebells", "creeper", "deer", "ham", "opossum", "pine", "rail", "reel", "tech", "woolf"],
    ),
    ("washington", &["birthday", "day", "irving", "navel", "palm", "post", "redskins", "treaty"]),
    ("wyoming", &["toad"]),
];

/// After a name, these words mean something that is in the place or was formed under its law, and that
/// other law may regulate too.
const OF_THE_PLACE: &[&str] = &["coast", "company", "companies", "corporation", "corporations", "coastline"];

/// Something done in one place often matters under the law of another: a company formed in Delaware, a
/// license issued in Maryland.
const DONE_ELSEWHERE: &[&str] = &[
    "born",
    "chartered",
    "convicted",
    "domiciled",
    "formed",
    "grown",
    "incorporated",
    "issued",
    "licensed",
    "made",
    "manufactured",
    "obtained",
    "organized",
    "performed",
    "produced",
    "registered",
];

/// The place that something comes from or goes to may or may not be the one whose law is meant.
const MOVEMENT_PREPOSITIONS: &[&str] = &["from", "into", "to"];

/// Before a name, these words exclude the place.
const EXCLUDING_WORDS: &[&str] =
    &["beyond", "except", "excluding", "leaving", "non", "not", "out", "outside", "than", "without"];

/// Before `federal law`, these words show that the query is about other law, which refers to federal law.
const REFERENCE_WORDS: &[&str] = &["by", "conform", "from", "of", "to", "violate", "violates", "violating", "with"];

/// Before `federal`, these words show that state law is meant, too.
const CONJUNCTIONS: &[&str] = &["and", "or"];

/// Words that typically follow `in` and the name of a city in small letters.
const AFTER_CITY_WORDS: &[&str] = &[
    "a", "an", "and", "are", "before", "by", "can", "do", "does", "for", "from", "how", "if", "is", "may", "must",
    "on", "or", "that", "to", "what", "when", "where", "who", "with", "without",
];

/// Judges a name: the words that belong to it, and whether it certainly means its place. `None` if it
/// does not mean the place.
pub(super) fn read_place_name(spot: &NameInContext<'_>, form: NameForm) -> Option<PlaceReading> {
    if spot.is_part_of_a_word() || spot.is_another_name() {
        return None;
    }
    match form {
        NameForm::Federal => federal(spot),
        NameForm::Country => country(spot),
        NameForm::Code => code(spot),
        NameForm::Full | NameForm::City => full_name(spot, form),
        NameForm::Postal | NameForm::AmbiguousPostal | NameForm::WordPostal | NameForm::District => {
            abbreviation(spot, form)
        }
    }
}

fn full_name(spot: &NameInContext<'_>, form: NameForm) -> Option<PlaceReading> {
    let phrase = spot.phrase()?;
    if spot.is_possessive() {
        return Some(PlaceReading { words: spot.name.clone(), is_certain: false });
    }
    let is_small_city = form == NameForm::City && spot.words[spot.name.start].case == Case::Small;
    let is_at_an_edge = spot.begins_with(&phrase) || spot.ends_with(&phrase);
    let is_certain = match is_small_city {
        true => phrase.has_preposition && spot.is_complete(&phrase),
        false => phrase.is_explicit() || is_at_an_edge || spot.follows_comma(),
    };
    if is_small_city && !is_certain && !phrase.has_preposition && !spot.ends_with(&phrase) {
        return None;
    }
    let is_certain = is_certain && !phrase.is_doubtful && !OF_THE_PLACE.contains(&spot.word_after(0));
    Some(PlaceReading { words: phrase.words, is_certain })
}

fn abbreviation(spot: &NameInContext<'_>, form: NameForm) -> Option<PlaceReading> {
    let word = &spot.words[spot.name.start];
    let is_small = word.case != Case::Capitals;
    let is_shouted = !spot.text.contains(char::is_lowercase) && spot.words.len() > 1;
    if form != NameForm::District && (is_small || is_shouted || word.is_dotted && form == NameForm::WordPostal) {
        return None;
    }
    let phrase = spot.phrase()?;
    let is_said = phrase.has_preposition || spot.follows_comma();
    let is_certain = match form {
        NameForm::WordPostal => is_said,
        NameForm::AmbiguousPostal => is_said || phrase.has_law || spot.ends_with(&phrase),
        NameForm::District if is_small => is_said || phrase.has_law || spot.ends_with(&phrase),
        _ => is_said || phrase.has_law || spot.begins_with(&phrase) || spot.ends_with(&phrase),
    };
    let may_be_preferred = form == NameForm::Postal || form == NameForm::District && !is_small;
    let is_certain =
        is_certain && !phrase.is_doubtful && !spot.is_possessive() && !OF_THE_PLACE.contains(&spot.word_after(0));
    (is_certain || may_be_preferred).then_some(PlaceReading { words: phrase.words, is_certain })
}

/// State law is also law in the United States. So a place is certain only if the law of the country
/// itself is named.
fn country(spot: &NameInContext<'_>) -> Option<PlaceReading> {
    let word = &spot.words[spot.name.start];
    if spot.name.len() == 1 && word.case != Case::Capitals && !word.is_dotted {
        return None;
    }
    let phrase = spot.phrase()?;
    let is_certain = phrase.has_law && !spot.is_possessive();
    (is_certain || phrase.has_preposition).then_some(PlaceReading { words: phrase.words, is_certain })
}

/// The law of every state mentions federal agencies, taxes and licenses. So only `federal law` and
/// similar words mean a place.
fn federal(spot: &NameInContext<'_>) -> Option<PlaceReading> {
    let phrase = spot.phrase()?;
    let before = spot.word_before(spot.name.start, 0);
    let speaks_of_regulations = matches!(spot.word_after(0), "crime" | "crimes" | "offense" | "offenses");
    if CONJUNCTIONS.contains(&before) || !(phrase.has_law || speaks_of_regulations) {
        return None;
    }
    let is_law = LAW_WORDS.contains(&spot.word_after(0));
    let is_certain = phrase.has_preposition || is_law && !REFERENCE_WORDS.contains(&before);
    Some(PlaceReading { words: phrase.words, is_certain: is_certain && phrase.has_law })
}

/// The name of a code next to a number is a citation, not a place, even if that law is not loaded.
fn code(spot: &NameInContext<'_>) -> Option<PlaceReading> {
    let behind = spot.text[spot.words[spot.name.end - 1].bytes.end..].trim_start();
    let is_number = |word: &str| word.starts_with(|first: char| first.is_ascii_digit());
    let names_a_part = matches!(
        spot.word_after(0),
        "article" | "chapter" | "part" | "sec" | "section" | "sections" | "subtitle" | "title" | "annotated"
    );
    let phrase = spot.phrase()?;
    if behind.starts_with('§')
        || is_number(behind)
        || names_a_part
        || is_number(spot.word_before(phrase.words.start, 0))
    {
        return None;
    }
    let is_at_an_edge = spot.begins_with(&phrase) || spot.ends_with(&phrase);
    let is_certain = phrase.is_explicit() || is_at_an_edge || spot.follows_comma();
    Some(PlaceReading { words: phrase.words, is_certain: is_certain && !spot.is_possessive() })
}

impl PlacePhrase {
    fn is_explicit(&self) -> bool {
        self.has_preposition || self.has_law
    }
}

impl NameInContext<'_> {
    /// The word at a distance after the name, counted from 0; empty unless only spaces lie between.
    fn word_after(&self, count: usize) -> &str {
        self.from(self.name.end, count)
    }

    fn from(&self, end: usize, count: usize) -> &str {
        let word = end + count;
        let are_next = word < self.words.len() && (end..=word).all(|word| word > 0 && self.is_next(word - 1, word));
        if are_next { &self.words[word].key } else { "" }
    }

    /// The word at a distance before the word `start`, counted from 0; empty unless only spaces lie between.
    fn word_before(&self, start: usize, count: usize) -> &str {
        let Some(word) = start.checked_sub(count + 1) else { return "" };
        let are_next = (word..start).all(|word| self.is_next(word, word + 1));
        if are_next { &self.words[word].key } else { "" }
    }

    fn is_next(&self, word: usize, next: usize) -> bool {
        let (Some(word), Some(next)) = (self.words.get(word), self.words.get(next)) else { return false };
        self.text[word.bytes.end..next.bytes.start].chars().all(char::is_whitespace)
    }

    fn bytes(&self) -> Range<usize> {
        self.words[self.name.start].bytes.start..self.words[self.name.end - 1].bytes.end
    }

    /// Whether the name is part of a longer word: `Virginia-based`, `non-Virginia`.
    fn is_part_of_a_word(&self) -> bool {
        let bytes = self.bytes();
        self.text[..bytes.start].ends_with(['-', '\'', '’', '/', '@'])
            || self.text[bytes.end..].starts_with(['-', '/', '@', '_'])
    }

    fn is_possessive(&self) -> bool {
        let behind = &self.text[self.bytes().end..];
        behind.strip_prefix(['\'', '’']).is_some_and(|ending| ending.starts_with(['s', 'S']))
    }

    fn follows_comma(&self) -> bool {
        self.text[..self.bytes().start].trim_end().ends_with(',')
    }

    /// Whether the name is part of another name, such as `Virginia creeper`.
    fn is_another_name(&self) -> bool {
        let behind = match self.is_possessive() {
            true => self.words.get(self.name.end + 1).map_or("", |word| &word.key),
            false => self.word_after(0),
        };
        let (before, before_of) = (self.word_before(self.name.start, 0), self.word_before(self.name.start, 1));
        let keys = || self.words[self.name.clone()].iter().map(|word| word.key.as_str());
        let begins = |name: &str| name.split(' ').eq(keys());
        NAME_SUFFIXES.contains(&behind)
            || NAME_PREFIXES.contains(&before)
            || before == "of" && OF_NAME_PREFIXES.contains(&before_of)
            || OTHER_NAMES.iter().any(|(name, others)| begins(name) && others.contains(&behind))
    }

    /// The name with the neighbouring words that add nothing: `in the state of Virginia`,
    /// `Virginia law`. `None` if the words exclude the place.
    fn phrase(&self) -> Option<PlacePhrase> {
        let mut phrase =
            PlacePhrase { words: self.name.clone(), has_preposition: false, has_law: false, is_doubtful: false };
        if !self.is_possessive() {
            self.extend_right(&mut phrase);
        }
        self.extend_left(&mut phrase);
        let before = self.word_before(phrase.words.start, 0);
        let is_out_of = before == "of" && EXCLUDING_WORDS.contains(&self.word_before(phrase.words.start, 1));
        (!EXCLUDING_WORDS.contains(&before) && !is_out_of).then_some(phrase)
    }

    fn extend_right(&self, phrase: &mut PlacePhrase) {
        if self.word_after(0) == "state" && !STATE_INSTITUTIONS.contains(&self.word_after(1)) {
            phrase.words.end += 1;
        }
        let (law, next) = (self.from(phrase.words.end, 0), self.from(phrase.words.end, 1));
        if AFTER_LAW_WORDS.contains(&next) {
            return;
        }
        phrase.has_law = LAW_WORDS.contains(&law) || KINDS_OF_LAW.contains(&law);
        if LAW_WORDS.contains(&law) {
            phrase.words.end += 1;
        }
    }

    fn extend_left(&self, phrase: &mut PlacePhrase) {
        self.take_article(phrase);
        // As in `laws of the state of`.
        for _ in 0..2 {
            let start = phrase.words.start;
            let of_what = self.word_before(start, 1);
            if self.word_before(start, 0) != "of"
                || !(KINDS_OF_PLACE.contains(&of_what) || LAW_WORDS.contains(&of_what))
            {
                break;
            }
            phrase.has_law |= LAW_WORDS.contains(&of_what);
            phrase.words.start -= 2;
            self.take_article(phrase);
        }
        let start = phrase.words.start;
        let (word, verb) = (self.word_before(start, 0), self.word_before(start, 1));
        phrase.is_doubtful =
            MOVEMENT_PREPOSITIONS.contains(&word) || PREPOSITIONS.contains(&word) && DONE_ELSEWHERE.contains(&verb);
        if phrase.is_doubtful {
            return;
        }
        if PREPOSITIONS.contains(&word) {
            phrase.has_preposition = true;
            phrase.words.start -= 1;
        } else if matches!(word, "of" | "for") && !EXCLUDING_WORDS.contains(&verb) {
            phrase.words.start -= 1;
        }
    }

    fn take_article(&self, phrase: &mut PlacePhrase) {
        if self.word_before(phrase.words.start, 0) == "the" {
            phrase.words.start -= 1;
        }
    }

    fn begins_with(&self, phrase: &PlacePhrase) -> bool {
        self.is_first_piece && phrase.words.start == 0
    }

    fn ends_with(&self, phrase: &PlacePhrase) -> bool {
        self.is_last_piece && phrase.words.end == self.words.len()
    }

    /// Whether the phrase ends here, because the next word begins something new.
    fn is_complete(&self, phrase: &PlacePhrase) -> bool {
        let next = self.from(phrase.words.end, 0);
        next.is_empty() || phrase.has_law || AFTER_CITY_WORDS.contains(&next)
    }
}
