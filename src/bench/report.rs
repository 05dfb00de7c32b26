//! Renders a result as one HTML file with tables and plots.

use std::fmt::Write as _;

use super::plot::{Axis, Plot, time};
use super::result::{BenchResult, Distribution, PERCENTS, Round};

const STYLE: &str = include_str!("report.css");

pub fn html(result: &BenchResult) -> String {
    let total = &result.total;
    let name = escaped(&result.target.name);
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>hornbook bench: {name}</title>\n\
         <style>{STYLE}</style>\n</head>\n<body>\n<h1>{name}</h1>\n<p class=\"soft\">{}</p>\n",
        escaped(&described(result))
    );
    for warning in warnings(total) {
        let _ = writeln!(out, "<p class=\"warning\">{}</p>", escaped(&warning));
    }
    out += "<h2>Rounds</h2>\n";
    out += &rounds(result);
    out += "<h2>Latency by percentile</h2>\n";
    out += &figure(
        &percentiles(result),
        "From when a request was due until its response was complete. Bold: all rounds together; thin: each round; dashed: \
         measured from when the request was sent, without the wait for a worker.",
    );
    out += "<h2>Distribution of latencies</h2>\n";
    out +=
        &figure(&distribution(total), "Requests by latency, on a logarithmic scale; the dashed lines are percentiles.");
    out += "<h2>Throughput over time</h2>\n";
    out += &figure(&throughput(result), "Responses per second, one round after the other, without the warm-up.");
    if !total.stages.is_empty() {
        out += "<h2>Stages</h2>\n";
        out += &stages(total);
    }
    out + "</body>\n</html>\n"
}

fn described(result: &BenchResult) -> String {
    let BenchResult { hornbook, at, cores, target, load, .. } = result;
    let snapshot = target.snapshot.as_ref().map(|id| format!(", snapshot {id}")).unwrap_or_default();
    format!(
        "{at}, hornbook {hornbook}, {cores} cores{snapshot}. {} queries, mode {}, pages of {}. {}.",
        target.queries,
        target.mode,
        target.limit,
        load.describe_load()
    )
}

/// Reasons to doubt the latencies.
pub fn warnings(total: &Round) -> Vec<String> {
    let mut warnings = Vec::new();
    if total.fell_behind() {
        warnings.push(format!(
            "{} requests were due, but not sent: the target did not keep up, and the latencies are those of a growing \
             queue. Lower --rate, or raise --workers.",
            total.unsent
        ));
    }
    if total.refused > 0 {
        let part = 100.0 * total.refused as f64 / (total.refused + total.answered).max(1) as f64;
        let took = time(total.refused_latency.at(99.0));
        warnings.push(format!(
            "{} requests ({part:.1} %) were refused with 503, 99 % of them within {took}.",
            total.refused
        ));
    }
    for (why, count) in &total.failed {
        warnings.push(format!("{count} requests failed: {why}."));
    }
    warnings
}

fn rounds(result: &BenchResult) -> String {
    let mut out =
        "<div class=\"scroll\"><table>\n<thead><tr><th scope=\"col\">round</th><th scope=\"col\">answered</th>\
                   <th scope=\"col\">per second</th>"
            .to_owned();
    for percent in PERCENTS {
        let _ = write!(out, "<th scope=\"col\">p{percent}</th>");
    }
    out += "<th scope=\"col\">longest</th></tr></thead>\n<tbody>\n";
    let numbered = result.rounds.iter().enumerate().map(|(place, round)| ((place + 1).to_string(), round));
    for (name, round) in numbered.chain([("all".to_owned(), &result.total)]) {
        let _ =
            write!(out, "<tr><th scope=\"row\">{name}</th><td>{}</td><td>{:.0}</td>", round.answered, round.throughput);
        out += &cells(&round.latency);
    }
    out + "</tbody></table></div>\n"
}

