//! The nodes of an HTML document in the form that html5ever requires: indexes into one list.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

use html5ever::interface::{ElementFlags, NodeOrText, QuirksMode};
use html5ever::tendril::StrTendril;
use html5ever::tree_builder::TreeSink;
use html5ever::{Attribute, ExpandedName, QualName, local_name, ns};

/// The maximum nesting of elements.
pub(super) const DEPTH_MAX: usize = 200;

/// An element or words. The document and comments are neither.
#[derive(Debug, Default)]
pub(super) struct HtmlNode {
    pub(super) name: Option<Rc<QualName>>,
    pub(super) words: StrTendril,
    pub(super) attributes: Vec<Attribute>,
    pub(super) parent: Option<usize>,
    pub(super) children: Vec<usize>,
    /// Its depth when it was inserted.
    pub(super) depth: usize,
    pub(super) line: u32,
}

impl HtmlNode {
    pub(super) fn name(&self) -> &str {
        self.name.as_ref().map_or("", |name| &name.local)
    }
}

/// A node for the parser: its index, and its name, which the parser requests often.
#[derive(Clone)]
pub(super) struct Handle {
    place: usize,
    name: Rc<QualName>,
}

/// The nodes so far; the first is the document.
pub(super) struct Sink {
    nodes: RefCell<Vec<HtmlNode>>,
    /// The name of comments and of the document.
    no_name: Rc<QualName>,
    line: Cell<u32>,
    /// The line of the first element that is nested too deeply.
    too_deep: Cell<Option<u32>>,
}

impl Sink {
    pub(super) fn new() -> Self {
        let no_name = Rc::new(QualName::new(None, ns!(), local_name!("")));
        let nodes = RefCell::new(vec![HtmlNode::default()]);
        Self { nodes, no_name, line: Cell::new(1), too_deep: Cell::new(None) }
    }

    pub(super) fn line(&self) -> u32 {
        self.line.get()
    }

    pub(super) fn too_deep(&self) -> Option<u32> {
        self.too_deep.get()
    }

    pub(super) fn count(&self) -> usize {
        self.nodes.borrow().len()
    }

    /// Adds a node without a parent.
    fn add(&self, node: HtmlNode, name: Rc<QualName>) -> Handle {
        let mut nodes = self.nodes.borrow_mut();
        nodes.push(node);
        Handle { place: nodes.len() - 1, name }
    }

    /// Inserts a node or words among the children of a parent, before the child at `index`.
    fn insert(&self, parent: usize, index: usize, new: NodeOrText<Handle>) {
        let nodes = &mut *self.nodes.borrow_mut();
        let place = match new {
            NodeOrText::AppendNode(node) => node.place,
            NodeOrText::AppendText(words) => {
                if matches!(nodes[parent].name(), "script" | "style") {
                    return;
                }
                let before = index.checked_sub(1).map(|before| nodes[parent].children[before]);
                if let Some(before) = before.filter(|before| !nodes[*before].words.is_empty()) {
                    nodes[before].words.push_tendril(&words);
                    return;
                }
                nodes.push(HtmlNode { words, ..HtmlNode::default() });
                nodes.len() - 1
            }
        };
        let depth = nodes[parent].depth + 1;
        if depth > DEPTH_MAX && self.too_deep.get().is_none() {
            self.too_deep.set(Some(nodes[place].line));
        }
        nodes[place].depth = depth;
        nodes[place].parent = Some(parent);
        nodes[parent].children.insert(index, place);
    }

    fn detach(&self, place: usize) {
        let nodes = &mut *self.nodes.borrow_mut();
        let Some(parent) = nodes[place].parent.take() else { return };
        if let Some(index) = index_in(nodes, parent, place) {
            nodes[parent].children.remove(index);
        }
    }
}

/// The index of a child among its siblings. The search starts at the end, where it usually is.
fn index_in(nodes: &[HtmlNode], parent: usize, child: usize) -> Option<usize> {
    nodes[parent].children.iter().rposition(|&own| own == child)
}

impl TreeSink for Sink {
    type Handle = Handle;
    type Output = Vec<HtmlNode>;
    type ElemName<'a> = ExpandedName<'a>;

    fn finish(self) -> Vec<HtmlNode> {
        self.nodes.into_inner()
    }

    fn parse_error(&self, _: Cow<'static, str>) {}

    fn get_document(&self) -> Handle {
        Handle { place: 0, name: self.no_name.clone() }
    }

    fn elem_name<'a>(&'a self, target: &'a Handle) -> ExpandedName<'a> {
        target.name.expanded()
    }

    fn create_element(&self, name: QualName, attributes: Vec<Attribute>, _: ElementFlags) -> Handle {
        let name = Rc::new(name);
        let node = HtmlNode { name: Some(name.clone()), attributes, line: self.line(), ..HtmlNode::default() };
        self.add(node, name)
    }

    /// A comment becomes a node without a name and words, which is never shown.
    fn create_comment(&self, _: StrTendril) -> Handle {
        self.add(HtmlNode::default(), self.no_name.clone())
    }

    fn create_pi(&self, _: StrTendril, _: StrTendril) -> Handle {
        self.add(HtmlNode::default(), self.no_name.clone())
    }

    fn append(&self, parent: &Handle, child: NodeOrText<Handle>) {
        let end = self.nodes.borrow()[parent.place].children.len();
        self.insert(parent.place, end, child);
    }

    fn append_based_on_parent_node(&self, element: &Handle, before: &Handle, child: NodeOrText<Handle>) {
        let lies_somewhere = self.nodes.borrow()[element.place].parent.is_some();
        if lies_somewhere {
            self.append_before_sibling(element, child);
        } else {
            self.append(before, child);
        }
    }

    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}

    /// The content of a template is law like all other content.
    fn get_template_contents(&self, target: &Handle) -> Handle {
        target.clone()
    }

    fn same_node(&self, one: &Handle, other: &Handle) -> bool {
        one.place == other.place
    }

    fn set_quirks_mode(&self, _: QuirksMode) {}

    fn append_before_sibling(&self, sibling: &Handle, new: NodeOrText<Handle>) {
        if let NodeOrText::AppendNode(node) = &new {
            self.detach(node.place);
        }
        let place = {
            let nodes = self.nodes.borrow();
            nodes[sibling.place].parent.and_then(|parent| Some((parent, index_in(&nodes, parent, sibling.place)?)))
        };
        if let Some((parent, index)) = place {
            self.insert(parent, index, new);
        }
    }

    fn add_attrs_if_missing(&self, target: &Handle, attributes: Vec<Attribute>) {
        let own = &mut self.nodes.borrow_mut()[target.place].attributes;
        for attribute in attributes {
            if own.iter().all(|own| own.name != attribute.name) {
                own.push(attribute);
            }
        }
    }

    fn remove_from_parent(&self, target: &Handle) {
        self.detach(target.place);
    }

    fn reparent_children(&self, node: &Handle, new_parent: &Handle) {
        let nodes = &mut *self.nodes.borrow_mut();
        let children = std::mem::take(&mut nodes[node.place].children);
        for &child in &children {
            nodes[child].parent = Some(new_parent.place);
        }
        nodes[new_parent.place].children.extend(children);
    }

    fn set_current_line(&self, line: u64) {
        self.line.set(u32::try_from(line).unwrap_or(u32::MAX));
    }
}
