//! The last resort when `state.key` is lost for good: giving up the data that is sealed with it.

use super::act::{ActContext, audit};
use super::drafts::remove_draft;
use super::orders::remove_intake;
use super::run::no_memory_effect;
use crate::Accounts;
use crate::error::ChangeError;
use crate::sealed::{SealedCount, SealedRecords};

impl Accounts {
    /// Counts the data sealed with the lost key, and removes it if `is_confirmed`. Refused while
    /// the key exists.
    pub fn remove_undecryptable(&self, is_confirmed: bool, act: &ActContext) -> Result<SealedCount, ChangeError> {
        if self.shared.has_seal_key()? {
            return Err(ChangeError::Refused("state.key exists, so nothing has to be removed".to_owned()));
        }
        let sealed = self.shared.with_reading(SealedRecords::read)?;
        let count = sealed.count();
        if !is_confirmed || count.is_none() {
            return Ok(count);
        }
        let act = act.clone();
        self.change(move |poster| {
            for (digest, expires_at) in &sealed.drafts {
                remove_draft(&mut poster.writing, digest, *expires_at)?;
            }
            for id in sealed.intakes {
                remove_intake(poster, id)?;
            }
            let SealedCount { drafts, intakes } = count;
            audit(poster, &act, "order give-up-sealed", &[&drafts, &" drafts, ", &intakes, &" intakes"])?;
            Ok((count, no_memory_effect()))
        })
    }
}
