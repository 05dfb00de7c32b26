//! A timer that fires within microseconds of its deadline; the timers of tokio have a resolution of
//! milliseconds.

use std::io;
use std::time::Instant;

use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};
use tokio::net::unix::pipe::Receiver;

/// A kernel timer (timerfd). Reading it returns how often it has expired; it is readable once it has expired.
pub(super) struct Alarm(Receiver);

impl Alarm {
    /// Must be called inside the runtime whose tasks it wakes.
    pub(super) fn new() -> io::Result<Self> {
        let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC)?;
        Ok(Self(Receiver::from_owned_fd_unchecked(timer)?))
    }

    pub(super) async fn until(&mut self, due: Instant) -> io::Result<()> {
        const NONE: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };
        loop {
            let left = due.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            let left = Timespec::try_from(left).map_err(io::Error::other)?;
            let once = Itimerspec { it_interval: NONE, it_value: left };
            timerfd_settime(&self.0, TimerfdTimerFlags::empty(), &once)?;
            self.0.readable().await?;
            // The read makes the timer unreadable until it expires again. If it has not expired, the
            // loop waits again.
            match self.0.try_read(&mut [0; 8]) {
                Err(error) if error.kind() != io::ErrorKind::WouldBlock => return Err(error),
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn never_fires_early_and_past_deadlines_fire_at_once() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut alarm = Alarm::new().unwrap();
            let begin = Instant::now();
            for millis in [0, 1, 1, 7, 8] {
                let due = begin + Duration::from_millis(millis);
                alarm.until(due).await.unwrap();
                assert!(Instant::now() >= due);
            }
        });
    }
}
