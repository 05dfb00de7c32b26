//! Parses the HTML of publishers into a tree. html5ever builds it according to the standard: it
//! adds omitted elements, and moves misplaced ones to where a browser shows them.
//!
//! Scripts, styles and comments are left out. Names of elements and attributes are in lower case.
//! Depth and size of a tree are limited, so that it can be walked recursively.

use std::collections::BTreeMap;

use html5ever::tendril::{StrTendril, TendrilSink};
use html5ever::{ParseOpts, Parser, parse_document};

use crate::import::document::{Document, DocumentError, Parsed};
use crate::import::html_sink::{DEPTH_MAX, HtmlNode, Sink};
use crate::import::xml::text_of;
use crate::report::WarningKind;

/// The number of bytes after which depth and size of the tree are checked.
const STEP_BYTES: usize = 4_096;
/// Every element has a tag of several bytes, except those that the parser adds. Many more nodes
/// than bytes are an attack.
const NODES_BEYOND_BYTES_MAX: usize = 10_000;

/// Whether a file is HTML, by its name.
pub(crate) fn wants(path: &str) -> bool {
    path.ends_with(".html") || path.ends_with(".htm")
}

/// An HTML document.
#[derive(Debug)]
pub(crate) struct HtmlTree {
    nodes: Vec<HtmlNode>,
    /// The elements that are not HTML, by name, with the line of the first one.
    unknown: BTreeMap<String, u32>,
}

/// A part of an element: an element or words.
#[derive(Clone, Copy, Debug)]
pub(crate) enum HtmlPart<'t> {
    Element(Element<'t>),
    Words(&'t str),
}

impl<'t> HtmlPart<'t> {
    pub(crate) fn element(&self) -> Option<Element<'t>> {
        match self {
            Self::Element(element) => Some(*element),
            Self::Words(_) => None,
        }
    }

    /// The element name; empty for words.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Element(element) => element.name(),
            Self::Words(_) => "",
        }
    }

    /// All its words, separated by single spaces.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Element(element) => element.text(),
            Self::Words(words) => words.split_whitespace().collect::<Vec<_>>().join(" "),
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Element<'t> {
    tree: &'t HtmlTree,
    node: usize,
}

/// Parses a document. An error contains the reason and position.
pub(crate) fn parse(document: &Document) -> Result<HtmlTree, DocumentError> {
    let text = text_of(document)?;
    let mut options = ParseOpts::default();
    // Text for browsers without scripts counts as text.
    options.tree_builder.scripting_enabled = false;
    let mut parser = parse_document(Sink::new(), options);
    let mut rest = text;
    while !rest.is_empty() {
        let (step, after) = rest.split_at(rest.floor_char_boundary(STEP_BYTES));
        parser.process(StrTendril::from_slice(step));
        check_size(&parser, text.len()).map_err(|(line, what)| (document.position(line), what))?;
        rest = after;
    }
    let mut tree = HtmlTree { nodes: parser.finish(), unknown: BTreeMap::new() };
    match tree.normalise_words() {
        Some(line) => Err((document.position(line), too_deep())),
        None => Ok(tree),
    }
}

/// Warns once for each unknown element name. The words of such elements are kept, but their meaning is unknown.
pub(crate) fn warn_of_unknown(tree: &HtmlTree, document: &Document, parsed: &mut Parsed) {
    for (name, line) in tree.unknown_elements() {
        let what = format!("HTML has no element '{name}'; its words are kept as text");
        parsed.warn(WarningKind::UnknownElement, document.position(line), what);
    }
}

fn check_size(parser: &Parser<Sink>, bytes: usize) -> Result<(), (u32, String)> {
    let sink = &parser.tokenizer.sink.sink;
    if let Some(line) = sink.too_deep() {
        return Err((line, too_deep()));
    }
    if sink.count() > bytes + NODES_BEYOND_BYTES_MAX {
        return Err((sink.line(), "unclosed elements are reopened too often".into()));
    }
    Ok(())
}

fn too_deep() -> String {
    format!("elements are nested more than {DEPTH_MAX} levels deep")
}

