//! State shared by all pages, access rules for readers without an account, and the pages' calls
//! into the service.
//!
//! A page calls an operation of the operations table by its name. The [`VisitorAction`] decides whether a
//! reader without an account may make the call. The call goes through `api/call` like every other
//! call, and the page is rendered from the reply.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ::http::{Response, StatusCode};
use bytes::Bytes;
use hornbook_accounts::admission::{MeteringReceipt, PendingDebit};
use hornbook_accounts::changes::SignedIn;
use hornbook_accounts::people::SignUpPolicy;
use hornbook_accounts::records::AccountStatus;
use hornbook_corpus::day::Day;
use hornbook_search::LawOnDay;
use serde::Deserialize;

use super::pager::ListEdition;
use super::visitor::Visitor;
use super::work_queues::WorkQueues;
use crate::api::as_of::{AS_OF_NAME, today};
use crate::api::call::{Answer, Call, CallerIdentity, Outcome, Progress};
use crate::api::call_terms::CallTerms;
use crate::api::corpus::Corpus;
use crate::api::error::{ApiError, Violation};
use crate::api::json::JsonObject;
use crate::api::operation::Operation;
use crate::api::operations::OPERATIONS;
use crate::api::page_links::PageLinks;
use crate::api::parameters::Arguments;
use crate::api::pinned_snapshot::{SNAPSHOT_NAME, SnapshotPin};
use crate::api::reply::{Body, Format, Pages};
use crate::api::service::Service;
use crate::api::unread::UnreadReservation;
use crate::api::visitors::{VisitorAction, VisitorRates, Visitors};
use crate::mount::{MountRequest, MountResponse};
use crate::web_origin::WebOrigin;

/// The addresses of the operator's own pages for people who sign up.
#[derive(Clone, Debug, Default)]
pub struct PolicyPages {
    pub terms: Option<String>,
    pub privacy: Option<String>,
}

/// The operator's settings for the pages.
#[derive(Clone, Debug, Default)]
pub struct PageSettings {
    /// The limits for people without an account.
    pub visitors: VisitorRates,
    /// Whether search engines may index the pages: robots.txt and sitemaps.
    pub is_indexed: bool,
    /// Who may create an account.
    pub sign_up: SignUpPolicy,
    pub policies: PolicyPages,
}

/// State shared by the handlers of all pages.
pub struct PageContext {
    pub(super) service: Arc<Service>,
    pub(super) visitors: Visitors,
    pub(super) is_indexed: bool,
    pub(super) sign_up: SignUpPolicy,
    pub(super) policies: PolicyPages,
    pub(super) desk: WorkQueues,
    /// The origin of this service.
    pub(super) origin: Option<WebOrigin>,
}

impl PageContext {
    pub fn new(service: Arc<Service>, settings: PageSettings) -> Self {
        let origin = WebOrigin::of_url(service.base_url());
        let desk = WorkQueues::new(Arc::clone(&service));
        let PageSettings { visitors, is_indexed, sign_up, policies } = settings;
        Self { desk, origin, service, visitors: Visitors::new(visitors), is_indexed, sign_up, policies }
    }

    pub(super) fn opened<'a>(&'a self, request: &'a MountRequest<'a>) -> OpenPage<'a> {
        let served = self.service.pinned_or_served(&pin_of(request));
        OpenPage {
            shell: self,
            request,
            visitor: Visitor::of(request, self.service.accounts(), self.service.now()),
            corpus: Arc::clone(&served),
            served,
            receipt: None,
            debits: Debits::default(),
            unread: None,
            stages: Vec::new(),
        }
    }
}

/// The snapshot that the link to a page names. What is no id of a snapshot names none.
fn pin_of<'a>(request: &MountRequest<'a>) -> Result<Option<SnapshotPin<'a>>, Violation> {
    let named = request.parameters.iter().filter(|(name, _)| name == SNAPSHOT_NAME);
    SnapshotPin::read(named.map(|(_, value)| value.as_bytes()))
}

/// A page that is being built for a reader.
pub(super) struct OpenPage<'a> {
    pub(super) shell: &'a PageContext,
    pub(super) request: &'a MountRequest<'a>,
    pub(super) visitor: Visitor,
    /// The snapshot that all content of the page comes from.
    pub(super) corpus: Arc<Corpus>,
    /// The served snapshot, with its shelf of other editions. The page may show one of those.
    pub(super) served: Arc<Corpus>,
    receipt: Option<MeteringReceipt>,
    /// The debits of the page's calls.
    pub(super) debits: Debits,
    unread: Option<UnreadReservation>,
    stages: Vec<(&'static str, u32)>,
}

/// The debits of one page's calls. A page is paid for as a whole: if it is not shown, because it failed, is at another
/// address or did not change, all debits are refunded.
#[derive(Clone, Default)]
pub(super) struct Debits(Arc<Mutex<Vec<PendingDebit>>>);

