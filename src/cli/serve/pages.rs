//! The pages for browsers, from the configuration.

use std::sync::Arc;

use hornbook::api::order_payments::{OperatorPayments, Payments};
use hornbook::api::service::Service;
use hornbook::config::{Config, FormationSection};
use hornbook::http::Mounts;
use hornbook::metrics::Metrics;
use hornbook::mount::Mount;
use hornbook::oauth::{SignIn, SignInEndpoints};
use hornbook::payments::orders::OrderPayments;
use hornbook::web::files::AssetFiles;
use hornbook::web::formation::returned::ReturnPages;
use hornbook::web::formation::review::ReviewPage;
use hornbook::web::formation::tracking::TrackingPage;
use hornbook::web::operator::control::OperatorControl;
use hornbook::web::operator::mount::OperatorPages;
use hornbook::web::page_context::PageContext;
use hornbook::web::public_pages::PublicPages;
use hornbook::web::settings::consent::ConsentPage;
use hornbook::web::settings::mount::AccountPages;
use hornbook::web::zoning::map_parts::MapParts;

use crate::cli::settings;

/// The page on which people accept company formations. The operator confirms payments, unless
/// customers pay by card.
pub(super) fn review_page(service: &Arc<Service>, formation: &FormationSection) -> Arc<dyn Mount> {
    let how_to_pay = formation.how_to_pay.as_ref().map(|line| line.0.clone());
    let payments: Arc<dyn Payments> = match service.cards() {
        None => Arc::new(OperatorPayments),
        Some(cards) => Arc::new(OrderPayments::new(Arc::clone(service), Arc::clone(cards))),
    };
    Arc::new(ReviewPage::new(Arc::clone(service), payments, how_to_pay))
}

/// All other pages.
pub(super) fn pages(
    service: &Arc<Service>,
    config: &Config,
    metrics: Arc<Metrics>,
    operator_control: Arc<dyn OperatorControl>,
    sign_in: Option<Arc<SignIn>>,
) -> Mounts {
    let shell = Arc::new(PageContext::new(Arc::clone(service), settings::pages(config)));
    let own = AccountPages::new(Arc::clone(&shell));
    let operator = OperatorPages::new(Arc::clone(&shell), metrics, operator_control);
    let tracking = TrackingPage::new(Arc::clone(&shell));
    let mut mounts: Mounts = vec![Arc::new(AssetFiles), Arc::new(own), Arc::new(operator), Arc::new(tracking)];
    if service.cards().is_some() {
        mounts.push(Arc::new(ReturnPages::new(Arc::clone(&shell))));
    }
    if let Some(sign_in) = sign_in {
        mounts.push(Arc::new(ConsentPage::new(Arc::clone(&shell), Arc::clone(&sign_in))));
        mounts.push(Arc::new(SignInEndpoints::new(sign_in)));
    }
    mounts.push(Arc::new(MapParts::new(Arc::clone(&shell))));
    mounts.push(Arc::new(PublicPages::new(shell)));
    mounts
}
