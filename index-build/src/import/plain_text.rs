//! Codes that exist only as text. The regular expressions of a plan decide which lines begin
//! sections and containers, and which are page furniture. See FORMAT.md for the options, with an
//! example.

use serde::Deserialize;

use crate::effect::{self, Effect};
use crate::import::document::{Document, Parsed};
use crate::import::encoding::{self, Encoding};
use crate::import::flat_section::{self, FlatContainer, FlatSection};
use crate::import::flat_text;
use crate::import::levels;
use crate::import::options::{self, FromOptions};
use crate::import::target::ImportTarget;
use crate::pattern::Pattern;
use crate::report::WarningKind;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PlainTextOptions {
    /// Matches the first line of a section. Its groups are number and heading. A group can also be
    /// named `heading`. The group `remark` states when the wording is law.
    section: Pattern,
    /// The levels of containers, outermost first.
    #[serde(default)]
    container: Vec<ContainerOptions>,
    /// Matches the first line of the law. Lines before it are left out.
    begin: Option<Pattern>,
    /// Match lines that belong to pages, not to the law.
    #[serde(default)]
    furniture: Vec<Pattern>,
    /// Matches the first line of the source credit.
    credit: Option<Pattern>,
    /// A source credit with more words than this ends after its first paragraph.
    #[serde(default = "credit_words_max")]
    credit_words_max: usize,
    #[serde(default)]
    paragraphs: Paragraphs,
    /// Sections, containers and furniture begin in the first column, their text is indented, and an
    /// empty line precedes the source credit.
    #[serde(default)]
    indented_text: bool,
    #[serde(default)]
    encoding: Encoding,
    /// Matches the paths of documents that belong to another code body.
    skip: Option<Pattern>,
}

/// More words than any known credit has.
fn credit_words_max() -> usize {
    1_000
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ContainerOptions {
    level: String,
    /// Matches the line that begins the container. Its groups are number and heading.
    pattern: Option<Pattern>,
    /// For containers without such a line: matches the start of a section number in the container.
    number: Option<Pattern>,
}

/// The rule by which paragraphs end.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Paragraphs {
    /// Each line is a paragraph.
    #[default]
    Lines,
    /// An empty line, or a label at the start of a line.
    EmptyLines,
}

pub fn wants(path: &str) -> bool {
    let end = path.rsplit('.').next().unwrap_or_default();
    end.eq_ignore_ascii_case("txt") || end.eq_ignore_ascii_case("text")
}

impl FromOptions for PlainTextOptions {
    fn from_options(table: &toml::Table) -> Result<Self, String> {
        let options: Self = options::read(table)?;
        if options.section.captures_len() < 2 {
            return Err(
                "option 'section': it has no group; put parentheses around the number, and around the heading".into()
            );
        }
        for container in &options.container {
            if levels::short(&container.level).is_none() {
                return Err(format!(
                    "option 'container': '{}' is not a level; use title, chapter or another level",
                    container.level
                ));
            }
            if container.pattern.is_some() == container.number.is_some() {
                return Err(format!(
                    "option 'container': level '{}' needs either 'pattern', for the line that begins it, or 'number', \
                     for what the numbers of its sections begin with",
                    container.level
                ));
            }
            if container.pattern.as_ref().is_some_and(|pattern| pattern.captures_len() < 2) {
                return Err(format!(
                    "option 'container': the pattern of level '{}' has no group for the number",
                    container.level
                ));
            }
        }
        Ok(options)
    }

    fn skip(&self) -> Option<&Pattern> {
        self.skip.as_ref()
    }
}

pub fn parse(document: &Document, target: ImportTarget<'_>) -> Parsed {
    options::read_by(document, target, |options: &PlainTextOptions| {
        let text = encoding::decoded(document, options.encoding)?;
        let mut reader = PlainTextReader::new(options);
        let mut stray = None;
        let begin = first_line(options, &text).map_err(|what| (document.position(1), what))?;
        reader.left_out.before_law(begin - 1, &text);
        for (number, line) in (1..).zip(text.lines()).skip(begin as usize - 1) {
            let is_heading =
                !options.indented_text || !line.trim_start_matches('\u{c}').starts_with(char::is_whitespace);
            // A page break before the first line of a page counts as white space.
            let line = line.trim();
            if !reader.line(number, line, is_heading) && stray.is_none() {
                stray = Some((number, line.to_owned()));
            }
        }
        reader.end_section();
        let PlainTextReader { sections, left_out, long_credits, .. } = reader;
        if sections.is_empty() {
            let what = "no line matches the option 'section'; correct the pattern, or leave the file out with 'skip'";
            return Err((document.position(1), what.into()));
        }
        let mut parsed = flat_section::into_nodes(sections, document, target);
        left_out.report(options, document, &mut parsed);
        for (line, what) in long_credits {
            parsed.warn(WarningKind::DoubtfulCredit, document.position(line), what);
        }
        if let Some((line, words)) = stray {
            let words: String = words.chars().take(60).collect();
            let what = format!(
                "'{words}' is before the first section; match it with the option 'furniture', 'container' or 'begin'"
            );
            parsed.refuse(document.position(line), what);
        }
        Ok(parsed)
    })
}

