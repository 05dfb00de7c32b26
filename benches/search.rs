//! Measures searching: latency by mode and filter, stages, throughput, hostile queries, and
//! tantivy's own parser, collector and snippets on the same data. Results are in
//! `benches/README.md`.
//!
//! `cargo bench --bench search -- --snapshot DIR [--snapshot DIR ...]` measures existing snapshots
//! with the judged queries of `tests/quality` that they can answer. Several snapshots show how the
//! cost grows. Without a snapshot it builds the sample corpus, which only shows that the bench
//! runs. With `--peer tantivy` it compares only the keyword leg with tantivy's own boolean query,
//! collectors and count over the same index, in turns.

#[path = "support/snapshots.rs"]
mod snapshots;

use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use hornbook::evaluate::{Latency, ReadyQuery, percentile, prepare, read};
use hornbook_base::random::SplitMix64;
use hornbook_corpus::analyzer::{ANALYZER_ID, LawTokenizer};
use hornbook_corpus::ids::{NodeOrdinal, OrdinalRange};
use hornbook_corpus::snapshot::Snapshot;
use hornbook_search::{
    Engine, Filter, Hit, Mode, QUERY_CHARS_MAX, SearchRequest, Stage, StageMicros, SuggestRequest, Tuning,
};
use tantivy::Term;
use tantivy::collector::{Count, TopDocs};
use tantivy::query::{BooleanQuery, BoostQuery, Occur, Query, QueryParser, TermQuery};
use tantivy::schema::IndexRecordOption;
use tantivy::snippet::SnippetGenerator;
use tantivy::tokenizer::{TextAnalyzer, TokenStream};

/// How often each query runs in each run, after one warm-up.
const ROUNDS: usize = 6;

/// The number of runs from which the spread is computed.
const RUNS: usize = 5;

const PAGE: u32 = 20;

/// How long throughput is measured.
const THROUGHPUT_FOR: Duration = Duration::from_secs(3);

const JUDGED: [&str; 4] = ["questions", "topics", "citations", "phrases"];

fn main() {
    let scratch = tempfile::tempdir().expect("a temporary folder can be made");
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let peer = arguments.iter().zip(arguments.iter().skip(1)).find(|(name, _)| *name == "--peer").map(|(_, peer)| peer);
    let measured: fn(&Path) = match peer.map(String::as_str) {
        None => measure,
        Some("tantivy") => compare_with_tantivy,
        Some(other) => panic!("there is no peer '{other}'; the only one is tantivy"),
    };
    snapshots::snapshots(&scratch).iter().for_each(|path| measured(path));
}

/// Searches by words with our leg and with tantivy's `Searcher`, in turns. Neither makes snippets.
fn compare_with_tantivy(path: &Path) {
    let snapshot = Arc::new(Snapshot::open(path).unwrap_or_else(|error| panic!("{error}")));
    let engine = Engine::new(Arc::clone(&snapshot)).unwrap_or_else(|error| panic!("{error}"));
    let queries = queries(&snapshot);
    println!(
        "\n{}: {} provisions, {} queries; the first {PAGE} results and the number of matches",
        snapshot.manifest.name,
        snapshot.manifest.counts.provisions,
        queries.len()
    );
    let filter = Filter::within(None);
    let ours = |query: &ReadyQuery| {
        let wanted = SearchRequest { mode: Mode::Keyword, limit: PAGE, ..SearchRequest::new(&query.query) };
        let request = SearchRequest { filter: &filter, ..wanted };
        timed(|| engine.search(&request).unwrap_or_else(|error| panic!("'{}': {error}", query.query)).total)
    };
    let searcher = snapshot.keyword.searcher();
    let booleans: Vec<BooleanQuery> = queries.iter().map(|query| boolean_query(&snapshot, &query.query)).collect();
    let theirs = |query: &BooleanQuery| {
        let collectors = (TopDocs::with_limit(PAGE as usize).order_by_score(), Count);
        timed(|| searcher.search(query, &collectors).unwrap_or_else(|error| panic!("{error}")))
    };
    let mut ratios = Vec::new();
    for run in 1..=RUNS {
        let all = |ask: &dyn Fn(usize) -> f64| {
            let asked = (0..ROUNDS).flat_map(|_| 0..queries.len());
            Latency::of(asked.map(ask).collect()).median
        };
        let (ours, theirs) = (all(&|place| ours(&queries[place])), all(&|place| theirs(&booleans[place])));
        println!("run {run}: our leg {ours:.0} us with understanding the query, tantivy {theirs:.0} us");
        ratios.push(theirs / ours);
    }
    ratios.sort_by(f64::total_cmp);
    println!("tantivy's median over ours: {:.2} ({:.2} to {:.2})", ratios[RUNS / 2], ratios[0], ratios[RUNS - 1]);
}

