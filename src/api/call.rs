//! The only entry point for calls, used by every transport. The steps, with the status of a failure:
//! authenticate (401), check the scope (403), check the rate (429), check the parameters (422) and the pinned
//! snapshot (409), choose the format (406), reserve credits (402), do the work (404, 503), commit the debit, answer.
//!
//! Each step is a type that the step before it returns (see `accounts::admission`). The [`Answer`] to a
//! metered call contains the [`MeteringReceipt`], which only these steps can create. Heavy work waits in the
//! queue for a worker thread. Light work runs inside the call's own task.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use hornbook_accounts::admission::{CallPrice, MeteringReceipt, PendingDebit, RateChecked, Reserved};
use hornbook_accounts::blocking;
use hornbook_accounts::changes::SignedIn;
use hornbook_accounts::error::Refusal;
use hornbook_accounts::idempotency::Idempotency;
use hornbook_accounts::ids::Credits;
use hornbook_accounts::rate_limit::RateRemaining;
use hornbook_accounts::scope::ScopeSet;
use hornbook_base::clock::Now;
use tokio::sync::OwnedSemaphorePermit;
use tokio::task::AbortHandle;

use super::call_terms::CallTerms;
use super::corpus::Corpus;
use super::error::{ApiError, ErrorCode, Violation, catch_panic};
use super::fields::{FIELDS, FieldSelection};
use super::headers::CORPUS_SNAPSHOT;
use super::idempotency_key::IdempotencyKey;
use super::map_cache::MapPart;
use super::operation::{
    Access, Cancellation, ChargeTiming, CheckedCall, Handler, KeyHolder, LawReader, Metering, OpenCaller, Operation,
    OperationWork, PreparedWork, WorkClass,
};
use super::parameters::{Arguments, check};
use super::pinned_snapshot::ChosenEdition;
use super::queue::{WorkLane, WorkQueue};
use super::reply::{FORMAT, Format, Reply};
use super::service::Service;
use super::unread::UnreadReservation;
use super::view::{AnswerView, VIEW, concise_fields};
use super::visitors::VisitorPass;
use crate::single_flight::FlightGuard;

/// Maximum number of units that a visitor's call may have if a first step finds them out.
const VISITOR_UNITS_MAX: u32 = 20;

/// A call, as a transport passes it to [`Service::call`].
#[derive(Debug)]
pub struct Call<'c> {
    /// The snapshot that everything in the answer comes from.
    pub edition: ChosenEdition,
    pub operation: &'static Operation,
    pub asker: CallerIdentity<'c>,
    pub arguments: Arguments,
    /// The format that the caller accepts. `None` if it accepts none of the offered formats.
    pub format: Option<Format>,
    /// The error says what is wrong with an invalid key.
    pub idempotency_key: Result<Option<IdempotencyKey<'c>>, Violation>,
    /// The versions of the answer that the caller already has, as listed in `If-None-Match`.
    pub known_versions: Option<&'c str>,
    pub terms: CallTerms,
    pub progress: &'c Progress,
}

