//! What a provider's reports change: refunds, disputes, mismatched payments, on failing disks too.

use hornbook_accounts::changes::{PaymentReport, ReportResult, SignUp};
use hornbook_accounts::entropy::SeededEntropy;
use hornbook_accounts::error::Refusal;
use hornbook_accounts::ids::CheckoutId;
use hornbook_accounts::people::Password;
use hornbook_accounts::records::{CheckoutPage, DisputeState, PurchaseStatus};
use hornbook_accounts::tier::PackName;
use hornbook_accounts::{Durability, Settings};

use crate::fixture::{PaymentFixture, disputed, paid, refund_failed, refunded, run_on_eight_threads, wish};
use crate::support::disk::{DiskFault, EIO, ENOSPC, FaultOn, SimulatedDisk};
use crate::support::{act, fast_settings, wait_until_healthy};

#[test]
fn a_refund_can_make_the_wallet_negative() {
    let shop = PaymentFixture::open(fast_settings(Durability::Strict, 2));
    let first = shop.buy(PackName::Starter, 1);
    assert_eq!(shop.report(paid(&first)), ReportResult::Applied);
    assert_eq!(shop.call(402).unwrap().credits_remaining(), 600);

    // Half of the price is half of the credits.
    shop.report(refunded(&first, 250));
    assert_eq!(shop.wallet(), 100);
    shop.report(refunded(&first, 500));
    assert_eq!((shop.wallet(), shop.status(&first)), (-400, PurchaseStatus::Refunded));
    match shop.call(1) {
        Err(Refusal::Credits { remaining, .. }) => assert_eq!(remaining.wallet, -400),
        other => panic!("a call without credits succeeded: {:?}", other.err()),
    }
    assert!(shop.accounts.adjust(shop.owner.account, -1, "test".to_owned(), &act(shop.now)).is_err());
    shop.grant(399);
    assert!(shop.call(1).is_err());
    shop.grant(2);
    assert_eq!(shop.call(1).unwrap().credits_remaining(), 0);
    shop.accounts.verify_ledger().unwrap();
}

#[test]
fn free_units_can_be_used_while_the_wallet_is_below_zero() {
    let mut shop = PaymentFixture::open(fast_settings(Durability::Strict, 1000));
    let bought = shop.buy(PackName::Starter, 1);
    shop.report(paid(&bought));
    shop.call(1500).unwrap();
    shop.report(refunded(&bought, 500));
    assert_eq!(shop.wallet(), -500);
    // The next month begins.
    shop.now.wall = shop.now.wall.plus_millis(31 * 86_400_000);
    let receipt = shop.call(7).unwrap();
    assert_eq!((receipt.credits_remaining(), receipt.allotment_remaining()), (0, 993));
    shop.accounts.verify_ledger().unwrap();
    let next = shop.now;
    let again = shop.reopened(next);
    assert_eq!(again.wallet(), -500);
    again.accounts.verify_ledger().unwrap();
}

#[test]
fn a_dispute_takes_the_credits_until_it_is_won() {
    let shop = PaymentFixture::open(Settings::default());
    let bought = shop.buy(PackName::Pro, 1);
    shop.report(paid(&bought));
    for (state, left) in [(DisputeState::Open, 0), (DisputeState::Won, 5000)] {
        assert_eq!(shop.report(disputed(&bought, "dp_1", None, state)), ReportResult::Applied);
        assert_eq!(shop.report(disputed(&bought, "dp_1", None, state)), ReportResult::Known);
        assert_eq!(shop.wallet(), left, "{state:?}");
    }
    let reopened = shop.report(disputed(&bought, "dp_1", None, DisputeState::Open));
    assert_eq!(reopened, ReportResult::Known, "it has ended");
    // The end of a dispute over a part of the price, whose start was not reported.
    shop.report(disputed(&bought, "dp_2", Some(1000), DisputeState::Lost));
    assert_eq!(shop.wallet(), 2500);
    // What was already taken back is not taken twice.
    shop.report(refunded(&bought, 2000));
    assert_eq!(shop.wallet(), 0);
    shop.accounts.verify_ledger().unwrap();
}

