//! `formation-requirements`: what a state requires of a new company, with links to the statutes that this
//! corpus contains.

use std::sync::Arc;

use hornbook_accounts::scope::Scope;
use hornbook_corpus::ids::NodeId;
use schemars::JsonSchema;
use serde::Serialize;

use crate::api::corpus::Corpus;
use crate::api::error::ApiError;
use crate::api::operation::{CostUnit, MeteredCall, NODE_PATH, Operation, PreparedWork};
use crate::api::parameters::{Param, choice};
use crate::api::reply::Reply;
use crate::api::rows::{JSON, metered, route, tool};
use crate::api::subject::Subject;
use crate::formation::entity_type::EntityType;
use crate::formation::requirements::{
    Certainty, Duty, ExpediteOption, Fact, Facts, Figure, FilingOffice, Form, NameRule, PublicationDuty, Requirements,
};
use crate::formation::requirements_file::requirements;
use crate::formation::us_state::UsState;

choice!(UsState, code);
choice!(EntityType, name);

pub(in crate::api) const STATE: Param<UsState> = Param::required("state", "postal code of the state, or DC");

pub(in crate::api) const ENTITY_TYPE: Param<Option<EntityType>> =
    Param::optional("entityType", "kind of company; all kinds if left out");

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "FormationRequirements")]
pub(in crate::api) struct RequirementsReply {
    #[schemars(with = "String")]
    state: UsState,
    state_name: &'static str,
    /// What to check before relying on this answer.
    note: String,
    figures: FigureCounts,
    entity_types: Vec<TypeReply>,
}

/// The number of figures in this answer, by how certain they are.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, JsonSchema)]
struct FigureCounts {
    verified: u32,
    unverified: u32,
    unknown: u32,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "FormationRequirementsOfType")]
struct TypeReply {
    entity_type: EntityType,
    filing_office: &'static FilingOffice,
    form: &'static Form,
    /// The provision that lists what the form must state.
    statute: ProvisionReply,
    name: NameReply,
    filing_fee: &'static Figure,
    facts: FactsReply,
    /// Null if unknown.
    annual_duties: Option<&'static [Duty]>,
    /// Null if unknown, empty if there are none.
    expedite_options: Option<&'static [ExpediteOption]>,
    /// Empty if none is recorded.
    publication_duties: &'static [PublicationDuty],
}

/// A provision by its citation.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "CitedProvision")]
struct ProvisionReply {
    citation: &'static str,
    /// Null if this corpus does not contain the provision.
    #[schemars(with = "Option<uuid::Uuid>")]
    node_id: Option<NodeId>,
    /// The path of the provision on this service; null if this corpus does not contain it.
    path: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "FormationNameRule")]
struct NameReply {
    /// Whether the name must contain one of the designators.
    designator_required: bool,
    /// Accepted in upper or lower case, with or without periods.
    designators: &'static [String],
    statute: Option<ProvisionReply>,
}

/// What the form must state, and what it may state.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "FormationFacts")]
struct FactsReply {
    required: Vec<FactReply>,
    optional: Vec<FactReply>,
    /// Whether these facts, the designators and the two citations were compared with the statutes.
    certainty: Certainty,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "FormationFactMeaning")]
struct FactReply {
    fact: Fact,
    meaning: &'static str,
}

pub(in crate::api) const OPERATION: Operation = Operation {
    name: "formation-requirements",
    subject: Subject::Formation,
    summary: "What a state requires of a new company: office, form, facts, fee, duties; each figure with its source",
    details: Some(
        "Figures not yet compared with their sources are marked unverified, and unknown values are null. \
         Statutes have a node id if this corpus contains them.",
    ),
    route: route("/api/v1/formation/requirements", "/api/v1/formation/requirements?state=DE&entityType=llc"),
    tool: tool(
        "formation.requirements",
        "formation_requirements",
        "Use it first for a new company, or to compare states. It opens no order.",
    ),
    parameters: &[STATE.rule, ENTITY_TYPE.rule],
    body: None,
    formats: JSON,
    errors: &[],
    has_version: false,
    reply: |generator| generator.subschema_for::<RequirementsReply>(),
    model_text: None,
    access: metered(&[Scope::Formation], 0, CostUnit::Call, prepare),
};

fn prepare(call: &MeteredCall<'_>) -> Result<PreparedWork, ApiError> {
    let (state, wanted) = (call.get(&STATE), call.get(&ENTITY_TYPE));
    let book = requirements().map_err(|fault| ApiError::internal(fault.to_string()))?;
    let recorded = book.of(state).ok_or_else(|| ApiError::internal(format!("{state} has no requirements")))?;
    let corpus = Arc::clone(call.corpus);
    Ok(PreparedWork::heavy(move |_| {
        let types = recorded.types.iter().filter(|one| wanted.is_none_or(|wanted| wanted == one.entity_type));
        let mut figures = FigureCounts::default();
        let mut entity_types = Vec::new();
        for one in types {
            one.figures().into_iter().for_each(|figure| figures.count(figure));
            entity_types.push(TypeReply::of(one, &corpus)?);
        }
        Reply::json(&RequirementsReply { state, state_name: state.name(), note: figures.note(), figures, entity_types })
    }))
}

impl FigureCounts {
    fn count(&mut self, figure: &Figure) {
        let place = match figure.certainty {
            Certainty::Verified => &mut self.verified,
            Certainty::Unverified => &mut self.unverified,
            Certainty::Unknown => &mut self.unknown,
        };
        *place += 1;
    }

