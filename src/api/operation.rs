//! What an operation is: its row in the table, what its handler receives, and what it returns.
//!
//! The rest of `api` stands above this file: the endpoints fill it in, `operations` lists them, `call` runs them, the
//! documents render them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use schemars::{Schema, SchemaGenerator};

use super::cards::CardPayments;
use super::corpus::Corpus;
use super::deep::Deep;
use super::error::{ApiError, ErrorCode};
use super::json::JsonObject;
use super::map_cache::MapPart;
use super::parameters::{Argument, Checked, Param, Parameter};
use super::reply::{Format, Reply};
use crate::accounts::Accounts;
use crate::accounts::ids::AccountId;
use crate::accounts::scope::ScopeSet;
use crate::clock::Now;
use crate::search::Depth;

/// The version in the path prefix.
pub const API_VERSION: &str = "v1";

/// Where packs are sold; every `upgradeUrl` leads there.
pub const CHECKOUT_PATH: &str = "/api/v1/billing/checkout";

/// Where a node is, before its id.
pub(super) const NODE_PATH: &str = "/api/v1/node/";

/// One operation, for every transport.
#[derive(Debug)]
pub struct Operation {
    /// As the ledger names it.
    pub name: &'static str,
    pub summary: &'static str,
    /// What a caller should know beside that.
    pub details: Option<&'static str>,
    /// None where it has no address of its own.
    pub route: Option<Route>,
    /// None where it is not a tool of the Model Context Protocol server.
    pub tool: Option<Tool>,
    pub parameters: &'static [Parameter],
    /// Where a call brings a JSON object.
    pub body: Option<BodyRule>,
    /// The forms in which it answers; the first unless others are asked for.
    pub formats: &'static [Format],
    /// The errors that only this operation has.
    pub errors: &'static [ErrorCode],
    /// Whether its answers have an ETag, and `If-None-Match` a free 304.
    pub has_version: bool,
    pub reply: fn(&mut SchemaGenerator) -> Schema,
    pub(super) access: Access,
}

/// The JSON object that a call brings.
#[derive(Clone, Copy, Debug)]
pub struct BodyRule {
    pub schema: fn(&mut SchemaGenerator) -> Schema,
    /// One that is good.
    pub example: &'static str,
}

/// Its address in REST.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Route {
    pub method: Method,
    /// With `{name}` in place of a path parameter.
    pub path: &'static str,
    /// A path with its query. `documents::examples` fills its `{places}` from the snapshot that is served; those that a
    /// snapshot cannot fill become words in capitals, which are the reader's to replace.
    pub example: &'static str,
}

/// How a path is asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Method {
    /// HEAD is the same without the body.
    Get,
    /// For what changes something, with a JSON object as its body.
    Post,
}

impl Method {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tool {
    pub name: &'static str,
    /// As it was named before.
    pub older_name: Option<&'static str>,
}

/// Who may call, and who handles the call.
#[derive(Clone, Copy, Debug)]
pub(super) enum Access {
    /// Everybody, for nothing.
    Open(Handler<Anyone>),
    /// Holders of a key, for credits; for none where it costs 0.
    Metered(Metering, Handler<KeyHolder>),
    /// The same for what depends on no account: on pages also visitors, where the operator lets them.
    Law(Metering, Handler<Reader>),
}

/// What a metered call needs and costs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Metering {
    /// The key must have one of these scopes.
    pub any_of: ScopeSet,
    pub cost: Cost,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cost {
    pub credits: u32,
    pub per: Per,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Per {
    Call,
    /// Each node that is found.
    Node,
}

impl Per {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Call => "call",
            Self::Node => "node found",
        }
    }
}

/// Checks what only this operation knows, and says what is to be done.
pub(super) type Handler<C> = fn(&CheckedCall<'_, C>) -> Result<Prepared, ApiError>;

/// A call that was let in, with good arguments, before it is paid for.
pub(super) struct CheckedCall<'a, C> {
    pub(super) caller: C,
    pub(super) accounts: &'a Arc<Accounts>,
    pub(super) corpus: &'a Arc<Corpus>,
    pub(super) arguments: Checked<'a>,
    /// Empty where the operation takes none.
    pub(super) body: &'a JsonObject,
    pub(super) idempotency_key: Option<&'a str>,
    /// None where no payments are taken by card.
    pub(super) cards: Option<&'a Arc<dyn CardPayments>>,
    pub(super) deep: &'a Deep,
    /// How clients see the service, without a slash at its end.
    pub(super) base_url: &'a str,
    pub(super) now: Now,
    /// The form in which the caller wants the answer.
    pub(super) format: Format,
}

/// Whoever calls an open operation.
pub(super) struct Anyone;

/// Whose key a metered call came with.
pub(super) struct KeyHolder {
    pub(super) account: AccountId,
    /// All that the key has.
    pub(super) scopes: ScopeSet,
}

/// Whoever reads law: the holder of a key, or a visitor.
pub(super) struct Reader {
    pub(super) scopes: ScopeSet,
}

impl From<KeyHolder> for Reader {
    fn from(holder: KeyHolder) -> Self {
        Self { scopes: holder.scopes }
    }
}

pub(super) type OpenCall<'a> = CheckedCall<'a, Anyone>;
pub(super) type MeteredCall<'a> = CheckedCall<'a, KeyHolder>;
pub(super) type LawCall<'a> = CheckedCall<'a, Reader>;

impl<C> CheckedCall<'_, C> {
    /// The value of a parameter of the operation's row.
    pub(super) fn get<T: Argument>(&self, param: &Param<T>) -> T::Read<'_> {
        self.arguments.get(param)
    }
}

