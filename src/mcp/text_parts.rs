//! Splits long provisions into parts.
//!
//! The texts of a node, of its other wordings and of its notes count as one text, in that order. A call
//! gets a window of that text with a limited number of characters, and the offset of the next window, so
//! that nothing is cut silently. A node that fits into its window is the same as in REST, byte for byte.

use serde_json::{Value, json};

use crate::api::error::Violation;
use crate::api::json::JsonObject;

/// The default number of characters of a part, about 6,000 tokens.
const MAX_CHARS_DEFAULT: u64 = 24_000;
const MAX_CHARS_LOWEST: u64 = 1_000;
const MAX_CHARS_HIGHEST: u64 = 100_000;

/// No text has this many characters.
const OFFSET_MAX: u64 = u32::MAX as u64;

/// The schemas of the arguments that choose a part.
pub(super) fn schemas() -> [(&'static str, Value); 2] {
    [
        (
            "offset",
            json!({ "type": "integer", "minimum": 0, "default": 0, "description": "nextOffset of the part before" }),
        ),
        (
            "maxChars",
            json!({
                "type": "integer", "minimum": MAX_CHARS_LOWEST, "maximum": MAX_CHARS_HIGHEST, "default": MAX_CHARS_DEFAULT,
            }),
        ),
    ]
}

/// The characters from `offset` on, at most `max_chars` of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct CharWindow {
    pub(super) offset: usize,
    pub(super) max_chars: usize,
}

impl Default for CharWindow {
    fn default() -> Self {
        Self { offset: 0, max_chars: MAX_CHARS_DEFAULT as usize }
    }
}

/// Takes the window out of a tool's arguments. Invalid values become faults.
pub(super) fn window(arguments: &mut JsonObject, faults: &mut Vec<Violation>) -> CharWindow {
    let mut number = |name: &str, preset: u64, least: u64, most: u64| match arguments.remove(name) {
        None | Some(Value::Null) => preset,
        Some(value) => match value.as_u64().filter(|number| (least..=most).contains(number)) {
            Some(number) => number,
            None => {
                faults.push(Violation::new(name, format!("{name} must be a whole number from {least} to {most}")));
                preset
            }
        },
    };
    let offset = number("offset", 0, 0, OFFSET_MAX);
    let max_chars = number("maxChars", MAX_CHARS_DEFAULT, MAX_CHARS_LOWEST, MAX_CHARS_HIGHEST);
    CharWindow { offset: offset as usize, max_chars: max_chars as usize }
}

/// A part of a longer text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct TextPart {
    pub(super) offset: usize,
    /// `None` if this is the last part.
    pub(super) next_offset: Option<usize>,
    pub(super) total_chars: usize,
}

/// Cuts a node down to a window. Returns `None`, and changes nothing, if the whole node is in the window.
pub(super) fn cut(node: &mut JsonObject, window: CharWindow) -> Option<TextPart> {
    let mut cutting = WindowCutter { window, passed: 0 };
    let lists = ["wordings", "notes"];
    let mut total_chars = count(node.get("text"));
    for list in lists {
        total_chars += node
            .get(list)
            .and_then(Value::as_array)
            .map_or(0, |list| list.iter().map(|of| count(of.get("text"))).sum());
    }
    if window.offset == 0 && total_chars <= window.max_chars {
        return None;
    }
    cutting.cut(node);
    for list in lists {
        let entries = node.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten();
        for entry in entries.filter_map(Value::as_object_mut) {
            cutting.cut(entry);
        }
    }
    let end = window.offset.saturating_add(window.max_chars);
    let part = TextPart { offset: window.offset, next_offset: (end < total_chars).then_some(end), total_chars };
    node.insert("offset".to_owned(), json!(part.offset));
    node.insert("nextOffset".to_owned(), json!(part.next_offset));
    node.insert("totalChars".to_owned(), json!(part.total_chars));
    Some(part)
}

/// Cuts each node of a list down to its first part. Returns whether any node was cut.
pub(super) fn cut_each(nodes: Option<&mut Value>) -> bool {
    let nodes = nodes.and_then(Value::as_array_mut).into_iter().flatten().filter_map(Value::as_object_mut);
    nodes.filter_map(|node| cut(node, CharWindow::default())).count() > 0
}

