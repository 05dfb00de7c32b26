//! Sessions of signed-in browsers. A session begins with a proof. It ends when its time is over,
//! when its owner ends it, or with a new password.

use std::net::IpAddr;

use hornbook_base::client_network::ClientNetwork;
use hornbook_base::clock::{Now, UnixMillis};
use hornbook_base::hex;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::act::{ActContext, audit};
use super::proof::{AuthProof, person_of_proof};
use super::run::account as account_of;
use crate::Accounts;
use crate::directory::Directory;
use crate::entropy::Entropy;
use crate::error::ChangeError;
use crate::ids::AccountId;
use crate::job::AfterCommit;
use crate::key::{KeyDigest, LinkToken};
use crate::ledger::poster::LedgerTransaction;
use crate::people::people_index::{SessionState, session_digest};
use crate::people::{Login, PersonRole, SessionRecord};
use crate::records::{AccountStatus, from_json, get_json, put_json, read_json};
use crate::sealing::Owner;
use crate::state::{Index, StateError, StateTable, StateWriter};

/// The maximum number of sessions of a person. One more ends the session that was unused for the longest time.
pub const SESSIONS_MAX: usize = 20;

const DEVICE_CHARS_MAX: usize = 80;

/// The maximum number of known networks of a person. One more replaces the one that was unused for the longest time.
const KNOWN_NETWORKS_MAX: usize = 16;

/// The networks from which a person signed in with the present password, as keyed hashes. The last used one is at the end.
#[derive(Default, Serialize, Deserialize)]
struct KnownNetworks {
    networks: Vec<String>,
}

/// A person who is signed in. Only a live session creates one.
#[derive(Clone, Debug)]
pub struct SignedIn {
    pub account: AccountId,
    pub login: Login,
    pub role: PersonRole,
    pub status: AccountStatus,
    pub session: SessionId,
    digest: KeyDigest,
}

impl SignedIn {
    /// The digest of the session's token, which identifies the session.
    pub fn digest(&self) -> KeyDigest {
        self.digest
    }
}

/// Identifies a session among those of a person, and cannot open it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SessionId([u8; 8]);

impl SessionId {
    fn of(digest: &KeyDigest) -> Self {
        Self(digest.bytes().first_chunk().copied().unwrap_or_default())
    }

    pub fn parse(text: &str) -> Option<Self> {
        hex::decode(text).map(Self)
    }
}

impl std::fmt::Display for SessionId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&hex::encode(&self.0))
    }
}

/// A session as its owner sees it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SessionView {
    pub id: SessionId,
    pub device: String,
    pub created_at: UnixMillis,
    pub last_seen_at: UnixMillis,
    pub ends_at: UnixMillis,
}

impl Accounts {
    /// Signs a browser in. The token is always new, so a token planted by somebody else opens nothing. The network of the
    /// browser becomes known.
    pub fn open_session(
        &self,
        proof: AuthProof,
        device: &str,
        address: IpAddr,
        act: &ActContext,
        entropy: &mut dyn Entropy,
    ) -> Result<LinkToken, ChangeError> {
        let token = LinkToken::generate(entropy).map_err(ChangeError::Entropy)?;
        let (digest, at, account) = (token.digest(), act.at, proof.account());
        let record = SessionRecord {
            account,
            device: device.chars().filter(|char| !char.is_control()).take(DEVICE_CHARS_MAX).collect(),
            created_at: at,
            last_seen_at: at,
            expires_at: at.plus_millis(self.settings().session_millis),
        };
        let act = ActContext { actor: account.into(), at };
        // Without the key of the data directory a person can sign in, and the network stays unknown.
        let network = self.network_hash(account, address, entropy).ok();
        self.change(move |poster| {
            person_of_proof(poster, proof)?;
            if !account_of(poster, account)?.status.is_open() {
                return Err(ChangeError::Refused(
                    "this account is disabled; ask the operator of this service".to_owned(),
                ));
            }
            let superfluous = least_recently_used(&poster.writing, account, SESSIONS_MAX - 1)?;
            end(poster, &superfluous)?;
            put_json(&mut poster.writing, StateTable::Sessions, digest.bytes(), &record)?;
            if let Some(network) = network {
                add_known_network(poster, account, network)?;
            }
            audit(poster, &act, "sign in", &[&account])?;
            let after: AfterCommit = Box::new(move |directory| {
                directory.register.end_sessions(&superfluous);
                directory.register.add_session(SessionState::new(digest, record));
            });
            Ok(((), after))
        })?;
        Ok(token)
    }

