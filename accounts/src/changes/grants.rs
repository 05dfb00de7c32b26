//! Lets agents in, on the terms that a person chose, and gives them new tokens. A grant is a key of the kind
//! [`KeyKind::Agent`]: budget, limits, ledger and last use are those of a key, and its text changes with every refresh.

use hornbook_base::clock::UnixMillis;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::act::{ActContext, audit};
use super::keys::{KEYS_MAX, KeyOrigin, NewKey, add_after, check_expiry, check_is_live, key, new_key, revoke};
use super::run::{account, last_ids};
use crate::Accounts;
use crate::audit_text::AuditPart;
use crate::budget::Budget;
use crate::directory::Directory;
use crate::entropy::Entropy;
use crate::error::ChangeError;
use crate::grant::{Grant, RefreshToken};
use crate::ids::{AccountId, KeyId};
use crate::job::AfterCommit;
use crate::key::{KeyDigest, KeyKind, PlainKey};
use crate::ledger::poster::LedgerTransaction;
use crate::records::{AccountRecord, AccountStatus, KeyRecord, put_json};
use crate::scope::ScopeSet;
use crate::sealing::Owner;
use crate::state::StateTable;
use crate::visible_text::VisibleText;

/// How long an access token works.
pub const ACCESS_MILLIS: i64 = 60 * 60 * 1000;

/// What a person allows an agent.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentLimits {
    pub scopes: ScopeSet,
    pub budget: Budget,
    /// The end of the grant. None: until somebody ends it.
    pub expires_at: Option<UnixMillis>,
}

/// The properties of a new grant.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NewGrant {
    pub account: AccountId,
    /// How the agent calls itself.
    pub name: String,
    /// Where the answer was sent, as the person saw it.
    pub returns_to: String,
    /// The digest of the client's id.
    pub client: KeyDigest,
    pub limits: AgentLimits,
}

/// The tokens of a grant, as handed to the agent. Their texts exist only here.
#[derive(Debug)]
pub struct IssuedGrant {
    pub record: KeyRecord,
    pub access: PlainKey,
    pub refresh: RefreshToken,
}

impl Accounts {
    /// Gives the agent new tokens in place of its present ones, which stop at once. None for a token that does not
    /// work. A token that was used before ends the grant: either it or its successor is in wrong hands (RFC 9700).
    pub fn refresh_grant(
        &self,
        token: &RefreshToken,
        client: KeyDigest,
        act: &ActContext,
        entropy: &mut dyn Entropy,
    ) -> Result<Option<IssuedGrant>, ChangeError> {
        // Guesses and ended tokens must not reach the ledger's writer.
        let is_of_client = |record: &KeyRecord| {
            let has_client = record.grant.as_ref().is_some_and(|grant| grant.client.matches(&client));
            has_client && check_is_live(record, act.at).is_ok()
        };
        let Some(id) = self.grant_of(token).filter(is_of_client).map(|record| record.id) else { return Ok(None) };
        let access = PlainKey::generate(KeyKind::Agent, entropy).map_err(ChangeError::Entropy)?;
        let refresh = token.next(entropy).map_err(ChangeError::Entropy)?;
        let (digest, next, presented, act) = (access.digest(), refresh.digest(), token.digest(), act.clone());
        let record = self.change(move |poster| {
            let mut record = key(poster, id)?;
            check_is_live(&record, act.at)?;
            check_is_approved(&account(poster, record.account)?)?;
            let Some(grant) = record.grant.as_mut() else { return Err(ChangeError::not_found("agent", id)) };
            if !grant.refresh.matches(&presented) {
                let after = revoke(poster, record, &act, ", because an earlier refresh token was used again")?;
                return Ok((None, after));
            }
            grant.refresh = next;
            grant.access_ends_at = act.at.plus_millis(ACCESS_MILLIS);
            record.digest = digest;
            put_json(&mut poster.writing, StateTable::Keys, &id.to_key(), &record)?;
            let refreshed = record.clone();
            let after: AfterCommit = Box::new(move |directory: &mut Directory| directory.replace_key(refreshed));
            Ok((Some(record), after))
        })?;
        Ok(record.map(|record| IssuedGrant { record, access, refresh }))
    }

