//! Searches in the sample corpus through the library, as all interfaces do.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use hornbook_base::random::SplitMix64;
use hornbook_corpus::analyzer::Analyzer;
use hornbook_corpus::ids::{NodeOrdinal, OrdinalRange};
use hornbook_search::{
    CancelCheck, Engine, Filter, Hit, Mode, PlaceEffect, QUERY_CHARS_MAX, QueryError, Relation, SNIPPET_CHARS_MAX,
    SearchError, SearchRequest, SearchResponse, ShownHit, Tuning, check_query,
};
use proptest::prelude::*;

use sample::ENGINE;

#[path = "support/sample.rs"]
mod sample;

fn search(request: &SearchRequest<'_>) -> SearchResponse {
    ENGINE.search(request).unwrap()
}

fn first(query: &str, mode: Mode) -> String {
    let response = search(&SearchRequest { mode, ..SearchRequest::new(query) });
    response.hits.first().map_or_else(String::new, |hit| ENGINE.hydrate(hit).unwrap().citation.to_owned())
}

fn nodes(response: &SearchResponse) -> Vec<NodeOrdinal> {
    response.hits.iter().map(|hit| hit.node).collect()
}

fn all_results(query: &str, mode: Mode, range: Option<OrdinalRange>) -> SearchResponse {
    let filter = Filter::within(range);
    let request = SearchRequest { mode, filter: &filter, limit: 10_000, ..SearchRequest::new(query) };
    search(&SearchRequest { facets: true, explain: true, ..request })
}

const QUERIES: [&str; 12] = [
    "how tall may a fence be",
    "security deposit landlord",
    "return of the security deposit",
    "license fee for a vendor",
    "\"security deposit\"",
    "permit -water -fence",
    "3 S.F.C. § 823 harbor dues",
    "water",
    "repealed",
    "the",
    "12-2-104",
    "must a landlord give back my deposit within thirty days, and can I be evicted for complaining?",
];

#[test]
fn a_citation_comes_first_in_every_mode_and_its_lookalikes_do_not() {
    for (typed, expected) in [
        ("3 S.F.C. § 823", "3 S.F.C. § 823"),
        ("3 s.f.c. 1823", "3 S.F.C. § 1823"),
        ("3 s.f.c. 232", "3 S.F.C. § 232"),
        ("3 S.F.C. 232a", "3 S.F.C. § 232a"),
        ("14 S.F.C. 1395w", "14 S.F.C. § 1395w"),
        ("14 S.F.C. 1395w-4", "14 S.F.C. § 1395w–4"),
        ("who may fence land under Arden Rev. Stat. § 12-2-104 in a port", "Arden Rev. Stat. § 12-2-104"),
        ("\"3 S.F.C. § 1823\"", "3 S.F.C. § 1823"),
        ("Arden Rev. Stat. § 12-2-104a", "Arden Rev. Stat. § 12-2-104a"),
        ("Arden Rev. Stat. § 12-2-104", "Arden Rev. Stat. § 12-2-104"),
        ("Port Arden Mun. Code § 17.40.030", "Port Arden Mun. Code § 17.40.030"),
        ("12-2-104a", "Arden Rev. Stat. § 12-2-104a"),
        ("section 17.40.030 hedges", "Port Arden Mun. Code § 17.40.030"),
        ("Arden Admin. Code r. 310-2-.04", "Arden Admin. Code r. 310-2-.04"),
    ] {
        for mode in Mode::ALL {
            assert_eq!(first(typed, mode), expected, "'{typed}' in mode {}", mode.name());
        }
    }
}

#[test]
fn a_range_includes_all_provisions_between_its_ends() {
    for typed in [
        "Arden Rev. Stat. §§ 12-2-104 through 12-2-106",
        "Arden Rev. Stat. §§ 12-2-104 to 12-2-106 series",
        // No section has this number, so the dash means a range.
        "Arden Rev. Stat. § 12-2-104–12-2-106",
    ] {
        for mode in Mode::ALL {
            let response = all_results(typed, mode, None);
            let cited = response.hits.iter().filter(|hit| hit.explain.as_ref().unwrap().cited);
            let citations: Vec<&str> = cited.map(|hit| ENGINE.hydrate(hit).unwrap().citation).collect();
            let expected = ["12-2-104", "12-2-104a", "12-2-105", "12-2-106"].map(|n| format!("Arden Rev. Stat. § {n}"));
            assert_eq!(citations, expected, "'{typed}'");
        }
    }
    let backwards = all_results("Arden Rev. Stat. §§ 12-2-106 to 12-2-104", Mode::Hybrid, None);
    assert_eq!(backwards.explain.unwrap().cited, 1, "only the start of a reversed range is cited");
}

