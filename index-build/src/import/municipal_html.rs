//! Municipal codes as HTML, a document for each title: `h1` is the title, and a `section` holds an `h3` with number and
//! heading, paragraphs, lists, definitions, tables, and the history under an `h4`.
//!
//! Pages of contents in JSON give the same order as the numbers, and nothing more: they are passed over. A section that
//! occurs twice, once without text, is a line of a chapter's list of contents. See FORMAT.md for the options.

use serde::Deserialize;

use crate::import::document::{Document, Parsed};
use crate::import::flat_section::{self, FlatContainer, FlatSection};
use crate::import::html::{self, Element};
use crate::import::html_text::add_block;
use crate::import::options::{self, FromOptions, Pattern};
use crate::import::target::Target;
use crate::import::text_builder::TextBuilder;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Options {
    /// Number and heading of a section, its two groups.
    #[serde(default = "section")]
    section: Pattern,
    /// A last paragraph like this is the source credit.
    #[serde(default = "credit")]
    credit: Pattern,
    /// The heading of the list of acts.
    #[serde(default = "history")]
    history: String,
    /// How a list item is labelled, with `{}`.
    #[serde(default = "label")]
    label: String,
    /// Documents, by path, that are of another code body.
    skip: Option<Pattern>,
}

fn section() -> Pattern {
    Pattern::fixed(r"^§? ?(\d[\w.:-]*?)\.? (.*)$")
}

fn credit() -> Pattern {
    Pattern::fixed(r"^\(?Ord(?:\.|inance)? ?(?:No|\d)")
}

fn history() -> String {
    "History".into()
}

fn label() -> String {
    "{}.".into()
}

impl FromOptions for Options {
    fn from_options(table: &toml::Table) -> Result<Self, String> {
        let options: Self = options::read(table)?;
        if options.section.captures_len() < 3 {
            return Err("option 'section': it needs two groups, the number and the heading".into());
        }
        if options.label.matches("{}").count() != 1 {
            return Err(format!("option 'label': '{}' must contain {{}} once, such as '({{}})'", options.label));
        }
        Ok(options)
    }

    fn skip(&self) -> Option<&Pattern> {
        self.skip.as_ref()
    }
}

pub fn parse(document: &Document, target: Target<'_>) -> Parsed {
    options::read_by(document, target, |options: &Options| {
        let tree = html::parse(document)?;
        let mut path = Vec::new();
        let mut chapter = None;
        let (mut sections, mut mistakes) = (Vec::new(), Vec::new());
        let mut open = vec![tree.root()];
        while let Some(element) = open.pop() {
            match element.name() {
                "h1" => path = vec![FlatContainer { line: element.line(), heading: element.text() }],
                "section" => match read_section(element, &path, &mut chapter, options) {
                    Ok(section) => sections.push(section),
                    Err(what) => mistakes.push((document.position(element.line()), what)),
                },
                "nav" | "head" | "script" | "style" => {}
                _ => open.extend(element.elements().rev()),
            }
        }
        if sections.is_empty() && mistakes.is_empty() {
            return Err((document.position(1), "it has no <section>; skip it with the option 'skip'".into()));
        }
        let mut parsed = flat_section::into_nodes(sections, document, target);
        parsed.mistakes = mistakes;
        Ok(parsed)
    })
}

/// A chapter whose heading stood at the end of the section before it.
struct Chapter {
    number: String,
    container: FlatContainer,
}

fn read_section(
    element: Element<'_>,
    path: &[FlatContainer],
    chapter: &mut Option<Chapter>,
    options: &Options,
) -> Result<FlatSection, String> {
    let blocks: Vec<Element<'_>> = element.elements().collect();
    let Some((heading, mut blocks)) = blocks.split_first().filter(|(first, _)| first.name() == "h3") else {
        return Err("this section does not begin with an h3, which has its number and heading".into());
    };
    let title = heading.text();
    let Some(found) = options.section.captures(&title) else {
        return Err(format!("'{title}' has no number and heading as the option 'section' expects them"));
    };
    let (number, heading) = (found[1].to_owned(), found[2].trim().to_owned());
    let own = chapter.as_ref().filter(|chapter| is_in(&number, &chapter.number));
    let path = path.iter().chain(own.map(|chapter| &chapter.container)).cloned().collect();
    if let Some((last, before)) = blocks.split_last()
        && let Some(next) = heading_of_next_chapter(*last, &number)
    {
        (blocks, *chapter) = (before, Some(next));
    }
    let (law, credit) = divide(blocks, options);
    let mut builder = TextBuilder::default();
    law.iter().for_each(|block| add_block(*block, 0, &options.label, &mut builder));
    let (text, layout) = builder.finish();
    Ok(FlatSection { line: element.line(), number, heading, text, layout, credit, path })
}

/// `14.12 Plumbing Code` at the end of section 14.08.080.
fn heading_of_next_chapter(block: Element<'_>, section: &str) -> Option<Chapter> {
    let heading = block.text();
    let form = Pattern::fixed(r"^(\d+\.\d+) [A-Z][^.;:]{2,100}$");
    let number = form.captures(&heading).filter(|_| block.name() == "p")?[1].to_owned();
    let title = |number: &str| number.split('.').next().map(str::to_owned);
    let is_next = title(&number) == title(section) && !is_in(section, &number);
    is_next.then(|| Chapter { number, container: FlatContainer { line: block.line(), heading } })
}

fn is_in(section: &str, chapter: &str) -> bool {
    section.strip_prefix(chapter).is_some_and(|rest| rest.starts_with('.'))
}

/// The blocks of the law, and the history: what stands under its heading, and the paragraphs before it that name ordinances.
fn divide<'s, 't>(blocks: &'s [Element<'t>], options: &Options) -> (&'s [Element<'t>], Option<String>) {
    let is_history = |block: &Element<'_>| {
        let may_be = block.name().starts_with('h') || block.name() == "p";
        may_be && block.text().eq_ignore_ascii_case(&options.history)
    };
    let end = blocks.iter().rposition(is_history).unwrap_or(blocks.len());
    let is_law = |block: &Element<'_>| !options.credit.is_match(&block.text());
    let first = blocks[..end].iter().rposition(is_law).map_or(0, |last| last + 1);
    let (law, rest) = blocks.split_at(first);
    let acts: Vec<String> = rest.iter().filter(|block| !is_history(block)).map(|block| block.text()).collect();
    (law, Some(acts.join(" ")).filter(|acts| !acts.is_empty()))
}
