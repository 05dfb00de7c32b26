//! Colours and patterns of categories. Every category has a colour and a pattern, so people who
//! cannot distinguish colours can read the map. Hatching is reserved for pending zones.

use maud::{Markup, html};

use super::layer_text::{category_name, has_hatching};
use crate::api::replies::{CategoryReply, ZonesReply};
use crate::web::untrusted_text::{UntrustedText, counted};

/// Category colours on light and on dark pages. `hornbook.css` contains the same colours. All differ; those that share a
/// pattern also differ for people who see no red, no green or no blue.
pub(super) const LIGHT: [&str; COLOURS] = [
    "#fbed90", "#4ba2d7", "#90a44e", "#bcd2fe", "#c5c368", "#bdf7fd", "#38ae9f", "#c0b3a6", "#4bc7c3", "#feb8b1",
    "#b5febd", "#8eaff9", "#6deeec", "#6bd0fe", "#86d79d", "#fec779", "#d37f6b", "#cd9d4c", "#d3a2ec", "#c77cb1",
    "#988cdb", "#979a93", "#fdc5fd", "#fde6d8",
];
pub(super) const DARK: [&str; COLOURS] = [
    "#947d36", "#193e47", "#835180", "#5e2407", "#793e1e", "#637fb8", "#623666", "#818076", "#278f99", "#914b4c",
    "#588e5c", "#362e64", "#194a78", "#51548f", "#426a33", "#287098", "#5a213c", "#504303", "#0b4416", "#005a52",
    "#5f6666", "#b06a59", "#976ea5", "#7e5e16",
];

const COLOURS: usize = 24;
const PATTERNS: usize = 4;

/// The SVG paths of the patterns, in a square of [`PATTERN_SIDE`] pixels. The first pattern is
/// empty.
pub(super) const PATTERN_PATHS: [&str; PATTERNS] = ["", "M0 4h8", "M4 0v8", "M2 2h1v1h-1zM6 6h1v1h-1z"];
pub(super) const HATCH_PATH: &str = "M-2 2l4-4M0 8l8-8M6 10l4-4";
pub(super) const PATTERN_SIDE: u32 = 8;

/// The index of a category's colour.
pub(super) const fn colour(category: usize) -> usize {
    category % COLOURS
}

/// The index of a category's pattern. After each round of colours, the pattern shifts by one.
pub(super) const fn pattern(category: usize) -> usize {
    (category + category / COLOURS) % PATTERNS
}

/// The SVG definitions of the patterns, drawn in the colour `ink`.
pub(super) fn definitions(ink: &str) -> Markup {
    let pattern = |id: &str, path: &str, width: &str, opacity: &str| {
        html! {
            pattern id=(id) width=(PATTERN_SIDE) height=(PATTERN_SIDE) patternUnits="userSpaceOnUse" {
                path d=(path) fill="none" stroke=(ink) stroke-width=(width) stroke-opacity=(opacity) {}
            }
        }
    };
    html! {
        defs {
            @for (place, path) in PATTERN_PATHS.iter().enumerate().skip(1) { (pattern(&format!("p{place}"), path, "1", ".35")) }
            (pattern("hatch", HATCH_PATH, "1.2", ".6"))
        }
    }
}

/// The legend.
pub(super) fn shown(layer: &ZonesReply<'_>) -> Markup {
    html! {
        section.legend-box aria-labelledby="legend-name" {
            h2 #legend-name { "Categories" }
            svg.unseen aria-hidden="true" width="0" height="0" { (definitions("currentColor")) }
            ul.zone-legend {
                @for (place, category) in layer.categories.iter().enumerate() { li { (entry(place, category)) } }
                @if has_hatching(layer) {
                    li {
                        (swatch(&html! { rect.pending width="28" height="18" fill="url(#hatch)" {} }))
                        span { "Text not loaded: no provision is linked yet" }
                    }
                }
            }
        }
    }
}

fn entry(place: usize, category: &CategoryReply<'_>) -> Markup {
    html! {
        (swatch(&html! {
            rect class={ "z" (colour(place)) } width="28" height="18" {}
            @if pattern(place) > 0 { rect width="28" height="18" fill={ "url(#p" (pattern(place)) ")" } {} }
        }))
        span { (UntrustedText(category_name(category))) " " span.count { (counted(category.features)) } }
    }
}

fn swatch(content: &Markup) -> Markup {
    html! { svg.swatch viewBox="0 0 28 18" width="28" height="18" aria-hidden="true" { (content) } }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::web::assets::STYLE;

    #[test]
    fn the_stylesheet_has_the_same_colours() {
        for (place, (light, dark)) in LIGHT.iter().zip(DARK).enumerate() {
            assert!(STYLE.text.contains(&format!("--zone-{place}: {light};")), "{place} {light}");
            assert_eq!(STYLE.text.matches(&format!("--zone-{place}: {dark};")).count(), 2, "{place} {dark}");
        }
    }

    #[test]
    fn no_two_of_the_first_categories_look_alike() {
        let looks: BTreeSet<_> = (0..COLOURS * PATTERNS).map(|place| (colour(place), pattern(place))).collect();
        assert_eq!(looks.len(), COLOURS * PATTERNS);
    }

    /// How people see linear red, green and blue: as they are, and with no cones for red, for green, for blue
    /// (Machado, Oliveira and Fernandes 2009, at full severity).
    const EYES: [[[f64; 3]; 3]; 4] = [
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
    ];

    fn times(matrix: [[f64; 3]; 3], vector: [f64; 3]) -> [f64; 3] {
        matrix.map(|row| row.iter().zip(vector).map(|(a, b)| a * b).sum())
    }

    /// Linear red, green and blue of `#rrggbb`.
    fn linear(colour: &str) -> [f64; 3] {
        [1, 3, 5].map(|at| {
            let share = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
            if share <= 0.04045 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
        })
    }

    /// The place in Oklab, where distances are about as large as people see them.
    fn oklab(colour: [f64; 3]) -> [f64; 3] {
        let cones = times(
            [
                [0.412_221_470_8, 0.536_332_536_3, 0.051_445_992_9],
                [0.211_903_498_2, 0.680_699_545_1, 0.107_396_956_6],
                [0.088_302_461_9, 0.281_718_837_6, 0.629_978_700_5],
            ],
            colour.map(|share| share.clamp(0.0, 1.0)),
        );
        times(
            [
                [0.210_454_255_3, 0.793_617_785_0, -0.004_072_046_8],
                [1.977_998_495_1, -2.428_592_205_0, 0.450_593_709_9],
                [0.025_904_037_1, 0.782_771_766_2, -0.808_675_766_0],
            ],
            cones.map(f64::cbrt),
        )
    }

    #[test]
    fn colours_differ_for_every_kind_of_eye() {
        // Colours next to each other differ from about 0.02.
        const DIFFERENT: f64 = 0.07;
        for scheme in [LIGHT, DARK] {
            for (place, one) in scheme.iter().enumerate() {
                for (before, other) in scheme[..place].iter().enumerate() {
                    let eyes = if pattern(place) == pattern(before) { &EYES[..] } else { &EYES[..1] };
                    for eye in eyes {
                        let [seen, compared] = [one, other].map(|colour| oklab(times(*eye, linear(colour))));
                        let between: f64 = seen.iter().zip(compared).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
                        assert!(between > DIFFERENT, "{one} and {other}: {between:.3}");
                    }
                }
            }
        }
    }
}
