//! Finds the code body that a name means. All accepted names form one graph of letters, like a trie, which is
//! walked from the start of a word of the text.
//!
//! Names are folded to lower-case letters, digits and single breaks between words. Words with several spellings
//! (`General`, `Gen.`) and jurisdictions (`N.Y.`, `New York`) form classes: the spellings of a class lead to one
//! shared node, which keeps the graph small. Initials may be separated (`U. S. C.`), the letters of other words may
//! not (`or s.` is not `ORS`).

use std::collections::HashMap;

use super::shared::SharedName;
use super::text::{CitationText, END};
use super::value::BodyRef;

const BREAK: u8 = b' ';
/// Longest run of periods, commas and spaces between two words of a name.
const SEPARATORS_MAX: usize = 26;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct BodyName {
    pub(super) body: BodyRef,
    /// Whether the first word must be in capitals: `AS 11.41.100` cites Alaska's statutes, `as 11.41.100` does not.
    pub(super) capitals: bool,
    /// The title that the name includes: `I.R.C.` is title 26 of the United States Code.
    pub(super) title: Option<&'static str>,
    /// The shared name, if the name may mean several codes. `body` is then the first of them.
    pub(super) shared: Option<SharedName>,
}

#[derive(Clone, Default)]
struct TrieNode {
    edges: Vec<(u8, u32)>,
    name: Option<BodyName>,
}

impl TrieNode {
    #[inline]
    fn edge(&self, label: u8) -> Option<u32> {
        self.edges.iter().find(|(edge, _)| *edge == label).map(|(_, target)| *target)
    }
}

/// Classes of spellings that mean the same in a name. A spelling belongs to at most one class.
#[derive(Clone, Default)]
pub(super) struct WordClasses {
    classes: Vec<Vec<String>>,
    class_of: HashMap<String, usize>,
}

impl WordClasses {
    pub(super) fn add(&mut self, spellings: Vec<String>) {
        let class = self.classes.len();
        for spelling in &spellings {
            let former = self.class_of.insert(spelling.clone(), class);
            assert!(former.is_none(), "the word '{spelling}' is in two classes of the form table");
        }
        self.classes.push(spellings);
    }

    fn spellings<'a>(&'a self, word: &'a String) -> &'a [String] {
        match self.class_of.get(word) {
            Some(class) => &self.classes[*class],
            None => std::slice::from_ref(word),
        }
    }
}

/// The words of a name, folded: `N.Y. Gen. Bus. Law` is `ny gen bus law`.
pub(super) fn fold_name(name: &str) -> Vec<String> {
    let mut words = Vec::new();
    let spaced = name.replace('&', " and ").replace(['\'', '’'], "").to_ascii_lowercase();
    for written in spaced.split(|c: char| !c.is_alphanumeric() && c != '.') {
        let mut initials = false;
        for piece in written.split('.').filter(|piece| !piece.is_empty()) {
            let single = piece.len() == 1;
            match words.last_mut() {
                Some(word) if initials && single => String::push_str(word, piece),
                _ => words.push(piece.to_owned()),
            }
            initials = single;
        }
    }
    words
}

#[derive(Clone)]
pub(super) struct NameTrie {
    nodes: Vec<TrieNode>,
    classes: WordClasses,
}

/// Another body already has this name.
#[derive(Debug)]
pub(super) struct NameTaken(pub(super) BodyRef);

impl NameTrie {
    pub(super) fn new(classes: WordClasses) -> Self {
        Self { nodes: vec![TrieNode::default()], classes }
    }

    pub(super) const ROOT: u32 = 0;

    /// Adds the spellings of a jurisdiction. Returns the node after them, which they share.
    pub(super) fn add_jurisdiction(&mut self, spellings: &[Vec<String>]) -> u32 {
        let mut shared = None;
        for words in spellings {
            let leaf = self.walk(Self::ROOT, &words.join(" "));
            match (self.nodes[leaf as usize].edge(BREAK), shared) {
                (Some(target), None) => shared = Some(target),
                (Some(target), Some(node)) => {
                    assert_eq!(target, node, "'{}' begins another jurisdiction's name", words.join(" "));
                }
                (None, None) => shared = Some(self.step(leaf, BREAK)),
                (None, Some(node)) => self.nodes[leaf as usize].edges.push((BREAK, node)),
            }
        }
        shared.unwrap_or(Self::ROOT)
    }

    /// Adds a name in all spellings of its words, beginning at the node `start`.
    pub(super) fn add(&mut self, start: u32, words: &[String], name: BodyName) -> Result<(), NameTaken> {
        let Some((word, rest)) = words.split_first() else {
            return Ok(());
        };
        let spellings = self.classes.spellings(word).to_vec();
        let leaves: Vec<u32> = spellings.iter().map(|spelling| self.walk(start, spelling)).collect();
        if rest.is_empty() {
            return leaves.into_iter().try_for_each(|leaf| self.set_name(leaf, name));
        }
        let mut targets: Vec<u32> = leaves.iter().filter_map(|leaf| self.nodes[*leaf as usize].edge(BREAK)).collect();
        targets.dedup();
        let shared = match targets.first() {
            Some(target) => *target,
            None => {
                self.nodes.push(TrieNode::default());
                (self.nodes.len() - 1) as u32
            }
        };
        for leaf in leaves {
            if self.nodes[leaf as usize].edge(BREAK).is_none() {
                self.nodes[leaf as usize].edges.push((BREAK, shared));
            }
        }
        if targets.is_empty() {
            targets.push(shared);
        }
        targets.into_iter().try_for_each(|target| self.add(target, rest, name))
    }

