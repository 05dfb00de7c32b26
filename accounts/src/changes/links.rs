//! One-time links: for the first operator, for invited people, and for forgotten passwords. The
//! program sends no mail: the person who creates a link passes it on.

use hornbook_base::clock::{MILLIS_PER_DAY, UnixMillis};

use super::accounts::{approve, new_account};
use super::act::{ActContext, audit};
use super::people::{add_person, new_person, replace_password};
use super::proof::AuthProof;
use super::run::{account, no_memory_effect};
use crate::Accounts;
use crate::balance::AccountBalance;
use crate::directory::AccountState;
use crate::entropy::Entropy;
use crate::error::ChangeError;
use crate::ids::{AccountId, Credits};
use crate::job::AfterCommit;
use crate::key::{KeyDigest, LinkToken};
use crate::ledger::poster::LedgerTransaction;
use crate::people::{LinkPurpose, LinkRecord, Login, Password, PersonRecord, PersonRole, StoredPassword};
use crate::records::{get_json, put_json, read_json};
use crate::state::{Index, StateError, StateTable, StateWriter};

/// The purpose of the first operator's link, as stored.
const FIRST_OPERATOR: &str = "firstOperator";

/// Three days.
pub const LINK_MILLIS: i64 = 3 * MILLIS_PER_DAY;

/// What the person who opens a link must choose.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LinkView {
    /// A name and a password, for a new account with the operator role.
    FirstOperator,
    /// A name and a password, for an account that has no person yet.
    Invited { account: AccountId, name: String },
    /// A new password.
    NewPassword { login: Login },
}

/// The choice of the person who opened a link.
#[derive(Clone, Debug)]
pub struct LinkChoice {
    /// None if the account has a person.
    pub login: Option<Login>,
    pub password: Password,
}

impl Accounts {
    /// Creates a link with which a person can choose how to sign in to an account, once, within
    /// three days. The account's earlier links end.
    pub fn make_link(
        &self,
        id: AccountId,
        role: PersonRole,
        act: &ActContext,
        entropy: &mut dyn Entropy,
    ) -> Result<LinkToken, ChangeError> {
        let token = LinkToken::generate(entropy).map_err(ChangeError::Entropy)?;
        let (digest, act) = (token.digest(), act.clone());
        self.change(move |poster| {
            if !account(poster, id)?.status.is_open() {
                return Err(ChangeError::Refused(format!("{id} is disabled; approve it first")));
            }
            let purpose = LinkPurpose::SignIn { account: id, role };
            remove_links(&mut poster.writing, Index::Links, &id.to_string())?;
            put_link(poster, digest, purpose, act.at)?;
            audit(poster, &act, "account link", &[&id, &", ", &role.name()])?;
            Ok(((), no_memory_effect()))
        })?;
        Ok(token)
    }

    /// Creates a link that makes an operator, if there is none yet. It replaces the previous link.
    pub fn first_operator_link(
        &self,
        act: &ActContext,
        entropy: &mut dyn Entropy,
    ) -> Result<Option<LinkToken>, ChangeError> {
        if self.has_operator() {
            return Ok(None);
        }
        let token = LinkToken::generate(entropy).map_err(ChangeError::Entropy)?;
        let (digest, act) = (token.digest(), act.clone());
        self.change(move |poster| {
            remove_links(&mut poster.writing, Index::LinksByPurpose, FIRST_OPERATOR)?;
            put_link(poster, digest, LinkPurpose::FirstOperator, act.at)?;
            audit(poster, &act, "operator link", &[&"the first operator"])?;
            Ok(((), no_memory_effect()))
        })?;
        Ok(Some(token))
    }

    /// The purpose of a link. None for a link that is unknown, used or expired.
    pub fn link(&self, token: &LinkToken, now: UnixMillis) -> Result<Option<LinkView>, ChangeError> {
        let found: Option<LinkRecord> =
            self.shared.with_reading(|reading| read_json(reading, StateTable::Links, token.digest().bytes()))?;
        let Some(link) = found.filter(|link| now < link.expires_at) else { return Ok(None) };
        let LinkPurpose::SignIn { account, .. } = link.purpose else {
            return Ok(Some(LinkView::FirstOperator).filter(|_| !self.has_operator()));
        };
        let directory = self.shared.directory();
        let record = directory.account(account).map(|state| state.record());
        let record = record.filter(|record| record.status.is_open());
        let Some(record) = record else { return Ok(None) };
        Ok(Some(match directory.register.person(account) {
            Some(person) => LinkView::NewPassword { login: person.login.clone() },
            None => LinkView::Invited { account, name: record.name.into() },
        }))
    }

