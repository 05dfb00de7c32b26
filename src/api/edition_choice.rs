//! Which edition answers a call: the one of the day that the call names, for the code bodies that it asks about. A caller
//! may instead [pin](super::pinned_snapshot) a snapshot.

use std::sync::Arc;

use hornbook_corpus::day::Day;
use hornbook_corpus::ids::{CodeBodyId, NodeId, ShortCode};
use uuid::Uuid;

use super::corpus::Corpus;
use super::endpoints::{browse, filters, node_id, nodes, resolve};
use super::operation::Operation;
use super::page_links::AS_OF_NAME;
use super::parameters::Arguments;

impl Corpus {
    /// The edition for a call. Without a day, or without other editions, it is the served one. Faults in the arguments
    /// are found later: they do not choose another edition.
    pub fn for_call(self: &Arc<Self>, operation: &Operation, arguments: &Arguments) -> Arc<Self> {
        match named_day(operation, arguments) {
            Some(day) if self.has_shelf() => {
                let path = arguments.path.iter().map(|(name, value)| (*name, value.as_str()));
                let query = arguments.query.iter().map(|(name, value)| (name.as_str(), value.as_str()));
                self.on_day(day, &self.bodies_of(path.chain(query)))
            }
            _ => Arc::clone(self),
        }
    }

    /// The edition for a page: about a node, or about the law that the parameters in its address name.
    pub(crate) fn for_page(
        self: &Arc<Self>,
        day: Day,
        id: Option<NodeId>,
        parameters: &[(String, String)],
    ) -> Arc<Self> {
        if !self.has_shelf() {
            return Arc::clone(self);
        }
        let named = || self.bodies_of(parameters.iter().map(|(name, value)| (name.as_str(), value.as_str())));
        let body = id.and_then(|id| self.body_of_id(id));
        self.on_day(day, &body.map_or_else(named, |body| vec![body]))
    }

    /// The code bodies that named values ask about; all of them if none of them says.
    fn bodies_of<'v>(&self, values: impl Iterator<Item = (&'v str, &'v str)>) -> Vec<CodeBodyId> {
        for (name, value) in values {
            let bodies = self.bodies_named(name, value);
            if !bodies.is_empty() {
                return bodies;
            }
        }
        self.all_bodies()
    }

    fn bodies_named(&self, name: &str, value: &str) -> Vec<CodeBodyId> {
        let first = value.split(',').next().unwrap_or_default().trim();
        let of_node = || first.parse::<Uuid>().ok().and_then(|id| self.body_of_id(NodeId(id)));
        let is = |rule: &super::parameters::Parameter| rule.name == name;
        if [&node_id::ID.rule, &nodes::IDS.rule, &filters::SUBTREE.rule, &browse::PARENT.rule].into_iter().any(is) {
            return of_node().into_iter().collect();
        }
        if [&filters::CODE_BODIES.rule, &browse::CODE_BODY_ID.rule].into_iter().any(is) {
            return value.split(',').filter_map(|id| id.trim().parse().ok().map(CodeBodyId)).collect();
        }
        if is(&filters::JURISDICTIONS.rule) {
            return value.split(',').flat_map(|code| self.bodies_within(code.trim())).collect();
        }
        if is(&resolve::CITATION.rule) {
            let answers = self.engine().resolve(value).unwrap_or_default();
            let candidate = answers.iter().find_map(|answer| answer.candidates.first());
            return candidate.and_then(|node| self.body_of_id(node.node_id)).into_iter().collect();
        }
        Vec::new()
    }

    fn bodies_within(&self, code: &str) -> Vec<CodeBodyId> {
        let jurisdiction = code.parse::<ShortCode>().ok();
        let Some(within) = jurisdiction.and_then(|code| self.catalogue().jurisdiction(&code)) else {
            return Vec::new();
        };
        let bodies = self.catalogue().code_bodies.iter();
        bodies.filter(|body| within.subtree.contains_range(body.nodes)).map(|body| body.id).collect()
    }

    fn all_bodies(&self) -> Vec<CodeBodyId> {
        self.catalogue().code_bodies.iter().map(|body| body.id).collect()
    }
}

/// The day that a call names, if its operation takes one.
pub(super) fn named_day(operation: &Operation, arguments: &Arguments) -> Option<Day> {
    let takes_day = operation.parameters.iter().any(|parameter| parameter.name == AS_OF_NAME);
    let (_, day) = arguments.query.iter().find(|(name, _)| takes_day && name == AS_OF_NAME)?;
    day.parse().ok()
}