/// The number of the line that the law begins with.
fn first_line(options: &PlainTextOptions, text: &str) -> Result<u32, String> {
    let Some(begin) = &options.begin else { return Ok(1) };
    let found = (1..).zip(text.lines()).find(|(_, line)| begin.is_match(line.trim()));
    found
        .map(|(number, _)| number)
        .ok_or_else(|| format!("no line matches the option 'begin' ('{}'); correct the pattern", begin.as_str()))
}

/// Lines that are not in the snapshot.
#[derive(Debug, Default)]
struct LeftOut {
    before_law: u32,
    /// For each furniture pattern: how many lines it matched, and the number and text of the first.
    furniture: Vec<Option<(u32, u32, String)>>,
    /// Furniture that reads like law.
    doubtful: Vec<(u32, String)>,
    /// Every line, with the reason for leaving it out.
    lines: Vec<(&'static str, String)>,
}

impl LeftOut {
    fn before_law(&mut self, count: u32, text: &str) {
        self.before_law = count;
        let lines = text.lines().take(count as usize);
        self.lines.extend(lines.map(|line| ("lines before the match of the option 'begin'", line.to_owned())));
    }

    fn furniture(&mut self, pattern: usize, number: u32, line: &str) {
        let (count, ..) = self.furniture[pattern].get_or_insert_with(|| (0, number, line.to_owned()));
        *count += 1;
        self.lines.push(("lines that the option 'furniture' leaves out", line.to_owned()));
        let reads_as_law = Pattern::fixed(r"\b(?:shall|must|may not)\b").is_match(line);
        if reads_as_law || flat_text::begins_with_label(line) {
            self.doubtful.push((number, line.to_owned()));
        }
    }

    fn report(self, options: &PlainTextOptions, document: &Document, parsed: &mut Parsed) {
        parsed.left_out.extend(self.lines);
        if self.before_law > 0 {
            let what = format!("{} lines before the match of the option 'begin' were left out", self.before_law);
            parsed.warn(WarningKind::LeftOut, document.position(1), what);
        }
        for (pattern, found) in options.furniture.iter().zip(self.furniture) {
            let Some((count, first, line)) = found else { continue };
            let what = format!(
                "'furniture' leaves out {count} lines that match '{}'; the first is '{line}'",
                pattern.as_str()
            );
            parsed.warn(WarningKind::LeftOut, document.position(first), what);
        }
        for (number, line) in self.doubtful {
            let what = format!("'{line}' reads like law, but 'furniture' leaves it out");
            parsed.warn(WarningKind::DoubtfulLeftOut, document.position(number), what);
        }
    }
}

struct PlainTextReader<'o> {
    options: &'o PlainTextOptions,
    /// The open container of each level.
    path: Vec<Option<FlatContainer>>,
    open: Option<(FlatSection, Vec<String>)>,
    sections: Vec<FlatSection>,
    left_out: LeftOut,
    long_credits: Vec<(u32, String)>,
}

impl<'o> PlainTextReader<'o> {
    fn new(options: &'o PlainTextOptions) -> Self {
        let left_out = LeftOut { furniture: vec![None; options.furniture.len()], ..LeftOut::default() };
        let path = vec![None; options.container.len()];
        Self { options, path, open: None, sections: Vec::new(), left_out, long_credits: Vec::new() }
    }

    /// Processes a line. Returns false if it belongs to nothing.
    fn line(&mut self, number: u32, line: &str, may_be_heading: bool) -> bool {
        if may_be_heading && self.heading(number, line) {
            return true;
        }
        match &mut self.open {
            Some((_, lines)) => lines.push(line.to_owned()),
            None => return line.is_empty(),
        }
        true
    }