    /// Uses a link, once. Sessions that were opened with the old password end. None for a link that
    /// no longer works.
    pub fn use_link(
        &self,
        token: &LinkToken,
        answer: LinkChoice,
        act: &ActContext,
        entropy: &mut dyn Entropy,
    ) -> Result<Option<AuthProof>, ChangeError> {
        let Some(view) = self.link(token, act.at)? else { return Ok(None) };
        let LinkChoice { login, password } = answer;
        let known = if let LinkView::NewPassword { login } = &view { Some(login) } else { login.as_ref() };
        let password = self.store_password(known, &password, entropy)?;
        let no_key = KeyDigest::random(entropy).map_err(ChangeError::Entropy)?;
        let (digest, grant, act) = (token.digest(), self.grant_on_approval()?, act.clone());
        self.change(move |poster| {
            let found: Option<LinkRecord> = get_json(&poster.writing, StateTable::Links, digest.bytes())?;
            let Some(link) = found.filter(|link| act.at < link.expires_at) else {
                return Ok((None, no_memory_effect()));
            };
            poster.writing.remove(StateTable::Links, digest.bytes())?;
            let login = login.ok_or_else(|| ChangeError::Refused("choose a sign-in name".to_owned()));
            let chosen = StoredChoice { login, password, no_key };
            let (person, after) = match link.purpose {
                LinkPurpose::FirstOperator => make_operator(poster, chosen, grant, &act)?,
                LinkPurpose::SignIn { account, role } => set_sign_in(poster, account, role, chosen, &act)?,
            };
            let proof = AuthProof::of(&person);
            Ok((Some(proof), after))
        })
    }
}

impl Accounts {
    /// Removes expired links from the file.
    pub(crate) fn expire_links(&self, now: UnixMillis) -> Result<(), ChangeError> {
        self.remove_expired(StateTable::Links, |link: &LinkRecord| link.expires_at <= now)
    }
}

/// The choice of a person, as passed to the writer.
struct StoredChoice {
    login: Result<Login, ChangeError>,
    password: StoredPassword,
    no_key: KeyDigest,
}

fn make_operator(
    poster: &mut LedgerTransaction<'_>,
    chosen: StoredChoice,
    grant: Credits,
    act: &ActContext,
) -> Result<(PersonRecord, AfterCommit), ChangeError> {
    let StoredChoice { login, password, no_key } = chosen;
    let login = login?;
    let mut owner = new_account(poster, login.as_str().to_owned(), act.at)?;
    let act = ActContext { actor: owner.id.into(), ..act.clone() };
    audit(poster, &act, "operator create", &[&owner.id])?;
    let credits = approve(poster, &mut owner, grant, &act)?;
    let (person, key) = new_person(poster, owner.id, login, password, PersonRole::Operator, no_key, &act)?;
    let added = person.clone();
    let after: AfterCommit = Box::new(move |directory| {
        directory.add_account(AccountState::new(owner, AccountBalance::new(credits, [])));
        add_person(directory, added, key);
    });
    Ok((person, after))
}

/// Sets a new password for the account's person, or adds the account's first person.
fn set_sign_in(
    poster: &mut LedgerTransaction<'_>,
    id: AccountId,
    role: PersonRole,
    chosen: StoredChoice,
    act: &ActContext,
) -> Result<(PersonRecord, AfterCommit), ChangeError> {
    let act = ActContext { actor: id.into(), ..act.clone() };
    let StoredChoice { login, password, no_key } = chosen;
    if !account(poster, id)?.status.is_open() {
        return Err(ChangeError::Refused("this account is disabled; ask the operator".to_owned()));
    }
    if let Some(person) = get_json::<PersonRecord>(&poster.writing, StateTable::People, &id.to_key())? {
        audit(poster, &act, "password reset", &[&id])?;
        // A link never takes the operator role away.
        let role = if person.role == PersonRole::Operator { PersonRole::Operator } else { role };
        return replace_password(poster, PersonRecord { role, ..person }, password, &act);
    }
    let (person, key) = new_person(poster, id, login?, password, role, no_key, &act)?;
    let added = person.clone();
    Ok((person, Box::new(move |directory| add_person(directory, added, key))))
}

fn put_link(
    poster: &mut LedgerTransaction<'_>,
    digest: KeyDigest,
    purpose: LinkPurpose,
    at: UnixMillis,
) -> Result<(), StateError> {
    let link = LinkRecord { purpose, created_at: at, expires_at: at.plus_millis(LINK_MILLIS) };
    put_json(&mut poster.writing, StateTable::Links, digest.bytes(), &link)
}

/// Removes the links that an index has for an owner.
fn remove_links(writing: &mut StateWriter, index: Index, owner: &str) -> Result<(), StateError> {
    let links = writing.owned_by(index, owner)?;
    links.iter().try_for_each(|(key, _)| writing.remove(StateTable::Links, key))
}
