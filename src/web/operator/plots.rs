//! Plots of latencies: one histogram row for each operation or stage, from the program's own
//! metrics.

use maud::{Markup, html};

use crate::metrics::DurationHistogram;

const ROW: f64 = 22.0;
const NAME: f64 = 150.0;
const CELL: f64 = 26.0;

/// A heat map with one row per histogram, the most frequent first. A darker cell contains a larger
/// share of the row.
pub(super) fn heat_map(label: &str, times: &[DurationHistogram]) -> Markup {
    let mut times: Vec<&DurationHistogram> = times.iter().filter(|times| times.count() > 0).collect();
    if times.is_empty() {
        return html! { p { "Nothing was measured since the start." } };
    }
    times.sort_by_key(|times| std::cmp::Reverse(times.count()));
    let cells = times[0].counts.len();
    let (width, height) = (NAME + CELL * cells as f64, ROW * (times.len() as f64 + 1.0));
    html! {
        figure.chart.plot {
            div.scroll tabindex="0" role="group" aria-label={ (label) ", as a plot" } { svg viewBox={ "0 0 " (width) " " (height) } role="img" aria-label={ (label) ", as in the table below" } {
                @for (place, bound) in times[0].bounds.iter().enumerate().filter(|(place, _)| place % 2 == 0) {
                    text x=(NAME + CELL * (place as f64 + 1.0)) y=(ROW - 8.0) text-anchor="end" { (duration(*bound)) }
                }
                @for (row, times) in times.iter().enumerate() {
                    @let y = ROW * (row as f64 + 1.0);
                    text x="0" y=(y + 15.0) { (times.name) }
                    @for (place, count) in times.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
                        rect class="heat" x=(NAME + CELL * place as f64 + 1.0) y=(y + 1.0) width=(CELL - 2.0) height=(ROW - 2.0)
                            fill-opacity=(shade(*count, times.count())) {
                            title { (times.name) ", up to " (times.bounds.get(place).map_or("longer".to_owned(), |bound| duration(*bound))) ": " (count) }
                        }
                    }
                }
            } }
            figcaption {
                details {
                    summary { "As a table" }
                    div.scroll tabindex="0" role="group" aria-label=(label) {
                        table {
                            thead { tr { th scope="col" { "Name" } th scope="col" { "Count" } th scope="col" { "Mean" } th scope="col" { "Median" } th scope="col" { "99th percentile" } } }
                            tbody {
                                @for times in &times {
                                    tr {
                                        th scope="row" { (times.name) }
                                        td.number { (times.count()) }
                                        td.number { (duration(times.sum_micros / times.count().max(1))) }
                                        td.number { (percentile_bound(times, 50)) }
                                        td.number { (percentile_bound(times, 99)) }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The opacity of a cell: from 0.15 for a small share to 1 for all.
fn shade(count: u64, of: u64) -> f64 {
    let share = count as f64 / of as f64;
    ((0.15 + 0.85 * share.sqrt()) * 100.0).round() / 100.0
}

/// The upper bound of the bucket that contains this percentile.
fn percentile_bound(times: &DurationHistogram, of_hundred: u64) -> String {
    let mut so_far = 0;
    for (place, count) in times.counts.iter().enumerate() {
        so_far += count;
        if so_far * 100 >= times.count() * of_hundred {
            return times.bounds.get(place).map_or("longer".to_owned(), |bound| duration(*bound));
        }
    }
    "–".to_owned()
}

fn duration(micros: u64) -> String {
    match micros {
        0..1_000 => format!("{micros} µs"),
        1_000..1_000_000 => format!("{} ms", micros / 1_000),
        _ => format!("{} s", micros / 1_000_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_the_bounds_they_lie_below() {
        let times = DurationHistogram {
            name: "search",
            bounds: &[50, 1_000, 2_000_000],
            counts: vec![0, 98, 2, 0],
            sum_micros: 200_000,
        };
        assert_eq!((percentile_bound(&times, 50), percentile_bound(&times, 99)), ("1 ms".to_owned(), "2 s".to_owned()));
        let text = heat_map("Responses", &[times]).into_string();
        assert_eq!(text.matches("<rect").count(), 2);
        assert!(text.contains("2 ms"), "the mean of 100 in 200 ms");
    }
}