    /// Processes a line if it is furniture, or begins a section or container.
    fn heading(&mut self, number: u32, line: &str) -> bool {
        let options = self.options;
        if let Some(pattern) = options.furniture.iter().position(|furniture| furniture.is_match(line)) {
            self.left_out.furniture(pattern, number, line);
            return true;
        }
        let group = |found: &regex::Captures<'_>, group| {
            found.get(group).map_or(String::new(), |text| text.as_str().trim().to_owned())
        };
        if let Some(found) = options.section.captures(line) {
            self.end_section();
            // A space within a number replaces a lost hyphen.
            let own = group(&found, 1).split_whitespace().collect::<Vec<_>>().join("-");
            let path = self.path_of(&own, number);
            let heading =
                found.name("heading").map_or_else(|| group(&found, 2), |text| text.as_str().trim().to_owned());
            let remark = found.name("remark").map(|remark| remark.as_str().trim()).filter(|remark| !remark.is_empty());
            let effect = remark.map(|remark| effect::read(remark).unwrap_or_else(|| Effect::unknown(remark)));
            let effect = effect.unwrap_or_default();
            let section = FlatSection { line: number, number: own, heading, path, effect, ..FlatSection::default() };
            self.open = Some((section, Vec::new()));
            return true;
        }
        for (level, container) in options.container.iter().enumerate() {
            let Some(found) = container.pattern.as_ref().and_then(|pattern| pattern.captures(line)) else { continue };
            self.end_section();
            let (own, heading) = (group(&found, 1), group(&found, 2));
            let heading = format!("{} {own}. {heading}", levels::capitalised(&container.level));
            self.path[level] = Some(FlatContainer { line: number, heading: heading.trim_end().to_owned() });
            self.path[level + 1..].fill(None);
            return true;
        }
        false
    }

    /// The containers of a section: those whose lines precede it, and those that its number implies.
    fn path_of(&self, number: &str, line: u32) -> Vec<FlatContainer> {
        let levels = self.options.container.iter().zip(&self.path);
        let of_level = |(container, open): (&ContainerOptions, &Option<FlatContainer>)| {
            let Some(pattern) = &container.number else { return open.clone() };
            let own = pattern.find(number)?.as_str();
            Some(FlatContainer { line, heading: format!("{} {own}", levels::capitalised(&container.level)) })
        };
        levels.filter_map(of_level).collect()
    }

    fn end_section(&mut self) {
        let Some((mut section, lines)) = self.open.take() else { return };
        let is_credit = |line: &String| self.options.credit.as_ref().is_some_and(|credit| credit.is_match(line));
        // A wrapped line of the law may begin with the same words.
        let begins = |at: usize| !self.options.indented_text || at == 0 || lines[at - 1].is_empty();
        let end = (0..lines.len()).find(|&at| begins(at) && is_credit(&lines[at])).unwrap_or(lines.len());
        let credit_end = self.credit_end(&section, &lines, end);
        // The lines after the end of the credit are law again.
        let law = [
            paragraphs(&lines[..end], self.options.paragraphs),
            paragraphs(&lines[credit_end..], self.options.paragraphs),
        ];
        (section.text, section.layout) = flat_text::set(&law.concat());
        let acts: Vec<&str> =
            lines[end..credit_end].iter().map(String::as_str).filter(|line| !line.is_empty()).collect();
        section.credit = Some(acts.join(" ")).filter(|acts| !acts.is_empty());
        self.sections.push(section);
    }

    /// The end of a credit: the end of its section or, if it is too long for a credit, the end of
    /// its first paragraph or line.
    fn credit_end(&mut self, section: &FlatSection, lines: &[String], begin: usize) -> usize {
        let words = |lines: &[String]| lines.iter().flat_map(|line| line.split_whitespace()).count();
        let (all, most) = (words(&lines[begin..]), self.options.credit_words_max);
        if all <= most {
            return lines.len();
        }
        let empty = (begin..lines.len()).find(|&at| lines[at].is_empty());
        let end = empty.filter(|&end| words(&lines[begin..end]) <= most).unwrap_or(begin + 1);
        let line = section.line + 1 + begin as u32;
        let what = format!(
            "the source credit of '{}' would have {all} words, but the maximum is {most}; the {} words after its first paragraph are kept as law",
            section.number,
            words(&lines[end..])
        );
        self.long_credits.push((line, what));
        end
    }
}

fn paragraphs(lines: &[String], ends: Paragraphs) -> Vec<String> {
    let mut paragraphs: Vec<String> = Vec::new();
    let mut goes_on = false;
    for line in lines {
        let begins = flat_text::begins_with_label(line);
        match ends {
            _ if line.is_empty() => goes_on = false,
            Paragraphs::EmptyLines if goes_on && !begins => {
                if let Some(last) = paragraphs.last_mut() {
                    last.push(' ');
                    last.push_str(line);
                }
            }
            Paragraphs::EmptyLines | Paragraphs::Lines => {
                paragraphs.push(line.clone());
                goes_on = true;
            }
        }
    }
    paragraphs
}
