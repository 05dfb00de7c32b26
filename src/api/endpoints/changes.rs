//! `changes`: what changed in the law from one edition to the next, and what will change.

use std::fmt::Write as _;
use std::sync::Arc;

use hornbook_accounts::scope::Scope;
use hornbook_corpus::catalogue::CodeBody;
use hornbook_corpus::day::Day;
use hornbook_corpus::ids::{CodeBodyId, NodeOrdinal, OrdinalRange, ShortCode};
use hornbook_corpus::outline::Status;
use hornbook_corpus::ranges::OrdinalRanges;
use hornbook_corpus::validity::Validity;
use hornbook_editions::{
    ChangeDate, ChangeDateKind, ChangeKind, CodeEdition, LawChange, ListedChange, ListedNode, listed,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::filters::{CODE_BODIES, JURISDICTIONS, SUBTREE, ranges};
use super::paging::{LIMIT, PAGE, Paging};
use crate::api::as_of::today;
use crate::api::corpus::Corpus;
use crate::api::error::{ApiError, Violation};
use crate::api::fields::FIELDS;
use crate::api::model_text::{ForModel, ModelText, written_for_model};
use crate::api::operation::{CostUnit, LawCall, Operation, PreparedWork};
use crate::api::page_links::PageLinks;
use crate::api::parameters::{AnyOf, Choice, Param};
use crate::api::reply::Reply;
use crate::api::reply_text::ReplyText;
use crate::api::rows::{JSON, law, law_tool, route};
use crate::api::shelf::ShelfPlace;
use crate::api::subject::Subject;
use crate::api::view::VIEW;

pub(in crate::api) const SINCE: Param<Option<Day>> =
    Param::optional("since", "only changes that came after this day, 2025-01-31");

pub(in crate::api) const KINDS: Param<Option<AnyOf<KindChoice>>> =
    Param::optional("kind", "kinds of changes; default: all but notes");

pub(in crate::api) const PENDING: Param<bool> =
    Param::with_default("pending", "false", "true: what the served edition says will change, in place of what changed");

/// A kind of change by its name.
pub(in crate::api) struct KindChoice(ChangeKind);

const KIND_NAMES: [&str; ChangeKind::ALL.len()] = {
    let mut names = [""; ChangeKind::ALL.len()];
    let mut at = 0;
    while at < names.len() {
        names[at] = ChangeKind::ALL[at].as_str();
        at += 1;
    }
    names
};

impl Choice for KindChoice {
    const NAMES: &'static [&'static str] = &KIND_NAMES;

    fn at(place: usize) -> Option<Self> {
        ChangeKind::ALL.get(place).copied().map(Self)
    }
}

/// One page of changes, the latest editions first, within an edition in code order.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", bound(deserialize = "'de: 's"))]
#[schemars(rename = "Changes")]
pub struct ChangesReply<'s> {
    pub page: u32,
    pub page_size: u32,
    /// The number of changes on all pages.
    pub total: usize,
    pub changes: Vec<ChangeItem<'s>>,
    /// The editions that are kept here, by code body, the oldest first. A change before the first is not known.
    pub editions: Vec<KeptEditions<'s>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
}

/// A change, with its place in the law.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", bound(deserialize = "'de: 's"))]
#[schemars(rename = "ChangeInCode")]
pub struct ChangeItem<'s> {
    #[serde(flatten)]
    pub change: ListedChange,
    /// The web page of the provision; of one that is gone, as it was.
    pub url: String,
    #[schemars(with = "String")]
    pub jurisdiction: ShortCode,
    pub code_body: ReplyText<'s>,
    #[schemars(with = "uuid::Uuid")]
    pub code_body_id: CodeBodyId,
}

/// The editions of one code body.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", bound(deserialize = "'de: 's"))]
#[schemars(rename = "KeptEditions")]
pub struct KeptEditions<'s> {
    pub code_body: ReplyText<'s>,
    #[schemars(with = "uuid::Uuid")]
    pub code_body_id: CodeBodyId,
    pub editions: Vec<CodeEdition>,
}

impl ForModel for ChangesReply<'_> {
    fn for_model(&self) -> ModelText {
        let Self { changes, total, page, notices, .. } = self;
        let mut shown = ModelText::of(format!("{} of {total} changes, page {page}:\n", changes.len()));
        shown.notes(notices);
        for item in changes {
            write_change(&mut shown, &item.change);
        }
        shown
    }
}

