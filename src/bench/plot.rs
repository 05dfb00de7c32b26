//! Draws plots as SVG in the colours of the surrounding page.

use std::fmt::Write as _;

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 74.0;
const RIGHT: f64 = 18.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 46.0;

/// An axis with its labels. Maps values to positions.
pub(super) struct Axis {
    title: String,
    low: f64,
    high: f64,
    scale: fn(f64) -> f64,
    ticks: Vec<(f64, String)>,
}

impl Axis {
    /// A linear axis from zero to the next round number.
    pub(super) fn linear(title: &str, high: f64) -> Self {
        let step = round_step(high.max(1e-9) / 5.0);
        let count = (high.max(1e-9) / step).ceil().max(1.0);
        let ticks = (0..=count as usize).map(|place| place as f64 * step).map(|value| (value, format_number(value)));
        Self { title: title.to_owned(), low: 0.0, high: count * step, scale: |value| value, ticks: ticks.collect() }
    }

    /// A logarithmic axis of microseconds, with ticks at 2 and 5 where there is room.
    pub(super) fn micros(title: &str, low: f64, high: f64) -> Self {
        let (low, high) = (low.max(0.01), high.max(low.max(0.01) * 1.5));
        let decades = (high / low).log10();
        let between: &[f64] = if decades > 3.5 { &[1.0] } else { &[1.0, 2.0, 5.0] };
        let powers = low.log10().floor() as i32..=high.log10().ceil() as i32;
        let values = powers.flat_map(|power| between.iter().map(move |digit| digit * 10_f64.powi(power)));
        let ticks =
            values.filter(|value| (low * 0.999..=high * 1.001).contains(value)).map(|value| (value, time(value)));
        Self { title: title.to_owned(), low, high, scale: f64::log10, ticks: ticks.collect() }
    }

    /// An axis of percentiles where 90, 99, 99.9 and so on are equally far apart.
    pub(super) fn percentile_axis(title: &str, count: u64) -> Self {
        const SHOWN: [f64; 7] = [0.0, 50.0, 90.0, 99.0, 99.9, 99.99, 99.999];
        let last = 100.0 * (1.0 - 1.0 / count.max(10) as f64);
        let ticks = SHOWN.iter().filter(|percent| **percent <= last).map(|percent| (*percent, format!("{percent} %")));
        let scale = |percent: f64| -(1.0 - percent / 100.0).max(1e-9).log10();
        Self { title: title.to_owned(), low: 0.0, high: last, scale, ticks: ticks.collect() }
    }

    /// 0 at the low end, 1 at the high end.
    fn axis_fraction(&self, value: f64) -> f64 {
        let (low, high) = ((self.scale)(self.low), (self.scale)(self.high));
        (((self.scale)(value) - low) / (high - low)).clamp(0.0, 1.0)
    }
}

fn round_step(least: f64) -> f64 {
    let power = 10_f64.powf(least.log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|digit| digit * power).find(|step| *step >= least * 0.999).unwrap_or(power)
}

fn format_number(value: f64) -> String {
    if value >= 1000.0 && value % 1000.0 == 0.0 {
        format!("{}k", value / 1000.0)
    } else {
        format!("{}", (value * 1e6).round() / 1e6)
    }
}

/// Formats microseconds with a suitable unit.
pub fn time(micros: f64) -> String {
    let (value, unit) = match micros {
        micros if micros >= 999_500.0 => (micros / 1e6, "s"),
        micros if micros >= 999.5 => (micros / 1e3, "ms"),
        micros => (micros, "µs"),
    };
    let digits = if value >= 99.95 {
        0
    } else if value >= 9.995 {
        1
    } else {
        2
    };
    let text = format!("{value:.digits$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text} {unit}")
}

/// A plot under construction.
pub(super) struct Plot {
    x: Axis,
    y: Axis,
    marks: String,
}

impl Plot {
    pub(super) fn new(x: Axis, y: Axis) -> Self {
        Self { x, y, marks: String::new() }
    }

    fn at(&self, (x, y): (f64, f64)) -> (f64, f64) {
        let across = LEFT + self.x.axis_fraction(x) * (WIDTH - LEFT - RIGHT);
        let down = HEIGHT - BOTTOM - self.y.axis_fraction(y) * (HEIGHT - TOP - BOTTOM);
        (across, down)
    }

    /// A line with the style of a CSS class.
    pub(super) fn line(&mut self, class: &str, points: impl Iterator<Item = (f64, f64)>) {
        let points: Vec<String> = points.map(|point| self.at(point)).map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        if points.len() > 1 {
            let _ = writeln!(self.marks, "<polyline class=\"{class}\" points=\"{}\"/>", points.join(" "));
        }
    }

