//! The parameter `view`: the whole answer, or what one needs to read the law, to cite it and to go on.
//!
//! A concise view is a selection of fields that every operation makes for itself. What says whether and when a text is
//! the law is in all of them.

use super::operation::Operation;
use super::parameters::{Param, choice};

pub(super) const VIEW: Param<Option<AnswerView>> = Param::optional(
    "view",
    "concise: only the members of the JSON answer that one needs to read and cite the law; full: all; fields chooses them one by one",
);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum AnswerView {
    Concise,
    Full,
}

impl AnswerView {
    const ALL: [Self; 2] = [Self::Concise, Self::Full];

    const fn name(self) -> &'static str {
        match self {
            Self::Concise => "concise",
            Self::Full => "full",
        }
    }
}

choice!(AnswerView, name);

/// The fields of the concise view of each operation that has the parameter.
const CONCISE: &[(&str, &[&str])] = &[
    ("browse", &["total", "page", "nodes.id", "nodes.citation", "nodes.heading", "nodes.status", "notices"]),
    ("changes", &["total", "page", "changes.nodeId", "changes.citation", "changes.kind", "changes.date", "notices"]),
    ("code-bodies", &["codeBodies.id", "codeBodies.name"]),
    (
        "coverage",
        &[
            "asOf",
            "jurisdictions.shortCode",
            "jurisdictions.name",
            "jurisdictions.codeBodies.id",
            "jurisdictions.codeBodies.name",
            "jurisdictions.codeBodies.currentThrough",
        ],
    ),
    ("diff", &["id", "isSame", "differences", "from.day", "from.effectiveFrom", "to.day", "to.effectiveFrom"]),
    ("history", &["id", "changes.kind", "changes.date", "changes.acts", "notices"]),
    ("node", NODE),
    (
        "nodes",
        &[
            "missing",
            "nodes.id",
            "nodes.url",
            "nodes.citation",
            "nodes.heading",
            "nodes.breadcrumb",
            "nodes.status",
            "nodes.effectiveFrom",
            "nodes.effectiveTo",
            "nodes.validityRemark",
            "nodes.isOutdated",
            "nodes.notice",
            "nodes.leftOut",
            "nodes.formerly",
            "nodes.now",
            "nodes.successors.id",
            "nodes.successors.citation",
            "nodes.provenance.currentThrough",
            "nodes.text",
        ],
    ),
    ("references", &["total", "page", "nodes.id", "nodes.citation", "nodes.heading", "nodes.status", "notices"]),
    (
        "resolve",
        &["answers.answer", "answers.citation", "answers.nodeId", "answers.subdivision", "answers.message", "notices"],
    ),
    (
        "search",
        &[
            "total",
            "page",
            "correctedQuery",
            "notHere",
            "notices",
            "results.nodeId",
            "results.url",
            "results.citation",
            "results.heading",
            "results.status",
            "results.effectiveFrom",
            "results.effectiveTo",
            "results.currentThrough",
            "results.snippet",
        ],
    ),
    (
        "suggest",
        &["didYouMean", "notices", "suggestions.text", "suggestions.kind", "suggestions.nodeId", "suggestions.status"],
    ),
    ("verify", &["verdict", "message", "citation", "differences", "notices"]),
];

const NODE: &[&str] = &[
    "id",
    "url",
    "citation",
    "heading",
    "breadcrumb",
    "status",
    "effectiveFrom",
    "effectiveTo",
    "validityRemark",
    "isOutdated",
    "notice",
    "leftOut",
    "formerly",
    "now",
    "successors.id",
    "successors.citation",
    "provenance.currentThrough",
    "text",
];

/// The fields of the concise view of an operation.
pub(super) fn concise_fields(operation: &Operation) -> &'static [&'static str] {
    CONCISE.iter().find(|(name, _)| *name == operation.name).map_or(&[], |(_, fields)| fields)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::fields::{FIELDS, FieldSelection};
    use crate::api::operations::OPERATIONS;
    use crate::api::reply::Format;

    #[test]
    fn every_operation_with_fields_has_a_concise_view_of_members_that_it_answers_with() {
        for operation in OPERATIONS {
            let has = |name: &str| operation.parameters.iter().any(|parameter| parameter.name == name);
            assert_eq!(has(VIEW.rule.name), has(FIELDS.rule.name), "{}", operation.name);
            let fields = concise_fields(operation);
            assert_eq!(has(VIEW.rule.name), !fields.is_empty(), "{}", operation.name);
            if !fields.is_empty() {
                FieldSelection::new(operation, Format::Json, VIEW.rule.name, fields).unwrap();
            }
        }
    }
}
