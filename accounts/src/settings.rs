//! The operator's settings: prices and limits, durability, retention times.

use hornbook_base::clock::MILLIS_PER_DAY;

use super::people::PasswordCost;
use super::tier::Tariff;
use super::watches::WebhookPolicy;

/// The operator's settings.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    pub tariff: Tariff,
    pub durability: Durability,
    /// Usage entries older than this many days are rolled up into daily rows; None keeps them.
    pub rollup_after_days: Option<u32>,
    /// How long a retry with the same idempotency key is answered without a new debit.
    pub retry_horizon_sec: u32,
    /// How long a draft of a formation order waits for a person.
    pub draft_days: u32,
    /// How long a browser stays signed in without being used.
    pub session_idle_millis: i64,
    /// How long a browser stays signed in at most, however much it is used.
    pub session_millis: i64,
    /// How long a server may spend a lease without the shared state. Without others, there are no leases.
    pub lease_millis: i64,
    pub password_work: PasswordCost,
    pub webhooks: WebhookPolicy,
    /// Usage is reported to a biller outside, so entries are rolled up only after they were reported.
    pub reports_usage: bool,
}

/// A week.
pub const SESSION_IDLE_HOURS: u32 = 7 * 24;

/// A month.
pub const SESSION_DAYS: u32 = 30;

/// Two weeks.
pub const DRAFT_DAYS: u32 = 14;

/// A minute.
pub const LEASE_SEC: u32 = 60;

/// Ten minutes.
pub const RETRY_HORIZON_SEC: u32 = 600;

impl Default for Settings {
    fn default() -> Self {
        Self {
            tariff: Tariff::CONTRACT,
            durability: Durability::Strict,
            rollup_after_days: None,
            retry_horizon_sec: RETRY_HORIZON_SEC,
            draft_days: DRAFT_DAYS,
            session_idle_millis: i64::from(SESSION_IDLE_HOURS) * 3_600_000,
            session_millis: i64::from(SESSION_DAYS) * MILLIS_PER_DAY,
            lease_millis: i64::from(LEASE_SEC) * 1000,
            password_work: PasswordCost::DEFAULT,
            webhooks: WebhookPolicy::Off,
            reports_usage: false,
        }
    }
}

impl Settings {
    pub(crate) fn retry_horizon_millis(&self) -> i64 {
        i64::from(self.retry_horizon_sec) * 1000
    }
}

/// When the caller of a debit is answered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Durability {
    /// After the commit with the debit is on disk.
    Strict,
    /// At once. A crash loses at most 50 ms of debits, in the customers' favour.
    Window,
}