    /// Ends the grant to which a token belongs, an access token or a refresh token. Returns its key; None if there is
    /// no such grant, or if it has ended already.
    pub fn revoke_grant(&self, token: &str, act: &ActContext) -> Result<Option<KeyId>, ChangeError> {
        let by_refresh = RefreshToken::parse(token).and_then(|token| self.grant_of(&token));
        let found = by_refresh.or_else(|| self.agent_of(token)).filter(|record| record.revoked_at.is_none());
        let Some(record) = found else { return Ok(None) };
        self.revoke_key(record.id, act)?;
        Ok(Some(record.id))
    }

    /// Refuses another agent, and another record, for an account that has had very many.
    pub fn check_may_let_in(&self, account: AccountId) -> Result<(), ChangeError> {
        if self.key_count(account) < KEYS_MAX {
            return Ok(());
        }
        let message =
            format!("this account has had {KEYS_MAX} keys and agents, which is the maximum; ask the operator");
        Err(ChangeError::Refused(message))
    }

    /// The key with which the ids of clients are signed. It is derived from the key of the data directory.
    pub fn client_id_key(&self, entropy: &mut dyn Entropy) -> Result<[u8; 32], ChangeError> {
        let owner = Owner { kind: "client id", id: Uuid::nil(), secret: b"" };
        let mut key = [0; 32];
        self.shared.seal_key(entropy)?.derived(owner).fill(&mut key).map_err(ChangeError::Entropy)?;
        Ok(key)
    }

    /// The grant to whose family a refresh token belongs.
    fn grant_of(&self, token: &RefreshToken) -> Option<KeyRecord> {
        let is_of_family = |grant: &Grant| grant.family.matches(&token.family());
        let record = self.key_record(token.key()).ok()?;
        record.grant.as_ref().is_some_and(is_of_family).then_some(record)
    }

    /// The grant whose present access token this is.
    fn agent_of(&self, access: &str) -> Option<KeyRecord> {
        let plain = PlainKey::parse(access).filter(|plain| plain.kind() == KeyKind::Agent)?;
        self.shared.directory().find(&plain).map(|key| key.record())
    }
}

/// Lets an agent in. Only the code that a person's consent made may lead here.
pub(super) fn let_in(
    poster: &mut LedgerTransaction<'_>,
    wish: NewGrant,
    access: KeyDigest,
    unnumbered: RefreshToken,
    act: &ActContext,
) -> Result<(KeyRecord, RefreshToken, AfterCommit), ChangeError> {
    VisibleText::check("name of the agent", &wish.name)?;
    VisibleText::check("address of the agent", &wish.returns_to)?;
    check_expiry(wish.limits.expires_at, act.at)?;
    check_is_approved(&account(poster, wish.account)?)?;
    let refresh = unnumbered.of_key(KeyId(last_ids(poster)?.key + 1));
    let AgentLimits { scopes, budget, expires_at } = wish.limits;
    let (account, name, kind) = (wish.account, wish.name, KeyKind::Agent);
    let wanted = NewKey { account, name, kind, scopes, expires_at, budget };
    // Names the agent in the ledger. The beginning of its token would change every hour.
    let prefix = format!("agent {}", refresh.key());
    let mut record = new_key(poster, &wanted, access, prefix, act.at, KeyOrigin::default())?;
    record.grant = Some(Grant {
        returns_to: wish.returns_to,
        client: wish.client,
        family: refresh.family(),
        refresh: refresh.digest(),
        access_ends_at: act.at.plus_millis(ACCESS_MILLIS),
    });
    put_json(&mut poster.writing, StateTable::Keys, &record.id.to_key(), &record)?;
    let on: [&dyn AuditPart; 7] = [&record.id, &" of ", &account, &", ", &scopes, &", ", &budget];
    audit(poster, act, "agent allow", &on)?;
    Ok((record.clone(), refresh, add_after(record)))
}

fn check_is_approved(account: &AccountRecord) -> Result<(), ChangeError> {
    if account.status == AccountStatus::Approved {
        return Ok(());
    }
    Err(ChangeError::Refused("the account is not approved; agents can be let in once it is".to_owned()))
}