/// The expected results of a query with only citations, found by looking at every node.
fn expected_related(named: &[NodeOrdinal]) -> Vec<(NodeOrdinal, Relation)> {
    let (outline, references) = (&ENGINE.snapshot().outline, &ENGINE.snapshot().references);
    let provisions: Vec<NodeOrdinal> =
        (0..outline.len()).map(NodeOrdinal).filter(|&node| outline.is_provision(node)).collect();
    let cites = |from: NodeOrdinal, to: NodeOrdinal| references.outgoing(from).any(|cited| cited == to);
    let mut citing: Vec<NodeOrdinal> =
        provisions.iter().copied().filter(|&from| named.iter().any(|&to| cites(from, to))).collect();
    let times = |node: NodeOrdinal| provisions.iter().filter(|&&from| cites(from, node)).count();
    citing.sort_by_key(|&node| (!outline.status(node).may_be_in_force(), Reverse(times(node)), node));
    let cited = named.iter().flat_map(|&node| references.outgoing(node));
    let near = named.iter().flat_map(|&node| {
        let siblings = provisions.iter().filter(|&&other| outline.parent(other) == outline.parent(node));
        let siblings: Vec<NodeOrdinal> = siblings.copied().collect();
        let place = siblings.iter().position(|&other| other == node).unwrap();
        siblings[place.saturating_sub(10)..(place + 11).min(siblings.len())].to_vec()
    });
    let all = (named.iter().map(|&node| (node, Relation::Named)))
        .chain(citing.into_iter().map(|node| (node, Relation::Citing)))
        .chain(cited.map(|node| (node, Relation::Cited)))
        .chain(near.map(|node| (node, Relation::Neighbour)));
    let mut seen = BTreeSet::new();
    all.filter(|&(node, _)| seen.insert(node)).collect()
}

#[test]
fn a_citation_query_lists_related_provisions() {
    let outline = &ENGINE.snapshot().outline;
    let relations = |response: &SearchResponse| -> Vec<(NodeOrdinal, Relation)> {
        response.hits.iter().map(|hit| (hit.node, hit.relation.unwrap())).collect()
    };
    let mut seen = BTreeSet::new();
    for node in (0..outline.len()).map(NodeOrdinal).filter(|&node| outline.is_provision(node)) {
        let citation = ENGINE.snapshot().cards.get(node).unwrap().citation;
        let found = all_results(citation, Mode::Hybrid, None);
        let Some(Relation::Named) = found.hits[0].relation else { continue };
        let named: Vec<NodeOrdinal> =
            relations(&found).into_iter().take_while(|&(_, r)| r == Relation::Named).map(|(node, _)| node).collect();
        assert!(named.contains(&node), "{citation}");
        let expected = expected_related(&named);
        assert_eq!(relations(&found), expected, "{citation}");
        assert_eq!(found.total as usize, expected.len(), "{citation}");
        assert!(found.hits.is_sorted_by(|a, b| a.score >= b.score), "{citation}");
        seen.extend(expected.into_iter().map(|(_, relation)| relation.as_str()));
        if node.0 % 16 == 0 {
            for mode in [Mode::Semantic, Mode::Keyword] {
                assert_eq!(relations(&all_results(citation, mode, None)), relations(&found), "{citation} {mode}");
            }
            let range = OrdinalRange { start: 0, end: node.0 };
            let within: Vec<_> = relations(&found).into_iter().filter(|(node, _)| range.contains(node.0)).collect();
            assert_eq!(relations(&all_results(citation, Mode::Hybrid, Some(range))), within, "{citation} {range:?}");
        }
    }
    assert_eq!(seen.len(), 4, "every relation occurs: {seen:?}");
}

#[test]
fn words_next_to_a_citation_are_searched_for() {
    for query in ["3 S.F.C. § 823 harbor dues", "3 S.F.C. § 823 -dues", "3 S.F.C. § 823 \"harbor\""] {
        let found = all_results(query, Mode::Hybrid, None);
        assert!(found.hits.iter().all(|hit| hit.relation.is_none()), "{query}");
    }
}

