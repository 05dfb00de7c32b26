//! Payments by card through Stripe Checkout.
//!
//! `stripe` opens pages on which customers pay, with requests to the configured address.
//! `signature` verifies that a notice comes from Stripe. `event` parses notices. `webhook` is the
//! mount at which notices arrive; it passes the reports on our payments to the accounts. `orders`
//! opens pages for company formations.
//!
//! `accounts/changes/reports` decides what a report changes in purchases and wallets.

mod event;
pub mod orders;
mod signature;
pub mod stripe;
pub mod webhook;

use std::fmt;

/// A secret from the configuration. `Debug` does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}
