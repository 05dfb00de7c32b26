//! Payments by card and by hand: compared with a simple model, on failing disks, and across power cuts.
//! Each payment counts once, in whatever order Stripe reports it.

mod by_hand;
mod fixture;
mod model;
mod notices;
mod power_cut;
mod purchases;
mod reports;
mod truth;

#[path = "../support/stripe.rs"]
#[expect(dead_code, reason = "not all of it is used here")]
mod stripe;
#[expect(dead_code, reason = "the tests of accounts use all of it")]
#[path = "../../accounts/tests/it/support/mod.rs"]
mod support;
