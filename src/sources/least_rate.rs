//! The minimum rate of a server. Without it, a server that sends a byte now and then would block a fetch.

use std::time::Duration;

/// The number of bytes that must arrive in each window of waiting. Shorter waits are not judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeastRate {
    pub bytes: u64,
    pub window: Duration,
}

/// One kilobyte per second. At that rate a hundred megabytes take more than a day. A busy server sends more,
/// or pauses for less than a minute.
const LEAST_RATE: LeastRate = LeastRate { bytes: 60 << 10, window: Duration::from_secs(60) };

impl Default for LeastRate {
    fn default() -> Self {
        LEAST_RATE
    }
}

/// The bytes of a body that arrived since its rate was last judged.
#[derive(Default)]
pub(crate) struct TransferWindow {
    waited: Duration,
    bytes: u64,
}

impl TransferWindow {
    /// Records a received piece, and returns whether the server still sends fast enough.
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
