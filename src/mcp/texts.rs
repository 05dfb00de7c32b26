//! The text and the resource links that a result contains besides its JSON.

use serde_json::{Value, json};

use super::text_parts::TextPart;
use crate::api::model_text::{ModelLink, ModelText};
use crate::api::operation::{Operation, ToolAnswer};

/// Maximum length of the JSON that is shown for an answer without a text.
const JSON_SHOWN_MAX: usize = 16 << 10;

/// The URI of a provision as a resource, up to its id.
pub(super) const NODE_URI: &str = "hornbook://node/";

/// The text of an operation's answer. `part` is the part of a long provision that the answer contains.
pub(super) fn of_answer(operation: &Operation, body: &str, part: Option<TextPart>) -> serde_json::Result<ModelText> {
    let Some(written) = operation.model_text else { return Ok(as_json(operation, body)) };
    let mut shown = written(body)?;
    if let Some(part) = part {
        shown.text += &part_line(part);
    }
    Ok(shown)
}

/// The JSON itself. Research connectors read it from the text, and have it nowhere else.
fn as_json(operation: &Operation, body: &str) -> ModelText {
    let is_only_text = operation.tool.is_some_and(|tool| tool.answer == ToolAnswer::JsonText);
    let text = match body.len() {
        length if length > JSON_SHOWN_MAX && !is_only_text => {
            format!("The answer has {length} bytes of JSON; all of it is in structuredContent.")
        }
        _ => body.to_owned(),
    };
    ModelText { text, links: Vec::new() }
}

/// The text beside an answer that a program asked for as JSON.
pub(super) fn where_the_json_is() -> ModelText {
    let text =
        "The answer is in structuredContent, because the call has view=full; without it, this is the law as text.";
    ModelText { text: text.to_owned(), links: Vec::new() }
}

fn part_line(part: TextPart) -> String {
    let TextPart { offset, next_offset, total_chars } = part;
    match next_offset {
        Some(next) => format!(
            "\nThis part has the characters {offset} to {next} of {total_chars}. Call again with offset {next} for the next.\n"
        ),
        None => format!("\nThis is the last part, from character {offset} of {total_chars}.\n"),
    }
}

/// A link to a provision, as the protocol writes it.
pub(super) fn resource_link(link: &ModelLink) -> Value {
    let ModelLink { id, citation, heading } = link;
    json!({
        "type": "resource_link",
        "uri": format!("{NODE_URI}{id}"),
        "name": citation,
        "title": heading,
        "mimeType": "text/markdown",
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::operations::OPERATIONS;

    fn operation(name: &str) -> &'static Operation {
        OPERATIONS.iter().find(|operation| operation.name == name).unwrap()
    }

    #[test]
    fn answers_without_a_text_are_json_or_a_note_of_their_length() {
        let text = |json: &str| of_answer(operation("me"), json, None).unwrap().text;
        assert_eq!(text(r#"{"tier":"free"}"#), r#"{"tier":"free"}"#);
        assert!(text(&format!("\"{}\"", "a".repeat(JSON_SHOWN_MAX))).contains("16386 bytes"));
    }

    #[test]
    fn an_answer_that_cannot_be_read_is_an_error() {
        assert!(of_answer(operation("search"), r#"{"other":1}"#, None).is_err());
    }

    #[test]
    fn the_text_of_a_part_says_how_to_get_the_next_one() {
        let part = TextPart { offset: 0, next_offset: Some(9), total_chars: 12 };
        assert!(part_line(part).contains("Call again with offset 9"));
        assert!(part_line(TextPart { next_offset: None, ..part }).contains("last part"));
    }
}
