//! The steps of a metered call as types. Each step is a method of the result of the step before, so
//! no step can be skipped.
//!
//! `authenticate` (401) -> [`Caller::require`] (403) -> [`Scoped::check_rate`] (429) -> the caller checks parameters (422) ->
//! [`RateChecked::reserve`] (402) -> [`Reservation::begin`] starts the debit's commit -> the work runs at the same time ->
//! [`PendingDebit::settle`] returns the [`MeteringReceipt`], which the credit headers require, or [`PendingDebit::refund`]
//! returns the credits if the work failed.

use std::borrow::Cow;
use std::sync::Arc;

use hornbook_base::clock::{Now, UnixMillis};

use super::Accounts;
use super::balance::{HoldRefused, MonthlyUnits, Remaining};
use super::budget::BudgetStatus;
use super::changes::{CREDITS_MAX, SignedIn};
use super::directory::KeyState;
use super::error::{BadKey, LedgerError, Refusal};
use super::idempotency::{Claim, Claimed, Idempotency, ReplaySlot};
use super::ids::{AccountId, Credits, EntryNumber, KeyId};
use super::job::{CallHold, EntrySlot, Post, PostKind, PostReply};
use super::key::{KeyKind, PlainKey};
use super::leases::local::LeaseTime;
use super::line_budgets;
use super::queue::{Queued, WriterQueue};
use super::rate_limit::RateRemaining;
use super::reply::{ReplyReceiver, reply_channel};
use super::scope::ScopeSet;
use super::shared::SharedAccounts;
use super::tier::Tier;

impl Accounts {
    /// Identifies the caller by an API key. `key` is the value after `Bearer` in the header. The access token of a
    /// signed-in agent is refused.
    pub fn authenticate(&self, key: Option<&str>, now: Now) -> Result<Caller, Refusal> {
        let plain = plain_key(key)?;
        if plain.kind() == KeyKind::Agent {
            return Err(Refusal::Key(BadKey::ForAgentsOnly));
        }
        self.caller(&plain, now)
    }

    /// The same where agents call: by an API key or by the access token of a signed-in agent.
    pub fn authenticate_agent(&self, key: Option<&str>, now: Now) -> Result<Caller, Refusal> {
        self.caller(&plain_key(key)?, now)
    }

    /// Whether the directory has this key, or has no need to: nobody made a key with a wrong form.
    pub fn knows_key(&self, key: &str) -> bool {
        PlainKey::parse(key).is_none_or(|plain| self.shared.directory().find(&plain).is_some())
    }

    fn caller(&self, plain: &PlainKey, now: Now) -> Result<Caller, Refusal> {
        let refuse = |why| Refusal::Key(why);
        let directory = self.shared.directory();
        let key = Arc::clone(directory.find(plain).ok_or(refuse(BadKey::Unknown))?);
        drop(directory);
        if !key.is_live(now.wall) {
            return Err(refuse(BadKey::RevokedOrExpired));
        }
        if !key.account.standing().approved {
            return Err(refuse(BadKey::AccountNotApproved));
        }
        key.used(now.wall);
        Ok(Caller { shared: Arc::clone(&self.shared), key })
    }

    /// The same for a person who is signed in: their calls are metered on the account like those of a key.
    pub fn authenticate_person(&self, person: &SignedIn, now: Now) -> Result<Caller, Refusal> {
        let refuse = |why| Refusal::Key(why);
        let directory = self.shared.directory();
        let key = directory.register.person(person.account).and_then(|person| directory.key(person.web_key));
        let key = Arc::clone(key.ok_or(refuse(BadKey::Unknown))?);
        drop(directory);
        if !key.account.standing().approved {
            return Err(refuse(BadKey::AccountNotApproved));
        }
        key.used(now.wall);
        Ok(Caller { shared: Arc::clone(&self.shared), key })
    }
}

fn plain_key(key: Option<&str>) -> Result<PlainKey, Refusal> {
    let key = key.ok_or(Refusal::Key(BadKey::Missing))?;
    PlainKey::parse(key).ok_or(Refusal::Key(BadKey::Malformed))
}

