//! The loops over rows, which instruction sets share. Each has its own `dot_of_query` and `four_dots`.

/// Number of rows multiplied at once, so that each part of the query is loaded only once for all of them.
pub(super) const ROWS_AT_ONCE: usize = 4;

/// Defines `dots_in_run` and `dots_at` for an instruction set: what it may use decides how the loops are compiled.
macro_rules! loops_over_rows {
    ($feature:literal) => {
        #[target_feature(enable = $feature)]
        pub(super) fn dots_in_run(query: &[i16], rows: &[i8], dots: &mut [i32]) {
            let (fours, rest) = dots.as_chunks_mut::<ROWS_AT_ONCE>();
            let mut rows = rows.chunks_exact(query.len());
            for dots in fours {
                if let (Some(a), Some(b), Some(c), Some(d)) = (rows.next(), rows.next(), rows.next(), rows.next()) {
                    *dots = four_dots(query, [a, b, c, d]);
                }
            }
            for (dot, row) in rest.iter_mut().zip(rows) {
                *dot = dot_of_query(query, row);
            }
        }

        #[target_feature(enable = $feature)]
        pub(super) fn dots_at(query: &[i16], rows: &[i8], numbers: &[u32], dots: &mut [i32]) {
            for (dot, &number) in dots.iter_mut().zip(numbers) {
                *dot = match row_at(rows, number, query.len()) {
                    Some(row) => dot_of_query(query, row),
                    None => i32::MIN,
                };
            }
        }
    };
}

pub(super) use loops_over_rows;
