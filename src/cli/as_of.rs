//! The option `--as-of`: the day whose law a command uses.

use clap::Args;
use hornbook::api::as_of::today;
use hornbook_base::clock::{Clock, SystemClock};
use hornbook_corpus::day::Day;

#[derive(Clone, Copy, Debug, Args)]
pub(super) struct AsOf {
    /// Use the law as of this day, such as 2026-01-31 [default: today]
    #[arg(long, value_name = "DATE")]
    as_of: Option<Day>,
}

impl AsOf {
    pub(super) fn day(self) -> Day {
        self.as_of.unwrap_or_else(|| today(SystemClock::start().now()))
    }
}
