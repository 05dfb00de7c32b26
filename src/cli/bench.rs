//! `hornbook bench`: latency and throughput of a snapshot or a server, and the comparison of two results.

use std::fs::File;
use std::io::{ErrorKind, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use hornbook::bench::compare::{Comparison, ComparisonRow, Spread, compare};
use hornbook::bench::load::{Arrivals, Load, Pace};
use hornbook::bench::process::InProcess;
use hornbook::bench::queries::{BenchQuery, built_in as built_in_queries, fingerprint, read as read_queries};
use hornbook::bench::result::{BenchResult, Distribution, PERCENTS, Round, TargetDescription, measure};
use hornbook::bench::url::{Url, search_paths};
use hornbook::bench::{BenchError, BenchTarget, format_time, report};
use hornbook::tls_client::Trust;
use hornbook_base::clock::{Clock, SystemClock};
use hornbook_corpus::snapshot::Snapshot;
use hornbook_search::{Engine, Mode};

use crate::cli::output::{print, print_json, print_to_stderr};
use crate::cli::search::mode_parser;
use crate::cli::table::TextTable;
use crate::cli::{CommandResult, GlobalOptions};

/// Default number of connections to a server with `--rate`.
const CONNECTIONS: usize = 64;

/// Maximum number of requests in one round. Their due times are kept in memory.
const REQUESTS_MAX: f64 = 50e6;

/// Measure latency and throughput of a snapshot or a server
///
/// Sends searches in rounds, to a snapshot in this process or to a server at http://HOST:PORT or
/// https://HOST:PORT. Prints throughput and latency percentiles, in total and by stage. With
/// --rate, requests are sent on schedule and do not wait for responses: latency counts from the
/// time a request was due, so a target that stalls is charged for the requests that come due
/// meanwhile. With --concurrency, that many clients each send one request after the other. A run in
/// which most requests fail stops and prints the reason. 'hornbook bench compare' tests whether two
/// saved results differ by more than chance.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Bench {
    #[command(subcommand)]
    command: Option<BenchCommand>,

    #[command(flatten)]
    measuring: MeasureArgs,
}

#[derive(Debug, Subcommand)]
enum BenchCommand {
    /// Compare two saved results, figure by figure
    ///
    /// Uses a permutation test on the figures of the rounds, and computes intervals by resampling.
    /// Each result needs five rounds; three are too few. Machines drift, so measure A, B, A, B and
    /// check whether A differs from itself.
    Compare {
        /// A result saved with 'hornbook bench --save'
        first: PathBuf,
        /// The result to compare it with
        second: PathBuf,
    },
}

#[derive(Debug, Args)]
struct MeasureArgs {
    /// Folder of a snapshot, or URL of a server such as http://127.0.0.1:8080 [default: the current snapshot]
    target: Option<String>,

    /// Requests per second, sent whether or not earlier ones were answered
    #[arg(long, value_name = "NUMBER", value_parser = positive, conflicts_with = "concurrency")]
    rate: Option<f64>,

    /// Number of concurrent clients; each sends its next request after a response [default: 1,
    /// without --rate]
    #[arg(long, value_name = "COUNT", value_parser = at_least_one)]
    concurrency: Option<usize>,

    /// Maximum number of requests in progress, with --rate [default: one per core in a process, 64
    /// to a server]
    #[arg(long, value_name = "COUNT", value_parser = at_least_one, requires = "rate")]
    workers: Option<usize>,

    /// Times at which requests are due, with --rate: random like those of independent clients, or
    /// evenly spaced
    #[arg(long, value_enum, default_value_t, requires = "rate")]
    arrivals: ArrivalsArg,

    /// Number of rounds; comparing two results takes five
    #[arg(long, default_value_t = 5, value_name = "COUNT", value_parser = at_least_one)]
    rounds: usize,

    /// Length of a round in seconds
    #[arg(long, default_value_t = 5.0, value_name = "SECONDS", value_parser = positive)]
    duration: f64,

    /// Warm-up in seconds before each round: the same load, not measured
    #[arg(long, default_value_t = 1.0, value_name = "SECONDS", value_parser = not_negative)]
    warm_up: f64,

    /// File of queries, one per line, as text or as JSON with query, jurisdiction and mode
    /// [default: a built-in list]
    #[arg(long, value_name = "FILE", conflicts_with = "path")]
    queries: Option<PathBuf>,

    /// Request this path from a server instead of searching; may be repeated
    #[arg(long, value_name = "PATH")]
    path: Vec<String>,

    /// Search mode of queries that do not name one
    #[arg(long, value_parser = mode_parser(), default_value_t)]
    mode: Mode,

    /// Results per page
    #[arg(long, default_value_t = 20, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=100))]
    limit: u32,

