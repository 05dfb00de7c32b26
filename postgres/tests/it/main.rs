//! The suites of accounts on PostgreSQL, and tests of what only a shared database can do.
//!
//! They need a server: `make postgres` starts one, and sets `HORNBOOK_POSTGRES` to its address, as a
//! user who may create schemas. Without it they say so and test nothing.

#[path = "../../../accounts/tests/it/budgets.rs"]
mod budgets;
#[path = "../../../accounts/tests/it/calls.rs"]
mod calls;
#[path = "../../../accounts/tests/it/changes.rs"]
mod changes;
mod database;
#[path = "../../../accounts/tests/it/drafts_model.rs"]
mod drafts_model;
mod follow;
#[path = "../../../accounts/tests/it/grants.rs"]
mod grants;
mod leases;
#[path = "../../../accounts/tests/it/model.rs"]
mod model;
#[path = "../../../accounts/tests/it/people.rs"]
mod people;
mod proxy;
mod servers;
#[expect(dead_code, reason = "the tests of accounts use all of it")]
#[path = "../../../accounts/tests/it/support/mod.rs"]
mod support;
mod tables;
#[path = "../../../accounts/tests/it/usage_reports.rs"]
mod usage_reports;

/// The suites run this part of their random sequences: each step waits for the database.
pub(crate) const ONE_IN: u32 = 12;

/// Where the suites that run on every kind of state keep theirs.
pub(crate) use database::TestState;