    /// Whether the person with this name signed in from the network of this address before, and has the password of that
    /// time. Reads the state file.
    pub fn knows_network(&self, login: &str, address: IpAddr, entropy: &mut dyn Entropy) -> Result<bool, ChangeError> {
        let login = login.parse::<Login>().ok();
        let account = login.and_then(|login| Some(self.shared.directory().register.named(&login)?.account));
        let Some(account) = account else { return Ok(false) };
        if !self.shared.has_seal_key()? {
            return Ok(false);
        }
        let network = self.network_hash(account, address, entropy)?;
        let key = known_networks_key(account);
        let known: Option<KnownNetworks> =
            self.shared.with_reading(|reading| read_json(reading, StateTable::Meta, &key))?;
        Ok(known.is_some_and(|known| known.networks.contains(&network)))
    }

    /// Identifies a network among those of an account, and reveals nothing about it to anyone without the key of the data
    /// directory.
    fn network_hash(
        &self,
        account: AccountId,
        address: IpAddr,
        entropy: &mut dyn Entropy,
    ) -> Result<String, ChangeError> {
        let secret = format!("{account}\0{}", ClientNetwork::of(address).number());
        let owner = Owner { kind: "sign-in network", id: Uuid::nil(), secret: secret.as_bytes() };
        let mut bytes = [0; 16];
        self.shared.seal_key(entropy)?.derived(owner).fill(&mut bytes).map_err(ChangeError::Entropy)?;
        Ok(hex::encode(&bytes))
    }

    /// Whether the directory has this session, live or not.
    pub fn knows_session(&self, token: &LinkToken) -> bool {
        self.shared.directory().register.session(&token.digest()).is_some()
    }

    /// The person who is signed in with this token. Reads only memory, and counts as use of the session.
    pub fn session(&self, token: &LinkToken, now: Now) -> Option<SignedIn> {
        let digest = token.digest();
        let directory = self.shared.directory();
        let session = directory.register.session(&digest)?;
        let is_live = now.wall < session.ends_at(self.settings().session_idle_millis);
        let person = directory.register.person(session.record.account).filter(|_| is_live)?;
        let status = directory.account(person.account)?.record().status;
        if !status.is_open() {
            return None;
        }
        session.seen(now.wall);
        let (account, login, role) = (person.account, person.login.clone(), person.role);
        Some(SignedIn { account, login, role, status, session: SessionId::of(&digest), digest })
    }

    /// The live sessions of a person, the most recently used first.
    pub fn sessions(&self, account: AccountId, now: UnixMillis) -> Vec<SessionView> {
        let idle_millis = self.settings().session_idle_millis;
        let directory = self.shared.directory();
        let own = directory.register.sessions().filter(|session| session.record.account == account);
        let mut views: Vec<SessionView> = own
            .map(|session| SessionView {
                id: SessionId::of(&session.digest),
                device: session.record.device.clone(),
                created_at: session.record.created_at,
                last_seen_at: session.last_seen(),
                ends_at: session.ends_at(idle_millis),
            })
            .filter(|view| now < view.ends_at)
            .collect();
        views.sort_by_key(|view| (std::cmp::Reverse(view.last_seen_at), view.id));
        views
    }

    /// Ends one session of a person, or all except one. Returns how many were ended.
    pub fn end_sessions(&self, account: AccountId, which: EndSessions, act: &ActContext) -> Result<usize, ChangeError> {
        let act = act.clone();
        self.change(move |poster| {
            let mut ended = sessions_of(&poster.writing, account)?;
            ended.retain(|(digest, _)| match which {
                EndSessions::One(id) => SessionId::of(digest) == id,
                EndSessions::OthersThan(id) => SessionId::of(digest) != id,
            });
            let ended: Vec<KeyDigest> = ended.into_iter().map(|(digest, _)| digest).collect();
            end(poster, &ended)?;
            if !ended.is_empty() {
                audit(poster, &act, "sign out", &[&account, &", ", &ended.len(), &" sessions"])?;
            }
            let count = ended.len();
            let after: AfterCommit = Box::new(move |directory| directory.register.end_sessions(&ended));
            Ok((count, after))
        })
    }

