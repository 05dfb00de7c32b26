//! What a reader typed to find a place on a map: a zone, coordinates, or words that the publisher wrote on areas.

use hornbook_corpus::zoning::catalogue::{LayerEntry, ZoningLayer};
use hornbook_corpus::zoning::feature_lookup::LayerReadError;
use hornbook_corpus::zoning::labels::FeatureLabel;
use hornbook_corpus::zoning::shape::{BoundingBox, Position};
use maud::{Markup, html};

use super::address::path;
use crate::api::replies::ZonesReply;
use crate::percent;
use crate::web::untrusted_text::{UntrustedText, counted};

/// Zones and labels that are listed if the words fit more than one.
const LISTED_MAX: usize = 20;

/// The place on a map that was asked for. Zones are indices of the layer's list.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum FoundPlace {
    Zone(usize),
    Point {
        at: Position,
        zones: Vec<usize>,
    },
    /// Coordinates that the layer does not cover.
    Outside(Position),
    /// Zones and areas with the words in their names, the best first.
    Named {
        zones: Vec<usize>,
        labels: Vec<FeatureLabel>,
    },
}

impl FoundPlace {
    /// The zone with this code, found without the layer's areas.
    pub(super) fn of_code(entry: &LayerEntry, asked: &str) -> Option<Self> {
        entry.zones.iter().position(|zone| zone.code.eq_ignore_ascii_case(asked)).map(Self::Zone)
    }

    /// Looks for coordinates, then for names. The first lookup in a layer reads it whole.
    pub(super) fn within(layer: &ZoningLayer, asked: &str) -> Result<Self, LayerReadError> {
        let entry = layer.entry();
        if let Some(at) = coordinates(asked, entry.bbox) {
            if !entry.bbox.contains(at) {
                return Ok(Self::Outside(at));
            }
            let codes = layer.places()?.at(at).map(|found| found.feature.zone.zone_code.as_str());
            let mut zones: Vec<usize> = codes
                .filter_map(|code| entry.zones.binary_search_by(|zone| zone.code.as_str().cmp(code)).ok())
                .collect();
            zones.dedup();
            return Ok(Self::Point { at, zones });
        }
        let asked = asked.to_lowercase();
        let zones = entry.zones.iter().enumerate().filter_map(|(place, zone)| {
            let names = [Some(zone.code.as_str()), zone.name.as_deref()];
            Some((names.into_iter().flatten().filter_map(|name| rank(name, &asked)).min()?, place))
        });
        let labels = layer.labels()?.iter().filter_map(|label| Some((rank(&label.text, &asked)?, label)));
        let labels = best_first(labels).into_iter().cloned().collect();
        Ok(Self::Named { zones: best_first(zones), labels })
    }

    /// The one zone that was meant.
    pub(super) fn zone(&self) -> Option<usize> {
        let (zones, labels): (&[usize], &[FeatureLabel]) = match self {
            Self::Zone(zone) => return Some(*zone),
            Self::Point { zones, .. } => return zones.first().copied(),
            Self::Outside(_) => return None,
            Self::Named { zones, labels } => (zones, labels),
        };
        match (zones, labels) {
            ([zone], []) => Some(*zone),
            ([], [label]) => label.zones.first().copied().filter(|_| label.zones.len() == 1),
            _ => None,
        }
    }

    /// What the map shows of it at first.
    pub(super) fn extent(&self) -> Option<BoundingBox> {
        match self {
            Self::Point { at, .. } => Some(BoundingBox([at.lon, at.lat, at.lon, at.lat])),
            Self::Named { zones, labels } if zones.is_empty() => labels.first().map(|label| label.extent),
            _ => None,
        }
    }

    /// What was found, in words. A zone's own code needs none: the zone itself is shown.
    pub(super) fn shown(&self, layer: &ZonesReply<'_>, asked: &str) -> Markup {
        let asked = UntrustedText(asked);
        match self {
            Self::Zone(_) => html! {},
            Self::Point { at, zones } => html! {
                p.banner.mild role="status" {
                    @if zones.is_empty() { "This map has no zone at " strong { (degrees(*at)) } "." }
                    @else { "At " strong { (degrees(*at)) } ": " (zone_links(layer, zones)) "." }
                }
            },
            Self::Outside(at) => html! {
                p.banner.mild role="status" { "The point " strong { (degrees(*at)) } " is not on this map. Latitude comes first, then longitude; west is negative." }
            },
            Self::Named { zones, labels } if zones.is_empty() && labels.is_empty() => html! {
                p.banner.mild role="status" { "Nothing on this map is called " strong { (asked) } ". The table below has all zones." }
            },
            Self::Named { zones, labels } => html! {
                div.banner.mild role="status" {
                    @if !zones.is_empty() { p { "Zones called " strong { (asked) } ": " (zone_links(layer, zones)) "." } }
                    @if !labels.is_empty() {
                        p { "The publisher's names of areas with " strong { (asked) } ":" }
                        ul { @for label in labels {
                            li {
                                strong { (UntrustedText(&label.text)) } ", "
                                (counted(label.features)) @if label.features == 1 { " area" } @else { " areas" }
                                ": " (zone_links(layer, &label.zones))
                            }
                        } }
                    }
                }
            },
        }
    }
}

