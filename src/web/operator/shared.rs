//! State shared by the operator's page and its forms.

use std::sync::Arc;

use super::machinery::Machinery;
use crate::accounts::Accounts;
use crate::metrics::Metrics;
use crate::web::shell::Shell;

pub(super) struct Shared {
    pub(super) shell: Arc<Shell>,
    pub(super) metrics: Arc<Metrics>,
    pub(super) machinery: Arc<dyn Machinery>,
}

impl Shared {
    pub(super) fn accounts(&self) -> Arc<Accounts> {
        Arc::clone(self.shell.service.accounts())
    }
}
