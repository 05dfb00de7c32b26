//! The stylesheet of the page for people, and the policy that lets a browser use it and nothing else.

use sha2::{Digest, Sha256};

pub(super) const STYLE: &str = include_str!("human.css");

/// No scripts, no frames, nothing from elsewhere; of styles this one alone, by its hash.
pub(super) fn content_security_policy() -> String {
    policy_for(STYLE, "'none'")
}

/// The policy of a page with this style, whose forms lead there.
pub(crate) fn policy_for(style: &str, form_action: &str) -> String {
    let hash = base64(&Sha256::digest(style));
    format!(
        "default-src 'none'; style-src 'sha256-{hash}'; base-uri 'none'; form-action {form_action}; \
         frame-ancestors 'none'"
    )
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for three in bytes.chunks(3) {
        let byte = |place: usize| u32::from(three.get(place).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * place)) as usize & 63];
            out.push(if place <= three.len() { char::from(digit) } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_rfc_4648() {
        for (plain, packed) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")] {
            assert_eq!(base64(plain.as_bytes()), packed);
        }
        assert_eq!(base64(&[0xfb, 0xff]), "+/8=");
    }
}
