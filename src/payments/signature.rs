//! The signature of a notice: `Stripe-Signature: t=1700000000,v1=5257...`. It is the HMAC-SHA256 of
//! the time, a full stop and the bytes of the body as they arrived.

use hornbook_base::hex;
use ring::hmac;

use super::Secret;

/// The maximum difference between the signed time and the clock. An older notice may be recorded
/// and sent again; a notice from the future has a wrong clock.
const TOLERANCE_SEC: i64 = 300;

/// The maximum number of signatures to check. There are two while a secret is being replaced.
const SIGNATURES_MAX: usize = 8;

/// The result of checking a notice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SignatureCheck {
    Genuine,
    /// The header is missing or cannot be parsed.
    Unsigned,
    /// No signature matches.
    Forged,
    /// The signature matches, but the time is too long ago or in the future.
    Stale,
}

pub(super) fn verify(secret: &Secret, header: Option<&str>, body: &[u8], now_sec: i64) -> SignatureCheck {
    let Some((time, signatures)) = header.and_then(read) else { return SignatureCheck::Unsigned };
    let mut signed = Vec::with_capacity(time.len() + 1 + body.len());
    signed.extend_from_slice(time.as_bytes());
    signed.push(b'.');
    signed.extend_from_slice(body);
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.reveal().as_bytes());
    // `hmac::verify` compares in constant time.
    if !signatures.iter().any(|signature| hmac::verify(&key, &signed, signature).is_ok()) {
        return SignatureCheck::Forged;
    }
    match time.parse::<i64>() {
        Ok(time) if now_sec.abs_diff(time) <= TOLERANCE_SEC.unsigned_abs() => SignatureCheck::Genuine,
        _ => SignatureCheck::Stale,
    }
}

/// Parses the time as written, and the signatures of the scheme that we know.
fn read(header: &str) -> Option<(&str, Vec<[u8; 32]>)> {
    let mut time = None;
    let mut signatures = Vec::new();
    for part in header.split(',') {
        let (name, value) = part.trim().split_once('=')?;
        match name {
            // With two times, an attacker could choose one.
            "t" if time.is_some() || !is_time(value) => return None,
            "t" => time = Some(value),
            "v1" if signatures.len() < SIGNATURES_MAX => signatures.extend(hex::decode::<32>(value)),
            _ => {}
        }
    }
    Some((time?, signatures))
}

fn is_time(text: &str) -> bool {
    (1..=12).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_700_000_000;
    const BODY: &[u8] = b"{\"id\":\"evt_1\"}";

    fn sign(secret: &str, time: i64, body: &[u8]) -> String {
        let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
        hex::encode(hmac::sign(&key, &[format!("{time}.").as_bytes(), body].concat()).as_ref())
    }

    fn check(header: &str) -> SignatureCheck {
        verify(&Secret::new("whsec_a"), Some(header), BODY, NOW)
    }

    #[test]
    fn the_known_value_of_the_algorithm_comes_out() {
        // RFC 4231, test case 2.
        let key = hmac::Key::new(hmac::HMAC_SHA256, b"Jefe");
        let tag = hmac::sign(&key, b"what do ya want for nothing?");
        let expected = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
        assert_eq!(hex::encode(tag.as_ref()), expected);
    }

    #[test]
    fn only_the_holder_of_the_secret_can_sign_and_only_for_five_minutes() {
        let good = sign("whsec_a", NOW, BODY);
        assert_eq!(check(&format!("t={NOW},v1={good}")), SignatureCheck::Genuine);
        assert_eq!(check(&format!("t={NOW},v1={}", sign("whsec_b", NOW, BODY))), SignatureCheck::Forged);
        assert_eq!(check(&format!("t={NOW},v1={}", sign("whsec_a", NOW, b"{}"))), SignatureCheck::Forged);
        assert_eq!(check(&format!("t={},v1={good}", NOW + 1)), SignatureCheck::Forged, "the time is signed too");
        for (off, verdict) in [(300, SignatureCheck::Genuine), (301, SignatureCheck::Stale)] {
            for time in [NOW - off, NOW + off] {
                assert_eq!(check(&format!("t={time},v1={}", sign("whsec_a", time, BODY))), verdict, "{off}");
            }
        }
    }

    #[test]
    fn one_good_signature_among_several_is_enough() {
        let (good, bad) = (sign("whsec_a", NOW, BODY), sign("whsec_b", NOW, BODY));
        for header in [
            format!("t={NOW},v1={bad},v1={good}"),
            format!("t={NOW},v1={good},v1={bad},v0=6ffbb59b"),
            format!("v1={good}, t={NOW}"),
            format!("t={NOW},v1=nothex,v1={good}"),
        ] {
            assert_eq!(check(&header), SignatureCheck::Genuine, "{header}");
        }
        assert_eq!(check(&format!("t={NOW},v0={good}")), SignatureCheck::Forged, "another scheme");
        let many = format!("t={NOW}{},v1={good}", format!(",v1={bad}").repeat(SIGNATURES_MAX));
        assert_eq!(check(&many), SignatureCheck::Forged, "the ninth signature is not checked");
    }

    #[test]
    fn unreadable_headers_count_as_unsigned() {
        let good = sign("whsec_a", NOW, BODY);
        for header in [
            "".to_owned(),
            "nonsense".to_owned(),
            format!("v1={good}"),
            format!("t=,v1={good}"),
            format!("t=-5,v1={good}"),
        ] {
            assert_eq!(check(&header), SignatureCheck::Unsigned, "{header}");
        }
        assert_eq!(check(&format!("t={NOW},t={NOW},v1={good}")), SignatureCheck::Unsigned);
        assert_eq!(verify(&Secret::new("whsec_a"), None, BODY, NOW), SignatureCheck::Unsigned);
    }
}
