//! What an operation is: its row in the table, what its handler is asked, and what it hands back.
//!
//! Everything else in `api` stands above this file: the endpoints fill it in, `operations` lists them, `call` runs them,
//! the documents render them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use schemars::{Schema, SchemaGenerator};

use super::corpus::Corpus;
use super::error::{ApiError, ErrorCode};
use super::parameters::{Checked, Parameter};
use super::reply::{Format, Reply};
use crate::accounts::Accounts;
use crate::accounts::ids::AccountId;
use crate::accounts::scope::ScopeSet;
use crate::clock::Now;

/// The version in the path prefix.
pub const API_VERSION: &str = "v1";

/// Where packs are sold; every `upgradeUrl` leads there.
pub const CHECKOUT_PATH: &str = "/api/v1/billing/checkout";

/// The parameter that names the form of the answer, where there are several.
pub const FORMAT_PARAMETER: &str = "format";

/// One operation, for every door.
#[derive(Debug)]
pub struct Operation {
    /// As the ledger names it.
    pub name: &'static str,
    pub summary: &'static str,
    /// With `{name}` where a path parameter stands.
    pub path: &'static str,
    /// Where it is also a tool of the Model Context Protocol server.
    pub tool: Option<Tool>,
    pub access: Access,
    pub parameters: &'static [Parameter],
    /// The forms in which it answers; the first unless others are asked for.
    pub formats: &'static [Format],
    /// What it may be refused with beside what every call may.
    pub errors: &'static [ErrorCode],
    /// An address and its query that works on the sample corpus; words in capitals are to be filled in.
    pub example: &'static str,
    pub reply: fn(&mut SchemaGenerator) -> Schema,
    /// Checks what only this operation knows, and says what is to be done.
    pub(super) prepare: fn(&Asked<'_>) -> Result<Prepared, ApiError>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tool {
    pub name: &'static str,
    /// As it was named before.
    pub older_name: Option<&'static str>,
}

/// Who may call, and for how much.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// Everybody, for nothing.
    Open,
    /// A key with any one of the scopes, for credits.
    Metered { any_of: ScopeSet, cost: Cost },
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

/// A call with good arguments, before it is paid for.
pub(super) struct Asked<'a> {
    pub(super) accounts: &'a Arc<Accounts>,
    pub(super) corpus: &'a Arc<Corpus>,
    pub(super) arguments: &'a Checked,
    /// None where no key is needed.
    pub(super) account: Option<AccountId>,
    pub(super) now: Now,
    /// The form that the door asks for.
    pub(super) format: Format,
}

/// Work that is ready to be paid for and done.
pub(super) struct Prepared {
    /// How many of what it costs by.
    pub(super) units: u32,
    pub(super) version: Option<String>,
    pub(super) weight: Weight,
    pub(super) work: Work,
}

pub(super) type Work = Box<dyn FnOnce(&Caller) -> Result<Reply, ApiError> + Send>;

/// How long work takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Weight {
    /// Microseconds, from memory.
    Light,
    /// Long enough to keep others waiting, or from a file that may keep it waiting.
    Heavy,
}

impl Prepared {
    pub(super) fn new(weight: Weight, work: impl FnOnce() -> Result<Reply, ApiError> + Send + 'static) -> Self {
        Self::watchful(weight, move |_| work())
    }

    /// Work that looks now and then whether its caller is still there.
    pub(super) fn watchful(
        weight: Weight,
        work: impl FnOnce(&Caller) -> Result<Reply, ApiError> + Send + 'static,
    ) -> Self {
        Self { units: 1, version: None, weight, work: Box::new(work) }
    }
}

/// Whoever waits for work under way.
#[derive(Default)]
pub(super) struct Caller {
    has_left: AtomicBool,
    is_noticed: AtomicBool,
    /// How much work noticed it so far.
    given_up: Arc<AtomicU64>,
}

impl Caller {
    /// `given_up` counts the work that ended early.
    pub(super) fn new(given_up: &Arc<AtomicU64>) -> Self {
        Self { given_up: Arc::clone(given_up), ..Self::default() }
    }

    pub(super) fn leave(&self) {
        self.has_left.store(true, Ordering::Relaxed);
    }

    /// Work that is told so ends: nobody reads what would come of it.
    pub(super) fn has_left(&self) -> bool {
        let has_left = self.has_left.load(Ordering::Relaxed);
        if has_left && !self.is_noticed.swap(true, Ordering::Relaxed) {
            self.given_up.fetch_add(1, Ordering::Relaxed);
        }
        has_left
    }
}

impl Operation {
    /// What documents list it under: the scope that opens it, the first where several do.
    pub fn tag(&self) -> &'static str {
        match self.access {
            Access::Open => "open",
            Access::Metered { any_of, .. } => any_of.names().next().unwrap_or("open"),
        }
    }

    /// Whether its answers are pages.
    pub fn is_paged(&self) -> bool {
        self.parameters.iter().any(|parameter| parameter.name == "page")
    }

    /// Every error that a call may come to, in the order of their statuses.
    pub fn all_errors(&self) -> Vec<ErrorCode> {
        let metered: &[ErrorCode] = match self.access {
            Access::Open => OPEN_ERRORS,
            Access::Metered { .. } => METERED_ERRORS,
        };
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
