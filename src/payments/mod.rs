//! Payments by card through Stripe Checkout.
//!
//! `stripe` opens pages on which customers pay, with one request to the configured address; `signature` tells Stripe's
//! notices from anybody else's; `event` reads them; `webhook` is the door at which they arrive, and hands what they say of
//! our payments to the accounts. `orders` opens pages for company formations.
//!
//! What a report does to purchases and wallets is decided in `accounts/changes/checkouts`, not here.

mod event;
pub mod orders;
mod signature;
pub mod stripe;
pub mod webhook;

use std::fmt;

/// A secret from the configuration. Does not print itself.
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