#[test]
fn mismatched_payments_are_not_credited_and_become_problems() {
    let shop = PaymentFixture::open(Settings::default());
    let accounts = &shop.accounts;
    let changed = |change: fn(&mut u64, &mut String, &mut String)| {
        let bought = shop.buy(PackName::Starter, accounts.purchases().unwrap().len() as u64);
        let PaymentReport::Paid { checkout, mut session, payment, mut amount, mut currency } = paid(&bought) else {
            unreachable!("it is paid")
        };
        let page = CheckoutPage { session: session.clone(), url: "https://pay.example/".to_owned() };
        accounts.store_checkout_page(checkout, page).unwrap();
        change(&mut amount, &mut currency, &mut session);
        let report = PaymentReport::Paid { checkout, session, payment, amount, currency };
        let result = shop.report(report.clone());
        assert!(matches!(result, ReportResult::Problem(_)), "{result:?}");
        assert_eq!(shop.report(report), ReportResult::Known, "the repeated report was not recognised");
        assert!(accounts.checkout(checkout).unwrap().unwrap().problems.len() == 1);
        assert_eq!(shop.status(&bought), PurchaseStatus::Requested);
        accounts.cancel_purchase(bought.id, &act(shop.now)).unwrap();
    };
    changed(|amount, _, _| *amount = 499);
    changed(|amount, _, _| *amount = 50_000);
    changed(|_, currency, _| *currency = "mxn".to_owned());
    changed(|_, _, session| *session = "cs_other".to_owned());
    assert_eq!(shop.wallet(), 0);
    let stranger = CheckoutId(uuid::Uuid::from_u128(7));
    let stranger = PaymentReport::NotPaid { checkout: stranger, session: "cs".to_owned() };
    assert_eq!(shop.report(stranger), ReportResult::Unknown);

    // Paid by card after the operator confirmed another payment: only one counts.
    let bought = shop.buy(PackName::Starter, 99);
    accounts.pay_purchase(bought.id, Some("cash".to_owned()), &act(shop.now)).unwrap();
    assert!(matches!(shop.report(paid(&bought)), ReportResult::Problem(_)));
    // Its refund takes nothing, because it was never credited.
    shop.report(refunded(&bought, 500));
    assert_eq!(shop.wallet(), 1000);
    accounts.verify_ledger().unwrap();
}

/// Failed and successful refunds, as a provider reports them, in any order and repeated: in the end
/// exactly the credits of the successful ones are taken back.
#[test]
fn failed_refunds_restore_credits_in_any_order() {
    let mut random = SeededEntropy(11);
    for round in 0..300 {
        let shop = PaymentFixture::open(Settings::default());
        let bought = shop.buy(PackName::Starter, round);
        // The provider's timeline: each refund has a time, and some fail at a later one.
        let mut refunds: Vec<(i64, u64, Option<i64>)> = Vec::new();
        let mut at_sec = 100;
        let mut notices = vec![paid(&bought)];
        for number in 0..1 + random.below(3) {
            at_sec += 1 + random.below(3) as i64;
            refunds.push((at_sec, 1 + random.below(160), None));
            let went_back = |refunds: &[(i64, u64, Option<i64>)]| {
                refunds.iter().filter(|(_, _, failed)| failed.is_none()).map(|(_, cents, _)| cents).sum::<u64>()
            };
            let PaymentReport::Refunded { checkout, payment, .. } = refunded(&bought, 0) else {
                unreachable!("it is one")
            };
            notices.push(PaymentReport::Refunded { checkout, payment, amount: went_back(&refunds), at_sec });
            if random.below(2) == 0 {
                let failing = random.below(refunds.len() as u64) as usize;
                if refunds[failing].2.is_none() {
                    at_sec += random.below(2) as i64;
                    refunds[failing].2 = Some(at_sec);
                    notices.push(refund_failed(&bought, &format!("re_{number}"), refunds[failing].1, at_sec));
                }
            }
        }
        let stayed: u64 = refunds.iter().filter(|(_, _, failed)| failed.is_none()).map(|(_, cents, _)| cents).sum();
        for _ in 0..2 {
            let mut left = notices.clone();
            while !left.is_empty() {
                shop.report(left.swap_remove(random.below(left.len() as u64) as usize));
            }
        }
        let expected = 1000 - 1000 * stayed / u64::from(bought.price_cents);
        assert_eq!(shop.wallet(), expected as i64, "round {round}: {refunds:?}");
        let failures = refunds.iter().filter(|(_, _, failed)| failed.is_some()).count();
        assert_eq!(shop.accounts.payment_problems().unwrap().iter().flat_map(|one| &one.problems).count(), failures);
        shop.accounts.verify_ledger().unwrap();
    }
}