#[test]
fn repealed_provisions_can_be_cited() {
    let response = all_results("3 S.F.C. §§ 140 to 143", Mode::Hybrid, None);
    let shown = ENGINE.hydrate(&response.hits[0]).unwrap();
    assert!(!shown.shown.status.may_be_in_force(), "{}", shown.citation);
    assert!(response.hits[0].explain.as_ref().unwrap().cited);
    assert_eq!(response.explain.unwrap().cited, 1);
}

#[test]
fn plain_words_find_the_provision() {
    for mode in Mode::ALL {
        assert_eq!(first("how tall may a fence be", mode), "Port Arden Mun. Code § 17.40.030", "{}", mode.name());
    }
    assert_eq!(
        first("may not demand or receive a security deposit of more than", Mode::Keyword),
        "Arden Rev. Stat. § 24-2-201"
    );
}

#[test]
fn pages_join_to_one_order_without_doubles_or_gaps_and_totals_never_change() {
    for query in QUERIES {
        for mode in Mode::ALL {
            let all = all_results(query, mode, None);
            let order = nodes(&all);
            assert_eq!(order.len() as u32, all.total, "'{query}' in mode {}", mode.name());
            assert_eq!(order.iter().collect::<BTreeSet<_>>().len(), order.len(), "a provision is found twice");
            assert!(order.iter().all(|&node| ENGINE.snapshot().outline.is_provision(node)));
            for limit in [1, 7, 20, 100] {
                let mut joined = Vec::new();
                for page in 1..=all.total.div_ceil(limit).min(40) + 1 {
                    let response = search(&SearchRequest { mode, page, limit, ..SearchRequest::new(query) });
                    assert_eq!(response.total, all.total);
                    joined.extend(nodes(&response));
                }
                assert_eq!(joined, order[..joined.len()], "'{query}' by {limit} in mode {}", mode.name());
                assert_eq!(joined.len(), order.len().min(limit as usize * 41));
            }
            assert!(all.hits.windows(2).all(|pair| pair[0].score >= pair[1].score || pair[1].explain.is_some()));
        }
    }
}

#[test]
fn law_no_longer_in_force_ranks_lower_but_is_found_by_its_heading() {
    let outline = &ENGINE.snapshot().outline;
    let is_dead = |node: NodeOrdinal| outline.is_provision(node) && !outline.status(node).may_be_in_force();
    let mut dead_seen = 0;
    for query in QUERIES {
        for mode in Mode::ALL {
            let found = all_results(query, mode, None);
            for hit in found.hits.iter().filter(|hit| is_dead(hit.node) && !hit.explain.as_ref().unwrap().cited) {
                assert!(hit.score <= Tuning::default().dead && hit.score >= 0.0, "'{query}' in mode {mode}");
                dead_seen += 1;
            }
        }
    }
    assert!(dead_seen > 10);
    let mut asked = 0;
    for node in (0..outline.len()).map(NodeOrdinal).filter(|&node| is_dead(node)) {
        let heading = ENGINE.snapshot().cards.get(node).unwrap().heading;
        if heading.split_whitespace().count() < 2 {
            continue;
        }
        let place = nodes(&all_results(heading, Mode::Hybrid, None)).into_iter().position(|found| found == node);
        assert!(place.is_some_and(|place| place < 5), "'{heading}' is at {place:?}");
        asked += 1;
    }
    assert!(asked > 0);
}

#[test]
fn the_provision_whose_heading_is_the_query_comes_first() {
    let snapshot = ENGINE.snapshot();
    let law = ENGINE.law_on(None);
    let stems = |heading: &str| terms(heading).into_iter().collect::<Vec<String>>().join(" ");
    let provisions =
        (0..snapshot.outline.len()).map(NodeOrdinal).filter(|&node| !snapshot.chunks.chunks_of(node).is_empty());
    let headings: Vec<(NodeOrdinal, &str)> =
        provisions.filter_map(|node| Some((node, snapshot.cards.get(node).ok()?.heading))).collect();
    let mut checked = 0;
    for &(node, heading) in headings.iter().filter(|(node, _)| law.status(*node).may_be_in_force()) {
        let is_unique = headings.iter().filter(|(_, other)| stems(other) == stems(heading)).count() == 1;
        if heading.contains(' ') && is_unique {
            let typed = format!("the {}", heading.to_lowercase());
            assert_eq!(nodes(&search(&SearchRequest::new(&typed))).first(), Some(&node), "{typed}");
            checked += 1;
        }
    }
    assert!(checked > 150, "{checked}");
    for (typed, expected) in [("fence and hedge", "Port Arden Mun. Code § 17.40.030"), ("harbor due", "3 S.F.C. § 823")]
    {
        assert_eq!(first(typed, Mode::Hybrid), expected);
        assert_eq!(first(typed, Mode::Keyword), expected);
    }
}

