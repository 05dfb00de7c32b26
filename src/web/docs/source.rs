//! What the pages are rendered from.

use super::description::ApiDescription;
use crate::api::documents::DocumentContext;

pub(super) struct DocsSource<'s> {
    pub(super) setting: &'s DocumentContext<'s>,
    pub(super) description: ApiDescription,
}
