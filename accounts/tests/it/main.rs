//! Tests of accounts: calls, changes, people, orders and the ledger, against models and under faults.

mod budgets;
mod calls;
mod changes;
mod drafts;
mod drafts_model;
mod faults;
mod grants;
mod model;
mod people;
mod power_cuts;
mod sealed;
mod support;
mod syncs;
mod usage_reports;
mod views;
mod watches;

/// The suites run this part of their random sequences: a state in memory is fast.
pub(crate) const ONE_IN: u32 = 1;

/// Where the suites that run on every kind of state keep theirs.
pub(crate) use support::disk::SimulatedDisk as TestState;
