//! Resolves the text of a citation to provisions. The trait [`ProvisionLookup`] reports which provisions exist.

use super::act_section::SectionOfAct;
use super::acts::{ActSection, PopularCitation, SessionLaw};
use super::container::{Container, ContainerLevel, NamedContainer, NumberedContainer};
use super::grammar::{Grammar, ParseError};
use super::key::CitationKey;
use super::list::ListElement;
use super::number::{DashRangeRule, compare as number_order};
use super::value::{BodyRef, Citation, GrammarBody, Locator, Unit};
use crate::ids::NodeOrdinal;

/// Maximum number of provisions found for a range, counted from the end of it that the snapshot contains.
pub const RANGE_MAX: usize = 100;

/// Maximum number of elements of a list that are resolved.
pub const ANSWERS_MAX: usize = 100;

/// Maximum length of a list, in bytes.
const LIST_LEN_MAX: usize = 4096;

/// Whether a snapshot covers a code body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Coverage {
    Covered,
    /// The jurisdiction is listed, but the snapshot contains no law of it.
    Placeholder,
    Outside,
}

/// The contents of a snapshot, as far as citations need them.
pub trait ProvisionLookup {
    /// The error of a failed lookup, such as a damaged file.
    type Error;

    /// The provisions whose stored citation has this key, in order: those that have it as their canonical citation, or
    /// if there are none, as a parallel one.
    fn provisions(&self, key: &CitationKey) -> Result<Vec<NodeOrdinal>, Self::Error>;

    /// The provisions that had the citation with this key formerly, in order.
    fn formerly(&self, key: &CitationKey) -> Result<Vec<NodeOrdinal>, Self::Error>;

    /// The provisions whose citation is a range that contains this citation (`293a...293c` contains `293b`), in order.
    fn ranges_over(&self, citation: &Citation) -> Result<Vec<NodeOrdinal>, Self::Error>;

    /// The number of nodes.
    fn node_count(&self) -> u32;

    /// Whether the range contains the citation of a provision. `None` if the node is not a provision.
    fn is_within(&self, range: &Citation, node: NodeOrdinal) -> Result<Option<bool>, Self::Error>;
}

/// Holdings that also find containers, and that tell why something is not found.
pub trait NodeLookup: ProvisionLookup {
    /// The containers that a name means, in order.
    fn containers(&self, named: &NamedContainer) -> Result<Vec<NodeOrdinal>, Self::Error>;

    /// The containers whose section numbers begin with this number, in order.
    fn numbered_containers(&self, numbered: &NumberedContainer) -> Result<Vec<NodeOrdinal>, Self::Error>;

    /// The provisions that are this section of an act or a part of it, in order.
    fn act_sections(&self, section: &ActSection) -> Result<Vec<HeldActSection>, Self::Error>;

    fn coverage(&self, body: GrammarBody<'_>) -> Coverage;

    /// Whether the snapshot contains the part of the code in which a citation is.
    fn covers(&self, citation: &Citation) -> Result<bool, Self::Error>;
}

/// A provision that is a section of an act.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HeldActSection {
    pub node: NodeOrdinal,
    pub citation: Citation,
    /// What its source credit says that it is.
    pub section: SectionOfAct,
}

/// The meaning of a text that was parsed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CitedItem {
    Citation(Citation),
    Container(Container),
    /// A container identified by the number with which its sections begin.
    Numbered(NumberedContainer),
    /// Several codes have the name, and the number fits each of them.
    Readings(Vec<Citation>),
    /// A section of an act of which it is known where it is.
    OfAct {
        section: ActSection,
        citation: Citation,
    },
    /// A section of an act of which it is not known where it is, or which is in several places.
    ActSection(ActSection),
    /// A law as it was published. No code contains it in that form.
    SessionLaw(SessionLaw),
    /// The text matches no form, but it is the citation of a node.
    Verbatim,
}

