//! The one way in, for every transport: authenticate (401), scope (403), rate (429), parameters (422), format (406),
//! credits (402), work (404, 503), commit of the debit, answer.
//!
//! Every step is a type that the step before returned (see `accounts::admission`), and an [`Answer`] to a metered call
//! can only be made with its [`Receipt`]. Heavy work runs on blocking threads, one permit each; light work where it is.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use tokio::sync::OwnedSemaphorePermit;
use tokio::task::JoinHandle;

use super::corpus::Corpus;
use super::error::{ApiError, ErrorCode, Violation};
use super::idempotency_key::IdempotencyKey;
use super::map_cache::MapPart;
use super::operation::{
    Access, Anyone, Cancellation, Charge, CheckedCall, Handler, KeyHolder, Metering, Operation, Prepared, Reader,
    Weight, Work,
};
use super::parameters::{Arguments, check};
use super::reply::{FORMAT, Format, Reply};
use super::service::Service;
use super::unread::UnreadShare;
use super::visitors::VisitorPass;
use crate::accounts::admission::{Paced, PendingDebit, Receipt, Reserved};
use crate::accounts::blocking;
use crate::accounts::changes::SignedIn;
use crate::accounts::error::Refusal;
use crate::accounts::idempotency::Idempotency;
use crate::accounts::ids::Credits;
use crate::accounts::pace::PaceLeft;
use crate::accounts::scope::ScopeSet;
use crate::clock::Now;
use crate::makers::MakersTurn;

/// What a transport hands over.
#[derive(Debug)]
pub struct Call<'c> {
    /// The snapshot that everything in the answer comes from.
    pub corpus: Arc<Corpus>,
    pub operation: &'static Operation,
    pub asker: Asker<'c>,
    pub arguments: Arguments,
    /// The form that the caller accepts; none if it accepts none of those offered.
    pub format: Option<Format>,
    /// What is wrong with it, if it is not a good one.
    pub idempotency_key: Result<Option<IdempotencyKey<'c>>, Violation>,
    /// The versions of the answer that the caller holds, as `If-None-Match` lists them.
    pub known_versions: Option<&'c str>,
    pub progress: &'c Progress,
}

/// Who calls, as the transport knows it.
#[derive(Debug)]
pub enum Asker<'c> {
    /// What stands behind `Bearer`, if anything does.
    Key(Option<&'c str>),
    /// A person without an account, whom the operator's settings let in; for pages alone.
    Visitor(VisitorPass),
    /// A person who is signed in; their account pays.
    Person(&'c SignedIn),
}

impl Asker<'_> {
    fn key(&self) -> Option<&str> {
        match self {
            Self::Key(key) => *key,
            Self::Visitor(_) | Self::Person(_) => None,
        }
    }
}

/// How far a call has come. It is the door's, so that the log has it even if the caller disconnects on the way.
#[derive(Debug, Default)]
pub struct Progress {
    operation: OnceLock<&'static str>,
    key: OnceLock<String>,
    charged: AtomicU32,
}

impl Progress {
    pub fn operation(&self) -> Option<&'static str> {
        self.operation.get().copied()
    }

    /// The beginning of the key, once it is known to be good.
    pub fn key(&self) -> Option<&str> {
        self.key.get().map(String::as_str)
    }

    /// Credits of a debit that began and was not given back.
    pub fn charged(&self) -> u32 {
        self.charged.load(Ordering::Relaxed)
    }

    /// Adds a call that was one of several in a request.
    pub fn include(&self, call: &Self) {
        if let Some(operation) = call.operation() {
            let _ = self.operation.set(operation);
        }
        if let Some(key) = call.key() {
            let _ = self.key.set(key.to_owned());
        }
        self.charged.fetch_add(call.charged(), Ordering::Relaxed);
    }

    fn charge(&self, credits: u32) {
        self.charged.store(credits, Ordering::Relaxed);
    }
}

/// What a call came to.
#[derive(Debug)]
pub enum Outcome {
    Answered(Answer),
    /// The caller has this version already; that is free.
    Unchanged {
        version: String,
        left: Option<PaceLeft>,
    },
    Failed(Failure),
}

#[derive(Debug)]
pub struct Answer {
    pub reply: Reply,
    /// Proof of payment; none where the operation is open to all, and for visitors.
    pub receipt: Option<Receipt>,
    /// Changes whenever a byte of the answer does.
    pub version: Option<String>,
    /// Its bytes count for the account until this is dropped.
    pub unread: Option<UnreadShare>,
}

#[derive(Debug)]
pub struct Failure {
    pub error: ApiError,
    /// What the key may still do, where that was found out.
    pub left: Option<Box<PaceLeft>>,
}