/// A caller with a valid key.
pub struct Caller {
    shared: Arc<SharedAccounts>,
    key: Arc<KeyState>,
}

impl Caller {
    pub fn account(&self) -> AccountId {
        self.key.account.id
    }

    pub fn key(&self) -> KeyId {
        self.key.id
    }

    /// The public prefix of the key, for the log.
    pub fn key_prefix(&self) -> String {
        self.key.prefix()
    }

    pub fn tier(&self) -> Tier {
        self.key.account.standing().tier
    }

    /// Refuses the call unless the key has one of these scopes.
    pub fn require(self, any_of: ScopeSet) -> Result<Scoped, Refusal> {
        let has = self.key.scopes;
        if has.has_any_of(any_of) { Ok(Scoped(self)) } else { Err(Refusal::Scope { has, needs_any_of: any_of }) }
    }
}

/// A caller that may call the operation.
pub struct Scoped(Caller);

impl Scoped {
    /// Counts the call against the key's limits per minute and per day.
    pub fn check_rate(self, now: Now) -> Result<RateChecked, Refusal> {
        let Caller { shared, key } = self.0;
        let limits = shared.settings.tariff.limits(key.account.standing().tier);
        let left = key.rate_limiter().take(limits, now).map_err(Refusal::TooFast)?;
        Ok(RateChecked { shared, key, left })
    }
}

/// A caller within the rate limits.
pub struct RateChecked {
    shared: Arc<SharedAccounts>,
    key: Arc<KeyState>,
    left: RateRemaining,
}

/// The result of reserving credits.
pub enum Reserved {
    Fresh(Reservation),
    /// A call with this idempotency key was charged before. It is answered again without a new debit.
    Replay(Replay),
}

impl RateChecked {
    /// For the headers of responses without a receipt.
    pub fn left(&self) -> RateRemaining {
        self.left
    }

    pub fn account(&self) -> AccountId {
        self.key.account.id
    }

    pub fn key(&self) -> KeyId {
        self.key.id
    }

    /// All scopes of the key.
    pub fn scopes(&self) -> ScopeSet {
        self.key.scopes
    }

    /// The price of the call. Refused like the call itself if the account or a budget does not allow it.
    pub fn price(&self, cost: Credits, now: Now) -> Result<CallPrice, Refusal> {
        let Self { shared, key, left } = self;
        let units = shared.monthly_units(key, now);
        let (hold, remaining) = hold(shared, key, cost, units, now.wall, false)?;
        let budget = line_budgets::status(key, now.wall);
        hold.release(key);
        Ok(CallPrice { left: *left, remaining, budget, cost })
    }

    /// Holds the cost on the account, so that no other call can spend it.
    pub fn reserve(
        self,
        operation: &'static str,
        cost: Credits,
        idempotency: Option<Idempotency>,
        now: Now,
    ) -> Result<Reserved, Refusal> {
        let Self { shared, key, left } = self;
        assert!(cost.0 <= CREDITS_MAX, "{operation} costs {cost} credits, more than a ledger entry can store");
        let may_lease = idempotency.is_none() && shared.may_lease(&key, left);
        if !may_lease {
            shared.queue.check_open()?;
        }
        let units = shared.monthly_units(&key, now);
        let claim = match idempotency {
            None => None,
            Some(idempotency) => {
                let horizon_millis = shared.settings.retry_horizon_millis();
                match Claim::take(&shared.retries, horizon_millis, key.id, idempotency, now.wall)? {
                    Claimed::First(claim) => Some(claim),
                    Claimed::Replay(replaying) => {
                        return Ok(Reserved::Replay(Replay { replaying, key, units, left, at: now.wall }));
                    }
                }
            }
        };
        let (hold, remaining) = hold(&shared, &key, cost, units, now.wall, may_lease)?;
        let budget = line_budgets::status(&key, now.wall);
        let call = AdmittedCall { operation, cost, hold, units, remaining, left, budget, now, key, shared, may_lease };
        // A call that a lease covers does not need the ledger now.
        if call.hold.balance.lease.is_none()
            && let Err(error) = call.shared.queue.check_open()
        {
            call.hold.release(&call.key);
            return Err(error.into());
        }
        Ok(Reserved::Fresh(Reservation { call: Some(call), claim }))
    }
}