/// How well a name fits what was typed in small letters: 0 is the name itself.
fn rank(name: &str, asked: &str) -> Option<u8> {
    let name = name.to_lowercase();
    match name.find(asked)? {
        0 if name.len() == asked.len() => Some(0),
        0 => Some(1),
        _ => Some(2),
    }
}

fn best_first<T>(ranked: impl Iterator<Item = (u8, T)>) -> Vec<T> {
    let mut ranked: Vec<(u8, T)> = ranked.collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked.into_iter().map(|(_, one)| one).take(LISTED_MAX).collect()
}

fn zone_links(layer: &ZonesReply<'_>, zones: &[usize]) -> Markup {
    let zones = zones.iter().filter_map(|place| layer.zones.get(*place));
    html! {
        @for (number, zone) in zones.take(LISTED_MAX).enumerate() {
            @if number > 0 { ", " }
            a href={ (path(layer.short_code.as_str())) "?zone=" (percent::encoded(&zone.code)) } { (UntrustedText(&zone.code)) }
            @if let Some(name) = &zone.name { " " (UntrustedText(name)) }
        }
    }
}

fn degrees(at: Position) -> String {
    format!("{}, {}", at.lat, at.lon)
}

/// Two numbers in degrees, with or without letters for the hemispheres. Latitude is first, unless the letters say
/// otherwise, or only the other order is on the map.
fn coordinates(text: &str, extent: BoundingBox) -> Option<Position> {
    let is_between = |c: char| c.is_whitespace() || ",;/".contains(c);
    let parts: Vec<(f64, Option<char>)> =
        text.split(is_between).filter(|part| !part.is_empty()).map(degree).collect::<Option<_>>()?;
    let &[(first, first_letter), (second, second_letter)] = parts.as_slice() else { return None };
    let is_longitude = |letter| matches!(letter, Some('E' | 'W'));
    let is_latitude = |letter| matches!(letter, Some('N' | 'S'));
    let in_order = Position { lat: first, lon: second };
    let reversed = Position { lat: second, lon: first };
    let at = match (first_letter, second_letter) {
        (None, None) if !extent.contains(in_order) && extent.contains(reversed) => reversed,
        (None, None) => in_order,
        (first, second) if is_latitude(first) && is_longitude(second) => in_order,
        (first, second) if is_longitude(first) && is_latitude(second) => reversed,
        _ => return None,
    };
    at.is_in_range().then_some(at)
}

/// A number of degrees and its hemisphere: `-87.63`, `87.63W`, `87.63°W`.
fn degree(text: &str) -> Option<(f64, Option<char>)> {
    let letter = text.chars().last().map(|c| c.to_ascii_uppercase()).filter(|c| "NSEW".contains(*c));
    let number = if letter.is_some() { &text[..text.len() - 1] } else { text };
    let number = number.trim_end_matches('°').replace('−', "-");
    let is_number = !number.is_empty() && number.chars().all(|c| c.is_ascii_digit() || "-+.".contains(c));
    let value: f64 = number.parse().ok().filter(|_| is_number)?;
    Some((if matches!(letter, Some('S' | 'W')) { -value.abs() } else { value }, letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_read_as_people_copy_them() {
        let chicago = BoundingBox([-87.94, 41.64, -87.52, 42.02]);
        let read = |text: &str| coordinates(text, chicago).map(|at| (at.lat, at.lon));
        let loop_ = Some((41.88, -87.63));
        for text in [
            "41.88, -87.63",
            "41.88 -87.63",
            "41.88,-87.63",
            "41.88; −87.63",
            "41.88/-87.63",
            "41.88N 87.63W",
            "41.88°N, 87.63°W",
            "87.63w, 41.88n",
            "-87.63, 41.88",
        ] {
            assert_eq!(read(text), loop_, "{text}");
        }
        assert_eq!(read("40.7, -74"), Some((40.7, -74.0)), "elsewhere, latitude first");
        for text in
            ["", "41.88", "PD 9", "B3 2", "41.88 -87.63 5", "95, 200", "41.88N 87.63N", "1e1, 2", "inf, nan", "R-1"]
        {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn the_name_itself_comes_before_its_beginning_and_that_before_its_middle() {
        let ranked = ["Old Market", "Market Street", "Market"].map(|name| (rank(name, "market").unwrap(), name));
        assert_eq!(best_first(ranked.into_iter()), ["Market", "Market Street", "Old Market"]);
        assert_eq!(rank("Quay", "market"), None);
    }
}
