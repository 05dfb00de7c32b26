//! `hornbook search`: finds provisions in a snapshot and prints them.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use hornbook::api::own_synonyms::read_synonyms;
use hornbook_corpus::day::Day;
use hornbook_corpus::snapshot::Snapshot;
use hornbook_search::{
    DepthChoice, Engine, Facets, Highlight, Mode, PlaceEffect, Relation, SearchError, SearchRequest, SearchResponse,
    ShownHit, UnderstoodPlace,
};
use serde_json::{Value, json};

use crate::cli::as_of::AsOf;
use crate::cli::filters::Filters;
use crate::cli::output::{BOLD, CommandError, NOT_BOLD, currency, print, print_json, status_mark};
use crate::cli::{CommandResult, GlobalOptions};

/// Maximum number of characters in a line of output.
const WIDTH: usize = 96;

/// Maximum number of facets of each kind in the text output.
const FACETS_SHOWN: usize = 12;

/// Find provisions by citation, by words, or by a question
///
/// A citation anywhere in the query puts its provision first. "Words in quotes" must occur next to
/// each other, and a word with a minus sign, such as -word, must not occur.
#[derive(Debug, Args)]
pub(crate) struct Search {
    /// The query; put the folder of the snapshot before it to use another than the current one
    #[arg(value_name = "[SNAPSHOT] QUERY", required = true, allow_hyphen_values = false)]
    words: Vec<String>,

    /// Search by words, by meaning, or by both
    #[arg(long, value_parser = mode_parser(), default_value_t)]
    mode: Mode,

    /// Search fast, deep with the sentence encoder of the snapshot, or deep only for questions
    /// where that is possible
    #[arg(long, value_parser = depth_parser(), default_value_t)]
    depth: DepthChoice,

    #[command(flatten)]
    filters: Filters,

    /// Results per page
    #[arg(long, default_value_t = 10, value_name = "COUNT")]
    limit: u32,

    /// Page number, from 1
    #[arg(long, default_value_t = 1, value_name = "NUMBER")]
    page: u32,

    /// Search for the words as typed: do not correct misspelt words, and do not use place names to
    /// narrow or rank
    #[arg(long)]
    exact: bool,

    /// Also count all matches by jurisdiction and by tag
    #[arg(long)]
    facets: bool,

    /// Also show how each result was ranked and how long each stage took
    #[arg(long)]
    explain: bool,

    /// Search with these synonyms instead of those of the setting search.synonyms, to try them;
    /// --explain shows what they add
    #[arg(long, value_name = "FILE")]
    synonyms: Option<PathBuf>,

    #[command(flatten)]
    as_of: AsOf,
}

/// Parses the name of a mode.
pub(super) fn mode_parser() -> impl TypedValueParser<Value = Mode> {
    let named = |mode: Mode| PossibleValue::new(mode.name()).help(mode.meaning());
    PossibleValuesParser::new(Mode::ALL.map(named)).try_map(|name| name.parse::<Mode>())
}

/// Parses the name of a depth.
pub(super) fn depth_parser() -> impl TypedValueParser<Value = DepthChoice> {
    let named = |depth: DepthChoice| PossibleValue::new(depth.name()).help(depth.meaning());
    PossibleValuesParser::new(DepthChoice::ALL.map(named)).map(|name| {
        let named = DepthChoice::ALL.into_iter().find(|depth| depth.name() == name);
        named.expect("only these names are possible")
    })
}

impl Search {
    pub(super) fn run(self, options: &GlobalOptions) -> CommandResult {
        let (folder, query) = snapshot_and_text("search", &self.words)?;
        let synonyms = match self.synonyms {
            Some(file) => Some(file),
            None => options.configuration()?.search.synonyms,
        };
        let synonyms = read_synonyms(synonyms.as_deref())?;
        let engine = Engine::with_synonyms(Arc::new(Snapshot::open(&options.snapshot(folder)?)?), synonyms)?;
        let filter = self.filters.read(engine.snapshot())?;
        let request = SearchRequest {
            mode: self.mode,
            depth: self.depth.depth(&query, self.mode, || engine.deep_ready().is_ok()),
            page: self.page,
            limit: self.limit,
            filter: &filter,
            facets: self.facets,
            explain: self.explain,
            exact: self.exact,
            day: Some(self.as_of.day()),
            ..SearchRequest::new(&query)
        };
        let mut response = engine.search(&request)?;
        let hits = engine.show(&mut response)?;
        match options.json {
            true => print_json(&as_json(&engine, &request, &response, &hits)?),
            false => print(&as_text(&engine, &request, &response, &hits, Emphasis::for_stdout())?),
        }
    }
}

