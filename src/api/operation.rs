//! Defines an operation: its row, which is in the file of its endpoint, what its handler receives, and what it returns.
//!
//! The rest of `api` builds on this file: `endpoints` implements the operations, `operations` lists them,
//! `call` runs them, and the documents render them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use hornbook_accounts::Accounts;
use hornbook_accounts::ids::{AccountId, KeyId};
use hornbook_accounts::scope::ScopeSet;
use hornbook_base::clock::Now;
use hornbook_search::Depth;
use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};

use super::cards::CardPayments;
use super::corpus::Corpus;
use super::deep_search::DeepSearch;
use super::error::{ApiError, ErrorCode};
use super::json::JsonObject;
use super::map_cache::MapPart;
use super::model_text::ModelText;
use super::parameters::{CheckedArguments, Param, Parameter, ParameterType};
use super::reply::{Format, Reply};
use super::subject::Subject;

/// The API version in paths.
pub const API_VERSION: &str = "v1";

/// Where packs are sold. Every `upgradeUrl` points there.
pub const CHECKOUT_PATH: &str = "/api/v1/billing/checkout";

/// Where documents are checked: by programs and by people.
pub const CHECK_PATH: &str = "/api/v1/check";
pub const CHECK_PAGE_PATH: &str = "/check";

/// The page and the feed of changes.
pub const CHANGES_PAGE_PATH: &str = "/changes";
pub const CHANGES_FEED_PATH: &str = "/changes.atom";

/// The page of what a person watches, with its form.
pub const WATCHES_PAGE_PATH: &str = "/settings/watches";

/// The path of a node, up to its id.
pub(super) const NODE_PATH: &str = "/api/v1/node/";

/// One operation, for every transport.
#[derive(Debug)]
pub struct Operation {
    /// Its name, also in the ledger.
    pub name: &'static str,
    /// The page of the documentation that describes it.
    pub subject: Subject,
    pub summary: &'static str,
    /// What a caller should know in addition to the summary.
    pub details: Option<&'static str>,
    /// `None` if it has no HTTP path.
    pub route: Option<Route>,
    /// `None` if it is not a tool of the Model Context Protocol server.
    pub tool: Option<Tool>,
    pub parameters: &'static [Parameter],
    /// Set if a call has a JSON object as its body.
    pub body: Option<BodySpec>,
    /// The formats in which it answers. The first one is the default.
    pub formats: &'static [Format],
    /// The errors of this operation, in addition to those that every call may return.
    pub errors: &'static [ErrorCode],
    /// Whether its answers have an `ETag`, so that a matching `If-None-Match` gets a free 304.
    pub has_version: bool,
    pub reply: fn(&mut SchemaGenerator) -> Schema,
    /// Writes the text for models from the JSON of a reply. `None` if models read the JSON.
    pub model_text: Option<fn(&str) -> serde_json::Result<ModelText>>,
    pub(super) access: Access,
}

/// A schema that refers to no other schema.
pub(crate) fn inline_schema(schema: impl FnOnce(&mut SchemaGenerator) -> Schema) -> serde_json::Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    schema(&mut settings.for_serialize().into_generator()).to_value()
}

/// The JSON object in the body of a call.
#[derive(Clone, Copy, Debug)]
pub struct BodySpec {
    pub schema: fn(&mut SchemaGenerator) -> Schema,
    /// Whether a document itself may be sent in place of the JSON, with its media type.
    pub takes_documents: bool,
    /// Whether the call stores what it is sent.
    pub is_stored: bool,
    /// A valid body.
    pub example: &'static str,
}

/// The HTTP route of an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Route {
    pub method: Method,
    /// The path, with `{name}` in place of a path parameter.
    pub path: &'static str,
    /// A path with its query. `examples` fills its `{placeholders}` from the served snapshot. Documents leave
    /// out an example for which the snapshot has no value.
    pub example: &'static str,
}

/// The HTTP method of a route.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Method {
    /// Also answers HEAD, without the body.
    Get,
    /// Changes something. Its body is a JSON object.
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
    /// Its former name.
    pub older_name: Option<&'static str>,
    /// When a model should use it, and when it should not.
    pub use_for: &'static str,
    /// Values of parameters that a model does not give: models read less than programs.
    pub defaults: &'static [(&'static str, &'static str)],
    pub answer: ToolAnswer,
}

/// The parts of a result that have the answer of a tool. Law is only in one of them: clients cut long results, and some
/// show a model both.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ToolAnswer {
    /// The text for models and the JSON.
    Both,
    /// The text for models, or the JSON if the call asks for it.
    Law,
    /// The JSON as text, as research connectors read it.
    JsonText,
}

impl Tool {
    /// The value of a parameter that a call does not give.
    pub fn default_of(&self, parameter: &str) -> Option<&'static str> {
        self.defaults.iter().find(|(name, _)| *name == parameter).map(|(_, value)| *value)
    }
}

