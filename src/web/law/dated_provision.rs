//! A provision, and the day for which a page shows it.

use std::ops::Deref;

use super::address::{View, day_parameter, without_day};
use crate::api::replies::NodeReply;

/// The reply of the operation `node`, and the day in the page's address.
#[derive(Debug)]
pub(super) struct DatedProvision<'b> {
    pub(super) reply: NodeReply<'b>,
    /// `None` if the address names no day. Links keep it, so they lead to the law of the same day.
    pub(super) named_day: Option<String>,
}

impl DatedProvision<'_> {
    /// The path of its page, which shows the law of today.
    pub(super) fn path(&self) -> &str {
        without_day(&self.reply.url)
    }

    /// The path of another view of it, on the day of this page.
    pub(super) fn path_of(&self, view: View) -> String {
        format!("{}{}{}", self.path(), view.suffix(), day_parameter('?', self.named_day.as_deref()))
    }
}

impl<'b> Deref for DatedProvision<'b> {
    type Target = NodeReply<'b>;

    fn deref(&self) -> &NodeReply<'b> {
        &self.reply
    }
}
