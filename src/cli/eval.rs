//! `hornbook eval`: measures search quality with judged queries.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueEnum};
use hornbook::evaluate::{
    self, Estimate, Floor, Latency, Measure, PairedComparison, QueryScores, ReadyQuery, SkippedQueries, Split, Summary,
};
use hornbook_corpus::snapshot::Snapshot;
use hornbook_index_build::progress::ProgressDisplay;
use hornbook_search::{Depth, DepthChoice, Engine, Mode, QueryKind, RankingFeature, SearchError, Tuning, UnknownMode};
use serde_json::{Value, json};

use crate::cli::eval_census::{census, census_json, census_text};
use crate::cli::eval_page::{ComparedQuery, page};
use crate::cli::output::{count, print, print_json};
use crate::cli::search::{depth_parser, mode_parser};
use crate::cli::table::TextTable;
use crate::cli::{CommandResult, GlobalOptions};

/// Measure search quality with judged queries
///
/// Prints nDCG@10, MRR@10, recall@10 and recall@100 for each mode and kind of query, with 95 %
/// confidence intervals, and the time for a page of 20 results. Judged queries are JSON Lines;
/// tests/quality contains 8,122 of them and describes the format. Queries about law that the
/// snapshot does not contain are left out and counted.
#[derive(Debug, Args)]
pub(crate) struct Eval {
    /// Folder of the snapshot
    snapshot: PathBuf,

    /// Files of judged queries
    #[arg(value_name = "JUDGED.jsonl", required_unless_present_any = ["headings", "make", "census"])]
    judged: Vec<PathBuf>,

    /// Part of the queries: 'train' and 'tune' are for choosing parameters, 'report' is for
    /// reporting only
    #[arg(long, value_enum, default_value_t)]
    split: SplitArg,

    /// Measure only these modes, comma-separated
    #[arg(long, value_parser = mode_parser(), value_delimiter = ',', default_values_t = Mode::ALL)]
    mode: Vec<Mode>,

    /// Test whether two modes differ, such as hybrid,keyword; may be repeated
    #[arg(long, value_name = "MODE,MODE", value_parser = two_modes)]
    compare: Vec<(Mode, Mode)>,

    /// Try another value of a search parameter, such as question.keyword=0.2, and test the effect;
    /// may be repeated
    #[arg(long = "try", value_name = "NAME=VALUE", value_parser = super::name_and_value)]
    tried: Vec<(String, String)>,

    /// Also search for the headings of this many provisions; each heading should find its own
    /// provision
    ///
    /// For snapshots whose plan has index_headings = false.
    #[arg(long, value_name = "COUNT")]
    headings: Option<usize>,

    /// Use misspelt queries without their typing errors
    #[arg(long)]
    clean: bool,

    /// Misspell one or two words of each query by rule and test the effect; the number is the
    /// random seed
    #[arg(long, value_name = "SEED")]
    misspell: Option<u64>,

    /// Search for the words as they are, without correcting misspelt ones
    #[arg(long)]
    exact: bool,

    /// Search depth; auto searches deep for questions
    #[arg(long, value_parser = depth_parser(), default_value_t = DepthChoice::Fast)]
    depth: DepthChoice,

    /// Number of times each query is timed; 0 turns timing off
    #[arg(long, default_value_t = 3, value_name = "COUNT")]
    rounds: usize,

    /// Compare nDCG@10 with the minimum in FILE for each kind and mode; fail if it is lower by more
    /// than .01
    #[arg(long, value_name = "FILE.tsv")]
    floors: Option<PathBuf>,

    /// Write the measured values to the file of --floors instead
    #[arg(long, requires = "floors")]
    renew_floors: bool,

    /// Also print the measures of each query
    #[arg(long)]
    queries: bool,

