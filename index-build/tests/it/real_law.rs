//! Tests real law, if the shared corpora are present: code order, wordings, citations and a complete city.

use std::fs;
use std::path::Path;

use hornbook_corpus::ids::NodeOrdinal;
use hornbook_corpus::outline::Status;
use hornbook_corpus::snapshot::Snapshot;
use hornbook_corpus::zoning::layer::CitationQuality;

use crate::common::build_at;
use crate::corpora::corpora;

/// Builds the sources that the filter selects from the plan for real law.
pub(crate) fn built(corpora: &Path, pick: impl Fn(&str) -> bool) -> (tempfile::TempDir, Snapshot) {
    let dir = tempfile::tempdir().unwrap();
    let plans = Path::new(env!("CARGO_MANIFEST_DIR")).join("../benches/plans");
    let plan = fs::read_to_string(plans.join("real-law.toml")).unwrap();
    let (head, rest) = plan.split_once("[[source]]").unwrap();
    // Jurisdictions are between the sources. Each part is kept if it defines one or is selected.
    let parts: Vec<&str> = rest.split("[[source]]").collect();
    let mut text = head.to_owned();
    for part in parts {
        let (source, jurisdiction) = part.split_once("[[jurisdiction]]").map_or((part, None), |(a, b)| (a, Some(b)));
        if pick(source) {
            text += &format!("[[source]]{source}");
        }
        if let Some(jurisdiction) = jurisdiction {
            text += &format!("\n[[jurisdiction]]{jurisdiction}\n");
        }
    }
    let table = plans.join("chicago-zones.csv");
    text = text.replace("chicago-zones.csv", &table.canonicalize().unwrap().display().to_string());
    let plan = dir.path().join("plan.toml");
    fs::write(&plan, text.replace("path = \"", &format!("path = \"{}/", corpora.canonicalize().unwrap().display())))
        .unwrap();
    let out = dir.path().join("out");
    build_at(&plan, &out).unwrap();
    let snapshot = Snapshot::verify(&out, |_| ()).unwrap();
    (dir, snapshot)
}

fn citations(snapshot: &Snapshot) -> Vec<String> {
    let provisions = (0..snapshot.outline.len()).map(NodeOrdinal).filter(|&node| snapshot.outline.is_provision(node));
    provisions.map(|node| snapshot.nodes.get(node).unwrap().citation).collect()
}

#[test]
fn a_city_and_a_pending_layer_are_built_whole() {
    let Some(corpora) = corpora() else { return };
    let (_dir, snapshot) = built(&corpora, |source| source.contains("SPANISH-FORK") || source.contains("CHICAGO"));
    let citations = citations(&snapshot);
    assert!(citations.len() > 850, "{}", citations.len());
    let place = |citation: &str| citations.iter().position(|c| c == citation).unwrap_or_else(|| panic!("{citation}"));
    // The source lists title 10 first.
    assert!(place("Spanish Fork Mun. Code § 9.52.070") < place("Spanish Fork Mun. Code § 10.04.010"));
    let found = snapshot.nodes_with_citation("spanish fork mun code 10.04.010").unwrap();
    assert_eq!(found.len(), 1);
    let chicago = snapshot.zoning.layer(&"IL-CHICAGO".parse().unwrap()).unwrap().entry();
    assert_eq!((chicago.feature_count, chicago.citation_quality), (14_670, CitationQuality::Pending));
    let unknown: usize = chicago.placeholders.iter().filter(|p| p.citation.is_none()).map(|p| p.features).sum();
    assert_eq!(unknown, 17);
}

#[test]
fn virginia_stands_in_code_order_with_its_second_wordings_joined() {
    let Some(corpora) = corpora() else { return };
    let (_dir, snapshot) = built(&corpora, |source| source.contains("va-code"));
    let all = citations(&snapshot);
    let place = |citation: &str| all.iter().position(|c| c == citation).unwrap_or_else(|| panic!("{citation}"));
    let order =
        ["Va. Code § 1-200", "Va. Code § 8.1A-101", "Va. Code § 10.1-408", "Va. Code § 13.1-345", "Va. Code § 20-13"];
    assert!(order.map(place).is_sorted(), "{:?}", order.map(place));
    let cited = snapshot.nodes_with_citation("Va. Code Ann. § 10.1-408 (2022)").unwrap();
    let record = snapshot.nodes.get(cited[0].0).unwrap();
    assert_eq!((cited.len(), record.wordings.len()), (1, 2));
    let remark = record.wordings[1].remark.as_deref().unwrap_or_default();
    assert!(remark.starts_with("Effective "), "{remark}");
    // The source put the number of this citation into the heading.
    let repealed = snapshot.nodes_with_citation("Va. Code § 20-13.1").unwrap();
    assert_eq!(snapshot.outline.status(repealed[0].0), Status::Repealed);
}