#[test]
fn a_payment_for_a_deleted_account_becomes_a_problem() {
    let shop = PaymentFixture::open(Settings::default());
    let (act, entropy) = (act(shop.now), &mut SeededEntropy(3));
    let (login, password) = ("jane".parse().unwrap(), Password::new("correct horse").unwrap());
    let proof = shop.accounts.sign_up(SignUp { login, password, approve: true }, &act, entropy).unwrap();
    let account = proof.account();
    let by_card = shop.buy_as(wish(account, PackName::Starter, None), 1);
    let by_hand = shop.buy_as(wish(account, PackName::Starter, None), 2);
    shop.accounts.delete_account(proof, &act).unwrap();
    let ReportResult::Problem(why) = shop.report(paid(&by_card)) else { panic!("the payment was credited") };
    assert!(why.contains("deleted"), "{why}");
    let refused = shop.accounts.pay_purchase(by_hand.id, None, &act).unwrap_err().to_string();
    assert!(refused.contains("deleted"), "{refused}");
    assert_eq!(shop.accounts.account(account, shop.now).unwrap().remaining.wallet, 0);
    shop.accounts.verify_ledger().unwrap();
}

/// All problems of a payment are listed. One that is added after the operator has seen the list stays open.
#[test]
fn all_problems_of_a_payment_are_kept() {
    let shop = PaymentFixture::open(Settings::default());
    let bought = shop.buy(PackName::Starter, 1);
    shop.report(paid(&bought));
    let again = |payment: &str| {
        let PaymentReport::Paid { checkout, session, amount, currency, .. } = paid(&bought) else {
            unreachable!("it is one")
        };
        PaymentReport::Paid { checkout, session, payment: payment.to_owned(), amount, currency }
    };
    shop.report(again("pi_twice"));
    let shown = shop.accounts.payment_problems().unwrap()[0].problems.len();
    shop.report(again("pi_thrice"));
    let problems = shop.accounts.payment_problems().unwrap().remove(0).problems;
    assert!(problems[0].contains("pi_twice") && problems[1].contains("pi_thrice"), "{problems:?}");
    shop.accounts.close_payment_problems(bought.checkout.unwrap(), shown, &act(shop.now)).unwrap();
    assert_eq!(shop.accounts.payment_problems().unwrap().remove(0).problems, problems[1..]);
    shop.accounts.close_payment_problems(bought.checkout.unwrap(), usize::MAX, &act(shop.now)).unwrap();
    assert!(shop.accounts.payment_problems().unwrap().is_empty());
}

#[test]
fn concurrent_and_repeated_reports_credit_once() {
    let shop = PaymentFixture::without_free_units();
    let bought = shop.buy(PackName::Starter, 1);
    let results = run_on_eight_threads(|_| shop.report(paid(&bought)));
    let applied = results.iter().filter(|result| **result == ReportResult::Applied).count();
    assert_eq!((applied, shop.wallet()), (1, 1000));
    // As after a crash: the commit is on disk, but no answer was sent. The next start opens the
    // file in this state.
    let disk = SimulatedDisk::from_bytes(shop.disk.bytes());
    let after_a_crash = shop.restarted_on(disk);
    assert_eq!(after_a_crash.report(paid(&bought)), ReportResult::Known);
    assert_eq!(after_a_crash.wallet(), 1000);
    after_a_crash.accounts.verify_ledger().unwrap();
}

/// Whichever write or sync fails, the report is repeated until it is accepted, and counts once.
#[test]
fn reports_repeated_through_a_failing_disk_count_once() {
    for after in 0..24 {
        for on in [FaultOn::Write, FaultOn::Sync] {
            for error in [EIO, ENOSPC] {
                report_through_fault(DiskFault {
                    successes_before: after,
                    on,
                    error,
                    lasting: false,
                    hits_owed_file: false,
                });
            }
        }
    }
}

fn report_through_fault(fault: DiskFault) {
    let shop = PaymentFixture::without_free_units();
    let bought = shop.buy(PackName::Starter, 1);
    shop.disk.fail(Some(fault));
    let won = || shop.accounts.report_payment(disputed(&bought, "dp_1", Some(400), DisputeState::Won), &act(shop.now));
    let reports = [paid(&bought), refunded(&bought, 100), disputed(&bought, "dp_1", Some(400), DisputeState::Open)];
    let mut undelivered: Vec<PaymentReport> = reports.to_vec();
    for _ in 0..2000 {
        undelivered.retain(|report| shop.accounts.report_payment(report.clone(), &act(shop.now)).is_err());
        if undelivered.is_empty() {
            break;
        }
        let _ = wait_until_healthy(&shop.accounts);
    }
    assert!(undelivered.is_empty(), "{fault:?}: {undelivered:?}");
    assert_eq!(shop.wallet(), 0, "{fault:?}");
    won().ok();
    shop.disk.fail(None);
    wait_until_healthy(&shop.accounts).unwrap();
    won().unwrap();
    assert_eq!(shop.wallet(), 800, "{fault:?}");
    shop.accounts.verify_ledger().unwrap_or_else(|error| panic!("{fault:?}: {error}"));
}
