//! The citation forms of code bodies: one row of `forms.tsv` per body, read once, and the bodies that a build plan
//! adds.

use super::names::{BodyName, NameTaken, NameTrie, WordClasses, fold_name};
use super::number::{DashRangeRule, NumberShape};
use super::shared::{LetterCase, READINGS_MAX, SharedName, SharedNameMeaning};
use super::value::{BodyRef, GrammarBody};
use crate::ids::ShortCode;

const TABLE: &str = include_str!("forms.tsv");

/// The jurisdiction that rows for each state leave out.
const FEDERAL: &str = "US";

/// A code body that a build plan adds to the built-in ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BodyForm {
    pub jurisdiction: ShortCode,
    /// The full name, such as `Spanish Fork Municipal Code`. Citations may use it too.
    pub name: String,
    /// The key that begins every citation key of the body, such as `ut-spanish-fork/code`.
    pub key: String,
    /// The canonical form: `Arden Rev. Stat. § {number}`, `Arden Code tit. {title}, § {number}`,
    /// `{title} A.R.C. § {number}`.
    pub template: String,
    /// Other names of this body, without section sign or number.
    pub aliases: Vec<String>,
}

/// Why a body cannot be added to the grammar.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FormError {
    #[error(
        "cannot add code body '{key}': its citation template '{template}' must be a name followed by {{number}}, with \
         {{title}} at most once before it, such as 'Arden Rev. Stat. § {{number}}'"
    )]
    Template { key: String, template: String },
    #[error(
        "cannot add code body '{key}': the name '{name}' must contain at least two letters and only ASCII characters"
    )]
    Name { key: String, name: String },
    #[error(
        "cannot add code body '{key}': the name '{name}' already means '{holder}'; give it another name or drop the \
         alias"
    )]
    NameTaken { key: String, name: String, holder: String },
    #[error("cannot add code body '{key}': another body has this key; give each body a different key")]
    KeyTaken { key: String },
    #[error("cannot add code body: a grammar can contain at most {}", u16::MAX)]
    TooMany,
}

/// Where a titled form writes its title.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TitlePlace {
    /// `42 U.S.C. § 1983`.
    Before,
    /// `Del. Code tit. 6, § 18-201`. The value is the text between name and title.
    After(Box<str>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TitleRule {
    pub(super) place: TitlePlace,
    pub(super) highest: u16,
}

impl TitleRule {
    /// Whether the number of this title is at most the highest one of the code.
    pub(super) fn has(&self, title: &str) -> bool {
        let digits = title.bytes().take_while(u8::is_ascii_digit).count();
        title.get(..digits).and_then(|number| number.parse::<u16>().ok()).is_some_and(|number| number <= self.highest)
    }
}

/// Which numbers cite the code in its own provisions when no code is named: `under section 414`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BareNumbers {
    /// Numbers with the inner punctuation of the code's numbers: `§ 13.1-345`.
    Recognisable,
    /// Numbers in positive-law titles, which are laws themselves; bit n is set for title n. In other titles a bare
    /// number may be a section of the act from which the provision comes.
    InTitles(u64),
    Always,
}

/// How the articles and sections of a constitution are numbered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ConstitutionStyle {
    pub(super) arabic_articles: bool,
    pub(super) roman_sections: bool,
    /// Whether sections are numbered through the whole constitution, so that a citation needs no article.
    pub(super) sections_alone: bool,
}

/// One row of the table.
#[derive(Clone, Debug)]
pub(super) struct CodeCitationForm {
    jurisdiction: Box<str>,
    key: Box<str>,
    name: Box<str>,
    /// The canonical name as citations print it: `U.S.C.`.
    pub(super) printed: Box<str>,
    pub(super) title: Option<TitleRule>,
    /// The mark before a number in the canonical form: `§ `, `art. ` or nothing.
    pub(super) mark: Box<str>,
    pub(super) shape: NumberShape,
    pub(super) has_appendix: bool,
    pub(super) bare: BareNumbers,
    /// Whether the outer subdivision is written `, subd. 2(a)`.
    pub(super) subd: bool,
    pub(super) constitution: Option<ConstitutionStyle>,
    /// The year since which the code has its numbers. An earlier edition has other sections under them.
    pub(super) numbered_since: Option<u16>,
}

impl CodeCitationForm {
    /// Whether a number of this form can be recognised by itself: it has inner punctuation and needs no title.
    pub(super) fn has_recognisable_numbers(&self) -> bool {
        let shape = &self.shape;
        let signs = shape.dots.0 + shape.dashes.0 + shape.colons.0 + shape.separators_min;
        self.title.is_none() && self.constitution.is_none() && signs > 0
    }

