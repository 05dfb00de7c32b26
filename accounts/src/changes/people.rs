//! People: signing up, changing a password or a role, and deleting an account.

use hornbook_base::clock::UnixMillis;

use super::accounts::{approve, new_account};
use super::act::{ActContext, audit};
use super::keys::{KeyOrigin, NewKey, new_key};
use super::orders::orders_under_way;
use super::proof::{AuthProof, person_of, person_of_proof};
use super::run::{account, put_account, remove_stored_person};
use super::sessions::end_sessions_of;
use super::sign_ups;
use super::watch_records::forget_watches;
use crate::Accounts;
use crate::balance::AccountBalance;
use crate::blocking;
use crate::budget::Budget;
use crate::directory::{AccountState, Directory};
use crate::entropy::Entropy;
use crate::error::ChangeError;
use crate::ids::AccountId;
use crate::job::AfterCommit;
use crate::key::{KeyDigest, KeyKind};
use crate::ledger::poster::LedgerTransaction;
use crate::people::{Login, Password, PersonRecord, PersonRole, StoredPassword};
use crate::records::{AccountStatus, KeyRecord, owned_json, put_json};
use crate::scope::ScopeSet;
use crate::state::{Index, StateError, StateTable};
use crate::visible_text::VisibleText;

/// A person who requests an account.
#[derive(Clone, Debug)]
pub struct SignUp {
    pub login: Login,
    pub password: Password,
    /// Whether the account is approved at once or waits for the operator.
    pub approve: bool,
}

impl Accounts {
    /// Checks a name and its password. This takes the same work whether or not anybody has the name.
    pub fn check_login(&self, login: &str, password: &str) -> Option<AuthProof> {
        let login = login.parse::<Login>().ok();
        let person = login.and_then(|login| self.shared.directory().register.named(&login).cloned());
        self.check_password(person.as_deref(), password)
    }

    /// Checks the password of a known person, before an action for which a session is not enough.
    pub fn recheck_password(&self, account: AccountId, password: &str) -> Option<AuthProof> {
        let person = self.shared.directory().register.person(account).cloned();
        self.check_password(person.as_deref(), password)
    }

    fn check_password(&self, person: Option<&PersonRecord>, password: &str) -> Option<AuthProof> {
        blocking::assert_allowed();
        self.shared.passwords_checked.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let nobody;
        let stored = match person {
            Some(person) => &person.password,
            None => {
                nobody = StoredPassword::dummy(self.settings().password_work);
                &nobody
            }
        };
        let is_right = stored.matches(password);
        person.filter(|_| is_right).map(AuthProof::of)
    }

    /// The number of passwords checked or stored, for the metrics.
    pub fn passwords_checked(&self) -> u64 {
        self.shared.passwords_checked.load(std::sync::atomic::Ordering::Relaxed)
    }

    /// Hashes a password before a change is queued, because Argon2 is too slow for the writer's thread.
    pub(super) fn store_password(
        &self,
        login: Option<&Login>,
        password: &Password,
        entropy: &mut dyn Entropy,
    ) -> Result<StoredPassword, ChangeError> {
        blocking::assert_allowed();
        if login.is_some_and(|login| password.is(login.as_str())) {
            return Err(ChangeError::Refused("the password is the same as the name; choose another".to_owned()));
        }
        self.shared.passwords_checked.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        StoredPassword::of(password, self.settings().password_work, entropy)
    }