/// Work that is ready to be paid for and done.
pub(super) struct Prepared {
    /// How many of what it costs by.
    pub(super) units: u32,
    /// Changes whenever a byte of the answer does.
    pub(super) version: Option<String>,
    pub(super) weight: Weight,
    /// The part of a map that heavy work makes, if it is not there by then: one call makes it, and others wait for that.
    pub(super) makes: Option<MapPart>,
    pub(super) charge: Charge,
    pub(super) work: Work,
}

pub(super) type Work = Box<dyn FnOnce(&Cancellation) -> Result<Reply, ApiError> + Send>;

/// How long work takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Weight {
    /// Microseconds, from memory.
    Light,
    /// Long enough to delay others, or from a file that may delay it. It waits in the queue for one of the threads for it.
    Heavy,
    /// Some milliseconds of arithmetic. It waits in a queue of its own, so that it delays nothing else.
    Deep,
    /// Waits for somebody outside, without work of its own: on a thread of its own, so that work is not kept
    /// from being done meanwhile. A few at once.
    Outside,
}

/// When a metered call is charged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Charge {
    /// Before its work, which runs while the debit is committed. Work that then fails is refunded.
    BeforeWork,
    /// Once its work has succeeded: for a lookup that may find nothing, which must cost nothing and leave no trace.
    AfterWork,
}

impl Prepared {
    pub(super) fn light(work: impl FnOnce() -> Result<Reply, ApiError> + Send + 'static) -> Self {
        Self::new(Weight::Light, move |_| work())
    }

    /// Work of some length looks at the cancellation between its steps.
    pub(super) fn heavy(work: impl FnOnce(&Cancellation) -> Result<Reply, ApiError> + Send + 'static) -> Self {
        Self::new(Weight::Heavy, work)
    }

    /// A search on the threads for its depth.
    pub(super) fn search(
        depth: Depth,
        work: impl FnOnce(&Cancellation) -> Result<Reply, ApiError> + Send + 'static,
    ) -> Self {
        let weight = if depth == Depth::Deep { Weight::Deep } else { Weight::Heavy };
        Self::new(weight, work)
    }

    /// Work that has begun is not ended when its caller disconnects.
    pub(super) fn outside(work: impl FnOnce() -> Result<Reply, ApiError> + Send + 'static) -> Self {
        Self::new(Weight::Outside, move |_| work())
    }

    pub(super) fn new(
        weight: Weight,
        work: impl FnOnce(&Cancellation) -> Result<Reply, ApiError> + Send + 'static,
    ) -> Self {
        Self { units: 1, version: None, weight, makes: None, charge: Charge::BeforeWork, work: Box::new(work) }
    }
}

/// Tells work that its caller has disconnected, so that it can end early.
#[derive(Default)]
pub(super) struct Cancellation {
    is_cancelled: AtomicBool,
    is_noticed: AtomicBool,
    /// How much work ended early so far.
    given_up: Arc<AtomicU64>,
}

impl Cancellation {
    /// `given_up` counts the work that ends early.
    pub(super) fn new(given_up: &Arc<AtomicU64>) -> Self {
        Self { given_up: Arc::clone(given_up), ..Self::default() }
    }

    pub(super) fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::Relaxed);
    }

    /// Work that gets true ends: nobody reads its result.
    pub(super) fn is_cancelled(&self) -> bool {
        let is_cancelled = self.is_cancelled.load(Ordering::Relaxed);
        if is_cancelled && !self.is_noticed.swap(true, Ordering::Relaxed) {
            self.given_up.fetch_add(1, Ordering::Relaxed);
        }
        is_cancelled
    }

    /// An error, which nobody reads, once the caller has disconnected.
    pub(super) fn check(&self) -> Result<(), ApiError> {
        if self.is_cancelled() { Err(ApiError::internal("the caller disconnected")) } else { Ok(()) }
    }
}

impl Operation {
    /// None where it is open to all.
    pub fn metering(&self) -> Option<Metering> {
        match self.access {
            Access::Open(_) => None,
            Access::Metered(metering, _) | Access::Law(metering, _) => Some(metering),
        }
    }

    /// Whether its answers are pages.
    pub fn is_paged(&self) -> bool {
        self.parameters.iter().any(|parameter| parameter.is_page_number)
    }

    /// What documents list it under: the scope that opens it, the first where several do.
    pub fn tag(&self) -> &'static str {
        self.metering().and_then(|metering| metering.any_of.names().next()).unwrap_or("open")
    }

    /// Every error that a call may end with, in the order of their statuses.
    pub fn all_errors(&self) -> Vec<ErrorCode> {
        let metered = if self.metering().is_some() { METERED_ERRORS } else { OPEN_ERRORS };
        let mut errors = [EVERY_CALL_ERRORS, metered, self.errors].concat();
        errors.sort_by_key(|error| (error.status(), error.code()));
        errors
    }
}

const EVERY_CALL_ERRORS: &[ErrorCode] = &[
    ErrorCode::BadRequest,
    ErrorCode::BodyTooLarge,
    ErrorCode::UriTooLong,
    ErrorCode::HeadersTooLarge,
    ErrorCode::ValidationError,
    ErrorCode::NotAcceptable,
    ErrorCode::Internal,
    ErrorCode::Overloaded,
];

/// Calls without a key are limited by address.
const OPEN_ERRORS: &[ErrorCode] = &[ErrorCode::RateLimited];

const METERED_ERRORS: &[ErrorCode] = &[
    ErrorCode::InvalidApiKey,
    ErrorCode::InsufficientCredits,
    ErrorCode::InsufficientScope,
    ErrorCode::RateLimited,
    ErrorCode::LedgerUnavailable,
    ErrorCode::StorageFull,
];