impl HtmlTree {
    pub(crate) fn root(&self) -> Element<'_> {
        Element { tree: self, node: 0 }
    }

    /// The names of elements that are not HTML, each once with the line of the first. Their words are kept.
    fn unknown_elements(&self) -> impl Iterator<Item = (&str, u32)> {
        self.unknown.iter().map(|(name, line)| (name.as_str(), *line))
    }

    /// Walks the whole tree once: joins words, records unknown elements, and returns the line of an
    /// element that is nested too deeply. This is checked here because the parser may move elements
    /// after inserting them.
    fn normalise_words(&mut self) -> Option<u32> {
        let mut gap = InlineRun::default();
        let mut open = vec![(0, 0)];
        while let Some((place, depth)) = open.pop() {
            // A block element ends here, so the words that follow belong to another paragraph.
            let Some(node) = self.nodes.get(place) else {
                gap = InlineRun::default();
                continue;
            };
            if depth > DEPTH_MAX {
                return Some(node.line);
            }
            match flow(node.name()) {
                DisplayKind::Words if node.name.is_none() => gap.words(&mut self.nodes, place),
                DisplayKind::Words => {}
                DisplayKind::Block => {
                    gap = InlineRun::default();
                    open.push((BLOCK_END, depth));
                }
                DisplayKind::Unknown => _ = self.unknown.entry(node.name().to_owned()).or_insert(node.line),
            }
            open.extend(self.nodes[place].children.iter().rev().map(|&child| (child, depth + 1)));
        }
        None
    }
}

/// Marks the end of a block element, in place of a node index.
const BLOCK_END: usize = usize::MAX;

/// The words of one paragraph that only inline tags separate, with the white space there.
///
/// The programs that generate these pages put a line break before and after each tag:
/// `§ <a>1-1</a>⏎.` White space with a line break before a full stop is therefore ignored.
#[derive(Debug, Default)]
struct InlineRun {
    /// The indexes of the last words and of the white space since.
    places: Vec<usize>,
}

impl InlineRun {
    fn words(&mut self, nodes: &mut [HtmlNode], place: usize) {
        let bare = nodes[place].words.trim_start();
        if bare.is_empty() {
            if !self.places.is_empty() {
                self.places.push(place);
            }
            return;
        }
        let cut = nodes[place].words.len() - bare.len();
        if let Some((&last, blank)) = self.places.split_first() {
            let before = nodes[last].words.trim_end();
            let kept = before.len();
            let is_broken = nodes[last].words[kept..].contains('\n')
                || nodes[place].words[..cut].contains('\n')
                || blank.iter().any(|&blank| nodes[blank].words.contains('\n'));
            if is_broken && belong_together(before, bare) {
                // A sentence after a link begins directly after the full stop: `<a>1-1</a>⏎.The owner`.
                let sentence = bare.strip_prefix('.').filter(|rest| begins_with_word(rest));
                let words = sentence.map_or_else(|| StrTendril::from(bare), |rest| format!(". {rest}").into());
                nodes[last].words = StrTendril::from(before);
                blank.iter().for_each(|&blank| nodes[blank].words.clear());
                nodes[place].words = words;
            }
        }
        self.places.clear();
        self.places.push(place);
    }
}

/// Whether the words on both sides of a tag belong together, as one word or as a word and its
/// punctuation, despite line breaks.
fn belong_together(before: &str, after: &str) -> bool {
    let mut letters = after.chars();
    let (first, second) = (letters.next(), letters.next());
    let goes_on = match first {
        // Three dots are a separate word. `.5` is a number, unless it continues one: `<a>55.1-1202</a>⏎.1`.
        Some('.' | ':') => match second {
            Some(c) if c.is_ascii_digit() => before.ends_with(|c: char| c.is_ascii_digit()),
            second => second != Some('.') && !after.starts_with(". ."),
        },
        Some(c) => matches!(c, ',' | ';' | ')' | ']' | '”' | '’'),
        None => false,
    };
    goes_on || before.ends_with(['(', '[', '“', '‘'])
}