    /// Creates an account and its person. The name must not be taken.
    pub fn sign_up(&self, wish: SignUp, act: &ActContext, entropy: &mut dyn Entropy) -> Result<AuthProof, ChangeError> {
        let SignUp { login, password, approve: at_once } = wish;
        let password = self.store_password(Some(&login), &password, entropy)?;
        let (grant, act) = (self.grant_on_approval()?, act.clone());
        let no_key = KeyDigest::random(entropy).map_err(ChangeError::Entropy)?;
        self.change(move |poster| {
            if !at_once {
                sign_ups::check_room(poster)?;
            }
            let mut owner = new_account(poster, login.as_str().to_owned(), act.at)?;
            owner.signed_up = true;
            put_account(poster, &owner)?;
            // The account itself is the actor.
            let act = ActContext { actor: owner.id.into(), ..act };
            audit(poster, &act, "account create", &[&owner.id])?;
            let mut credits = 0;
            if at_once {
                credits = approve(poster, &mut owner, grant, &act)?;
            }
            let (person, key) = new_person(poster, owner.id, login, password, PersonRole::Customer, no_key, &act)?;
            let proof = AuthProof::of(&person);
            let after: AfterCommit = Box::new(move |directory| {
                directory.add_account(AccountState::new(owner, AccountBalance::new(credits, [])));
                add_person(directory, person, key);
            });
            Ok((proof, after))
        })
    }

    /// Replaces the password and ends every session. The proof opens a new one.
    pub fn change_password(
        &self,
        proof: AuthProof,
        password: &Password,
        act: &ActContext,
        entropy: &mut dyn Entropy,
    ) -> Result<AuthProof, ChangeError> {
        let login = self.person(proof.account()).map(|person| person.login.clone());
        let password = self.store_password(login.as_ref(), password, entropy)?;
        let act = act.clone();
        self.change(move |poster| {
            let person = person_of_proof(poster, proof)?;
            let (person, after) = replace_password(poster, person, password, &act)?;
            audit(poster, &act, "password change", &[&person.account])?;
            Ok((AuthProof::of(&person), after))
        })
    }

    /// Changes the role of a person.
    pub fn set_role(&self, id: AccountId, role: PersonRole, act: &ActContext) -> Result<(), ChangeError> {
        let act = act.clone();
        self.change(move |poster| {
            let mut person = person_of(poster, id)?;
            person.role = role;
            put_json(&mut poster.writing, StateTable::People, &id.to_key(), &person)?;
            audit(poster, &act, "account role", &[&id, &", ", &role.name()])?;
            let after: AfterCommit = Box::new(move |directory| directory.register.put_person(person));
            Ok(((), after))
        })
    }

    /// Removes name, password, watches and sessions of a person, and revokes the keys. The ledger stays,
    /// with only the number of the account. Remaining credits are lost. Orders in progress must be
    /// completed or discarded first.
    pub fn delete_account(&self, proof: AuthProof, act: &ActContext) -> Result<(), ChangeError> {
        let act = act.clone();
        self.change(move |poster| {
            let id = person_of_proof(poster, proof)?.account;
            Ok(((), delete(poster, id, &act)?))
        })
    }

    /// Deletes an account at the command of the operator. It may have no person.
    pub fn delete_account_as_operator(&self, id: AccountId, act: &ActContext) -> Result<(), ChangeError> {
        let act = act.clone();
        self.change(move |poster| Ok(((), delete(poster, id, &act)?)))
    }

    /// The person of an account.
    pub fn person(&self, account: AccountId) -> Option<std::sync::Arc<PersonRecord>> {
        self.shared.directory().register.person(account).cloned()
    }

    /// Whether any person has the operator role.
    pub fn has_operator(&self) -> bool {
        self.shared.directory().register.people().any(|person| person.role == PersonRole::Operator)
    }
}