impl CitedItem {
    pub fn body(&self) -> Option<BodyRef> {
        match self {
            Self::Citation(citation) | Self::OfAct { citation, .. } => Some(citation.body),
            Self::Container(container) => Some(container.body),
            Self::Numbered(numbered) => Some(numbered.body),
            Self::ActSection(section) => Some(section.body),
            Self::Readings(_) | Self::SessionLaw(_) | Self::Verbatim => None,
        }
    }
}

/// The result of resolving one citation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Resolution {
    /// One node.
    Resolved {
        node: NodeOrdinal,
        cited: CitedItem,
    },
    /// Several nodes have this citation, or it is a range of several.
    Ambiguous {
        candidates: Vec<NodeOrdinal>,
        cited: CitedItem,
    },
    /// Well formed, and the snapshot covers the body, but no node has this citation.
    NotInSnapshot {
        cited: CitedItem,
    },
    /// Well formed, but the snapshot does not cover the body.
    OutsideCoverage {
        cited: CitedItem,
    },
    /// Well formed, but the snapshot lists the jurisdiction without any law.
    Placeholder {
        cited: CitedItem,
    },
    Malformed {
        error: ParseError,
    },
}

impl Resolution {
    /// The same resolution of a section of the code that was cited as a section of an act.
    fn of_act(mut self, section: ActSection) -> Self {
        let (Self::Resolved { cited, .. }
        | Self::Ambiguous { cited, .. }
        | Self::NotInSnapshot { cited }
        | Self::OutsideCoverage { cited }
        | Self::Placeholder { cited }) = &mut self
        else {
            return self;
        };
        if let CitedItem::Citation(citation) = cited {
            *cited = CitedItem::OfAct { section, citation: citation.clone() };
        }
        self
    }
}

impl Grammar {
    /// Resolves a text that is one citation or a list. Returns one result per element, in order, and at least one.
    pub fn resolve<H: NodeLookup>(&self, text: &str, holdings: &H) -> Result<Vec<Resolution>, H::Error> {
        self.resolve_in(text, None, holdings)
    }

    /// Resolves a text as a court of a jurisdiction writes it: of the codes that share a name (`General Statutes`,
    /// `I.C.`), and whose numbers the cited one fits, that of the jurisdiction is meant.
    pub fn resolve_in<H: NodeLookup>(
        &self,
        text: &str,
        jurisdiction: Option<&str>,
        holdings: &H,
    ) -> Result<Vec<Resolution>, H::Error> {
        if text.len() > LIST_LEN_MAX {
            let error = ParseError::TooLong { bytes: text.len() };
            return Ok(vec![Resolution::Malformed { error }]);
        }
        if let Some(all) = self.resolve_whole(text, jurisdiction, holdings)? {
            return Ok(all);
        }
        let mut all = Vec::new();
        let segments = text.split([';', '\n']).map(str::trim).filter(|segment| !segment.is_empty());
        for segment in segments {
            if all.len() > ANSWERS_MAX {
                break;
            }
            match self.resolve_whole(segment, jurisdiction, holdings)? {
                Some(mut found) => all.append(&mut found),
                None => all.append(&mut self.resolve_parts(segment, jurisdiction, holdings)?),
            }
        }
        if all.is_empty() {
            all.push(Resolution::Malformed { error: ParseError::Empty });
        }
        if all.len() > ANSWERS_MAX {
            all.truncate(ANSWERS_MAX);
            all.push(Resolution::Malformed { error: ParseError::ListTooLong { read: ANSWERS_MAX } });
        }
        Ok(all)
    }

