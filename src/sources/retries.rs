//! The number of retries and the pauses between them. Without progress, the pause doubles up to a maximum. It
//! varies randomly, and is never shorter than the server asks.

use std::time::Duration;

use hornbook_base::random::SplitMix64;

use super::error::FetchError;

#[derive(Clone, Copy, Debug)]
pub struct Retries {
    /// Maximum number of consecutive attempts without progress.
    pub fruitless_max: u32,
    /// Maximum number of attempts for one file.
    pub attempts_max: u32,
    pub first_delay: Duration,
    pub delay_max: Duration,
    /// The longest pause that a server may ask for.
    pub wait_max: Duration,
}

impl Default for Retries {
    fn default() -> Self {
        Self {
            fruitless_max: 6,
            attempts_max: 100,
            first_delay: Duration::from_secs(1),
            delay_max: Duration::from_secs(60),
            wait_max: Duration::from_secs(600),
        }
    }
}

/// The attempts for one file.
pub(crate) struct Attempts {
    rules: Retries,
    made: u32,
    fruitless: u32,
    random: SplitMix64,
}

impl Attempts {
    pub(crate) fn new(rules: Retries, seed: u64) -> Self {
        Self { rules, made: 0, fruitless: 0, random: SplitMix64(seed) }
    }

    /// After a failed attempt: the pause before the next one, or the error if it was the last.
    pub(crate) fn next_delay(
        &mut self,
        error: FetchError,
        asked: Option<Duration>,
        brought_bytes: bool,
        kept_bytes: u64,
    ) -> Result<Duration, FetchError> {
        self.made += 1;
        self.fruitless = if brought_bytes { 0 } else { self.fruitless + 1 };
        let asked = asked.unwrap_or_default();
        let is_over = self.fruitless >= self.rules.fruitless_max || self.made >= self.rules.attempts_max;
        if is_over || asked > self.rules.wait_max {
            return Err(FetchError::GaveUp { attempts: self.made, kept_bytes, last: Box::new(error) });
        }
        let doubled = self.rules.first_delay.saturating_mul(1 << self.fruitless.min(16));
        let delay = doubled.min(self.rules.delay_max);
        // Between half and all of it, so that clients that failed together do not retry together.
        let millis = u64::try_from(delay.as_millis()).unwrap_or(u64::MAX);
        let jittered = Duration::from_millis(millis / 2 + self.random.below(millis / 2 + 1));
        Ok(jittered.max(asked))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: Retries = Retries {
        fruitless_max: 3,
        attempts_max: 6,
        first_delay: Duration::from_secs(1),
        delay_max: Duration::from_secs(3),
        wait_max: Duration::from_secs(100),
    };

    fn failed() -> FetchError {
        FetchError::Locked { folder: "x".into() }
    }

    #[test]
    fn delays_double_up_to_a_limit_and_are_never_shorter_than_asked() {
        let mut attempts = Attempts::new(Retries { fruitless_max: 50, attempts_max: 50, ..RULES }, 7);
        for longest in [2, 3, 3, 3] {
            let delay = attempts.next_delay(failed(), None, false, 0).unwrap();
            assert!(
                delay >= Duration::from_millis(longest * 500) && delay <= Duration::from_secs(longest),
                "{delay:?}"
            );
        }
        let asked = Duration::from_secs(90);
        assert_eq!(attempts.next_delay(failed(), Some(asked), false, 0).unwrap(), asked);
        assert!(attempts.next_delay(failed(), Some(Duration::from_secs(101)), false, 0).is_err());
    }

    #[test]
    fn attempts_that_bring_something_are_not_counted_as_fruitless_but_end_too() {
        let mut attempts = Attempts::new(RULES, 7);
        assert!(attempts.next_delay(failed(), None, false, 0).is_ok());
        assert!(attempts.next_delay(failed(), None, false, 0).is_ok());
        assert!(attempts.next_delay(failed(), None, true, 9).is_ok(), "progress starts the count again");
        assert!(attempts.next_delay(failed(), None, false, 9).is_ok());
        assert!(attempts.next_delay(failed(), None, true, 9).is_ok());
        let over = attempts.next_delay(failed(), None, true, 9).unwrap_err().to_string();
        assert!(over.contains("after 6 attempts; the same command goes on after the 9 bytes"), "{over}");
    }
}