    /// Print this many judged queries of each kind, made from the snapshot by rule, and measure
    /// nothing
    ///
    /// The output is JSON Lines. The kinds are headings, headings of law no longer in force, terms
    /// that the law defines, and sentences that cite another provision. Each query has one correct
    /// answer.
    #[arg(long, value_name = "COUNT", conflicts_with_all = ["judged", "headings", "fit", "html"])]
    make: Option<usize>,

    /// Resolve the citations of these censuses instead, and compare with another resolver
    ///
    /// A census is a CSV file with the columns citation, type, jurisdiction (a short code), occurrences
    /// and resolved (whether the other resolver found it). Each citation is resolved as a court of its
    /// jurisdiction writes it. The table shows for each jurisdiction the share resolved, of rows and
    /// weighted by occurrences, beside that of the other resolver. Only law that the snapshot has is
    /// counted. Every miss is listed with its reason.
    #[arg(
        long,
        value_name = "FILE.csv",
        num_args = 1..,
        conflicts_with_all = ["judged", "headings", "make", "fit", "html", "floors", "compare", "tried"]
    )]
    census: Vec<PathBuf>,

    /// List at most this many misses of each jurisdiction, the most cited first [default: all]
    #[arg(long, value_name = "COUNT", requires = "census")]
    misses: Option<usize>,

    /// Write a page that compares answers side by side: without and with --try, or from this
    /// snapshot and --against
    #[arg(long, value_name = "FILE.html")]
    html: Option<PathBuf>,

    /// The snapshot for the right side of --html
    #[arg(long, value_name = "SNAPSHOT", requires = "html")]
    against: Option<PathBuf>,

    /// Print the feature weights that rank the results of these queries best, and measure nothing
    ///
    /// The weights are fitted by pairwise logistic regression for each kind of query. Use the
    /// queries for tuning.
    #[arg(long)]
    fit: bool,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum SplitArg {
    /// Queries for fitting models
    Train,
    /// Queries for choosing parameters
    Tune,
    /// Queries for reporting only
    Report,
    /// All queries
    #[default]
    All,
}

impl SplitArg {
    fn only(self) -> Option<Split> {
        match self {
            Self::Train => Some(Split::Train),
            Self::Tune => Some(Split::Tune),
            Self::Report => Some(Split::Report),
            Self::All => None,
        }
    }
}

fn two_modes(text: &str) -> Result<(Mode, Mode), String> {
    let mode = |name: &str| name.trim().parse().map_err(|error: UnknownMode| error.to_string());
    let (first, second) = text.split_once(',').ok_or("name two modes, such as hybrid,keyword")?;
    Ok((mode(first)?, mode(second)?))
}

/// The scores and times of one mode.
struct ModeRun {
    mode: Mode,
    scores: Vec<QueryScores>,
    latency: Option<Latency>,
}

/// The comparison of two runs over the same queries.
struct Compared {
    name: String,
    comparisons: Vec<PairedComparison>,
}

