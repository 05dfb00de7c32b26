//! What a citation resolves to in a snapshot that contains a few provisions.

use std::convert::Infallible;

use hornbook_corpus::citation::{
    ActSection, Citation, CitationKey, CitedItem, Container, Coverage, EnclosingProvision, Grammar, GrammarBody,
    HeldActSection, NamedContainer, NodeLookup, NumberedContainer, ParseError, ProvisionLookup, Resolution,
};
use hornbook_corpus::ids::NodeOrdinal;

use crate::grammar;

/// Contains a part of the United States Code. Virginia is listed but empty.
struct FewHoldings {
    stored: Vec<(CitationKey, Citation, NodeOrdinal)>,
    unread: (CitationKey, NodeOrdinal),
    containers: Vec<(Container, NodeOrdinal)>,
}

impl FewHoldings {
    fn new(grammar: &Grammar) -> Self {
        let texts = ["42 U.S.C. § 1983", "42 U.S.C. § 1985", "42 U.S.C. § 1985", "2 U.S.C. § 293a...293c"];
        let stored = texts.iter().zip(10..).map(|(text, ordinal)| {
            let citation = grammar.parse(text).expect(text);
            (grammar.key(&citation), citation, NodeOrdinal(ordinal))
        });
        let unread = (grammar.key_or_folded("Ruritania Code § 5-1"), NodeOrdinal(99));
        let container = grammar.parse_container("United States Code, Title 42, Chapter 21").expect("it is one");
        let containers = vec![(container.container, NodeOrdinal(50))];
        Self { stored: stored.collect(), unread, containers }
    }

    fn ordinals(&self, wanted: impl Fn(&CitationKey, &Citation) -> bool) -> Vec<NodeOrdinal> {
        self.stored.iter().filter(|(key, citation, _)| wanted(key, citation)).map(|(_, _, ordinal)| *ordinal).collect()
    }
}

impl ProvisionLookup for FewHoldings {
    type Error = Infallible;

    fn provisions(&self, key: &CitationKey) -> Result<Vec<NodeOrdinal>, Infallible> {
        let mut found = self.ordinals(|stored, _| stored == key);
        found.extend((self.unread.0 == *key).then_some(self.unread.1));
        Ok(found)
    }

    fn formerly(&self, _: &CitationKey) -> Result<Vec<NodeOrdinal>, Infallible> {
        Ok(Vec::new())
    }

    fn ranges_over(&self, citation: &Citation) -> Result<Vec<NodeOrdinal>, Infallible> {
        Ok(self.ordinals(|_, stored| stored.covers(citation)))
    }

    fn node_count(&self) -> u32 {
        100
    }

    fn is_within(&self, range: &Citation, node: NodeOrdinal) -> Result<Option<bool>, Infallible> {
        let stored = self.stored.iter().find(|(_, _, ordinal)| *ordinal == node);
        Ok(stored.map(|(_, citation, _)| range.covers(citation)))
    }
}

impl NodeLookup for FewHoldings {
    fn containers(&self, named: &NamedContainer) -> Result<Vec<NodeOrdinal>, Infallible> {
        Ok(self.containers.iter().filter(|(held, _)| *held == named.container).map(|&(_, node)| node).collect())
    }

    fn numbered_containers(&self, _: &NumberedContainer) -> Result<Vec<NodeOrdinal>, Infallible> {
        Ok(Vec::new())
    }

    fn act_sections(&self, _: &ActSection) -> Result<Vec<HeldActSection>, Infallible> {
        Ok(Vec::new())
    }

    fn covers(&self, _: &Citation) -> Result<bool, Infallible> {
        Ok(true)
    }

    fn coverage(&self, body: GrammarBody<'_>) -> Coverage {
        match body.key {
            "us/usc" => Coverage::Covered,
            "va/code" => Coverage::Placeholder,
            _ => Coverage::Outside,
        }
    }
}