    /// API key for the server [default: HORNBOOK_KEY from the environment, or the demo key in the
    /// data directory]
    #[arg(long, value_name = "KEY")]
    key: Option<String>,

    /// Trust the certificates in this PEM file instead of those that the system trusts
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,

    /// Accept any certificate of the server, such as a self-signed one
    #[arg(long, conflicts_with = "ca")]
    insecure: bool,

    /// Save the result to a file, for 'hornbook bench compare'
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,

    /// Write the result as an HTML page with plots
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum ArrivalsArg {
    /// Random and independent of each other
    #[default]
    Poisson,
    /// Evenly spaced
    Even,
}

impl Bench {
    pub(super) fn run(self, options: &GlobalOptions) -> CommandResult {
        match self.command {
            Some(BenchCommand::Compare { first, second }) => {
                let comparison = compare(&BenchResult::read(&first)?, &BenchResult::read(&second)?);
                match options.json {
                    true => print_json(&comparison),
                    false => print(&comparison_text(&comparison)),
                }
            }
            None => self.measuring.run(options),
        }
    }
}

impl MeasureArgs {
    fn run(self, options: &GlobalOptions) -> CommandResult {
        for path in [&self.save, &self.report].into_iter().flatten() {
            if path.exists() {
                return Err(already_there(path).into());
            }
        }
        let queries = match &self.queries {
            Some(path) => read_queries(path)?,
            None => built_in_queries(),
        };
        if let Some(address) = self.target.as_ref().filter(|target| target.parse::<SocketAddr>().is_ok()) {
            return Err(format!("'{address}' is an address; write the URL of the server: http://{address}").into());
        }
        let is_url = self.target.as_ref().is_some_and(|target| target.contains("://"));
        let result =
            if is_url { self.measure_server(options, &queries)? } else { self.measure_snapshot(options, &queries)? };
        if let Some(path) = &self.save {
            write_new(path, &serde_json::to_vec(&result)?)?;
        }
        if let Some(path) = &self.report {
            write_new(path, report::html(&result).as_bytes())?;
        }
        match options.json {
            true => print_json(&result),
            false => print(&result_text(&result)),
        }
    }

    fn measure_snapshot(
        &self,
        options: &GlobalOptions,
        queries: &[BenchQuery],
    ) -> Result<BenchResult, Box<dyn std::error::Error>> {
        if !self.path.is_empty() {
            return Err("--path needs a server: name one, such as http://127.0.0.1:8080".into());
        }
        let folder = options.snapshot(self.target.as_ref().map(PathBuf::from))?;
        let engine = Engine::new(Arc::new(Snapshot::open(&folder)?))?;
        let (target, left_out) = InProcess::new(engine, queries, self.mode, self.limit)?;
        if left_out > 0 {
            print_to_stderr(&format!(
                "skipped {left_out} of {} queries, because the snapshot does not contain their jurisdiction",
                queries.len()
            ));
        }
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        // A run against a server uses the same paths for the same queries, mode and page size, so
        // the fingerprints are equal.
        let description = TargetDescription {
            snapshot: Some(target.snapshot_id().to_owned()),
            ..self.describe(folder.display().to_string(), &search_paths(queries, self.mode, self.limit))
        };
        Ok(self.measure(&target, description, &self.load(cores)?)?)
    }

    fn measure_server(
        &self,
        options: &GlobalOptions,
        queries: &[BenchQuery],
    ) -> Result<BenchResult, Box<dyn std::error::Error>> {
        let base = self.target.clone().unwrap_or_default();
        let paths = if self.path.is_empty() { search_paths(queries, self.mode, self.limit) } else { self.path.clone() };
        let description = TargetDescription { is_url: true, ..self.describe(base.clone(), &paths) };
        let target = Url::new(&base, &self.trust(), self.key_for_server(options), paths)?;
        Ok(self.measure(&target, description, &self.load(CONNECTIONS)?)?)
    }

    /// The key from `--key`, from the environment, or the demo key.
    fn key_for_server(&self, options: &GlobalOptions) -> Option<String> {
        let exported = || std::env::var_os("HORNBOOK_KEY").and_then(|key| key.into_string().ok());
        let demo_key = || std::fs::read_to_string(options.configuration().ok()?.data.dir.join("demo.key")).ok();
        let key = self.key.clone().or_else(exported).or_else(demo_key)?;
        Some(key.trim().to_owned()).filter(|key| !key.is_empty())
    }

    fn trust(&self) -> Trust {
        match &self.ca {
            Some(file) => Trust::File(file.clone()),
            None if self.insecure => Trust::Anyone,
            None => Trust::System,
        }
    }

