//! Checks the reservation code with every interleaving of its lock. `balance.rs` is compiled here a
//! second time, with loom's mutex instead of the standard one.

mod sync {
    pub(super) use loom::sync::{Mutex, MutexGuard};
}

#[expect(dead_code, reason = "the library's own source; this test needs a part of it")]
#[path = "../src/leases/local.rs"]
mod local;

mod leases {
    pub(super) use super::local;
}

#[expect(dead_code, unreachable_pub, reason = "the library's own source; this test needs a part of it")]
#[path = "../src/balance.rs"]
mod balance;

use balance::{AccountBalance, MonthlyUnits, Remaining};
use loom::sync::Arc;
use loom::thread;

const MAY_UNITS: MonthlyUnits = MonthlyUnits { month: 4, limit: 1 };

#[test]
fn two_calls_never_share_a_unit() {
    loom::model(|| {
        let balance = Arc::new(AccountBalance::new(1, []));
        let callers: Vec<_> = (0..2)
            .map(|_| {
                let balance = Arc::clone(&balance);
                thread::spawn(move || match balance.hold(2, MAY_UNITS, None) {
                    Ok((hold, left)) => {
                        assert_eq!(left, Remaining { wallet: 0, allotment: 0 });
                        balance.settle(hold);
                        true
                    }
                    Err(_) => false,
                })
            })
            .collect();
        let served = callers.into_iter().map(|caller| caller.join().unwrap()).filter(|served| *served).count();
        assert_eq!(served, 1);
        assert_eq!(balance.remaining(MAY_UNITS), Remaining { wallet: 0, allotment: 0 });
    });
}

#[test]
fn concurrent_release_grant_and_call_are_consistent() {
    loom::model(|| {
        let balance = Arc::new(AccountBalance::new(2, []));
        let (hold, _) = balance.hold(2, MAY_UNITS, None).unwrap();
        let releasing = Arc::clone(&balance);
        let release = thread::spawn(move || releasing.release(hold));
        let granting = Arc::clone(&balance);
        let grant = thread::spawn(move || granting.add_posted(3));
        let settled = balance.hold(3, MAY_UNITS, None).map(|(hold, _)| balance.settle(hold)).is_ok();
        release.join().unwrap();
        grant.join().unwrap();
        let left = balance.remaining(MAY_UNITS);
        let total = left.wallet + i64::from(left.allotment);
        assert_eq!(total, if settled { 3 } else { 6 });
    });
}

#[test]
fn reopening_during_a_call_keeps_its_reservation() {
    loom::model(|| {
        let balance = Arc::new(AccountBalance::new(5, []));
        let calling = Arc::clone(&balance);
        let caller = thread::spawn(move || {
            let (hold, _) = calling.hold(3, MAY_UNITS, None).unwrap();
            calling.release(hold);
        });
        balance.reset_posted(4, [(4, 1)]);
        caller.join().unwrap();
        assert_eq!(balance.remaining(MAY_UNITS), Remaining { wallet: 4, allotment: 0 });
    });
}
