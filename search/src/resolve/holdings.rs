//! What the snapshot of an engine contains, as the grammar of citations asks for it.

use hornbook_corpus::citation::{
    ActSection, Citation, CitationKey, CitedItem, Coverage, GrammarBody, HeldActSection, LawDivision, Locator,
    NamedContainer, NodeLookup, NumberedContainer, ProvisionLookup,
};
use hornbook_corpus::citation_index::CitationKind;
use hornbook_corpus::code_titles::PrintedWithin;
use hornbook_corpus::ids::NodeOrdinal;

use super::containers::ContainerIndex;
use crate::engine::Engine;
use crate::error::SearchError;
use crate::parts::MissingPart;

/// Words between the first and the last number of a range citation, as terms of the keyword index.
const RANGE_TERMS: [&str; 3] = ["to", "through", "thru"];

/// The contents of the engine's snapshot.
pub(super) struct SnapshotHoldings<'e>(pub(super) &'e Engine);

impl SnapshotHoldings<'_> {
    /// The provisions with a citation or, if there are none, the containers. Only the best kind of
    /// citation that occurs counts: canonical, then parallel.
    pub(super) fn bearers(&self, key: &CitationKey) -> Result<Vec<NodeOrdinal>, SearchError> {
        let mut found = self.0.snapshot().nodes_with_citation_key(key)?;
        found.retain(|&(_, kind)| kind != CitationKind::Former);
        let best = found.first().map(|&(_, kind)| kind);
        Ok(self.provisions_first(found.into_iter().filter(|&(_, kind)| Some(kind) == best)))
    }

    /// The same for the nodes that had a citation formerly.
    pub(super) fn former_bearers(&self, key: &CitationKey) -> Result<Vec<NodeOrdinal>, SearchError> {
        let found = self.0.snapshot().nodes_with_citation_key(key)?;
        Ok(self.provisions_first(found.into_iter().filter(|&(_, kind)| kind == CitationKind::Former)))
    }

    fn provisions_first(&self, found: impl Iterator<Item = (NodeOrdinal, CitationKind)>) -> Vec<NodeOrdinal> {
        let outline = &self.0.snapshot().outline;
        let mut nodes: Vec<NodeOrdinal> = found.map(|(node, _)| node).collect();
        if nodes.iter().any(|&node| outline.is_provision(node)) {
            nodes.retain(|&node| outline.is_provision(node));
        }
        nodes
    }
}

impl ProvisionLookup for SnapshotHoldings<'_> {
    type Error = SearchError;

    fn provisions(&self, key: &CitationKey) -> Result<Vec<NodeOrdinal>, SearchError> {
        self.bearers(key)
    }

    fn formerly(&self, key: &CitationKey) -> Result<Vec<NodeOrdinal>, SearchError> {
        self.former_bearers(key)
    }

    fn ranges_over(&self, citation: &Citation) -> Result<Vec<NodeOrdinal>, SearchError> {
        let ranges = self.0.cited_ranges()?.iter();
        Ok(ranges.filter(|(range, _)| range.covers(citation)).map(|&(_, node)| node).collect())
    }

    fn node_count(&self) -> u32 {
        self.0.snapshot().outline.len()
    }

    fn is_within(&self, range: &Citation, node: NodeOrdinal) -> Result<Option<bool>, SearchError> {
        let snapshot = self.0.snapshot();
        if !snapshot.outline.is_provision(node) {
            return Ok(None);
        }
        let citation = snapshot.grammar().parse(snapshot.cards.get(node)?.citation);
        Ok(Some(citation.is_ok_and(|citation| range.covers(&citation))))
    }
}

impl NodeLookup for SnapshotHoldings<'_> {
    fn containers(&self, named: &NamedContainer) -> Result<Vec<NodeOrdinal>, SearchError> {
        Ok(self.0.container_index()?.find(named))
    }

    fn numbered_containers(&self, numbered: &NumberedContainer) -> Result<Vec<NodeOrdinal>, SearchError> {
        Ok(self.0.container_index()?.numbered(numbered))
    }

    fn act_sections(&self, section: &ActSection) -> Result<Vec<HeldActSection>, SearchError> {
        let snapshot = self.0.snapshot();
        let laws = match &section.law {
            Some(law) => vec![LawDivision { law: law.clone(), division: section.division.clone() }],
            None => snapshot.laws_of_act(&section.act)?,
        };
        let mut held = Vec::new();
        for LawDivision { law, division } in laws {
            for (node, own) in snapshot.act_sections(&law, &section.section)? {
                let is_of_division = division.is_none() || division == own.division;
                let citation = snapshot.grammar().parse(snapshot.cards.get(node)?.citation).ok();
                held.extend(citation.filter(|_| is_of_division).map(|citation| HeldActSection {
                    node,
                    citation,
                    section: own,
                }));
            }
        }
        held.sort_by_key(|held| held.node);
        Ok(held)
    }

    fn covers(&self, citation: &Citation) -> Result<bool, SearchError> {
        let snapshot = self.0.snapshot();
        let body = snapshot.grammar().body(citation.body);
        let is_held = body.is_some_and(|body| self.coverage(body) == Coverage::Covered);
        Ok(is_held && MissingPart::of(snapshot, self.0.parts()?, &CitedItem::Citation(citation.clone())).is_none())
    }

    fn coverage(&self, body: GrammarBody<'_>) -> Coverage {
        let catalogue = &self.0.snapshot().catalogue;
        let key = PrintedWithin::of(body.key).map_or(body.key, |within| within.key);
        if catalogue.code_bodies.iter().any(|held| held.key == key) {
            return Coverage::Covered;
        }
        let listed = catalogue.jurisdictions.iter().find(|listed| listed.short_code.as_str() == body.jurisdiction);
        match listed {
            Some(listed) if listed.is_placeholder() => Coverage::Placeholder,
            _ => Coverage::Outside,
        }
    }
}

impl Engine {
    pub(super) fn container_index(&self) -> Result<&ContainerIndex, SearchError> {
        if let Some(index) = self.resolve_tables.containers.get() {
            return Ok(index);
        }
        let index = ContainerIndex::of(self.snapshot())?;
        Ok(self.resolve_tables.containers.get_or_init(|| index))
    }

    /// The provisions whose own citation is a range.
    fn cited_ranges(&self) -> Result<&[(Citation, NodeOrdinal)], SearchError> {
        if let Some(ranges) = self.resolve_tables.ranges.get() {
            return Ok(ranges);
        }
        let snapshot = self.snapshot();
        let all = self.all_nodes().into();
        let mut nodes = Vec::new();
        for term in RANGE_TERMS {
            nodes.append(&mut self.guarded(|| Ok(self.keyword.with_citation_term(term, &all, usize::MAX)?))?);
        }
        nodes.sort_unstable();
        nodes.dedup();
        let mut ranges = Vec::new();
        for node in nodes.into_iter().map(NodeOrdinal) {
            let citation = snapshot.grammar().parse(snapshot.cards.get(node)?.citation);
            let is_range = |citation: &Citation| matches!(citation.place, Locator::Numbered { last: Some(_), .. });
            ranges.extend(citation.ok().filter(is_range).map(|citation| (citation, node)));
        }
        Ok(self.resolve_tables.ranges.get_or_init(|| ranges))
    }
}