impl Eval {
    pub(super) fn run(self, options: &GlobalOptions) -> CommandResult {
        let snapshot = Arc::new(Snapshot::open(&self.snapshot)?);
        if let Some(count) = self.make {
            return print(&generated_queries(&Engine::new(snapshot)?, count)?);
        }
        if !self.census.is_empty() {
            let scores = census(&Engine::new(snapshot)?, &self.census)?;
            let misses = self.misses.unwrap_or(usize::MAX);
            return match options.json {
                true => print_json(&census_json(&scores, misses)),
                false => print(&census_text(&scores, misses)),
            };
        }
        let (as_written, left_out) = self.queries_for(&snapshot)?;
        let queries = self.queries_to_run(&as_written);
        if queries.is_empty() {
            return Err(
                "the snapshot contains none of the judged provisions; use queries about law that it contains".into()
            );
        }
        let mut tried = Tuning::default();
        for (name, value) in &self.tried {
            tried = tried.with(name, value)?;
        }
        if self.fit {
            return print(&fitted_weights(
                &Engine::with_tuning(snapshot, tried)?,
                &queries,
                self.depth.depth("", Mode::Hybrid, || false),
            )?);
        }
        if let Some(path) = &self.html {
            return self.write_page(path, &snapshot, &queries, tried);
        }
        let mut modes: Vec<Mode> = Vec::new();
        let asked = self.mode.iter().chain(self.compare.iter().flat_map(|(first, second)| [first, second]));
        asked.for_each(|&mode| {
            if !modes.contains(&mode) {
                modes.push(mode);
            }
        });
        let engine = Engine::with_tuning(Arc::clone(&snapshot), tried)?;
        let runs = self.measure_all(&engine, &queries, &modes)?;
        let mut compared = compare_modes(&self.compare, &runs);
        if self.misspell.is_some() {
            for run in &runs {
                let before = scores_of(&engine, &as_written, run.mode, &mut |_| ())?;
                let name = format!("{} misspelt against as written", run.mode.name());
                compared.push(Compared { name, comparisons: evaluate::compare(&run.scores, &before) });
            }
        }
        if !self.tried.is_empty() {
            let usual = Engine::new(snapshot)?;
            for run in &runs {
                let before = scores_of(&usual, &queries, run.mode, &mut |_| ())?;
                let name = format!("{} with --try against without it", run.mode.name());
                compared.push(Compared { name, comparisons: evaluate::compare(&run.scores, &before) });
            }
        }
        match options.json {
            true => print_json(&self.as_json(&runs, &compared, &left_out))?,
            false => print(&self.as_text(&queries, &runs, &compared, &left_out))?,
        }
        self.floors.as_deref().map_or(Ok(()), |path| self.check_floors(path, &runs, options))
    }

    /// Compares the measured values with the floors of a file, or writes them to it.
    fn check_floors(&self, path: &Path, runs: &[ModeRun], options: &GlobalOptions) -> CommandResult {
        let measured = measured(runs);
        if self.renew_floors {
            std::fs::write(path, evaluate::floors_text(&measured))
                .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
            return Ok(());
        }
        let held = evaluate::check_floors(evaluate::read_floors(path)?, &measured);
        let mut table = TextTable::new(["kind", "mode", "floor", "nDCG@10", ""]);
        for held in &held {
            let reached = held.reached.map_or_else(|| "not measured".to_owned(), |reached| format!("{reached:.3}"));
            let verdict = if held.is_reached() { "" } else { "LOST" };
            let (kind, mode) = (held.floor.kind.clone(), held.floor.mode.name().to_owned());
            table.row([kind, mode, format!("{:.3}", held.floor.ndcg), reached, verdict.to_owned()]);
        }
        if !options.json {
            print(&format!("\n{}", table.render()))?;
        }
        match held.iter().filter(|held| !held.is_reached()).count() {
            0 => Ok(()),
            lost => Err(format!(
                "{lost} of {} floors of {} were missed by more than {}; fix the search, or explain why the loss is acceptable and update the file with --renew-floors",
                held.len(),
                path.display(),
                evaluate::FLOOR_TOLERANCE
            )
            .into()),
        }
    }

    fn queries_for(
        &self,
        snapshot: &Snapshot,
    ) -> Result<(Vec<ReadyQuery>, SkippedQueries), Box<dyn std::error::Error>> {
        let mut judged = Vec::new();
        for path in &self.judged {
            judged.extend(evaluate::read(path)?);
        }
        let split = self.split.only();
        judged.retain(|query| split.is_none_or(|split| query.split == split));
        if self.clean {
            evaluate::use_clean_queries(&mut judged);
        }
        let (mut queries, left_out) = evaluate::prepare(snapshot, &judged)?;
        queries.extend(evaluate::headings(snapshot, split, self.headings.unwrap_or(0))?);
        Ok((queries, left_out))
    }