/// The caller, as the transport knows it.
#[derive(Debug)]
pub enum CallerIdentity<'c> {
    /// The value after `Bearer`, if there is one. It must be an API key.
    Key(Option<&'c str>),
    /// The same where agents call: an API key, or the access token of an agent that a person let in.
    Agent(Option<&'c str>),
    /// A person without an account, admitted by the operator's settings. Only web pages use this.
    Visitor(VisitorPass),
    /// A signed-in person. Their account pays.
    Person(&'c SignedIn),
}

impl Call<'_> {
    /// Where its work waits.
    fn lane(&self) -> WorkLane {
        match self.asker {
            CallerIdentity::Visitor(_) => WorkLane::Unpaid,
            CallerIdentity::Key(_) | CallerIdentity::Agent(_) | CallerIdentity::Person(_) => WorkLane::Paid,
        }
    }
}

/// The progress of a call. The transport owns it, so that it can log the progress even if the caller
/// disconnects early.
#[derive(Debug, Default)]
pub struct Progress {
    operation: OnceLock<&'static str>,
    key: OnceLock<String>,
    charged: Charged,
}

/// Credits of a debit that began and was not refunded. The thread that begins the debit sets this.
#[derive(Clone, Debug, Default)]
struct Charged(Arc<AtomicU32>);

impl Charged {
    fn set(&self, credits: u32) {
        self.0.store(credits, Ordering::Relaxed);
    }
}

impl Progress {
    pub fn operation(&self) -> Option<&'static str> {
        self.operation.get().copied()
    }

    /// The start of the key, once the key is authenticated.
    pub fn key(&self) -> Option<&str> {
        self.key.get().map(String::as_str)
    }

    /// Credits of a debit that began and was not refunded.
    pub fn charged(&self) -> u32 {
        self.charged.0.load(Ordering::Relaxed)
    }

    /// Subtracts credits that were refunded.
    pub fn refunded(&self, credits: Credits) {
        let _ = self
            .charged
            .0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |charged| Some(charged.saturating_sub(credits.0)));
    }

    /// Adds a call that was one of several in the same request.
    pub fn include(&self, call: &Self) {
        if let Some(operation) = call.operation() {
            let _ = self.operation.set(operation);
        }
        if let Some(key) = call.key() {
            let _ = self.key.set(key.to_owned());
        }
        self.charged.0.fetch_add(call.charged(), Ordering::Relaxed);
    }
}

/// The result of a call.
#[derive(Debug)]
pub enum Outcome {
    Answered(Answer),
    /// The caller already has this version. This is free.
    Unchanged {
        version: String,
        left: Option<RateRemaining>,
    },
    /// Only the price was asked. This is free.
    Priced(CallPrice),
    Failed(Failure),
}

#[derive(Debug)]
pub struct Answer {
    pub reply: Reply,
    /// Proof of payment. `None` for open operations and for visitors.
    pub receipt: Option<MeteringReceipt>,
    /// The debit of a call that is made for a web page. It is refunded if the page fails.
    pub debit: Option<Box<PendingDebit>>,
    /// Changes whenever any byte of the answer changes.
    pub version: Option<String>,
    /// Counts the answer's bytes against the account's limit until it is dropped.
    pub unread: Option<UnreadReservation>,
}

#[derive(Debug)]
pub struct Failure {
    pub error: ApiError,
    /// What remains of the key's rate limit, if the rate was checked.
    pub left: Option<Box<RateRemaining>>,
}

impl Service {
    /// Admits a call, does its work and answers it.
    pub async fn call(&self, call: Call<'_>) -> Outcome {
        // Fails only if the operation is set already: a call has one operation.
        let _ = call.progress.operation.set(call.operation.name);
        let outcome = match call.operation.access {
            Access::Open(handler) => {
                self.open_call(&call, handler).await.map_err(|error| Failure { error, left: None })
            }
            Access::Metered(metering, handler) => self.metered_call(&call, metering, handler, |holder| holder).await,
            Access::Law(metering, handler) => match &call.asker {
                CallerIdentity::Key(_) | CallerIdentity::Agent(_) | CallerIdentity::Person(_) => {
                    self.metered_call(&call, metering, handler, LawReader::from).await
                }
                CallerIdentity::Visitor(pass) => self.visitors_call(&call, metering, handler, pass).await,
            },
        };
        outcome.unwrap_or_else(Outcome::Failed)
    }

    async fn open_call(&self, call: &Call<'_>, handler: Handler<OpenCaller>) -> Result<Outcome, ApiError> {
        let prepared = self.prepare(call, handler, OpenCaller, self.clock.now())?;
        let PreparedWork { version, weight, map_part: makes, work, .. } = prepared;
        let reply = self.reply(WorkLane::Unpaid, &call.edition.corpus, weight, makes.as_ref(), work).await?;
        Ok(Outcome::Answered(Answer { reply, receipt: None, debit: None, version, unread: None }))
    }

