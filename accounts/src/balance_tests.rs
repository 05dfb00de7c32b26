//! Tests of the balance, in a separate file because `accounts/tests/interleavings.rs` compiles `balance.rs` with
//! another mutex.

use super::balance::{AccountBalance, HoldRefused, MonthlyUnits, Remaining};

const MAY: MonthlyUnits = MonthlyUnits { month: 4, limit: 3 };

#[test]
fn a_call_may_be_split_between_allotment_and_wallet() {
    let balance = AccountBalance::new(10, []);
    let (hold, left) = balance.hold(5, MAY, None).unwrap();
    assert_eq!((hold.from_allotment, hold.from_wallet), (3, 2));
    assert_eq!(left, Remaining { wallet: 8, allotment: 0 });
    balance.settle(hold);
    assert_eq!(balance.remaining(MAY), Remaining { wallet: 8, allotment: 0 });
    assert_eq!(balance.hold(9, MAY, None), Err(HoldRefused::TooFew(Remaining { wallet: 8, allotment: 0 })));
    balance.return_posted(hold);
    assert_eq!(balance.remaining(MAY), Remaining { wallet: 10, allotment: 3 });
}

#[test]
fn a_month_is_granted_once_however_often_the_clock_comes_back() {
    let balance = AccountBalance::new(0, [(4, 1)]);
    for _ in 0..2 {
        let (hold, _) = balance.hold(1, MAY, None).unwrap();
        balance.settle(hold);
    }
    let far = MonthlyUnits { month: 17, limit: 3 };
    let (hold, left) = balance.hold(1, far, None).unwrap();
    assert_eq!(left.allotment, 2);
    balance.settle(hold);
    assert!(balance.hold(1, MAY, None).is_err());
    assert_eq!(balance.remaining(far).allotment, 2);
}

#[test]
fn reopening_keeps_the_holds_of_calls_under_way() {
    let balance = AccountBalance::new(10, []);
    let (hold, _) = balance.hold(5, MAY, None).unwrap();
    balance.reset_posted(7, [(4, 0)]);
    assert_eq!(balance.remaining(MAY), Remaining { wallet: 5, allotment: 0 });
    balance.release(hold);
    assert_eq!(balance.remaining(MAY), Remaining { wallet: 7, allotment: 3 });
    assert!(balance.hold_wallet(8).is_none() && balance.hold_wallet(7).is_some());
}

#[test]
fn taken_back_credits_make_the_wallet_negative() {
    let balance = AccountBalance::new(10, []);
    let (hold, _) = balance.hold(7, MAY, None).unwrap();
    balance.add_posted(-10);
    assert_eq!(balance.remaining(MAY).wallet, -4);
    balance.settle(hold);
    assert_eq!(balance.remaining(MAY).wallet, -4);
    let next = MonthlyUnits { month: 5, limit: 3 };
    assert!(balance.hold(4, next, None).is_err(), "nothing is spendable");
    assert!(balance.hold_wallet(1).is_none());
    let (free, left) = balance.hold(3, next, None).unwrap();
    assert_eq!((free.from_allotment, left), (3, Remaining { wallet: -4, allotment: 0 }));
    balance.add_posted(5);
    assert!(balance.hold(2, MAY, None).is_err());
    assert_eq!(balance.hold(1, MAY, None).unwrap().1.wallet, 0);
}