    /// Resolves a text that can be read as a whole: a citation or a list in one form, the exact citation of a node,
    /// a container, or the name of an act or session law. Returns `None` for other text.
    fn resolve_whole<H: NodeLookup>(
        &self,
        text: &str,
        jurisdiction: Option<&str>,
        holdings: &H,
    ) -> Result<Option<Vec<Resolution>>, H::Error> {
        match self.parse_list(text) {
            Ok(citations) => return self.resolve_each(citations, holdings).map(Some),
            // No stored citation is empty. The key of an overlong text is not computed, because that would cost too
            // much.
            Err(ParseError::Empty | ParseError::TooLong { .. }) => return Ok(None),
            Err(ParseError::Ambiguous { .. }) => {
                let readings = self.readings(text);
                return match self.reading_in(&readings, jurisdiction) {
                    Some(own) => self.resolve_each(own.clone(), holdings).map(Some),
                    None => self.resolve_readings(readings, holdings).map(|all| Some(vec![all])),
                };
            }
            Err(_) => {}
        }
        let folded = CitationKey::folded(text);
        let mut held = holdings.provisions(&folded)?;
        if held.is_empty() {
            held = holdings.formerly(&folded)?;
        }
        if !held.is_empty() {
            return Ok(Some(vec![self.resolution_of(held, CitedItem::Verbatim, holdings)]));
        }
        if let Some(named) = self.parse_container(text) {
            let held = holdings.containers(&named)?;
            return Ok(Some(vec![self.resolution_of(held, CitedItem::Container(named.container), holdings)]));
        }
        if let Some(numbered) = self.parse_numbered_container(text) {
            let held = holdings.numbered_containers(&numbered)?;
            return Ok(Some(vec![self.resolution_of(held, CitedItem::Numbered(numbered), holdings)]));
        }
        let Some(popular) = self.parse_popular(text) else {
            let named = self.parse_section_of_named_act(text);
            let known = named.map(|section| self.section_by_credits(&section, holdings)).transpose()?;
            return Ok(known.flatten().map(|found| vec![found]));
        };
        popular.into_iter().map(|popular| self.resolve_popular(popular, holdings)).collect::<Result<_, _>>().map(Some)
    }

