//! `/llms.txt`: what a language model needs to know to use the service, in Markdown.

use super::super::operation::Operation;
use super::super::operations::OPERATIONS;
use super::super::parameters::{Need, Parameter};
use super::super::subject::DOCS_PATH;
use super::{ApiDocument, DocumentContext, markdown};

pub(super) fn text(setting: &DocumentContext<'_>) -> String {
    let base = setting.base_url;
    let mut out = format!(
        "# Hornbook\n\n\
         > US federal and state law as uniform, citable records: hybrid search, provisions with full text and \
         provenance, citations resolved, zoning at a point. Read-only JSON over HTTP, metered in credits.\n\n\
         Send calls to the paths below {base}, as GET unless the table says POST, with the header `Authorization: Bearer \
         KEY`. Keys in the query are refused. A parameter that is unknown or repeated is an error. Errors are free. After a lost connection, retry with the \
         same `Idempotency-Key`: the call is charged once. Every call with a key takes `maxCost=CREDITS` (402 above it) and \
         `dryRun=true` (204 with the price in `X-Credits-Cost`); both are free.\n\n\
         ## How to cite safely\n\n\
         1. `coverage` lists the jurisdictions. One with `placeholder: true` has no law yet, so an empty search result \
         there means nothing.\n\
         2. `search` finds provisions; `resolve` finds the one that a citation names.\n\
         3. `node` with the `nodeId` returns full text, `status` and `provenance`. Quote `citation` word for word. If \
         `status` is not `in force`, say so.\n\
         4. Zoning: trust a layer's citations only where `citationQuality` is `linked`.\n\
         5. Watch `X-Credits-Remaining` and `X-Research-Allotment-Remaining`. On 402 stop and show `upgradeUrl`; on \
         429 and 503 wait `retryAfterSec` seconds; on 422 correct what `details` lists.\n\n\
         ## Operations\n\n{}\n",
        markdown::operations()
    );
    out.extend(OPERATIONS.iter().filter_map(|operation| described(operation, setting)));
    out += "## Documents\n\n";
    for (path, what) in [
        (ApiDocument::OpenApi.paths()[0], "OpenAPI 3.1, with the schema of every response"),
        (DOCS_PATH, "documentation for people, a page for each subject"),
        (ApiDocument::Discovery.paths()[0], "endpoints, parameters, scopes and costs as JSON"),
        (ApiDocument::Catalog.paths()[0], "the API catalog of RFC 9727"),
    ] {
        out += &format!("- [{path}]({base}{path}): {what}\n");
    }
    out
}

/// `None` for an operation without a route.
fn described(operation: &Operation, setting: &DocumentContext<'_>) -> Option<String> {
    let parameters: String = operation.parameters.iter().map(parameter).collect();
    let Operation { name, summary, details, .. } = operation;
    let details = details.map_or_else(String::new, |details| format!(" {details}"));
    let example = setting.examples.fill(operation.route?.example);
    let example = example.map_or_else(String::new, |path| format!(" Example: `{}{path}`", setting.base_url));
    let end = line_if(!parameters.is_empty());
    Some(format!("### {name}\n\n{summary}.{details}{example}\n\n{parameters}{end}"))
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