/// Any of the query's words, in any of the fields that our leg searches.
fn boolean_query(snapshot: &Snapshot, query: &str) -> BooleanQuery {
    let fields = snapshot.keyword.fields();
    let weighted = [(fields.heading, 4.0), (fields.text, 1.0), (fields.citation, 1.0), (fields.breadcrumb, 1.0)];
    let mut analyzer = TextAnalyzer::from(LawTokenizer::default());
    let mut tokens = analyzer.token_stream(query);
    let mut terms: Vec<(Occur, Box<dyn Query>)> = Vec::new();
    while let Some(token) = tokens.next() {
        for (field, weight) in weighted {
            let term = Term::from_field_text(field, &token.text);
            let term = TermQuery::new(term, IndexRecordOption::WithFreqs);
            terms.push((Occur::Should, Box::new(BoostQuery::new(Box::new(term), weight))));
        }
    }
    BooleanQuery::new(terms)
}

fn measure(path: &Path) {
    let snapshot = Arc::new(Snapshot::open(path).unwrap_or_else(|error| panic!("{error}")));
    let counts = &snapshot.manifest.counts;
    println!("\n{}: {} provisions, {} chunks", snapshot.manifest.name, counts.provisions, counts.chunks);
    let began = Instant::now();
    let engine = Engine::new(Arc::clone(&snapshot)).unwrap_or_else(|error| panic!("{error}"));
    println!("engine ready after {:.1} ms", began.elapsed().as_secs_f64() * 1e3);
    let queries = queries(&snapshot);
    println!(
        "{} queries, {ROUNDS} times each, pages of {PAGE} with snippets; {RUNS} runs, by their medians",
        queries.len()
    );
    for mode in Mode::ALL {
        report(mode.name(), || queries.iter().map(|query| ask(&engine, query, mode, query.range)).collect());
    }
    stages(&engine, &queries);
    filters(&engine, &queries);
    throughput(&engine, &queries);
    suggestions(&engine, &queries);
    measure_similarities(&snapshot, &queries);
    measure_hostile_queries(&engine, &queries);
    measure_tantivy(&snapshot, &queries);
}

/// The judged queries that the snapshot can answer, or headings if it contains none of their law.
fn queries(snapshot: &Snapshot) -> Vec<ReadyQuery> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/quality");
    let judged = JUDGED
        .iter()
        .flat_map(|kind| read(&folder.join(format!("{kind}.jsonl"))).unwrap_or_else(|error| panic!("{error}")));
    let judged: Vec<_> = judged.collect();
    let (ready, _) = prepare(snapshot, &judged).unwrap_or_else(|error| panic!("{error}"));
    match ready.is_empty() {
        true => hornbook::evaluate::headings(snapshot, None, 100).unwrap_or_else(|error| panic!("{error}")),
        false => ready,
    }
}

/// Microseconds from the query to a page ready to show.
fn ask(engine: &Engine, query: &ReadyQuery, mode: Mode, range: Option<OrdinalRange>) -> f64 {
    timed(|| page(engine, &query.query, mode, range))
}