#[test]
fn facets_count_what_the_filter_would_leave() {
    let snapshot = ENGINE.snapshot();
    for query in QUERIES {
        let all = all_results(query, Mode::Keyword, None);
        let facets = all.facets.as_ref().unwrap();
        for (place, jurisdiction) in snapshot.catalogue.jurisdictions.iter().enumerate() {
            let counted = facets.jurisdictions.iter().find(|facet| facet.place == place).map_or(0, |facet| facet.count);
            let filtered = all_results(query, Mode::Keyword, Some(jurisdiction.subtree));
            assert_eq!(counted, filtered.total, "'{query}' in {}", jurisdiction.short_code);
        }
        for facet in &facets.tags {
            let bears = |node: &NodeOrdinal| snapshot.tags.of(*node).contains(&(facet.place as u16));
            assert_eq!(facet.count as usize, nodes(&all).iter().filter(|node| bears(node)).count());
        }
    }
}

#[test]
fn a_filter_equals_filtering_afterwards() {
    let snapshot = ENGINE.snapshot();
    let bodies = snapshot.catalogue.code_bodies.iter().map(|body| body.nodes);
    let jurisdictions = snapshot.catalogue.jurisdictions.iter().map(|jurisdiction| jurisdiction.subtree);
    for range in bodies.chain(jurisdictions).filter(|range| !range.is_empty()) {
        for query in QUERIES {
            let score = |response: &SearchResponse| -> Vec<(NodeOrdinal, Option<f32>)> {
                let keyword = |hit: &Hit| hit.explain.as_ref().unwrap().keyword.map(|leg| leg.score);
                let mut found: Vec<_> = response.hits.iter().map(|hit| (hit.node, keyword(hit))).collect();
                found.retain(|(node, _)| range.contains(node.0));
                found.sort_by_key(|(node, _)| *node);
                found
            };
            let (filtered, all) =
                (all_results(query, Mode::Keyword, Some(range)), all_results(query, Mode::Keyword, None));
            assert_eq!(filtered.total as usize, filtered.hits.len());
            let ranked =
                |response: &SearchResponse| score(response).into_iter().map(|(node, _)| node).collect::<Vec<_>>();
            assert_eq!(ranked(&filtered), ranked(&all), "'{query}'");
            // Scores are computed over the whole corpus, independent of the filter. Only the top
            // results have them.
            for ((_, a), (_, b)) in score(&filtered).iter().zip(score(&all)) {
                assert!(a.is_none() || b.is_none() || *a == b, "'{query}'");
            }
        }
    }
}

#[test]
fn the_semantic_leg_equals_comparing_every_vector() {
    let snapshot = ENGINE.snapshot();
    let all = OrdinalRange { start: 0, end: snapshot.outline.len() };
    // Of a question, only its subject is embedded.
    for (query, embedded) in [
        ("how tall may a fence be", "tall fence"),
        ("returning a deposit to the renter", "returning a deposit to the renter"),
        ("harbor dues", "harbor dues"),
    ] {
        let vector = hornbook_corpus::embed::embedder().embed_query(embedded);
        let exact = snapshot.vectors.nearest_exact(
            &vector.0,
            snapshot.chunks.chunk_range(all),
            Tuning::MEASURED.chunk_candidates,
        );
        let mut best: Vec<(NodeOrdinal, f32)> = Vec::new();
        for neighbour in exact {
            let node = snapshot.chunks.node_of(neighbour.chunk).unwrap();
            let is_near = neighbour.score >= Tuning::MEASURED.similarity_floor;
            if is_near && !best.iter().any(|(known, _)| *known == node) {
                best.push((node, neighbour.score));
            }
        }
        let found = all_results(query, Mode::Semantic, None);
        assert_eq!(found.total as usize, best.len());
        for hit in &found.hits {
            let leg = hit.explain.as_ref().unwrap().vector.unwrap();
            let rank = leg.rank.unwrap() as usize - 1;
            assert_eq!((hit.node, leg.score), best[rank]);
        }
    }
}

