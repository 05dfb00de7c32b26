//! A source file as the rules see it: its identifiers without comments, strings and unit tests, and
//! its imports.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

pub(crate) struct Source {
    /// The path from the root of the project.
    pub(crate) path: String,
    /// The path of its module in the package; empty for `lib.rs` and `main.rs`.
    pub(crate) module: Vec<String>,
    pub(crate) text: String,
    /// The text without comments and unit tests.
    pub(crate) code: String,
    /// All identifiers in the code.
    pub(crate) words: BTreeSet<String>,
    /// The names of called macros.
    pub(crate) macros: BTreeSet<String>,
    /// Paths within the package that the code names, from its root.
    pub(crate) imports: BTreeSet<Vec<String>>,
}

impl Source {
    /// The top-level module of the package that it belongs to.
    pub(crate) fn top_module(&self) -> Option<&str> {
        self.module.first().map(String::as_str)
    }
}

/// All sources in a folder of the project except files of unit tests, sorted by path.
pub(crate) fn package(folder: &str) -> Vec<Source> {
    let root = project().join(folder);
    let mut files = Vec::new();
    collect_files(&root, &mut files);
    files.sort();
    let sources: Vec<Source> =
        files.iter().filter(|file| !is_test_file(file, &root)).map(|file| read(file, &root)).collect();
    assert!(!sources.is_empty(), "no sources in {folder}");
    sources
}

pub(crate) fn text_of(file: &str) -> String {
    fs::read_to_string(project().join(file)).unwrap_or_else(|error| panic!("cannot read {file}: {error}"))
}

fn project() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn collect_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect_files(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

fn is_test_file(file: &Path, root: &Path) -> bool {
    let module = file.strip_prefix(root).unwrap_or(file).with_extension("");
    module.iter().any(|part| part == "tests" || part.to_str().is_some_and(|part| part.ends_with("_tests")))
}

fn read(file: &Path, root: &Path) -> Source {
    let text = fs::read_to_string(file).unwrap();
    let code = without_unit_tests(&without_comments(&text)).to_owned();
    let tokens = tokens(&code);
    let below = file.strip_prefix(root).unwrap().with_extension("");
    let mut module: Vec<String> = below.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    if module.last().is_some_and(|last| ["mod", "lib", "main"].contains(&last.as_str())) {
        module.pop();
    }
    Source {
        path: file.strip_prefix(project()).unwrap().to_string_lossy().into_owned(),
        words: tokens.iter().filter(|token| is_word(token)).cloned().collect(),
        macros: tokens.windows(2).filter(|pair| pair[1] == "!").map(|pair| pair[0].clone()).collect(),
        imports: imports(&tokens, &module),
        module,
        text,
        code,
    }
}

/// The text without comments. Strings are kept, even if they look like comments.
fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        out += match comment_start(line) {
            Some(start) => &line[..start],
            None => line,
        };
        out.push('\n');
    }
    out
}

/// The start of a line's comment: the first `//` outside a string.
fn comment_start(line: &str) -> Option<usize> {
    let bytes = line.as_bytes();
    let mut in_string = false;
    let mut place = 0;
    while place < bytes.len() {
        match bytes[place] {
            b'\\' if in_string => place += 1,
            b'"' if !is_quoted_quote(bytes, place) => in_string = !in_string,
            b'/' if !in_string && bytes.get(place + 1) == Some(&b'/') => return Some(place),
            _ => {}
        }
        place += 1;
    }
    None
}

/// Returns whether the quote is a character literal: `'"'` or `b'"'`.
fn is_quoted_quote(bytes: &[u8], place: usize) -> bool {
    place > 0 && bytes[place - 1] == b'\'' && bytes.get(place + 1) == Some(&b'\'')
}

/// The code without its unit tests, which are last in a file, in their own module.
fn without_unit_tests(code: &str) -> &str {
    code.split("#[cfg(test)]\nmod tests {").next().unwrap_or(code)
}

fn is_word(token: &str) -> bool {
    token.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

/// Identifiers, `::`, and single punctuation marks; strings are skipped.
fn tokens(code: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut rest = code;
    while let Some(first) = rest.chars().next() {
        let length = if first.is_alphanumeric() || first == '_' {
            let length = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
            tokens.push(rest[..length].to_owned());
            length
        } else if rest.starts_with("'\"'") {
            3
        } else if first == '"' {
            string_length(rest)
        } else if rest.starts_with("::") {
            tokens.push("::".to_owned());
            2
        } else {
            if !first.is_whitespace() {
                tokens.push(first.to_string());
            }
            first.len_utf8()
        };
        rest = &rest[length..];
    }
    tokens
}

fn string_length(rest: &str) -> usize {
    let mut escaped = false;
    for (place, byte) in rest.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return place + 1,
            _ => {}
        }
    }
    rest.len()
}

/// All paths in the package that start with `crate`, `super` or `self`, and all `use` declarations
/// of modules next to or below this one, each from the root of the package.
fn imports(tokens: &[String], module: &[String]) -> BTreeSet<Vec<String>> {
    let mut found = BTreeSet::new();
    let mut place = 0;
    while place < tokens.len() {
        let begins_use = tokens[place] == "use";
        // `pub(in hornbook_search)` declares visibility and imports nothing.
        let begins_path = ["crate", "hornbook", "super", "self"].contains(&tokens[place].as_str())
            && tokens.get(place + 1).is_some_and(|next| next == "::")
            && (place == 0 || !["::", "in"].contains(&tokens[place - 1].as_str()));
        if begins_use || begins_path {
            let start = place + usize::from(begins_use);
            let mut trees = Vec::new();
            place = tree(tokens, start, &[], &mut trees).max(place + 1);
            found.extend(trees.into_iter().filter_map(|path| from_root(path, module)));
        } else {
            place += 1;
        }
    }
    found
}

/// Parses a path, or a tree of paths in braces, and returns the index of the next token.
fn tree(tokens: &[String], mut place: usize, above: &[String], found: &mut Vec<Vec<String>>) -> usize {
    let at = |place: usize| tokens.get(place).map_or("", String::as_str);
    let mut path = above.to_vec();
    loop {
        if at(place) == "{" {
            place += 1;
            while !["}", ""].contains(&at(place)) {
                place = tree(tokens, place, &path, found).max(place + 1);
                place += usize::from(at(place) == ",");
            }
            return place + 1;
        }
        if is_word(at(place)) {
            path.push(at(place).to_owned());
        } else if at(place) != "*" {
            break;
        }
        place += 1;
        if at(place) != "::" {
            break;
        }
        place += 1;
    }
    // An alias of the same path.
    place += if at(place) == "as" { 2 } else { 0 };
    if path.len() > above.len() {
        found.push(path);
    }
    place
}

fn from_root(path: Vec<String>, module: &[String]) -> Option<Vec<String>> {
    let mut base = module.to_vec();
    let mut parts = path.into_iter().peekable();
    match parts.peek()?.as_str() {
        // The binary uses the library by its name.
        "crate" | "hornbook" => {
            parts.next();
            base.clear();
        }
        "self" => {
            parts.next();
        }
        "super" => {
            while parts.next_if(|part| part == "super").is_some() {
                base.pop();
            }
        }
        // Another crate, or a module below. The check for cycles decides by looking for such a file.
        _ => {}
    }
    base.extend(parts);
    Some(base)
}