/// The part of a text that is in the window.
pub(super) fn cut_text(text: &str, window: CharWindow) -> (String, TextPart) {
    let total_chars = text.chars().count();
    let end = window.offset.saturating_add(window.max_chars);
    let part = TextPart { offset: window.offset, next_offset: (end < total_chars).then_some(end), total_chars };
    (text.chars().skip(window.offset).take(window.max_chars).collect(), part)
}

fn count(text: Option<&Value>) -> usize {
    text.and_then(Value::as_str).map_or(0, |text| text.chars().count())
}

struct WindowCutter {
    window: CharWindow,
    /// The number of characters of the previous texts.
    passed: usize,
}

impl WindowCutter {
    fn cut(&mut self, holder: &mut JsonObject) {
        let Some(Value::String(text)) = holder.get_mut("text") else { return };
        let length = text.chars().count();
        let start = self.window.offset.saturating_sub(self.passed).min(length);
        let end = self.window.offset.saturating_add(self.window.max_chars).saturating_sub(self.passed).min(length);
        *text = text.chars().skip(start).take(end - start).collect();
        self.passed += length;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node() -> JsonObject {
        let node = json!({
            "text": "äbcde", "heading": "h",
            "wordings": [{ "label": "l", "text": "fgh" }],
            "notes": [{ "topic": "t", "text": "ij" }, { "topic": "u", "text": "kl" }],
        });
        let Value::Object(node) = node else { unreachable!() };
        node
    }

    fn texts(node: &JsonObject) -> String {
        let of = |entry: &Value| entry["text"].as_str().unwrap().to_owned();
        let lists = ["wordings", "notes"].into_iter().flat_map(|list| node[list].as_array().unwrap());
        node["text"].as_str().unwrap().to_owned() + &lists.map(of).collect::<String>()
    }

    #[test]
    fn the_parts_of_a_node_together_are_the_whole_of_it() {
        let whole = texts(&node());
        for max_chars in 1..12 {
            let (mut read, mut offset, mut parts) = (String::new(), 0, 0);
            loop {
                let mut node = node();
                let part = cut(&mut node, CharWindow { offset, max_chars }).unwrap();
                assert_eq!((part.total_chars, node["heading"].as_str()), (12, Some("h")));
                assert_eq!(node["nextOffset"].as_u64().map(|next| next as usize), part.next_offset);
                read += &texts(&node);
                parts += 1;
                let Some(next) = part.next_offset else { break };
                offset = next;
            }
            assert_eq!((read.as_str(), parts), (whole.as_str(), 12_usize.div_ceil(max_chars)), "{max_chars}");
        }
    }

    #[test]
    fn short_nodes_are_unchanged_and_parts_past_the_end_are_empty() {
        let mut whole = node();
        assert_eq!(cut(&mut whole, CharWindow { offset: 0, max_chars: 12 }), None);
        assert_eq!(whole, node());
        let part = cut(&mut whole, CharWindow { offset: 99, max_chars: 5 }).unwrap();
        assert_eq!((texts(&whole).as_str(), part.next_offset), ("", None));
        let (text, part) = cut_text("äbc", CharWindow { offset: 1, max_chars: 1 });
        assert_eq!((text.as_str(), part.next_offset, part.total_chars), ("b", Some(2), 3));
    }

    #[test]
    fn bounds_of_a_window_are_kept() {
        let taken = |given: Value| {
            let Value::Object(mut given) = given else { unreachable!() };
            let mut faults = Vec::new();
            let window = window(&mut given, &mut faults);
            assert!(given.is_empty());
            (window, faults.into_iter().map(|fault| fault.parameter).collect::<Vec<_>>())
        };
        assert_eq!(taken(json!({})), (CharWindow::default(), vec![]));
        let window = CharWindow { offset: 9, max_chars: 1000 };
        assert_eq!(taken(json!({ "offset": 9, "maxChars": 1000 })), (window, vec![]));
        for (given, name) in [
            (json!({ "offset": -1 }), "offset"),
            (json!({ "offset": "1" }), "offset"),
            (json!({ "maxChars": 999 }), "maxChars"),
            (json!({ "maxChars": 100_001 }), "maxChars"),
        ] {
            assert_eq!(taken(given).1, [name]);
        }
    }
}