    /// The queries as they are sent to the engine.
    fn queries_to_run(&self, queries: &[ReadyQuery]) -> Vec<ReadyQuery> {
        let mut asked = queries.to_vec();
        for query in &mut asked {
            query.is_exact = self.exact;
            query.depth = self.depth.depth(&query.query, Mode::Hybrid, || true);
            if let Some(seed) = self.misspell {
                query.query = evaluate::add_typos(&query.query, seed);
            }
        }
        asked
    }

    /// Writes a page with the queries that both sides can answer, side by side.
    fn write_page(
        &self,
        path: &Path,
        snapshot: &Arc<Snapshot>,
        queries: &[ReadyQuery],
        tried: Tuning,
    ) -> CommandResult {
        let mode = self.mode.first().copied().unwrap_or_default();
        let first = Engine::new(Arc::clone(snapshot))?;
        let (second, others) = match &self.against {
            None => (Engine::with_tuning(Arc::clone(snapshot), tried)?, queries.to_vec()),
            Some(path) => {
                let other = Arc::new(Snapshot::open(path)?);
                let (others, _) = self.queries_for(&other)?;
                (Engine::with_tuning(other, tried)?, others)
            }
        };
        let mut pairs = Vec::with_capacity(queries.len());
        for query in queries {
            let Some(other) = others.iter().find(|other| other.id == query.id) else { continue };
            pairs.push(ComparedQuery {
                query: query.query.clone(),
                kind: query.kind.clone(),
                first: evaluate::run_side(&first, query, mode)?,
                second: evaluate::run_side(&second, other, mode)?,
            });
        }
        let settings: Vec<String> = self.tried.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let right = match &self.against {
            Some(path) => format!("{} {}", path.display(), settings.join(" ")),
            None if settings.is_empty() => return Err("--html shows two sides: add --try or --against".into()),
            None => settings.join(" "),
        };
        std::fs::write(path, page([&self.snapshot.display().to_string(), right.trim()], pairs))
            .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        print(&format!("wrote {}\n", path.display()))
    }

    fn measure_all(
        &self,
        engine: &Engine,
        queries: &[ReadyQuery],
        modes: &[Mode],
    ) -> Result<Vec<ModeRun>, SearchError> {
        let total = modes.len() * queries.len() * (1 + self.rounds);
        let mut stage = ProgressDisplay::for_stderr().stage("searching", "searches", Some(total as u64));
        let mut runs = Vec::with_capacity(modes.len());
        for &mode in modes {
            // The searches that measure quality also warm up the caches for the timed ones.
            let scores = scores_of(engine, queries, mode, &mut |count| stage.add(count))?;
            let mut micros = Vec::with_capacity(self.rounds * queries.len());
            for query in (0..self.rounds).flat_map(|_| queries) {
                micros.push(evaluate::time(engine, query, mode)?);
                stage.add(1);
            }
            let latency = (!micros.is_empty()).then(|| Latency::of(micros));
            runs.push(ModeRun { mode, scores, latency });
        }
        stage.finish();
        Ok(runs)
    }

    fn as_text(
        &self,
        queries: &[ReadyQuery],
        runs: &[ModeRun],
        compared: &[Compared],
        left_out: &SkippedQueries,
    ) -> String {
        let mut out = String::new();
        if self.queries {
            out += &queries_text(queries, runs);
        }
        let mut table =
            TextTable::new(["kind", "mode", "queries", "nDCG@10", "MRR@10", "recall@10", "recall@100", "first"]);
        for run in runs {
            for Summary { kind, queries, estimates } in evaluate::summarise(&run.scores) {
                let [ndcg, mrr, recall_10, recall_100, first] = estimates.map(estimate_text);
                let mode = run.mode.name().to_owned();
                table.row([kind, mode, queries.to_string(), ndcg, mrr, recall_10, recall_100, first]);
            }
        }
        out += &table.render();
        if runs.iter().any(|run| run.latency.is_some()) {
            let mut table = TextTable::new(["mode", "searches", "median us", "p90", "p99", "max"]);
            for (run, latency) in runs.iter().filter_map(|run| Some((run, run.latency?))) {
                let Latency { searches, median, p90, p99, max } = latency;
                let [median, p90, p99, max] = [median, p90, p99, max].map(|micros| format!("{micros:.0}"));
                table.row([run.mode.name().to_owned(), searches.to_string(), median, p90, p99, max]);
            }
            out += &format!("\n{}", table.render());
        }
        for Compared { name, comparisons } in compared {
            let mut table = TextTable::new(["kind", "measure", "difference", "p", "better", "worse"]);
            for PairedComparison { kind, measure, paired } in comparisons {
                table.row([
                    kind.clone(),
                    measure.as_str().to_owned(),
                    estimate_text(paired.difference),
                    format!("{:.4}", paired.p_value),
                    paired.better.to_string(),
                    paired.worse.to_string(),
                ]);
            }
            out += &format!("\n{name}:\n{}", table.render());
        }
        out + &left_out_text(left_out)
    }

