//! The shared elements of the documentation: sentences with code, tables, and shell commands.

use maud::{Markup, html};

use crate::api::operation::Operation;
use crate::api::operations::OPERATIONS;
use crate::api::subject::Subject;

/// Renders a trusted sentence with `code` between backticks.
pub(super) fn prose(text: &str) -> Markup {
    html! {
        @for (place, part) in text.split('`').enumerate() {
            @if place % 2 == 0 { (part) } @else { code { (part) } }
        }
    }
}

/// The operations that the page of a subject describes.
pub(super) fn operations_of(subject: Subject) -> impl Iterator<Item = &'static Operation> {
    OPERATIONS.iter().filter(move |operation| operation.subject == subject)
}

pub(super) fn link_to_operation(operation: &Operation) -> Markup {
    html! { a href={ (operation.subject.path()) "#" (operation.name) } { (operation.name) } }
}

/// A link to the operation with this name.
pub(super) fn link_to(name: &str) -> Markup {
    let operation = OPERATIONS.iter().find(|operation| operation.name == name);
    html! { @match operation { Some(operation) => (link_to_operation(operation)), None => (name) } }
}

/// A table that scrolls on its own if it is wider than the page, and that the keyboard can reach.
pub(super) fn table(caption: &str, head: &[&str], rows: &Markup) -> Markup {
    html! {
        div.scroll role="region" aria-label=(caption) tabindex="0" {
            table {
                caption { (caption) }
                thead { tr { @for title in head { th scope="col" { (title) } } } }
                tbody { (rows) }
            }
        }
    }
}

/// Lines to copy.
pub(super) fn lines(text: &str) -> Markup {
    html! {
        div.lines {
            pre tabindex="0" { code { (text) } }
            button.quiet.scripts-only type="button" data-copy { "Copy" }
        }
    }
}

/// A call as a shell command. A call with a body is a POST.
pub(super) fn curl(base: &str, example: &str, body: Option<&str>, needs_key: bool) -> String {
    let key = if needs_key { "-H \"Authorization: Bearer $HORNBOOK_KEY\" \\\n  " } else { "" };
    let body = body.map_or_else(String::new, |body| format!("--json '{body}' \\\n  "));
    format!("curl {key}{body}'{base}{example}'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_of_others_stays_text() {
        assert_eq!(prose("a < b & `\"c\"` d").into_string(), "a &lt; b &amp; <code>&quot;c&quot;</code> d");
    }
}
