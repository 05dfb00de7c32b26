//! The `Idempotency-Key` of a call, checked before it is used. If a key were read in part or ignored, a
//! retry would be charged that its caller believes to be free.

use super::error::Violation;

/// The name of the header.
pub const IDEMPOTENCY_KEY: &str = "Idempotency-Key";

/// Maximum length of a key. A UUID has 36 bytes.
const BYTES_MAX: usize = 255;

/// A valid key: printable ASCII, not empty, not too long.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IdempotencyKey<'c>(&'c str);

impl<'c> IdempotencyKey<'c> {
    /// Reads the values that a caller sent for the key.
    pub fn read(mut given: impl Iterator<Item = &'c [u8]>) -> Result<Option<Self>, Violation> {
        let Some(key) = given.next() else { return Ok(None) };
        let wrong = |what: &str| {
            let message =
                format!("{IDEMPOTENCY_KEY} {what}; send one value that is new for each request, such as a UUID");
            Err(Violation::new(IDEMPOTENCY_KEY, message))
        };
        if given.next().is_some() {
            return wrong("is given more than once");
        }
        let key = key.trim_ascii();
        if key.is_empty() {
            return wrong("is empty");
        }
        if key.len() > BYTES_MAX {
            return wrong(&format!("has {} characters, at most {BYTES_MAX} are allowed", key.len()));
        }
        let is_printable = key.iter().all(|byte| matches!(byte, b' '..=b'~'));
        match str::from_utf8(key) {
            Ok(key) if is_printable => Ok(Some(Self(key))),
            _ => wrong("has characters that are not printable ASCII"),
        }
    }

    pub fn as_str(self) -> &'c str {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_valid_key_is_read_and_a_missing_one_is_none() {
        assert_eq!(IdempotencyKey::read([].into_iter()), Ok(None));
        for good in ["run-1", "a b", "~", &"k".repeat(BYTES_MAX)] {
            assert_eq!(IdempotencyKey::read([good.as_bytes()].into_iter()), Ok(Some(IdempotencyKey(good))));
        }
    }

    #[test]
    fn each_bad_key_has_its_own_message() {
        let long = "k".repeat(BYTES_MAX + 1);
        let cases: [(&[&[u8]], &str); 6] = [
            (&[b""], "is empty"),
            (&[b" \t"], "is empty"),
            (&[b"a", b"a"], "more than once"),
            (&["schl\u{fc}ssel".as_bytes()], "not printable ASCII"),
            (&[b"a\tb"], "not printable ASCII"),
            (&[long.as_bytes()], "has 256 characters"),
        ];
        for (given, words) in cases {
            let violation = IdempotencyKey::read(given.iter().copied()).unwrap_err();
            assert_eq!(violation.parameter, IDEMPOTENCY_KEY);
            assert!(violation.message.contains(words), "{violation:?}");
        }
    }
}