    /// The reading of a shared name that is of a jurisdiction.
    fn reading_in<'r>(&self, readings: &'r [Vec<Citation>], jurisdiction: Option<&str>) -> Option<&'r Vec<Citation>> {
        let jurisdiction = jurisdiction?;
        let is_of =
            |citation: &Citation| self.body(citation.body).is_some_and(|body| body.jurisdiction == jurisdiction);
        readings.iter().find(|citations| citations.iter().all(is_of))
    }

    fn resolve_each<H: NodeLookup>(&self, citations: Vec<Citation>, holdings: &H) -> Result<Vec<Resolution>, H::Error> {
        citations.into_iter().map(|citation| self.resolve_one(citation, holdings)).collect()
    }

    /// Resolves a name that several codes share: the contents of the snapshot decide.
    fn resolve_readings<H: NodeLookup>(
        &self,
        readings: Vec<Vec<Citation>>,
        holdings: &H,
    ) -> Result<Resolution, H::Error> {
        let mut readings: Vec<Citation> = readings.into_iter().flatten().collect();
        let mut nodes = Vec::new();
        let mut bearing = Vec::new();
        for citation in &readings {
            let held = self.provisions_of(citation, holdings)?;
            if !held.is_empty() {
                bearing.push(citation.clone());
                nodes.extend(held);
            }
        }
        if let [only] = bearing.as_slice() {
            return self.resolve_one(only.clone(), holdings);
        }
        if nodes.is_empty() {
            let mut covered = Vec::new();
            for citation in &readings {
                covered.extend(holdings.covers(citation)?.then(|| citation.clone()));
            }
            match covered.as_slice() {
                [] => {}
                [only] => return self.resolve_one(only.clone(), holdings),
                _ => readings = covered,
            }
        }
        Ok(Resolution::Ambiguous { candidates: nodes, cited: CitedItem::Readings(readings) })
    }

    fn resolve_popular<H: NodeLookup>(&self, popular: PopularCitation, holdings: &H) -> Result<Resolution, H::Error> {
        let (section, listed) = match popular {
            PopularCitation::Act(citation) => return self.resolve_one(citation, holdings),
            PopularCitation::SessionLaw(law) => {
                return Ok(self.resolution_of(Vec::new(), CitedItem::SessionLaw(law), holdings));
            }
            PopularCitation::Section { section, listed } => (section, listed),
        };
        let by_table = listed.map(|citation| self.resolve_one(citation, holdings)).transpose()?;
        let is_held = matches!(by_table, Some(Resolution::Resolved { .. } | Resolution::Ambiguous { .. }));
        if !is_held && let Some(found) = self.section_by_credits(&section, holdings)? {
            return Ok(found);
        }
        Ok(match by_table {
            Some(found) => found.of_act(section),
            None => self.resolution_of(Vec::new(), CitedItem::ActSection(section), holdings),
        })
    }

    /// The provisions that are a section of an act by their own source credits. `None` if none is known.
    fn section_by_credits<H: NodeLookup>(
        &self,
        section: &ActSection,
        holdings: &H,
    ) -> Result<Option<Resolution>, H::Error> {
        let mut found: Vec<(NodeOrdinal, Citation)> = Vec::new();
        for HeldActSection { node, citation, section: own } in holdings.act_sections(section)? {
            let is_of_division = section.division.is_none() || section.division == own.division;
            let Some(subdivisions) = own.below(&section.subdivisions).filter(|_| is_of_division) else { continue };
            if found.last().is_none_or(|(last, _)| *last != node) {
                found.push((node, Citation { subdivisions, ..citation }));
            }
        }
        Ok(match found.as_slice() {
            [] => None,
            [(node, citation)] => {
                let cited = CitedItem::OfAct { section: section.clone(), citation: citation.clone() };
                Some(Resolution::Resolved { node: *node, cited })
            }
            _ => {
                let candidates = found.into_iter().map(|(node, _)| node).collect();
                Some(Resolution::Ambiguous { candidates, cited: CitedItem::ActSection(section.clone()) })
            }
        })
    }

    /// Resolves the elements of a list one by one. An element that cannot be parsed gives [`Resolution::Malformed`].
    fn resolve_parts<H: NodeLookup>(
        &self,
        text: &str,
        jurisdiction: Option<&str>,
        holdings: &H,
    ) -> Result<Vec<Resolution>, H::Error> {
        let parts = self.parts(text);
        let mut all: Vec<Resolution> = Vec::with_capacity(parts.len());
        let mut before: Option<Citation> = None;
        for part in parts {
            if all.len() > ANSWERS_MAX {
                break;
            }
            match part {
                ListElement::Citation(citation) => {
                    before = Some(citation.clone());
                    all.push(self.resolve_one(citation, holdings)?);
                }
                ListElement::Container(named) => {
                    let held = holdings.containers(&named)?;
                    all.push(self.resolution_of(held, CitedItem::Container(named.container), holdings));
                }
                ListElement::Unparsed(text) => {
                    let continued = before.as_ref().and_then(|before| self.continue_list(before, text));
                    match (continued, self.resolve_whole(text, jurisdiction, holdings)?) {
                        (_, Some(mut found)) => all.append(&mut found),
                        (Some(citation), None) => {
                            all.push(self.resolve_one(citation.clone(), holdings)?);
                            before = Some(citation);
                        }
                        (None, None) => {
                            let error = self.parse_list(text).err().unwrap_or(ParseError::Empty);
                            all.push(Resolution::Malformed { error });
                        }
                    }
                }
            }
        }
        if all.iter().all(|answer| matches!(answer, Resolution::Malformed { .. })) {
            // If no element can be parsed, the text is not a list, even if it has commas.
            let error = self.parse_list(text).err().unwrap_or(ParseError::Empty);
            all = vec![Resolution::Malformed { error }];
        }
        Ok(all)
    }

    /// Reads a bare number in a list as one of the code cited before it.
    fn continue_list(&self, before: &Citation, number: &str) -> Option<Citation> {
        let one = Citation { subdivisions: Vec::new(), ..before.clone() };
        let written = self.format(&one);
        let Locator::Numbered { number: own, last: None, .. } = &one.place else { return None };
        let head = written.strip_suffix(&**own)?;
        number.starts_with(|sign: char| sign.is_ascii_digit()).then(|| self.parse(&format!("{head}{number}")).ok())?
    }

    pub(super) fn resolution_of<H: NodeLookup>(
        &self,
        mut held: Vec<NodeOrdinal>,
        cited: CitedItem,
        holdings: &H,
    ) -> Resolution {
        match (held.len(), held.pop()) {
            (1, Some(node)) => Resolution::Resolved { node, cited },
            (_, Some(last)) => {
                held.push(last);
                Resolution::Ambiguous { candidates: held, cited }
            }
            (_, None) => {
                let body = cited.body().and_then(|body| self.body(body));
                match body.map_or(Coverage::Outside, |body| holdings.coverage(body)) {
                    Coverage::Covered => Resolution::NotInSnapshot { cited },
                    Coverage::Placeholder => Resolution::Placeholder { cited },
                    Coverage::Outside => Resolution::OutsideCoverage { cited },
                }
            }
        }
    }

    /// Resolves one citation.
    pub fn resolve_one<H: NodeLookup>(&self, citation: Citation, holdings: &H) -> Result<Resolution, H::Error> {
        let held = self.provisions_of(&citation, holdings)?;
        if held.is_empty()
            && let Some((held, cited)) = self.container_of(&citation, holdings)?
        {
            return Ok(self.resolution_of(held, cited, holdings));
        }
        if held.is_empty()
            && let Some((held, range)) = self.shortened_range(&citation, holdings)?
        {
            return Ok(self.resolution_of(held, CitedItem::Citation(range), holdings));
        }
        Ok(self.resolution_of(held, CitedItem::Citation(citation), holdings))
    }

    /// The range that `28 U.S.C. § 2201-02` means if no section has this number and both ends exist.
    fn shortened_range<H: NodeLookup>(
        &self,
        citation: &Citation,
        holdings: &H,
    ) -> Result<Option<(Vec<NodeOrdinal>, Citation)>, H::Error> {
        let Some(range) = self.as_shortened_range(citation) else { return Ok(None) };
        let Locator::Numbered { number, last: Some(last), .. } = &range.place else { return Ok(None) };
        for end in [number, last] {
            let place = Locator::Numbered { unit: Unit::Section, number: end.clone(), last: None, wording: None };
            let end = Citation { place, subdivisions: Vec::new(), ..citation.clone() };
            if holdings.provisions(&self.key(&end))?.is_empty() {
                return Ok(None);
            }
        }
        let held = self.provisions_in_range(&range, holdings)?;
        Ok((!held.is_empty()).then_some((held, range)))
    }

    /// Reads `2201-02` as 2201 to 2202, in codes in which two rising numbers with a dash are a range.
    fn as_shortened_range(&self, citation: &Citation) -> Option<Citation> {
        let Locator::Numbered { unit: Unit::Section, number, last: None, wording: None } = &citation.place else {
            return None;
        };
        let (first, ending) = number.split_once('-')?;
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let form = self.forms.row(citation.body)?;
        let is_shortened = form.shape.rising == DashRangeRule::Always
            && is_number(first)
            && is_number(ending)
            && ending.len() < first.len();
        let last = format!("{}{ending}", first.get(..first.len().checked_sub(ending.len())?)?);
        let rises = is_shortened && number_order(first, &last).is_lt();
        let place =
            Locator::Numbered { unit: Unit::Section, number: first.into(), last: Some(last.into()), wording: None };
        rises.then(|| Citation { place, ..citation.clone() })
    }

    /// The container that a citation means if it matches no provision.
    fn container_of<H: NodeLookup>(
        &self,
        citation: &Citation,
        holdings: &H,
    ) -> Result<Option<(Vec<NodeOrdinal>, CitedItem)>, H::Error> {
        let Locator::Numbered { unit, number, last: None, .. } = &citation.place else { return Ok(None) };
        if citation.appendix || citation.note {
            return Ok(None);
        }
        if *unit != Unit::Section {
            let container = Citation { subdivisions: Vec::new(), ..citation.clone() };
            // `QMC ch. 8.08` may cite a chapter whose own citation also contains its title.
            if let Some(named) = self.parse_container(&self.format(&container)) {
                let held = holdings.containers(&named)?;
                if !held.is_empty() {
                    // A citation with subdivisions is returned as written, so that they are not lost.
                    let cited = match citation.subdivisions.is_empty() {
                        true => CitedItem::Container(named.container),
                        false => CitedItem::Citation(citation.clone()),
                    };
                    return Ok(Some((held, cited)));
                }
            }
        }
        let (title, level) = (citation.title.clone(), ContainerLevel::of_unit(*unit));
        let numbered = NumberedContainer { body: citation.body, title, number: number.clone(), level };
        let held = holdings.numbered_containers(&numbered)?;
        let cited = match citation.subdivisions.is_empty() {
            true => CitedItem::Numbered(numbered),
            false => CitedItem::Citation(citation.clone()),
        };
        Ok((!held.is_empty()).then_some((held, cited)))
    }

    /// The provisions that a citation means, in order: those with this citation; if there are none, those whose
    /// range contains it; if there are none, those that had it formerly; if there are none, those in its own range, at
    /// most [`RANGE_MAX`].
    pub fn provisions_of<H: ProvisionLookup>(
        &self,
        citation: &Citation,
        holdings: &H,
    ) -> Result<Vec<NodeOrdinal>, H::Error> {
        let mut held = holdings.provisions(&self.key(citation))?;
        if held.is_empty() {
            held = holdings.ranges_over(citation)?;
        }
        if held.is_empty() {
            held = holdings.formerly(&self.key(citation))?;
        }
        if held.is_empty() {
            held = self.provisions_in_range(citation, holdings)?;
        }
        Ok(held)
    }

    fn provisions_in_range<H: ProvisionLookup>(
        &self,
        range: &Citation,
        holdings: &H,
    ) -> Result<Vec<NodeOrdinal>, H::Error> {
        let Locator::Numbered { unit, last: Some(last_number), wording, .. } = &range.place else {
            return Ok(Vec::new());
        };
        let mut first = range.clone();
        if let Locator::Numbered { last, .. } = &mut first.place {
            *last = None;
        }
        let place = Locator::Numbered { unit: *unit, number: last_number.clone(), last: None, wording: *wording };
        let last = Citation { place, ..first.clone() };
        // A code is in the order of its numbers, so the rest of the range is next to the end that exists.
        if let Some(first) = holdings.provisions(&self.key(&first))?.first() {
            return walk(range, first.0..holdings.node_count(), holdings);
        }
        match holdings.provisions(&self.key(&last))?.last() {
            Some(last) => {
                let mut held = walk(range, (0..=last.0).rev(), holdings)?;
                held.reverse();
                Ok(held)
            }
            None => Ok(Vec::new()),
        }
    }
}

/// Collects the provisions in a range, up to the first that is outside it.
fn walk<H: ProvisionLookup>(
    range: &Citation,
    nodes: impl Iterator<Item = u32>,
    holdings: &H,
) -> Result<Vec<NodeOrdinal>, H::Error> {
    let mut held = Vec::new();
    for node in nodes.map(NodeOrdinal) {
        match holdings.is_within(range, node)? {
            None => {}
            Some(true) if held.len() < RANGE_MAX => held.push(node),
            Some(_) => break,
        }
    }
    Ok(held)
}