impl Service {
    /// Lets a call in, does its work and answers it.
    pub async fn call(&self, call: Call<'_>) -> Outcome {
        // One call has one operation.
        let _ = call.progress.operation.set(call.operation.name);
        let outcome = match call.operation.access {
            Access::Open(handler) => {
                self.open_call(&call, handler).await.map_err(|error| Failure { error, left: None })
            }
            Access::Metered(metering, handler) => self.metered_call(&call, metering, handler, |holder| holder).await,
            Access::Law(metering, handler) => match &call.asker {
                Asker::Key(_) | Asker::Person(_) => self.metered_call(&call, metering, handler, Reader::from).await,
                Asker::Visitor(pass) => self.visitors_call(&call, metering, handler, pass).await,
            },
        };
        outcome.unwrap_or_else(Outcome::Failed)
    }

    async fn open_call(&self, call: &Call<'_>, handler: Handler<Anyone>) -> Result<Outcome, ApiError> {
        let prepared = self.prepare(call, handler, Anyone, self.clock.now())?;
        let turn = self.turn(&call.corpus, prepared.weight, prepared.makes.as_ref()).await?;
        let Prepared { version, work, .. } = prepared;
        let reply = turn.work(work, &self.given_up).await?;
        Ok(Outcome::Answered(Answer { reply, receipt: None, version, unread: None }))
    }

    /// The pass is what the call costs: it was counted against the visitor's address.
    async fn visitors_call(
        &self,
        call: &Call<'_>,
        metering: Metering,
        handler: Handler<Reader>,
        pass: &VisitorPass,
    ) -> Result<Outcome, Failure> {
        let failed = |error| Failure { error, left: None };
        let scopes = pass.require(metering.any_of).map_err(failed)?;
        let prepared = self.prepare(call, handler, Reader { scopes }, self.clock.now()).map_err(failed)?;
        let version = prepared.version.as_deref();
        if let Some(version) = version.filter(|version| is_known(version, call.known_versions)) {
            return Ok(Outcome::Unchanged { version: version.to_owned(), left: None });
        }
        let turn = self.turn(&call.corpus, prepared.weight, prepared.makes.as_ref()).await.map_err(failed)?;
        let Prepared { version, work, .. } = prepared;
        let reply = turn.work(work, &self.given_up).await.map_err(failed)?;
        Ok(Outcome::Answered(Answer { reply, receipt: None, version, unread: None }))
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

        let holder = KeyHolder { account: paced.account(), scopes: paced.scopes() };
        let mut prepared = self.prepare(call, handler, caller(holder), now).map_err(failed)?;
        let version = prepared.version.take();
        if let Some(version) = version.as_deref().filter(|version| is_known(version, call.known_versions)) {
            return Ok(Outcome::Unchanged { version: version.to_owned(), left });
        }
        let unread = self.unread.of(paced.account()).reserve();
        let unread = unread.ok_or_else(|| failed(ApiError::too_much_unread("this account")))?;
        let cost = Credits(metering.cost.credits.saturating_mul(prepared.units));
        let payment = Payment { service: self, call, paced, cost, now };
        let done = match prepared.charge {
            Charge::BeforeWork => payment.before(prepared).await,
            Charge::AfterWork => payment.after(prepared).await,
        };
        let (reply, receipt) = done.map_err(failed)?;
        Ok(Outcome::Answered(Answer { reply, receipt: Some(receipt), version, unread: Some(unread) }))
    }

    fn admit(&self, call: &Call<'_>, any_of: ScopeSet, now: Now) -> Result<Paced, Failure> {
        let caller = match &call.asker {
            Asker::Person(person) => self.accounts.admit(person, now),
            asker => self.accounts.authenticate(asker.key(), now),
        };
        if let Ok(caller) = &caller {
            let _ = call.progress.key.set(caller.key_prefix());
        }
        let paced = caller.and_then(|caller| caller.require(any_of)).and_then(|scoped| scoped.pace(now));
        paced.map_err(|refusal| {
            let left = if let Refusal::TooFast(too_fast) = &refusal { Some(Box::new(too_fast.left)) } else { None };
            Failure { error: (&refusal).into(), left }
        })
    }

    fn prepare<C>(&self, call: &Call<'_>, handler: Handler<C>, caller: C, now: Now) -> Result<Prepared, ApiError> {
        let arguments = check(call.operation.parameters, &call.arguments)?;
        if let Err(violation) = &call.idempotency_key {
            return Err(ApiError::invalid(vec![violation.clone()]));
        }
        // The parameter wins over what the transport negotiated.
        let format = arguments.get(&FORMAT).or(call.format).ok_or_else(|| not_available(call.operation))?;
        let (accounts, corpus) = (self.accounts(), &call.corpus);
        let body = &call.arguments.body;
        let idempotency_key = call.idempotency_key.as_ref().ok().copied().flatten().map(|key| key.as_str());
        let base_url = self.base_url();
        let cards = self.cards.as_ref();
        let call =
            CheckedCall { caller, accounts, corpus, arguments, body, idempotency_key, base_url, cards, now, format };
        unbroken(|| handler(&call))
    }