    /// Charges nothing: the pass proves that the visitor may make this call.
    async fn visitors_call(
        &self,
        call: &Call<'_>,
        metering: Metering,
        handler: Handler<LawReader>,
        pass: &VisitorPass,
    ) -> Result<Outcome, Failure> {
        let failed = |error| Failure { error, left: None };
        let scopes = pass.require(metering.any_of).map_err(failed)?;
        let prepared = self.prepare(call, handler, LawReader { scopes }, self.clock.now()).map_err(failed)?;
        let is_sized = prepared.sizing.is_some();
        let prepared = self.size(call, prepared).await.map_err(failed)?;
        if is_sized && prepared.units > VISITOR_UNITS_MAX {
            return Err(failed(ApiError::new(
                ErrorCode::InvalidApiKey,
                format!(
                    "a call of more than {VISITOR_UNITS_MAX} times {} needs an account on this server; sign in, or send less",
                    metering.cost.per.as_str()
                ),
            )));
        }
        let version = prepared.version.as_deref();
        if let Some(version) = version.filter(|version| is_known(version, call.known_versions)) {
            return Ok(Outcome::Unchanged { version: version.to_owned(), left: None });
        }
        let PreparedWork { version, weight, map_part: makes, work, .. } = prepared;
        let reply =
            self.reply(WorkLane::Unpaid, &call.edition.corpus, weight, makes.as_ref(), work).await.map_err(failed)?;
        Ok(Outcome::Answered(Answer { reply, receipt: None, debit: None, version, unread: None }))
    }

    async fn metered_call<C>(
        &self,
        call: &Call<'_>,
        metering: Metering,
        handler: Handler<C>,
        caller: fn(KeyHolder) -> C,
    ) -> Result<Outcome, Failure> {
        let now = self.clock.now();
        let paced = self.admit(call, metering.any_of, now)?;
        let left = Some(paced.left());
        let failed = |error| Failure { error, left: left.map(Box::new) };

        let holder = KeyHolder { account: paced.account(), key: paced.key(), scopes: paced.scopes() };
        let mut prepared = self.prepare(call, handler, caller(holder), now).map_err(failed)?;
        let version = prepared.version.take();
        if let Some(version) = version.as_deref().filter(|version| is_known(version, call.known_versions)) {
            return Ok(Outcome::Unchanged { version: version.to_owned(), left });
        }
        let unread = self.unread.of(paced.account()).reserve();
        let unread = unread.ok_or_else(|| failed(ApiError::too_much_unread("this account")))?;
        // Who cannot pay the least price gets no work that finds out the price. A retry may be paid for already.
        if prepared.sizing.is_some() && matches!(call.idempotency_key, Ok(None)) {
            paced.price(Credits(metering.cost.credits), now).map_err(|refusal| failed(ApiError::from(&refusal)))?;
        }
        let prepared = self.size(call, prepared).await.map_err(failed)?;
        let cost = Credits(metering.cost.credits.saturating_mul(prepared.units));
        call.terms.check_cost(cost).map_err(failed)?;
        if call.terms.is_dry_run {
            let price = paced.price(cost, now).map_err(|refusal| failed(ApiError::from(&refusal)))?;
            return Ok(Outcome::Priced(price));
        }
        let payment = Payment { service: self, call, paced, cost, now };
        let done = match prepared.charge {
            ChargeTiming::BeforeWork => payment.before(prepared).await,
            ChargeTiming::AfterWork => payment.after(prepared).await,
        };
        let (reply, receipt, debit) = done.map_err(failed)?;
        Ok(Outcome::Answered(Answer { reply, receipt: Some(receipt), debit, version, unread: Some(unread) }))
    }

    /// Why the key cannot be used for this operation. `None` if it can be used, or if the operation needs
    /// no key.
    pub fn key_error(&self, operation: &Operation, key: Option<&str>) -> Option<ApiError> {
        operation.metering()?;
        let refusal = self.accounts.authenticate(key, self.now()).err()?;
        Some((&refusal).into())
    }

