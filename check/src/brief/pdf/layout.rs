//! Lines and paragraphs from pieces of text. What repeats at the edge of pages is kept out of the paragraphs that run
//! over the end of a page.

use std::collections::{HashMap, HashSet};

use super::content::PrintedPiece;
use crate::brief::{BlockWriter, BriefBlockKind};

/// The lines at the top and the bottom of a page that may be headers and footers.
const EDGE_LINES: usize = 3;

/// A paragraph indented on both sides by at least this many points is a block quotation.
const QUOTE_INDENT: f64 = 18.0;

/// A column of at least this many numbers at the edge of a page numbers its lines.
const NUMBERED_LINES: usize = 10;

#[derive(Clone, Debug)]
struct PrintedLine {
    text: String,
    left: f64,
    right: f64,
    y: f64,
    size: f64,
    /// Counted from the top of the page.
    number: u32,
    kind: PrintedLineKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PrintedLineKind {
    Body,
    Note,
    /// A header, a footer or the number of a page.
    Edge,
}

/// What lines of a page have in common.
struct PageShape {
    left: f64,
    right: f64,
    /// The distance of most lines from the next.
    leading: f64,
}

pub(super) fn write(pages: Vec<Vec<PrintedPiece>>, writer: &mut BlockWriter) {
    let mut pages: Vec<Vec<PrintedLine>> = pages.into_iter().map(lines).collect();
    mark_edges(&mut pages);
    let size = common(pages.iter().flatten().map(|line| line.size), 0.1).unwrap_or(1.0);
    let mut open = PrintedParagraph::default();
    // What comes after the open paragraph: it may go on on the next page.
    let mut waiting: Vec<(u32, PrintedLine)> = Vec::new();
    let mut edges_written = HashSet::new();
    for (number, mut page) in (1..).zip(pages) {
        mark_notes(&mut page, size);
        let shape = shape(&page);
        for line in page {
            match line.kind {
                PrintedLineKind::Edge if !edges_written.insert(without_numbers(&line.text)) => {}
                PrintedLineKind::Body => {
                    if !open.continues(number, &line, &shape) {
                        open.write(writer);
                        write_waiting(&mut waiting, writer);
                    }
                    open.push(number, line, &shape);
                }
                _ => waiting.push((number, line)),
            }
        }
    }
    open.write(writer);
    write_waiting(&mut waiting, writer);
}

/// Headers, footers and notes: each note begins with its number or sign.
fn write_waiting(waiting: &mut Vec<(u32, PrintedLine)>, writer: &mut BlockWriter) {
    let mut note = PrintedParagraph { is_note: true, ..PrintedParagraph::default() };
    for (page, line) in waiting.drain(..) {
        let begins_note =
            line.text.starts_with(|first: char| first.is_ascii_digit() || matches!(first, '*' | '†' | '‡'));
        if line.kind == PrintedLineKind::Edge || begins_note {
            note.write(writer);
        }
        let is_edge = line.kind == PrintedLineKind::Edge;
        note.is_note = !is_edge;
        note.lines.push((page, line));
        if is_edge {
            note.write(writer);
        }
    }
    note.write(writer);
}

#[derive(Default)]
struct PrintedParagraph {
    lines: Vec<(u32, PrintedLine)>,
    is_quote: bool,
    is_note: bool,
}

impl PrintedParagraph {
    fn continues(&self, page: u32, line: &PrintedLine, shape: &PageShape) -> bool {
        let Some((last_page, last)) = self.lines.last() else { return true };
        if (last.size - line.size).abs() > 0.15 * last.size.max(line.size) {
            return false;
        }
        let em = line.size;
        let down = last.y - line.y;
        let is_same_column = *last_page == page && down > 0.0;
        // The line below the first of an indented paragraph begins further left; one further right begins a paragraph.
        let is_indented = match is_same_column {
            true => line.left > last.left + 0.8 * em,
            false => line.left > shape.left + 0.8 * em && (line.left - last.left).abs() > 0.8 * em,
        };
        let ends = ends_sentence(&last.text);
        if is_same_column {
            let is_quote_end = self.is_quote && line.left < last.left - QUOTE_INDENT + 1.0 && self.lines.len() > 1;
            let is_short = last.right < shape.right - 0.25 * (shape.right - shape.left);
            let is_far = down > 1.3 * shape.leading;
            let begins = is_far || is_indented || is_quote_end || is_short && ends;
            return !begins;
        }
        let goes_on = line.text.chars().find(|first| first.is_alphabetic()).is_some_and(char::is_lowercase);
        goes_on || !ends || !is_indented && last.right > shape.right - 6.0 * em
    }