impl SharedAccounts {
    /// Whether a call of this key may be charged to a lease. A budget is counted in the ledger alone, and so is each call
    /// near a limit or while many wait to be reported.
    fn may_lease(&self, key: &KeyState, left: RateRemaining) -> bool {
        let RateRemaining { limits, in_minute, in_day, .. } = left;
        self.journal.as_ref().is_some_and(|journal| {
            self.settings.lease_millis > 0
                && journal.queue.check_open().is_ok()
                && in_minute > limits.per_minute / 10
                && in_day > limits.per_day / 10
                && key.unreported() < journal.unreported_max(limits.per_minute.min(limits.per_day))
                && key.line().all(|key| key.spending.budget().is_none())
        })
    }

    /// Where a debit or refund with this hold is queued.
    fn queue_for(&self, hold: CallHold) -> &WriterQueue {
        match &self.journal {
            Some(journal) if hold.balance.lease.is_some() => &journal.queue,
            _ => &self.queue,
        }
    }

    fn monthly_units(&self, key: &KeyState, now: Now) -> MonthlyUnits {
        let limit = self.settings.tariff.monthly_units(key.account.standing().company_formed);
        MonthlyUnits { month: now.wall.month().0, limit }
    }
}

/// Holds the cost of a call on the budgets of its key and on its account, on all of them or on none.
fn hold(
    shared: &SharedAccounts,
    key: &KeyState,
    cost: Credits,
    units: MonthlyUnits,
    at: UnixMillis,
    may_lease: bool,
) -> Result<(CallHold, Remaining), Refusal> {
    let budgets = line_budgets::hold(key, cost.0, at).map_err(|spent| Refusal::Budget { cost, spent })?;
    let held = key.account.balance.hold(cost.0, units, may_lease.then(LeaseTime::now));
    let (balance, remaining) = held.map_err(|refused| {
        line_budgets::release(key, budgets, cost.0, at);
        match refused {
            HoldRefused::TooFew(remaining) => Refusal::Credits { cost, remaining },
            HoldRefused::LeasedElsewhere => {
                shared.journal.iter().for_each(|journal| journal.recall(key.account.id));
                Refusal::Ledger(LedgerError::Overtaken)
            }
        }
    })?;
    if balance.lease.is_some() {
        key.count_unreported();
    }
    Ok((CallHold { balance, budgets, cost: cost.0, at }, remaining))
}

/// What a call would cost and leave. It was not made, and nothing was charged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CallPrice {
    pub left: RateRemaining,
    pub remaining: Remaining,
    pub budget: Option<BudgetStatus>,
    pub cost: Credits,
}

/// A call that was charged before and is answered again. If dropped before it begins, it does not count.
pub struct Replay {
    replaying: ReplaySlot,
    key: Arc<KeyState>,
    units: MonthlyUnits,
    left: RateRemaining,
    at: UnixMillis,
}

impl Replay {
    /// The work begins. From here on, a client that disconnects has used one of its replays.
    pub fn begin(mut self) -> BegunReplay {
        self.replaying.count();
        BegunReplay(self)
    }
}

/// A replay whose work is in progress.
pub struct BegunReplay(Replay);

impl BegunReplay {
    /// The work succeeded: returns the receipt of the first call, with the current balance.
    pub fn settle(self) -> MeteringReceipt {
        let Replay { replaying, key, units, left, at } = self.0;
        let (charged, entry) = (replaying.charged.cost, replaying.charged.entry);
        let (remaining, budget) = (key.account.balance.remaining(units), line_budgets::status(&key, at));
        MeteringReceipt { left, remaining, budget, charged, entry, replayed: true }
    }

    /// The work failed: this replay does not count.
    pub fn give_back(self) {
        self.0.replaying.give_back();
    }
}

