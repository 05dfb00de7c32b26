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

use crate::brief::Brief;
use crate::report::{CheckOptions, CitationFinding, CitationVerdict, CitedProvision, FindingSeverity};
use crate::sources::{BriefCitation, CitedText};

/// Maximum number of provisions that a finding names: a range may have a hundred.
const NAMED_MAX: usize = 5;

/// What a quotation is compared with: the law that a citation names.
#[derive(Default)]
pub(crate) struct QuotedSource {
    /// The citation in its canonical form; none if it cannot be read.
    pub(crate) citation: Option<String>,
    pub(crate) nodes: Vec<NodeOrdinal>,
    /// The cited subdivision: `(b)(2)`. Empty for the whole provision.
    pub(crate) subdivision: String,
    /// Whether the corpus would have the law if it existed, and it is clear which law is meant.
    pub(crate) is_here: bool,
}

/// A checked citation, and the law that it names.
pub(crate) struct CheckedCitation {
    pub(crate) finding: CitationFinding,
    pub(crate) source: QuotedSource,
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
        source: QuotedSource { is_here: verdict == CitationVerdict::Malformed, ..QuotedSource::default() },
    };
    let (answer, cited) = match &found.cited {
        CitedText::Provision(citation) => (engine.answer_on(law, citation.clone())?, Some(citation)),
        CitedText::Container(container) => (engine.container_answer_on(law, container)?, None),
        CitedText::Malformed(why) => return Ok(unread(CitationVerdict::Malformed, why)),
        CitedText::Unclear(why) => return Ok(unread(CitationVerdict::Unclear, why)),
    };
    let mut source = source_of(engine, &answer);
    let (mut verdict, mut message) = verdict_of((engine, law, labels), cited, &answer, &source.nodes, options)?;
    if !found.is_certain {
        // What may mean another provision is not wrong.
        if verdict.severity() == FindingSeverity::Wrong {
            verdict = CitationVerdict::Unclear;
        }
        source.is_here = false;
        message += "; it is a short form that may mean another provision: cite the code";
    }
    let provisions = answer.candidates.into_iter().take(NAMED_MAX).map(CitedProvision::from).collect();
    Ok(CheckedCitation {
        finding: CitationFinding { provisions, ..finding(verdict, answer.citation, message) },
        source,
    })
}

/// The law that a resolved citation names.
pub(crate) fn source_of(engine: &Engine, answer: &CitationAnswer) -> QuotedSource {
    QuotedSource {
        citation: answer.citation.clone(),
        nodes: answer.candidates.iter().filter_map(|cited| engine.snapshot().ordinal(cited.node_id)).collect(),
        subdivision: answer.subdivision.iter().map(|label| format!("({label})")).collect(),
        is_here: !matches!(answer.answer, AnswerKind::OutsideCoverage | AnswerKind::Placeholder),
    }
}

impl From<CitedNode> for CitedProvision {
    fn from(cited: CitedNode) -> Self {
        let CitedNode { node_id, citation, heading, status, .. } = cited;
        Self { node_id, citation, heading, status, url: None }
    }
}

fn verdict_of<'s>(
    (engine, law, labels): (&'s Engine, &LawOnDay, &mut LabelCache<'s>),
    cited: Option<&Citation>,
    answer: &CitationAnswer,
    nodes: &[NodeOrdinal],
    options: &CheckOptions,
) -> Result<(CitationVerdict, String), SearchError> {
    let message = answer.message.clone();
    let is_range = cited.is_some_and(|cited| matches!(cited.place, Locator::Numbered { last: Some(_), .. }));
    let subdivisions = cited.map_or(&[][..], |cited| &cited.subdivisions);
    match answer.answer {
        AnswerKind::Malformed => return Ok((CitationVerdict::Malformed, message)),
        AnswerKind::OutsideCoverage | AnswerKind::Placeholder => return Ok((CitationVerdict::NotLoaded, message)),
        // A place within a chapter or part that is loaded.
        AnswerKind::NotHeld if !answer.candidates.is_empty() && !subdivisions.is_empty() => {
            return Ok((CitationVerdict::NoSuchSubdivision, message));
        }
        AnswerKind::NotHeld => return Ok((CitationVerdict::NoSuchSection, message)),
        AnswerKind::Ambiguous if is_range => return Ok((CitationVerdict::Resolved, message)),
        AnswerKind::Ambiguous => return Ok((CitationVerdict::Ambiguous, message)),
        AnswerKind::Resolved => {}
    }
    let ([node], [candidate]) = (nodes, &*answer.candidates) else { return Ok((CitationVerdict::Resolved, message)) };
    let snapshot = engine.snapshot();
    let bearers = match cited {
        Some(cited) => snapshot.nodes_with_citation_key(&snapshot.grammar().key(cited))?,
        None => Vec::new(),
    };
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
    let path: String = subdivisions.iter().map(|label| format!("({label})")).collect();
    if !path.is_empty() && snapshot.outline.is_provision(*node) {
        let (wording, paragraphs) = labels.of(engine, law, *node)?;
        let last = subdivisions.last().map_or("", |label| label);
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
    let successors = match snapshot.ordinal(candidate.node_id) {
        Some(node) => engine.successors(node, candidate.status)?,
        None => Vec::new(),
    };
    let names = successors.into_iter().map(|node| Ok(snapshot.cards.get(node)?.citation.to_owned()));
    let names = names.collect::<Result<Vec<String>, SearchError>>()?;
    Ok(match names.is_empty() {
        true => message + "; look for its new number",
        false => format!("{message}: cite {}", names.join(" or ")),
    })
}
