//! `/llms.txt`: what a language model must know to use the service well, in Markdown.

use super::super::operation::{Operation, Route};
use super::super::operations::OPERATIONS;
use super::super::parameters::{Need, Parameter};
use super::{Document, Setting, markdown};

pub(super) fn text(setting: &Setting<'_>) -> String {
    let base = setting.base_url;
    let mut out = format!(
        "# Hornbook\n\n\
         > US federal and state law as uniform, citable records: hybrid search, provisions with full text and \
         provenance, citations resolved, zoning at a point. Read-only JSON over HTTP, metered in credits.\n\n\
         Every call is a GET below {base} with the header `Authorization: Bearer KEY`; keys in the query are refused. \
         A parameter that is unknown or repeated is an error, and errors are free.\n\n\
         ## How to cite safely\n\n\
         1. `coverage` tells which jurisdictions are held; one with `placeholder: true` has no law yet, so finding \
         nothing there means nothing.\n\
         2. `search` finds provisions; `resolve` finds the one that a citation names.\n\
         3. `node` with the `nodeId` gives full text, `status` and `provenance`. Quote `citation` word for word, and \
         say so where `status` is not `in force`.\n\
         4. Zoning: trust a layer's citations only where `citationQuality` is `linked`.\n\
         5. Watch `X-Credits-Remaining` and `X-Research-Allotment-Remaining`. On 402 stop and show `upgradeUrl`; on \
         429 and 503 wait `retryAfterSec`; on 422 mend what `details` lists.\n\n\
         ## Operations\n\n{}\n",
        markdown::operations()
    );
    out.extend(OPERATIONS.iter().filter_map(|operation| described(operation, base)));
    out += "## Documents\n\n";
    for (document, what) in [
        (Document::OpenApi, "OpenAPI 3.1, with the schema of every answer"),
        (Document::Docs, "the same for people"),
        (Document::Discovery, "endpoints, parameters, scopes and costs as JSON"),
        (Document::Catalog, "the API catalog of RFC 9727"),
    ] {
        let path = document.paths()[0];
        out += &format!("- [{path}]({base}{path}): {what}\n");
    }
    out
}

/// Nothing for an operation without an address.
fn described(operation: &Operation, base: &str) -> Option<String> {
    let parameters: String = operation.parameters.iter().map(parameter).collect();
    let Operation { name, summary, .. } = operation;
    let Route { example, .. } = operation.route?;
    let end = line_if(!parameters.is_empty());
    Some(format!("### {name}\n\n{summary}. Example: `{base}{example}`\n\n{parameters}{end}"))
}

fn line_if(wanted: bool) -> &'static str {
    if wanted { "\n" } else { "" }
}

fn parameter(parameter: &Parameter) -> String {
    let Parameter { name, meaning, kind, .. } = parameter;
    let need = match parameter.need {
        Need::Required => "required".to_owned(),
        Need::Optional => "optional".to_owned(),
        Need::Default(default) => format!("default {default}"),
    };
    format!("- `{name}` ({need}): {meaning}; {}\n", kind.rule())
}
