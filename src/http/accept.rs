//! Content negotiation: `Accept` and `Accept-Encoding`.

use hyper::HeaderMap;
use hyper::header::{ACCEPT, ACCEPT_ENCODING};

use super::coding::Coding;
use crate::api::reply::Format;

/// The offered format that the client prefers, the first of equals. `None` if it accepts none of them.
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

/// Whether the client prefers a web page to JSON, as browsers do.
pub(super) fn prefers_pages(headers: &HeaderMap) -> bool {
    let accepted = listed(headers, ACCEPT.as_str());
    quality_of(&accepted, "text/html") > quality_of(&accepted, Format::Json.media_type())
}

/// The codings that a client accepts, from `Accept-Encoding`.
pub(super) struct AcceptedCodings(Vec<(String, u16)>);

impl AcceptedCodings {
    pub(super) fn of(headers: &HeaderMap) -> Self {
        Self(listed(headers, ACCEPT_ENCODING.as_str()))
    }

    fn named(&self, name: &str) -> Option<u16> {
        self.0.iter().find(|(listed, _)| listed == name).map(|(_, quality)| *quality)
    }

    /// The offered coding that the client prefers, the first of equals. Uncompressed bytes come last
    /// unless the client prefers them: a client that names a coding wants it.
    pub(super) fn best(&self, offered: &[Coding]) -> Coding {
        let quality = |coding: Coding| coding.names().iter().find_map(|name| self.named(name));
        let mut best = (Coding::Identity, quality(Coding::Identity).unwrap_or(0));
        for coding in offered {
            let quality = quality(*coding).or_else(|| self.named("*")).unwrap_or(0);
            if quality > best.1 || (quality == best.1 && quality > 0 && best.0 == Coding::Identity) {
                best = (*coding, quality);
            }
        }
        best.0
    }

    /// Whether the client refuses uncompressed bytes, so that even a small answer must be compressed.
    pub(super) fn refuse_identity(&self) -> bool {
        self.named("identity").or_else(|| self.named("*")) == Some(0)
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
    fn the_best_liked_coding_is_chosen_and_a_refused_one_is_not() {
        let best = |headers: &HeaderMap, offered: &[Coding]| AcceptedCodings::of(headers).best(offered);
        let all = Coding::PREFERRED;
        for (accept, expected) in [
            ("gzip, deflate, br, zstd", Coding::Zstd),
            ("gzip, deflate, br", Coding::Gzip),
            ("gzip", Coding::Gzip),
            ("x-gzip", Coding::Gzip),
            ("GZIP;Q=0.2", Coding::Gzip),
            ("zstd;q=0, gzip", Coding::Gzip),
            ("zstd;q=0.4, br;q=0.9, gzip;q=0.5", Coding::Brotli),
            ("gzip;q=1, *;q=0.5", Coding::Gzip),
            ("*", Coding::Zstd),
            ("*, zstd;q=0", Coding::Gzip),
            ("identity", Coding::Identity),
            ("identity, gzip;q=0.5", Coding::Identity),
            ("identity;q=0.5, gzip;q=0.5", Coding::Gzip),
            ("deflate, compress", Coding::Identity),
            ("gzip;q=0, *;q=0", Coding::Identity),
            ("gzip;q=nonsense", Coding::Identity),
            ("", Coding::Identity),
        ] {
            assert_eq!(best(&accepting("accept-encoding", accept), &all), expected, "{accept}");
        }
        assert_eq!(best(&HeaderMap::new(), &all), Coding::Identity);
        assert_eq!(best(&accepting("accept-encoding", "br, gzip;q=0.1"), &[Coding::Gzip]), Coding::Gzip);
    }

    #[test]
    fn identity_is_refused_only_explicitly() {
        for (accept, expected) in [
            ("gzip", false),
            ("identity;q=0, gzip", true),
            ("*;q=0", true),
            ("*;q=0, identity", false),
            ("identity;q=0.001", false),
        ] {
            let accepted = AcceptedCodings::of(&accepting("accept-encoding", accept));
            assert_eq!(accepted.refuse_identity(), expected, "{accept}");
        }
    }
}