#[test]
fn phrases_are_required_and_exclusions_forbidden_in_every_mode() {
    let snapshot = ENGINE.snapshot();
    let text_of = |node: NodeOrdinal| {
        let record = snapshot.nodes.get(node).unwrap();
        let mut text =
            format!("{}\n{}", record.wording(0).heading, snapshot.texts.get(record.wording(0).text).unwrap());
        record.wordings.iter().for_each(|wording| text += snapshot.texts.get(wording.text).unwrap());
        text.to_lowercase()
    };
    for mode in Mode::ALL {
        let with = all_results("\"security deposit\" landlord", mode, None);
        assert!(with.total > 0);
        assert!(with.hits.iter().all(|hit| text_of(hit.node).contains("security deposit")));
        let without = all_results("water -sewer", mode, None);
        assert!(without.total > 0);
        assert!(without.hits.iter().all(|hit| !text_of(hit.node).contains("sewer")), "{}", mode.name());
    }
}

/// The error of a query, which must be the same in every mode.
fn query_error(query: &str) -> QueryError {
    let refusals = Mode::ALL.map(|mode| match ENGINE.search(&SearchRequest { mode, ..SearchRequest::new(query) }) {
        Err(SearchError::Query(error)) => error,
        other => panic!("'{query}' in mode {mode}: {other:?}"),
    });
    assert_eq!(check_query(query), Err(refusals[0]), "'{query}'");
    assert!(refusals.iter().all(|refusal| *refusal == refusals[0]));
    refusals[0]
}

#[test]
fn queries_that_cannot_be_searched_for_are_refused_with_the_reason() {
    for empty in ["", "  ", "\t\n\u{3000}"] {
        assert_eq!(query_error(empty), QueryError::Empty);
    }
    for only_excluded in ["-hens", "-fence -\"security deposit\"", "“” -water", "-\"3 S.F.C. § 823\""] {
        assert_eq!(query_error(only_excluded), QueryError::OnlyExclusions, "{only_excluded}");
    }
    let long = format!("fence {}", "x".repeat(QUERY_CHARS_MAX));
    assert_eq!(query_error(&long), QueryError::TooLong { chars: QUERY_CHARS_MAX + 6 });
    assert_eq!(query_error(&format!("fence {}", "-a ".repeat(9))), QueryError::TooManyExclusions { count: 9 });
    assert_eq!(query_error(&"\"a\" ".repeat(9)), QueryError::TooManyPhrases { count: 9 });
}

#[test]
fn excluded_provisions_are_never_hits() {
    let all = all_results("harbor dues", Mode::Hybrid, None);
    let cited = ENGINE.snapshot().nodes_with_citation("3 S.F.C. § 823").unwrap()[0].0;
    assert!(nodes(&all).contains(&cited));
    let without = all_results("harbor dues -\"3 S.F.C. § 823\"", Mode::Hybrid, None);
    assert_eq!(without.explain.unwrap().cited, 0);
    assert!(without.hits.iter().all(|hit| !hit.explain.as_ref().unwrap().cited));
    for mode in Mode::ALL {
        assert!(!nodes(&all_results("harbor dues -dues", mode, None)).contains(&cited), "{mode}");
    }
}

#[test]
fn nonsense_finds_nothing_in_any_mode() {
    let mut random = SplitMix64(21);
    let mut word = |letters: &[u8]| -> String {
        (0..5 + random.index(8)).map(|_| char::from(letters[random.index(letters.len())])).collect()
    };
    let mut texts: Vec<String> = (0..100).map(|_| word(b"zqxjkwv")).collect();
    texts.extend((0..100).map(|_| (0..4).map(|_| word(b"abcdefghijklmnopqrstuvwxyz") + " ").collect()));
    texts.extend(["zzzqqq", "xyzzy plugh", "???", "§", "北京", "qwertz the zzzqqq"].map(str::to_owned));
    for text in texts {
        for mode in Mode::ALL {
            assert_eq!(all_results(&text, mode, None).total, 0, "'{text}' in mode {mode}");
        }
    }
    // A provision with none of the words but with a similar meaning is still found.
    let hit = |hit: &Hit| hit.explain.as_ref().unwrap().keyword.is_none();
    assert!(all_results("may my landlord keep my deposit", Mode::Hybrid, None).hits.iter().any(hit));
}

