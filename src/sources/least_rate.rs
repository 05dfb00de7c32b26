//! How slowly a server may send: one that only drips would hold a fetch for ever.

use std::time::Duration;

/// The bytes of a body that must come in each window of waiting for them. What takes less than a window is not judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeastRate {
    pub bytes: u64,
    pub window: Duration,
}

/// A kilobyte a second. At that rate a hundred megabytes take more than a day, and nobody waits for law so long; a server
/// that is merely busy sends more, or pauses for less than a minute.
const LEAST_RATE: LeastRate = LeastRate { bytes: 60 << 10, window: Duration::from_secs(60) };

impl Default for LeastRate {
    fn default() -> Self {
        LEAST_RATE
    }
}

/// What came of a body since its rate was judged last.
#[derive(Default)]
pub(crate) struct TransferWindow {
    waited: Duration,
    bytes: u64,
}

impl TransferWindow {
    /// Notes a piece that was waited for, and whether the server still sends enough.
    pub(crate) fn is_fast_enough(&mut self, least: LeastRate, waited: Duration, bytes: usize) -> bool {
        self.waited += waited;
        self.bytes += bytes as u64;
        if self.waited < least.window {
            return true;
        }
        let windows = self.waited.as_secs_f64() / least.window.as_secs_f64();
        let is_enough = self.bytes as f64 >= least.bytes as f64 * windows;
        *self = Self::default();
        is_enough
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_judged_window_by_window() {
        let least = LeastRate { bytes: 60, window: Duration::from_secs(60) };
        let second = Duration::from_secs(1);
        let mut window = TransferWindow::default();
        assert!(window.is_fast_enough(least, 59 * second, 1), "no window is over");
        assert!(!window.is_fast_enough(least, 59 * second, 1));
        let mut busy = TransferWindow::default();
        assert!(busy.is_fast_enough(least, 55 * second, 0), "a pause");
        assert!(busy.is_fast_enough(least, 5 * second, 60), "and a burst");
        assert!(!busy.is_fast_enough(least, 60 * second, 59), "what came before is not saved up");
        assert!(!busy.is_fast_enough(least, 120 * second, 100), "a long wait is two windows");
    }
}
