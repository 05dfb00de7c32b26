//! State shared by the operator's page and its forms.

use std::sync::Arc;

use hornbook_accounts::Accounts;
use maud::{Markup, html};

use super::control::OperatorControl;
use crate::metrics::Metrics;
use crate::web::page_context::PageContext;
use crate::web::page_request::PageRequest;

pub(super) struct OperatorContext {
    pub(super) shell: Arc<PageContext>,
    pub(super) metrics: Arc<Metrics>,
    pub(super) machinery: Arc<dyn OperatorControl>,
}

impl OperatorContext {
    pub(super) fn accounts(&self) -> Arc<Accounts> {
        Arc::clone(self.shell.service.accounts())
    }
}

/// A form with one button.
pub(super) fn button(seen: &PageRequest<'_>, path: &str, fields: &[(&str, &str)], word: &str, what: &str) -> Markup {
    html! {
        form method="post" action=(path) {
            (seen.token_field())
            @for (name, value) in fields { input type="hidden" name=(name) value=(value); }
            button.quiet type="submit" { (word) span.unseen { " " (what) } }
        }
    }
}