/// Splits `[SNAPSHOT] TEXT`. The first word is the snapshot if it is the folder of one and more
/// words follow. A snapshot in another position, or without text, is an error that shows the
/// correct order.
pub(super) fn snapshot_and_text(command: &str, words: &[String]) -> Result<(Option<PathBuf>, String), String> {
    let is_snapshot = |word: &String| Path::new(word).join("manifest.json").is_file();
    let is_elsewhere = |word: &String| word.contains('/') && Path::new(word).is_dir();
    match words {
        [only] if is_snapshot(only) => {
            Err(format!("'{only}' is a snapshot; put the query after it: hornbook {command} '{only}' TEXT"))
        }
        [first, rest @ ..] if !rest.is_empty() && is_snapshot(first) => Ok((Some(first.into()), rest.join(" "))),
        [first, _, ..] if is_elsewhere(first) => {
            Err(format!("'{first}' is not a snapshot: it has no manifest.json; 'hornbook build' makes snapshots"))
        }
        [text @ .., last] if !text.is_empty() && is_snapshot(last) => {
            let text = text.join(" ");
            Err(format!("the snapshot comes first: hornbook {command} '{last}' '{text}'"))
        }
        _ => Ok((None, words.join(" "))),
    }
}

fn as_text(
    engine: &Engine,
    request: &SearchRequest<'_>,
    response: &SearchResponse,
    hits: &[ShownHit<'_>],
    emphasis: Emphasis,
) -> Result<String, CommandError> {
    let (snapshot, day) = (engine.snapshot(), request.day.unwrap_or(Day::LAST));
    let first = (request.page - 1) * request.limit + 1;
    let mut out = response.corrected_query.as_deref().map_or_else(String::new, |corrected| {
        format!("searched for '{corrected}'; --exact searches for '{}'\n\n", request.query)
    });
    if let Some(UnderstoodPlace { name, words, effect, .. }) = &response.understood {
        let what = match effect {
            PlaceEffect::Filter => "searched only in",
            PlaceEffect::Preference => "ranked higher: the law of",
        };
        out += &format!("{what} {name}, because the query says '{words}'; --exact searches everywhere equally\n\n");
    }
    if let Some(name) = &response.not_loaded {
        out += &format!("{name} is known, but this snapshot does not contain its law yet\n\n");
    }
    for ((number, hit), shown) in (first..).zip(&response.hits).zip(hits) {
        let ShownHit { provision, snippet } = shown;
        let status = status_mark(provision.shown.status);
        let relation = hit.relation.filter(|&relation| relation != Relation::Named);
        let relation = relation.map_or_else(String::new, |relation| format!(" [{}]", relation.as_str()));
        out += &format!("{number:>3}. {}  {}{status}{relation}\n", provision.citation, provision.heading);
        if let Some(body) = provision.code_body {
            let currency = currency(engine, hit.node, day)?;
            let mark = if currency.is_empty() { "" } else { ", " };
            out += &format!("     {} ({}){mark}{currency}\n", body.name, body.jurisdiction);
        }
        let end = if snippet.has_text_after { " …" } else { "" };
        out += &wrapped(&(emphasis.of(snippet.text, &snippet.highlights) + end), "     ");
        if let Some(explain) = &hit.explain {
            out += &format!("     {explain}\n");
        }
        out.push('\n');
    }
    let last = first + (hits.len() as u32).saturating_sub(1);
    out += &match (hits.is_empty(), response.total) {
        (true, 0) => "nothing found; try other words, or fewer\n".to_owned(),
        (true, total) => format!("no results on page {}; {total} in all\n", request.page),
        (false, total) => format!("{first} to {last} of {total}\n"),
    };
    if let Some(facets) = &response.facets {
        out += &facets_text(snapshot, facets);
    }
    if let Some(explained) = response.explained() {
        out += &explained;
        out.push('\n');
    }
    Ok(out)
}

fn facets_text(snapshot: &Snapshot, facets: &Facets) -> String {
    let codes = facets.jurisdictions.iter().map(|facet| {
        let jurisdiction = &snapshot.catalogue.jurisdictions[facet.place];
        format!("{} {}", jurisdiction.short_code, facet.count)
    });
    let tags = facets.tags.iter().map(|facet| format!("{} {}", snapshot.catalogue.tags[facet.place], facet.count));
    let shown = |facets: Vec<String>| facets.join(", ");
    format!(
        "jurisdictions: {}\ntags: {}\n",
        shown(codes.take(FACETS_SHOWN).collect()),
        shown(tags.take(FACETS_SHOWN).collect())
    )
}

/// How the query's words are highlighted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Emphasis {
    /// Used for files and pipes, and if `NO_COLOR` is set.
    None,
    Bold,
}

impl Emphasis {
    fn for_stdout() -> Self {
        let is_unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        if std::io::stdout().is_terminal() && !is_unwanted { Self::Bold } else { Self::None }
    }

    fn of(self, text: &str, highlights: &[Highlight]) -> String {
        if self == Self::None {
            return text.to_owned();
        }
        let mut out = String::with_capacity(text.len() + highlights.len() * (BOLD.len() + NOT_BOLD.len()));
        let mut left = highlights.iter().peekable();
        let ends_at = |at: u32| move |highlight: &&Highlight| highlight.end == at;
        for (at, c) in (0..).zip(text.chars()) {
            out.extend(left.next_if(ends_at(at)).map(|_| NOT_BOLD));
            out.extend(left.peek().filter(|highlight| highlight.start == at).map(|_| BOLD));
            out.push(c);
        }
        out.extend(left.next().map(|_| NOT_BOLD));
        out
    }
}