    fn as_json(&self, runs: &[ModeRun], compared: &[Compared], left_out: &SkippedQueries) -> Value {
        let run_json = |run: &ModeRun| {
            let mut value = json!({
                "mode": run.mode.name(),
                "kinds": evaluate::summarise(&run.scores).iter().map(summary_json).collect::<Vec<_>>(),
                "latencyMicros": run.latency,
            });
            if self.queries {
                value["queries"] = run.scores.iter().map(query_json).collect();
            }
            value
        };
        let compared = compared.iter().map(|compared| json!({ "name": compared.name, "kinds": compared.comparisons }));
        json!({
            "runs": runs.iter().map(run_json).collect::<Vec<_>>(),
            "compared": compared.collect::<Vec<_>>(),
            "leftOut": left_out,
        })
    }
}

/// The nDCG@10 of each kind and mode.
fn measured(runs: &[ModeRun]) -> Vec<Floor> {
    let of_run = |run: &ModeRun| {
        let mode = run.mode;
        let floor = move |summary: Summary| Floor { kind: summary.kind, mode, ndcg: summary.estimates[0].mean };
        evaluate::summarise(&run.scores).into_iter().map(floor).collect::<Vec<_>>()
    };
    runs.iter().flat_map(of_run).collect()
}

fn generated_queries(engine: &Engine, count: usize) -> Result<String, Box<dyn std::error::Error>> {
    let mut out = String::new();
    for query in evaluate::generate_queries(engine, count)? {
        out += &serde_json::to_string(&query)?;
        out.push('\n');
    }
    Ok(out)
}

/// The weights for each kind of query, in the form that `--try` accepts.
fn fitted_weights(engine: &Engine, queries: &[ReadyQuery], depth: Depth) -> Result<String, SearchError> {
    let lessons = evaluate::training_examples(engine, queries)?;
    let prefix = if depth == Depth::Deep { "deep." } else { "" };
    let mut out = String::new();
    for kind in [QueryKind::Question, QueryKind::Topic, QueryKind::Phrase] {
        let of_kind: Vec<_> = lessons.iter().filter(|lesson| lesson.kind == kind).collect();
        let weights = evaluate::fit(&of_kind, engine.tuning().weights(depth, kind));
        out += &format!("# {}, fitted to {}\n", kind.as_str(), count(of_kind.len() as u64, "query", "queries"));
        for feature in RankingFeature::ALL.into_iter().filter(|&feature| feature != RankingFeature::Similarity) {
            let (kind, feature, weight) = (kind.as_str(), feature.as_str(), weights.get(feature));
            out += &format!("--try {prefix}{kind}.{feature}={weight:.3}\n");
        }
    }
    Ok(out)
}

fn scores_of(
    engine: &Engine,
    queries: &[ReadyQuery],
    mode: Mode,
    done: &mut dyn FnMut(u64),
) -> Result<Vec<QueryScores>, SearchError> {
    let mut scores = Vec::with_capacity(queries.len());
    for query in queries {
        scores.push(evaluate::measure(engine, query, mode)?);
        done(1);
    }
    Ok(scores)
}