    fn push(&mut self, page: u32, line: PrintedLine, shape: &PageShape) {
        let is_inside = line.left >= shape.left + QUOTE_INDENT && line.right <= shape.right - 0.5 * QUOTE_INDENT;
        self.is_quote = is_inside && (self.is_quote || self.lines.is_empty());
        self.lines.push((page, line));
    }

    fn write(&mut self, writer: &mut BlockWriter) {
        let kind = match (self.is_note, self.is_quote && self.lines.len() > 1) {
            (true, _) => BriefBlockKind::Note,
            (false, true) => BriefBlockKind::Quote,
            (false, false) => BriefBlockKind::Paragraph,
        };
        let mut lines = self.lines.drain(..).peekable();
        while let Some((page, line)) = lines.next() {
            writer.begin_page_line(page, line.number);
            let next = lines.peek().map(|(_, next)| next.text.as_str());
            writer.push(without_hyphen(&line.text, next), None);
            if !is_hyphenated(&line.text, next) {
                writer.push(" ", None);
            }
        }
        writer.end(kind);
        self.is_quote = false;
    }
}

/// The hyphens at which a word is divided; the last is a soft one.
const HYPHENS: [char; 3] = ['-', '‐', '\u{ad}'];

/// A word is divided at the end of its line: a letter and a hyphen, and a small letter in the next line.
fn is_hyphenated(line: &str, next: Option<&str>) -> bool {
    let is_divided = line.strip_suffix(HYPHENS).is_some_and(|word| word.ends_with(char::is_alphabetic));
    let is_soft = line.ends_with('\u{ad}');
    is_divided
        && next.is_some_and(|next| {
            next.starts_with(|first: char| first.is_lowercase() || is_soft && first.is_alphabetic())
        })
}

fn without_hyphen<'a>(line: &'a str, next: Option<&str>) -> &'a str {
    match is_hyphenated(line, next) {
        true => line.trim_end_matches(HYPHENS),
        false => line,
    }
}

fn ends_sentence(text: &str) -> bool {
    text.trim_end_matches(['”', '’', '"', '\'', ')', ']']).ends_with(['.', ':', '?', '!'])
}

/// The lines of a page in reading order: that of the file, unless it jumps up within a column.
fn lines(mut pieces: Vec<PrintedPiece>) -> Vec<PrintedLine> {
    remove_line_numbers(&mut pieces);
    if jumps_up(&pieces) {
        // Pieces of one baseline differ by rounding, and by less than half a line.
        pieces.sort_by(|a, b| b.y.total_cmp(&a.y));
        let mut start = 0;
        for at in 1..=pieces.len() {
            let is_same = pieces.get(at).is_some_and(|piece| pieces[at - 1].y - piece.y < 0.3 * piece.size);
            if !is_same {
                pieces[start..at].sort_by(|a, b| a.left.total_cmp(&b.left));
                start = at;
            }
        }
    }
    order_around_right_to_left(&mut pieces);
    let mut lines: Vec<PrintedLine> = Vec::new();
    for piece in pieces {
        match lines.last_mut().filter(|line| is_same_line(line, &piece)) {
            Some(line) => {
                let gap = piece.left - line.right;
                let is_apart = gap > 0.17 * piece.size.min(line.size);
                if is_apart && !line.text.ends_with(' ') {
                    line.text.push(' ');
                }
                line.text.push_str(&piece.text);
                line.right = line.right.max(piece.right);
                line.size = line.size.max(piece.size);
            }
            None => lines.push(PrintedLine {
                text: piece.text,
                left: piece.left,
                right: piece.right,
                y: piece.y,
                size: piece.size,
                number: 0,
                kind: PrintedLineKind::Body,
            }),
        }
    }
    for line in &mut lines {
        line.text.truncate(line.text.trim_end().len());
    }
    lines.retain(|line| !line.text.trim_start().is_empty());
    number(&mut lines);
    lines
}

/// Letters that are written from right to left may be drawn one after the other to the left: what is drawn on their
/// baseline before and after them is put in order.
fn order_around_right_to_left(pieces: &mut [PrintedPiece]) {
    let groups = pieces.chunk_by_mut(|before, after| (before.y - after.y).abs() < 0.3 * before.size);
    for group in groups.filter(|group| group.iter().any(|piece| piece.is_right_to_left)) {
        group.sort_by(|a, b| a.left.total_cmp(&b.left));
    }
}

fn is_same_line(line: &PrintedLine, piece: &PrintedPiece) -> bool {
    let size = line.size.max(piece.size);
    (line.y - piece.y).abs() < 0.45 * size
        && piece.left > line.right - 0.6 * size
        && piece.left < line.right + 12.0 * size
}

