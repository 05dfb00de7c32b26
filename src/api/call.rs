//! The one way in, for every door: authenticate (401), scope (403), rate (429), parameters (422), format (406), credits
//! (402), work (404, 503), commit of the debit, answer.
//!
//! Every step is a type that the step before returned (see `accounts::admission`), and an [`Answer`] to a metered call
//! can only be made with its [`Receipt`]. Heavy work runs on blocking threads, one permit each; light work where it is.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use tokio::task::JoinHandle;

use super::corpus::Corpus;
use super::error::{ApiError, ErrorCode};
use super::operation::{Access, Asked, Caller, FORMAT_PARAMETER, Operation, Prepared, Weight, Work};
use super::parameters::{Arguments, Checked, Rejected, check};
use super::reply::{Format, Reply};
use super::service::Service;
use super::unread::UnreadShare;
use crate::accounts::admission::{Paced, PendingDebit, Receipt, Reserved};
use crate::accounts::error::Refusal;
use crate::accounts::idempotency::Idempotency;
use crate::accounts::ids::{AccountId, Credits};
use crate::accounts::pace::PaceLeft;
use crate::clock::Now;

/// What a door hands over.
#[derive(Debug)]
pub struct Call<'c> {
    /// The snapshot that everything in the answer comes from.
    pub corpus: Arc<Corpus>,
    pub operation: &'static Operation,
    /// What stands behind `Bearer`.
    pub key: Option<&'c str>,
    pub arguments: Arguments,
    /// The form that the caller accepts; none if it accepts none of those offered.
    pub format: Option<Format>,
    pub idempotency_key: Option<&'c str>,
    /// The versions of the answer that the caller holds, as `If-None-Match` lists them.
    pub known_versions: Option<&'c str>,
    pub progress: &'c Progress,
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
    /// Proof of payment; none where the operation is open to all.
    pub receipt: Option<Receipt>,
    /// Changes whenever a byte of the answer does.
    pub version: Option<String>,
    /// Its bytes count for the account until this is dropped.
    pub unread: Option<UnreadShare<AccountId>>,
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
        let corpus = Arc::clone(&call.corpus);
        let outcome = match call.operation.access {
            Access::Open => self.open_call(&call, corpus).await.map_err(|error| Failure { error, left: None }),
            Access::Metered { .. } => self.metered_call(&call, corpus).await,
        };
        outcome.unwrap_or_else(Outcome::Failed)
    }

    async fn open_call(&self, call: &Call<'_>, corpus: Arc<Corpus>) -> Result<Outcome, ApiError> {
        let prepared = self.prepare(call, &corpus, None, self.clock.now())?;
        let (turn, queued) = self.turn(prepared.weight).await?;
        let mut reply = turn.work(prepared.work, &self.given_up).await?;
        reply.stages.extend(queued);
        Ok(Outcome::Answered(Answer { reply, receipt: None, version: prepared.version, unread: None }))
    }

    async fn metered_call(&self, call: &Call<'_>, corpus: Arc<Corpus>) -> Result<Outcome, Failure> {
        let now = self.clock.now();
        let paced = self.admit(call, now)?;
        let left = Some(paced.left());
        let failed = |error| Failure { error, left: left.map(Box::new) };

        let prepared = self.prepare(call, &corpus, Some(paced.account()), now).map_err(failed)?;
        if let Some(version) = prepared.version.as_deref().filter(|version| is_known(version, call.known_versions)) {
            return Ok(Outcome::Unchanged { version: version.to_owned(), left });
        }
        let unread = self.unread.reserve(paced.account());
        let unread = unread.ok_or_else(|| failed(ApiError::too_much_unread("this account")))?;
        let reserved = self.reserve(call, paced, prepared.units, now).map_err(failed)?;
        // Before the debit: a reservation that is dropped leaves no trace, a debit would need a refund.
        let (turn, queued) = self.turn(prepared.weight).await.map_err(failed)?;
        let (mut reply, receipt) = match reserved {
            Reserved::Replay(receipt) => (turn.work(prepared.work, &self.given_up).await.map_err(failed)?, receipt),
            Reserved::Fresh(reservation) => {
                // Charged before the work runs: a client that disconnects must not search for free.
                let debit = reservation.begin().map_err(|error| failed(error.into()))?;
                call.progress.charge(debit.cost().0);
                paid_work(debit, turn.work(prepared.work, &self.given_up), call.progress).await.map_err(failed)?
            }
        };
        reply.stages.extend(queued);
        Ok(Outcome::Answered(Answer { reply, receipt: Some(receipt), version: prepared.version, unread: Some(unread) }))
    }

    fn admit(&self, call: &Call<'_>, now: Now) -> Result<Paced, Failure> {
        let Access::Metered { any_of, .. } = call.operation.access else {
            unreachable!("only metered calls are admitted")
        };
        let caller = self.accounts.authenticate(call.key, now);
        if let Ok(caller) = &caller {
            let _ = call.progress.key.set(caller.key_prefix());
        }
        let paced = caller.and_then(|caller| caller.require(any_of)).and_then(|scoped| scoped.pace(now));
        paced.map_err(|refusal| {
            let left = if let Refusal::TooFast(too_fast) = &refusal { Some(Box::new(too_fast.left)) } else { None };
            Failure { error: (&refusal).into(), left }
        })
    }

    fn prepare(
        &self,
        call: &Call<'_>,
        corpus: &Arc<Corpus>,
        account: Option<AccountId>,
        now: Now,
    ) -> Result<Prepared, ApiError> {
        let arguments = check(call.operation.parameters, &call.arguments).map_err(|rejected| match rejected {
            Rejected::Invalid(violations) => ApiError::invalid(violations),
            Rejected::NoSuchId(id) => {
                ApiError::not_found(format!("nothing has the id '{id}': ids are UUIDs, as the service answers them"))
            }
        })?;
        let format = wanted_format(call, &arguments)?;
        let asked = Asked { accounts: self.accounts(), corpus, arguments: &arguments, account, now, format };
        unbroken(|| (call.operation.prepare)(&asked))
    }

    fn reserve(&self, call: &Call<'_>, paced: Paced, units: u32, now: Now) -> Result<Reserved, ApiError> {
        let Access::Metered { cost, .. } = call.operation.access else {
            unreachable!("only metered calls are reserved for")
        };
        let idempotency = call.idempotency_key.map(|key| Idempotency::new(key, &fingerprint(call)));
        let cost = Credits(cost.credits.saturating_mul(units));
        paced.reserve(call.operation.name, cost, idempotency, now).map_err(|refusal| ApiError::from(&refusal))
    }

    /// The right to work, and how long heavy work waited for it.
    async fn turn(&self, weight: Weight) -> Result<(Turn, Option<Stage>), ApiError> {
        match weight {
            Weight::Light => Ok((Turn::Here, None)),
            Weight::Heavy => {
                let began = Instant::now();
                let permit = self.heavy_permit().await?;
                Ok((Turn::OnThread(permit), Some(stage("queue", began))))
            }
        }
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
            let began = Instant::now();
            // Without a receipt nothing was charged.
            let receipt = debit.settle().await.inspect_err(|_| progress.charge(0))?;
            reply.stages.push(stage("commit", began));
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

/// The right to work now.
enum Turn {
    Here,
    OnThread(tokio::sync::OwnedSemaphorePermit),
}

impl Turn {
    async fn work(self, work: Work, given_up: &Arc<AtomicU64>) -> Result<Reply, ApiError> {
        let caller = Caller::new(given_up);
        match self {
            // Nothing can tell that the caller left before this is done.
            Self::Here => unbroken(|| work(&caller)),
            Self::OnThread(permit) => {
                let caller = Arc::new(caller);
                let waited_for = Arc::clone(&caller);
                let thread = tokio::task::spawn_blocking(move || {
                    // Given back when the work ends, not when its caller hangs up.
                    let _permit = permit;
                    unbroken(|| work(&waited_for))
                });
                let mut waiting = Waiting { thread, caller };
                (&mut waiting.thread)
                    .await
                    .unwrap_or_else(|error| Err(ApiError::internal(format!("the work's thread: {error}"))))
            }
        }
    }
}

/// A caller who waits for a thread. One who hangs up leaves: work that did not begin is not done, and what began learns of
/// it when it looks.
struct Waiting<T> {
    thread: JoinHandle<T>,
    caller: Arc<Caller>,
}

impl<T> Drop for Waiting<T> {
    fn drop(&mut self) {
        self.caller.leave();
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

/// The parameter wins over what the door asks for, where there is one.
fn wanted_format(call: &Call<'_>, arguments: &Checked) -> Result<Format, ApiError> {
    let has_parameter = call.operation.parameters.iter().any(|parameter| parameter.name == FORMAT_PARAMETER);
    let named = if has_parameter { arguments.choice_if_any(FORMAT_PARAMETER) } else { None };
    named.and_then(Format::named).or(call.format).ok_or_else(|| {
        let offered: Vec<&str> = call.operation.formats.iter().map(|format| format.media_type()).collect();
        let message = format!("this resource is available as {}; name one of them in Accept", offered.join(", "));
        ApiError::new(ErrorCode::NotAcceptable, message)
    })
}

/// Two requests with one idempotency key are the same if these words are.
fn fingerprint(call: &Call<'_>) -> String {
    let mut words = vec![call.operation.name];
    words.extend(call.arguments.path.iter().map(|(_, value)| value.as_str()));
    let mut query: Vec<_> = call.arguments.query.iter().collect();
    query.sort();
    words.extend(query.into_iter().flat_map(|(name, value)| [name.as_str(), value.as_str()]));
    words.join("\0")
}

/// Whether an `If-None-Match` list names the version.
pub(crate) fn is_known(version: &str, known: Option<&str>) -> bool {
    let quoted = format!("\"{version}\"");
    known.is_some_and(|known| {
        known.split(',').map(str::trim).any(|tag| tag == "*" || tag.strip_prefix("W/").unwrap_or(tag) == quoted)
    })
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
    fn work_whose_caller_hangs_up_learns_of_it_and_is_counted_once() {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
        let given_up = Arc::new(AtomicU64::new(0));
        let permits = Arc::new(tokio::sync::Semaphore::new(1));
        let (begun, has_begun) = std::sync::mpsc::channel();
        let (ended, has_ended) = std::sync::mpsc::channel();
        let work: Work = Box::new(move |caller| {
            begun.send(caller.has_left()).unwrap();
            let patience = Instant::now() + Duration::from_secs(30);
            while !caller.has_left() && Instant::now() < patience {
                std::thread::yield_now();
            }
            ended.send(caller.has_left()).unwrap();
            Err(ApiError::internal("given up"))
        });
        let turn = Turn::OnThread(Arc::clone(&permits).try_acquire_owned().unwrap());
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