fn page(engine: &Engine, query: &str, mode: Mode, range: Option<OrdinalRange>) -> StageMicros {
    let filter = Filter::within(range);
    let request = SearchRequest { mode, filter: &filter, limit: PAGE, ..SearchRequest::new(query) };
    let mut response = engine.search(&request).unwrap_or_else(|error| panic!("'{query}': {error}"));
    black_box(engine.show(&mut response).unwrap_or_else(|error| panic!("'{query}': {error}")));
    response.stages
}

fn timed<R>(work: impl FnOnce() -> R) -> f64 {
    let began = Instant::now();
    black_box(work());
    began.elapsed().as_secs_f64() * 1e6
}

/// Runs all queries once as a warm-up, then `ROUNDS` times in each run. Returns the median of the medians.
fn report(what: &str, mut ask_all: impl FnMut() -> Vec<f64>) -> f64 {
    ask_all();
    let mut runs: Vec<Latency> =
        (0..RUNS).map(|_| Latency::of((0..ROUNDS).flat_map(|_| ask_all()).collect())).collect();
    runs.sort_by(|a, b| a.median.total_cmp(&b.median));
    let (least, most) = (runs[0].median, runs[RUNS - 1].median);
    let Latency { median, p90, p99, max, .. } = runs[RUNS / 2];
    println!("{what}: median {median:.0} us ({least:.0} to {most:.0}), p90 {p90:.0}, p99 {p99:.0}, max {max:.0}");
    median
}

/// Ten suggestions for prefixes of the queries of 2 to 30 characters, as if a user typed them.
fn suggestions(engine: &Engine, queries: &[ReadyQuery]) {
    let prefixes: Vec<String> = queries
        .iter()
        .flat_map(|query| (2..=30).step_by(4).map(|chars| query.query.chars().take(chars).collect()))
        .collect();
    report("suggestions while typing", || prefixes.iter().map(|text| suggest(engine, text)).collect());
}

/// Microseconds for ten suggestions.
fn suggest(engine: &Engine, text: &str) -> f64 {
    let request = SuggestRequest::new(text);
    timed(|| engine.suggest(&request).unwrap_or_else(|error| panic!("'{text}': {error}")))
}

/// Inputs that try to make suggestions expensive.
fn hostile_suggestions(engine: &Engine, everyday: f64) {
    let repeated = |text: &str| text.chars().cycle().take(QUERY_CHARS_MAX).collect::<String>();
    let suggestions = &engine.snapshot().suggestions;
    let words = (0..suggestions.word_count()).map(|number| suggestions.word(number));
    let plain = |word: &&str| (8..=14).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_lowercase());
    let words: Vec<&str> = words.filter(plain).collect();
    // Two letters replaced in the middle of words from all over the vocabulary.
    let misspelt = |word: &&str| format!("{}qx{} ", &word[..3], &word[5..]);
    let misspelt: String = words.iter().step_by((words.len() / 100).max(1)).map(misspelt).collect();
    let mut worst: (f64, &str) = (0.0, "");
    for (name, text) in [
        ("misspelt words", misspelt.chars().take(QUERY_CHARS_MAX).collect()),
        ("long words with nothing similar", repeated("zzxxyyqqkkwwjj ")),
        ("four letters, similar to many words", repeated("sxct dxfe taxs lxnd wxrk fxnd cxre bxnk ")),
        ("common words", repeated("of the and for in to ")),
        ("one common word again and again", repeated("of ")),
        ("one letter", "s".into()),
        ("two letters, with a common word", "of s".into()),
    ] {
        suggest(engine, &text);
        let median = Latency::of((0..ROUNDS).map(|_| suggest(engine, &text)).collect()).median;
        println!("hostile suggestions, {name}: median {median:.0} us");
        if median > worst.0 {
            worst = (median, name);
        }
    }
    println!(
        "worst suggestions: {} at {:.1} times the median of ordinary hybrid searches",
        worst.1,
        worst.0 / everyday
    );
}

