//! Parts of source keys, made from human-readable text.

/// Keeps lower-case letters, digits, dots and underscores; everything else becomes a dash.
pub(crate) fn slug(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        let c = if matches!(c, '–' | '—' | '‑' | '−') { '-' } else { c };
        if c.is_ascii_alphanumeric() || matches!(c, '.' | '_') {
            out.push(c.to_ascii_lowercase());
        } else if !out.is_empty() && !out.ends_with('-') {
            out.push('-');
        }
    }
    let end = out.trim_end_matches(['-', '.']).len();
    out.truncate(end);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slugs_hold_only_what_keys_may_hold() {
        assert_eq!(slug("300aa–1"), "300aa-1");
        assert_eq!(slug("13.1-345"), "13.1-345");
        assert_eq!(slug(" Executive Orders 2025. "), "executive-orders-2025");
        assert_eq!(slug("§ 8(G)"), "8-g");
    }
}