    /// A bar between two values, from the x axis up to `high`; `tooltip` is shown on hover.
    pub(super) fn bar(&mut self, class: &str, from: f64, to: f64, high: f64, tooltip: &str) {
        let ((left, top), (right, base)) = (self.at((from, high)), self.at((to, self.y.low)));
        let (width, height) = ((right - left).max(0.8), base - top);
        let _ = writeln!(
            self.marks,
            "<rect class=\"{class}\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{height:.1}\"><title>{tooltip}</title></rect>"
        );
    }

    /// A vertical line at a value, with a label.
    pub(super) fn vertical_line(&mut self, at: f64, name: &str) {
        let (x, _) = self.at((at, self.y.low));
        let bottom = HEIGHT - BOTTOM;
        let _ = writeln!(
            self.marks,
            "<line class=\"rule\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{TOP}\" y2=\"{bottom}\"/>\
             <text class=\"point-label\" x=\"{:.1}\" y=\"{:.1}\">{name}</text>",
            x + 4.0,
            TOP + 10.0
        );
    }

    /// Renders the whole plot as SVG; `description` is for screen readers.
    pub(super) fn render(&self, description: &str) -> String {
        let (bottom, right) = (HEIGHT - BOTTOM, WIDTH - RIGHT);
        let mut out = format!("<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{description}\">\n");
        for (value, name) in &self.y.ticks {
            let (_, y) = self.at((self.x.low, *value));
            let _ = writeln!(
                out,
                "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{right}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\
                 <text class=\"tick\" text-anchor=\"end\" x=\"{:.1}\" y=\"{:.1}\">{name}</text>",
                LEFT - 8.0,
                y + 4.0
            );
        }
        for (value, name) in &self.x.ticks {
            let (x, _) = self.at((*value, self.y.low));
            let _ = writeln!(
                out,
                "<line class=\"grid\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{TOP}\" y2=\"{bottom}\"/>\
                 <text class=\"tick\" text-anchor=\"middle\" x=\"{x:.1}\" y=\"{:.1}\">{name}</text>",
                bottom + 17.0
            );
        }
        out += &self.marks;
        let (middle_x, middle_y) = (f64::midpoint(LEFT, right), f64::midpoint(TOP, bottom));
        let _ = write!(
            out,
            "<text class=\"title\" text-anchor=\"middle\" x=\"{middle_x}\" y=\"{}\">{}</text>\n\
             <text class=\"title\" text-anchor=\"middle\" transform=\"translate(16 {middle_y}) rotate(-90)\">{}</text>\n</svg>\n",
            HEIGHT - 6.0,
            self.x.title,
            self.y.title
        );
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_formatted_with_a_suitable_unit() {
        for (micros, expected) in
            [(0.5, "0.5 µs"), (42.0, "42 µs"), (999.0, "999 µs"), (1000.0, "1 ms"), (12_345.0, "12.3 ms"), (2e6, "2 s")]
        {
            assert_eq!(time(micros), expected);
        }
    }

    #[test]
    fn axis_ends_are_at_the_edges_and_nines_are_equally_spaced() {
        let linear = Axis::linear("", 873.0);
        assert_eq!((linear.high, linear.ticks.len()), (1000.0, 6));
        let nines = Axis::percentile_axis("", 100_000);
        let part = |percent: f64| nines.axis_fraction(percent);
        assert!((part(99.0) - part(90.0) - (part(99.9) - part(99.0))).abs() < 1e-9, "each nine is as wide as the next");
        assert!(part(0.0) == 0.0 && (part(99.999) - 1.0).abs() < 1e-9 && part(100.0) == 1.0);
        let micros = Axis::micros("", 100.0, 10_000.0);
        let names: Vec<&str> = micros.ticks.iter().map(|(_, name)| name.as_str()).collect();
        assert_eq!(names, ["100 µs", "200 µs", "500 µs", "1 ms", "2 ms", "5 ms", "10 ms"]);
        assert!((micros.axis_fraction(1000.0) - 0.5).abs() < 1e-9);
    }

    #[test]
    fn degenerate_values_give_finite_coordinates() {
        for mut plot in [
            Plot::new(Axis::linear("x", 0.0), Axis::micros("y", 0.0, 0.0)),
            Plot::new(Axis::percentile_axis("x", 0), Axis::linear("y", f64::MIN_POSITIVE)),
        ] {
            plot.line("a", [(0.0, 0.0), (1e12, 1e12)].into_iter());
            plot.bar("b", 0.0, 0.0, 0.0, "");
            let svg = plot.render("nothing");
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }
}