struct AdmittedCall {
    shared: Arc<SharedAccounts>,
    key: Arc<KeyState>,
    operation: &'static str,
    cost: Credits,
    hold: CallHold,
    units: MonthlyUnits,
    remaining: Remaining,
    left: RateRemaining,
    /// The budget that is nearest to its end, with this call's hold subtracted.
    budget: Option<BudgetStatus>,
    now: Now,
    may_lease: bool,
}

impl AdmittedCall {
    fn post(&self, kind: PostKind, placed: &EntrySlot) -> Post {
        Post {
            kind,
            key: Arc::clone(&self.key),
            operation: Cow::Borrowed(self.operation),
            cost: self.cost,
            at: self.now.wall,
            hold: self.hold,
            units: self.units,
            placed: placed.clone(),
            claim: None,
            promise: None,
            journal_number: None,
            may_lease: self.may_lease,
        }
    }

    fn receipt(&self, remaining: Remaining, entry: Option<EntryNumber>) -> MeteringReceipt {
        let Self { left, budget, cost: charged, .. } = *self;
        MeteringReceipt { left, remaining, budget, charged, entry, replayed: false }
    }
}

/// Credits held for one call. Dropping it releases them.
pub struct Reservation {
    call: Option<AdmittedCall>,
    claim: Option<Claim>,
}

impl Reservation {
    /// Queues the debit. From here on, a client that disconnects has paid.
    pub fn begin(mut self) -> Result<PendingDebit, LedgerError> {
        let Some(call) = self.call.take() else { return Err(LedgerError::Closed) };
        let placed = EntrySlot::default();
        if call.cost.0 == 0 {
            let receipt = call.receipt(call.remaining, None);
            return Ok(PendingDebit { call, placed, debit: Debit::Answered(receipt), claim: None });
        }
        let claim = self.claim.take().map(Arc::new);
        let mut awaited = None;
        let queued = call.shared.queue_for(call.hold).debit(call.now.steady, |queued| {
            let promise = (queued == Queued::AwaitCommit).then(|| {
                let (promise, ticket) = reply_channel();
                awaited = Some(ticket);
                promise
            });
            Post { claim: claim.clone(), promise, ..call.post(PostKind::Debit, &placed) }
        });
        let debit = match queued.map(|_| awaited) {
            Ok(Some(ticket)) => Debit::Awaited(ticket),
            Ok(None) => Debit::Answered(call.receipt(call.remaining, None)),
            Err(error) => {
                call.hold.release(&call.key);
                return Err(error);
            }
        };
        Ok(PendingDebit { call, placed, debit, claim })
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if let Some(call) = self.call.take() {
            call.hold.release(&call.key);
        }
    }
}

enum Debit {
    /// The call is free, or it is answered before its commit.
    Answered(MeteringReceipt),
    Awaited(ReplyReceiver<PostReply>),
}

/// A debit that waits for its commit. If dropped, it stays charged: a client that disconnects must
/// not search for free.
pub struct PendingDebit {
    call: AdmittedCall,
    placed: EntrySlot,
    debit: Debit,
    /// Kept until the call has ended; see [`Post::claim`].
    claim: Option<Arc<Claim>>,
}

impl std::fmt::Debug for PendingDebit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PendingDebit").field("cost", &self.call.cost).finish_non_exhaustive()
    }
}

impl PendingDebit {
    /// The credits that are charged unless the debit is refunded.
    pub fn cost(&self) -> Credits {
        self.call.cost
    }

    /// The work succeeded: returns the receipt when the debit is as durable as the mode requires.
    pub async fn settle(self) -> Result<MeteringReceipt, LedgerError> {
        match self.debit {
            Debit::Answered(receipt) => Ok(store_early_charge(receipt, self.claim.as_deref())),
            Debit::Awaited(ticket) => receipt_of(&self.call, ticket.await),
        }
    }

    /// Like [`Self::settle`], for work that is one part of a larger operation: if the operation
    /// fails, the debit can still be refunded.
    pub async fn settle_partial(self) -> Result<(MeteringReceipt, Self), LedgerError> {
        let Self { call, placed, debit, claim } = self;
        let receipt = match debit {
            Debit::Answered(receipt) => store_early_charge(receipt, claim.as_deref()),
            Debit::Awaited(ticket) => receipt_of(&call, ticket.await)?,
        };
        Ok((receipt, Self { call, placed, debit: Debit::Answered(receipt), claim }))
    }

