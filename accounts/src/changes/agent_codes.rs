//! Authorization codes: what a person allowed an agent, until the agent fetches it. They work once and for a minute, at any
//! server of the accounts, and only their digests are stored.

use hornbook_base::clock::UnixMillis;
use serde::{Deserialize, Serialize};

use super::act::ActContext;
use super::grants::{IssuedGrant, NewGrant, let_in};
use super::keys::{key, revoke};
use super::run::no_memory_effect;
use crate::Accounts;
use crate::actor::Actor;
use crate::entropy::Entropy;
use crate::error::ChangeError;
use crate::grant::RefreshToken;
use crate::ids::KeyId;
use crate::key::{KeyKind, LinkToken, PlainKey};
use crate::records::{from_json, get_json, put_json, read_json};
use crate::state::StateTable;

/// How long a code works.
pub const CODE_MILLIS: i64 = 60 * 1000;

/// A used code is remembered for ten minutes, to recognize it if somebody presents it again.
const REMEMBERED_MILLIS: i64 = 10 * CODE_MILLIS;

/// The most codes that are remembered at once.
pub const CODES_MAX: usize = 1_024;

/// The actor in the audit log, where no person acted.
const AGENT: &str = "agent";

/// What a person allowed an agent, and what the agent must prove to fetch it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AllowedAgent {
    pub grant: NewGrant,
    /// The address to which the code was sent.
    pub redirect: String,
    /// The challenge of the code's verifier, as the client sent it.
    pub challenge: String,
}

/// A code, as stored under its digest.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct CodeRecord {
    allowed: AllowedAgent,
    issued_at: UnixMillis,
    /// None: nobody presented it.
    used: Option<CodeUse>,
}

#[derive(Serialize, Deserialize)]
struct CodeUse {
    /// The key of the grant that it made, if it made one.
    key: Option<KeyId>,
}

impl CodeRecord {
    fn is_waiting(&self, now: UnixMillis) -> bool {
        self.used.is_none() && now < self.issued_at.plus_millis(CODE_MILLIS)
    }

    fn is_remembered(&self, now: UnixMillis) -> bool {
        now < self.issued_at.plus_millis(REMEMBERED_MILLIS)
    }
}

impl Accounts {
    /// A code for what a person allowed. None if too many are waiting.
    pub fn allow_agent(
        &self,
        allowed: AllowedAgent,
        now: UnixMillis,
        entropy: &mut dyn Entropy,
    ) -> Result<Option<LinkToken>, ChangeError> {
        if self.make_room_for_code(now)? >= CODES_MAX {
            return Ok(None);
        }
        let code = LinkToken::generate(entropy).map_err(ChangeError::Entropy)?;
        let digest = code.digest();
        self.change(move |poster| {
            let record = CodeRecord { allowed, issued_at: now, used: None };
            put_json(&mut poster.writing, StateTable::AgentCodes, digest.bytes(), &record)?;
            Ok(((), no_memory_effect()))
        })?;
        Ok(Some(code))
    }

    /// Forgets old codes, and used ones too if there are many. Returns how many are left.
    fn make_room_for_code(&self, now: UnixMillis) -> Result<usize, ChangeError> {
        let mut codes: Vec<(Vec<u8>, CodeRecord)> = Vec::new();
        self.shared.with_reading(|reading| {
            reading.scan(StateTable::AgentCodes, &[], &mut |key, payload| {
                codes.push((key.to_vec(), from_json(StateTable::AgentCodes, key, payload)?));
                Ok(true)
            })
        })?;
        let are_many = codes.iter().filter(|(_, code)| code.is_remembered(now)).count() >= CODES_MAX;
        let stays = |code: &CodeRecord| if are_many { code.is_waiting(now) } else { code.is_remembered(now) };
        let (left, forgotten): (Vec<_>, Vec<_>) = codes.into_iter().partition(|(_, code)| stays(code));
        if !forgotten.is_empty() {
            self.change(move |poster| {
                for (digest, _) in &forgotten {
                    poster.writing.remove(StateTable::AgentCodes, digest)?;
                }
                Ok(((), no_memory_effect()))
            })?;
        }
        Ok(left.len())
    }

    /// Uses a code up, and lets the agent in if `is_proven` accepts it. None for a code that does not work. A code that is
    /// presented twice was stolen before or after its use, so its grant ends (RFC 6749 §4.1.2).
    pub fn redeem_code(
        &self,
        code: &LinkToken,
        is_proven: impl FnOnce(&AllowedAgent) -> bool + Send + 'static,
        now: UnixMillis,
        entropy: &mut dyn Entropy,
    ) -> Result<Option<IssuedGrant>, ChangeError> {
        // Guesses must not reach the ledger's writer.
        let found = self
            .shared
            .with_reading(|reading| read_json::<CodeRecord>(reading, StateTable::AgentCodes, code.digest().bytes()))?;
        let Some(CodeRecord { allowed, .. }) = found else { return Ok(None) };
        self.check_may_let_in(allowed.grant.account)?;
        let access = PlainKey::generate(KeyKind::Agent, entropy).map_err(ChangeError::Entropy)?;
        // The number of the key is known only on the writer's thread.
        let unnumbered = RefreshToken::first(KeyId(0), entropy).map_err(ChangeError::Entropy)?;
        let (access_digest, digest) = (access.digest(), code.digest());
        let made = self.change(move |poster| {
            let stored = get_json(&poster.writing, StateTable::AgentCodes, digest.bytes())?;
            let Some(mut record) = stored.filter(|record: &CodeRecord| record.is_remembered(now)) else {
                return Ok((None, no_memory_effect()));
            };
            if let Some(CodeUse { key: made }) = record.used {
                let Some(made) = made else { return Ok((None, no_memory_effect())) };
                let made = key(poster, made)?;
                if made.revoked_at.is_some() {
                    return Ok((None, no_memory_effect()));
                }
                let act = ActContext { actor: Actor::program(AGENT), at: now };
                return Ok((None, revoke(poster, made, &act, ", because its code was used again")?));
            }
            if !record.is_waiting(now) {
                return Ok((None, no_memory_effect()));
            }
            let (mut made, mut after) = (None, no_memory_effect());
            if is_proven(&record.allowed) {
                let wish = record.allowed.grant.clone();
                let act = ActContext { actor: wish.account.into(), at: now };
                let (key, refresh, adds) = let_in(poster, wish, access_digest, unnumbered, &act)?;
                (made, after) = (Some((key, refresh)), adds);
            }
            record.used = Some(CodeUse { key: made.as_ref().map(|(key, _)| key.id) });
            put_json(&mut poster.writing, StateTable::AgentCodes, digest.bytes(), &record)?;
            Ok((made, after))
        })?;
        Ok(made.map(|(record, refresh)| IssuedGrant { record, access, refresh }))
    }
}