/// Who may call an operation, and which handler handles the call.
#[derive(Clone, Copy, Debug)]
pub(super) enum Access {
    /// Everyone may call it, for free.
    Open(Handler<OpenCaller>),
    /// Holders of a key may call it, for credits, or for free if it costs 0.
    Metered(Metering, Handler<KeyHolder>),
    /// The same, for law, which does not depend on the account. On web pages visitors may call it too if
    /// the operator allows it.
    Law(Metering, Handler<LawReader>),
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
    pub per: CostUnit,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CostUnit {
    Call,
    /// Each node that is found.
    Node,
    /// Each ten findings in a document, begun or whole.
    TenFindings,
}

impl CostUnit {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Call => "call",
            Self::Node => "node found",
            Self::TenFindings => "10 findings",
        }
    }
}

/// Does the checks that only this operation needs, and prepares its work.
pub(super) type Handler<C> = fn(&CheckedCall<'_, C>) -> Result<PreparedWork, ApiError>;

/// A call that was admitted and has valid arguments, before it is paid for.
pub(super) struct CheckedCall<'a, C> {
    pub(super) caller: C,
    pub(super) accounts: &'a Arc<Accounts>,
    pub(super) corpus: &'a Arc<Corpus>,
    pub(super) arguments: CheckedArguments<'a>,
    /// Empty if the operation takes no body.
    pub(super) body: &'a JsonObject,
    pub(super) idempotency_key: Option<&'a str>,
    /// `None` if card payments are not available.
    pub(super) cards: Option<&'a Arc<dyn CardPayments>>,
    pub(super) deep: &'a DeepSearch,
    /// The base URL that clients use, without a slash at its end.
    pub(super) base_url: &'a str,
    /// What links to pages begin with: the base URL, or nothing within the site.
    pub(super) link_base: &'a str,
    pub(super) now: Now,
    /// The format in which the caller wants the answer.
    pub(super) format: Format,
}

/// The caller of an open operation.
pub(super) struct OpenCaller;

/// The holder of the key of a metered call.
pub(super) struct KeyHolder {
    pub(super) account: AccountId,
    pub(super) key: KeyId,
    /// All scopes of the key.
    pub(super) scopes: ScopeSet,
}

/// A caller who reads law: the holder of a key, or a visitor.
pub(super) struct LawReader {
    pub(super) scopes: ScopeSet,
}

impl From<KeyHolder> for LawReader {
    fn from(holder: KeyHolder) -> Self {
        Self { scopes: holder.scopes }
    }
}

pub(super) type OpenCall<'a> = CheckedCall<'a, OpenCaller>;
pub(super) type MeteredCall<'a> = CheckedCall<'a, KeyHolder>;
pub(super) type LawCall<'a> = CheckedCall<'a, LawReader>;

impl<C> CheckedCall<'_, C> {
    /// The value of a parameter that the operation's row lists.
    pub(super) fn get<T: ParameterType>(&self, param: &Param<T>) -> T::Read<'_> {
        self.arguments.get(param)
    }
}

/// Work that is ready to be paid for and run.
pub(super) struct PreparedWork {
    /// The number of units by which the cost is multiplied.
    pub(super) units: u32,
    /// Changes whenever any byte of the answer changes.
    pub(super) version: Option<String>,
    pub(super) weight: WorkClass,
    /// The part of a map that heavy work makes if it is not cached yet. One call makes it, and the others wait.
    pub(super) map_part: Option<MapPart>,
    pub(super) charge: ChargeTiming,
    pub(super) work: OperationWork,
    /// The first step of work whose price only this step finds out. What it returns takes the place of the rest.
    pub(super) sizing: Option<SizingStep>,
}

pub(super) type SizingStep = Box<dyn FnOnce(&Cancellation) -> Result<PreparedWork, ApiError> + Send>;

pub(super) type OperationWork = Box<dyn FnOnce(&Cancellation) -> Result<Reply, ApiError> + Send>;

/// How long work takes, which decides where it runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum WorkClass {
    /// Takes microseconds and needs only memory.
    Light,
    /// Takes long enough to delay other calls, or reads a file. It waits in the queue for a worker thread.
    Heavy,
    /// Takes some milliseconds of computation. It waits in a separate queue, so that it delays nothing else.
    Deep,
    /// Reads or checks a document, which takes up to a second. It waits in a separate queue too.
    Document,
    /// Waits for an external service and computes little. It runs on a separate thread, so that it does
    /// not block a worker thread. Only a few such calls run at once.
    External,
}

/// When a metered call is charged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ChargeTiming {
    /// Before its work, which runs while the debit is committed. If the work then fails, the call is refunded.
    BeforeWork,
    /// After its work has succeeded. For a lookup that may find nothing, which must cost nothing and
    /// leave no ledger entry.
    AfterWork,
}