    fn admit(&self, call: &Call<'_>, any_of: ScopeSet, now: Now) -> Result<RateChecked, Failure> {
        let caller = match &call.asker {
            CallerIdentity::Person(person) => self.accounts.authenticate_person(person, now),
            CallerIdentity::Agent(key) => self.accounts.authenticate_agent(*key, now),
            CallerIdentity::Key(key) => self.accounts.authenticate(*key, now),
            CallerIdentity::Visitor(_) => self.accounts.authenticate(None, now),
        };
        if let Ok(caller) = &caller {
            let _ = call.progress.key.set(caller.key_prefix());
        }
        let paced = caller.and_then(|caller| caller.require(any_of)).and_then(|scoped| scoped.check_rate(now));
        paced.map_err(|refusal| {
            let left = if let Refusal::TooFast(too_fast) = &refusal { Some(Box::new(too_fast.left)) } else { None };
            Failure { error: (&refusal).into(), left }
        })
    }

    fn prepare<C>(&self, call: &Call<'_>, handler: Handler<C>, caller: C, now: Now) -> Result<PreparedWork, ApiError> {
        let arguments = check(call.operation.parameters, &call.arguments)?;
        if let Err(violation) = &call.idempotency_key {
            return Err(ApiError::invalid(vec![violation.clone()]));
        }
        if let Some(refusal) = &call.edition.refusal {
            return Err(refusal.clone());
        }
        // The parameter `format` takes precedence over the transport's content negotiation.
        let format = arguments.get(&FORMAT).or(call.format).ok_or_else(|| not_available(call.operation))?;
        let select = |name, paths: &[&str]| FieldSelection::new(call.operation, format, name, paths);
        let fields = match (arguments.get(&FIELDS), arguments.get(&VIEW)) {
            (Some(paths), None) => Some(select(FIELDS.rule.name, &paths)?),
            (Some(_), Some(_)) => {
                return Err(ApiError::invalid_parameter(
                    VIEW.rule.name,
                    "view and fields both choose members; send one of them",
                ));
            }
            (None, Some(AnswerView::Concise)) => {
                let fields = concise_fields(call.operation);
                Some(select(VIEW.rule.name, &fields.iter().map(String::as_str).collect::<Vec<_>>())?)
            }
            (None, Some(AnswerView::Full) | None) => None,
        };
        let (accounts, corpus) = (self.accounts(), &call.edition.corpus);
        let body = &call.arguments.body;
        let idempotency_key = call.idempotency_key.as_ref().ok().copied().flatten().map(|key| key.as_str());
        let base_url = self.base_url();
        let is_for_page = matches!(call.asker, CallerIdentity::Visitor(_) | CallerIdentity::Person(_));
        let link_base = if is_for_page && format == Format::Json { "" } else { base_url };
        let (cards, deep) = (self.cards.as_ref(), &self.deep);
        let call = CheckedCall {
            caller,
            accounts,
            corpus,
            arguments,
            body,
            idempotency_key,
            base_url,
            link_base,
            cards,
            deep,
            now,
            format,
        };
        let prepared = catch_panic(|| handler(&call))?;
        Ok(match fields {
            Some(fields) => fields.of_work(prepared),
            None => prepared,
        })
    }

    /// Runs the first step of work whose price depends on it.
    async fn size(&self, call: &Call<'_>, mut prepared: PreparedWork) -> Result<PreparedWork, ApiError> {
        let Some(sizing) = prepared.sizing.take() else { return Ok(prepared) };
        let (sized, _) = self.work(call.lane(), &call.edition.corpus, prepared.weight, None, sizing).await?;
        Ok(sized)
    }

    /// Runs work that only produces a reply, and adds the waiting time to the reply's stages.
    async fn reply(
        &self,
        lane: WorkLane,
        corpus: &Corpus,
        weight: WorkClass,
        makes: Option<&MapPart>,
        work: OperationWork,
    ) -> Result<Reply, ApiError> {
        let (mut reply, queued) = self.work(lane, corpus, weight, makes, work).await?;
        reply.stages.extend(queued);
        Ok(reply)
    }

