//! Chooses one reading for each label so that the series of a text are as regular as possible.
//!
//! Every way to read the labels so far is a state: the open series, and a cost for everything
//! irregular about them. A label continues a series, begins one within the last series, or is text.
//! The cheapest states are kept (beam search), so that later labels decide how earlier ones are
//! read.

use std::ops::{Deref, DerefMut};

use super::scheme::Scheme;
use super::token::{Alphabet, LabelPosition, LabelPunctuation, Prefix, Reading, Style};

/// The number of states kept after each line.
const BEAM: usize = 16;
/// A state that costs this much more than the best is dropped. At least three labels would have to
/// be misread to recover it.
const SLACK: u32 = 33;
/// The maximum depth of nesting.
const LEVELS_MAX: usize = 12;

/// The costs of irregularities. Their order matters more than their exact values.
mod cost {
    /// A series begins.
    pub(super) const BEGIN: u32 = 2;
    /// Its style is not the one that the scheme has at its depth.
    pub(super) const OFF_SCHEME: u32 = 3;
    /// It begins within a series of the same style.
    pub(super) const WITHIN_ITSELF: u32 = 10;
    /// It begins within a series of the same style, and the scheme has such a level.
    pub(super) const WITHIN_ITSELF_BY_SCHEME: u32 = 2;
    /// It does not begin with its first label. Paid once, plus a cost for each missing label.
    pub(super) const LATE: u32 = 8;
    pub(super) const MISSING: u32 = 2;
    pub(super) const MISSING_MAX: u32 = 6;
    /// It skips labels.
    pub(super) const SKIP: u32 = 5;
    /// It starts again after a paragraph without a label, such as a definition.
    pub(super) const ANEW: u32 = 3;
    pub(super) const ANEW_AT_ONCE: u32 = 10;
    /// The same label occurs twice.
    pub(super) const TWICE: u32 = 9;
    /// Only one of two neighbours is in italics.
    pub(super) const ITALICS: u32 = 3;
    /// A series ends after one label.
    pub(super) const ALONE: u32 = 3;
    /// Something that looks like a label is text.
    pub(super) const TEXT: u32 = 11;
}

/// An open series of labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LabelSeries {
    style: Style,
    count: LabelPosition,
    is_alone: bool,
    /// A paragraph without a label followed its last label.
    interrupted: bool,
}

/// The open series, outermost first. States are copied often, so it is stored inline without heap allocation.
#[derive(Clone, Copy, Debug)]
struct SeriesStack {
    series: [LabelSeries; LEVELS_MAX],
    depth: usize,
}

impl SeriesStack {
    const NONE: Self = {
        let style = Style { form: LabelPunctuation::Parentheses, alphabet: Alphabet::Number, italic: false };
        let series =
            LabelSeries { style, count: LabelPosition { main: 0, inserted: 0 }, is_alone: false, interrupted: false };
        Self { series: [series; LEVELS_MAX], depth: 0 }
    };

    fn push(&mut self, series: LabelSeries) {
        self.series[self.depth] = series;
        self.depth += 1;
    }
}

impl Deref for SeriesStack {
    type Target = [LabelSeries];

    fn deref(&self) -> &[LabelSeries] {
        &self.series[..self.depth]
    }
}

impl DerefMut for SeriesStack {
    fn deref_mut(&mut self) -> &mut [LabelSeries] {
        &mut self.series[..self.depth]
    }
}

#[derive(Clone, Debug)]
struct BeamState {
    open: SeriesStack,
    cost: u32,
    /// Its index in the list of choices.
    choice: usize,
}

/// The choice made for a line, and the choice before it.
struct LineChoice {
    before: usize,
    line: usize,
    depth: Option<usize>,
}

/// For each line with labels, the number of labels above it.
pub(super) fn depths(prefixes: &[Prefix], scheme: &Scheme) -> Vec<Option<usize>> {
    const NONE: usize = usize::MAX;
    let mut choices: Vec<LineChoice> = Vec::new();
    let mut beam = vec![BeamState { open: SeriesStack::NONE, cost: 0, choice: NONE }];
    // Refilled for every labelled line; declared here to reuse their memory.
    let mut next: Vec<(BeamState, Option<usize>)> = Vec::new();
    let mut order: Vec<usize> = Vec::new();
    for (line, prefix) in prefixes.iter().enumerate() {
        if prefix.labels.is_empty() {
            beam.iter_mut().for_each(BeamState::interrupt);
            continue;
        }
        next.clear();
        for state in &beam {
            state.after(prefix, scheme, &mut next);
            let mut text = BeamState { cost: state.cost + cost::TEXT, ..state.clone() };
            text.interrupt();
            next.push((text, None));
        }
        let dearest = next.iter().map(|(state, _)| state.cost).min().unwrap_or(0) + SLACK;
        order.clear();
        order.extend((0..next.len()).filter(|&at| next[at].0.cost <= dearest));
        // A stable sort: of equal states, the one found first stays first.
        order.sort_by_key(|&at| next[at].0.cost);
        beam.clear();
        for &at in &order {
            if beam.len() == BEAM {
                break;
            }
            let (state, depth) = &next[at];
            if beam.iter().any(|kept| *kept.open == *state.open) {
                continue;
            }
            choices.push(LineChoice { before: state.choice, line, depth: *depth });
            beam.push(BeamState { choice: choices.len() - 1, ..state.clone() });
        }
    }
    let best = beam.iter().min_by_key(|state| state.cost + alone(&state.open));
    let mut depths = vec![None; prefixes.len()];
    let mut at = best.map_or(NONE, |state| state.choice);
    while let Some(choice) = choices.get(at) {
        depths[choice.line] = choice.depth;
        at = choice.before;
    }
    depths
}