fn stages(engine: &Engine, queries: &[ReadyQuery]) {
    let of_all: Vec<StageMicros> = (0..ROUNDS)
        .flat_map(|_| queries.iter().map(|query| page(engine, &query.query, Mode::Hybrid, query.range)))
        .collect();
    // No query requests facets.
    let asked = Stage::ALL.into_iter().filter(|stage| *stage != Stage::Facets);
    let figures = asked.map(|stage| {
        let values = of_all.iter().map(|stages| f64::from(stages[stage])).collect();
        let Latency { median, p99, .. } = Latency::of(values);
        format!("{} {median:.0} ({p99:.0})", stage.name())
    });
    println!("hybrid by stage, median (p99) us: {}", figures.collect::<Vec<_>>().join(", "));
}

/// Every jurisdiction, every code body and the top-level parts of the largest one.
fn filters(engine: &Engine, queries: &[ReadyQuery]) {
    let snapshot = engine.snapshot();
    let jurisdictions = snapshot.catalogue.jurisdictions.iter().filter(|jurisdiction| !jurisdiction.subtree.is_empty());
    let mut ranges: Vec<(String, OrdinalRange)> =
        jurisdictions.map(|jurisdiction| (jurisdiction.short_code.to_string(), jurisdiction.subtree)).collect();
    let bodies = snapshot.catalogue.code_bodies.iter();
    ranges.extend(bodies.map(|body| (body.name.clone(), body.nodes)));
    for (name, range) in ranges {
        let what = format!("hybrid in {name}, {} nodes", range.len());
        report(&what, || queries.iter().map(|query| ask(engine, query, Mode::Hybrid, Some(range))).collect());
    }
}

fn throughput(engine: &Engine, queries: &[ReadyQuery]) {
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    for mode in [Mode::Hybrid, Mode::Keyword] {
        let next = AtomicUsize::new(0);
        let began = Instant::now();
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    while began.elapsed() < THROUGHPUT_FOR {
                        let query = &queries[next.fetch_add(1, Ordering::Relaxed) % queries.len()];
                        page(engine, &query.query, mode, query.range);
                    }
                });
            }
        });
        let rate = next.into_inner() as f64 / began.elapsed().as_secs_f64();
        println!("{} on {threads} threads: {rate:.0} queries a second", mode.name());
    }
}

/// Queries that try to make a search expensive, none longer than the part of a query that is read.
fn measure_hostile_queries(engine: &Engine, queries: &[ReadyQuery]) {
    let everyday =
        Latency::of((0..ROUNDS).flat_map(|_| queries.iter().map(|q| ask(engine, q, Mode::Hybrid, None))).collect());
    let mut worst: (f64, String) = (0.0, String::new());
    for (name, query) in hostile_queries(engine.snapshot()) {
        for mode in Mode::ALL {
            page(engine, &query, mode, None);
            let times: Vec<f64> = (0..ROUNDS).map(|_| timed(|| page(engine, &query, mode, None))).collect();
            let median = Latency::of(times).median;
            println!("hostile, {name}, {}: median {median:.0} us", mode.name());
            if median > worst.0 {
                worst = (median, format!("{name}, {}", mode.name()));
            }
        }
    }
    let filter = Filter { min_score: 0.01, ..Filter::default() };
    let least = || SearchRequest { filter: &filter, limit: PAGE, ..SearchRequest::new(COMMON_WORDS) };
    let times: Vec<f64> = (0..ROUNDS).map(|_| timed(|| engine.search(&least()).map(|found| found.total))).collect();
    let median = Latency::of(times).median;
    println!("hostile, a minimum score with the most common words: median {median:.0} us");
    if median > worst.0 {
        worst = (median, "a minimum score with the most common words".to_owned());
    }
    println!(
        "worst: {} at {:.1} times the median of ordinary hybrid searches, {:.0} us",
        worst.1,
        worst.0 / everyday.median,
        everyday.median
    );
    hostile_suggestions(engine, everyday.median);
}