    /// The right to work, and to make a part of a map.
    async fn turn(&self, corpus: &Corpus, weight: Weight, makes: Option<&MapPart>) -> Result<Turn, ApiError> {
        match weight {
            Weight::Light => Ok(Turn::Here),
            Weight::Heavy => {
                let began = Instant::now();
                let making = match makes {
                    None => None,
                    Some(part) => match corpus.maps.turn(part).await? {
                        // What others made only has to be handed over.
                        None => return Ok(Turn::Here),
                        turn => turn,
                    },
                };
                let permit = self.heavy_permit().await?;
                Ok(Turn::OnThread { permit, making, queued: stage("queue", began) })
            }
            Weight::Outside => {
                let place = Arc::clone(&self.outside).try_acquire_owned().map_err(|_| ApiError::overloaded())?;
                Ok(Turn::OnThread { permit: place, making: None, queued: ("queue", 0) })
            }
        }
    }
}

fn not_available(operation: &Operation) -> ApiError {
    let offered: Vec<&str> = operation.formats.iter().map(|format| format.media_type()).collect();
    let message = format!("this resource is available as {}; name one of them in Accept", offered.join(", "));
    ApiError::new(ErrorCode::NotAcceptable, message)
}

/// A metered call that is about to be paid for.
struct Payment<'s> {
    service: &'s Service,
    call: &'s Call<'s>,
    paced: Paced,
    cost: Credits,
    now: Now,
}

impl Payment<'_> {
    /// Charges, and works while the debit is committed.
    async fn before(self, prepared: Prepared) -> Result<(Reply, Receipt), ApiError> {
        let (service, call, progress) = (self.service, self.call, self.call.progress);
        let reserved = self.reserve()?;
        // Before the debit: a reservation that is dropped leaves no trace, a debit would need a refund.
        let turn = service.turn(&call.corpus, prepared.weight, prepared.makes.as_ref()).await?;
        let work = turn.work(prepared.work, &service.given_up);
        match reserved {
            Reserved::Replay(replay) => {
                let replay = replay.begin();
                match work.await {
                    Ok(reply) => Ok((reply, replay.settle())),
                    Err(error) => {
                        replay.give_back();
                        Err(error)
                    }
                }
            }
            // Charged before the work runs: a client that disconnects must not search for free.
            Reserved::Fresh(reservation) => {
                let debit = reservation.begin()?;
                progress.charge(debit.cost().0);
                paid_work(debit, work, progress).await
            }
        }
    }

    /// Works, and charges for work that succeeded.
    async fn after(self, prepared: Prepared) -> Result<(Reply, Receipt), ApiError> {
        let turn = self.service.turn(&self.call.corpus, prepared.weight, prepared.makes.as_ref()).await?;
        let mut reply = turn.work(prepared.work, &self.service.given_up).await?;
        let progress = self.call.progress;
        let receipt = match self.reserve()? {
            Reserved::Replay(replay) => replay.begin().settle(),
            Reserved::Fresh(reservation) => {
                let debit = reservation.begin()?;
                progress.charge(debit.cost().0);
                settled(debit, &mut reply, progress).await?
            }
        };
        Ok((reply, receipt))
    }

    fn reserve(self) -> Result<Reserved, ApiError> {
        let Self { call, paced, cost, now, .. } = self;
        let key = call.idempotency_key.as_ref().ok().copied().flatten();
        let idempotency = key.map(|key| Idempotency::new(key.as_str(), &fingerprint(call)));
        paced.reserve(call.operation.name, cost, idempotency, now).map_err(|refusal| ApiError::from(&refusal))
    }
}

