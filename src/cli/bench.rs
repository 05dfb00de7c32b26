//! `hornbook bench`: latencies and throughput of a snapshot or of a server, and two such results compared.

use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use hornbook::bench::compare::{Comparison, Row, Spread, compare};
use hornbook::bench::load::{Arrivals, Load, Pace};
use hornbook::bench::process::InProcess;
use hornbook::bench::queries::{self, Query};
use hornbook::bench::result::{BenchResult, Distribution, PERCENTS, Round, TargetTold, measure};
use hornbook::bench::url::{Url, searches};
use hornbook::bench::{BenchError, Target, report, told_time};
use hornbook::clock::{Clock, SystemClock};
use hornbook::search::{Engine, Mode};
use hornbook_corpus::snapshot::Snapshot;

use crate::cli::output::{note, print, print_json};
use crate::cli::search::mode_parser;
use crate::cli::table::Table;
use crate::cli::{CommandResult, Options};

/// Connections that ask a server in an open loop unless it is said otherwise.
const CONNECTIONS: usize = 64;

/// So many requests one round may hold ready.
const REQUESTS_MAX: f64 = 50e6;

/// Measure how long searches take under load
///
/// Asks a snapshot in this process, or a server at http://HOST:PORT, in rounds, and tells percentiles of latency, of every
/// stage, and throughput. With --rate the load does not wait for answers, and a request's latency counts from when it was
/// due, so a target that stalls is not spared what would have come meanwhile. With --concurrency so many ask one after the
/// other. `hornbook bench compare A B` says whether two stored results differ, or only by chance.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Bench {
    #[command(subcommand)]
    command: Option<BenchCommand>,

    #[command(flatten)]
    measuring: Measuring,
}

#[derive(Debug, Subcommand)]
enum BenchCommand {
    /// Say whether two stored results differ, figure by figure
    ///
    /// The figures of rounds are compared, by a permutation test with intervals from resampling: five rounds each can tell,
    /// three cannot. A machine drifts, so measure A, B, A, B and see whether A differs from itself.
    Compare {
        /// A result of 'hornbook bench --save'
        first: PathBuf,
        /// Another
        second: PathBuf,
    },
}

#[derive(Debug, Args)]
struct Measuring {
    /// A snapshot's folder or a server such as http://127.0.0.1:8080; data/current if there is none
    target: Option<String>,

    /// Requests that are due in a second, whether or not earlier ones were answered
    #[arg(long, value_name = "NUMBER", value_parser = positive, conflicts_with = "concurrency")]
    rate: Option<f64>,

    /// So many ask at once, each again when it has its answer; 1 if there is no --rate
    #[arg(long, value_name = "COUNT", value_parser = at_least_one)]
    concurrency: Option<usize>,

    /// With --rate, how many can be under way at once; one a core in a process, 64 connections to a server
    #[arg(long, value_name = "COUNT", value_parser = at_least_one, requires = "rate")]
    workers: Option<usize>,

    /// With --rate, whether requests come independently, as those of many people do, or equally far apart
    #[arg(long, value_enum, default_value_t, requires = "rate")]
    arrivals: ArrivalsArg,

    /// How many rounds; comparing two results takes five
    #[arg(long, default_value_t = 5, value_name = "COUNT", value_parser = at_least_one)]
    rounds: usize,

    /// Seconds of a round
    #[arg(long, default_value_t = 5.0, value_name = "SECONDS", value_parser = positive)]
    duration: f64,

    /// Seconds of the same load before each round, not counted
    #[arg(long, default_value_t = 1.0, value_name = "SECONDS", value_parser = not_negative)]
    warm_up: f64,

    /// Queries, one a line or as objects with query, jurisdiction and mode; some of every kind if there is no file
    #[arg(long, value_name = "FILE", conflicts_with = "path")]
    queries: Option<PathBuf>,

    /// Ask a server for this address instead of searching; may be given several times
    #[arg(long, value_name = "PATH")]
    path: Vec<String>,

    /// How to search, where a query does not say
    #[arg(long, value_parser = mode_parser(), default_value_t)]
    mode: Mode,

    /// Results on a page
    #[arg(long, default_value_t = 20, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=100))]
    limit: u32,

    /// The key for a server; the demo key of the data directory if there is one
    #[arg(long, value_name = "KEY")]
    key: Option<String>,

    /// Keep the result in a file, to be compared with others
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,