impl Debits {
    fn add(&self, debit: Option<Box<PendingDebit>>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(debit.map(|debit| *debit));
    }

    /// Returns the answer. If it is no page, refunds the debits first.
    pub(super) async fn settle(self, answer: MountResponse, progress: &Progress) -> MountResponse {
        if answer.response.status() == StatusCode::OK {
            return answer;
        }
        let debits = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        for debit in debits {
            let cost = debit.cost();
            // If the ledger is unavailable, the refund is made when it is available again.
            if debit.refund().await.is_ok() {
                progress.refunded(cost);
            }
        }
        MountResponse { receipt: None, ..answer }
    }
}

/// A page's call of an operation.
pub(super) struct OperationCall<'q> {
    pub(super) operation: &'static str,
    /// The visitor action that the call counts as.
    pub(super) wish: VisitorAction,
    /// The path parameters, by name.
    pub(super) of: &'q [(&'static str, &'q str)],
    pub(super) query: &'q [(&'static str, &'q str)],
    /// Empty if the operation takes no body.
    pub(super) body: JsonObject,
    pub(super) format: Format,
    /// The versions that the browser has, in the form of `If-None-Match`.
    pub(super) known_versions: Option<&'q str>,
}

impl<'q> OperationCall<'q> {
    pub(super) fn read(operation: &'static str, query: &'q [(&'static str, &'q str)]) -> Self {
        Self {
            operation,
            wish: VisitorAction::Read,
            of: &[],
            query,
            body: JsonObject::new(),
            format: Format::Json,
            known_versions: None,
        }
    }
}

/// The result of a call.
pub(super) enum CallResult {
    News(OperationReply),
    /// The browser already has this version.
    Unchanged(String),
}

pub(super) struct OperationReply {
    pub(super) bytes: Bytes,
    pub(super) version: Option<String>,
    pub(super) pages: Option<Pages>,
}

impl OperationReply {
    /// Deserializes the reply. The service wrote it, so a mismatch is a bug in this program.
    pub(super) fn read<'b, T: Deserialize<'b>>(&'b self) -> Result<T, ApiError> {
        serde_json::from_slice(&self.bytes)
            .map_err(|error| ApiError::internal(format!("cannot read a reply for a page: {error}")))
    }
}

