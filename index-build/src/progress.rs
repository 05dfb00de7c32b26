//! Shows the progress of a build: bars with counts, rate and remaining time on a terminal, plain
//! lines elsewhere.

use std::fmt;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use hornbook_base::invisible::escaped_lines;
use indicatif::{ProgressBar, ProgressStyle};

/// The time between two plain lines of one stage.
const PLAIN_LINE_EVERY: Duration = Duration::from_secs(5);

/// How progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgressDisplay {
    Bars,
    Plain,
    Silent,
}

impl ProgressDisplay {
    /// Bars on a terminal, plain lines otherwise.
    pub fn for_stderr() -> Self {
        if std::io::stderr().is_terminal() { Self::Bars } else { Self::Plain }
    }

    /// Begins a stage. `total` may be unknown.
    pub fn stage(self, name: &'static str, unit: &'static str, total: Option<u64>) -> ProgressStage {
        let bar = match self {
            Self::Bars => Some(bar(name, unit, total)),
            Self::Plain | Self::Silent => None,
        };
        ProgressStage { mode: self, name, unit, total, done: 0, bar, began: Instant::now(), last_line: Instant::now() }
    }

    /// Prints a separate line above any bar.
    pub fn say(self, line: impl fmt::Display) {
        if self != Self::Silent {
            say(&line);
        }
    }
}

/// A closed standard error is ignored, because progress output must not stop a build.
fn say(line: &impl fmt::Display) {
    let _ = writeln!(std::io::stderr(), "{}", escaped_lines(&line.to_string()));
}

fn bar(name: &'static str, unit: &'static str, total: Option<u64>) -> ProgressBar {
    let template = match total {
        Some(_) => format!("{{prefix:<22}} {{bar:30}} {{human_pos}}/{{human_len}} {unit}  {{per_sec}}  {{eta}} left"),
        None => format!("{{prefix:<22}} {{spinner}} {{human_pos}} {unit}  {{per_sec}}  {{elapsed}}"),
    };
    let style = ProgressStyle::with_template(&template).expect("the built-in template is valid");
    let bar = total.map_or_else(ProgressBar::new_spinner, ProgressBar::new);
    bar.with_style(style).with_prefix(name)
}

/// A running stage.
#[derive(Debug)]
pub struct ProgressStage {
    mode: ProgressDisplay,
    name: &'static str,
    unit: &'static str,
    total: Option<u64>,
    done: u64,
    bar: Option<ProgressBar>,
    began: Instant,
    last_line: Instant,
}

impl ProgressStage {
    pub fn add(&mut self, count: u64) {
        self.done += count;
        if let Some(bar) = &self.bar {
            bar.set_position(self.done);
        } else if self.mode == ProgressDisplay::Plain && self.last_line.elapsed() >= PLAIN_LINE_EVERY {
            self.last_line = Instant::now();
            say(&self.plain_line());
        }
    }

    pub fn set(&mut self, done: u64) {
        self.add(done.saturating_sub(self.done));
    }

    fn plain_line(&self) -> String {
        let seconds = self.began.elapsed().as_secs_f64().max(1e-3);
        let rate = self.done as f64 / seconds;
        let (name, unit, done) = (self.name, self.unit, self.done);
        match self.total {
            Some(total) if total > 0 => {
                let left = total.saturating_sub(done) as f64 / rate.max(1e-9);
                let percent = done * 100 / total;
                format!("{name}: {done} of {total} {unit} ({percent} %), {rate:.0} a second, {left:.0} s left")
            }
            _ => format!("{name}: {done} {unit}, {rate:.0} a second"),
        }
    }

    pub fn finish(self) {
        let seconds = self.began.elapsed().as_secs_f64();
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        if self.mode != ProgressDisplay::Silent {
            say(&format!("{}: {} {} in {seconds:.1} s", self.name, self.done, self.unit));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_lines_show_counts_rate_and_time_left() {
        let mut stage = ProgressDisplay::Silent.stage("reading", "provisions", Some(200));
        stage.began = Instant::now() - Duration::from_secs(10);
        stage.add(50);
        let line = stage.plain_line();
        assert!(line.starts_with("reading: 50 of 200 provisions (25 %), 5 a second, 30 s left"), "{line}");
    }
}
