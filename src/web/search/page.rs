//! The HTML of the search page.

use std::sync::Arc;

use hornbook_accounts::people::SignUpPolicy;
use hornbook_accounts::records::AccountStatus;
use hornbook_accounts::tier::FreeTier;
use hornbook_base::thousands::grouped;
use hornbook_corpus::catalogue::Jurisdiction;
use hornbook_search::{CitationAnswer, Mode, PlaceEffect, Relation, UnderstoodPlace};
use maud::{Markup, html};

use super::containers::ContainerLinks;
use super::facets::filters;
use super::nothing::nothing;
use super::query::{IN_FORCE, PAGE_SIZE, SearchPageQuery, Sort};
use super::snippet::parts;
use crate::api::as_of::AS_OF_NAME;
use crate::api::error::{ApiError, ErrorCode};
use crate::api::examples::Examples;
use crate::api::replies::{LinkedCandidate, SearchReply, SearchResultItem};
use crate::api::reply::Pages;
use crate::api::subject::Subject;
use crate::api::visitors::VisitorAction;
use crate::percent;
use crate::web::formatting::{credits, notice, status_of, written_day};
use crate::web::frame::SUGGEST_PATH;
use crate::web::law::cited::{NOT_LOADED, message_for_people, place_not_loaded};
use crate::web::page_context::OpenPage;
use crate::web::page_error::{SIGN_IN, SIGN_UP};
use crate::web::pager::{self, ListEdition};
use crate::web::return_path::link_with_return;
use crate::web::untrusted_text::{UntrustedText, short_heading};
use crate::web::visitor::Visitor;

/// Maximum number of candidates for a citation.
const CANDIDATES_MAX: usize = 12;

/// The options beside the search box.
pub(super) struct Choices<'c> {
    query: &'c SearchPageQuery,
    jurisdictions: &'c [Jurisdiction],
    provisions: u32,
    may_search: bool,
    /// Whether the reader has an account that nobody has approved yet.
    is_waiting: bool,
    sign_up: SignUpPolicy,
    free: FreeTier,
}

impl<'c> Choices<'c> {
    pub(super) fn of(opened: &'c OpenPage<'_>, query: &'c SearchPageQuery) -> Self {
        let catalogue = opened.corpus.catalogue();
        Self {
            query,
            jurisdictions: &catalogue.jurisdictions,
            provisions: catalogue.jurisdictions.iter().map(|jurisdiction| jurisdiction.provisions).sum(),
            may_search: opened.may(VisitorAction::Search),
            is_waiting: matches!(&opened.visitor, Visitor::Person(person) if person.status == AccountStatus::Pending),
            sign_up: opened.shell.sign_up,
            free: opened.shell.service.accounts().settings().tariff.free,
        }
    }

    fn chosen(&self) -> Option<&Jurisdiction> {
        let chosen = self.query.jurisdiction.as_deref()?;
        self.jurisdictions.iter().find(|known| known.short_code.as_str().eq_ignore_ascii_case(chosen))
    }

    fn form(&self, is_start: bool) -> Markup {
        let Self { query, .. } = self;
        let (with_law, without_law): (Vec<&Jurisdiction>, Vec<&Jurisdiction>) =
            self.jurisdictions.iter().partition(|known| !known.subtree.is_empty());
        html! {
            form.search.large[is_start] role="search" action="/" method="get" {
                div.box {
                    label.unseen for="q" { "Search the law" }
                    input #q type="search" name="q" value=(query.text) maxlength="1024" autocomplete="off" autocapitalize="off"
                        spellcheck="false" autofocus[is_start] placeholder="A question or a citation"
                        aria-keyshortcuts="/" data-suggest=[self.may_search.then_some(SUGGEST_PATH)];
                    button type="submit" { "Search" }
                }
                div.choices {
                    fieldset.segments {
                        legend.unseen { "Search by" }
                        @for mode in Mode::ALL {
                            label title=(mode.meaning()) {
                                input type="radio" name="mode" value=(mode.name()) checked[mode == query.mode()];
                                span { (short(mode)) }
                            }
                        }
                    }
                    label.jurisdiction {
                        span.unseen { "Jurisdiction" }
                        select name="jurisdiction" {
                            option value="" { "All jurisdictions" }
                            @if let Some(several) = self.query.jurisdiction.as_deref().filter(|chosen| chosen.contains(',')) {
                                option value=(several) selected { (several.replace(',', ", ")) }
                            }
                            @for known in with_law { (self.jurisdiction(known)) }
                            @if !without_law.is_empty() {
                                optgroup label=(NOT_LOADED) { @for known in without_law { (self.jurisdiction(known)) } }
                            }
                        }
                    }
                    label.status {
                        span.unseen { "Status" }
                        select name="status" {
                            option value="" { "Any status" }
                            option value=(IN_FORCE) selected[query.status.as_deref() == Some(IN_FORCE)] { "In force" }
                            @if let Some(other) = query.status.as_deref().filter(|chosen| *chosen != IN_FORCE) {
                                option value=(other) selected { (other.replace(',', ", ")) }
                            }
                        }
                    }
                    label.day { "As of " input type="date" name=(AS_OF_NAME) value=[query.day.as_deref()]; }
                    @for (name, value) in query.hidden() { input type="hidden" name=(name) value=(value); }
                }
            }
        }
    }

