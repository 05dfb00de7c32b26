//! How to connect clients of the Model Context Protocol. The text comes from `docs/clients.md`; the
//! address of this service replaces the placeholder.

use maud::{Markup, html};

use super::elements::{lines, prose};

const CLIENTS: &str = include_str!("../../../docs/clients.md");

/// The address that stands for the service in the file.
const PLACEHOLDER: &str = "https://law.example.org";

/// The beginning of a paragraph that the page leaves out, because the page already contains the
/// real address.
const PLACEHOLDER_PARAGRAPH: &str = "Replace `law.example.org`";

/// The part of the file from this heading on is for operators.
const LAST_HEADING: &str = "## Registries";

/// A block of the file.
#[derive(PartialEq, Eq, Debug)]
enum DocBlock {
    Heading(String),
    Paragraph(String),
    List(Vec<String>),
    Code(String),
}

pub(super) fn section(base_url: &str) -> Markup {
    let text = CLIENTS.replace(PLACEHOLDER, base_url);
    let (text, _) = text.split_once(LAST_HEADING).unwrap_or((&text, ""));
    html! {
        @for piece in pieces(text) {
            @match piece {
                DocBlock::Heading(title) => h3 { (title) },
                DocBlock::Paragraph(text) => p { (sentence_html(&text)) },
                DocBlock::List(items) => ul { @for item in items { li { (sentence_html(&item)) } } },
                DocBlock::Code(code) => (lines(&code)),
            }
        }
    }
}

/// The blocks of the file in order. Leaves out the table of tested clients and the text after it,
/// up to the next heading.
fn pieces(text: &str) -> Vec<DocBlock> {
    let mut pieces: Vec<DocBlock> = Vec::new();
    let mut is_about_trials = false;
    for block in text.split("\n\n").map(|block| block.trim_matches('\n')) {
        let piece = match block {
            block if block.starts_with("    ") => DocBlock::Code(unindented(block)),
            block if block.starts_with("## ") => DocBlock::Heading(block[3..].to_owned()),
            block if block.starts_with("- ") => DocBlock::List(block[2..].split("\n- ").map(joined).collect()),
            block if block.starts_with('|') => {
                is_about_trials = true;
                continue;
            }
            block if block.is_empty() || block.starts_with('#') || block.starts_with(PLACEHOLDER_PARAGRAPH) => continue,
            block => DocBlock::Paragraph(joined(block)),
        };
        is_about_trials &= !matches!(piece, DocBlock::Heading(_));
        match (pieces.last_mut(), piece) {
            _ if is_about_trials => {}
            // An empty line within code.
            (Some(DocBlock::Code(before)), DocBlock::Code(more)) => *before += &format!("\n\n{more}"),
            (_, piece) => pieces.push(piece),
        }
    }
    pieces
}

fn unindented(block: &str) -> String {
    block.lines().map(|line| line.strip_prefix("    ").unwrap_or(line)).collect::<Vec<_>>().join("\n")
}

fn joined(block: &str) -> String {
    block.lines().map(str::trim).collect::<Vec<_>>().join(" ")
}

/// Renders a sentence with `code` and **bold** text.
fn sentence_html(text: &str) -> Markup {
    html! {
        @for (place, part) in text.split("**").enumerate() {
            @if place % 2 == 0 { (prose(part)) } @else { strong { (prose(part)) } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_of_the_file_is_shown_with_the_address_of_this_service() {
        let shown = section("https://law.test").into_string();
        let (settings, _) = CLIENTS.split_once(LAST_HEADING).expect("the file has its last heading");
        assert!(!shown.contains("law.example.org"), "{shown}");
        let escaped = |text: &str| html! { (text) }.into_string();
        let mut count = 0;
        for line in settings.lines().filter(|line| line.starts_with("    ") && !line.trim().is_empty()) {
            let line = escaped(&line[4..].replace(PLACEHOLDER, "https://law.test"));
            assert!(shown.contains(&line), "{line}");
            count += 1;
        }
        assert!(count > 30, "{count}");
        assert!(!shown.contains("tried") && !shown.contains("make conformance"));
        assert_eq!(shown.matches("<h3>").count(), settings.matches("\n## ").count());
    }

    #[test]
    fn an_empty_line_does_not_end_code_and_lists_are_lists() {
        let text = "# T\n\n- **A**: one\n  two\n- B\n\n    x = 1\n\n    y = 2\n\nEnd.";
        assert_eq!(
            pieces(text),
            [
                DocBlock::List(vec!["**A**: one two".to_owned(), "B".to_owned()]),
                DocBlock::Code("x = 1\n\ny = 2".to_owned()),
                DocBlock::Paragraph("End.".to_owned()),
            ]
        );
        assert_eq!(sentence_html("**A**: `b`").into_string(), "<strong>A</strong>: <code>b</code>");
    }
}