impl PreparedWork {
    pub(super) fn light(work: impl FnOnce() -> Result<Reply, ApiError> + Send + 'static) -> Self {
        Self::new(WorkClass::Light, move |_| work())
    }

    /// Long work checks the cancellation between its steps.
    pub(super) fn heavy(work: impl FnOnce(&Cancellation) -> Result<Reply, ApiError> + Send + 'static) -> Self {
        Self::new(WorkClass::Heavy, work)
    }

    /// A search, which runs on the threads for its depth.
    pub(super) fn search(
        depth: Depth,
        work: impl FnOnce(&Cancellation) -> Result<Reply, ApiError> + Send + 'static,
    ) -> Self {
        let weight = if depth == Depth::Deep { WorkClass::Deep } else { WorkClass::Heavy };
        Self::new(weight, work)
    }

    /// Once the work has begun, it continues even if its caller disconnects.
    pub(super) fn external(work: impl FnOnce() -> Result<Reply, ApiError> + Send + 'static) -> Self {
        Self::new(WorkClass::External, move |_| work())
    }

    pub(super) fn new(
        weight: WorkClass,
        work: impl FnOnce(&Cancellation) -> Result<Reply, ApiError> + Send + 'static,
    ) -> Self {
        Self {
            units: 1,
            version: None,
            weight,
            map_part: None,
            charge: ChargeTiming::BeforeWork,
            work: Box::new(work),
            sizing: None,
        }
    }

    /// Work on a document. Its price is found out by a first step, which is free and waits for a worker thread like the
    /// work itself.
    pub(super) fn of_document(
        sizing: impl FnOnce(&Cancellation) -> Result<PreparedWork, ApiError> + Send + 'static,
    ) -> Self {
        let never_run = |_: &Cancellation| Err(ApiError::internal("the work was not prepared"));
        Self { sizing: Some(Box::new(sizing)), ..Self::new(WorkClass::Document, never_run) }
    }
}

/// Signals to work that its caller has disconnected, so that it can end early.
#[derive(Default)]
pub(super) struct Cancellation {
    is_cancelled: AtomicBool,
    is_noticed: AtomicBool,
    /// Counts the work that ended early.
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

    /// If this returns true, the work must end: nobody reads its result.
    pub(super) fn is_cancelled(&self) -> bool {
        let is_cancelled = self.is_cancelled.load(Ordering::Relaxed);
        if is_cancelled && !self.is_noticed.swap(true, Ordering::Relaxed) {
            self.given_up.fetch_add(1, Ordering::Relaxed);
        }
        is_cancelled
    }

    /// Returns an error, which nobody reads, once the caller has disconnected.
    pub(super) fn check(&self) -> Result<(), ApiError> {
        if self.is_cancelled() { Err(ApiError::internal("the caller disconnected")) } else { Ok(()) }
    }
}

impl Operation {
    /// `None` if the operation is open to everyone.
    pub fn metering(&self) -> Option<Metering> {
        match self.access {
            Access::Open(_) => None,
            Access::Metered(metering, _) | Access::Law(metering, _) => Some(metering),
        }
    }

    /// Whether its answers are divided into pages.
    pub fn is_paged(&self) -> bool {
        self.parameters.iter().any(|parameter| parameter.is_page_number)
    }

    /// Whether its answers come from a snapshot of the law, which a caller may pin.
    pub fn reads_law(&self) -> bool {
        matches!(self.access, Access::Law(..))
    }

    /// The tag under which documents list it: the first scope that allows it, or `open`.
    pub fn tag(&self) -> &'static str {
        self.metering().and_then(|metering| metering.any_of.names().next()).unwrap_or("open")
    }

    /// Every error that a call may return, in the order of their statuses.
    pub fn all_errors(&self) -> Vec<ErrorCode> {
        let metered = if self.metering().is_some() { METERED_ERRORS } else { OPEN_ERRORS };
        let pinned: &[ErrorCode] = if self.reads_law() { &[ErrorCode::SnapshotNotServed] } else { &[] };
        let mut errors = [EVERY_CALL_ERRORS, metered, pinned, self.errors].concat();
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

/// Calls without a key are rate-limited by address.
const OPEN_ERRORS: &[ErrorCode] = &[ErrorCode::RateLimited];

const METERED_ERRORS: &[ErrorCode] = &[
    ErrorCode::InvalidApiKey,
    ErrorCode::InsufficientCredits,
    ErrorCode::BudgetExceeded,
    ErrorCode::MaxCostExceeded,
    ErrorCode::InsufficientScope,
    ErrorCode::RateLimited,
    ErrorCode::LedgerUnavailable,
    ErrorCode::StorageFull,
];
