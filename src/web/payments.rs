//! How an accepted order is paid: the operator confirms it, or a payment service takes it.

use std::pin::Pin;

use crate::accounts::records::OrderRecord;

/// What the person does next.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Next {
    /// Pay as the operator says, who then runs 'hornbook order confirm-payment'.
    OperatorConfirms,
    /// Pay at this address.
    PayAt(String),
}

/// Begins the payment of an order that waits for it. May be called again for the same order. The error is for the log.
pub trait Payments: Send + Sync {
    fn begin<'a>(&'a self, order: &'a OrderRecord) -> Begun<'a>;
}

pub type Begun<'a> = Pin<Box<dyn Future<Output = Result<Next, String>> + Send + 'a>>;

/// The operator confirms every payment.
pub struct OperatorPayments;

impl Payments for OperatorPayments {
    fn begin<'a>(&'a self, _order: &'a OrderRecord) -> Begun<'a> {
        Box::pin(std::future::ready(Ok(Next::OperatorConfirms)))
    }
}
