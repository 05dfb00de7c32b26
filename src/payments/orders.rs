//! Card payments of accepted orders, on a page like that of a purchase.

use std::sync::Arc;

use hornbook_accounts::blocking;
use hornbook_accounts::entropy::SystemEntropy;
use hornbook_accounts::ids::OrderId;
use hornbook_accounts::records::OrderRecord;
use tokio::sync::Semaphore;

use crate::api::cards::{CHECKOUT_CANCELLED_PATH, CardPayments, CheckoutItem, PAID_PATH};
use crate::api::order_payments::{BeginFuture, NextStep, Payments};
use crate::api::service::Service;

/// The maximum number of orders that wait for the provider's page at once. Others must try again.
const WAITING_MAX: usize = 8;

/// Payment providers refuse to charge less.
const CENTS_MIN: u32 = 50;

pub struct OrderPayments {
    service: Arc<Service>,
    cards: Arc<dyn CardPayments>,
    waiting: Semaphore,
}

impl OrderPayments {
    pub fn new(service: Arc<Service>, cards: Arc<dyn CardPayments>) -> Self {
        Self { service, cards, waiting: Semaphore::new(WAITING_MAX) }
    }

    async fn page_of(&self, id: OrderId, price_cents: u32) -> Result<NextStep, String> {
        let Ok(_place) = self.waiting.try_acquire() else {
            return Err("too many orders wait for a payment page".to_owned());
        };
        let (accounts, cards) = (Arc::clone(self.service.accounts()), Arc::clone(&self.cards));
        let at = self.service.now().wall;
        let opened = move || {
            let checkout = accounts.open_order_checkout(id, price_cents, at, &mut SystemEntropy);
            let checkout = checkout.map_err(|error| error.to_string())?;
            if let Some(page) = checkout.page {
                return Ok(page.url);
            }
            // The provider gets no part of the intake.
            let name = format!("Company formation, order {id}");
            let sold = CheckoutItem {
                name,
                paid_path: PAID_PATH.to_owned(),
                cancelled_path: CHECKOUT_CANCELLED_PATH.to_owned(),
            };
            let page = cards.open_page(&checkout, &sold).map_err(|error| error.to_string())?;
            let noted = accounts.store_checkout_page(checkout.id, page.clone()).map_err(|error| error.to_string())?;
            Ok(noted.page.unwrap_or(page).url)
        };
        let opened = tokio::task::spawn_blocking(move || blocking::allowed(opened)).await;
        opened.map_err(|error| error.to_string())?.map(NextStep::PayAt)
    }
}

impl Payments for OrderPayments {
    fn begin<'a>(&'a self, order: &'a OrderRecord) -> BeginFuture<'a> {
        Box::pin(async move {
            match order.price_cents {
                Some(cents) if cents >= CENTS_MIN => self.page_of(order.id, cents).await,
                // Without a price, or with one that is too small, a card cannot be charged.
                _ => Ok(NextStep::OperatorConfirms),
            }
        })
    }
}