#[test]
fn resolving_gives_a_typed_answer() {
    let grammar = grammar();
    let holdings = FewHoldings::new(&grammar);
    let each = |text: &str| {
        let Ok(answers) = grammar.resolve(text, &holdings);
        answers
    };
    let resolve = |text: &str| match each(text).as_slice() {
        [only] => only.clone(),
        others => panic!("{text}: {others:?}"),
    };
    let provision = |text: &str| match resolve(text) {
        Resolution::Resolved { node, .. } => node.0,
        other => panic!("{text}: {other:?}"),
    };
    let candidates = |text: &str| match resolve(text) {
        Resolution::Ambiguous { candidates, .. } => candidates.iter().map(|node| node.0).collect::<Vec<_>>(),
        other => panic!("{text}: {other:?}"),
    };
    assert_eq!(provision("section 1983(b) of title 42"), 10);
    assert_eq!(provision("2 USC 293b"), 13);
    assert_eq!(provision("ruritania code § 5–1"), 99);
    assert_eq!(candidates("42 USC 1985"), [11, 12]);
    // A range is found if either of its ends exists.
    assert_eq!(candidates("42 U.S.C. §§ 1983 to 1986"), [10, 11, 12]);
    assert_eq!(candidates("42 U.S.C. §§ 1980 to 1985"), [10, 11, 12]);
    // `1983-85` is no section, and both ends of the range exist.
    assert_eq!(candidates("42 U.S.C. § 1983-85"), [10, 11, 12]);
    for no_range in ["42 U.S.C. § 1983-84", "42 U.S.C. § 1985-83", "42 U.S.C. § 1983-a"] {
        assert!(matches!(resolve(no_range), Resolution::NotInSnapshot { .. }), "{no_range}");
    }
    assert!(matches!(
        &each("42 U.S.C. §§ 1983, 1984, 1985")[..],
        [Resolution::Resolved { .. }, Resolution::NotInSnapshot { .. }, Resolution::Ambiguous { .. }]
    ));
    assert!(matches!(resolve("42 USC 1984"), Resolution::NotInSnapshot { .. }));
    assert!(matches!(resolve("42 USC 19830"), Resolution::NotInSnapshot { .. }));
    assert!(matches!(resolve("Va. Code § 13.1-345"), Resolution::Placeholder { .. }));
    assert!(matches!(resolve("ORS 63.047"), Resolution::OutsideCoverage { .. }));
    for malformed in ["99 U.S.C. § 1", "civil rights", "", " "] {
        assert!(matches!(resolve(malformed), Resolution::Malformed { .. }), "{malformed}");
    }
}

#[test]
fn each_element_of_a_list_has_an_answer_of_its_own() {
    let grammar = grammar();
    let holdings = FewHoldings::new(&grammar);
    let reported = |text: &str| -> Vec<String> {
        let Ok(answers) = grammar.resolve(text, &holdings);
        let reported = answers.into_iter().map(|answer| match answer {
            Resolution::Resolved { node, .. } => node.0.to_string(),
            Resolution::Ambiguous { candidates, .. } => format!("{} nodes", candidates.len()),
            Resolution::NotInSnapshot { .. } => "not held".to_owned(),
            Resolution::OutsideCoverage { .. } => "outside".to_owned(),
            Resolution::Placeholder { .. } => "placeholder".to_owned(),
            Resolution::Malformed { error: ParseError::NoForm { text } } => format!("unread {text}"),
            Resolution::Malformed { error } => error.to_string(),
        });
        reported.collect()
    };
    for (list, expected) in [
        ("42 U.S.C. § 1983, civil rights, 42 U.S.C. § 1984", &["10", "unread civil rights", "not held"][..]),
        ("civil rights, 42 USC 1983", &["unread civil rights", "10"]),
        ("42 U.S.C. §§ 1983, banana, 1985", &["10", "unread banana", "2 nodes"]),
        ("42 USC 1983; 2 USC 293b; nothing\nVa. Code § 13.1-345", &["10", "13", "unread nothing", "placeholder"]),
        ("42 U.S.C. § 1983 and ruritania code § 5-1", &["10", "99"]),
        ("42 U.S.C. ch. 21; 42 U.S.C. ch. 22, 42 USC 1983", &["50", "not held", "10"]),
        ("chapter 21 of title 42, United States Code, and 42 USC 1983", &["50", "10"]),
        ("42 USC Chapter 21", &["50"]),
        ("one, two and three", &["unread one, two and three"]),
        (" ; ;; \n", &["cannot read a citation from an empty text; write one such as '42 U.S.C. § 1983'"]),
    ] {
        assert_eq!(reported(list), expected, "{list}");
    }
    let many = reported(&"42 USC 1983;".repeat(150));
    assert_eq!((many.len(), many[100].starts_with("only the first 100 citations")), (101, true));
    assert_eq!(reported(&"42 USC 1983;".repeat(400)).len(), 1, "longer than any list");
}