#[test]
fn paging_ends_at_the_last_allowed_result() {
    for (page, limit) in [(0, 20), (1, 0), (101, 100), (u32::MAX, u32::MAX)] {
        let request = SearchRequest { page, limit, ..SearchRequest::new("water") };
        assert!(matches!(ENGINE.search(&request), Err(SearchError::BeyondResults { .. })), "{page} {limit}");
    }
    assert!(search(&SearchRequest { page: 100, limit: 100, ..SearchRequest::new("water") }).hits.is_empty());
}

#[test]
fn hostile_queries_are_answered() {
    let many_terms = (0..200).map(|n| format!("w{n} ")).collect::<String>();
    let hostile = [
        many_terms.as_str(),
        &"\"".repeat(1000),
        &"(".repeat(1000),
        &format!("a {}", "-a ".repeat(8)),
        &"\"a\" ".repeat(8),
        &format!("\"{}\"", "the fence ".repeat(100)),
        &"§ ".repeat(500),
        &"3 S.F.C. § 823, ".repeat(60),
        &"a\u{301}\u{302}".repeat(300),
        "heading:fence AND text:* OR [a TO z] ^2 ~3 \\",
        "\"unbalanced fence",
        "“fence\" -“water",
        "\u{202e}\u{0}\u{feff}\u{1f9d1}\u{200d}\u{2696}\u{fe0f}",
        "北京 ΑΘΗΝΑ ﬁling",
        "- -- --- -\"\" \"-\"",
        "???",
        "to be or not to be",
        "\"to be or not to be\"",
    ];
    for query in hostile {
        for mode in Mode::ALL {
            let response = search(&SearchRequest { mode, explain: true, facets: true, ..SearchRequest::new(query) });
            assert!(response.hits.len() <= 20 && response.hits.len() as u32 <= response.total);
        }
    }
    for stop_words in ["the", "to be or not to be", "\"of the\"", "heading:fence"] {
        assert!(search(&SearchRequest::new(stop_words)).total > 0, "{stop_words}");
    }
}

fn terms(text: &str) -> BTreeSet<String> {
    let mut terms = BTreeSet::new();
    Analyzer::new().analyze(text, |token| {
        terms.insert(token.text.to_owned());
    });
    terms
}

/// Shows a page and checks all its snippets. Returns the number of hits and of highlighted words.
fn check_shown_page(query: &str, mode: Mode, limit: u32) -> (usize, usize) {
    let snapshot = ENGINE.snapshot();
    let mut response = search(&SearchRequest { mode, limit, explain: true, ..SearchRequest::new(query) });
    let shown = ENGINE.show(&mut response).unwrap();
    assert_eq!(shown.len(), response.hits.len());
    // Words are also found and highlighted by their synonyms.
    let synonyms = response.explain.as_ref().map(|explain| explain.synonyms.join(" ")).unwrap_or_default();
    let synonyms = synonyms.split(|c: char| !c.is_alphanumeric()).map(str::to_owned);
    let query_terms: BTreeSet<String> = terms(query).into_iter().chain(synonyms).collect();
    let mut highlighted = 0;
    for (hit, ShownHit { provision, snippet }) in response.hits.iter().zip(&shown) {
        assert_eq!(provision.node, hit.node);
        assert_eq!(snapshot.texts.get(snippet.place).unwrap(), snippet.text);
        let record = snapshot.nodes.get(hit.node).unwrap();
        let texts = record.wordings.iter().map(|wording| wording.text);
        let text = texts.into_iter().find(|text| {
            let (start, end) = (text.offset, text.offset + u64::from(text.length));
            let place = snippet.place;
            start <= place.offset && place.offset + u64::from(place.length) <= end
        });
        let text_of = text.expect("the snippet is in none of the provision's texts");
        let text = snapshot.texts.get(text_of).unwrap();
        let start = (snippet.place.offset - text_of.offset) as usize;
        let whole_word_at = |at: usize| {
            let before = text[..at].ends_with(char::is_alphanumeric);
            !(before && text[at..].starts_with(char::is_alphanumeric))
        };
        assert!(whole_word_at(start) && whole_word_at(start + snippet.text.len()), "{}", snippet.text);
        let chars: Vec<char> = snippet.text.chars().collect();
        assert!(chars.len() <= SNIPPET_CHARS_MAX);
        for highlight in &snippet.highlights {
            let run: String = chars[highlight.start as usize..highlight.end as usize].iter().collect();
            assert!(!terms(&run).is_disjoint(&query_terms), "'{run}' is no word of '{query}'");
        }
        assert!(snippet.highlights.is_sorted_by(|a, b| a.end <= b.start));
        highlighted += snippet.highlights.len();
    }
    (shown.len(), highlighted)
}