fn compare_modes(pairs: &[(Mode, Mode)], runs: &[ModeRun]) -> Vec<Compared> {
    let run = |mode: Mode| runs.iter().find(|run| run.mode == mode);
    let compare = |&(first, second): &(Mode, Mode)| {
        let (first, second) = (run(first)?, run(second)?);
        let name = format!("{} against {}", first.mode.name(), second.mode.name());
        Some(Compared { name, comparisons: evaluate::compare(&first.scores, &second.scores) })
    };
    pairs.iter().filter_map(compare).collect()
}

fn estimate_text(estimate: Estimate) -> String {
    let Estimate { mean, low, high } = estimate;
    format!("{mean:.3} ({low:.3} to {high:.3})")
}

fn queries_text(queries: &[ReadyQuery], runs: &[ModeRun]) -> String {
    let mut out = String::new();
    for (place, query) in queries.iter().enumerate() {
        let ndcg = runs.iter().map(|run| format!("{} {:.3}", run.mode.name(), run.scores[place].scores[0]));
        out += &format!("{} {}  {}\n", query.id, ndcg.collect::<Vec<_>>().join("  "), query.query);
    }
    out + "\n"
}

fn left_out_text(left_out: &SkippedQueries) -> String {
    let SkippedQueries { queries, judgements, ambiguous, refused } = left_out;
    let mut out = String::new();
    if !refused.is_empty() {
        out += &format!("\nleft out, because search refuses them: {}", refused.join("; "));
    }
    if !queries.is_empty() {
        let queries = count(queries.len() as u64, "query", "queries");
        out += &format!("\nleft out, because the snapshot contains none of their provisions: {queries}");
    }
    if *judgements > 0 {
        let judgements = count(*judgements as u64, "judged provision", "judged provisions");
        out += &format!("\nleft out of other queries, because the snapshot does not contain them: {judgements}");
    }
    if !ambiguous.is_empty() {
        out += &format!("\ncitations that match several provisions, each of which counts: {}", ambiguous.join(", "));
    }
    if !out.is_empty() {
        out.push('\n');
    }
    out
}

fn summary_json(summary: &Summary) -> Value {
    let measures = Measure::ALL.iter().zip(summary.estimates);
    let measures = measures.map(|(measure, estimate)| (measure.as_str().to_owned(), json!(estimate)));
    json!({
        "kind": summary.kind,
        "queries": summary.queries,
        "measures": measures.collect::<serde_json::Map<String, Value>>(),
    })
}

fn query_json(query: &QueryScores) -> Value {
    let measures =
        Measure::ALL.iter().zip(query.scores).map(|(measure, score)| (measure.as_str().to_owned(), json!(score)));
    json!({ "id": query.id, "kind": query.kind, "measures": measures.collect::<serde_json::Map<String, Value>>() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_modes_are_named_with_a_comma() {
        assert_eq!(two_modes("hybrid, keyword"), Ok((Mode::Hybrid, Mode::Keyword)));
        assert!(two_modes("hybrid").unwrap_err().contains("two modes"));
        assert!(two_modes("hybrid,fast").unwrap_err().contains("unknown mode 'fast'"));
    }

    #[test]
    fn left_out_queries_are_reported() {
        assert_eq!(left_out_text(&SkippedQueries::default()), "");
        let reported = left_out_text(&SkippedQueries {
            queries: vec!["q1".into(), "q2".into()],
            judgements: 3,
            ambiguous: vec!["1 U.S.C. § 1".into()],
            refused: vec!["q3: too long".into()],
        });
        for said in ["2 queries", "3 judged provisions", "1 U.S.C. § 1", "search refuses them: q3: too long"] {
            assert!(reported.contains(said), "{reported}");
        }
    }
}
