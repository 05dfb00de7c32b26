//! The payment of an accepted order: the operator confirms it, or a payment service collects it.

use std::pin::Pin;

use hornbook_accounts::records::OrderRecord;

/// The next step for the customer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NextStep {
    /// Pay as the operator instructs. The operator then runs 'hornbook order confirm-payment'.
    OperatorConfirms,
    /// Pay at this URL.
    PayAt(String),
}

/// Begins the payment of an unpaid order. May be called again for the same order. The error is only
/// for the log.
pub trait Payments: Send + Sync {
    fn begin<'a>(&'a self, order: &'a OrderRecord) -> BeginFuture<'a>;
}

pub type BeginFuture<'a> = Pin<Box<dyn Future<Output = Result<NextStep, String>> + Send + 'a>>;

/// Payments that the operator confirms.
pub struct OperatorPayments;

impl Payments for OperatorPayments {
    fn begin<'a>(&'a self, _order: &'a OrderRecord) -> BeginFuture<'a> {
        Box::pin(std::future::ready(Ok(NextStep::OperatorConfirms)))
    }
}