/// Adds a line and a link for a change.
pub(super) fn write_change(shown: &mut ModelText, change: &ListedChange) {
    let ListedNode { node_id, citation, heading } = &change.node;
    let formerly = change.formerly.as_ref().map_or(String::new(), |before| format!(", formerly {}", before.citation));
    let acts = if change.acts.is_empty() { String::new() } else { format!("; {}", change.acts.join("; ")) };
    let (kind, date) = (change.kind.as_str(), change.date.sentence());
    let _ = writeln!(shown.text, "- {kind}: {citation} {heading} (id {node_id}{formerly}), {date}{acts}");
    shown.link(*node_id, citation, heading);
}

pub(in crate::api) const OPERATION: Operation = Operation {
    name: "changes",
    subject: Subject::Changes,
    summary: "What changed in the law from one edition to the next, or what will change",
    details: Some(
        "Every change says of which day it is: `effective` is the publisher's day, `edition` the day through which the newer edition is current, \
         `first_seen` the day on which it was retrieved. Texts are compared without typography and spacing. If the newer edition \
         lacks a title or chapter, what was in it is not listed again.",
    ),
    route: route("/api/v1/changes", "/api/v1/changes?jurisdiction={jurisdiction}"),
    tool: law_tool(
        "law.changes",
        "law_changes",
        "Use it for what was amended, added or repealed since a day, or will be (pending=true). For one provision, use law.history.",
        &[("limit", "20")],
    ),
    parameters: &[
        SINCE.rule,
        KINDS.rule,
        PENDING.rule,
        JURISDICTIONS.rule,
        CODE_BODIES.rule,
        SUBTREE.rule,
        PAGE.rule,
        LIMIT.rule,
        FIELDS.rule,
        VIEW.rule,
    ],
    body: None,
    formats: JSON,
    errors: &[],
    has_version: false,
    reply: |generator| generator.subschema_for::<ChangesReply<'static>>(),
    model_text: Some(|json| written_for_model::<ChangesReply<'_>>(json)),
    access: law(&[Scope::Browse], 1, CostUnit::Call, prepare),
};

fn prepare(call: &LawCall<'_>) -> Result<PreparedWork, ApiError> {
    let mut violations = Vec::new();
    let within = ranges(call, &mut violations);
    let paging = Paging::of(call).map_err(|violation| violations.push(violation)).ok();
    let is_pending = call.get(&PENDING);
    if is_pending && call.get(&SINCE).is_some() {
        violations.push(Violation::new(SINCE.rule.name, "give since or pending, not both"));
    }
    let Some(paging) = paging.filter(|_| violations.is_empty()) else { return Err(ApiError::invalid(violations)) };
    let kinds = call.get(&KINDS).map(|kinds| kinds.into_iter().map(|KindChoice(kind)| kind).collect());
    let named_bodies = call.get(&CODE_BODIES).map(|ids| ids.iter().copied().map(CodeBodyId).collect());
    let is_whole = call.get(&JURISDICTIONS).is_none() && call.get(&SUBTREE).is_none();
    let search = ChangeSearch {
        corpus: Arc::clone(call.corpus),
        within,
        named_bodies,
        is_whole,
        kinds,
        since: call.get(&SINCE),
        today: today(call.now),
        pages: PageLinks::new(call.link_base, None),
    };
    Ok(PreparedWork::heavy(move |_| {
        let found = if is_pending { search.pending()? } else { search.past() };
        search.reply(paging, &found, is_pending)
    }))
}

/// What a call asks for.
struct ChangeSearch {
    corpus: Arc<Corpus>,
    within: Option<OrdinalRanges>,
    named_bodies: Option<Vec<CodeBodyId>>,
    /// Whether whole code bodies are asked for: then what is gone belongs to them as well.
    is_whole: bool,
    kinds: Option<Vec<ChangeKind>>,
    since: Option<Day>,
    today: Day,
    pages: PageLinks,
}

/// A change, by reference.
enum FoundChange<'s> {
    Past {
        change: &'s LawChange,
        old: &'s (CodeEdition, ShelfPlace),
        new: &'s (CodeEdition, ShelfPlace),
        body: CodeBodyId,
    },
    Pending {
        node: NodeOrdinal,
        day: Day,
        kind: ChangeKind,
    },
}

