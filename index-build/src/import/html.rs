//! HTML of publishers as a tree. The tokens are those of the standard; how elements nest follows the few rules of it that
//! codes of law need: what ends a paragraph, an item, a row or a cell without saying so, and ends of elements that never
//! began. Scripts, styles and comments are left out. Names of elements and attributes are in lower case.

use html5gum::{DefaultEmitter, Token, Tokenizer};

use crate::import::document::{Document, Refusal};
use crate::import::xml::text_of;

/// The deepest nesting of elements, so that whoever walks a tree may do it by recursion.
pub(crate) const DEPTH_MAX: usize = 200;

const VOID: [&str; 13] =
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"];
const ENDS_PARAGRAPH: [&str; 25] = [
    "address",
    "article",
    "aside",
    "blockquote",
    "center",
    "div",
    "dl",
    "fieldset",
    "footer",
    "form",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hr",
    "main",
    "nav",
    "ol",
    "p",
    "pre",
    "section",
    "table",
];

/// Whether a file is HTML by its name.
pub(crate) fn wants(path: &str) -> bool {
    path.ends_with(".html") || path.ends_with(".htm")
}

/// An HTML document.
#[derive(Debug)]
pub(crate) struct Tree {
    nodes: Vec<Node>,
}

#[derive(Debug, Default)]
struct Node {
    /// Empty for words.
    name: String,
    words: String,
    attributes: Vec<(String, String)>,
    children: Vec<usize>,
    line: u32,
}

