//! Authorization codes: what a person allowed, until the agent fetches it. They are in memory, work once and for a
//! minute, and only their digests are kept.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use hornbook_accounts::changes::NewGrant;
use hornbook_accounts::entropy::Entropy;
use hornbook_accounts::ids::KeyId;
use hornbook_accounts::key::{KeyDigest, LinkToken};
use hornbook_base::clock::SteadyMicros;

use super::pkce::Challenge;

const LIFE_MICROS: u64 = 60 * 1_000_000;

/// A used code is remembered for ten minutes, to recognize it if somebody presents it again.
const REMEMBERED_MICROS: u64 = 600 * 1_000_000;

const CODES_MAX: usize = 4_096;

/// What a code is exchanged for, and by whom.
#[derive(Clone)]
pub struct AllowedAgent {
    pub(super) grant: NewGrant,
    pub(super) redirect: String,
    pub(super) challenge: Challenge,
}

#[derive(Default)]
pub(super) struct AuthorizationCodes {
    codes: Mutex<HashMap<u128, IssuedCode>>,
}

struct IssuedCode {
    digest: KeyDigest,
    issued_at: SteadyMicros,
    state: CodeState,
}

enum CodeState {
    Fresh(Box<AllowedAgent>),
    /// It was presented. The key of the grant that it made, once there is one.
    Used(Option<KeyId>),
    /// It was presented again before its grant was made.
    UsedTwice,
}

/// The result of presenting a code.
pub(super) enum TakenCode {
    Fresh(Box<AllowedAgent>),
    /// It was presented before. The key of the grant that it made, if it made one.
    UsedBefore(Option<KeyId>),
    Unknown,
}

impl AuthorizationCodes {
    /// None if too many codes are waiting.
    pub(super) fn issue(
        &self,
        allowed: AllowedAgent,
        now: SteadyMicros,
        entropy: &mut dyn Entropy,
    ) -> std::io::Result<Option<LinkToken>> {
        let code = LinkToken::generate(entropy)?;
        let digest = code.digest();
        let mut codes = self.lock();
        if codes.len() >= CODES_MAX {
            codes.retain(|_, code| code.is_waiting(now));
            if codes.len() >= CODES_MAX {
                return Ok(None);
            }
        }
        let state = CodeState::Fresh(Box::new(allowed));
        codes.insert(digest.bucket(), IssuedCode { digest, issued_at: now, state });
        Ok(Some(code))
    }

    /// Uses a code up, whatever becomes of the exchange.
    pub(super) fn take(&self, code: &LinkToken, now: SteadyMicros) -> TakenCode {
        let mut codes = self.lock();
        let digest = code.digest();
        let found = codes.get_mut(&digest.bucket()).filter(|found| found.digest.matches(&digest));
        let Some(found) = found.filter(|found| found.is_remembered(now)) else { return TakenCode::Unknown };
        let was_waiting = found.is_waiting(now);
        match std::mem::replace(&mut found.state, CodeState::Used(None)) {
            CodeState::Fresh(allowed) if was_waiting => TakenCode::Fresh(allowed),
            CodeState::Fresh(_) => TakenCode::Unknown,
            CodeState::Used(None) | CodeState::UsedTwice => {
                found.state = CodeState::UsedTwice;
                TakenCode::UsedBefore(None)
            }
            CodeState::Used(Some(key)) => {
                found.state = CodeState::Used(Some(key));
                TakenCode::UsedBefore(Some(key))
            }
        }
    }

    /// Remembers the grant that a code made. Returns whether the grant may stay: not if the code was presented again
    /// in the meantime.
    pub(super) fn redeemed(&self, code: &LinkToken, key: KeyId) -> bool {
        let mut codes = self.lock();
        let Some(found) = codes.get_mut(&code.digest().bucket()) else { return true };
        let may_stay = !matches!(found.state, CodeState::UsedTwice);
        found.state = CodeState::Used(Some(key));
        may_stay
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u128, IssuedCode>> {
        self.codes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl IssuedCode {
    /// Whether it still works.
    fn is_waiting(&self, now: SteadyMicros) -> bool {
        matches!(self.state, CodeState::Fresh(_)) && now.0 < self.issued_at.0 + LIFE_MICROS
    }

    fn is_remembered(&self, now: SteadyMicros) -> bool {
        now.0 < self.issued_at.0 + REMEMBERED_MICROS
    }
}

#[cfg(test)]
mod tests {
    use hornbook_accounts::budget::Budget;
    use hornbook_accounts::changes::AgentLimits;
    use hornbook_accounts::entropy::SeededEntropy;
    use hornbook_accounts::ids::AccountId;
    use hornbook_accounts::scope::ScopeSet;

    use super::*;

    fn allowed() -> AllowedAgent {
        let limits = AgentLimits { scopes: ScopeSet::ALL, budget: Budget::default(), expires_at: None };
        let (name, returns_to) = ("an agent".to_owned(), "a.example".to_owned());
        let client = KeyDigest::of_secret("client");
        AllowedAgent {
            grant: NewGrant { account: AccountId(1), name, returns_to, client, limits },
            redirect: "https://a.example/".to_owned(),
            challenge: Challenge::parse("E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM").unwrap(),
        }
    }

    fn issue(codes: &AuthorizationCodes, seed: u64, now: u64) -> Option<LinkToken> {
        codes.issue(allowed(), SteadyMicros(now), &mut SeededEntropy(seed)).unwrap()
    }

    #[test]
    fn a_code_works_once_and_for_a_minute() {
        let codes = AuthorizationCodes::default();
        let (first, second) = (issue(&codes, 1, 0).unwrap(), issue(&codes, 2, 0).unwrap());
        let take = |code, now| codes.take(code, SteadyMicros(now));
        assert!(matches!(take(&first, LIFE_MICROS - 1), TakenCode::Fresh(_)));
        assert!(matches!(take(&second, LIFE_MICROS), TakenCode::Unknown), "it has expired");
        assert!(codes.redeemed(&first, KeyId(7)));
        assert!(matches!(take(&first, LIFE_MICROS), TakenCode::UsedBefore(Some(KeyId(7)))));
        assert!(matches!(take(&first, REMEMBERED_MICROS), TakenCode::Unknown), "it is forgotten");
        let unknown = LinkToken::parse(&"a".repeat(32)).unwrap();
        assert!(matches!(take(&unknown, 0), TakenCode::Unknown));
    }

    #[test]
    fn a_grant_does_not_stay_if_its_code_was_presented_again_meanwhile() {
        let codes = AuthorizationCodes::default();
        let code = issue(&codes, 1, 0).unwrap();
        assert!(matches!(codes.take(&code, SteadyMicros(1)), TakenCode::Fresh(_)));
        assert!(matches!(codes.take(&code, SteadyMicros(2)), TakenCode::UsedBefore(None)));
        assert!(!codes.redeemed(&code, KeyId(7)));
    }

    #[test]
    fn codes_are_bounded_and_used_ones_make_room() {
        let codes = AuthorizationCodes::default();
        let first = issue(&codes, 0, 0).unwrap();
        (1..CODES_MAX as u64).for_each(|seed| assert!(issue(&codes, seed * 1_000_003, 0).is_some()));
        assert!(issue(&codes, 11, 1).is_none());
        assert!(matches!(codes.take(&first, SteadyMicros(2)), TakenCode::Fresh(_)));
        assert!(issue(&codes, 12, 3).is_some() && issue(&codes, 13, 3).is_none());
        assert!(issue(&codes, 14, LIFE_MICROS).is_some(), "the others have expired");
    }
}