    fn describe(&self, name: String, paths: &[String]) -> TargetDescription {
        TargetDescription {
            name,
            is_url: false,
            snapshot: None,
            queries: paths.len(),
            queries_hash: fingerprint(paths),
            mode: self.mode.name().to_owned(),
            limit: self.limit,
        }
    }

    fn load(&self, workers: usize) -> Result<Load, BenchError> {
        let seconds = self.warm_up + self.duration;
        if self.rate.is_some_and(|rate| rate * seconds > REQUESTS_MAX) {
            return Err(BenchError(
                "a round would have more than 50 million requests; lower --rate or --duration".to_owned(),
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

    fn measure(
        &self,
        target: &dyn BenchTarget,
        description: TargetDescription,
        load: &Load,
    ) -> Result<BenchResult, BenchError> {
        let at = SystemClock::start().now().wall.to_string();
        let mut number = 0;
        measure(target, description, load, self.rounds, at, &mut |round| {
            number += 1;
            let [p50, _, _, p99, ..] = percentiles(&round.latency);
            print_to_stderr(&format!(
                "round {number} of {}: {:.0} per second, p50 {p50}, p99 {p99}",
                self.rounds, round.throughput
            ));
        })
    }
}

fn already_there(path: &Path) -> String {
    format!("{} already exists, and results are not overwritten; choose another file", path.display())
}

fn write_new(path: &Path, bytes: &[u8]) -> Result<(), String> {
    let written = File::create_new(path).and_then(|mut file| file.write_all(bytes));
    written.map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => already_there(path),
        _ => format!("cannot write {}: {error}", path.display()),
    })
}

/// Formats a result as text.
fn result_text(result: &BenchResult) -> String {
    let mut out = format!("{}\n{}\n\n", result.target.name, result.load.describe_load());
    let mut rounds =
        TextTable::new(["round", "answered", "per second", "p50", "p90", "p95", "p99", "p99.9", "p99.99", "longest"]);
    let numbered = result.rounds.iter().enumerate().map(|(place, round)| ((place + 1).to_string(), round));
    for (name, round) in numbered.chain([("all".to_owned(), &result.total)]) {
        let [p50, p90, p95, p99, p999, p9999, longest] = percentiles(&round.latency);
        let Round { answered, throughput, .. } = round;
        let throughput = format!("{throughput:.1}");
        rounds.row([name, answered.to_string(), throughput, p50, p90, p95, p99, p999, p9999, longest]);
    }
    out += &rounds.render();
    if !result.total.stages.is_empty() {
        let mut stages = TextTable::new(["stage", "mean", "p50", "p90", "p95", "p99", "p99.9", "p99.99", "longest"]);
        for stage in &result.total.stages {
            let [p50, p90, p95, p99, p999, p9999, longest] = percentiles(&stage.took);
            stages.row([stage.name.clone(), format_time(stage.took.mean), p50, p90, p95, p99, p999, p9999, longest]);
        }
        out += &format!("\n{}", stages.render());
    }
    for warning in report::warnings(&result.total) {
        out += &format!("\nwarning: {warning}\n");
    }
    out
}

fn percentiles(took: &Distribution) -> [String; 7] {
    if took.count == 0 {
        return std::array::from_fn(|_| "-".to_owned());
    }
    let [p50, p90, p95, p99, p999, p9999] = PERCENTS.map(|percent| format_time(took.at(percent)));
    [p50, p90, p95, p99, p999, p9999, format_time(took.max)]
}

/// Formats a comparison as text.
fn comparison_text(comparison: &Comparison) -> String {
    let mut out = String::new();
    for warning in &comparison.warnings {
        out += &format!("warning: {warning}\n");
    }
    let mut table = TextTable::new(["figure", "first", "second", "second/first", "95 % interval", "p", "verdict"]);
    for ComparisonRow { name, unit, first, second, ratio, p_value, verdict } in &comparison.rows {
        let value = |value: f64| if *unit == "us" { format_time(value) } else { format!("{value:.1}") };
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
    let about = "In parentheses: the lowest and the highest round. By chance, about one in twenty equal figures looks different.\n";
    out + &table.render() + about
}

fn positive(text: &str) -> Result<f64, String> {
    not_negative(text)
        .and_then(|number| if number > 0.0 { Ok(number) } else { Err("it must be greater than 0".to_owned()) })
}

fn not_negative(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite() && (0.0..=1e9).contains(number));
    number.ok_or_else(|| "it must be a number from 0 to a billion".to_owned())
}

fn at_least_one(text: &str) -> Result<usize, String> {
    let count = text.parse().ok().filter(|count| (1..=10_000).contains(count));
    count.ok_or_else(|| "it must be a whole number from 1 to 10000".to_owned())
}
