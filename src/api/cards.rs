//! Payments by card, as operations see them: somebody who opens a page on which a customer pays.

use std::fmt;

use crate::accounts::records::{CheckoutPage, CheckoutRecord};

/// Where a customer arrives after paying.
pub const PAID_PATH: &str = "/billing/paid";

/// Where a customer arrives who left the page without paying.
pub const LEFT_PATH: &str = "/billing/left";

/// What a page sells, and where it leads to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sold {
    pub name: String,
    /// Paths of ours.
    pub paid_path: String,
    pub left_path: String,
}

/// A payment provider. The amount is the checkout's.
pub trait CardPayments: Send + Sync {
    /// Opens the page of a checkout; the same page however often it is called. Takes seconds, so that no thread which others
    /// wait for may call it.
    fn open_page(&self, checkout: &CheckoutRecord, sold: &Sold) -> Result<CheckoutPage, CardError>;
}

/// Why there is no page; the texts are for the log.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CardError {
    /// The provider cannot be reached, or is overloaded.
    Unavailable(String),
    /// It does not accept the request; another one would fare no better.
    Refused(String),
}

impl fmt::Display for CardError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unavailable(why) | Self::Refused(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for CardError {}