    /// Whether section numbers begin with the numbers of their containers and a punctuation mark: `59.18.010`,
    /// `43-32-1`.
    pub(super) fn has_prefixed_numbers(&self) -> bool {
        let shape = &self.shape;
        // For a code that a plan adds, only its provisions show this.
        let may_be = self.bare == BareNumbers::Always;
        may_be || shape.dots.0 + shape.dashes.0 + shape.colons.0 + shape.separators_min > 0
    }

    /// Whether a number without the name of a code cites this code, in a provision of this code and title.
    pub(super) fn is_cited_bare(&self, title: Option<&str>) -> bool {
        match self.bare {
            BareNumbers::Recognisable => self.has_recognisable_numbers(),
            BareNumbers::InTitles(titles) => {
                let title = title.and_then(|title| title.parse().ok());
                title.is_some_and(|title: u32| titles.checked_shr(title).is_some_and(|titles| titles & 1 == 1))
            }
            BareNumbers::Always => true,
        }
    }

    pub(super) fn body(&self) -> GrammarBody<'_> {
        GrammarBody { jurisdiction: &self.jurisdiction, key: &self.key, name: &self.name }
    }
}

/// The rows of the table, and the index of their names.
#[derive(Clone)]
pub(super) struct Forms {
    rows: Vec<CodeCitationForm>,
    pub(super) names: NameTrie,
    jurisdictions: Vec<JurisdictionSpellings>,
    /// The readings of each shared name.
    shared: Vec<(&'static str, Vec<SharedNameMeaning>)>,
}

#[derive(Clone)]
struct JurisdictionSpellings {
    code: Box<str>,
    spellings: Vec<Vec<String>>,
    /// The state of [`NameTrie`] after the jurisdiction, from which the names that begin with it continue.
    start: u32,
}

impl Forms {
    /// Reads the built-in table. It is part of the program, so an error in it is a bug and panics.
    pub(super) fn built_in() -> Self {
        let rows = || TABLE.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
        let mut classes = WordClasses::default();
        for line in rows() {
            if let Some(words) = line.strip_prefix("~\t") {
                classes.add(words.split(' ').map(str::to_owned).collect());
            }
        }
        let names = NameTrie::new(classes);
        let mut forms = Self { rows: Vec::new(), names, jurisdictions: Vec::new(), shared: Vec::new() };
        for line in rows().filter_map(|line| line.strip_prefix("@\t")) {
            forms.add_jurisdiction(line);
        }
        for line in rows().filter(|line| !line.starts_with(['~', '@', '?', '*'])) {
            forms.add_row(line);
        }
        for line in rows().filter_map(|line| line.strip_prefix("*\t")) {
            for jurisdiction in rows().filter_map(|line| line.strip_prefix("@\t")) {
                forms.add_row_of_each(line, jurisdiction);
            }
        }
        for line in rows().filter_map(|line| line.strip_prefix("?\t")) {
            forms.add_shared(line);
        }
        forms
    }