    /// Stores when sessions were last used, and removes the sessions that ended.
    pub(crate) fn maintain_sessions(&self, now: UnixMillis) -> Result<(), ChangeError> {
        let idle_millis = self.settings().session_idle_millis;
        let sessions: Vec<_> = self.shared.directory().register.sessions().cloned().collect();
        let (ended, live): (Vec<_>, Vec<_>) =
            sessions.into_iter().partition(|session| session.ends_at(idle_millis) <= now);
        let due: Vec<_> =
            live.into_iter().filter_map(|session| session.due().map(|record| (session, record))).collect();
        if ended.is_empty() && due.is_empty() {
            return Ok(());
        }
        let ended: Vec<KeyDigest> = ended.iter().map(|session| session.digest).collect();
        self.change(move |poster| {
            end(poster, &ended)?;
            let mut seen = Vec::new();
            for (session, record) in due {
                // The session may have ended since the list was made.
                if poster.writing.get(StateTable::Sessions, session.digest.bytes())?.is_some() {
                    put_json(&mut poster.writing, StateTable::Sessions, session.digest.bytes(), &record)?;
                    seen.push((session, record.last_seen_at));
                }
            }
            let after = move |directory: &mut Directory| {
                directory.register.end_sessions(&ended);
                for (session, last_seen) in seen {
                    session.stored(last_seen);
                }
            };
            Ok(((), Box::new(after)))
        })
    }
}

/// Which sessions of a person to end.
#[derive(Clone, Copy, Debug)]
pub enum EndSessions {
    One(SessionId),
    OthersThan(SessionId),
}

pub(super) fn sessions_of(
    writing: &StateWriter,
    account: AccountId,
) -> Result<Vec<(KeyDigest, SessionRecord)>, StateError> {
    let found = writing.owned_by(Index::Sessions, &account.to_string())?;
    let read = |(key, payload): &(Vec<u8>, Vec<u8>)| {
        Ok((session_digest(key)?, from_json(StateTable::Sessions, key, payload)?))
    };
    found.iter().map(read).collect()
}

fn known_networks_key(account: AccountId) -> Vec<u8> {
    format!("sign-in networks of {account}").into_bytes()
}

fn add_known_network(
    poster: &mut LedgerTransaction<'_>,
    account: AccountId,
    network: String,
) -> Result<(), StateError> {
    let key = known_networks_key(account);
    let mut known: KnownNetworks = get_json(&poster.writing, StateTable::Meta, &key)?.unwrap_or_default();
    known.networks.retain(|other| *other != network);
    known.networks.push(network);
    let surplus = known.networks.len().saturating_sub(KNOWN_NETWORKS_MAX);
    known.networks.drain(..surplus);
    put_json(&mut poster.writing, StateTable::Meta, &key, &known)
}

/// Removes every session of an account and its known networks from the file; the caller removes the sessions from memory after
/// the commit.
pub(super) fn end_sessions_of(
    poster: &mut LedgerTransaction<'_>,
    account: AccountId,
) -> Result<Vec<KeyDigest>, StateError> {
    let ended = sessions_of(&poster.writing, account)?;
    let ended: Vec<KeyDigest> = ended.into_iter().map(|(digest, _)| digest).collect();
    end(poster, &ended)?;
    poster.writing.remove(StateTable::Meta, &known_networks_key(account))?;
    Ok(ended)
}

fn end(poster: &mut LedgerTransaction<'_>, sessions: &[KeyDigest]) -> Result<(), StateError> {
    sessions.iter().try_for_each(|digest| poster.writing.remove(StateTable::Sessions, digest.bytes()))
}

/// All sessions of the account except the `keep` most recently used ones.
fn least_recently_used(writing: &StateWriter, account: AccountId, keep: usize) -> Result<Vec<KeyDigest>, StateError> {
    let mut sessions = sessions_of(writing, account)?;
    sessions.sort_by_key(|(_, record)| std::cmp::Reverse(record.last_seen_at));
    Ok(sessions.into_iter().skip(keep).map(|(digest, _)| digest).collect())
}