    /// A jurisdiction in the menu.
    fn jurisdiction(&self, known: &Jurisdiction) -> Markup {
        let is_chosen = self.chosen().is_some_and(|chosen| chosen.short_code == known.short_code);
        html! { option value=(known.short_code) selected[is_chosen] { (UntrustedText(&known.name)) } }
    }

    /// The samples, and how to get access to other searches, unless the page says that already.
    fn samples(&self, samples: &Samples, is_way_in_said: bool) -> Markup {
        let links = samples.links(self.jurisdictions);
        html! {
            section.samples aria-label="Examples" {
                @if let Some(links) = &links { h2 { "For example" } (links) }
                @if !self.may_search && !is_way_in_said {
                    p.also {
                        "To search" @if links.is_some() { " for anything else" } ", " (self.way_in()) " "
                        a href=(Subject::Search.path()) { "The API" } " is the same search for programs. "
                        "Citations open their provisions without an account."
                    }
                }
            }
        }
    }

    /// How to get access to searches. Signing in leads back to this one.
    fn way_in(&self) -> Markup {
        if self.is_waiting {
            return html! { "wait until the operator of this server approves your account." };
        }
        let back = self.query.same();
        html! {
            a href=(link_with_return(SIGN_IN, &back)) { "sign in" }
            @match self.sign_up {
                SignUpPolicy::Invited => { ". The operator of this server creates accounts." }
                SignUpPolicy::Approval => {
                    " or " a href=(link_with_return(SIGN_UP, &back)) { "ask for an account" } (self.gift()) "."
                }
                SignUpPolicy::Open => { " or " a href=(link_with_return(SIGN_UP, &back)) { "sign up" } (self.gift()) "." }
            }
        }
    }

    /// What an account gets for free.
    fn gift(&self) -> Markup {
        let FreeTier { monthly_units, credits_on_approval, .. } = self.free;
        html! {
            @if monthly_units > 0 { " (free, " (grouped(monthly_units)) " searches a month)" }
            @else if credits_on_approval.0 > 0 { " (free, with " (credits(credits_on_approval)) " credits)" }
        }
    }
}

/// Examples that the reader may follow, from the served snapshot.
pub(super) struct Samples {
    /// None if the reader may not read here.
    examples: Option<Arc<Examples>>,
}

impl Samples {
    pub(super) async fn of(opened: &OpenPage<'_>) -> Result<Self, ApiError> {
        let examples = if opened.may(VisitorAction::Sample) { Some(opened.corpus.examples().await?) } else { None };
        Ok(Self { examples })
    }

    /// Searches, a citation that leads to its provision, and the contents of a jurisdiction. None if the snapshot has
    /// no law.
    fn links(&self, jurisdictions: &[Jurisdiction]) -> Option<Markup> {
        let examples = self.examples.as_deref()?;
        let citation = examples.get("citation");
        let jurisdiction = examples.get("jurisdiction");
        let known = jurisdictions.iter().find(|known| Some(known.short_code.as_str()) == jurisdiction);
        let link =
            |path: &str, text: &str| html! { a href={ (path) (percent::encoded(text)) } { (UntrustedText(text)) } };
        let links = html! {
            ul {
                @for words in examples.searches() { li { (link("/?q=", words)) } }
                @if let Some(citation) = citation { li { (link("/cite/", citation)) } }
                @if let Some(known) = known {
                    li { a href={ "/browse#" (known.short_code) } { "Contents: " (UntrustedText(&known.name)) } }
                }
            }
        };
        (citation.is_some() || known.is_some() || !examples.searches().is_empty()).then_some(links)
    }
}