    pub(super) fn row(&self, body: BodyRef) -> Option<&CodeCitationForm> {
        self.rows.get(body.index())
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = (BodyRef, &CodeCitationForm)> {
        self.rows.iter().enumerate().map(|(index, form)| (BodyRef(index as u16), form))
    }

    /// The codes that a shared name may mean.
    pub(super) fn readings(&self, shared: SharedName) -> &[SharedNameMeaning] {
        self.shared.get(usize::from(shared.0)).map_or(&[], |(_, readings)| readings)
    }

    /// Adds a row `name, body, title, parts, options`: one meaning of a name that several bodies share.
    fn add_shared(&mut self, line: &'static str) {
        let [name, key, title, parts, options] = fields(line);
        let body = self.rows().find(|(_, form)| *form.key == *key).map(|(body, _)| body);
        let body = body.unwrap_or_else(|| {
            panic!("the form table maps the shared name '{name}' to '{key}', which it does not contain")
        });
        let parts = if parts == "-" { Vec::new() } else { parts.split(',').map(part_bounds).collect() };
        let options = FormOptions::parse(options);
        let title = Some(title).filter(|title| *title != "-");
        let reading = SharedNameMeaning { body, title, parts, shape: options.shape, letters: options.letters };
        if let Some((_, readings)) = self.shared.iter_mut().find(|(known, _)| *known == name) {
            readings.push(reading);
            assert!(readings.len() <= READINGS_MAX, "the form table has too many readings of '{name}'");
            return;
        }
        let shared = Some(SharedName(self.shared.len() as u16));
        self.shared.push((name, vec![reading]));
        let folded = BodyName { body, capitals: name.starts_with('!'), title, shared };
        if let Err(taken) = self.names.add(NameTrie::ROOT, &fold_name(name.trim_start_matches('!')), folded) {
            let holder = self.row(taken.0).map_or("", |form| &form.key);
            panic!("the form table shares the name '{name}', which belongs to '{holder}' alone");
        }
    }

    /// Adds a row `code, spellings, options`: a jurisdiction and its constitution.
    fn add_jurisdiction(&mut self, line: &'static str) {
        let [code, spellings, options] = fields(line);
        let plain: Vec<&str> = spellings.split(';').filter(|spelling| !spelling.starts_with('!')).collect();
        let folded: Vec<Vec<String>> = plain.iter().map(|spelling| fold_name(spelling)).collect();
        let start = self.names.add_jurisdiction(&folded);
        self.jurisdictions.push(JurisdictionSpellings { code: code.into(), spellings: folded, start });
        let canonical = plain.first().copied().unwrap_or(code);
        let name = format!("Constitution of {}", plain.get(1).copied().unwrap_or(canonical));
        let body = self.push(CodeCitationForm {
            jurisdiction: code.into(),
            key: format!("{}/const", code.to_ascii_lowercase()).into(),
            name: name.as_str().into(),
            printed: format!("{canonical} Const.").into(),
            title: None,
            mark: "".into(),
            shape: NumberShape::ANY,
            has_appendix: false,
            bare: BareNumbers::Recognisable,
            subd: false,
            constitution: Some(ConstitutionStyle {
                arabic_articles: options.contains("arabic"),
                roman_sections: options.contains("roman-sections"),
                sections_alone: options == "sections",
            }),
            numbered_since: None,
        });
        self.add_built_in_name(code, "{J} Const.", body);
        for spelling in &plain {
            for of in ["Constitution of", "Constitution of the", "Constitution of the State of"] {
                self.add_built_in_name(code, &format!("{of} {spelling}"), body);
            }
        }
        // A postal code that is a common word needs capitals, so its names are added separately.
        for postal in spellings.split(';').filter_map(|spelling| spelling.strip_prefix('!')) {
            self.add_built_in_name(code, &format!("!{postal} Const."), body);
        }
    }

    /// Adds the body of a row `key, name, template, names, options` for one state, unless the state has a row of its own
    /// with this key.
    fn add_row_of_each(&mut self, line: &'static str, jurisdiction: &'static str) {
        let [key, name, template, names, shape] = fields(line);
        let [code, spellings, _] = fields(jurisdiction);
        let mut spellings = spellings.split(';');
        let short = spellings.next().unwrap_or(code);
        let full = spellings.next().filter(|full| !full.starts_with('!')).unwrap_or(short);
        let own_key = format!("{}/{key}", code.to_ascii_lowercase());
        if code == FEDERAL || self.rows.iter().any(|row| *row.key == *own_key) {
            return;
        }
        let (name, template) = (name.replace("{J}", full), template.replace("{J}", short));
        self.add_form(code, key, &name, &template, names, shape);
    }

    fn add_row(&mut self, line: &'static str) {
        let [code, key, name, template, names, shape] = fields(line);
        self.add_form(code, key, name, template, names, shape);
    }

    fn add_form(&mut self, code: &str, key: &str, name: &str, template: &str, names: &'static str, shape: &str) {
        let template =
            Template::parse(template).unwrap_or_else(|| panic!("the form table has an invalid template '{template}'"));
        let options = FormOptions::parse(shape);
        let (printed, mark) = (template.name, template.mark);
        let title = template.title.map(|place| TitleRule { place, highest: options.highest_title });
        let body = self.push(CodeCitationForm {
            jurisdiction: code.into(),
            key: format!("{}/{key}", code.to_ascii_lowercase()).into(),
            name: name.into(),
            printed: printed.as_str().into(),
            title,
            mark: mark.into(),
            shape: options.shape,
            has_appendix: options.has_appendix,
            bare: options.bare,
            subd: options.subd,
            constitution: None,
            numbered_since: options.numbered_since,
        });
        self.add_built_in_name(code, &printed, body);
        for name in names.split(';').filter(|name| *name != "-") {
            match name.split_once('|') {
                Some((title, name)) => self.add_titled_name(code, name, body, Some(title)),
                None => self.add_built_in_name(code, name, body),
            }
        }
    }

    fn add_built_in_name(&mut self, code: &str, name: &str, body: BodyRef) {
        self.add_titled_name(code, name, body, None);
    }

    fn add_titled_name(&mut self, code: &str, name: &str, body: BodyRef, title: Option<&'static str>) {
        if let Err(taken) = self.add_name(code, name, body, title) {
            let holder = self.row(taken.0).map_or("", |form| &form.key);
            panic!("the form table gives the name '{name}' of {code} to '{holder}' too");
        }
    }

    fn add_name(
        &mut self,
        code: &str,
        written: &str,
        body: BodyRef,
        title: Option<&'static str>,
    ) -> Result<(), NameTaken> {
        let capitals = written.starts_with('!');
        let written = written.trim_start_matches('!');
        self.add_spelling(code, written, BodyName { body, capitals, title, shared: None })?;
        // `&` and `and` are often left out.
        let without_and = written.replace(" & ", " ").replace(" and ", " ");
        if without_and == written {
            Ok(())
        } else {
            self.add_spelling(code, &without_and, BodyName { body, capitals, title, shared: None })
        }
    }

    fn add_spelling(&mut self, code: &str, written: &str, name: BodyName) -> Result<(), NameTaken> {
        let jurisdiction = self.jurisdictions.iter().find(|known| *known.code == *code);
        let Some(jurisdiction) = jurisdiction else {
            return self.names.add(NameTrie::ROOT, &fold_name(written), name);
        };
        if let Some((before, after)) = written.split_once("{J}") {
            if before.is_empty() {
                return self.names.add(jurisdiction.start, &fold_name(after), name);
            }
            let spellings = jurisdiction.spellings.clone();
            return spellings.iter().try_for_each(|spelling| {
                let words = [fold_name(before), spelling.clone(), fold_name(after)].concat();
                self.names.add(NameTrie::ROOT, &words, name)
            });
        }
        let words = fold_name(written);
        let inside = jurisdiction.spellings.iter().filter(|spelling| words.starts_with(spelling)).map(Vec::len).max();
        match inside {
            Some(len) if len < words.len() => self.names.add(jurisdiction.start, &words[len..], name),
            _ => self.names.add(NameTrie::ROOT, &words, name),
        }
    }

    fn push(&mut self, form: CodeCitationForm) -> BodyRef {
        let body = BodyRef(self.rows.len() as u16);
        self.rows.push(form);
        body
    }

    /// Adds a body of a build plan. Its numbers may have almost any shape.
    pub(super) fn add_body(&mut self, added: &BodyForm) -> Result<BodyRef, FormError> {
        let template = Template::parse(&added.template)
            .ok_or_else(|| FormError::Template { key: added.key.clone(), template: added.template.clone() })?;
        if self.rows.len() >= usize::from(u16::MAX) {
            return Err(FormError::TooMany);
        }
        if self.rows.iter().any(|row| *row.key == *added.key) {
            return Err(FormError::KeyTaken { key: added.key.clone() });
        }
        let body = self.push(CodeCitationForm {
            jurisdiction: added.jurisdiction.as_str().into(),
            key: added.key.to_ascii_lowercase().into(),
            name: added.name.as_str().into(),
            printed: template.name.as_str().into(),
            title: template.title.map(|place| TitleRule { place, highest: TITLE_MAX }),
            mark: template.mark.into(),
            shape: NumberShape { dashes: (0, 2), rising: DashRangeRule::WhenMany, ..NumberShape::ANY },
            has_appendix: false,
            bare: BareNumbers::Always,
            subd: false,
            constitution: None,
            numbered_since: None,
        });
        for name in [&template.name, &added.name].into_iter().chain(&added.aliases) {
            self.add_plan_name(added, name, body)?;
        }
        Ok(body)
    }

    fn add_plan_name(&mut self, added: &BodyForm, name: &str, body: BodyRef) -> Result<(), FormError> {
        let letters = name.bytes().filter(u8::is_ascii_alphabetic).count();
        if letters < 2 || !name.is_ascii() || name.starts_with('!') || name.contains('{') {
            return Err(FormError::Name { key: added.key.clone(), name: name.to_owned() });
        }
        self.add_name(added.jurisdiction.as_str(), name, body, None).map_err(|taken| FormError::NameTaken {
            key: added.key.clone(),
            name: name.to_owned(),
            holder: self.row(taken.0).map_or("", |form| &form.key).to_owned(),
        })
    }
}

/// The highest title or chapter of a form that sets no limit.
const TITLE_MAX: u16 = 9999;

fn fields<const N: usize>(line: &'static str) -> [&'static str; N] {
    let fields: Vec<&str> = line.split('\t').collect();
    fields.try_into().unwrap_or_else(|_| panic!("a row of the form table does not have {N} fields: {line}"))
}

/// The parts of a citation template.
struct Template {
    name: String,
    title: Option<TitlePlace>,
    mark: String,
}

/// The marks that may precede a number in a template.
const MARKS: [&str; 6] = ["§ ", "art. ", "sec. ", "rule ", "r. ", "no. "];

impl Template {
    fn parse(template: &str) -> Option<Self> {
        let before_number = template.strip_suffix("{number}")?;
        let mark = MARKS.into_iter().find(|mark| before_number.ends_with(mark)).unwrap_or("");
        let head = before_number.strip_suffix(mark)?;
        let (name, title) = match head.split_once("{title}") {
            None => (head, None),
            Some(("", name)) => (name, Some(TitlePlace::Before)),
            Some((name_and_word, ", ")) => {
                let (name, word) = name_and_word.trim_end().rsplit_once(' ')?;
                (name, Some(TitlePlace::After(format!(" {word} ").into())))
            }
            Some(_) => return None,
        };
        let name = name.trim();
        let sound = !name.is_empty() && !name.contains(['{', '}', '§']);
        sound.then(|| Self { name: name.to_owned(), title, mark: mark.to_owned() })
    }
}

/// The options in the last field of a row.
struct FormOptions {
    shape: NumberShape,
    highest_title: u16,
    has_appendix: bool,
    bare: BareNumbers,
    subd: bool,
    letters: LetterCase,
    numbered_since: Option<u16>,
}

impl FormOptions {
    fn parse(field: &str) -> Self {
        let mut options = Self {
            shape: NumberShape {
                dots: (0, 2),
                dashes: (0, 1),
                colons: (0, 0),
                slashes: (0, 0),
                dash_digits: false,
                ..NumberShape::ANY
            },
            highest_title: TITLE_MAX,
            has_appendix: false,
            bare: BareNumbers::Recognisable,
            subd: false,
            letters: LetterCase::Any,
            numbered_since: None,
        };
        for option in field.split(' ').filter(|option| *option != "-") {
            options.apply(option);
        }
        options
    }