    /// Runs work where its weight requires, and returns the result with the time that it waited in the
    /// queue. If this future is dropped, work that has not begun is skipped, and work that has begun is
    /// cancelled.
    async fn work<T: Send + 'static>(
        &self,
        lane: WorkLane,
        corpus: &Corpus,
        weight: WorkClass,
        makes: Option<&MapPart>,
        work: impl FnOnce(&Cancellation) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<(T, Option<StageTime>), ApiError> {
        let began = Instant::now();
        match self.place(corpus, weight, makes).await? {
            // Runs to its end: a disconnect cannot be noticed in between.
            ExecutionTarget::Here => Ok((catch_panic(|| work(&Cancellation::new(&self.cancelled_work)))?, None)),
            ExecutionTarget::Queue(queue, making) => {
                let (_watched, cancellation) = CancelOnDrop::new(&self.cancelled_work);
                let work = move || {
                    let queued = stage("queue", began);
                    // Released when the work ends, not when its caller disconnects.
                    let _held = making;
                    let done = blocking::allowed(|| work(&cancellation))?;
                    Ok((done, Some(queued)))
                };
                queue.run(lane, self.clock.now().steady, work).await
            }
            ExecutionTarget::Thread(place) => {
                let (mut watched, cancellation) = CancelOnDrop::new(&self.cancelled_work);
                let thread = tokio::task::spawn_blocking(move || {
                    let _held = place;
                    blocking::allowed(|| catch_panic(|| work(&cancellation)))
                });
                watched.thread = Some(thread.abort_handle());
                let done = thread.await;
                let done =
                    done.unwrap_or_else(|error| Err(ApiError::internal(format!("the worker thread failed: {error}"))))?;
                Ok((done, Some(("queue", 0))))
            }
        }
    }

    /// Chooses where work runs. Work that makes a part of a map first waits for its turn to make it.
    async fn place(
        &self,
        corpus: &Corpus,
        weight: WorkClass,
        makes: Option<&MapPart>,
    ) -> Result<ExecutionTarget<'_>, ApiError> {
        match (weight, makes) {
            (WorkClass::Light, _) => Ok(ExecutionTarget::Here),
            (WorkClass::Heavy, None) => Ok(ExecutionTarget::Queue(&self.queue, None)),
            (WorkClass::Deep, _) => Ok(ExecutionTarget::Queue(&self.deep.queue, None)),
            (WorkClass::Document, _) => Ok(ExecutionTarget::Queue(&self.documents, None)),
            // If another call has made the part by now, it only has to be sent.
            (WorkClass::Heavy, Some(part)) => {
                let turn = corpus.maps.turn(part).await?;
                Ok(turn.map_or(ExecutionTarget::Here, |turn| ExecutionTarget::Queue(&self.queue, Some(turn))))
            }
            (WorkClass::External, _) => {
                let place = Arc::clone(&self.external_permits).try_acquire_owned();
                place.map(ExecutionTarget::Thread).map_err(|_| ApiError::overloaded())
            }
        }
    }
}

fn not_available(operation: &Operation) -> ApiError {
    let offered: Vec<&str> = operation.formats.iter().map(|format| format.media_type()).collect();
    let message = format!("this resource is available as {}; name one of them in Accept", offered.join(", "));
    ApiError::new(ErrorCode::NotAcceptable, message)
}

/// A reply, its receipt, and the debit if the call is part of a web page.
type Paid = (Reply, MeteringReceipt, Option<Box<PendingDebit>>);

/// A metered call before it is charged.
struct Payment<'s> {
    service: &'s Service,
    call: &'s Call<'s>,
    paced: RateChecked,
    cost: Credits,
    now: Now,
}

