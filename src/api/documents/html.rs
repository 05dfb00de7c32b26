//! Text as HTML.

/// A sentence of ours, with `code` between backticks.
pub(super) fn prose(text: &str) -> String {
    let parts = text.split('`').enumerate().map(|(place, part)| match place % 2 {
        0 => escaped(part),
        _ => format!("<code>{}</code>", escaped(part)),
    });
    parts.collect()
}

pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_of_others_stays_text() {
        assert_eq!(prose("a < b & `\"c\"` d"), "a &lt; b &amp; <code>&quot;c&quot;</code> d");
    }
}