fn begins_with_word(text: &str) -> bool {
    let mut letters = text.chars();
    letters.next().is_some_and(char::is_uppercase) && letters.next().is_some_and(char::is_lowercase)
}

/// How an element behaves among words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DisplayKind {
    /// Its words are part of the paragraph around it.
    Words,
    /// It begins and ends a paragraph.
    Block,
    /// HTML has no such element; browsers show it inline.
    Unknown,
}

pub(crate) fn flow(name: &str) -> DisplayKind {
    match name {
        "" | "a" | "abbr" | "acronym" | "b" | "bdi" | "bdo" | "big" | "cite" | "code" | "data" | "del" | "dfn"
        | "em" | "font" | "i" | "ins" | "kbd" | "label" | "mark" | "nobr" | "q" | "rb" | "rp" | "rt" | "rtc"
        | "ruby" | "s" | "samp" | "small" | "span" | "strike" | "strong" | "sub" | "sup" | "time" | "tt" | "u"
        | "var" | "wbr" | "area" | "audio" | "base" | "basefont" | "bgsound" | "button" | "canvas" | "embed"
        | "iframe" | "img" | "input" | "link" | "map" | "meta" | "meter" | "noscript" | "object" | "output"
        | "param" | "picture" | "progress" | "script" | "select" | "slot" | "source" | "style" | "template"
        | "textarea" | "track" | "video" => DisplayKind::Words,
        "address" | "article" | "aside" | "blockquote" | "body" | "br" | "caption" | "center" | "col" | "colgroup"
        | "dd" | "details" | "dialog" | "dir" | "div" | "dl" | "dt" | "fieldset" | "figcaption" | "figure"
        | "footer" | "form" | "frame" | "frameset" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "head" | "header"
        | "hgroup" | "hr" | "html" | "legend" | "li" | "listing" | "main" | "menu" | "nav" | "ol" | "optgroup"
        | "option" | "p" | "plaintext" | "pre" | "search" | "section" | "summary" | "table" | "tbody" | "td"
        | "tfoot" | "th" | "thead" | "title" | "tr" | "ul" | "xmp" => DisplayKind::Block,
        _ => DisplayKind::Unknown,
    }
}

