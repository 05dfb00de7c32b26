//! Asks the law what each citation of a document names.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use hornbook_corpus::citation::{Citation, Locator};
use hornbook_corpus::citation_index::CitationKind;
use hornbook_corpus::ids::NodeOrdinal;
use hornbook_corpus::outline::Status;
use hornbook_search::{
    AnswerKind, CitationAnswer, CitedNode, Engine, LabelledParagraph, LawOnDay, SearchError, WordingText,
};

use crate::brief::{Brief, BriefPlace};

use crate::report::{CheckOptions, CitationFinding, CitationVerdict, CitedProvision};
use crate::sources::{BriefCitation, CitedText};

/// Maximum number of provisions that a finding names: a range may have a hundred.
const NAMED_MAX: usize = 5;

/// A checked citation, and the nodes that it names.
pub(crate) struct CheckedCitation {
    pub(crate) finding: CitationFinding,
    pub(crate) nodes: Vec<NodeOrdinal>,
    /// The cited subdivision: `(b)(2)`. Empty for the whole provision.
    pub(crate) subdivision: String,
}

/// The shown wordings of provisions with their labelled paragraphs: a document may cite one provision often.
#[derive(Default)]
pub(crate) struct LabelCache<'s>(HashMap<NodeOrdinal, (WordingText<'s>, Vec<LabelledParagraph>)>);

impl<'s> LabelCache<'s> {
    fn of(
        &mut self,
        engine: &'s Engine,
        law: &LawOnDay,
        node: NodeOrdinal,
    ) -> Result<&(WordingText<'s>, Vec<LabelledParagraph>), SearchError> {
        Ok(match self.0.entry(node) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(free) => {
                let wording = engine.wordings_on(law, node)?.swap_remove(0);
                free.insert((wording, engine.paragraphs_of(node, &wording)))
            }
        })
    }
}

pub(crate) fn check_citation<'s>(
    engine: &'s Engine,
    law: &LawOnDay,
    labels: &mut LabelCache<'s>,
    brief: &Brief,
    found: &BriefCitation,
    options: &CheckOptions,
) -> Result<CheckedCitation, SearchError> {
    let place = brief.place(found.range.start);
    let text = brief.text()[found.range.clone()].to_owned();
    let finding = |verdict, citation, message| CitationFinding {
        place,
        text: text.clone(),
        verdict,
        citation,
        is_short: found.is_short,
        is_certain: found.is_certain,
        message,
        provisions: Vec::new(),
        range: found.range.clone(),
    };
    let unread = |verdict, message: &String| CheckedCitation {
        finding: finding(verdict, None, message.clone()),
        nodes: Vec::new(),
        subdivision: String::new(),
    };
    let cited = match &found.cited {
        CitedText::Provision(citation) => citation,
        CitedText::Malformed(why) => return Ok(unread(CitationVerdict::Malformed, why)),
        CitedText::Unclear(why) => return Ok(unread(CitationVerdict::Unclear, why)),
    };
    let answer = engine.answer_on(law, cited.clone())?;
    let nodes: Vec<NodeOrdinal> =
        answer.candidates.iter().filter_map(|cited| engine.snapshot().ordinal(cited.node_id)).collect();
    let (mut verdict, mut message) = verdict_of((engine, law, labels), cited, &answer, &nodes, options)?;
    if !found.is_certain {
        if verdict == CitationVerdict::NoSuchSection {
            verdict = CitationVerdict::Unclear;
        }
        message += "; it is a short form that may mean another provision: cite the code";
    }
    let provisions = answer.candidates.into_iter().take(NAMED_MAX).map(CitedProvision::from).collect();
    let finding = CitationFinding { provisions, ..finding(verdict, answer.citation, message) };
    Ok(CheckedCitation { finding, nodes, subdivision: path_of(cited) })
}

/// A citation that is not in a document, with its answer.
pub(crate) fn check_resolved(engine: &Engine, answer: CitationAnswer) -> CheckedCitation {
    let nodes = answer.candidates.iter().filter_map(|cited| engine.snapshot().ordinal(cited.node_id)).collect();
    let verdict = match answer.answer {
        AnswerKind::Resolved => CitationVerdict::Resolved,
        AnswerKind::Ambiguous => CitationVerdict::Ambiguous,
        AnswerKind::NotHeld => CitationVerdict::NoSuchSection,
        AnswerKind::OutsideCoverage | AnswerKind::Placeholder => CitationVerdict::NotLoaded,
        AnswerKind::Malformed => CitationVerdict::Malformed,
    };
    let subdivision = answer.subdivision.iter().map(|label| format!("({label})")).collect();
    let finding = CitationFinding {
        place: BriefPlace { line: None, column: None, paragraph: 1 },
        text: answer.citation.clone().unwrap_or_default(),
        verdict,
        citation: answer.citation,
        is_short: false,
        is_certain: true,
        message: answer.message,
        provisions: answer.candidates.into_iter().map(CitedProvision::from).collect(),
        range: 0..0,
    };
    CheckedCitation { finding, nodes, subdivision }
}

impl From<CitedNode> for CitedProvision {
    fn from(cited: CitedNode) -> Self {
        let CitedNode { node_id, citation, heading, status, .. } = cited;
        Self { node_id, citation, heading, status, url: None }
    }
}

fn path_of(citation: &Citation) -> String {
    citation.subdivisions.iter().map(|label| format!("({label})")).collect()
}