    /// Draw the result: one HTML file with plots in it
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum ArrivalsArg {
    #[default]
    Poisson,
    Even,
}

impl Bench {
    pub(super) fn run(self, options: &Options) -> CommandResult {
        match self.command {
            Some(BenchCommand::Compare { first, second }) => {
                let comparison = compare(&BenchResult::read(&first)?, &BenchResult::read(&second)?);
                match options.json {
                    true => print_json(&comparison),
                    false => print(&compared(&comparison)),
                }
            }
            None => self.measuring.run(options),
        }
    }
}

impl Measuring {
    fn run(self, options: &Options) -> CommandResult {
        for path in [&self.save, &self.report].into_iter().flatten() {
            if path.exists() {
                return Err(already_there(path).into());
            }
        }
        let asked = match &self.queries {
            Some(path) => queries::read(path)?,
            None => queries::built_in(),
        };
        let is_url = self.target.as_ref().is_some_and(|target| target.contains("://"));
        let result = if is_url { self.ask_server(options, &asked)? } else { self.ask_snapshot(options, &asked)? };
        if let Some(path) = &self.save {
            write_new(path, &serde_json::to_vec(&result)?)?;
        }
        if let Some(path) = &self.report {
            write_new(path, report::html(&result).as_bytes())?;
        }
        match options.json {
            true => print_json(&result),
            false => print(&measured(&result)),
        }
    }

    fn ask_snapshot(&self, options: &Options, asked: &[Query]) -> Result<BenchResult, Box<dyn std::error::Error>> {
        if !self.path.is_empty() {
            return Err("--path asks a server; name one, such as http://127.0.0.1:8080".into());
        }
        let folder = options.snapshot(self.target.as_ref().map(PathBuf::from))?;
        let engine = Engine::new(Arc::new(Snapshot::open(&folder)?))?;
        let (target, left_out) = InProcess::new(engine, asked, self.mode, self.limit)?;
        if left_out > 0 {
            note(&format!(
                "{left_out} of {} queries are left out: the snapshot does not hold their jurisdiction",
                asked.len()
            ));
        }
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        // With the mode and the page size in them, what is asked of a server and of a snapshot is told by the same words.
        let told = TargetTold {
            snapshot: Some(target.snapshot_id().to_owned()),
            ..self.told(folder.display().to_string(), &searches(asked, self.mode, self.limit))
        };
        Ok(self.measure(&target, told, &self.load(cores)?)?)
    }

    fn ask_server(&self, options: &Options, asked: &[Query]) -> Result<BenchResult, Box<dyn std::error::Error>> {
        let base = self.target.clone().unwrap_or_default();
        let paths = if self.path.is_empty() { searches(asked, self.mode, self.limit) } else { self.path.clone() };
        let told = TargetTold { is_url: true, ..self.told(base.clone(), &paths) };
        let demo_key = || std::fs::read_to_string(options.configuration().ok()?.data.dir.join("demo.key")).ok();
        let key = self.key.clone().or_else(|| demo_key().map(|key| key.trim().to_owned()));
        let target = Url::new(&base, key, paths)?;
        Ok(self.measure(&target, told, &self.load(CONNECTIONS)?)?)
    }

    fn told(&self, name: String, asked: &[String]) -> TargetTold {
        TargetTold {
            name,
            is_url: false,
            snapshot: None,
            queries: asked.len(),
            queries_hash: queries::fingerprint(asked),
            mode: self.mode.name().to_owned(),
            limit: self.limit,
        }
    }

    fn load(&self, workers: usize) -> Result<Load, BenchError> {
        let seconds = self.warm_up + self.duration;
        if self.rate.is_some_and(|rate| rate * seconds > REQUESTS_MAX) {
            return Err(BenchError(
                "a round would have more than 50 million requests; ask fewer or shorter".to_owned(),
            ));
        }
        let arrivals = match self.arrivals {
            ArrivalsArg::Poisson => Arrivals::Poisson,
            ArrivalsArg::Even => Arrivals::Even,
        };
        let (pace, workers) = match self.rate {
            Some(per_second) => (Pace::Open { per_second, arrivals }, self.workers.unwrap_or(workers)),
            None => (Pace::Closed, self.concurrency.unwrap_or(1)),
        };
        let (warm_up, duration) = (Duration::from_secs_f64(self.warm_up), Duration::from_secs_f64(self.duration));
        Ok(Load { pace, workers, warm_up, duration })
    }

