//! Checks the reservation code with every interleaving of its lock. `purse.rs` is compiled here a
//! second time, with loom's mutex instead of the standard one.

mod sync {
    pub(super) use loom::sync::{Mutex, MutexGuard};
}

#[expect(dead_code, unreachable_pub, reason = "the library's own source; this test needs a part of it")]
#[path = "../src/accounts/purse.rs"]
mod purse;

use loom::sync::Arc;
use loom::thread;
use purse::{MonthlyUnits, Purse, Remaining};

const MAY: MonthlyUnits = MonthlyUnits { month: 4, limit: 1 };

#[test]
fn two_calls_never_share_a_unit() {
    loom::model(|| {
        let purse = Arc::new(Purse::new(1, []));
        let callers: Vec<_> = (0..2)
            .map(|_| {
                let purse = Arc::clone(&purse);
                thread::spawn(move || match purse.hold(2, MAY) {
                    Ok((hold, left)) => {
                        assert_eq!(left, Remaining { wallet: 0, allotment: 0 });
                        purse.settle(hold);
                        true
                    }
                    Err(_) => false,
                })
            })
            .collect();
        let served = callers.into_iter().map(|caller| caller.join().unwrap()).filter(|served| *served).count();
        assert_eq!(served, 1);
        assert_eq!(purse.remaining(MAY), Remaining { wallet: 0, allotment: 0 });
    });
}

#[test]
fn a_release_a_grant_and_a_call_add_up() {
    loom::model(|| {
        let purse = Arc::new(Purse::new(2, []));
        let (hold, _) = purse.hold(2, MAY).unwrap();
        let releasing = Arc::clone(&purse);
        let release = thread::spawn(move || releasing.release(hold));
        let granting = Arc::clone(&purse);
        let grant = thread::spawn(move || granting.top_up(3));
        let settled = purse.hold(3, MAY).map(|(hold, _)| purse.settle(hold)).is_ok();
        release.join().unwrap();
        grant.join().unwrap();
        let left = purse.remaining(MAY);
        let total = left.wallet + i64::from(left.allotment);
        assert_eq!(total, if settled { 3 } else { 6 });
    });
}

#[test]
fn reopening_under_a_call_keeps_its_hold() {
    loom::model(|| {
        let purse = Arc::new(Purse::new(5, []));
        let calling = Arc::clone(&purse);
        let caller = thread::spawn(move || {
            let (hold, _) = calling.hold(3, MAY).unwrap();
            calling.release(hold);
        });
        purse.reset_posted(4, [(4, 1)]);
        caller.join().unwrap();
        assert_eq!(purse.remaining(MAY), Remaining { wallet: 4, allotment: 0 });
    });
}