#[test]
fn a_name_that_several_codes_have_is_read_by_the_number_and_by_what_is_held() {
    let grammar = grammar();
    let forms = |text: &str| match grammar.parse_list(text) {
        Err(ParseError::Ambiguous { readings, .. }) => readings,
        other => panic!("{text}: {other:?}"),
    };
    assert_eq!(forms("FAR 25.1309"), ["14 C.F.R. § 25.1309", "48 C.F.R. § 25.1309"]);
    assert_eq!(forms("FAR Part 15"), ["14 C.F.R. pt. 15", "48 C.F.R. pt. 15"]);
    assert_eq!(forms("I.C. § 28-12-103"), ["Idaho Code § 28-12-103", "Ind. Code § 28-12-103"]);
    assert_eq!(forms("General Statutes § 52-557"), ["Conn. Gen. Stat. § 52-557", "N.C. Gen. Stat. § 52-557"]);
    // In the provisions of one of these codes, the shared name means that code.
    let found = |home: &str| {
        let home = grammar.parse(home).expect("a citation");
        let found = grammar
            .find_in_provision("under General Statutes § 52-557", EnclosingProvision::of(&home).expect("a place"));
        found.map(|(_, citation)| grammar.format(&citation)).collect::<Vec<_>>()
    };
    assert_eq!(found("N.C. Gen. Stat. § 1-1"), ["N.C. Gen. Stat. § 52-557"]);
    assert_eq!(found("Conn. Gen. Stat. § 1-1"), ["Conn. Gen. Stat. § 52-557"]);
    assert_eq!(found("Va. Code § 1-1"), Vec::<String>::new());
    let of_both = "ambiguous: ";
    for (held, text, expected) in [
        (&["Idaho Code § 28-12-103"][..], "I.C. § 28-12-103", "Idaho Code § 28-12-103: 1"),
        (&["Ind. Code § 28-12-103"], "I.C. § 28-12-103", "Ind. Code § 28-12-103: 1"),
        (&["Idaho Code § 28-12-103", "Ind. Code § 28-12-103"], "I.C. § 28-12-103", of_both),
        (&["Idaho Code § 1-101"], "I.C. § 28-12-103", "Idaho Code § 28-12-103: 0"),
        (&[], "I.C. § 28-12-103", of_both),
    ] {
        let held: Vec<Citation> = held.iter().map(|text| grammar.parse(text).expect("a citation")).collect();
        let Ok(answers) = grammar.resolve(text, &StoredCitations { grammar: &grammar, held });
        let reported = match answers.as_slice() {
            [Resolution::Resolved { cited: CitedItem::Citation(citation), .. }] => {
                format!("{}: 1", grammar.format(citation))
            }
            [Resolution::NotInSnapshot { cited: CitedItem::Citation(citation) }] => {
                format!("{}: 0", grammar.format(citation))
            }
            [Resolution::Ambiguous { cited: CitedItem::Readings(readings), .. }] if readings.len() == 2 => {
                of_both.to_owned()
            }
            other => panic!("{text}: {other:?}"),
        };
        assert_eq!(reported, expected, "{text}");
    }
}

