//! Changes made by operators, payment providers and reviewers to accounts, keys, grants, purchases,
//! drafts, orders, people and sessions.
//!
//! The ledger's writer checks and applies each change in its own transaction, so two changes cannot
//! conflict. A change is in effect in memory before its response is sent.

mod accounts;
mod act;
mod agent_codes;
mod checkouts;
mod credits;
pub(super) mod drafts;
mod grants;
mod keys;
pub(super) mod links;
mod orders;
mod payments;
pub(super) mod people;
mod proof;
mod purchases;
mod reports;
mod run;
pub(super) mod sessions;
mod sign_ups;
mod undecryptable;
mod watch_records;
mod watches;

pub(super) use act::audit;
pub use act::{ActContext, CREDITS_MAX};
pub use agent_codes::{AllowedAgent, CODE_MILLIS, CODES_MAX};
pub use drafts::{Acceptance, DraftContent, DraftView, OPEN_DRAFTS_MAX, OpenedDraft, UNPAID_ORDERS_MAX};
pub use grants::{ACCESS_MILLIS, AgentLimits, IssuedGrant, NewGrant};
pub use keys::{IssuedKey, NewChildKey, NewKey};
pub use links::{LINK_MILLIS, LinkChoice, LinkView};
pub use orders::NewOrder;
pub use people::{DELETED_NAME, SignUp};
pub use proof::AuthProof;
pub use purchases::{NewPurchase, OPEN_PURCHASES_MAX, OpenedPurchase};
pub use reports::{PaymentReport, ReportResult};
pub(super) use run::no_memory_effect;
pub(crate) use run::remove_stored_person;
pub use sessions::{EndSessions, SESSIONS_MAX, SessionId, SessionView, SignedIn};
pub use sign_ups::{PENDING_MILLIS, PENDING_SIGN_UPS_MAX};