impl Payment<'_> {
    /// Charges the call, and runs the work while the debit is committed.
    async fn before(self, prepared: PreparedWork) -> Result<Paid, ApiError> {
        let (service, corpus, charged) = (self.service, &self.call.edition.corpus, self.call.progress.charged.clone());
        let is_part = self.is_part();
        let PreparedWork { weight, map_part: makes, work, .. } = prepared;
        // The credits are only reserved while the call waits for its turn, and are debited when the work
        // begins. A dropped reservation leaves no trace, but a debit would need a refund.
        match self.reserve()? {
            Reserved::Replay(replay) => {
                let replayed = move |cancellation: &Cancellation| {
                    let replay = replay.begin();
                    match catch_panic(|| work(cancellation)) {
                        Ok(reply) => Ok((reply, replay)),
                        Err(error) => {
                            replay.give_back();
                            Err(error)
                        }
                    }
                };
                let ((mut reply, replay), queued) =
                    service.work(WorkLane::Paid, corpus, weight, makes.as_ref(), replayed).await?;
                reply.stages.extend(queued);
                Ok((reply, replay.settle(), None))
            }
            Reserved::Fresh(reservation) => {
                let begun = charged.clone();
                // Charged before the work: a client that disconnects must not search for free.
                let paid = move |cancellation: &Cancellation| {
                    let debit = reservation.begin()?;
                    begun.set(debit.cost().0);
                    Ok((catch_panic(|| work(cancellation)), debit))
                };
                let ((done, debit), queued) =
                    service.work(WorkLane::Paid, corpus, weight, makes.as_ref(), paid).await?;
                match done {
                    Ok(mut reply) => {
                        reply.stages.extend(queued);
                        let (receipt, debit) = settled(debit, is_part, &mut reply, &charged).await?;
                        Ok((reply, receipt, debit))
                    }
                    Err(error) => {
                        // Even if the refund has to wait for the ledger, the caller gets the error of the call.
                        if debit.refund().await.is_ok() {
                            charged.set(0);
                        }
                        Err(error)
                    }
                }
            }
        }
    }

    /// Runs the work, then charges the call if the work succeeded.
    async fn after(self, prepared: PreparedWork) -> Result<Paid, ApiError> {
        let PreparedWork { weight, map_part: makes, work, .. } = prepared;
        let mut reply =
            self.service.reply(WorkLane::Paid, &self.call.edition.corpus, weight, makes.as_ref(), work).await?;
        let (charged, is_part) = (&self.call.progress.charged, self.is_part());
        let (receipt, debit) = match self.reserve()? {
            Reserved::Replay(replay) => (replay.begin().settle(), None),
            Reserved::Fresh(reservation) => {
                let debit = reservation.begin()?;
                charged.set(debit.cost().0);
                settled(debit, is_part, &mut reply, charged).await?
            }
        };
        Ok((reply, receipt, debit))
    }

    /// Whether the call is part of a web page, which may make several calls.
    fn is_part(&self) -> bool {
        matches!(self.call.asker, CallerIdentity::Person(_))
    }

    fn reserve(self) -> Result<Reserved, ApiError> {
        let Self { call, paced, cost, now, .. } = self;
        let key = call.idempotency_key.as_ref().ok().copied().flatten();
        let idempotency = key.map(|key| Idempotency::new(key.as_str(), &fingerprint(call)));
        paced.reserve(call.operation.name, cost, idempotency, now).map_err(|refusal| ApiError::from(&refusal))
    }
}