/// The table cells of the percentiles and the maximum, with the end of the row.
fn cells(took: &Distribution) -> String {
    let percentiles: String =
        took.percentiles.iter().map(|(_, micros)| format!("<td>{}</td>", time(*micros))).collect();
    format!("{percentiles}<td>{}</td></tr>\n", time(took.max))
}

fn stages(total: &Round) -> String {
    let mut out =
        "<div class=\"scroll\"><table>\n<thead><tr><th scope=\"col\">stage</th><th scope=\"col\">mean</th>".to_owned();
    for percent in PERCENTS {
        let _ = write!(out, "<th scope=\"col\">p{percent}</th>");
    }
    out += "<th scope=\"col\">longest</th></tr></thead>\n<tbody>\n";
    for stage in &total.stages {
        let _ = write!(out, "<tr><th scope=\"row\">{}</th><td>{}</td>", escaped(&stage.name), time(stage.took.mean));
        out += &cells(&stage.took);
    }
    out + "</tbody></table></div>\n"
}

/// The points of a percentile curve, one for each bucket: percent of requests and microseconds.
fn curve(took: &Distribution) -> impl Iterator<Item = (f64, f64)> {
    let count = took.count.max(1) as f64;
    let mut below = 0_u64;
    let steps = took.buckets.iter().map(move |(micros, in_bucket)| {
        below += in_bucket;
        (100.0 * below as f64 / count, micros.min(took.max))
    });
    std::iter::once((0.0, took.min)).chain(steps)
}

fn percentiles(result: &BenchResult) -> String {
    let total = &result.total;
    let lowest = total.latency.min.min(total.service.min);
    let highest = result.rounds.iter().map(|round| round.latency.max).fold(total.latency.max, f64::max);
    let x = Axis::percentile_axis("percent of requests", total.latency.count);
    let mut plot = Plot::new(x, Axis::micros("latency", lowest, highest));
    for round in &result.rounds {
        plot.line("round", curve(&round.latency));
    }
    plot.line("sent", curve(&total.service));
    plot.line("all", curve(&total.latency));
    let reported = |percent: f64| format!("p{percent} {}", time(total.latency.at(percent)));
    plot.render(&format!("Latency by percentile: {}, {}, {}", reported(50.0), reported(99.0), reported(99.9)))
}

fn distribution(total: &Round) -> String {
    let Distribution { min, max, buckets, .. } = &total.latency;
    let most = buckets.iter().map(|(_, count)| *count).max().unwrap_or(0);
    let mut plot = Plot::new(Axis::micros("latency", *min, *max), Axis::linear("requests", most as f64));
    for (upper, count) in buckets {
        plot.bar("bar", upper / 1.05, *upper, *count as f64, &format!("{count} up to {}", time(*upper)));
    }
    for percent in [50.0, 99.0] {
        plot.vertical_line(total.latency.at(percent), &format!("p{percent}"));
    }
    plot.render(&format!("Requests by latency, from {} to {}", time(*min), time(*max)))
}

fn throughput(result: &BenchResult) -> String {
    let seconds: f64 = result.rounds.iter().map(|round| round.seconds).sum();
    let ticks = || result.rounds.iter().flat_map(|round| &round.timeline);
    let most = ticks().map(|(answered, refused)| answered.max(*refused)).fold(0.0, f64::max);
    let mut plot = Plot::new(Axis::linear("seconds", seconds), Axis::linear("responses per second", most));
    let step = seconds / ticks().count().max(1) as f64;
    let at = |place: usize| (place as f64 + 0.5) * step;
    if ticks().any(|(_, refused)| *refused > 0.0) {
        plot.line("refused", ticks().enumerate().map(|(place, (_, refused))| (at(place), *refused)));
    }
    plot.line("all", ticks().enumerate().map(|(place, (answered, _))| (at(place), *answered)));
    plot.render(&format!("Responses per second over {seconds} seconds, {:.0} on average", result.total.throughput))
}

fn figure(svg: &str, caption: &str) -> String {
    format!("<figure>\n{svg}<figcaption>{caption}</figcaption>\n</figure>\n")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