const COMMON_WORDS: &str =
    "shall state section person act title chapter years provided agency united department purposes regulations";

fn hostile_queries(snapshot: &Snapshot) -> Vec<(&'static str, String)> {
    let repeated = |text: &str| text.chars().cycle().take(QUERY_CHARS_MAX).collect::<String>();
    // Words of the law itself, so that each has many postings.
    let longest = (0..snapshot.outline.len()).map(NodeOrdinal).filter_map(|node| {
        let chunks = snapshot.chunks.chunks_of(node);
        let record = snapshot.nodes.get(node).ok().filter(|_| chunks.len() > 2)?;
        Some((record.wording(0).text.length, record.wording(0).text))
    });
    let law = longest.max_by_key(|(length, _)| *length).and_then(|(_, span)| snapshot.texts.get(span).ok());
    let law = law.unwrap_or("shall be the of and in to").replace(['"', '“', '”'], " ");
    let law: String = law.chars().take(QUERY_CHARS_MAX).collect();
    vec![
        ("a page of law", law.clone()),
        ("a page of law in quotes", format!("\"{}\"", law.chars().take(QUERY_CHARS_MAX - 2).collect::<String>())),
        ("the most common words", repeated(&format!("{COMMON_WORDS} "))),
        (
            "phrases of common words",
            "\"of the united states\" \"shall be\" \"in the case of\" \"for the purposes of\"".into(),
        ),
        ("exclusions of common words", "water -the -of -shall -state -section -act".into()),
        ("exclusions of two phrases of common words", "state -\"of state\" -\"any state\"".into()),
        (
            "exclusions of eight phrases of common words",
            "state -\"of state\" -\"any state\" -\"state of\" -\"the state\" -\"each state\" -\"state or\" -\"such state\" \
             -\"state shall\""
                .into(),
        ),
        ("stop words", repeated("to be or not to be that is the question of the and in a ")),
        ("stop words in quotes", "\"of the\" \"in the\" \"to the\"".into()),
        ("citations", repeated("42 USC 1983, 26 USC 501, 18 USC 922, 5 USC 552, ")),
        ("numbers", repeated("1 2 3 4 5 6 7 8 9 10 11 12 101 102 103 ")),
        ("section signs", repeated("§ ")),
        ("quotes", repeated("\" ")),
        ("brackets and operators", repeated("(+[{^~*?:\\ AND OR NOT ")),
        ("one long word", repeated("a")),
        ("compounds", repeated("1395w-4-a-b-c ")),
        ("combining marks", repeated("a\u{301}\u{302} ")),
        ("other scripts", repeated("北京ΑΘΗΝΑ ")),
    ]
}

/// Prints the similarity of the nearest passages: for judged queries of the best one and of those
/// that answer, for nonsense of the best one. The similarity floors are chosen from these figures.
fn measure_similarities(snapshot: &Arc<Snapshot>, queries: &[ReadyQuery]) {
    let tuning = Tuning { similarity_floor: -1.0, similarity_floor_without_words: -1.0, ..Tuning::MEASURED };
    let engine = Engine::with_tuning(Arc::clone(snapshot), tuning).unwrap_or_else(|error| panic!("{error}"));
    let similarities = |query: &str, range| -> Vec<(NodeOrdinal, f64)> {
        let filter = Filter::within(range);
        let filter = &filter;
        let request =
            SearchRequest { mode: Mode::Semantic, filter, limit: 100, explain: true, ..SearchRequest::new(query) };
        let response = engine.search(&request).unwrap_or_else(|error| panic!("'{query}': {error}"));
        let similarity =
            |hit: &Hit| hit.explain.as_ref().and_then(|explain| explain.vector).map(|leg| leg.score.into());
        response.hits.iter().filter_map(|hit| Some((hit.node, similarity(hit)?))).collect()
    };
    let mut answers = Vec::new();
    let mut bests = Vec::new();
    for query in queries {
        let found = similarities(&query.query, query.range);
        bests.extend(found.iter().map(|&(_, similarity)| similarity).reduce(f64::max));
        answers.extend(found.iter().filter(|(node, _)| query.grade(*node) > 0).map(|&(_, similarity)| similarity));
    }
    spread("judged queries, their best passage", bests);
    spread("judged queries, passages that answer", answers);
    for (kind, nonsense) in nonsense() {
        let best = |text: &String| similarities(text, None).iter().map(|&(_, similarity)| similarity).reduce(f64::max);
        spread(kind, nonsense.iter().filter_map(best).collect());
    }
}

