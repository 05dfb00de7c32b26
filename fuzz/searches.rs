//! Searches, suggestions and citations on a snapshot with arbitrary bytes: each returns an answer or an error.

use std::sync::Arc;

use hornbook_corpus::day::Day;
use hornbook_corpus::ids::NodeOrdinal;
use hornbook_corpus::snapshot::Snapshot;
use hornbook_search::{Depth, Engine, Mode, SearchRequest, SuggestRequest};

/// Words, phrases, exclusions, typing errors, common words and citations.
const QUERIES: [&str; 9] = [
    "security deposit",
    "return of the security deposit to the tenant",
    "\"security deposit\" notice -lease",
    "landlrod tenent misrepresentaiton",
    "the of the",
    "the of the",
    "the of the",
    "Arden Rev. Stat. § 12-2-101",
    "zoning setback in port arden",
];

pub(crate) fn search(snapshot: Arc<Snapshot>) {
    let nodes = snapshot.outline.len();
    let Ok(engine) = Engine::new(snapshot) else { return };
    let day = Day::from_parts(2027, 1, 1);
    for (place, query) in QUERIES.into_iter().enumerate() {
        let wish = SearchRequest { facets: true, explain: true, ..SearchRequest::new(query) };
        let wish = match place % 4 {
            0 => SearchRequest { depth: if engine.deep_ready().is_ok() { Depth::Deep } else { Depth::Fast }, ..wish },
            1 => SearchRequest { mode: Mode::Semantic, ..wish },
            2 => SearchRequest { mode: Mode::Keyword, day, ..wish },
            _ => wish,
        };
        if let Ok(mut response) = engine.search(&wish) {
            assert!(response.hits.len() <= wish.limit as usize, "more results than were asked for");
            std::hint::black_box(engine.show(&mut response).is_ok());
        }
    }
    for text in ["securty dep", "42 usc", "arden rev stat 12", "landlrod"] {
        std::hint::black_box(engine.suggest(&SuggestRequest::new(text)).is_ok());
    }
    for citation in ["Arden Rev. Stat. §§ 12-2-101 to 12-2-103, 12-2-109", "42 U.S.C. § 1983", "Port Arden Code ch. 3"]
    {
        std::hint::black_box(engine.resolve_on(&engine.law_on(day), citation).is_ok());
    }
    std::hint::black_box(engine.parts().is_ok());
    for node in [0, nodes / 2, nodes.saturating_sub(1)].map(NodeOrdinal) {
        std::hint::black_box((
            engine.current_through(node).is_ok(),
            engine.heading_on(&engine.law_on(day), node).is_ok(),
        ));
    }
}
