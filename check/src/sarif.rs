//! The report for tools: the Static Analysis Results Interchange Format, version 2.1.0.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::report::{CheckReport, CitationVerdict, Finding, FindingSeverity, QuotationVerdict};

/// A rule: a kind of finding with one verdict.
struct SarifRule {
    id: String,
    label: &'static str,
    severity: FindingSeverity,
}

/// A log with one run. Editors and code review show its results at their places in `file`.
pub fn sarif(file: &str, version: &str, report: &CheckReport) -> Value {
    let (rules, uri) = (rules(), uri_of(file));
    let results: Vec<Value> = report.findings.iter().map(|finding| result(&uri, &rules, finding)).collect();
    let described = rules.iter().map(|rule| {
        json!({
            "id": rule.id,
            "shortDescription": { "text": rule.label },
            "defaultConfiguration": { "level": level(rule.severity) },
        })
    });
    let described: Vec<Value> = described.collect();
    let notifications = report.unreadable.iter().map(|signs| {
        json!({
            "level": "warning",
            "message": { "text": signs.message },
            "locations": [{ "physicalLocation": { "artifactLocation": { "uri": uri } } }],
        })
    });
    let notifications: Vec<Value> = notifications.collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": "hornbook", "version": version, "rules": described } },
            "invocations": [{ "executionSuccessful": true, "toolExecutionNotifications": notifications }],
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

fn rules() -> Vec<SarifRule> {
    let citations = CitationVerdict::ALL
        .map(|verdict| ("citation", verdict.as_str(), verdict.label(), verdict.severity()))
        .into_iter();
    let quotations =
        QuotationVerdict::ALL.map(|verdict| ("quotation", verdict.as_str(), verdict.label(), verdict.severity()));
    let all = citations.chain(quotations);
    all.map(|(kind, name, label, severity)| SarifRule { id: format!("{kind}/{name}"), label, severity }).collect()
}

/// The URI reference of a path: that of a relative path is relative.
fn uri_of(path: &str) -> String {
    let mut uri = if path.starts_with('/') { "file://".to_owned() } else { String::new() };
    for byte in path.bytes() {
        // The first part of a relative reference contains no colon, which would end a scheme.
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => uri.push(char::from(byte)),
            _ => {
                // Writing to a string cannot fail.
                let _ = write!(uri, "%{byte:02X}");
            }
        }
    }
    uri
}

fn level(severity: FindingSeverity) -> &'static str {
    match severity {
        FindingSeverity::Right => "none",
        FindingSeverity::Doubtful => "warning",
        FindingSeverity::Wrong => "error",
    }
}

fn result(uri: &str, rules: &[SarifRule], finding: &Finding) -> Value {
    let kind = match finding {
        Finding::Citation(_) => "citation",
        Finding::Quotation(_) => "quotation",
    };
    let rule = format!("{kind}/{}", finding.verdict());
    let place = finding.place();
    let mut location = json!({ "artifactLocation": { "uri": uri } });
    if let (Some(line), Some(column)) = (place.line, place.column) {
        location["region"] = json!({ "startLine": line, "startColumn": column, "snippet": { "text": finding.text() } });
    }
    let is_right = finding.severity() == FindingSeverity::Right;
    json!({
        "ruleId": rule,
        "ruleIndex": rules.iter().position(|other| other.id == rule),
        "kind": if is_right { "pass" } else { "fail" },
        "level": level(finding.severity()),
        "message": { "text": format!("{}: {}", finding.text(), finding.message()) },
        "locations": [{ "physicalLocation": location, "logicalLocations": [{ "name": place.to_string() }] }],
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use hornbook_corpus::day::Day;

    use super::*;
    use crate::brief::{BriefPlace, UnreadableSigns};
    use crate::report::{CitationFinding, QuotationFinding};

    /// A finding of every verdict, the first ones in a text and the others in a document with pages.
    fn report() -> CheckReport {
        let place = |line: u32, page: Option<u32>| BriefPlace {
            page,
            line: Some(line),
            column: page.is_none().then_some(line),
            paragraph: line,
        };
        let citations = (1..).zip(CitationVerdict::ALL).map(|(line, verdict)| {
            Finding::Citation(CitationFinding {
                place: place(line, None),
                text: "17 U.S.C. § 107".to_owned(),
                verdict,
                citation: None,
                is_short: false,
                is_certain: true,
                message: "a message".to_owned(),
                provisions: Vec::new(),
                range: 0..1,
            })
        });
        let quotations = (1..).zip(QuotationVerdict::ALL).map(|(line, verdict)| {
            Finding::Quotation(QuotationFinding {
                place: place(line, Some(2)),
                text: "some words".to_owned(),
                verdict,
                attributed_to: None,
                message: "a message".to_owned(),
                found_in: Vec::new(),
                differences: Vec::new(),
                range: 0..1,
            })
        });
        let unreadable = UnreadableSigns { pages: vec![1], font: None, signs: 2, message: "not read".to_owned() };
        CheckReport::new(citations.chain(quotations).collect(), Day::LAST, vec![unreadable])
    }

    /// The rules of the standard that matter to readers. `make conformance` validates a log with its JSON schema.
    #[test]
    fn logs_keep_the_rules_of_the_standard() {
        let log = sarif("my briefs/50% of § 1.txt", "0.1.0", &report());
        assert_eq!(log["version"], "2.1.0");
        assert!(log["$schema"].as_str().is_some_and(|schema| schema.ends_with("sarif-2.1.0.json")));
        let run = &log["runs"][0];
        let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
        let ids: HashSet<&str> = rules.iter().map(|rule| rule["id"].as_str().unwrap()).collect();
        assert_eq!(ids.len(), rules.len(), "the ids of rules are unique");
        let levels = ["none", "note", "warning", "error"];
        let is_level = |value: &Value| value.as_str().is_some_and(|level| levels.contains(&level));
        assert!(rules.iter().all(|rule| is_level(&rule["defaultConfiguration"]["level"])));
        let results = run["results"].as_array().unwrap();
        assert_eq!(results.len(), rules.len());
        for result in results {
            let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
            assert_eq!(rules[index]["id"], result["ruleId"]);
            assert!(is_level(&result["level"]));
            // What is no failure has no level.
            assert_eq!(result["kind"] == "fail", result["level"] != "none");
            let location = &result["locations"][0]["physicalLocation"];
            assert_eq!(location["artifactLocation"]["uri"], "my%20briefs/50%25%20of%20%C2%A7%201.txt");
            let is_text = result["ruleId"].as_str().unwrap().starts_with("citation");
            assert_eq!(location["region"].is_object(), is_text, "a page has no lines that an editor knows");
            for number in location["region"].as_object().into_iter().flatten().filter(|(name, _)| *name != "snippet") {
                assert!(number.1.as_u64().is_some_and(|number| number >= 1));
            }
        }
        let notifications = &run["invocations"][0]["toolExecutionNotifications"];
        assert!(notifications[0]["message"]["text"] == "not read" && is_level(&notifications[0]["level"]));
        assert_eq!(uri_of("/a/b c:d"), "file:///a/b%20c%3Ad");
    }
}
