//! Makes a value once when several callers request it at the same time. One caller gets the turn to
//! make it; the others wait.
//!
//! Waiting callers do not block a thread. A turn ends when it is dropped, for any reason. The next
//! caller then gets the turn, checks whether the value exists by now, and makes it if not. So a
//! maker that is cancelled or fails leaves no caller waiting.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::OwnedMutexGuard;

/// The longest time that a caller waits for its turn.
const WAIT_MAX: Duration = Duration::from_secs(5);

/// Gives one caller at a time the turn to make a value.
type FlightLock = tokio::sync::Mutex<()>;

/// The turns in use, by the key of the value.
pub(crate) struct SingleFlight<K: Eq + Hash>(Mutex<HashMap<K, Arc<FlightLock>>>);

/// The turn to make the value of a key. It ends when this is dropped.
pub(crate) struct FlightGuard<K: Eq + Hash> {
    // Dropped before the seat, because the seat counts the references to the lock.
    _turn: OwnedMutexGuard<()>,
    _seat: FlightRef<K>,
}

/// A caller that makes a value or waits for it. The last seat of a key removes the key.
struct FlightRef<K: Eq + Hash> {
    makers: Arc<SingleFlight<K>>,
    key: K,
    turns: Arc<FlightLock>,
}

impl<K: Eq + Hash + Clone> SingleFlight<K> {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self(Mutex::new(HashMap::new())))
    }

    /// Waits until no other caller makes the value of this key; None after `WAIT_MAX`.
    pub(crate) async fn turn(self: &Arc<Self>, key: K) -> Option<FlightGuard<K>> {
        let seat = self.seat(key);
        let turn = tokio::time::timeout(WAIT_MAX, Arc::clone(&seat.turns).lock_owned()).await.ok()?;
        Some(FlightGuard { _turn: turn, _seat: seat })
    }

    fn seat(self: &Arc<Self>, key: K) -> FlightRef<K> {
        let mut making = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let turns = Arc::clone(making.entry(key.clone()).or_default());
        FlightRef { makers: Arc::clone(self), key, turns }
    }
}

impl<K: Eq + Hash> Drop for FlightRef<K> {
    fn drop(&mut self) {
        let mut making = self.makers.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Two references are left: the one of this seat and the one in the table. New ones are
        // added only under this lock.
        if Arc::strong_count(&self.turns) == 2 {
            making.remove(&self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// State that several callers share: the turns, the values made, and how many times making a
    /// value was begun.
    #[derive(Clone)]
    struct FlightFixture {
        makers: Arc<SingleFlight<&'static str>>,
        made: Arc<Mutex<Vec<&'static str>>>,
        begun: Arc<AtomicUsize>,
    }

    impl FlightFixture {
        fn new() -> Self {
            Self { makers: SingleFlight::new(), made: Arc::default(), begun: Arc::default() }
        }

        /// Returns whether the value exists at the end.
        async fn ask(&self, key: &'static str) -> bool {
            let Some(_turn) = self.makers.turn(key).await else { return false };
            if !self.made.lock().unwrap().contains(&key) {
                self.begun.fetch_add(1, Ordering::Relaxed);
                tokio::time::sleep(Duration::from_millis(50)).await;
                self.made.lock().unwrap().push(key);
            }
            true
        }

        fn seats(&self) -> usize {
            self.makers.0.lock().unwrap().len()
        }
    }

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap()
    }

    #[test]
    fn concurrent_callers_make_each_value_once() {
        runtime().block_on(async {
            let workshop = FlightFixture::new();
            let asking = (0..20).map(|number| {
                let workshop = workshop.clone();
                tokio::spawn(async move { workshop.ask(["one", "other"][number % 2]).await })
            });
            for asked in asking.collect::<Vec<_>>() {
                assert!(asked.await.unwrap());
            }
            assert_eq!(workshop.begun.load(Ordering::Relaxed), 2);
            assert_eq!(workshop.seats(), 0, "no turn is left");
        });
    }

    #[test]
    fn a_cancelled_caller_passes_its_turn_on() {
        runtime().block_on(async {
            let workshop = FlightFixture::new();
            let spawn = || {
                let workshop = workshop.clone();
                tokio::spawn(async move { workshop.ask("it").await })
            };
            let (maker, impatient, waiting) = (spawn(), spawn(), spawn());
            tokio::time::sleep(Duration::from_millis(5)).await;
            assert_eq!(workshop.begun.load(Ordering::Relaxed), 1);
            impatient.abort();
            maker.abort();
            assert!(waiting.await.unwrap());
            assert_eq!(workshop.begun.load(Ordering::Relaxed), 2, "the one who waited began again");
            assert!(maker.await.unwrap_err().is_cancelled() && impatient.await.unwrap_err().is_cancelled());
            assert_eq!(workshop.seats(), 0);
        });
    }

    #[test]
    fn waiting_ends_after_the_limit() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let workshop = FlightFixture::new();
            let held = workshop.makers.turn("it").await.unwrap();
            assert!(tokio::time::timeout(WAIT_MAX * 2, workshop.ask("it")).await.is_ok_and(|made| !made));
            drop(held);
            assert!(workshop.ask("it").await);
            assert_eq!(workshop.seats(), 0);
        });
    }
}