/// Removes the name, the person, the keys and the sessions of an account. What the books need stays under its number.
fn delete(poster: &mut LedgerTransaction<'_>, id: AccountId, act: &ActContext) -> Result<AfterCommit, ChangeError> {
    let mut record = account(poster, id)?;
    if record.status == AccountStatus::Deleted {
        return Err(ChangeError::Refused(format!("{id} is deleted already")));
    }
    let open = orders_under_way(poster, id)?.len();
    if open > 0 {
        let message =
            format!("{open} orders of {id} are in progress; the operator must complete or discard them first");
        return Err(ChangeError::Refused(message));
    }
    record.status = AccountStatus::Deleted;
    record.name = VisibleText::shown(DELETED_NAME);
    put_account(poster, &record)?;
    let sessions = end_sessions_of(poster, id)?;
    remove_stored_person(&mut poster.writing, id)?;
    let keys = revoke_keys(poster, id, act.at)?;
    audit(poster, act, "account delete", &[&id])?;
    Ok(Box::new(move |directory| {
        for key in keys {
            directory.replace_key(key);
        }
        directory.register.end_sessions(&sessions);
        directory.register.remove_person(id);
        if let Some(state) = directory.account(id) {
            state.replace(record);
        }
    }))
}

/// The name of an account whose person deleted it.
pub const DELETED_NAME: &str = "deleted";

/// The prefix that the ledger shows for calls from pages.
const WEB_PREFIX: &str = "web pages";

/// Creates a person and the key on which their calls are metered. `no_key` is a random digest: no
/// text is that key.
pub(super) fn new_person(
    poster: &mut LedgerTransaction<'_>,
    id: AccountId,
    login: Login,
    password: StoredPassword,
    role: PersonRole,
    no_key: KeyDigest,
    act: &ActContext,
) -> Result<(PersonRecord, KeyRecord), ChangeError> {
    if poster.writing.get(StateTable::Logins, login.as_str().as_bytes())?.is_some() {
        return Err(ChangeError::Refused("this name is taken; choose another".to_owned()));
    }
    let (name, scopes) = (WEB_PREFIX.to_owned(), ScopeSet::ALL);
    let wish = NewKey { account: id, name, kind: KeyKind::Web, scopes, expires_at: None, budget: Budget::default() };
    let key = new_key(poster, &wish, no_key, WEB_PREFIX.to_owned(), act.at, KeyOrigin::default())?;
    let (passwords, password_changed_at, web_key) = (1, act.at, key.id);
    let person = PersonRecord { account: id, login, role, password, passwords, password_changed_at, web_key };
    poster.writing.put(StateTable::Logins, person.login.as_str().as_bytes(), &id.to_key())?;
    put_json(&mut poster.writing, StateTable::People, &id.to_key(), &person)?;
    audit(poster, act, "person create", &[&id, &", ", &role.name()])?;
    Ok((person, key))
}

pub(super) fn add_person(directory: &mut Directory, person: PersonRecord, key: KeyRecord) {
    directory.add_new_key(key, []);
    directory.register.put_person(person);
}

/// Replaces the password and ends all sessions that were opened with the old one.
pub(super) fn replace_password(
    poster: &mut LedgerTransaction<'_>,
    mut person: PersonRecord,
    password: StoredPassword,
    act: &ActContext,
) -> Result<(PersonRecord, AfterCommit), ChangeError> {
    person.password = password;
    person.passwords = person.passwords.wrapping_add(1);
    person.password_changed_at = act.at;
    put_json(&mut poster.writing, StateTable::People, &person.account.to_key(), &person)?;
    let ended = end_sessions_of(poster, person.account)?;
    let changed = person.clone();
    let after = move |directory: &mut Directory| {
        directory.register.end_sessions(&ended);
        directory.register.put_person(changed);
    };
    Ok((person, Box::new(after)))
}

/// Revokes the keys of an account, and removes their names and watches.
fn revoke_keys(
    poster: &mut LedgerTransaction<'_>,
    id: AccountId,
    at: UnixMillis,
) -> Result<Vec<KeyRecord>, StateError> {
    let mut keys: Vec<KeyRecord> = owned_json(&poster.writing, Index::Keys, &id)?;
    for key in &mut keys {
        key.revoked_at.get_or_insert(at);
        key.name = VisibleText::shown(DELETED_NAME);
        forget_watches(poster, key.id)?;
        put_json(&mut poster.writing, StateTable::Keys, &key.id.to_key(), key)?;
    }
    Ok(keys)
}
