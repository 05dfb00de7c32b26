//! The inner loops in plain Rust. The tests compare the other versions with these.

use super::LANES;

pub(super) fn dots_in_run(query: &[i16], rows: &[i8], dots: &mut [i32]) {
    for (dot, row) in dots.iter_mut().zip(rows.chunks_exact(query.len())) {
        *dot = dot_of_query(query, row);
    }
}

pub(super) fn dots_at(query: &[i16], rows: &[i8], numbers: &[u32], dots: &mut [i32]) {
    for (dot, &number) in dots.iter_mut().zip(numbers) {
        let row = row_at(rows, number, query.len());
        *dot = row.map_or(i32::MIN, |row| dot_of_query(query, row));
    }
}

pub(super) fn dot_of_codes(left: &[i8], right: &[i8]) -> i32 {
    left.iter().zip(right).map(|(&a, &b)| i32::from(a) * i32::from(b)).sum()
}

/// The score of a row, before its scale. Its value depends on the order of additions, so the order is part of the
/// format: dimension d is added to lane d mod 32, each lane in order of d, without fused multiply-add; lanes 8
/// apart are then added as (0 + 8) + (16 + 24), the eight sums as 0 + 4, then 0 + 2, then 0 + 1.
pub(super) fn score(query: &[f32], codes: &[i8], residuals: &[u8]) -> f32 {
    let mut lanes = [0.0f32; LANES];
    let groups = query.as_chunks::<LANES>().0.iter();
    let rows = codes.as_chunks::<LANES>().0.iter().zip(residuals.as_chunks::<{ LANES / 2 }>().0);
    for (query, (codes, residuals)) in groups.zip(rows) {
        for (place, &pair) in residuals.iter().enumerate() {
            let (low, high) = (place, place + LANES / 2);
            lanes[low] += query[low] * sixteenths(codes[low], pair & 15);
            lanes[high] += query[high] * sixteenths(codes[high], pair >> 4);
        }
    }
    sum_of_lanes(&lanes)
}

/// A row's value in one dimension, in sixteenths of its scale: the code's eight bits and the four below them.
fn sixteenths(code: i8, nibble: u8) -> f32 {
    f32::from(i16::from(code) * 16 + i16::from(nibble) - 8)
}

fn sum_of_lanes(lanes: &[f32; LANES]) -> f32 {
    let mut sums = [0.0f32; 8];
    for (place, sum) in sums.iter_mut().enumerate() {
        *sum = (lanes[place] + lanes[place + 8]) + (lanes[place + 16] + lanes[place + 24]);
    }
    for width in [4, 2, 1] {
        for place in 0..width {
            sums[place] += sums[place + width];
        }
    }
    sums[0]
}

fn dot_of_query(query: &[i16], row: &[i8]) -> i32 {
    query.iter().zip(row).map(|(&q, &c)| i32::from(q) * i32::from(c)).sum()
}

/// A row by its number, if the file has that row.
pub(super) fn row_at(rows: &[i8], number: u32, dims: usize) -> Option<&[i8]> {
    let start = (number as usize).checked_mul(dims)?;
    rows.get(start..start.checked_add(dims)?)
}