impl ChangeSearch {
    fn bodies(&self) -> impl Iterator<Item = &CodeBody> {
        let overlaps = |nodes: OrdinalRange| {
            self.within.as_ref().is_none_or(|within| !within.intersect(&OrdinalRanges::from(nodes)).is_empty())
        };
        let is_named = |id: CodeBodyId| self.named_bodies.as_ref().is_none_or(|named| named.contains(&id));
        let bodies = self.corpus.catalogue().code_bodies.iter();
        bodies.filter(move |body| overlaps(body.nodes) && is_named(body.id))
    }

    fn past(&self) -> Vec<FoundChange<'_>> {
        let mut pairs = Vec::new();
        for body in self.bodies() {
            let Some(editions) = self.corpus.editions(body.id) else { continue };
            pairs.extend(editions.pairs().map(|(old, new)| (body.id, old, new)));
        }
        // The latest editions first; bodies of the same day in code order.
        pairs.sort_by_key(|(_, _, (new, _))| std::cmp::Reverse(new.current_through.or(new.retrieved_at)));
        let mut found = Vec::new();
        for (body, old, new) in pairs {
            let is_late = new.0.current_through.or(new.0.retrieved_at).is_none_or(|day| self.since < Some(day));
            if is_late {
                let changes = self.corpus.changes(body, old.1, new.1);
                let wanted = changes
                    .iter()
                    .flat_map(|changes| changes.iter())
                    .filter(|change| self.is_wanted(change, old.1, new.1));
                found.extend(wanted.map(|change| FoundChange::Past { change, old, new, body }));
            }
        }
        found
    }

    fn is_wanted(&self, change: &LawChange, old: ShelfPlace, new: ShelfPlace) -> bool {
        let is_kind = match &self.kinds {
            Some(kinds) => kinds.contains(&change.kind),
            None => change.kind.is_of_law(),
        };
        let is_before = self.since.zip(change.effective).is_some_and(|(since, day)| day <= since);
        is_kind && !is_before && (self.is_whole || self.is_within(change, old, new))
    }

    /// Whether a changed node is in the ranges of the served snapshot: itself, or what it was in.
    fn is_within(&self, change: &LawChange, old: ShelfPlace, new: ShelfPlace) -> bool {
        let Some(within) = &self.within else { return true };
        let served = self.corpus.snapshot();
        let is_in = |place: ShelfPlace, node: NodeOrdinal| {
            let outline = &self.corpus.at(place).snapshot().outline;
            let mut above = std::iter::once(node).chain(outline.ancestors(node));
            above.find_map(|node| served.ordinal(outline.id(node)?)).is_some_and(|node| within.contains(node.0))
        };
        change.new.is_some_and(|node| is_in(new, node)) || change.old.is_some_and(|node| is_in(old, node))
    }

    /// The wordings that begin or end after today, by the day.
    fn pending(&self) -> Result<Vec<FoundChange<'_>>, ApiError> {
        let (corpus, law) = (&self.corpus, self.corpus.engine().law_on(Some(self.today)));
        let mut found: Vec<(Day, NodeOrdinal, ChangeKind)> = Vec::new();
        for (node, _) in law.changing() {
            let is_within = self.within.as_ref().is_none_or(|within| within.contains(node.0));
            if !is_within {
                continue;
            }
            let record = corpus.snapshot().nodes.get(node)?;
            let validities: Vec<Validity> = record.wordings.iter().map(|wording| wording.validity).collect();
            found.extend(upcoming(&validities, self.today).map(|(day, kind)| (day, node, kind)));
        }
        found.retain(|(_, _, kind)| self.kinds.as_ref().is_none_or(|kinds| kinds.contains(kind)));
        found.sort_unstable_by_key(|&(day, node, _)| (day, node));
        Ok(found.into_iter().map(|(day, node, kind)| FoundChange::Pending { node, day, kind }).collect())
    }

    fn reply(&self, paging: Paging, found: &[FoundChange<'_>], is_pending: bool) -> Result<Reply, ApiError> {
        let page = found.iter().skip(paging.skipped()).take(paging.limit as usize);
        let changes = page.map(|found| self.item(found)).collect::<Result<_, _>>()?;
        let kept = self.bodies().filter_map(|body| {
            let editions = self.corpus.editions(body.id)?;
            let editions = editions.iter().map(|(edition, _)| edition.clone()).collect();
            Some(KeptEditions { code_body: (&body.name).into(), code_body_id: body.id, editions })
        });
        let mut notices = Vec::new();
        if !is_pending && !self.corpus.has_shelf() {
            notices.push("This server keeps one edition of the law, so it does not know what changed.".to_owned());
        }
        let (page, page_size, total) = (paging.page, paging.limit, found.len());
        let reply = ChangesReply { page, page_size, total, changes, editions: kept.collect(), notices };
        Ok(Reply { pages: Some(paging.pages(total)), ..Reply::json(&reply)? })
    }

    fn item(&self, found: &FoundChange<'_>) -> Result<ChangeItem<'_>, ApiError> {
        match found {
            FoundChange::Past { change, old, new, body } => {
                let sides = [(&old.0, old.1), (&new.0, new.1)];
                let [before, now] = sides.map(|(edition, place)| (self.corpus.at(place).snapshot(), edition));
                let listed = listed(change, before, now)?;
                let pages = match (change.new, old.0.current_through) {
                    (None, Some(day)) => self.pages.on(day),
                    _ => self.pages.clone(),
                };
                let place = if change.new.is_some() { new.1 } else { old.1 };
                let node = change.new.or(change.old);
                let node = node.ok_or_else(|| ApiError::internal("a change names no node"))?;
                let url = pages.page_of(self.corpus.at(place).snapshot(), node)?;
                let body = self.corpus.catalogue().code_body(*body);
                let body = body.ok_or_else(|| ApiError::internal("a changed code body is not in the snapshot"))?;
                Ok(ChangeItem {
                    change: listed,
                    url,
                    jurisdiction: body.jurisdiction.clone(),
                    code_body: (&body.name).into(),
                    code_body_id: body.id,
                })
            }
            FoundChange::Pending { node, day, kind } => {
                let snapshot = self.corpus.snapshot();
                let card = snapshot.cards.get(*node)?;
                let body = snapshot.code_body_of(*node);
                let body = body.ok_or_else(|| ApiError::internal("a provision is in no code body"))?;
                let node_id = self.corpus.node_id(*node)?;
                let citation = card.citation.to_owned();
                let names = ListedNode { node_id, citation, heading: card.heading.to_owned() };
                let date = ChangeDate { is: ChangeDateKind::Effective, day: Some(*day), after: None };
                let change = ListedChange {
                    kind: *kind,
                    differs: Vec::new(),
                    node: names,
                    formerly: None,
                    date,
                    acts: Vec::new(),
                };
                Ok(ChangeItem {
                    change,
                    url: self.pages.on(*day).page_of(snapshot, *node)?,
                    jurisdiction: body.jurisdiction.clone(),
                    code_body: (&body.name).into(),
                    code_body_id: body.id,
                })
            }
        }
    }
}

/// The days after today on which wordings begin or end, and what then happens.
fn upcoming(wordings: &[Validity], today: Day) -> impl Iterator<Item = (Day, ChangeKind)> {
    let begins = |wording: &Validity| wording.from.filter(|from| *from > today);
    let mut days: Vec<(Day, ChangeKind)> = Vec::new();
    for wording in wordings {
        if let Some(day) = begins(wording) {
            let is_new = wordings.len() == 1 && !wording.has_predecessor;
            let kind = match wording.status {
                Status::Repealed => ChangeKind::Repealed,
                status if !status.may_be_in_force() => ChangeKind::Ended,
                _ if is_new => ChangeKind::Added,
                _ => ChangeKind::Reworded,
            };
            days.push((day, kind));
        }
        let is_replaced = |day: Day| wordings.iter().any(|other| begins(other) == Some(day));
        if let Some(day) = wording.to.filter(|day| *day > today && !is_replaced(*day)) {
            let is_repeal = wording.then == Some(Status::Repealed);
            days.push((day, if is_repeal { ChangeKind::Repealed } else { ChangeKind::Ended }));
        }
    }
    days.into_iter()
}