#[test]
fn snippets_are_whole_words_of_the_text_and_mark_words_of_the_query() {
    for query in QUERIES {
        for mode in Mode::ALL {
            let (hits, highlighted) = check_shown_page(query, mode, 100);
            // A number is highlighted only as a whole, and semantic hits need not contain it.
            let may_lack_it = mode == Mode::Semantic && !query.contains(char::is_alphabetic);
            assert!(highlighted > 0 || hits == 0 || may_lack_it, "'{query}' in mode {}", mode.name());
        }
    }
}

#[test]
fn snippets_contain_phrases_and_query_words() {
    for (query, mode, expected) in [
        ("how tall may a fence be", Mode::Hybrid, "fence"),
        ("\"security deposit\"", Mode::Keyword, "security deposit"),
        ("may not demand or receive a security deposit of more than", Mode::Hybrid, "security deposit of more than"),
    ] {
        let mut response = search(&SearchRequest { mode, ..SearchRequest::new(query) });
        let shown = ENGINE.show(&mut response).unwrap();
        let text = shown[0].snippet.text;
        assert!(text.contains(expected), "'{query}': {text}");
    }
    let mut response = search(&SearchRequest::new("3 S.F.C. § 823"));
    let cited = &ENGINE.show(&mut response).unwrap()[0].snippet;
    assert!(!cited.has_text_before && cited.highlights.is_empty(), "a citation alone shows how the provision begins");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_page_is_shown_within_its_texts(query in "((water|deposits?|licensed|fence|U\\.S\\.C\\.|3|823|owner|of|the) ){1,8}") {
        for mode in Mode::ALL {
            check_shown_page(&query, mode, 20);
        }
    }

    #[test]
    fn any_text_is_answered_the_same_every_time(query in "\\PC{1,80}|[a-z\"§\\- ]{1,60}", limit in 1..50_u32) {
        for mode in Mode::ALL {
            let request = SearchRequest { mode, limit, ..SearchRequest::new(&query) };
            match (ENGINE.search(&request), ENGINE.search(&request)) {
                (Ok(first), Ok(second)) => {
                    prop_assert_eq!(nodes(&first), nodes(&second));
                    prop_assert_eq!(first.total, second.total);
                    prop_assert_eq!(first.hits.len() as u32, first.total.min(limit));
                }
                (Err(SearchError::Query(first)), Err(SearchError::Query(again))) => {
                    prop_assert_eq!(first, again);
                    prop_assert_eq!(check_query(&query), Err(first));
                }
                (first, _) => prop_assert!(false, "{first:?}"),
            }
        }
    }
}

#[test]
fn an_abandoned_search_stops_at_the_next_stage() {
    for mode in Mode::ALL {
        let (asked, last) = (AtomicUsize::new(0), AtomicUsize::new(usize::MAX));
        let is_abandoned = || asked.fetch_add(1, Ordering::Relaxed) + 1 == last.load(Ordering::Relaxed);
        let plain = SearchRequest { mode, ..SearchRequest::new("security deposit landlord") };
        let watched = SearchRequest { cancel_check: CancelCheck::when(&is_abandoned), ..plain };
        assert_eq!(nodes(&search(&watched)), nodes(&search(&plain)));
        let stages = asked.load(Ordering::Relaxed);
        assert!(stages >= 4, "asked {stages} times in mode {}", mode.name());
        for stage in 1..=stages {
            asked.store(0, Ordering::Relaxed);
            last.store(stage, Ordering::Relaxed);
            assert!(matches!(ENGINE.search(&watched), Err(SearchError::Abandoned)));
            assert_eq!(asked.load(Ordering::Relaxed), stage, "the search continued after it was abandoned");
        }
    }
}

