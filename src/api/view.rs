//! The parameter `view`: the whole answer, or what one needs to read the law, to cite it and to go on.
//!
//! A concise view is a selection of fields that every operation makes for itself. What says whether and when a text is
//! the law is in all of them.

use super::operation::Operation;
use super::parameters::{Param, choice};

pub(super) const VIEW: Param<Option<AnswerView>> = Param::optional(
    "view",
    "concise: only the members of the JSON answer that one needs to read and cite the law, without others that the schema requires; full: all",
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

/// The concise view of an operation.
struct ConciseView {
    operation: &'static str,
    fields: &'static [&'static str],
    /// A list in the answer, and the fields of each of its elements.
    of_each: Option<(&'static str, &'static [&'static str])>,
}

const fn view(
    operation: &'static str,
    fields: &'static [&'static str],
    of_each: Option<(&'static str, &'static [&'static str])>,
) -> ConciseView {
    ConciseView { operation, fields, of_each }
}

const PAGE: &[&str] = &["total", "page", "notices"];
const LINK: &[&str] = &["id", "citation", "heading", "status"];
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
const HIT: &[&str] = &[
    "nodeId",
    "url",
    "citation",
    "heading",
    "status",
    "effectiveFrom",
    "effectiveTo",
    "currentThrough",
    "retrievedAt",
    "snippet",
];
const JURISDICTION: &[&str] =
    &["shortCode", "name", "codeBodies.id", "codeBodies.name", "codeBodies.currentThrough", "codeBodies.retrievedAt"];

/// Every operation that has the parameter.
const CONCISE: [ConciseView; 13] = [
    view("browse", PAGE, Some(("nodes", LINK))),
    view("changes", PAGE, Some(("changes", &["nodeId", "citation", "kind", "date"]))),
    view("code-bodies", &[], Some(("codeBodies", &["id", "name", "currentThrough", "retrievedAt"]))),
    view("coverage", &["asOf"], Some(("jurisdictions", JURISDICTION))),
    view(
        "diff",
        &["id", "isSame", "differences", "from.day", "from.effectiveFrom", "to.day", "to.effectiveFrom"],
        None,
    ),
    view("history", &["id", "notices"], Some(("changes", &["kind", "date", "acts"]))),
    view("node", NODE, None),
    view("nodes", &["missing"], Some(("nodes", NODE))),
    view("references", PAGE, Some(("nodes", LINK))),
    view("resolve", &["notices"], Some(("answers", &["answer", "citation", "nodeId", "subdivision", "message"]))),
    view("search", &["total", "page", "correctedQuery", "notHere", "notices"], Some(("results", HIT))),
    view("suggest", &["didYouMean", "notices"], Some(("suggestions", &["text", "kind", "nodeId", "status"]))),
    view("verify", &["verdict", "message", "citation", "differences", "notices"], None),
];

/// The paths of the fields in the concise view of an operation.
pub(super) fn concise_fields(operation: &Operation) -> Vec<String> {
    let view = CONCISE.iter().find(|view| view.operation == operation.name);
    let of_each = view.and_then(|view| view.of_each).into_iter();
    let of_each = of_each.flat_map(|(list, fields)| fields.iter().map(move |field| format!("{list}.{field}")));
    let own = view.map_or(&[][..], |view| view.fields).iter().map(|field| (*field).to_owned());
    own.chain(of_each).collect()
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
                let fields: Vec<&str> = fields.iter().map(String::as_str).collect();
                FieldSelection::new(operation, Format::Json, VIEW.rule.name, &fields).unwrap();
            }
        }
    }
}