/// The name of a stage of a call, and its duration in microseconds.
type StageTime = (&'static str, u32);

fn stage(name: &'static str, began: Instant) -> StageTime {
    (name, u32::try_from(began.elapsed().as_micros()).unwrap_or(u32::MAX))
}

async fn settled(
    debit: PendingDebit,
    is_part: bool,
    reply: &mut Reply,
    charged: &Charged,
) -> Result<(MeteringReceipt, Option<Box<PendingDebit>>), ApiError> {
    let began = Instant::now();
    let settled = match is_part {
        true => debit.settle_partial().await.map(|(receipt, debit)| (receipt, Some(Box::new(debit)))),
        false => debit.settle().await.map(|receipt| (receipt, None)),
    };
    // Without a receipt nothing was charged.
    let settled = settled.inspect_err(|_| charged.set(0))?;
    reply.stages.push(stage("commit", began));
    Ok(settled)
}

enum ExecutionTarget<'s> {
    Here,
    /// With the turn to make a part of a map that other calls may wait for.
    Queue(&'s WorkQueue, Option<FlightGuard<MapPart>>),
    Thread(OwnedSemaphorePermit),
}

/// Cancels its work when it is dropped, which happens when the caller disconnects. Work that has begun
/// notices at its next check. Work that has not begun never runs.
struct CancelOnDrop {
    cancellation: Arc<Cancellation>,
    /// Set if the work runs on its own thread.
    thread: Option<AbortHandle>,
}

impl CancelOnDrop {
    /// Also returns the [`Cancellation`] that the work checks.
    fn new(given_up: &Arc<AtomicU64>) -> (Self, Arc<Cancellation>) {
        let cancellation = Arc::new(Cancellation::new(given_up));
        (Self { cancellation: Arc::clone(&cancellation), thread: None }, cancellation)
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.cancellation.cancel();
        if let Some(thread) = &self.thread {
            thread.abort();
        }
    }
}

/// Identifies the content of a request. Requests with one idempotency key are the same if their
/// fingerprints are equal.
fn fingerprint(call: &Call<'_>) -> String {
    let body = if call.arguments.body.is_empty() { None } else { serde_json::to_string(&call.arguments.body).ok() };
    let mut words = vec![call.operation.name];
    words.extend(call.arguments.path.iter().map(|(_, value)| value.as_str()));
    let mut query: Vec<_> = call.arguments.query.iter().collect();
    query.sort();
    words.extend(query.into_iter().flat_map(|(name, value)| [name.as_str(), value.as_str()]));
    if call.edition.is_pinned {
        words.extend([CORPUS_SNAPSHOT.name, call.edition.corpus.id()]);
    }
    words.extend(body.as_deref());
    words.join("\0")
}

/// Whether an `If-None-Match` list matches the version.
pub(crate) fn is_known(version: &str, known: Option<&str>) -> bool {
    let names = |tag: &str| {
        let quoted = tag.strip_prefix("W/").unwrap_or(tag);
        tag == "*" || quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) == Some(version)
    };
    known.is_some_and(|known| known.split(',').map(str::trim).any(names))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;
    use std::time::Duration;

    use super::*;
    use hornbook_base::clock::SteadyMicros;

    #[test]
    fn a_version_is_known_in_any_form_of_the_header() {
        for known in ["\"v1\"", "W/\"v1\"", "\"a\", \"v1\"", "*"] {
            assert!(is_known("v1", Some(known)), "{known}");
        }
        for unknown in [None, Some(""), Some("v1"), Some("\"v\""), Some("\"v11\"")] {
            assert!(!is_known("v1", unknown), "{unknown:?}");
        }
    }

    #[test]
    fn work_is_cancelled_and_counted_once_when_its_caller_disconnects() {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_time().build().unwrap();
        let given_up = Arc::new(AtomicU64::new(0));
        let queue = Arc::new(WorkQueue::new(1));
        let (begun, has_begun) = std::sync::mpsc::channel();
        let (ended, has_ended) = std::sync::mpsc::channel();
        let (watched, cancellation) = CancelOnDrop::new(&given_up);
        let work = move || {
            begun.send(cancellation.is_cancelled()).unwrap();
            let deadline = Instant::now() + Duration::from_secs(30);
            while !cancellation.is_cancelled() && Instant::now() < deadline {
                std::thread::yield_now();
            }
            ended.send(cancellation.is_cancelled()).unwrap();
            Err::<(), _>(ApiError::internal("given up"))
        };
        let waiting = Arc::clone(&queue);
        let call = runtime.spawn(async move {
            let _watched = watched;
            waiting.run(WorkLane::Paid, SteadyMicros(0), work).await.is_ok()
        });
        assert!(!has_begun.recv().unwrap(), "its caller waits");
        call.abort();
        assert!(has_ended.recv().unwrap());
        assert_eq!(given_up.load(Ordering::Relaxed), 1);
        assert!(
            runtime.block_on(queue.run(WorkLane::Paid, SteadyMicros(0), || Ok(true))).unwrap(),
            "its thread goes on"
        );
    }
}