/// The width of a word on a terminal, which does not show escape sequences.
fn width_of(word: &str) -> usize {
    word.chars().count() - word.matches(BOLD).count() * BOLD.len() - word.matches(NOT_BOLD).count() * NOT_BOLD.len()
}

/// Wraps a text into indented lines.
fn wrapped(text: &str, indent: &str) -> String {
    let mut out = String::new();
    let mut width = 0;
    for word in text.split_whitespace() {
        let len = width_of(word);
        if width > 0 && width + 1 + len > WIDTH {
            out.push('\n');
            width = 0;
        }
        out += if width == 0 { indent } else { " " };
        out += word;
        width += len + 1;
    }
    if width > 0 {
        out.push('\n');
    }
    out
}

fn as_json(
    engine: &Engine,
    request: &SearchRequest<'_>,
    response: &SearchResponse,
    hits: &[ShownHit<'_>],
) -> Result<Value, CommandError> {
    let snapshot = engine.snapshot();
    let results = response.hits.iter().zip(hits).map(|(hit, ShownHit { provision: shown, snippet })| {
        let mut result = json!({
            "id": shown.id,
            "citation": shown.citation,
            "heading": shown.heading,
            "status": shown.shown.status,
            "effectiveFrom": shown.shown.from,
            "effectiveTo": shown.shown.to,
            "currentThrough": engine.current_through(hit.node)?,
            "jurisdiction": shown.code_body.map(|body| &body.jurisdiction),
            "codeBody": shown.code_body.map(|body| &body.name),
            "codeBodyId": shown.code_body.map(|body| body.id),
            "score": hit.score,
            "relation": hit.relation,
            "snippet": snippet.text,
            "highlights": snippet.highlights,
        });
        if let Some(explain) = &hit.explain {
            result["explain"] = json!(explain);
        }
        Ok(result)
    });
    let mut out = json!({
        "query": request.query,
        "mode": request.mode.name(),
        "depth": response.depth.name(),
        "page": request.page,
        "limit": request.limit,
        "total": response.total,
        "results": results.collect::<Result<Vec<Value>, SearchError>>()?,
    });
    if let Some(corrected) = &response.corrected_query {
        out["correctedQuery"] = json!(corrected);
    }
    if !response.unrestricting.is_empty() {
        out["unrestrictingPhrases"] = json!(response.unrestricting);
    }
    if let Some(understood) = &response.understood {
        out["understood"] = json!(understood);
    }
    if let Some(name) = &response.not_loaded {
        out["notLoaded"] = json!(name);
    }
    if let Some(facets) = &response.facets {
        out["facets"] = facets_json(snapshot, facets);
    }
    if let Some(explain) = &response.explain {
        out["explain"] = json!({ "query": explain, "microseconds": response.stages });
    }
    Ok(out)
}

fn facets_json(snapshot: &Snapshot, facets: &Facets) -> Value {
    let jurisdictions = facets.jurisdictions.iter().map(|facet| {
        let jurisdiction = &snapshot.catalogue.jurisdictions[facet.place];
        json!({ "value": jurisdiction.short_code, "name": jurisdiction.name, "count": facet.count })
    });
    let tags =
        facets.tags.iter().map(|facet| json!({ "value": snapshot.catalogue.tags[facet.place], "count": facet.count }));
    json!({ "jurisdictions": jurisdictions.collect::<Vec<_>>(), "tags": tags.collect::<Vec<_>>() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_broken_between_words() {
        assert_eq!(wrapped("a b  c", "> "), "> a b c\n");
        assert_eq!(wrapped("", "> "), "");
        let lines = wrapped(&"word ".repeat(60), "  ");
        assert!(lines.lines().all(|line| line.len() <= WIDTH + 2 && line.starts_with("  word")), "{lines}");
    }

    #[test]
    fn matches_are_bold_only_on_a_terminal() {
        let highlights = [(0, 3), (6, 8), (8, 9)].map(|(start, end)| Highlight { start, end });
        assert_eq!(Emphasis::None.of("fée is due", &highlights), "fée is due");
        let bold = Emphasis::Bold.of("fée is dué", &[Highlight { start: 0, end: 3 }, Highlight { start: 7, end: 10 }]);
        assert_eq!(bold, "\u{1b}[1mfée\u{1b}[22m is \u{1b}[1mdué\u{1b}[22m");
        assert_eq!(bold.split_whitespace().map(width_of).collect::<Vec<_>>(), [3, 2, 3]);
        assert_eq!(Emphasis::Bold.of("fee isdue", &highlights).matches(NOT_BOLD).count(), 3);
        assert_eq!(Emphasis::Bold.of("plain", &[]), "plain");
    }
}
