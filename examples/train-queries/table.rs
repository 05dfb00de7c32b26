//! The table that is trained, and its update steps.

use std::collections::BTreeMap;

use hornbook_corpus::embed::{DIMS, TOKEN_COUNT, TokenId, Vector, embedder};

use super::training_example::Gradient;

pub(super) type Row = [f32; DIMS];

/// The step size of the matrix that transforms all rows.
const MATRIX_STEP: f32 = 0.002;
/// The weight decay of the matrix, in the unit of its gradient.
const MATRIX_WEIGHT_DECAY: f32 = 0.1;
/// The largest step of one token's row, as a share of the mean row length.
const MOVE_STEP: f32 = 0.25;
/// The largest change of the logarithm of a row's length in one step.
const SCALE_STEP: f32 = 0.02;
/// The share of its move and stretch that a token loses each time it is trained.
const TOKEN_DECAY: f32 = 0.02;

/// The row of a token is its passage row, transformed by the common matrix, moved and scaled.
pub(super) struct Table {
    start: Vec<Row>,
    matrix: Vec<Row>,
    moved: Vec<Row>,
    log_scale: Vec<f32>,
    mean_length: f32,
}

impl Table {
    pub(super) fn of_passages() -> Self {
        let row = |token| {
            let (codes, scale) = embedder().passage_row(TokenId(token)).expect("every token has a row");
            codes.map(|code| f32::from(code) * scale)
        };
        let start: Vec<Row> = (0..TOKEN_COUNT as u16).map(row).collect();
        let mean_length = start.iter().map(|row| dot(row, row).sqrt()).sum::<f32>() / start.len() as f32;
        let (turn, moved) = (vec![[0.0; DIMS]; DIMS], vec![[0.0; DIMS]; TOKEN_COUNT]);
        Self { start, matrix: turn, moved, log_scale: vec![0.0; TOKEN_COUNT], mean_length }
    }

    /// The row before it is scaled.
    fn unstretched(&self, token: usize) -> Row {
        let start = &self.start[token];
        let mut row = *start;
        add(&mut row, 1.0, &self.moved[token]);
        for (component, turn) in start.iter().zip(&self.matrix) {
            add(&mut row, *component, turn);
        }
        row
    }

    pub(super) fn row(&self, token: TokenId) -> Row {
        let stretch = self.log_scale[token.index()].exp();
        self.unstretched(token.index()).map(|component| component * stretch)
    }

    pub(super) fn rows(&self) -> Vec<Row> {
        (0..TOKEN_COUNT as u16).map(|token| self.row(TokenId(token))).collect()
    }
}

/// The state of the optimiser. The matrix uses Adam. For the rest, a step is divided by the root of
/// the sum of squares of all gradients of that token, so a rare token moves no further than a
/// frequent one.
pub(super) struct Optimiser {
    steps: i32,
    turn_mean: Vec<Row>,
    turn_square: Vec<Row>,
    moved_square: Vec<f32>,
    stretch_square: Vec<f32>,
}

impl Default for Optimiser {
    fn default() -> Self {
        Self {
            steps: 0,
            turn_mean: vec![[0.0; DIMS]; DIMS],
            turn_square: vec![[0.0; DIMS]; DIMS],
            moved_square: vec![0.0; TOKEN_COUNT],
            stretch_square: vec![0.0; TOKEN_COUNT],
        }
    }
}

impl Optimiser {
    /// One step. `pace` scales the step size; 1 is a full step.
    pub(super) fn learn(&mut self, table: &mut Table, gradients: &[Gradient], pace: f32) {
        let mut turn = vec![[0.0; DIMS]; DIMS];
        let mut by_token: BTreeMap<usize, (Row, f32)> = BTreeMap::new();
        for Gradient { tokens, of_sum, .. } in gradients {
            for token in tokens.iter().map(|token| token.index()) {
                let stretch = table.log_scale[token].exp();
                let of_row = of_sum.map(|component| component * stretch);
                for (component, turn) in table.start[token].iter().zip(&mut turn) {
                    add(turn, *component, &of_row);
                }
                let (moved, stretched) = by_token.entry(token).or_insert(([0.0; DIMS], 0.0));
                add(moved, 1.0, &of_row);
                *stretched += dot(&of_row, &table.unstretched(token));
            }
        }
        self.turn(table, &turn, pace);
        for (token, (moved, stretched)) in by_token {
            self.moved_square[token] += dot(&moved, &moved) / DIMS as f32;
            let step = MOVE_STEP * pace * table.mean_length / 16.0 / (self.moved_square[token].sqrt() + 1e-8);
            add(&mut table.moved[token], -step, &moved);
            self.stretch_square[token] += stretched * stretched;
            table.log_scale[token] -= SCALE_STEP * pace * stretched / (self.stretch_square[token].sqrt() + 1e-8);
            let kept = 1.0 - TOKEN_DECAY * pace;
            table.log_scale[token] *= kept;
            table.moved[token].iter_mut().for_each(|component| *component *= kept);
        }
    }

    fn turn(&mut self, table: &mut Table, gradient: &[Row], pace: f32) {
        self.steps += 1;
        let unbiased = (1.0 - 0.9_f32.powi(self.steps), 1.0 - 0.98_f32.powi(self.steps));
        let rows = table.matrix.iter_mut().zip(gradient).zip(self.turn_mean.iter_mut().zip(&mut self.turn_square));
        for ((turn, gradient), (mean, square)) in rows {
            for place in 0..DIMS {
                let slope = gradient[place] + MATRIX_WEIGHT_DECAY * turn[place];
                mean[place] = 0.9 * mean[place] + 0.1 * slope;
                square[place] = 0.98 * square[place] + 0.02 * slope * slope;
                turn[place] -=
                    MATRIX_STEP * pace * (mean[place] / unbiased.0) / ((square[place] / unbiased.1).sqrt() + 1e-8);
            }
        }
    }
}

pub(super) fn dot(a: &Row, b: &Row) -> f32 {
    Vector(*a).dot(&Vector(*b))
}

pub(super) fn add(sum: &mut Row, times: f32, row: &Row) {
    for (sum, component) in sum.iter_mut().zip(row) {
        *sum += times * component;
    }
}