    fn apply(&mut self, option: &str) {
        let (name, value) = option.split_once(':').unwrap_or((option, ""));
        match name {
            "dots" => self.shape.dots = bounds(value),
            "dashes" => {
                self.shape.dashes = bounds(value);
                self.shape.dash_digits = self.shape.dashes.1 > 0;
                if self.shape.dash_digits && self.shape.dashes.0 == 0 && self.shape.rising == DashRangeRule::Never {
                    self.shape.rising = DashRangeRule::WhenMany;
                }
            }
            "colons" => self.shape.colons = bounds(value),
            "slashes" => self.shape.slashes = bounds(value),
            "rising" => self.shape.rising = DashRangeRule::Always,
            "signs" => self.shape.separators_min = bounds(value).0,
            "parens" => self.shape.parentheses = true,
            "commas" => self.shape.commas = true,
            "capital" => self.shape.capital_is_subdivision = true,
            "subdot" => self.shape.dot_is_subdivision = true,
            "since" => {
                let year = value.parse();
                self.numbered_since =
                    Some(year.unwrap_or_else(|_| panic!("the form table has the invalid option '{option}'")));
            }
            "titles" => {
                self.highest_title =
                    value.parse().unwrap_or_else(|_| panic!("the form table has the invalid option '{option}'"));
            }
            "appendix" => self.has_appendix = true,
            "bare" if value.is_empty() => self.bare = BareNumbers::Always,
            "bare" => self.bare = BareNumbers::InTitles(titles(value)),
            "subd" => self.subd = true,
            "lower" => self.letters = LetterCase::Lower,
            "upper" => self.letters = LetterCase::Upper,
            _ => panic!("the form table has the unknown option '{option}'"),
        }
    }
}

/// Reads a list of titles such as `1,3-5,26` as a bit set.
fn titles(value: &str) -> u64 {
    let runs = value.split(',').map(bounds);
    runs.flat_map(|(first, last)| first..=last).fold(0, |titles, title| titles | 1 << title)
}

/// Reads a range of parts such as `61-199`.
fn part_bounds(value: &str) -> (u16, u16) {
    let (first, last) = value.split_once('-').unwrap_or((value, value));
    match (first.parse(), last.parse()) {
        (Ok(first), Ok(last)) => (first, last),
        _ => panic!("the form table has the invalid parts '{value}'"),
    }
}

fn bounds(value: &str) -> (u8, u8) {
    let (least, most) = value.split_once('-').unwrap_or((value, value));
    match (least.parse(), most.parse()) {
        (Ok(least), Ok(most)) => (least, most),
        _ => panic!("the form table has the invalid bounds '{value}'"),
    }
}
