//! State shared by the operator's page and its forms.

use std::sync::Arc;

use hornbook_accounts::Accounts;

use super::snapshot_control::SnapshotControl;
use crate::metrics::Metrics;
use crate::web::page_context::PageContext;

pub(super) struct OperatorContext {
    pub(super) shell: Arc<PageContext>,
    pub(super) metrics: Arc<Metrics>,
    pub(super) machinery: Arc<dyn SnapshotControl>,
}

impl OperatorContext {
    pub(super) fn accounts(&self) -> Arc<Accounts> {
        Arc::clone(self.shell.service.accounts())
    }
}