/// The cost of ending these series.
fn alone(series: &[LabelSeries]) -> u32 {
    series.iter().filter(|series| series.is_alone).count() as u32 * cost::ALONE
}

impl BeamState {
    fn interrupt(&mut self) {
        self.open.iter_mut().for_each(|series| series.interrupted = true);
    }

    /// Adds every way to continue with a line, with the depth of its first label.
    fn after(&self, prefix: &Prefix, scheme: &Scheme, ways: &mut Vec<(Self, Option<usize>)>) {
        let [first, rest @ ..] = prefix.labels.as_slice() else { return };
        let start = ways.len();
        self.after_label(first, scheme, ways);
        for label in rest {
            let before: Vec<(Self, Option<usize>)> = ways.drain(start..).collect();
            for (state, depth) in &before {
                let begun = label.iter().filter_map(|reading| state.begin(*reading, scheme));
                ways.extend(begun.map(|state| (state, *depth)));
            }
        }
    }

    fn after_label(&self, readings: &[Reading], scheme: &Scheme, ways: &mut Vec<(Self, Option<usize>)>) {
        for reading in readings {
            for depth in (0..self.open.len()).rev() {
                if self.open[depth].style.is_like(reading.style) {
                    ways.push((self.go_on(*reading, depth), Some(depth)));
                }
            }
            ways.extend(self.begin(*reading, scheme).map(|state| (state, Some(self.open.len()))));
        }
    }

    /// Reads the label as the next one of the series at this depth. Deeper series end.
    fn go_on(&self, reading: Reading, depth: usize) -> Self {
        let series = self.open[depth];
        let missing = u32::from(reading.first.main.saturating_sub(series.count.main).saturating_sub(1));
        let irregular = if reading.first.follows(series.count) {
            0
        } else if reading.first.main == 1 && series.interrupted {
            cost::ANEW
        } else if reading.first.main == 1 {
            cost::ANEW_AT_ONCE
        } else if reading.first > series.count {
            cost::SKIP + (missing * cost::MISSING).min(cost::MISSING_MAX)
        } else {
            cost::TWICE + u32::from(reading.first != series.count) * cost::SKIP
        };
        let italics = if reading.style.italic == series.style.italic { 0 } else { cost::ITALICS };
        let mut open = self.open;
        open.depth = depth + 1;
        open[depth] = LabelSeries { count: reading.last, is_alone: false, interrupted: false, style: series.style };
        let ended = alone(&self.open[depth + 1..]);
        // The labels of the outer series now count as continued.
        open[..depth].iter_mut().for_each(|series| series.interrupted = false);
        Self { open, cost: self.cost + irregular + italics + ended, choice: self.choice }
    }

    /// Reads the label as the first of a new series within the last one.
    fn begin(&self, reading: Reading, scheme: &Scheme) -> Option<Self> {
        let depth = self.open.len();
        if depth >= LEVELS_MAX {
            return None;
        }
        let style = reading.style;
        let mut added = cost::BEGIN;
        let expected = scheme.level(depth);
        let by_scheme = expected.is_some_and(|expected| expected.is_like(style));
        if !by_scheme && !scheme.levels.is_empty() && !self.is_next_of_scheme(style, scheme) {
            added += cost::OFF_SCHEME;
        }
        if let Some(same) = self.open.iter().rev().find(|series| series.style.is_like(style)) {
            added += match (same.style.italic != style.italic, by_scheme) {
                (true, _) => 0,
                (false, true) => cost::WITHIN_ITSELF_BY_SCHEME,
                (false, false) => cost::WITHIN_ITSELF,
            };
        }
        if reading.first.main != 1 {
            let missing = u32::from(reading.first.main - 1);
            added += cost::LATE + (missing * cost::MISSING).min(cost::MISSING_MAX);
        }
        let mut open = self.open;
        open.iter_mut().for_each(|series| series.interrupted = false);
        let is_alone = reading.first == reading.last;
        open.push(LabelSeries { style, count: reading.last, is_alone, interrupted: false });
        Some(Self { open, cost: self.cost + added, choice: self.choice })
    }

    /// Whether the scheme has this style directly within that of the last series, at any depth,
    /// because an unlabelled definition may begin with the second level.
    fn is_next_of_scheme(&self, style: Style, scheme: &Scheme) -> bool {
        match self.open.last() {
            Some(last) => scheme.levels.windows(2).any(|pair| pair[0].is_like(last.style) && pair[1].is_like(style)),
            None => false,
        }
    }
}