/// A stage of a call, with its microseconds.
type Stage = (&'static str, u32);

fn stage(name: &'static str, began: Instant) -> Stage {
    (name, u32::try_from(began.elapsed().as_micros()).unwrap_or(u32::MAX))
}

/// Runs work whose debit is on its way. The debit stays outside of what may unwind, and goes back if the work fails.
async fn paid_work(
    debit: PendingDebit,
    work: impl Future<Output = Result<Reply, ApiError>>,
    progress: &Progress,
) -> Result<(Reply, Receipt), ApiError> {
    match work.await {
        Ok(mut reply) => {
            let receipt = settled(debit, &mut reply, progress).await?;
            Ok((reply, receipt))
        }
        Err(error) => {
            // Where the refund itself must wait for the ledger, the caller still learns what went wrong with the call.
            if debit.refund().await.is_ok() {
                progress.charge(0);
            }
            Err(error)
        }
    }
}

async fn settled(debit: PendingDebit, reply: &mut Reply, progress: &Progress) -> Result<Receipt, ApiError> {
    let began = Instant::now();
    // Without a receipt nothing was charged.
    let receipt = debit.settle().await.inspect_err(|_| progress.charge(0))?;
    reply.stages.push(stage("commit", began));
    Ok(receipt)
}

/// The right to work now.
enum Turn {
    Here,
    OnThread {
        permit: OwnedSemaphorePermit,
        /// Where others wait for what the work makes.
        making: Option<MakersTurn<MapPart>>,
        /// How long that took.
        queued: Stage,
    },
}

impl Turn {
    async fn work(self, work: Work, given_up: &Arc<AtomicU64>) -> Result<Reply, ApiError> {
        let cancellation = Cancellation::new(given_up);
        match self {
            // Nothing can tell that the caller disconnected before this is done.
            Self::Here => unbroken(|| work(&cancellation)),
            Self::OnThread { permit, making, queued } => {
                let cancellation = Arc::new(cancellation);
                let watched = Arc::clone(&cancellation);
                let thread = tokio::task::spawn_blocking(move || {
                    // Given back when the work ends, not when its caller disconnects.
                    let _held = (permit, making);
                    blocking::allowed(|| unbroken(|| work(&watched)))
                });
                let mut awaited = Awaited { thread, cancellation };
                let done = (&mut awaited.thread).await;
                let mut reply =
                    done.unwrap_or_else(|error| Err(ApiError::internal(format!("the work's thread: {error}"))))?;
                reply.stages.push(queued);
                Ok(reply)
            }
        }
    }
}

/// Work on a thread that a caller waits for. Dropped when the caller disconnects: work that did not begin is not done, and
/// what began learns of it when it looks.
struct Awaited<T> {
    thread: JoinHandle<T>,
    cancellation: Arc<Cancellation>,
}

impl<T> Drop for Awaited<T> {
    fn drop(&mut self) {
        self.cancellation.cancel();
        self.thread.abort();
    }
}

/// A broken promise inside of one call is that call's error, not the end of the service.
fn unbroken<T>(work: impl FnOnce() -> Result<T, ApiError>) -> Result<T, ApiError> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without a message");
        Err(ApiError::internal(format!("panicked: {text}")))
    })
}

/// Two requests with one idempotency key are the same if these words are.
fn fingerprint(call: &Call<'_>) -> String {
    let body = if call.arguments.body.is_empty() { None } else { serde_json::to_string(&call.arguments.body).ok() };
    let mut words = vec![call.operation.name];
    words.extend(call.arguments.path.iter().map(|(_, value)| value.as_str()));
    let mut query: Vec<_> = call.arguments.query.iter().collect();
    query.sort();
    words.extend(query.into_iter().flat_map(|(name, value)| [name.as_str(), value.as_str()]));
    words.extend(body.as_deref());
    words.join("\0")
}

/// Whether an `If-None-Match` list names the version.
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
    fn work_whose_caller_disconnects_learns_of_it_and_is_counted_once() {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
        let given_up = Arc::new(AtomicU64::new(0));
        let permits = Arc::new(tokio::sync::Semaphore::new(1));
        let (begun, has_begun) = std::sync::mpsc::channel();
        let (ended, has_ended) = std::sync::mpsc::channel();
        let work: Work = Box::new(move |cancellation| {
            begun.send(cancellation.is_cancelled()).unwrap();
            let deadline = Instant::now() + Duration::from_secs(30);
            while !cancellation.is_cancelled() && Instant::now() < deadline {
                std::thread::yield_now();
            }
            ended.send(cancellation.is_cancelled()).unwrap();
            Err(ApiError::internal("given up"))
        });
        let permit = Arc::clone(&permits).try_acquire_owned().unwrap();
        let turn = Turn::OnThread { permit, making: None, queued: ("queue", 0) };
        let counted = Arc::clone(&given_up);
        let call = runtime.spawn(async move { turn.work(work, &counted).await.is_ok() });
        assert!(!has_begun.recv().unwrap(), "its caller waits");
        call.abort();
        assert!(has_ended.recv().unwrap());
        assert_eq!(given_up.load(Ordering::Relaxed), 1);
        drop(runtime.block_on(permits.acquire()).unwrap());
    }

    #[test]
    fn a_panic_is_an_error_of_its_call_and_its_text_is_for_the_log() {
        let error = unbroken::<()>(|| panic!("index 7")).unwrap_err();
        assert_eq!(error.code, ErrorCode::Internal);
        assert!(error.internal.unwrap().contains("index 7") && !error.message.contains("index 7"));
    }
}
