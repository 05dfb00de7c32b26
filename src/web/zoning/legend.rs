//! Colours and patterns of categories. Every category has a colour and a pattern, so people who
//! cannot distinguish colours can read the map. Hatching is reserved for pending zones.

use maud::{Markup, html};

use super::layer_text::{category_name, pending};
use crate::api::replies::{CategoryReply, ZonesReply};
use crate::web::untrusted_text::{UntrustedText, counted};

/// Category colours on light and on dark pages. `hornbook.css` contains the same colours.
pub(super) const LIGHT: [&str; COLOURS] =
    ["#f2d36b", "#e58b7b", "#8fb8de", "#b79ad1", "#8cc08a", "#d9a066", "#7fc4bd", "#c9c1b3"];
pub(super) const DARK: [&str; COLOURS] =
    ["#8a7430", "#8f4a3f", "#3f6a93", "#6a4d8a", "#3f7545", "#85592a", "#33756f", "#625c52"];

const COLOURS: usize = 8;
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
                @if pending(layer) > 0 {
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
}
