//! Signed-in browsers.

use super::{account, nothing_more};
use crate::accounts::Accounts;
use crate::accounts::error::ChangeError;
use crate::accounts::key::KeyDigest;
use crate::accounts::records::{SessionRecord, put_json};
use crate::state::Table;

impl Accounts {
    /// Remembers a signed-in browser until `session.expires_at`.
    pub fn open_session(&self, token: KeyDigest, session: SessionRecord) -> Result<(), ChangeError> {
        self.change(move |poster| {
            account(poster, session.account)?;
            put_json(&mut poster.writing, Table::Sessions, token.bytes(), &session)?;
            Ok(((), nothing_more()))
        })
    }

    pub fn close_session(&self, token: KeyDigest) -> Result<(), ChangeError> {
        self.change(move |poster| {
            poster.writing.remove(Table::Sessions, token.bytes())?;
            Ok(((), nothing_more()))
        })
    }
}