impl<'t> Element<'t> {
    fn node(self) -> &'t HtmlNode {
        &self.tree.nodes[self.node]
    }

    pub(crate) fn name(self) -> &'t str {
        self.node().name()
    }

    pub(crate) fn attribute(self, name: &str) -> Option<&'t str> {
        let mut attributes = self.node().attributes.iter();
        attributes.find(|own| &*own.name.local == name).map(|own| &*own.value)
    }

    pub(crate) fn line(self) -> u32 {
        self.node().line
    }

    pub(crate) fn parts(self) -> impl DoubleEndedIterator<Item = HtmlPart<'t>> {
        self.node().children.iter().filter_map(move |&child| match &self.tree.nodes[child] {
            HtmlNode { name: Some(_), .. } => Some(HtmlPart::Element(Element { tree: self.tree, node: child })),
            node => Some(HtmlPart::Words(&node.words)).filter(|_| !node.words.is_empty()),
        })
    }

    pub(crate) fn elements(self) -> impl DoubleEndedIterator<Item = Element<'t>> {
        self.parts().filter_map(|part| match part {
            HtmlPart::Element(element) => Some(element),
            HtmlPart::Words(_) => None,
        })
    }

    /// All its words, separated by single spaces.
    pub(crate) fn text(self) -> String {
        let mut words = String::new();
        self.gather(&mut words);
        words.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn gather(self, words: &mut String) {
        for part in self.parts() {
            match part {
                HtmlPart::Words(own) => words.push_str(own),
                HtmlPart::Element(element) => {
                    let is_block = flow(element.name()) == DisplayKind::Block;
                    if is_block {
                        words.push(' ');
                    }
                    element.gather(words);
                    if is_block {
                        words.push(' ');
                    }
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
            HtmlPart::Words(words) => words.trim().to_owned(),
            HtmlPart::Element(element) => format!("{}({})", element.name(), shape(element)),
        });
        parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
    }

    fn parsed(html: &str) -> HtmlTree {
        parse(&Document { place: "a.html".into(), bytes: html.into() }).unwrap()
    }

    fn shaped(html: &str) -> String {
        let shape = shape(parsed(html).root());
        shape.strip_prefix("html(head() body(").and_then(|body| body.strip_suffix("))")).unwrap().to_owned()
    }

    #[test]
    fn omitted_html_tags_are_added() {
        assert_eq!(
            shaped("<p>a<p>b<ol><li>c<li>d<ol><li>e</ol><li>f</ol>g"),
            "p(a) p(b) ol(li(c) li(d ol(li(e))) li(f)) g"
        );
        assert_eq!(shaped("<dl><dt>a<dd>b<dt>c</dl>"), "dl(dt(a) dd(b) dt(c))");
        assert_eq!(shaped("<table>z<tr><td>a<td>b<tr><th>c</table>"), "z table(tbody(tr(td(a) td(b)) tr(th(c))))");
        assert_eq!(shaped("a<br>b</i></div>c &sect;&#160;1"), "a br() bc §\u{a0}1");
        assert_eq!(shaped("<P CLASS=x>a<script>if (a<b) '</p>'</script>b<!-- c -->"), "p(a script() b)");
        assert_eq!(shaped("<p><b>a<p>b</b>c"), "p(b(a)) p(b(b) c)");
        assert_eq!(
            shaped("<p>x</p><noscript>a</noscript><template><p>b</template>"),
            "p(x) noscript(a) template(p(b))"
        );
    }

    #[test]
    fn lines_are_counted_and_depth_and_size_are_bounded() {
        let body = parsed("<p>a</p>\n\n<p>b</p>");
        let body = body.root().elements().next().unwrap().elements().last().unwrap();
        assert_eq!(body.elements().map(Element::line).collect::<Vec<_>>(), [1, 3]);
        let refused = |html: &str| parse(&Document { place: "a.html".into(), bytes: html.into() }).err().unwrap();
        let (position, what) = refused(&"<div>".repeat(DEPTH_MAX + 2));
        assert!(position.to_string() == "a.html:1" && what.contains("nested more than"), "{position}: {what}");
        let unclosed: String = (0..100).map(|style| format!("<b class={style}>")).collect();
        let (position, what) = refused(&format!("<p>{unclosed}\n{}", "<p>x".repeat(1_000)));
        assert!(position.to_string() == "a.html:2" && what.contains("reopened too often"), "{position}: {what}");
        parsed("<p>\u{0}</p>");
    }

    /// Programs that generate pages put a line break before and after each tag.
    #[test]
    fn line_breaks_at_tags_do_not_separate_punctuation() {
        let text = |html: &str| parsed(html).root().text();
        assert_eq!(
            text("<p>under §\n<cite>\n<a>\n55.1-1202\n</a>\n</cite>\n.The tenant"),
            "under § 55.1-1202. The tenant"
        );
        assert_eq!(text("<p>(\n<i>a\n</i>\n),\n“<b>\nb</b>\n”; <i>c</i>\n, d"), "(a), “b”; c, d");
        assert_eq!(
            text("<p>§ <a>55.1-1202</a>\n.1 and <a>8.01</a>\n:1; <b>pay</b>\n.5 percent"),
            "§ 55.1-1202.1 and 8.01:1; pay .5 percent"
        );
        // White space without a line break is intended by the author, and three dots are a word.
        assert_eq!(text("<p><i>a</i> , b <i>c</i>\n. . . d <i>e</i>\nf"), "a , b c . . . d e f");
        assert_eq!(text("<p><i>a</i>\n<p>, b"), "a , b");
    }

    #[test]
    fn unknown_html_elements_are_text_with_one_warning() {
        let tree = parsed("<p>a\n<o:p>b</o:p>\n<law>c</law><law>d</law>");
        assert_eq!(tree.root().text(), "a b cd");
        assert_eq!(tree.unknown_elements().collect::<Vec<_>>(), [("law", 3), ("o:p", 2)]);
    }
}
