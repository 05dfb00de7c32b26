//! The report for tools: the Static Analysis Results Interchange Format, version 2.1.0.

use serde_json::{Value, json};

use crate::report::{CheckReport, CitationVerdict, Finding, FindingSeverity, QuotationVerdict};

/// A log with one run. Editors and code review show its results at their places in `file`.
pub fn sarif(file: &str, version: &str, report: &CheckReport) -> Value {
    let citations =
        CitationVerdict::ALL.map(|verdict| ("citation", verdict.as_str(), verdict.label(), verdict.severity()));
    let quotations =
        QuotationVerdict::ALL.map(|verdict| ("quotation", verdict.as_str(), verdict.label(), verdict.severity()));
    let rules = citations.iter().chain(&quotations).map(|(kind, name, label, severity)| {
        json!({
            "id": format!("{kind}/{name}"),
            "shortDescription": { "text": format!("{kind}: {label}") },
            "defaultConfiguration": { "level": level(*severity) },
        })
    });
    let results: Vec<Value> = report.findings.iter().map(|finding| result(file, finding)).collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": "hornbook", "version": version, "rules": rules.collect::<Vec<_>>() } },
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

fn level(severity: FindingSeverity) -> &'static str {
    match severity {
        FindingSeverity::Right => "none",
        FindingSeverity::Doubtful => "warning",
        FindingSeverity::Wrong => "error",
    }
}

fn result(file: &str, finding: &Finding) -> Value {
    let kind = match finding {
        Finding::Citation(_) => "citation",
        Finding::Quotation(_) => "quotation",
    };
    let place = finding.place();
    let mut location = json!({ "artifactLocation": { "uri": file } });
    if let (Some(line), Some(column)) = (place.line, place.column) {
        location["region"] = json!({ "startLine": line, "startColumn": column, "snippet": { "text": finding.text() } });
    }
    let is_right = finding.severity() == FindingSeverity::Right;
    json!({
        "ruleId": format!("{kind}/{}", finding.verdict()),
        "kind": if is_right { "pass" } else { "fail" },
        "level": level(finding.severity()),
        "message": { "text": format!("{}: {}", finding.text(), finding.message()) },
        "locations": [{ "physicalLocation": location, "logicalLocations": [{ "name": place.to_string() }] }],
    })
}
