//! Card payments, as operations use them: a trait that opens the payment page of a checkout.

use hornbook_accounts::records::{CheckoutPage, CheckoutRecord};

/// Where a customer is sent after paying.
pub const PAID_PATH: &str = "/billing/paid";

/// Where a customer is sent after leaving the payment page without paying.
pub const CHECKOUT_CANCELLED_PATH: &str = "/billing/left";

/// What a payment page sells, and where it sends the customer afterwards.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CheckoutItem {
    pub name: String,
    /// Both paths are on this service.
    pub paid_path: String,
    pub cancelled_path: String,
}

/// A payment provider. The amount to pay is in the checkout.
pub trait CardPayments: Send + Sync {
    /// Opens the payment page of a checkout. Repeated calls return the same page. A call takes seconds,
    /// so it must not run on a thread that other work waits for.
    fn open_page(&self, checkout: &CheckoutRecord, sold: &CheckoutItem) -> Result<CheckoutPage, CardError>;
}

/// Why there is no payment page. The texts are for the log.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CardError {
    /// The provider cannot be reached, or is overloaded.
    #[error("{0}")]
    Unavailable(String),
    /// The provider rejects the request. Sending it again would not help.
    #[error("{0}")]
    Refused(String),
}