/// A short name of a search mode.
const fn short(mode: Mode) -> &'static str {
    match mode {
        Mode::Hybrid => "Words and meaning",
        Mode::Semantic => "Meaning",
        Mode::Keyword => "Words",
    }
}

/// The page before a search.
pub(super) fn start(choices: &Choices<'_>, samples: &Samples) -> Markup {
    html! {
        div.start {
            h1 { "Search the law" }
            p.lead {
                (grouped(choices.provisions)) " provisions of statutes, codes and regulations. "
                span.whole { a href="/browse" { "Contents" } " · " a href="/coverage" { "Coverage" } }
            }
            (choices.form(true))
            (choices.samples(samples, false))
        }
    }
}

pub(super) fn refused(choices: &Choices<'_>, samples: &Samples, error: &ApiError) -> Markup {
    html! {
        h1.unseen { "Search" }
        (choices.form(false))
        @match error.code {
            ErrorCode::InvalidApiKey => {
                p.banner role="status" {
                    strong { "Searching needs an account here." } " To search for this, " (choices.way_in())
                    " You can read everything, open any citation, and try these:"
                }
            }
            _ => { p.banner role="status" { strong { "This cannot be searched: " } (UntrustedText(&error.message)) "." } }
        }
        (choices.samples(samples, error.code == ErrorCode::InvalidApiKey))
    }
}

/// One page of results.
pub(super) struct Results<'r> {
    pub(super) query: &'r SearchPageQuery,
    pub(super) found: &'r SearchReply<'r>,
    pub(super) containers: ContainerLinks,
    /// The name of the container or code that the search is restricted to, and the parameter that restricts it.
    pub(super) inside: Option<(&'static str, String)>,
    pub(super) pages: Option<Pages>,
    pub(super) edition: ListEdition<'r>,
    /// The answer for the query, if it is a citation.
    pub(super) cited: Option<&'r CitationAnswer<LinkedCandidate>>,
    /// The query with corrected spelling.
    pub(super) meant: Option<String>,
}

pub(super) fn results(choices: &Choices<'_>, results: &Results<'_>) -> Markup {
    let Results { query, found, containers, inside, pages, edition, cited, meant } = results;
    let is_explained = cited.is_some() || meant.is_some() || !found.not_here.is_empty();
    html! {
        h1.unseen { "Results for " (UntrustedText(&query.text)) }
        (choices.form(false))
        @if let Some(cited) = cited { (citation(cited)) }
        @if let Some(corrected) = &found.corrected_query {
            p.meant role="status" {
                "Searched for " strong { (UntrustedText(corrected)) } " instead; search exactly for "
                a href=(query.with("exact", Some("true"))) { (UntrustedText(&query.text)) } "."
            }
        }
        @if let Some((parameter, name)) = inside {
            p.meant role="status" {
                "Searched only inside " strong { (UntrustedText(name)) } "; "
                a href=(query.with(parameter, None)) { "search all law" } "."
            }
        }
        @if let Some(place) = &found.understood { (understood(query, place)) }
        // The message about a missing citation is already shown above.
        @for missing in found.not_here.iter().filter(|missing| missing.citation.is_none()) {
            p.meant role="status" { (place_not_loaded(&missing.message)) " " a href="/coverage" { "Coverage" } }
        }
        @if let Some(meant) = meant {
            p.meant role="status" { "Some words do not occur in this law. Did you mean " a href=(query.with("q", Some(meant))) { (UntrustedText(meant)) } "?" }
        }
        @if found.results.is_empty() { (nothing(choices.chosen(), query, is_explained)) } @else {
            div.found {
                div {
                    p.total {
                        span role="status" {
                            (grouped(found.total)) @if found.total == 1 { " provision" } @else { " provisions" }
                            @if found.results.iter().any(|hit| hit.relation.is_some()) { ": the one you cited, what cites it, what it cites, and its neighbors" }
                            @if let Some(chosen) = choices.chosen() { " in " (UntrustedText(&chosen.name)) }
                        }
                        (sorted(query, found))
                        // On a phone, the filters come after the results.
                        @if found.facets.is_some() { a.to-filters href="#filters" { "Filters" } }
                    }
                    @if &*found.depth == "deep" {
                        p.also { "Ranked with a sentence encoder, since this reads like a question; " a href=(query.with("depth", Some("fast"))) { "rank without it" } "." }
                    }
                    @for text in &found.notices { p.also role="note" { (notice(text)) } }
                    ol.hits start=(first_place(*pages)) {
                        @for hit in &found.results { li { (shown(hit, &containers.line(hit))) } }
                    }
                    @if let Some(pages) = pages { (pager::of(*pages, &format!("{}&page=", query.with("page", None)), *edition)) }
                }
                @if let Some(facets) = &found.facets { (filters(query, found, facets, choices.jurisdictions)) }
            }
        }
    }
}

