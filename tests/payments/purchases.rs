//! Requests of purchases: repeated, many, and at changed prices.

use hornbook_accounts::Settings;
use hornbook_accounts::changes::{OPEN_PURCHASES_MAX, OpenedPurchase, ReportResult};
use hornbook_accounts::entropy::SeededEntropy;
use hornbook_accounts::records::PurchaseStatus;
use hornbook_accounts::tier::{PackName, Tariff};
use hornbook_base::clock::Now;

use crate::fixture::{PaymentFixture, paid, run_on_eight_threads, wish};
use crate::support::{act, create_customer};

#[test]
fn an_idempotency_key_buys_once_and_open_purchases_are_limited() {
    let shop = PaymentFixture::open(Settings::default());
    let other = create_customer(&shop.accounts, 0, 1, shop.now).account;
    let with_key = |account, pack| wish(account, pack, Some("k"));
    let owner = shop.owner.account;
    let first = shop.buy_as(with_key(owner, PackName::Pro), 1);
    let ids = run_on_eight_threads(|seed| shop.buy_as(with_key(owner, PackName::Pro), seed).id);
    assert!(ids.iter().all(|id| *id == first.id), "{ids:?}");
    let opened = |wish| shop.accounts.open_purchase(wish, &act(shop.now), &mut SeededEntropy(50)).unwrap();
    let another = opened(with_key(owner, PackName::Bulk));
    assert!(matches!(another, OpenedPurchase::OtherPack), "{another:?}");
    assert_ne!(shop.buy_as(with_key(other, PackName::Pro), 51).id, first.id);
    // A day later, the key still refers to this purchase.
    let later = Now { wall: shop.now.wall.plus_millis(24 * 3_600_000), ..shop.now };
    let known = shop.buy_at(with_key(owner, PackName::Pro), 52, later);
    assert_eq!((known.id, known.status), (first.id, PurchaseStatus::Requested));

    for seed in 1..OPEN_PURCHASES_MAX as u64 {
        shop.buy(PackName::Starter, 100 + seed);
    }
    assert!(matches!(opened(shop.wish(PackName::Starter)), OpenedPurchase::TooManyOpen));
    shop.buy_as(wish(other, PackName::Starter, None), 200);
    // Payment pages close after a day, even if Stripe does not report it.
    let much_later = Now { wall: shop.now.wall.plus_millis(26 * 3_600_000), ..shop.now };
    let closed = shop.buy_at(with_key(other, PackName::Pro), 53, much_later);
    assert_eq!(closed.status, PurchaseStatus::Cancelled, "a page that is closed is not handed out again");
    shop.buy_at(shop.wish(PackName::Starter), 201, much_later);
    assert_eq!(shop.status(&first), PurchaseStatus::Cancelled);
    // A payment still counts after the cancellation, because the money has arrived.
    shop.report(paid(&first));
    assert_eq!((shop.wallet(), shop.status(&first)), (5000, PurchaseStatus::Paid));
}

#[test]
fn purchases_use_the_current_prices() {
    let mut settings = Settings::default();
    settings.tariff.pack_mut(PackName::Starter).price_cents = 700;
    let shop = PaymentFixture::open(settings);
    let bought = shop.buy(PackName::Starter, 1);
    assert_ne!(bought.price_cents, Tariff::CONTRACT.pack(PackName::Starter).price_cents);
    assert_eq!(shop.accounts.checkout(bought.checkout.unwrap()).unwrap().unwrap().amount_cents, 700);
    assert_eq!(shop.report(paid(&bought)), ReportResult::Applied);
}
