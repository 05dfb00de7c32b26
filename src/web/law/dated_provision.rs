//! A provision, and the day for which a page shows it.

use std::ops::Deref;

use crate::api::replies::NodeReply;

/// The reply of the operation `node`, and the day in the page's address.
#[derive(Debug)]
pub(super) struct DatedProvision<'b> {
    pub(super) reply: NodeReply<'b>,
    /// `None` if the address names no day. Links keep it, so they lead to the law of the same day.
    pub(super) named_day: Option<String>,
}

impl<'b> Deref for DatedProvision<'b> {
    type Target = NodeReply<'b>;

    fn deref(&self) -> &NodeReply<'b> {
        &self.reply
    }
}