    fn measure(&self, target: &dyn Target, told: TargetTold, load: &Load) -> Result<BenchResult, BenchError> {
        let at = SystemClock::start().now().wall.to_string();
        let mut number = 0;
        measure(target, told, load, self.rounds, at, &mut |round| {
            number += 1;
            note(&format!(
                "round {number} of {}: {:.0} a second, p50 {}, p99 {}",
                self.rounds,
                round.throughput,
                told_time(round.latency.at(50.0)),
                told_time(round.latency.at(99.0))
            ));
        })
    }
}

fn already_there(path: &Path) -> String {
    format!("{} is there already; results are not overwritten: move it away or name another file", path.display())
}

fn write_new(path: &Path, bytes: &[u8]) -> Result<(), String> {
    let written = File::create_new(path).and_then(|mut file| file.write_all(bytes));
    written.map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => already_there(path),
        _ => format!("cannot write {}: {error}", path.display()),
    })
}

/// A result as text.
fn measured(result: &BenchResult) -> String {
    let mut out = format!("{}\n{}\n\n", result.target.name, result.load.described());
    let mut rounds =
        Table::new(["round", "answered", "a second", "p50", "p90", "p95", "p99", "p99.9", "p99.99", "longest"]);
    let numbered = result.rounds.iter().enumerate().map(|(place, round)| ((place + 1).to_string(), round));
    for (name, round) in numbered.chain([("all".to_owned(), &result.total)]) {
        let [p50, p90, p95, p99, p999, p9999, longest] = percentiles(&round.latency);
        let Round { answered, throughput, .. } = round;
        let throughput = format!("{throughput:.1}");
        rounds.row([name, answered.to_string(), throughput, p50, p90, p95, p99, p999, p9999, longest]);
    }
    out += &rounds.render();
    if !result.total.stages.is_empty() {
        let mut stages = Table::new(["stage", "mean", "p50", "p90", "p95", "p99", "p99.9", "p99.99", "longest"]);
        for stage in &result.total.stages {
            let [p50, p90, p95, p99, p999, p9999, longest] = percentiles(&stage.took);
            stages.row([stage.name.clone(), told_time(stage.took.mean), p50, p90, p95, p99, p999, p9999, longest]);
        }
        out += &format!("\n{}", stages.render());
    }
    for warning in report::warnings(&result.total) {
        out += &format!("\nwarning: {warning}\n");
    }
    out
}

fn percentiles(took: &Distribution) -> [String; 7] {
    let [p50, p90, p95, p99, p999, p9999] = PERCENTS.map(|percent| told_time(took.at(percent)));
    [p50, p90, p95, p99, p999, p9999, told_time(took.max)]
}

/// A comparison as text.
fn compared(comparison: &Comparison) -> String {
    let mut out = String::new();
    for warning in &comparison.warnings {
        out += &format!("warning: {warning}\n");
    }
    let mut table = Table::new(["figure", "first", "second", "second is", "95 of 100", "p", "so"]);
    for Row { name, unit, first, second, ratio, p_value, verdict } in &comparison.rows {
        let value = |value: f64| if *unit == "us" { told_time(value) } else { format!("{value:.1}") };
        let spread =
            |Spread { mean, low, high }: &Spread| format!("{} ({} to {})", value(*mean), value(*low), value(*high));
        let percent = |ratio: f64| format!("{:.1} %", 100.0 * ratio);
        table.row([
            name.clone(),
            spread(first),
            spread(second),
            percent(ratio.mean),
            format!("{} to {}", percent(ratio.low), percent(ratio.high)),
            format!("{p_value:.3}"),
            verdict.to_string(),
        ]);
    }
    let about =
        "In brackets the lowest and highest round. Of twenty figures that do not differ, one is called different.\n";
    out + &table.render() + about
}

fn positive(text: &str) -> Result<f64, String> {
    not_negative(text).and_then(|number| if number > 0.0 { Ok(number) } else { Err("it must be above 0".to_owned()) })
}

fn not_negative(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite() && (0.0..=1e9).contains(number));
    number.ok_or_else(|| "it must be a number from 0 to a billion".to_owned())
}

fn at_least_one(text: &str) -> Result<usize, String> {
    let count = text.parse().ok().filter(|count| (1..=10_000).contains(count));
    count.ok_or_else(|| "it must be a whole number from 1 to 10000".to_owned())
}
