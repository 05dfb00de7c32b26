//! The HTTP handler of `/operator`.

use std::sync::Arc;

use ::http::Method;

use super::machinery::Machinery;
use super::shared::Shared;
use super::{actions, overview};
use crate::accounts::people::Role;
use crate::accounts::records::AccountStatus;
use crate::door::{Answering, Door, DoorAnswer, Limit, Methods, Visit};
use crate::metrics::Metrics;
use crate::web::seen::Seen;
use crate::web::shell::Shell;
use crate::web::trouble::Trouble;

pub struct Operator {
    shared: Shared,
}

impl Operator {
    pub fn new(shell: Arc<Shell>, metrics: Arc<Metrics>, machinery: Arc<dyn Machinery>) -> Self {
        Self { shared: Shared { shell, metrics, machinery } }
    }

    async fn visited(&self, visit: Visit<'_>) -> DoorAnswer {
        let seen = Seen::of(&self.shared.shell, &visit);
        let visitor = seen.visitor.clone();
        let answered = self.answered(seen).await;
        answered.unwrap_or_else(|trouble| trouble.into_answer(&visitor, visit.id))
    }

    async fn answered(&self, seen: Seen<'_>) -> Result<DoorAnswer, Trouble> {
        let person = seen.person()?;
        if person.role != Role::Operator || person.status != AccountStatus::Approved {
            return Err(Trouble::Nothing);
        }
        if *seen.visit.method != Method::POST {
            return overview::shown(&self.shared, &seen).await;
        }
        let form = seen.form(&self.shared.shell)?;
        match seen.visit.path {
            "/operator/account" => actions::account(&self.shared, &seen, &form).await,
            "/operator/invite" => actions::invite(&self.shared, &seen, &form).await,
            "/operator/purchase" => actions::purchase(&self.shared, &seen, &form).await,
            "/operator/problem" => actions::problem(&self.shared, &seen, &form).await,
            "/operator/order" => actions::order(&self.shared, &seen, &form).await,
            _ => actions::snapshot(&self.shared, &seen, &form).await,
        }
    }
}

const PAGE: &str = "/operator";
const FORMS: &[&str] = &[
    "/operator/account",
    "/operator/invite",
    "/operator/purchase",
    "/operator/problem",
    "/operator/order",
    "/operator/snapshot",
];

impl Door for Operator {
    fn is_at(&self, path: &str) -> bool {
        path == PAGE || FORMS.contains(&path)
    }

    fn methods(&self, path: &str) -> Methods {
        if path == PAGE { Methods::Get } else { Methods::Post }
    }

    fn limit(&self) -> Limit {
        Limit::ByAddress
    }

    fn answer<'a>(&'a self, visit: Visit<'a>) -> Answering<'a> {
        Box::pin(self.visited(visit))
    }
}