#[test]
fn a_place_in_the_query_narrows_as_a_filter_would_and_exact_undoes_it() {
    let catalogue = &ENGINE.snapshot().catalogue;
    for mode in Mode::ALL {
        for (query, rest, code) in [
            ("how tall may a fence be in Port Arden", "how tall may a fence be", "XA-PORT-ARDEN"),
            ("security deposit under Arden law", "security deposit", "XA"),
            ("noise permit, Hollis County", "noise permit,", "XA-HOLLIS"),
        ] {
            let narrowed = all_results(query, mode, None);
            let understood = narrowed.understood.as_ref().unwrap();
            assert_eq!((understood.jurisdiction.as_str(), understood.effect), (code, PlaceEffect::Filter), "{query}");
            let place = catalogue.jurisdiction(&code.parse().unwrap()).unwrap();
            let filtered = all_results(rest, mode, Some(place.subtree));
            assert_eq!((nodes(&narrowed), narrowed.total), (nodes(&filtered), filtered.total), "{query}");
            assert!(narrowed.total > 0 && filtered.understood.is_none());
            // A filter for the same place makes the words redundant. With a filter for another
            // place they stay ordinary words.
            let said_twice = all_results(query, mode, Some(place.subtree));
            assert_eq!((nodes(&said_twice), said_twice.understood), (nodes(&filtered), None), "{query}");
            let exact = search(&SearchRequest { mode, limit: 10_000, exact: true, ..SearchRequest::new(query) });
            assert_eq!(exact.understood, None);
            let is_there = |hit: &Hit| place.subtree.contains(hit.node.0);
            assert!(code != "XA-PORT-ARDEN" || !exact.hits.iter().all(is_there), "{query}");
        }
    }
}

#[test]
fn an_ambiguous_place_boosts_its_law_on_every_page() {
    let query = "what harbor dues must an Arden vessel pay";
    let catalogue = &ENGINE.snapshot().catalogue;
    let place = catalogue.jurisdiction(&"XA".parse().unwrap()).unwrap().subtree;
    let tuning = Tuning { elsewhere: 1.0, ..Tuning::default() };
    let indifferent = Engine::with_tuning(ENGINE.snapshot().clone(), tuning).unwrap();
    for mode in Mode::ALL {
        let all = all_results(query, mode, None);
        assert_eq!(all.understood.as_ref().unwrap().effect, PlaceEffect::Preference);
        let request = SearchRequest { mode, limit: 10_000, ..SearchRequest::new(query) };
        let alike = indifferent.search(&request).unwrap();
        let mean_rank = |response: &SearchResponse| {
            let ranks = response.hits.iter().enumerate().filter(|(_, hit)| place.contains(hit.node.0));
            ranks.clone().map(|(rank, _)| rank).sum::<usize>() as f32 / ranks.count() as f32
        };
        let there = all.hits.iter().filter(|hit| place.contains(hit.node.0)).count();
        let (one, other) = (mean_rank(&all), mean_rank(&alike));
        assert!(one < other, "{mode}: {one} {other}, {there} of {}", all.total);
        let mut paged = Vec::new();
        for page in 1..=all.total.div_ceil(7) {
            let response = search(&SearchRequest { mode, page, limit: 7, ..SearchRequest::new(query) });
            assert_eq!(response.total, all.total);
            paged.extend(nodes(&response));
        }
        assert_eq!((paged.len() as u32, paged), (all.total, nodes(&all)), "{mode}");
        let sorted = |response: &SearchResponse| nodes(response).into_iter().collect::<BTreeSet<_>>();
        assert_eq!((sorted(&all), all.total), (sorted(&alike), alike.total), "{mode}");
    }
}

#[test]
fn a_place_without_law_is_named_and_narrows_nothing() {
    let response = search(&SearchRequest::new("fence height in Greyford"));
    assert_eq!(response.not_loaded.as_deref(), Some("Greyford"));
    assert!(response.understood.is_none() && response.total > 0);
    assert_eq!(
        search(&SearchRequest { exact: true, ..SearchRequest::new("fence height in Greyford") }).not_loaded,
        None
    );
    // Without the place, nothing is left to search for. A citation is found wherever its law is.
    for query in ["Port Arden", "Arden Rev. Stat. § 12-2-104 deposit in Port Arden"] {
        let response = search(&SearchRequest::new(query));
        assert_eq!(response.understood.unwrap().effect, PlaceEffect::Preference, "{query}");
    }
    let quoted = search(&SearchRequest::new("fence -\"in Port Arden\""));
    assert_eq!(quoted.understood, None);
}
