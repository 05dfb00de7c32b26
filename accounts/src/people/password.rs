//! Passwords: argon2id, each with its own salt. Checking one takes some 20 ms of one core and 19
//! MiB on purpose, so it is done on a thread that may block, and only a few at a time.

use std::cell::RefCell;
use std::fmt;

use argon2::{Algorithm, Argon2, Block, Params, Version};
use hornbook_base::hex;
use serde::{Deserialize, Serialize};

use crate::entropy::Entropy;
use crate::error::ChangeError;
use crate::key::same_bytes;

pub const PASSWORD_CHARS_MIN: usize = 10;
/// Longer passwords are no better, and each byte must be hashed.
pub const PASSWORD_CHARS_MAX: usize = 200;

const SALT_BYTES: usize = 16;
const HASH_BYTES: usize = 32;

/// The cost of checking a password.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PasswordCost {
    pub memory_kib: u32,
    pub passes: u32,
}

impl PasswordCost {
    /// OWASP's first choice for argon2id: 19 MiB and two passes, one lane. Measured here: 20 ms on one core.
    pub const DEFAULT: Self = Self { memory_kib: 19 * 1024, passes: 2 };
}

/// A new password that follows the rules. `Debug` does not show it.
#[derive(Clone)]
pub struct Password(String);

impl Password {
    /// Checks the rules. Length is what counts; rules about digits and signs make passwords alike.
    pub fn new(text: &str) -> Result<Self, String> {
        match text.chars().count() {
            PASSWORD_CHARS_MIN..=PASSWORD_CHARS_MAX if !has_few_characters(text) => Ok(Self(text.to_owned())),
            PASSWORD_CHARS_MIN..=PASSWORD_CHARS_MAX => {
                Err("the password repeats one or two characters; choose another".to_owned())
            }
            _ => Err(format!("the password must have {PASSWORD_CHARS_MIN} to {PASSWORD_CHARS_MAX} characters")),
        }
    }

    pub(crate) fn is(&self, text: &str) -> bool {
        self.0.eq_ignore_ascii_case(text)
    }
}

fn has_few_characters(text: &str) -> bool {
    let mut seen: Vec<char> = text.chars().collect();
    seen.sort_unstable();
    seen.dedup();
    seen.len() < 3
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(secret)")
    }
}

/// The stored form of a password. `Debug` does not show it.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StoredPassword {
    work: PasswordCost,
    salt: String,
    hash: String,
}

impl StoredPassword {
    pub(crate) fn of(password: &Password, work: PasswordCost, entropy: &mut dyn Entropy) -> Result<Self, ChangeError> {
        let mut salt = [0; SALT_BYTES];
        entropy.fill(&mut salt).map_err(ChangeError::Entropy)?;
        let hash = hash(&password.0, &salt, work).ok_or_else(|| {
            ChangeError::Refused("a password cannot be stored: there is not enough memory to hash it".to_owned())
        })?;
        Ok(Self { work, salt: hex::encode(&salt), hash: hex::encode(&hash) })
    }

    /// A value that no password matches. It is checked in place of a person who does not exist.
    pub(crate) fn dummy(work: PasswordCost) -> Self {
        Self { work, salt: hex::encode(&[0; SALT_BYTES]), hash: hex::encode(&[0; HASH_BYTES]) }
    }

    pub(crate) fn matches(&self, password: &str) -> bool {
        let (Some(salt), Some(stored)) = (hex::decode::<SALT_BYTES>(&self.salt), hex::decode(&self.hash)) else {
            return false;
        };
        hash(password, &salt, self.work).is_some_and(|hash| same_bytes(&hash, &stored))
    }
}

impl fmt::Debug for StoredPassword {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StoredPassword(..)")
    }
}

thread_local! {
    /// The memory of the last hash of this thread. The allocator keeps several times as much if each hash gets new memory.
    static BLOCKS: RefCell<Vec<Block>> = const { RefCell::new(Vec::new()) };
}

/// None if argon2 rejects the parameters or cannot get the memory.
fn hash(password: &str, salt: &[u8], work: PasswordCost) -> Option<[u8; HASH_BYTES]> {
    let params = Params::new(work.memory_kib, work.passes, 1, Some(HASH_BYTES)).ok()?;
    let block_count = params.block_count();
    let mut hash = [0; HASH_BYTES];
    let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
    BLOCKS.with_borrow_mut(|blocks| {
        blocks.try_reserve_exact(block_count.saturating_sub(blocks.len())).ok()?;
        blocks.resize(block_count, Block::default());
        argon2.hash_password_into_with_memory(password.as_bytes(), salt, &mut hash, blocks).ok()
    })?;
    Some(hash)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entropy::SeededEntropy;

    const QUICK: PasswordCost = PasswordCost { memory_kib: 64, passes: 1 };

    #[test]
    fn only_the_same_password_matches_and_none_is_stored() {
        let password = Password::new("correct horse").unwrap();
        let stored = StoredPassword::of(&password, QUICK, &mut SeededEntropy(1)).unwrap();
        assert!(stored.matches("correct horse"));
        for wrong in ["", "correct horsf", "Correct horse", "correct horse "] {
            assert!(!stored.matches(wrong), "{wrong:?}");
        }
        let again = StoredPassword::of(&password, QUICK, &mut SeededEntropy(2)).unwrap();
        assert_ne!(stored.hash, again.hash, "each has its own salt");
        let json = serde_json::to_string(&stored).unwrap();
        assert!(!json.contains("horse"));
        assert!(serde_json::from_str::<StoredPassword>(&json).unwrap().matches("correct horse"));
        assert_eq!(format!("{password:?} {stored:?}"), "Password(secret) StoredPassword(..)");
    }

    #[test]
    fn nobody_has_no_password() {
        let nobody = StoredPassword::dummy(QUICK);
        assert!(!nobody.matches("") && !nobody.matches("correct horse"));
    }

    #[test]
    fn rules_count_characters() {
        assert!(Password::new("ten chars!").is_ok() && Password::new(&"äbc".repeat(66)).is_ok());
        for wrong in ["", "nine char", "aaaaaaaaaaaa", "abababababab", &"abc".repeat(67)] {
            assert!(Password::new(wrong).is_err(), "{wrong:?}");
        }
    }
}
