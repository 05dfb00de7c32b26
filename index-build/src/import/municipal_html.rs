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
use crate::import::options::{self, Pattern};
use crate::import::target::Target;
use crate::import::text_builder::TextBuilder;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Options {
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
    Pattern::fixed(r"^\(?Ord(?:\.|inance) ?(?:No|\d)")
}

fn history() -> String {
    "History".into()
}

fn label() -> String {
    "{}.".into()
}

pub fn wants(path: &str) -> bool {
    path.ends_with(".html") || path.ends_with(".htm")
}

pub fn check_options(table: &toml::Table) -> Result<(), String> {
    settings(table).map(|_| ())
}

fn settings(table: &toml::Table) -> Result<Options, String> {
    let options: Options = options::read(table)?;
    if options.section.captures_len() < 3 {
        return Err("option 'section': it needs two groups, the number and the heading".into());
    }
    if options.label.matches("{}").count() != 1 {
        return Err(format!("option 'label': '{}' must contain {{}} once, such as '({{}})'", options.label));
    }
    Ok(options)
}

pub fn parse(document: &Document, target: Target<'_>) -> Parsed {
    let options = match settings(target.options) {
        Ok(options) => options,
        Err(what) => return Parsed::refused(document.position(1), what),
    };
    if options.skip.as_ref().is_some_and(|skip| skip.is_match(document.path())) {
        return Parsed::default();
    }
    let tree = match html::parse(document) {
        Ok(tree) => tree,
        Err((position, what)) => return Parsed::refused(position, what),
    };
    let mut path = Vec::new();
    let (mut sections, mut mistakes) = (Vec::new(), Vec::new());
    let mut open = vec![tree.root()];
    while let Some(element) = open.pop() {
        match element.name() {
            "h1" => path = vec![FlatContainer { line: element.line(), heading: element.text() }],
            "section" => match read_section(element, &path, &options) {
                Ok(section) => sections.push(section),
                Err(what) => mistakes.push((document.position(element.line()), what)),
            },
            "nav" | "head" | "script" | "style" => {}
            _ => open.extend(element.elements().rev()),
        }
    }
    if sections.is_empty() && mistakes.is_empty() {
        return Parsed::refused(document.position(1), "it has no <section>; skip it with the option 'skip'");
    }
    let mut parsed = flat_section::into_nodes(sections, document, target);
    parsed.mistakes = mistakes;
    parsed
}

fn read_section(element: Element<'_>, path: &[FlatContainer], options: &Options) -> Result<FlatSection, String> {
    let blocks: Vec<Element<'_>> = element.elements().collect();
    let Some((heading, blocks)) = blocks.split_first().filter(|(first, _)| first.name() == "h3") else {
        return Err("this section does not begin with an h3, which has its number and heading".into());
    };
    let title = heading.text();
    let Some(found) = options.section.captures(&title) else {
        return Err(format!("'{title}' has no number and heading as the option 'section' expects them"));
    };
    let (law, credit) = divide(blocks, options);
    let mut builder = TextBuilder::default();
    law.iter().for_each(|block| add_block(*block, 0, &options.label, &mut builder));
    let (text, layout) = builder.finish();
    let (number, heading) = (found[1].to_owned(), found[2].trim().to_owned());
    Ok(FlatSection { line: element.line(), number, heading, text, layout, credit, path: path.to_vec() })
}

/// The blocks of the law, and the history: what stands under its heading, or the last paragraphs that name ordinances.
fn divide<'s, 't>(blocks: &'s [Element<'t>], options: &Options) -> (&'s [Element<'t>], Option<String>) {
    let is_history = |block: &Element<'_>| block.name().starts_with('h') && block.text() == options.history;
    let end = blocks.iter().rposition(is_history);
    let first = end.unwrap_or_else(|| {
        blocks.iter().rposition(|block| !options.credit.is_match(&block.text())).map_or(0, |last| last + 1)
    });
    let (law, rest) = blocks.split_at(first);
    let acts: Vec<String> = rest.iter().filter(|block| !is_history(block)).map(|block| block.text()).collect();
    (law, Some(acts.join(" ")).filter(|acts| !acts.is_empty()))
}