#[test]
fn a_court_means_the_code_of_its_own_state_by_a_shared_name() {
    let grammar = grammar();
    let held =
        ["Conn. Gen. Stat. § 52-557", "N.C. Gen. Stat. § 52-557", "Idaho Code § 28-12-103", "Ind. Code § 28-12-103"];
    let held: Vec<Citation> = held.iter().map(|text| grammar.parse(text).expect("a citation")).collect();
    let holdings = StoredCitations { grammar: &grammar, held };
    for (jurisdiction, text, expected) in [
        ("CT", "General Statutes § 52-557", "Conn. Gen. Stat. § 52-557"),
        ("NC", "General Statutes § 52-557", "N.C. Gen. Stat. § 52-557"),
        ("ID", "I.C. § 28-12-103", "Idaho Code § 28-12-103"),
        ("IN", "I.C. § 28-12-103", "Ind. Code § 28-12-103"),
        // A number that fits one code only is of that code, wherever it is cited.
        ("ID", "I.C. § 35-42-1-1", "not held: Ind. Code § 35-42-1-1"),
        ("NC", "General Statutes § 52-557k", "not held: Conn. Gen. Stat. § 52-557k"),
        ("CT", "General Statutes § 52-558", "not held: Conn. Gen. Stat. § 52-558"),
        ("VA", "General Statutes § 52-557", "ambiguous"),
    ] {
        let Ok(answers) = grammar.resolve_in(text, Some(jurisdiction), &holdings);
        let reported = match answers.as_slice() {
            [Resolution::Resolved { cited: CitedItem::Citation(citation), .. }] => grammar.format(citation),
            [Resolution::NotInSnapshot { cited: CitedItem::Citation(citation) }] => {
                format!("not held: {}", grammar.format(citation))
            }
            [Resolution::Ambiguous { .. }] => "ambiguous".to_owned(),
            other => panic!("{text}: {other:?}"),
        };
        assert_eq!(reported, expected, "{jurisdiction}: {text}");
    }
}

/// Contains some provisions, and covers their codes.
struct StoredCitations<'g> {
    grammar: &'g Grammar,
    held: Vec<Citation>,
}

impl ProvisionLookup for StoredCitations<'_> {
    type Error = Infallible;

    fn provisions(&self, key: &CitationKey) -> Result<Vec<NodeOrdinal>, Infallible> {
        let nodes = (0..).map(NodeOrdinal).zip(&self.held);
        Ok(nodes.filter(|(_, held)| self.grammar.key(held) == *key).map(|(node, _)| node).collect())
    }

    fn formerly(&self, _: &CitationKey) -> Result<Vec<NodeOrdinal>, Infallible> {
        Ok(Vec::new())
    }

    fn ranges_over(&self, _: &Citation) -> Result<Vec<NodeOrdinal>, Infallible> {
        Ok(Vec::new())
    }

    fn node_count(&self) -> u32 {
        self.held.len() as u32
    }

    fn is_within(&self, _: &Citation, _: NodeOrdinal) -> Result<Option<bool>, Infallible> {
        Ok(None)
    }
}

impl NodeLookup for StoredCitations<'_> {
    fn containers(&self, _: &NamedContainer) -> Result<Vec<NodeOrdinal>, Infallible> {
        Ok(Vec::new())
    }

    fn numbered_containers(&self, _: &NumberedContainer) -> Result<Vec<NodeOrdinal>, Infallible> {
        Ok(Vec::new())
    }

    fn act_sections(&self, _: &ActSection) -> Result<Vec<HeldActSection>, Infallible> {
        Ok(Vec::new())
    }

    fn covers(&self, citation: &Citation) -> Result<bool, Infallible> {
        Ok(self.held.iter().any(|held| held.body == citation.body))
    }

    fn coverage(&self, body: GrammarBody<'_>) -> Coverage {
        let is_held =
            self.held.iter().any(|held| self.grammar.body(held.body).is_some_and(|held| held.key == body.key));
        if is_held { Coverage::Covered } else { Coverage::Outside }
    }
}
