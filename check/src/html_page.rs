//! The report for people: the document with each finding at its place.

use std::cmp::Reverse;
use std::ops::Range;

use hornbook_base::sentence::sentence;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::brief::Brief;
use crate::compare::{Difference, DifferenceKind};
use crate::report::{CheckReport, CitedProvision, Finding, FindingSeverity};

/// The style of what [`report_body`] writes.
pub const REPORT_STYLE: &str = include_str!("report.css");

/// The style of the rest of a page of its own.
const PAGE_STYLE: &str = "\
    :root { color-scheme: light dark; }\
    body { font: 100%/1.55 Georgia, serif; margin: 0 auto; max-width: 46rem; padding: 1.5rem 1.25rem 4rem; }\
    h1, h2 { line-height: 1.2; } .count { font-family: system-ui, sans-serif; opacity: .75; }\
    @media print { body { max-width: none; padding: 0; } a { color: inherit; } }";

/// A page that needs no other file.
pub fn html_page(title: &str, brief: &Brief, report: &CheckReport) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { "Check of " (title) }
                style { (PreEscaped(PAGE_STYLE)) (PreEscaped(REPORT_STYLE)) }
            }
            body {
                main {
                    h1 { "Check of " (title) }
                    (report_body(brief, report))
                }
            }
        }
    };
    page.into_string()
}

/// The summary, the list of what is wrong or doubtful, and the document with its findings.
pub fn report_body(brief: &Brief, report: &CheckReport) -> Markup {
    let numbered: Vec<(usize, &Finding)> = (1..).zip(&report.findings).collect();
    let parts = parts_of(brief, &numbered);
    let listed = |severity: FindingSeverity| numbered.iter().filter(move |(_, finding)| finding.severity() == severity);
    html! {
        p.count {
            (counted(report.summary.citations, "citation", "citations")) " and "
            (counted(report.summary.quotations, "quotation", "quotations")) " were checked with the law of "
            time { (report.as_of) } ": " (report.summary.wrong) " wrong, " (report.summary.doubtful) " to look at, "
            (report.summary.right) " right."
        }
        @for signs in &report.unreadable { p.unreadable { (sentence(&signs.message)) } }
        @for (title, severity) in [("Wrong", FindingSeverity::Wrong), ("To look at", FindingSeverity::Doubtful)] {
            @if listed(severity).next().is_some() {
                h2 { (title) }
                ul.findings { @for (number, finding) in listed(severity) { (listed_finding(*number, finding)) } }
            }
        }
        @if report.findings.is_empty() {
            p { "No citation of a statute or regulation was found." }
        } @else {
            h2 { "The document" }
            div.checked { @for (range, is_quote) in brief.paragraphs() { (paragraph(brief, range, is_quote, &parts)) } }
        }
    }
}

fn counted(number: u32, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

fn class(severity: FindingSeverity) -> &'static str {
    match severity {
        FindingSeverity::Right => "right",
        FindingSeverity::Doubtful => "doubtful",
        FindingSeverity::Wrong => "wrong",
    }
}

fn listed_finding(number: usize, finding: &Finding) -> Markup {
    let (named, differences): (&[CitedProvision], &[Difference]) = match finding {
        Finding::Citation(finding) => (&finding.provisions, &[]),
        Finding::Quotation(finding) => (&finding.found_in, &finding.differences),
    };
    html! {
        li class=(class(finding.severity())) id={ "finding-" (number) } {
            p {
                a href={ "#place-" (number) } { (number) } " "
                span.verdict { (finding.label()) } ": "
                @match finding {
                    Finding::Citation(_) => { (finding.text()) }
                    Finding::Quotation(quotation) => {
                        "“" (shortened(finding.text())) "”"
                        @if let Some(source) = &quotation.attributed_to { " (" (source) ")" }
                    }
                }
                " " span.count { (finding.place()) }
            }
            p { (sentence(finding.message())) }
            @if !differences.is_empty() { p { (compared(differences)) } }
            @for provision in named.iter().take(3) {
                p.count {
                    @match &provision.url {
                        Some(url) => a href=(url) { (provision.citation) },
                        None => { (provision.citation) }
                    }
                    " " (provision.heading)
                }
            }
        }
    }
}

/// The words of the quotation and of the law: what only one of them has is marked.
fn compared(differences: &[Difference]) -> Markup {
    html! {
        @for part in differences {
            @match part.kind {
                DifferenceKind::Same => { (part.text) }
                DifferenceKind::OnlyQuoted => del title="only in the quotation" { (part.text) },
                DifferenceKind::OnlyLaw => ins title="only in the law" { (part.text) },
            }
            " "
        }
    }
}

/// The beginning of a long quotation.
fn shortened(text: &str) -> String {
    const CHARS_MAX: usize = 160;
    match text.char_indices().nth(CHARS_MAX) {
        None => text.to_owned(),
        Some((end, _)) => format!("{} …", text[..end].trim_end()),
    }
}

/// The part of a finding that is in one paragraph: a quotation may have several.
struct FindingPart<'f> {
    number: usize,
    finding: &'f Finding,
    range: Range<usize>,
    is_first: bool,
    is_last: bool,
}

/// The parts of all findings, by their beginnings; what contains another part comes before it.
fn parts_of<'f>(brief: &Brief, numbered: &[(usize, &'f Finding)]) -> Vec<FindingPart<'f>> {
    let paragraphs: Vec<Range<usize>> = brief.paragraphs().map(|(range, _)| range).collect();
    let mut parts = Vec::with_capacity(numbered.len());
    for &(number, finding) in numbered {
        let own = finding.range();
        let first = paragraphs.partition_point(|range| range.end <= own.start);
        let inside = paragraphs[first..].iter().take_while(|range| range.start < own.end);
        parts.extend(inside.map(|paragraph| FindingPart {
            number,
            finding,
            range: own.start.max(paragraph.start)..own.end.min(paragraph.end),
            is_first: paragraph.start <= own.start,
            is_last: own.end <= paragraph.end,
        }));
    }
    parts.sort_by_key(|part| (part.range.start, Reverse(part.range.end)));
    parts
}

fn paragraph(brief: &Brief, range: Range<usize>, is_quote: bool, parts: &[FindingPart<'_>]) -> Markup {
    let start = parts.partition_point(|part| part.range.start < range.start);
    let end = parts.partition_point(|part| part.range.start < range.end);
    let content = marked(brief.text(), range, &parts[start..end]);
    if is_quote {
        html! { blockquote { (content) } }
    } else {
        html! { p { (content) } }
    }
}

/// A range of the text with its findings. A finding within another one is inside its element.
fn marked(text: &str, range: Range<usize>, mut parts: &[FindingPart<'_>]) -> Markup {
    let mut shown: Vec<Markup> = Vec::new();
    let mut next = range.start;
    while let Some((FindingPart { number, finding, range: own, is_first, is_last }, rest)) = parts.split_first() {
        parts = rest;
        if own.start < next || own.end > range.end {
            continue;
        }
        let inner = rest.partition_point(|other| other.range.start < own.end);
        let is_noted = *is_last && finding.severity() != FindingSeverity::Right;
        shown.push(html! {
            (&text[next..own.start])
            span class={ "finding " (class(finding.severity())) } id=[is_first.then(|| format!("place-{number}"))]
                title=(finding.label()) {
                (marked(text, own.clone(), &rest[..inner]))
                @if is_noted { sup { a href={ "#finding-" (number) } { (number) } } }
            }
        });
        next = own.end;
        parts = &rest[inner..];
    }
    html! { @for part in &shown { (part) } (&text[next..range.end]) }
}