    fn note(self) -> String {
        let Self { verified, unverified, unknown } = self;
        let all = verified + unverified + unknown;
        let certain = match unverified + unknown {
            0 => format!("All {all} figures were compared with their sources"),
            _ => format!(
                "{unverified} of {all} figures are unverified: compare them with their sources before you rely on them. \
                 {unknown} are unknown. {verified} were compared with their sources"
            ),
        };
        format!(
            "{certain}, in the wording of the dates that they have. This is about amounts: check with the filing office \
             when a duty is due."
        )
    }
}

impl TypeReply {
    fn of(requirements: &'static Requirements, corpus: &Corpus) -> Result<Self, ApiError> {
        let Requirements { entity_type, office, form, statute, name, filing_fee, facts, .. } = requirements;
        Ok(Self {
            entity_type: *entity_type,
            filing_office: office,
            form,
            statute: ProvisionReply::of(statute, corpus)?,
            name: NameReply::of(name, corpus)?,
            filing_fee,
            facts: FactsReply::of(facts),
            annual_duties: requirements.annual_duties.as_deref(),
            expedite_options: requirements.expedite_options.as_deref(),
            publication_duties: &requirements.publication_duties,
        })
    }
}

impl ProvisionReply {
    fn of(citation: &'static str, corpus: &Corpus) -> Result<Self, ApiError> {
        let answers = corpus.engine().resolve(citation)?;
        let node_id = answers.first().and_then(|answer| answer.node_id);
        let path = node_id.map(|NodeId(id)| format!("{NODE_PATH}{id}"));
        Ok(Self { citation, node_id, path })
    }
}

impl NameReply {
    fn of(rule: &'static NameRule, corpus: &Corpus) -> Result<Self, ApiError> {
        let statute = rule.statute.as_deref().map(|citation| ProvisionReply::of(citation, corpus)).transpose()?;
        Ok(Self { designator_required: rule.is_required, designators: &rule.designators, statute })
    }
}

impl FactsReply {
    fn of(facts: &Facts) -> Self {
        let replies = |facts: &[Fact]| facts.iter().map(|&fact| FactReply { fact, meaning: fact.meaning() }).collect();
        Self { required: replies(&facts.required), optional: replies(&facts.optional), certainty: facts.certainty }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use hornbook_corpus::snapshot::Snapshot;
    use hornbook_index_build::build::{BuildOptions, Destination, build};
    use hornbook_index_build::progress::ProgressDisplay;

    use super::*;

    #[test]
    fn the_note_says_what_is_unverified_and_unknown() {
        let mixed = FigureCounts { verified: 2, unverified: 3, unknown: 1 }.note();
        assert!(mixed.starts_with("3 of 6 figures are unverified"), "{mixed}");
        assert!(mixed.contains("1 are unknown. 2 were compared"), "{mixed}");
        let certain = FigureCounts { verified: 4, ..FigureCounts::default() }.note();
        assert!(certain.starts_with("All 4 figures were compared"), "{certain}");
        let unknown = FigureCounts { verified: 4, unknown: 1, unverified: 0 }.note();
        assert!(unknown.starts_with("0 of 5 figures are unverified"), "{unknown}");
    }

    /// A corpus with one section, cited as a section of the Code of Virginia. Its text is made up.
    fn corpus_with(citation_number: &str) -> Corpus {
        let dir = tempfile::tempdir().unwrap();
        let line = format!(
            r#"{{"key": "s1", "level": "section", "number": "{citation_number}", "heading": "Articles", "text": "Words."}}"#
        );
        fs::write(dir.path().join("code.jsonl"), line + "\n").unwrap();
        let plan = r#"
            name = "One section"
            [[source]]
            format = "native"
            path = "code.jsonl"
            jurisdiction = "VA"
            code_body = "Code of Virginia"
            key = "va/code"
            citation = "Va. Code § {number}"
            publisher = "nobody"
            edition = "2026"
            retrieved = "2026-01-15"
            license = "MIT OR Apache-2.0"
            url = "https://example.org/va"
        "#;
        fs::write(dir.path().join("plan.toml"), plan).unwrap();
        let out = dir.path().join("snapshot");
        build(&BuildOptions {
            plan: dir.path().join("plan.toml"),
            sources: None,
            destination: Destination::Folder(out.clone()),
            strict: false,
            replace: false,
            accept_loss: false,
            skip_absent: false,
            fresh: false,
            progress: ProgressDisplay::Silent,
        })
        .unwrap();
        Corpus::new(Arc::new(Snapshot::open(&out).unwrap())).unwrap()
    }

    #[test]
    fn a_statute_is_a_link_where_the_corpus_has_it() {
        let recorded = requirements().unwrap().of(UsState::Va).unwrap().of(EntityType::Llc).unwrap();
        let corpus = corpus_with("13.1-1011");
        let held = TypeReply::of(recorded, &corpus).unwrap();
        let id = corpus.snapshot().outline.id(hornbook_corpus::ids::NodeOrdinal(0)).unwrap();
        assert_eq!(held.statute.citation, "Va. Code § 13.1-1011");
        assert_eq!(held.statute.node_id, Some(id));
        assert_eq!(held.statute.path, Some(format!("/api/v1/node/{}", id.0)));
        let name = held.name.statute.unwrap();
        assert_eq!((name.citation, name.node_id, name.path), ("Va. Code § 13.1-1012", None, None));
    }
}