    fn set_name(&mut self, leaf: u32, name: BodyName) -> Result<(), NameTaken> {
        let slot = &mut self.nodes[leaf as usize].name;
        match slot {
            Some(held) if held.body != name.body => Err(NameTaken(held.body)),
            // If a body lists the name with and without required capitals, they are not required.
            Some(held) => {
                held.capitals &= name.capitals;
                Ok(())
            }
            None => {
                *slot = Some(name);
                Ok(())
            }
        }
    }

    fn walk(&mut self, mut node: u32, text: &str) -> u32 {
        for byte in text.bytes() {
            node = self.step(node, byte);
        }
        node
    }

    fn step(&mut self, node: u32, label: u8) -> u32 {
        if let Some(target) = self.nodes[node as usize].edge(label) {
            return target;
        }
        let target = self.nodes.len() as u32;
        self.nodes.push(TrieNode::default());
        self.nodes[node as usize].edges.push((label, target));
        target
    }

    /// The first two characters of every name. Each first character also comes with `None`, because initials may be
    /// separated and a name may have one letter.
    pub(super) fn first_letters(&self) -> impl Iterator<Item = (u8, Option<u8>)> {
        let root = &self.nodes[Self::ROOT as usize];
        root.edges.iter().flat_map(|(first, node)| {
            let seconds = self.nodes[*node as usize].edges.iter();
            let letters = seconds.map(|(second, _)| Some(*second).filter(|second| *second != BREAK));
            letters.chain([None]).map(|second| (*first, second))
        })
    }

    /// The longest name that begins at `pos`, and its end.
    pub(super) fn longest(&self, text: CitationText<'_>, pos: usize) -> Option<(BodyName, usize)> {
        let mut best = None;
        let walk = TrieWalk { node: Self::ROOT, pos, letters: 0, apart: false };
        self.follow(text, pos, walk, &mut best);
        best
    }

    fn follow(&self, text: CitationText<'_>, start: usize, mut walk: TrieWalk, best: &mut Option<(BodyName, usize)>) {
        loop {
            let (sign, len) = text.at(walk.pos);
            if sign == b'\'' {
                walk.pos += len;
                continue;
            }
            let node = &self.nodes[walk.node as usize];
            let word_goes_on = sign.is_ascii_alphabetic() || (sign.is_ascii_digit() && node.edge(sign).is_some());
            if word_goes_on {
                let Some(next) = node.edge(sign.to_ascii_lowercase()) else { return };
                walk = TrieWalk { node: next, pos: walk.pos + 1, letters: walk.letters + 1, apart: walk.apart };
                // `O.R.S.` may mean ORS, `or s.` may not: if one letter is separated, all letters must be.
                if walk.apart && walk.letters > 1 {
                    return;
                }
                continue;
            }
            if sign == END && walk.letters == 0 {
                return;
            }
            self.note(text, start, walk, best);
            let next_word = separators_end(text, walk.pos);
            if next_word == walk.pos && text.folded_at(next_word) != b'&' {
                return;
            }
            if walk.letters == 1 && text.folded_at(next_word).is_ascii_alphabetic() {
                self.follow(text, start, TrieWalk { pos: next_word, letters: 0, apart: true, ..walk }, best);
            }
            let Some(after_break) = node.edge(BREAK) else { return };
            walk = TrieWalk { node: after_break, pos: next_word, letters: 0, apart: false };
            if text.folded_at(next_word) == b'&' {
                let Some(and) =
                    "and".bytes().try_fold(after_break, |node, label| self.nodes[node as usize].edge(label))
                else {
                    return;
                };
                walk = TrieWalk { node: and, pos: next_word + 1, letters: 3, apart: false };
            }
        }
    }

    fn note(&self, text: CitationText<'_>, start: usize, walk: TrieWalk, best: &mut Option<(BodyName, usize)>) {
        let Some(name) = self.nodes[walk.node as usize].name else { return };
        let longer = best.is_none_or(|(_, end)| end < walk.pos);
        if longer && walk.letters > 0 && (!name.capitals || first_word_is_capitals(text, start, walk.pos)) {
            let end = if text.folded_at(walk.pos) == b'.' { walk.pos + 1 } else { walk.pos };
            *best = Some((name, end));
        }
    }
}

#[derive(Clone, Copy)]
struct TrieWalk {
    node: u32,
    pos: usize,
    /// Number of letters read in the current word of the text.
    letters: usize,
    /// Whether the current word of the name is written as separate initials.
    apart: bool,
}

fn separators_end(text: CitationText<'_>, mut pos: usize) -> usize {
    for _ in 0..SEPARATORS_MAX {
        let (sign, len) = text.at(pos);
        if !matches!(sign, b' ' | b'.' | b',' | b'-') {
            break;
        }
        pos += len;
    }
    pos
}

fn first_word_is_capitals(text: CitationText<'_>, start: usize, end: usize) -> bool {
    let name = text.slice(start, end);
    let word = name.split(' ').next().unwrap_or(name);
    word.bytes().all(|byte| !byte.is_ascii_lowercase())
}
