//! People and sessions in memory: every page checks who is signed in, and must not wait for the disk.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use hornbook_base::clock::UnixMillis;

use super::{Login, PersonRecord, SessionRecord};
use crate::ids::AccountId;
use crate::key::KeyDigest;
use crate::records::{from_json, read_all_json};
use crate::state::{StateError, StateReader, StateTable};

/// The stored time of last use is at most this far behind.
const LAST_SEEN_EVERY_MILLIS: i64 = 60_000;

pub(crate) struct SessionState {
    pub(crate) digest: KeyDigest,
    pub(crate) record: SessionRecord,
    last_seen: AtomicI64,
    last_seen_stored: AtomicI64,
}

impl SessionState {
    pub(crate) fn new(digest: KeyDigest, record: SessionRecord) -> Self {
        let last_seen = record.last_seen_at.0;
        Self { digest, record, last_seen: AtomicI64::new(last_seen), last_seen_stored: AtomicI64::new(last_seen) }
    }

    /// The first moment at which the session no longer works.
    pub(crate) fn ends_at(&self, idle_millis: i64) -> UnixMillis {
        self.last_seen().plus_millis(idle_millis).min(self.record.expires_at)
    }

    pub(crate) fn seen(&self, at: UnixMillis) {
        self.last_seen.fetch_max(at.0, Ordering::Relaxed);
    }

    pub(crate) fn last_seen(&self) -> UnixMillis {
        UnixMillis(self.last_seen.load(Ordering::Relaxed))
    }

    /// The record to store now, if the stored one is too far behind.
    pub(crate) fn due(&self) -> Option<SessionRecord> {
        let (seen, stored) = (self.last_seen(), self.last_seen_stored.load(Ordering::Relaxed));
        let is_due = seen.0.saturating_sub(stored) >= LAST_SEEN_EVERY_MILLIS;
        is_due.then(|| SessionRecord { last_seen_at: seen, ..self.record.clone() })
    }

    pub(crate) fn stored(&self, last_seen: UnixMillis) {
        self.last_seen_stored.fetch_max(last_seen.0, Ordering::Relaxed);
    }
}

#[derive(Default)]
pub(crate) struct PeopleIndex {
    people: HashMap<AccountId, Arc<PersonRecord>>,
    by_login: HashMap<Login, AccountId>,
    sessions: HashMap<u128, Arc<SessionState>>,
}

impl PeopleIndex {
    /// Takes over the stored records, and keeps what is known about later use of sessions.
    pub(crate) fn take_over(&mut self, stored: StoredPeople) {
        let known = std::mem::take(self);
        for person in stored.people {
            self.put_person(person);
        }
        for (digest, record) in stored.sessions {
            let session = SessionState::new(digest, record);
            if let Some(known) = known.session(&digest) {
                session.seen(known.last_seen());
            }
            self.add_session(session);
        }
    }

    pub(crate) fn person(&self, account: AccountId) -> Option<&Arc<PersonRecord>> {
        self.people.get(&account)
    }

    pub(crate) fn people(&self) -> impl Iterator<Item = &Arc<PersonRecord>> {
        self.people.values()
    }

    pub(crate) fn named(&self, login: &Login) -> Option<&Arc<PersonRecord>> {
        self.by_login.get(login).and_then(|account| self.people.get(account))
    }

    /// Adds a person, or replaces the account's person.
    pub(crate) fn put_person(&mut self, person: PersonRecord) {
        self.remove_person(person.account);
        self.by_login.insert(person.login.clone(), person.account);
        self.people.insert(person.account, Arc::new(person));
    }

    pub(crate) fn remove_person(&mut self, account: AccountId) {
        if let Some(person) = self.people.remove(&account) {
            self.by_login.remove(&person.login);
        }
    }

    pub(crate) fn add_session(&mut self, session: SessionState) {
        self.sessions.insert(session.digest.bucket(), Arc::new(session));
    }

    pub(crate) fn session(&self, digest: &KeyDigest) -> Option<&Arc<SessionState>> {
        self.sessions.get(&digest.bucket()).filter(|session| session.digest.matches(digest))
    }

    pub(crate) fn sessions(&self) -> impl Iterator<Item = &Arc<SessionState>> {
        self.sessions.values()
    }

    pub(crate) fn end_sessions(&mut self, digests: &[KeyDigest]) {
        for digest in digests {
            self.sessions.remove(&digest.bucket());
        }
    }
}

/// People and sessions as stored in the file.
pub(crate) struct StoredPeople {
    people: Vec<PersonRecord>,
    sessions: Vec<(KeyDigest, SessionRecord)>,
}

impl StoredPeople {
    pub(crate) fn read(reading: &StateReader) -> Result<Self, StateError> {
        let mut sessions = Vec::new();
        reading.scan(StateTable::Sessions, &[], &mut |key, payload| {
            sessions.push((session_digest(key)?, from_json(StateTable::Sessions, key, payload)?));
            Ok(true)
        })?;
        Ok(Self { people: read_all_json(reading, StateTable::People)?, sessions })
    }
}

pub(crate) fn session_digest(key: &[u8]) -> Result<KeyDigest, StateError> {
    KeyDigest::from_bytes(key).ok_or_else(|| StateError::bad_record(StateTable::Sessions.name(), key))
}
