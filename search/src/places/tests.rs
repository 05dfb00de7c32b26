//! Tests how places in queries are understood, with a catalogue of all states, a few cities and a few codes.

use hornbook_corpus::catalogue::{Catalogue, CodeBody, Jurisdiction};
use hornbook_corpus::ids::{CodeBodyId, OrdinalRange};
use hornbook_corpus::jurisdictions::{BUILT_IN_JURISDICTIONS, GovernmentLevel};

use super::*;

/// Code, name, level and parent of the cities and counties.
const CITIES: [(&str, &str, GovernmentLevel, &str); 6] = [
    ("IL-CHICAGO", "City of Chicago", GovernmentLevel::City, "IL"),
    ("AL-MOBILE", "City of Mobile", GovernmentLevel::City, "AL"),
    ("CA-SAN-MATEO", "City of San Mateo", GovernmentLevel::City, "CA"),
    ("NY-NEW-YORK", "City of New York", GovernmentLevel::City, "NY"),
    ("VA-HENRICO", "Henrico County", GovernmentLevel::County, "VA"),
    ("WA-PORT-ANGELES", "City of Port Angeles", GovernmentLevel::City, "WA"),
];

/// Key, name, jurisdiction and citation of the codes.
const CODES: [(&str, &str, &str, Option<&str>); 7] = [
    ("us/usc", "United States Code of 2016", "US", None),
    ("us/cfr", "Code of Federal Regulations: titles 1, 12 and 47 in part", "US", None),
    ("md/comar", "Code of Maryland Regulations", "MD", None),
    ("wa/rcw", "Revised Code of Washington", "WA", Some("RCW {number}")),
    ("va/code", "Code of Virginia, converted", "VA", Some("Va. Code § {number}")),
    ("dc/code", "Code of the District of Columbia", "DC", Some("D.C. Code § {number}")),
    ("ca-san-mateo/code", "San Mateo Municipal Code", "CA-SAN-MATEO", Some("San Mateo Mun. Code § {number}")),
];

fn catalogue() -> Catalogue {
    let states = BUILT_IN_JURISDICTIONS.iter().map(|entry| (entry.code, entry.name, entry.level, None));
    let cities = CITIES.iter().map(|&(code, name, level, parent)| (code, name, level, Some(parent)));
    let jurisdictions = (0..).zip(states.chain(cities)).map(|(place, (code, name, level, parent))| {
        let nodes = OrdinalRange { start: 10 * place, end: 10 * place + 10 };
        Jurisdiction {
            short_code: code.parse().unwrap(),
            name: name.to_owned(),
            level,
            parent: parent.map(|parent: &str| parent.parse().unwrap()),
            subtree: nodes,
            nodes,
            provisions: 1,
            chunks: 1,
        }
    });
    let bodies = CODES.iter().map(|&(key, name, jurisdiction, citation)| CodeBody {
        id: CodeBodyId::from_source_key(key),
        key: key.to_owned(),
        name: name.to_owned(),
        jurisdiction: jurisdiction.parse().unwrap(),
        citation: citation.map(str::to_owned),
        nodes: OrdinalRange { start: 0, end: 1 },
        provisions: 1,
        chunks: 1,
    });
    Catalogue { jurisdictions: jurisdictions.collect(), code_bodies: bodies.collect(), ..Catalogue::default() }
}

/// What is understood of a query, in one line: the words, the place, and a question mark if the place
/// is only preferred.
fn understood(places: &Places, query: &str) -> String {
    let Some(NamedPlace { place, bytes, is_certain }) = places.named_in(query, std::slice::from_ref(&(0..query.len())))
    else {
        return String::new();
    };
    let words: Vec<&str> = bytes.into_iter().map(|bytes| &query[bytes]).collect();
    let place = places.get(place);
    let name = if place.is_code() { &place.name } else { place.jurisdiction.as_str() };
    format!("{} = {name}{}", words.join(" + "), if is_certain { "" } else { "?" })
}