/// The order of the results, and links to the others.
fn sorted(query: &SearchPageQuery, found: &SearchReply<'_>) -> Markup {
    let is_shortened = query.sort.is_some() && found.results.len() < found.total as usize;
    html! {
        span.sort {
            @if is_shortened { "The best " (found.results.len()) ", sorted: " } @else { "Sorted: " }
            @if query.sort.is_none() { strong { "best first" } } @else { a href=(query.with("sort", None)) { "best first" } }
            @for sort in Sort::ALL {
                " · "
                @if query.sort == Some(sort) { strong { (sort.in_words()) } }
                @else { a href=(query.with("sort", Some(sort.name()))) { (sort.in_words()) } }
            }
        }
    }
}

/// The place that the query was understood to name, and a link to search without it.
fn understood(query: &SearchPageQuery, place: &UnderstoodPlace) -> Markup {
    let is_filter = place.effect == PlaceEffect::Filter;
    html! {
        p.meant role="status" {
            @if is_filter { "Searched only in " } @else { "Ranked higher: the law of " }
            strong { (UntrustedText(&place.name)) } ", because the search says " q { (UntrustedText(&place.words)) } "; "
            a href=(query.with("exact", Some("true"))) { "search everywhere" @if !is_filter { " alike" } } "."
        }
    }
}

fn first_place(pages: Option<Pages>) -> u32 {
    let page_size = PAGE_SIZE.parse().unwrap_or(1);
    pages.map_or(0, |pages| (pages.page - 1) * page_size) + 1
}

/// A citation that does not refer to exactly one page.
fn citation(cited: &CitationAnswer<LinkedCandidate>) -> Markup {
    html! {
        div.banner.mild role="status" {
            p { (message_for_people(cited)) }
            @if !cited.candidates.is_empty() {
                ul.links {
                    @for LinkedCandidate { cited: candidate, url, retrieved_at } in cited.candidates.iter().take(CANDIDATES_MAX) {
                        li { a href=(url) {
                            span.citation { (UntrustedText(&candidate.citation)) } " " span.heading { (short_heading(&candidate.heading)) }
                            (status_of(candidate.status, candidate.effective_from, candidate.effective_to))
                            @if let Some(through) = candidate.current_through { " " span.days { "current through " (written_day(through)) } }
                            @if let Some(retrieved) = *retrieved_at { " " span.days { "copy of " (written_day(retrieved)) } }
                        } }
                    }
                }
            }
        }
    }
}

fn shown(hit: &SearchResultItem<'_>, containers: &Markup) -> Markup {
    html! {
        article.hit {
            h2 { a href=(hit.url) {
                span.citation { (UntrustedText(&hit.citation)) } " " span.heading { (short_heading(&hit.heading)) }
            } }
            (containers)
            p.snippet {
                @for (part, is_marked) in parts(&hit.snippet, &hit.highlights) {
                    @if is_marked { mark { (UntrustedText(part)) } } @else { (UntrustedText(part)) }
                }
                @if is_cut(&hit.snippet) { "…" }
            }
            p.where {
                (hit.jurisdiction)
                (status_of(hit.status, None, None))
                @if let Some(from) = hit.effective_from { " · from " (written_day(from)) }
                @if let Some(to) = hit.effective_to { " · until " (written_day(to)) }
                @if let Some(through) = hit.current_through { " · current through " (written_day(through)) }
                @if let Some(retrieved) = hit.retrieved_at { " · copy of " (written_day(retrieved)) }
                @if let Some(related) = hit.relation.and_then(related) { " · " (related) }
            }
        }
    }
}

/// Whether a snippet ends in the middle of a sentence.
fn is_cut(snippet: &str) -> bool {
    snippet.ends_with(|last: char| last.is_alphanumeric() || last == ',')
}

/// How a result is related to the provision that the query cites.
const fn related(relation: Relation) -> Option<&'static str> {
    match relation {
        Relation::Citing => Some("cites it"),
        Relation::Cited => Some("is cited by it"),
        Relation::Neighbour => Some("next to it"),
        Relation::Named => None,
    }
}