    /// Like [`Self::settle`], for a caller that may block.
    pub fn settle_blocking(self) -> Result<MeteringReceipt, LedgerError> {
        match self.debit {
            Debit::Answered(receipt) => Ok(store_early_charge(receipt, self.claim.as_deref())),
            Debit::Awaited(ticket) => receipt_of(&self.call, ticket.wait()),
        }
    }

    /// The work failed, and only responses with status 200 are charged. Waits until the refund is
    /// durable. While the ledger is down, this returns an error at once, and the refund is made
    /// when the ledger is back.
    pub async fn refund(self) -> Result<(), LedgerError> {
        match self.queue_refund() {
            None => Ok(()),
            Some(ticket) => ticket.await.unwrap_or(Err(LedgerError::Closed)).map(drop),
        }
    }

    /// Like [`Self::refund`], for a caller that may block.
    pub fn refund_blocking(self) -> Result<(), LedgerError> {
        match self.queue_refund() {
            None => Ok(()),
            Some(ticket) => ticket.wait().unwrap_or(Err(LedgerError::Closed)).map(drop),
        }
    }

    fn queue_refund(self) -> Option<ReplyReceiver<PostReply>> {
        if self.call.cost.0 == 0 {
            return None;
        }
        let (promise, ticket) = reply_channel();
        let post = self.call.post(PostKind::Refund, &self.placed);
        self.call.shared.queue_for(self.call.hold).refund(Post { promise: Some(promise), claim: self.claim, ..post });
        Some(ticket)
    }
}

/// Records the charge in the claim. Until the commit, a retry can find it nowhere else.
fn store_early_charge(receipt: MeteringReceipt, claim: Option<&Claim>) -> MeteringReceipt {
    if let Some(claim) = claim {
        claim.answered(receipt.charged);
    }
    receipt
}

fn receipt_of(call: &AdmittedCall, answer: Option<PostReply>) -> Result<MeteringReceipt, LedgerError> {
    // A call in the journal has no entry yet.
    let Some(posting) = answer.unwrap_or(Err(LedgerError::Closed))? else {
        return Ok(call.receipt(call.remaining, None));
    };
    let remaining = Remaining { wallet: posting.wallet, allotment: posting.allotment };
    Ok(call.receipt(remaining, Some(posting.number)))
}

/// Proof that a call was metered. Only this module creates one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MeteringReceipt {
    left: RateRemaining,
    remaining: Remaining,
    budget: Option<BudgetStatus>,
    charged: Credits,
    entry: Option<EntryNumber>,
    replayed: bool,
}

impl MeteringReceipt {
    pub fn credits_remaining(&self) -> u64 {
        self.remaining.credits()
    }

    pub fn allotment_remaining(&self) -> u32 {
        self.remaining.allotment
    }

    /// The calls that the key has left.
    pub fn left(&self) -> RateRemaining {
        self.left
    }

    /// The budget of the key, or of a key above it, that is nearest to its end.
    pub fn budget(&self) -> Option<BudgetStatus> {
        self.budget
    }

    pub fn charged(&self) -> Credits {
        self.charged
    }

    /// The number of the debit in the ledger, if the response waited for it.
    pub fn entry(&self) -> Option<EntryNumber> {
        self.entry
    }

    /// Combines the receipts of two calls that are answered together: the sum of their costs, and
    /// what is left after the later one.
    #[must_use]
    pub fn and(&self, later: &Self) -> Self {
        let cost = |receipt: &Self| if receipt.replayed { 0 } else { receipt.charged.0 };
        let charged = Credits(cost(self).saturating_add(cost(later)));
        Self { charged, replayed: self.replayed && later.replayed, ..*later }
    }

    /// Whether an earlier call with the same idempotency key paid.
    pub fn is_replay(&self) -> bool {
        self.replayed
    }
}