fn check(table: &[(&str, &str)]) {
    let places = Places::of(&catalogue());
    let wrong: Vec<String> = table
        .iter()
        .map(|&(query, expected)| (query, expected, understood(&places, query)))
        .filter(|(_, expected, found)| expected != found)
        .map(|(query, expected, found)| format!("{query}: expected '{expected}', found '{found}'"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_place_is_certain_after_in_beside_law_and_at_the_edges() {
    check(&[
        ("is weed legal in DC", "in DC = DC"),
        ("is weed legal in D.C.?", "in D.C. = DC"),
        ("is weed legal in dc", "in dc = DC"),
        ("weed in the District of Columbia", "in the District of Columbia = DC"),
        ("weed in Washington, D.C.", "in Washington, D.C. = DC"),
        ("weed in Washington DC", "in Washington DC = DC"),
        ("Virginia landlord", "Virginia = VA"),
        ("security deposit virginia", "virginia = VA"),
        ("security deposit, Virginia, pets", "Virginia = VA"),
        ("how long can a landlord in Virginia keep my deposit", "in Virginia = VA"),
        ("in the state of Washington how old must I be to vote", "in the state of Washington = WA"),
        ("under Virginia law can I record a call", "under Virginia law = VA"),
        ("does Virginia law allow switchblades", "Virginia law = VA"),
        ("laws of Virginia on stalking", "laws of Virginia = VA"),
        ("the laws of the state of Idaho about wolves", "the laws of the state of Idaho = ID"),
        ("powers of the governor of Maryland", "of Maryland = MD"),
        ("Virginia statute of limitations for fraud", "Virginia = VA"),
        ("Virginia law enforcement training", "Virginia = VA"),
        ("fraud Virginia statute", "Virginia statute = VA"),
        ("Maryland regulations on crab pots", "Maryland = MD"),
        ("Washington state landlord", "Washington state = WA"),
        ("landlord in Washington state", "in Washington state = WA"),
        ("dog bite laws in West Virginia", "in West Virginia = WV"),
        ("zoning in Chicago", "in Chicago = IL-CHICAGO"),
        ("zoning in chicago", "in chicago = IL-CHICAGO"),
        ("in chicago can I keep chickens", "in chicago = IL-CHICAGO"),
        ("Chicago zoning of bakeries", "Chicago = IL-CHICAGO"),
        ("parking in the City of Chicago", "in the City of Chicago = IL-CHICAGO"),
        ("signs in Chicago, Illinois", "in Chicago + Illinois = IL-CHICAGO"),
        ("noise in san mateo at night", "in san mateo = CA-SAN-MATEO"),
        ("New York City rent", "New York City = NY-NEW-YORK"),
        ("rent in New York", "in New York = NY"),
        ("burning leaves Henrico County", "Henrico County = VA-HENRICO"),
        ("docks in Port Angeles", "in Port Angeles = WA-PORT-ANGELES"),
        ("security deposit in Virginia, Virginia landlords", "in Virginia + Virginia = VA"),
    ]);
}

#[test]
fn two_capitals_mean_a_state_if_unambiguous() {
    check(&[
        ("NY rent control", "NY = NY"),
        ("rent control in CA", "in CA = CA"),
        ("rent control, OR", "OR = OR"),
        ("tenant rights in OR", "in OR = OR"),
        ("fences in IN", "in IN = IN"),
        ("MA law on dogs", "MA law = MA"),
        ("N.J. turnpike tolls", ""),
        ("N.J. boat tax", "N.J. = NJ"),
        ("theft OR robbery", ""),
        ("tell ME about wills", ""),
        ("who may opt IN", ""),
        ("VA loan guaranty", ""),
        ("MD license renewal", ""),
        ("rent control in ny", ""),
        ("DISCHARGE IN OR NEAR A DWELLING", ""),
        ("PERMIT OR LICENSE", ""),
        ("dc power in wiring", ""),
        ("can a NY landlord enter", "NY = NY?"),
    ]);
}

#[test]
fn only_federal_law_itself_is_federal() {
    check(&[
        ("is weed legal under federal law", "under federal law = US"),
        ("federal law on firearms", "federal law = US"),
        ("in federal law what is a bank", "in federal law = US"),
        ("federal statutes about wolves", "federal statutes = US"),
        ("U.S. law on treason", "U.S. law = US"),
        ("treason in the US", "US = US?"),
        ("does required by federal law mean preemption", "federal = US?"),
        ("federal crimes", "federal = US?"),
        ("state and federal law", ""),
        ("federal reserve", ""),
        ("federal insurance", ""),
        ("federal firearms license", ""),
        ("federal income tax", ""),
        ("federal law enforcement officer", ""),
        ("US citizens abroad", ""),
        ("U.S. attorney", ""),
        ("tell us about wills", ""),
        ("United States marshal", ""),
    ]);
}

#[test]
fn a_code_without_a_section_is_a_place() {
    check(&[
        ("COMAR crab pots", "COMAR = Code of Maryland Regulations"),
        (
            "crab pots in the Code of Maryland Regulations",
            "in the Code of Maryland Regulations = Code of Maryland Regulations",
        ),
        ("landlord duties RCW", "RCW = Revised Code of Washington"),
        ("Revised Code of Washington landlord", "Revised Code of Washington = Revised Code of Washington"),
        ("treason in the U.S. Code", "in the U.S. Code = United States Code of 2016"),
        ("treason in the United States Code", "in the United States Code = United States Code of 2016"),
        ("San Mateo Municipal Code noise", "San Mateo Municipal Code = San Mateo Municipal Code"),
        ("stalking in the Code of Virginia", "in the Code of Virginia = Code of Virginia, converted"),
        ("RCW 99.99.999", ""),
        ("title 18 of the United States Code", ""),
        ("42 U.S.C. § 99999", ""),
        ("D.C. Code title 16", ""),
    ]);
}

#[test]
fn ambiguous_names_are_preferred_or_ignored() {
    check(&[
        ("can a Virginia landlord keep the deposit", "Virginia = VA?"),
        ("Maine coast", "Maine = ME?"),
        ("Delaware corporation", "Delaware = DE?"),
        ("merger of a company incorporated in Delaware", "Delaware = DE?"),
        ("Virginia's landlord act", "Virginia = VA?"),
        ("noise chicago", "chicago = IL-CHICAGO?"),
        ("Washington's birthday", ""),
        ("Virginia creeper", ""),
        ("Washington Metropolitan Area Transit", ""),
        ("New York Stock Exchange", ""),
        ("Idaho Falls", ""),
        ("Mississippi River", ""),
        ("George Washington", ""),
        ("Indiana bat", ""),
        ("Kansas City", ""),
        ("Lake Michigan", ""),
        ("University of Virginia", ""),
        ("Washington County", ""),
        ("Fort Washington", ""),
        ("Texas hold'em", ""),
        ("mobile home park", ""),
        ("rent in mobile homes", "mobile = AL-MOBILE?"),
        ("property outside Virginia", ""),
        ("goods made out of Virginia", ""),
        ("states other than Virginia", ""),
        ("not in Virginia", ""),
        ("a Virginia-based firm", ""),
    ]);
}

#[test]
fn of_several_places_none_is_chosen_unless_one_is_certain() {
    check(&[
        ("deposits in Virginia and in Maryland", ""),
        ("moving from Virginia to Maryland", ""),
        ("federal law in Virginia", ""),
        ("can a Texas resident hunt in Virginia", "in Virginia = VA"),
        ("fence height", ""),
        ("", ""),
    ]);
}

#[test]
fn only_plain_pieces_are_read_and_their_edges_are_those_of_the_query() {
    let places = Places::of(&catalogue());
    let query = "boats \"in Virginia\" and tax";
    assert_eq!(places.named_in(query, &[0..6, 19..query.len()]), None);
    let query = "a \"security deposit\" Virginia";
    let named = places.named_in(query, &[0..2, 20..query.len()]).unwrap();
    assert!(named.is_certain && query[named.bytes[0].clone()] == *"Virginia");
    let query = "can a Virginia \"security deposit\"";
    assert!(!places.named_in(query, std::slice::from_ref(&(0..15))).unwrap().is_certain);
}
