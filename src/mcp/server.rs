//! The server that all transports share, and how it calls the service.

use std::sync::{Arc, OnceLock};

use serde_json::Value;

use super::jsonrpc::RpcError;
use super::tools::ToolNameStyle;
use crate::api::call::{Call, CallerIdentity, Outcome, Progress};
use crate::api::call_terms::CallTerms;
use crate::api::corpus::Corpus;
use crate::api::error::Violation;
use crate::api::idempotency_key::{IDEMPOTENCY_KEY, IdempotencyKey};
use crate::api::json::JsonObject;
use crate::api::operation::Operation;
use crate::api::parameters::Arguments;
use crate::api::pinned_snapshot::SnapshotPin;
use crate::api::reply::Format;
use crate::api::service::Service;

/// The member of a request's `_meta` that means the same as the header `Idempotency-Key`.
const META_IDEMPOTENCY_KEY: &str = "hornbook/idempotencyKey";
const META_MAX_COST: &str = "hornbook/maxCost";

/// The member of `_meta` with which a call only says its price.
const META_DRY_RUN: &str = "hornbook/dryRun";

/// Tools, prompts and resources in addition to those of the service, for tests of the protocol that
/// expect certain names.
#[derive(Default)]
pub struct Extras {
    pub tools: Vec<Value>,
    pub prompts: Vec<Value>,
    pub resources: Vec<Value>,
    pub templates: Vec<Value>,
    /// Answers requests for them.
    pub answer: Option<ExtraAnswer>,
}

/// A function from a method and its parameters to the members of a result. `None` for a method that it
/// does not answer.
pub type ExtraAnswer = fn(&str, &JsonObject) -> Option<Result<JsonObject, RpcError>>;

/// The server of the Model Context Protocol.
pub struct Mcp {
    pub(super) service: Arc<Service>,
    pub(super) extras: Extras,
    /// The lists of tools, made when they are first requested.
    pub(super) dotted: OnceLock<String>,
    pub(super) snake: OnceLock<String>,
}

/// The sender of a request, as the transport knows it.
#[derive(Clone, Copy)]
pub(super) struct RequestSender<'c> {
    pub(super) key: Option<&'c str>,
    pub(super) idempotency_key: &'c Result<Option<IdempotencyKey<'c>>, Violation>,
    /// The snapshot from which calls must be answered.
    pub(super) pin: &'c Result<Option<SnapshotPin<'c>>, Violation>,
    pub(super) names: ToolNameStyle,
    pub(super) request_id: &'c str,
    pub(super) progress: &'c Progress,
    /// Whether the request is one of a list. Then its own idempotency key may differ from the key of the list.
    pub(super) is_listed: bool,
}

impl Mcp {
    pub fn new(service: Arc<Service>) -> Self {
        Self::with(service, Extras::default())
    }

    pub fn with(service: Arc<Service>, extras: Extras) -> Self {
        Self { service, extras, dotted: OnceLock::new(), snake: OnceLock::new() }
    }

    /// Calls an operation for a request with these parameters. Also returns the snapshot that answered.
    pub(super) async fn call(
        &self,
        operation: &'static Operation,
        mut arguments: Arguments,
        format: Format,
        params: &JsonObject,
        sender: RequestSender<'_>,
    ) -> (Outcome, Arc<Corpus>) {
        let terms = terms(params, &mut arguments.faults);
        let edition = self.service.edition_for(&self.service.corpus(), operation, sender.pin, &mut arguments);
        let corpus = Arc::clone(&edition.corpus);
        let call = Call {
            edition,
            operation,
            asker: CallerIdentity::Agent(sender.key),
            arguments,
            format: Some(format),
            idempotency_key: idempotency_key(params, &sender),
            known_versions: None,
            terms,
            progress: sender.progress,
        };
        (self.service.call(call).await, corpus)
    }
}

/// The terms in the request's `_meta`.
fn terms(params: &JsonObject, faults: &mut Vec<Violation>) -> CallTerms {
    let given = |name: &str| params.get("_meta").and_then(|meta| meta.get(name));
    let mut terms = CallTerms::default();
    if let Some(most) = given(META_MAX_COST) {
        terms.max_cost = most.as_u64().and_then(|most| u32::try_from(most).ok());
        if terms.max_cost.is_none() {
            let message = format!("_meta[\"{META_MAX_COST}\"] must be a whole number of credits");
            faults.push(Violation::new("maxCost", message));
        }
    }
    match given(META_DRY_RUN).map(Value::as_bool) {
        None => {}
        Some(Some(is_dry_run)) => terms.is_dry_run = is_dry_run,
        Some(None) => {
            faults.push(Violation::new("dryRun", format!("_meta[\"{META_DRY_RUN}\"] must be true or false")));
        }
    }
    terms
}

/// The key in the request's `_meta`, or else the one from the transport. Two different keys are an error.
fn idempotency_key<'c>(
    params: &'c JsonObject,
    sender: &RequestSender<'c>,
) -> Result<Option<IdempotencyKey<'c>>, Violation> {
    let beside = sender.idempotency_key.clone()?;
    let Some(own) = params.get("_meta").and_then(|meta| meta.get(META_IDEMPOTENCY_KEY)) else { return Ok(beside) };
    // A value that is not text is refused like an empty key.
    let own = IdempotencyKey::read(std::iter::once(own.as_str().unwrap_or_default().as_bytes()))?;
    if !sender.is_listed && beside.is_some() && beside != own {
        let message = format!("{IDEMPOTENCY_KEY} differs from _meta[\"{META_IDEMPOTENCY_KEY}\"]; send one of them");
        return Err(Violation::new(IDEMPOTENCY_KEY, message));
    }
    Ok(own)
}
