//! What the client wants to read: `Accept` and `Accept-Encoding`.

use hornbook_corpus::zoning::catalogue::Encoding;
use hyper::HeaderMap;
use hyper::header::{ACCEPT, ACCEPT_ENCODING};

use crate::api::reply::Format;

/// The offered form that the client likes best, the first of equals; none if it takes none of them.
pub(super) fn format(headers: &HeaderMap, offered: &[Format]) -> Option<Format> {
    let accepted = listed(headers, ACCEPT.as_str());
    if accepted.is_empty() {
        return offered.first().copied();
    }
    let mut best: Option<(Format, u16)> = None;
    for format in offered {
        let quality = quality_of(&accepted, format.media_type());
        if quality > best.map_or(0, |(_, quality)| quality) {
            best = Some((*format, quality));
        }
    }
    best.map(|(format, _)| format)
}

/// The smallest stored encoding that the client reads.
pub(super) fn encoding(headers: &HeaderMap) -> Encoding {
    let accepted = listed(headers, ACCEPT_ENCODING.as_str());
    let takes = |name: &str| {
        let exact = accepted.iter().find(|(listed, _)| listed == name);
        exact.or_else(|| accepted.iter().find(|(listed, _)| listed == "*")).is_some_and(|(_, quality)| *quality > 0)
    };
    match () {
        () if takes("zstd") => Encoding::Zstd,
        () if takes("gzip") => Encoding::Gzip,
        () => Encoding::Identity,
    }
}

/// Names with their quality in thousandths, in lower case.
fn listed(headers: &HeaderMap, name: &str) -> Vec<(String, u16)> {
    let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    let entries = values.flat_map(|value| value.split(',')).filter(|entry| !entry.trim().is_empty());
    let read = |entry: &str| {
        let mut parts = entry.split(';').map(str::trim);
        let name = parts.next().unwrap_or_default().to_ascii_lowercase();
        let quality = parts.find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")));
        let quality: f32 = quality.map_or(1.0, |text| text.trim().parse().unwrap_or(0.0));
        (name, (quality.clamp(0.0, 1.0) * 1000.0) as u16)
    };
    entries.map(read).collect()
}

/// The most specific entry decides.
fn quality_of(accepted: &[(String, u16)], media_type: &str) -> u16 {
    let family = format!("{}/*", media_type.split('/').next().unwrap_or_default());
    let find = |wanted: &str| accepted.iter().find(|(name, _)| name == wanted).map(|(_, quality)| *quality);
    find(media_type).or_else(|| find(&family)).or_else(|| find("*/*")).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;

    use super::*;

    fn accepting(name: &'static str, value: &'static str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(name, HeaderValue::from_static(value));
        headers
    }

    #[test]
    fn the_best_liked_form_is_chosen() {
        for (accept, expected) in [
            ("*/*", Some(Format::Json)),
            ("text/html,application/xhtml+xml,*/*;q=0.8", Some(Format::Json)),
            ("text/markdown", Some(Format::Markdown)),
            ("text/*", Some(Format::Markdown)),
            ("application/json;q=0.1, text/plain;q=0.5", Some(Format::Text)),
            ("*/*, application/json;q=0", Some(Format::Markdown)),
            ("image/png", None),
            ("application/json;q=0", None),
            ("application/json;q=high", None),
        ] {
            assert_eq!(format(&accepting("accept", accept), &Format::ALL), expected, "{accept}");
        }
        assert_eq!(format(&HeaderMap::new(), &[Format::Json]), Some(Format::Json));
    }

    #[test]
    fn a_refused_encoding_is_not_sent() {
        for (accept, expected) in [
            ("gzip, deflate, br, zstd", Encoding::Zstd),
            ("gzip", Encoding::Gzip),
            ("zstd;q=0, gzip", Encoding::Gzip),
            ("*", Encoding::Zstd),
            ("br", Encoding::Identity),
            ("gzip;q=0, *;q=0", Encoding::Identity),
        ] {
            assert_eq!(encoding(&accepting("accept-encoding", accept)), expected, "{accept}");
        }
    }
}