/// Whether text is drawn above text of the same column that came before, other than headers drawn last.
fn jumps_up(pieces: &[PrintedPiece]) -> bool {
    pieces.windows(2).any(|pair| {
        let [before, after] = pair else { return false };
        let is_up = after.y > before.y + 0.5 * before.size;
        is_up && after.left < before.right && before.left < after.right
    })
}

fn remove_line_numbers(pieces: &mut Vec<PrintedPiece>) {
    let is_number = |piece: &PrintedPiece| {
        let text = piece.text.trim();
        (1..=2).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    #[expect(clippy::cast_possible_truncation, reason = "a float becomes the nearest number")]
    let column = |piece: &PrintedPiece| (piece.right / 3.0).round() as i64;
    let mut columns: HashMap<i64, usize> = HashMap::new();
    for piece in pieces.iter().filter(|piece| is_number(piece)) {
        *columns.entry(column(piece)).or_default() += 1;
    }
    pieces.retain(|piece| !is_number(piece) || columns.get(&column(piece)).is_none_or(|&count| count < NUMBERED_LINES));
}

/// Numbers the lines from the top of the page.
fn number(lines: &mut [PrintedLine]) {
    let mut order: Vec<usize> = (0..lines.len()).collect();
    order.sort_by(|&a, &b| lines[b].y.total_cmp(&lines[a].y));
    let (mut number, mut above) = (0, f64::INFINITY);
    for at in order {
        if above - lines[at].y > 0.45 * lines[at].size {
            number += 1;
            above = lines[at].y;
        }
        lines[at].number = number;
    }
}

/// Marks what is at the same height on two pages with the same words, apart from numbers.
fn mark_edges(pages: &mut [Vec<PrintedLine>]) {
    #[expect(clippy::cast_possible_truncation, reason = "a float becomes the nearest number")]
    let key = |line: &PrintedLine| (without_numbers(&line.text), (line.y / 4.0).round() as i64);
    let mut seen: HashMap<(String, i64), usize> = HashMap::new();
    for page in pages.iter() {
        let keys: HashSet<_> = page.iter().filter(|line| is_at_edge(line, page)).map(key).collect();
        for key in keys {
            *seen.entry(key).or_default() += 1;
        }
    }
    for page in pages {
        let at_edge: Vec<bool> = page.iter().map(|line| is_at_edge(line, page)).collect();
        for (line, _) in page.iter_mut().zip(at_edge).filter(|(_, at_edge)| *at_edge) {
            if seen.get(&key(line)).is_some_and(|&count| count > 1) {
                line.kind = PrintedLineKind::Edge;
            }
        }
    }
}

fn is_at_edge(line: &PrintedLine, page: &[PrintedLine]) -> bool {
    let last = page.iter().map(|line| line.number as usize).max().unwrap_or(0);
    let number = line.number as usize;
    number <= EDGE_LINES || number + EDGE_LINES > last
}

fn without_numbers(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character.is_ascii_digit() {
            true if out.ends_with('#') => {}
            true => out.push('#'),
            false => out.push(character),
        }
    }
    out
}

/// Marks the small text at the bottom of a page, from its first sign of a note on.
fn mark_notes(page: &mut [PrintedLine], size: f64) {
    let lowest = page.iter().filter(|line| line.kind == PrintedLineKind::Body && line.size > 0.92 * size);
    let lowest = lowest.map(|line| line.y).fold(f64::INFINITY, f64::min);
    if lowest.is_finite() {
        let below = page.iter_mut().filter(|line| line.kind == PrintedLineKind::Body && line.y < lowest);
        below.for_each(|line| line.kind = PrintedLineKind::Note);
    }
}

fn shape(page: &[PrintedLine]) -> PageShape {
    let body = || page.iter().filter(|line| line.kind == PrintedLineKind::Body);
    let gaps = page.windows(2).map(|pair| pair[0].y - pair[1].y).filter(|&gap| gap > 0.0);
    PageShape {
        left: body().map(|line| line.left).fold(f64::INFINITY, f64::min),
        right: body().map(|line| line.right).fold(f64::NEG_INFINITY, f64::max),
        leading: common(gaps, 0.5).unwrap_or(f64::INFINITY),
    }
}

/// The most frequent of some numbers, which are the same within a step; the smallest of several.
fn common(numbers: impl Iterator<Item = f64>, step: f64) -> Option<f64> {
    let mut counts: HashMap<i64, (usize, f64)> = HashMap::new();
    for number in numbers {
        #[expect(clippy::cast_possible_truncation, reason = "a float becomes the nearest number")]
        let entry = counts.entry((number / step).round() as i64).or_insert((0, number));
        entry.0 += 1;
    }
    let best = counts.into_values().max_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
    best.map(|(_, number)| number)
}