/// What stands in an element.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Part<'t> {
    Element(Element<'t>),
    Words(&'t str),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Element<'t> {
    tree: &'t Tree,
    node: usize,
}

/// Parses a document, or says what is wrong with it, and where.
pub(crate) fn parse(document: &Document) -> Result<Tree, Refusal> {
    let text = text_of(document)?;
    let mut emitter = DefaultEmitter::<usize>::new_with_span();
    emitter.naively_switch_states(true);
    let mut builder = Builder::new();
    let (mut counted, mut line) = (0, 1);
    for Ok(token) in Tokenizer::new_with_emitter(text, emitter) {
        match token {
            Token::StartTag(tag) => {
                let place = tag.span.start.clamp(counted, text.len());
                line += memchr::memchr_iter(b'\n', &text.as_bytes()[counted..place]).count() as u32;
                counted = place;
                let attributes = tag.attributes.iter().map(|(name, value)| (lossy(name), lossy(value))).collect();
                let node = Node { name: lossy(&tag.name), attributes, line, ..Node::default() };
                if builder.open.len() > DEPTH_MAX {
                    return Err((
                        document.position(line),
                        format!("elements are nested more than {DEPTH_MAX} levels deep"),
                    ));
                }
                builder.start(node, tag.self_closing);
            }
            Token::EndTag(tag) => builder.end(&lossy(&tag.name)),
            Token::String(words) => builder.words(&lossy(&words)),
            Token::Comment(_) | Token::Doctype(_) | Token::Error(_) => {}
        }
    }
    Ok(Tree { nodes: builder.nodes })
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

struct Builder {
    nodes: Vec<Node>,
    /// The elements that are open, from the root.
    open: Vec<usize>,
}

impl Builder {
    fn new() -> Self {
        Self { nodes: vec![Node::default()], open: vec![0] }
    }

    fn start(&mut self, node: Node, self_closing: bool) {
        self.end_implied(&node.name);
        let name = node.name.clone();
        let place = self.push(node);
        if !self_closing && !VOID.contains(&name.as_str()) {
            self.open.push(place);
        }
    }

    fn push(&mut self, node: Node) -> usize {
        let place = self.nodes.len();
        self.nodes.push(node);
        let parent = self.open.last().copied().unwrap_or(0);
        self.nodes[parent].children.push(place);
        place
    }

    fn words(&mut self, words: &str) {
        let name = self.open.last().map_or("", |&open| self.nodes[open].name.as_str());
        if !matches!(name, "script" | "style") {
            self.push(Node { words: words.to_owned(), ..Node::default() });
        }
    }

    /// Ends what a new element cannot lie in.
    fn end_implied(&mut self, name: &str) {
        if ENDS_PARAGRAPH.contains(&name) {
            self.end_within("p", &["li", "td", "th", "dd", "div", "section", "blockquote"]);
        }
        match name {
            "li" => self.end_within("li", &["ol", "ul"]),
            "dt" | "dd" => {
                self.end_within("dt", &["dl"]);
                self.end_within("dd", &["dl"]);
            }
            "tr" => self.end_within("tr", &["table"]),
            "td" | "th" => {
                self.end_within("td", &["tr", "table"]);
                self.end_within("th", &["tr", "table"]);
            }
            _ => {}
        }
    }

    /// Ends the innermost open element of a name, unless it lies outside of one of the others.
    fn end_within(&mut self, name: &str, others: &[&str]) {
        let name_of = |&open: &usize| self.nodes[open].name.as_str();
        let from = self.open.iter().rposition(|open| name_of(open) == name || others.contains(&name_of(open)));
        if let Some(from) = from.filter(|&from| from > 0 && name_of(&self.open[from]) == name) {
            self.open.truncate(from);
        }
    }

    /// Ends the innermost open element of a name, with all that is open in it. An end without a beginning is passed over.
    fn end(&mut self, name: &str) {
        let found = self.open.iter().rposition(|&open| self.nodes[open].name == name);
        if let Some(from) = found.filter(|&from| from > 0) {
            self.open.truncate(from);
        }
    }
}

impl Tree {
    pub(crate) fn root(&self) -> Element<'_> {
        Element { tree: self, node: 0 }
    }
}

impl<'t> Element<'t> {
    fn node(self) -> &'t Node {
        &self.tree.nodes[self.node]
    }

    pub(crate) fn name(self) -> &'t str {
        &self.node().name
    }

    pub(crate) fn attribute(self, name: &str) -> Option<&'t str> {
        self.node().attributes.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn line(self) -> u32 {
        self.node().line
    }

    pub(crate) fn parts(self) -> impl DoubleEndedIterator<Item = Part<'t>> {
        self.node().children.iter().map(move |&child| match &self.tree.nodes[child] {
            node if node.name.is_empty() => Part::Words(&node.words),
            _ => Part::Element(Element { tree: self.tree, node: child }),
        })
    }

    pub(crate) fn elements(self) -> impl DoubleEndedIterator<Item = Element<'t>> {
        self.parts().filter_map(|part| match part {
            Part::Element(element) => Some(element),
            Part::Words(_) => None,
        })
    }

    /// All its words, with single spaces.
    pub(crate) fn text(self) -> String {
        let mut words = String::new();
        self.gather(&mut words);
        words.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn gather(self, words: &mut String) {
        for part in self.parts() {
            match part {
                Part::Words(own) => words.push_str(own),
                Part::Element(element) => {
                    if element.name() == "br" || ENDS_PARAGRAPH.contains(&element.name()) {
                        words.push(' ');
                    }
                    element.gather(words);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(element: Element<'_>) -> String {
        let parts = element.parts().map(|part| match part {
            Part::Words(words) => words.trim().to_owned(),
            Part::Element(element) => format!("{}({})", element.name(), shape(element)),
        });
        parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
    }

    fn shaped(html: &str) -> String {
        shape(parse(&Document { place: "a.html".into(), bytes: html.into() }).unwrap().root())
    }

    #[test]
    fn what_html_leaves_out_is_put_in() {
        assert_eq!(
            shaped("<p>a<p>b<ol><li>c<li>d<ol><li>e</ol><li>f</ol>g"),
            "p(a) p(b) ol(li(c) li(d ol(li(e))) li(f)) g"
        );
        assert_eq!(shaped("<dl><dt>a<dd>b<dt>c</dl>"), "dl(dt(a) dd(b) dt(c))");
        assert_eq!(shaped("<table><tr><td>a<td>b<tr><th>c</table>"), "table(tr(td(a) td(b)) tr(th(c)))");
        assert_eq!(shaped("a<br>b</i></div>c &sect;&#160;1"), "a br() b c §\u{a0}1");
        assert_eq!(shaped("<P CLASS=x>a<script>if (a<b) '</p>'</script>b<!-- c -->"), "p(a script() b)");
    }

    #[test]
    fn lines_are_counted_and_depth_is_bounded() {
        let parsed = |html: &str| parse(&Document { place: "a.html".into(), bytes: html.into() });
        let tree = parsed("<p>a</p>\n\n<p>b</p>").unwrap();
        assert_eq!(tree.root().elements().map(Element::line).collect::<Vec<_>>(), [1, 3]);
        let (position, what) = parsed(&"<div>".repeat(DEPTH_MAX + 2)).unwrap_err();
        assert!(position.to_string() == "a.html:1" && what.contains("nested more than"), "{position}: {what}");
        assert!(parsed("<p>\u{0}</p>").is_ok());
    }
}