impl OpenPage<'_> {
    /// The signed-in person whose account pays. None before the account is approved: its owner has
    /// the rights of a visitor.
    fn approved(&self) -> Option<&SignedIn> {
        match &self.visitor {
            Visitor::Person(person) if person.status == AccountStatus::Approved => Some(person),
            _ => None,
        }
    }

    /// Whether this reader may do this.
    pub(super) fn may(&self, wish: VisitorAction) -> bool {
        self.approved().is_some() || self.shell.visitors.is_allowed(wish)
    }

    /// The first value of a parameter in the page's address.
    /// The snapshot of the lists on this page, for links to their other pages.
    pub(super) fn list_edition(&self) -> ListEdition<'_> {
        let is_another = matches!(pin_of(self.request), Ok(Some(pin)) if !pin.is_of(&self.corpus));
        ListEdition { snapshot: self.corpus.id(), is_another }
    }

    pub(super) fn parameter(&self, name: &str) -> Option<&str> {
        let found = self.request.parameters.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// All values of a repeatable parameter, separated by commas.
    pub(super) fn parameters(&self, name: &str) -> Option<String> {
        let values = self.request.parameters.iter().filter(|(known, value)| known == name && !value.trim().is_empty());
        let values: Vec<&str> = values.map(|(_, value)| value.trim()).collect();
        (!values.is_empty()).then(|| values.join(","))
    }

    /// The day in the page's address, if there is one.
    pub(super) fn named_day(&self) -> Option<String> {
        self.parameter(AS_OF_NAME).map(str::trim).filter(|day| !day.is_empty()).map(str::to_owned)
    }

    /// The day whose law the page shows: the one in its address, or today.
    pub(super) fn day(&self) -> Day {
        let named = self.named_day().and_then(|day| day.parse().ok());
        named.unwrap_or_else(|| today(self.shell.service.now()))
    }

    /// The law on the day of the page.
    pub(super) fn law(&self) -> Arc<LawOnDay> {
        self.corpus.engine().law_on(Some(self.day()))
    }

    /// Links within the site, for the day of the page.
    pub(super) fn links(&self) -> PageLinks {
        PageLinks::new("", self.named_day().and_then(|day| day.parse().ok()))
    }

    /// Calls an operation and requires a complete reply.
    pub(super) async fn call(&mut self, ask: OperationCall<'_>) -> Result<OperationReply, ApiError> {
        match self.ask(OperationCall { known_versions: None, ..ask }).await? {
            CallResult::News(news) => Ok(news),
            CallResult::Unchanged(_) => Err(ApiError::internal("a reply is 'unchanged' although no version was sent")),
        }
    }

    /// Calls an operation.
    pub(super) async fn ask(&mut self, ask: OperationCall<'_>) -> Result<CallResult, ApiError> {
        let OperationCall { operation, wish, of, query, body, format, known_versions } = ask;
        let asker = match self.approved() {
            Some(person) if wish == VisitorAction::MapPart && !self.shell.visitors.is_allowed(wish) => {
                let (visitors, map) = (&self.shell.visitors, self.map_name(of));
                CallerIdentity::Visitor(visitors.admit_to_map(self.parameter("pass"), person.account, &map)?)
            }
            Some(person) if !self.shell.visitors.is_allowed(wish) => CallerIdentity::Person(person),
            // As many as a visitor's are free; the account pays for those beyond.
            Some(person) if wish == VisitorAction::Search => {
                let now = self.shell.service.now().steady;
                let free = self.shell.visitors.admit_visitor(wish, self.request.client, now);
                free.map_or(CallerIdentity::Person(person), CallerIdentity::Visitor)
            }
            _ => {
                let now = self.shell.service.now().steady;
                CallerIdentity::Visitor(self.shell.visitors.admit_visitor(wish, self.request.client, now)?)
            }
        };
        let operation = row(operation)?;
        let mut query: Vec<(String, String)> =
            query.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        if operation.parameters.iter().any(|parameter| parameter.name == AS_OF_NAME) {
            query.extend(self.named_day().map(|day| (AS_OF_NAME.to_owned(), day)));
        }
        let arguments = Arguments {
            path: of.iter().map(|(name, value)| (*name, (*value).to_owned())).collect(),
            query_count: query.len(),
            query,
            body,
            ..Arguments::default()
        };
        let progress = Progress::default();
        let call = Call {
            edition: Arc::clone(&self.corpus).into(),
            operation,
            asker,
            arguments,
            format: Some(format),
            idempotency_key: Ok(None),
            known_versions,
            terms: CallTerms::default(),
            progress: &progress,
        };
        let outcome = self.shell.service.call(call).await;
        self.request.progress.include(&progress);
        match outcome {
            Outcome::Answered(answer) => self.record_answer(answer).map(CallResult::News),
            Outcome::Unchanged { version, .. } => Ok(CallResult::Unchanged(version)),
            Outcome::Priced(_) => Err(ApiError::internal("a page asked for the price of a call")),
            Outcome::Failed(failure) => Err(failure.error),
        }
    }

    /// Whether reading another provision is free for this reader.
    pub(super) fn reads_are_free(&self) -> bool {
        self.shell.visitors.is_allowed(VisitorAction::Read)
    }

    /// The pass for the parts of a map whose page was paid for by a call. None if the parts need no
    /// pass.
    pub(super) fn map_pass(&self, of: &[(&'static str, &str)]) -> Option<String> {
        let (person, receipt) = (self.approved()?, self.receipt.as_ref()?);
        Some(self.shell.visitors.map_pass(receipt, person.account, &self.map_name(of)))
    }

    /// The name of a map: the snapshot and the jurisdiction, which is the first path parameter.
    fn map_name(&self, of: &[(&'static str, &str)]) -> String {
        let short_code = of.first().map(|(_, value)| value.to_ascii_uppercase()).unwrap_or_default();
        format!("{} {short_code}", self.corpus.id())
    }

    fn record_answer(&mut self, answer: Answer) -> Result<OperationReply, ApiError> {
        let Answer { reply, receipt, debit, version, unread } = answer;
        self.debits.add(debit);
        self.receipt = match (self.receipt.take(), receipt) {
            (Some(earlier), Some(later)) => Some(earlier.and(&later)),
            (earlier, later) => later.or(earlier),
        };
        self.unread = unread.or_else(|| self.unread.take());
        self.stages.extend(reply.stages);
        let (Body::Bytes(bytes) | Body::Cached(bytes)) = reply.body else {
            return Err(ApiError::internal("a page requested a reply that is stored compressed"));
        };
        Ok(OperationReply { bytes, version, pages: reply.pages })
    }

    /// Records the time of work beside the calls, for the log and the metrics.
    pub(super) fn add_stage(&mut self, name: &'static str, took: Duration) {
        self.stages.push((name, u32::try_from(took.as_micros()).unwrap_or(u32::MAX)));
    }

    /// Completes the page with the receipt, the unread share and the stages of its calls.
    pub(super) fn answer(self, response: Response<Bytes>) -> MountResponse {
        let Self { receipt, unread, stages, .. } = self;
        MountResponse { receipt, unread, stages, ..response.into() }
    }
}

pub(super) fn row(name: &str) -> Result<&'static Operation, ApiError> {
    let found = OPERATIONS.iter().find(|operation| operation.name == name);
    found.ok_or_else(|| ApiError::internal(format!("a page calls the operation '{name}', which is not in the table")))
}