fn spread(what: &str, mut values: Vec<f64>) {
    values.sort_unstable_by(f64::total_cmp);
    let at =
        [0.0, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1.0].map(|part| format!("{:.3}", percentile(&values, part)));
    println!("similarity, {what}, {} values: min, 1, 5, 25, 50, 75, 95, 99 %, max: {}", values.len(), at.join(" "));
}

/// Random texts without meaning, the same in every run.
fn nonsense() -> Vec<(&'static str, Vec<String>)> {
    let mut random = SplitMix64(21);
    let mut word = |letters: &[u8], least: usize, more: usize| -> String {
        let length = least + random.index(more);
        (0..length).map(|_| char::from(letters[random.index(letters.len())])).collect()
    };
    let all: Vec<u8> = (b'a'..=b'z').collect();
    let mut many = |letters: &[u8], words: usize, least: usize, more: usize| -> Vec<String> {
        (0..200).map(|_| (0..words).map(|_| word(letters, least, more)).collect::<Vec<_>>().join(" ")).collect()
    };
    vec![
        ("nonsense, one word of any letters", many(&all, 1, 5, 10)),
        ("nonsense, three words of any letters", many(&all, 3, 4, 8)),
        ("nonsense, ten words of any letters", many(&all, 10, 4, 8)),
        ("nonsense, only consonants", many(b"bcdfghjklmnpqrstvwxz", 1, 5, 8)),
        ("nonsense, rare letters", many(b"zqxjkwv", 1, 4, 8)),
        ("nonsense, one row of keys", many(b"asdfghjkl", 2, 4, 6)),
        ("nonsense, hexadecimal digits", many(b"0123456789abcdef", 1, 12, 20)),
    ]
}

/// The same queries through tantivy's own parser, collectors and snippets, with the texts in memory.
fn measure_tantivy(snapshot: &Snapshot, queries: &[ReadyQuery]) {
    let (searcher, fields) = (snapshot.keyword.searcher(), snapshot.keyword.fields());
    searcher.index().tokenizers().register(ANALYZER_ID, TextAnalyzer::from(LawTokenizer::default()));
    let mut parser =
        QueryParser::for_index(searcher.index(), vec![fields.heading, fields.text, fields.citation, fields.breadcrumb]);
    parser.set_field_boost(fields.heading, 4.0);
    let run = |query: &str, with_snippets: bool| {
        let (parsed, _) = parser.parse_query_lenient(query);
        let found = searcher.search(&parsed, &(TopDocs::with_limit(PAGE as usize).order_by_score(), Count));
        let (top, count) = found.unwrap_or_else(|error| panic!("'{query}': {error}"));
        let generator = with_snippets.then(|| SnippetGenerator::create(searcher, &*parsed, fields.text));
        let generator = generator.transpose().unwrap_or_else(|error| panic!("'{query}': {error}"));
        for (_, address) in &top {
            let record = snapshot.nodes.get(NodeOrdinal(address.doc_id)).unwrap_or_else(|error| panic!("{error}"));
            let text = snapshot.texts.get(record.wording(0).text).unwrap_or_default();
            if let Some(generator) = &generator {
                black_box(generator.snippet(text));
            }
        }
        count
    };
    let all =
        |with_snippets| queries.iter().map(|query| timed(|| run(&query.query, with_snippets))).collect::<Vec<f64>>();
    report("tantivy's parser and collectors", || all(false));
    report("tantivy's parser, collectors and snippets", || all(true));
}