fn verdict_of<'s>(
    (engine, law, labels): (&'s Engine, &LawOnDay, &mut LabelCache<'s>),
    cited: &Citation,
    answer: &CitationAnswer,
    nodes: &[NodeOrdinal],
    options: &CheckOptions,
) -> Result<(CitationVerdict, String), SearchError> {
    let message = answer.message.clone();
    let is_range = matches!(cited.place, Locator::Numbered { last: Some(_), .. });
    match answer.answer {
        AnswerKind::Malformed => return Ok((CitationVerdict::Malformed, message)),
        AnswerKind::OutsideCoverage | AnswerKind::Placeholder => return Ok((CitationVerdict::NotLoaded, message)),
        // A place within a chapter or part that is loaded.
        AnswerKind::NotHeld if !answer.candidates.is_empty() && !cited.subdivisions.is_empty() => {
            return Ok((CitationVerdict::NoSuchSubdivision, message));
        }
        AnswerKind::NotHeld => return Ok((CitationVerdict::NoSuchSection, message)),
        AnswerKind::Ambiguous if is_range => return Ok((CitationVerdict::Resolved, message)),
        AnswerKind::Ambiguous => return Ok((CitationVerdict::Ambiguous, message)),
        AnswerKind::Resolved => {}
    }
    let ([node], [candidate]) = (nodes, &*answer.candidates) else { return Ok((CitationVerdict::Resolved, message)) };
    let snapshot = engine.snapshot();
    let grammar = snapshot.grammar();
    let bearers = snapshot.nodes_with_citation_key(&grammar.key(cited))?;
    if !bearers.is_empty() && bearers.iter().all(|(_, kind)| *kind == CitationKind::Former) {
        let message = format!("it has another number now: cite {}", candidate.citation);
        return Ok((CitationVerdict::Renumbered, message));
    }
    let verdict = match candidate.status {
        Status::InForce | Status::Uncertain => CitationVerdict::Resolved,
        Status::Repealed => CitationVerdict::Repealed,
        Status::Renumbered | Status::Transferred => CitationVerdict::Renumbered,
        Status::Expired => CitationVerdict::Expired,
        Status::NotYetEffective => CitationVerdict::NotYetEffective,
        Status::Reserved | Status::Omitted => CitationVerdict::NotInForce,
    };
    if verdict != CitationVerdict::Resolved {
        return Ok((verdict, message_of_status(engine, candidate)?));
    }
    let path = path_of(cited);
    if !path.is_empty() && snapshot.outline.is_provision(*node) {
        let (wording, paragraphs) = labels.of(engine, law, *node)?;
        let last = cited.subdivisions.last().map_or("", |label| label);
        let is_there = paragraphs.iter().any(|paragraph| paragraph.path.starts_with(&path));
        // A label within a line is no paragraph, but it is there.
        if !is_there && !has_label_in_line(wording.text, paragraphs, &path, last) {
            let message = format!("{} has no {path}; check the subdivision", candidate.citation);
            return Ok((CitationVerdict::NoSuchSubdivision, message));
        }
    }
    if let (Some(since), Some(from)) = (options.since, candidate.effective_from)
        && from > since
    {
        let message =
            format!("its wording took effect on {from}, after {since}: compare what the document says with it");
        return Ok((CitationVerdict::Reworded, message));
    }
    let message = match candidate.status {
        Status::Uncertain => format!("{message}; its source says when it is in force, but not as a date"),
        _ => message,
    };
    Ok((CitationVerdict::Resolved, message))
}

/// Whether a subdivision without a paragraph of its own may be in the text of the one around it: `... (1) ... (2) ...`
/// in one line.
fn has_label_in_line(text: &str, paragraphs: &[LabelledParagraph], path: &str, last: &str) -> bool {
    let around = &path[..path.len() - last.len() - 2];
    let label = format!("({last})");
    let part = if around.is_empty() {
        let end = paragraphs.first().map_or(text.len(), |first| first.start);
        0..end
    } else {
        let Some(place) = paragraphs.iter().position(|paragraph| paragraph.path == around) else { return false };
        let end = paragraphs.get(place + 1).map_or(text.len(), |next| next.start);
        paragraphs[place].start..end
    };
    let Some(part) = text.get(part) else { return false };
    let own = part.find(')').map_or(0, |end| if around.is_empty() { 0 } else { end });
    part[own..].contains(&label)
}

/// What became of a provision that is not in force.
fn message_of_status(engine: &Engine, candidate: &CitedNode) -> Result<String, SearchError> {
    let snapshot = engine.snapshot();
    let days = match (candidate.effective_from, candidate.effective_to) {
        (Some(from), _) if candidate.status == Status::NotYetEffective => format!(" until {from}"),
        (_, Some(to)) => format!(" since {to}"),
        _ => String::new(),
    };
    let message = format!("{} is {}{days}", candidate.citation, candidate.status.as_str());
    if !matches!(candidate.status, Status::Renumbered | Status::Transferred) {
        return Ok(message + "; do not cite it as law in force");
    }
    let bearers = snapshot.nodes_with_citation(&candidate.citation)?;
    let successors = bearers.into_iter().filter(|(_, kind)| *kind == CitationKind::Former);
    let mut successors: Vec<NodeOrdinal> = successors.map(|(node, _)| node).collect();
    if successors.is_empty()
        && let Some(node) = snapshot.ordinal(candidate.node_id)
    {
        // As on its page: the only provision that its remark cites.
        let cited: Vec<NodeOrdinal> = snapshot.references.outgoing(node).take(2).collect();
        successors.extend(cited.into_iter().take(1).filter(|_| snapshot.references.outgoing(node).len() == 1));
    }
    let names = successors.into_iter().map(|node| Ok(snapshot.cards.get(node)?.citation.to_owned()));
    let names = names.collect::<Result<Vec<String>, SearchError>>()?;
    Ok(match names.is_empty() {
        true => message + "; look for its new number",
        false => format!("{message}: cite {}", names.join(" or ")),
    })
}
