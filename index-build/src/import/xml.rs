//! Parses the XML of publishers defensively. Document types are refused, so there are no custom
//! entities and no external content. The depth is limited, so that documents can be walked
//! recursively. Every error has a line number.

use roxmltree::{Document as Tree, Node, ParsingOptions};

use crate::import::document::{Document, DocumentError, Parsed};

/// The maximum nesting of elements.
pub const DEPTH_MAX: usize = 200;
/// More nodes than any real document has.
const NODES_MAX: u32 = 50_000_000;

/// Whether a file is XML, by its name. Archives of law also contain style sheets, schemas, guides and licences.
pub fn is_source_file(path: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, extension)| extension.eq_ignore_ascii_case("xml"))
}

/// Parses a document and passes its tree to `read`. A document that is not XML is refused.
pub(crate) fn read(document: &Document, read: impl FnOnce(&Tree<'_>) -> Parsed) -> Parsed {
    match parse(document) {
        Ok(tree) => read(&tree),
        Err((position, what)) => Parsed::refused(position, what),
    }
}

/// Parses a document. An error contains the reason and position.
pub fn parse<'d>(document: &'d Document) -> Result<Tree<'d>, DocumentError> {
    let text = text_of(document)?;
    let options = ParsingOptions { allow_dtd: false, nodes_limit: NODES_MAX, ..ParsingOptions::default() };
    let tree = Tree::parse_with_options(text, options).map_err(|error| {
        let what = match &error {
            roxmltree::Error::DtdDetected => {
                "it has a document type (DOCTYPE), which is not allowed; remove it from the file".to_owned()
            }
            error => format!("this is not well-formed XML: {error}"),
        };
        (document.position(error.pos().row), what)
    })?;
    match too_deep(&tree) {
        Some(node) => {
            let line = line_of(&tree, node);
            Err((document.position(line), format!("elements are nested more than {DEPTH_MAX} levels deep")))
        }
        None => Ok(tree),
    }
}

/// The text of a document: UTF-8, without a byte order mark.
pub fn text_of(document: &Document) -> Result<&str, DocumentError> {
    let text = std::str::from_utf8(&document.bytes).map_err(|error| {
        let before = &document.bytes[..error.valid_up_to()];
        let line = 1 + memchr::memchr_iter(b'\n', before).count();
        let what = "it is not valid UTF-8 from here on; convert the file, for example with iconv";
        (document.position(line as u32), what.to_owned())
    })?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

/// The line that a node begins on. Counts from the start of the document, so it is only for messages.
pub fn line_of(tree: &Tree<'_>, node: Node<'_, '_>) -> u32 {
    tree.text_pos_at(node.range().start).row
}

fn too_deep<'t, 'd>(tree: &'t Tree<'d>) -> Option<Node<'t, 'd>> {
    let mut node = tree.root();
    let mut depth = 0_usize;
    loop {
        if let Some(child) = node.first_child() {
            node = child;
            depth += 1;
            if depth > DEPTH_MAX {
                return Some(node);
            }
            continue;
        }
        loop {
            if let Some(next) = node.next_sibling() {
                node = next;
                break;
            }
            node = node.parent()?;
            depth = depth.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(bytes: &[u8]) -> String {
        let document = Document { place: "a.zip!x.xml".into(), bytes: bytes.to_vec() };
        let (position, what) = parse(&document).map(|_| ()).unwrap_err();
        format!("{position}: {what}")
    }

    #[test]
    fn good_documents_are_read_and_bad_ones_refused_with_their_line() {
        let document = Document { place: "x.xml".into(), bytes: "\u{feff}<a>\n<b>&lt;&#167;</b></a>".into() };
        let tree = parse(&document).unwrap();
        let b = tree.root_element().first_element_child().unwrap();
        assert_eq!((b.text(), line_of(&tree, b)), (Some("<§"), 2));
        assert!(fault(b"<a>\n<b></a>").starts_with("a.zip!x.xml:2: this is not well-formed XML"));
        assert!(fault(b"<a>\n\n\xff</a>").starts_with("a.zip!x.xml:3: it is not valid UTF-8"));
        assert!(fault(b"<a>\n&other;</a>").starts_with("a.zip!x.xml:2: "));
        assert!(fault(b"").contains("not well-formed"));
        let marked = Document { place: String::new(), bytes: "\u{feff}<a/>".into() };
        assert_eq!(text_of(&marked).unwrap(), "<a/>");
    }

    #[test]
    fn entity_bombs_external_entities_and_depth_are_refused() {
        let bomb = b"<?xml version=\"1.0\"?>\n<!DOCTYPE a [<!ENTITY x \"yyyy\"><!ENTITY z \"&x;&x;\">]>\n<a>&z;</a>";
        assert!(fault(bomb).contains("document type"), "{}", fault(bomb));
        let outside = b"<!DOCTYPE a SYSTEM \"file:///etc/passwd\"><a/>";
        assert!(fault(outside).contains("document type"));
        let deep = "<a>".repeat(DEPTH_MAX + 1) + &"</a>".repeat(DEPTH_MAX + 1);
        assert!(fault(deep.as_bytes()).contains("nested more than"));
        let fine = "<a>".repeat(DEPTH_MAX) + &"</a>".repeat(DEPTH_MAX);
        assert!(parse(&Document { place: String::new(), bytes: fine.into_bytes() }).is_ok());
    }
}
