use std::collections::BTreeSet;

use hornbook_corpus::analyzer::TokenRole;
use hornbook_corpus::texts::TextWriter;
use proptest::prelude::*;

use super::*;
use crate::understand::QueryWord;

/// The words of a query as terms. The first is the rarest, and each is less rare than the one before.
fn wanted(query: &str, kind: QueryKind) -> QueryMatcher {
    let mut words: Vec<QueryWord> = Vec::new();
    Analyzer::new().analyze(query, |token| match token.role {
        TokenRole::Whole => words.push(QueryWord::compound(token.text.to_owned())),
        TokenRole::Part => words.last_mut().unwrap().parts.push(token.text.to_owned()),
        TokenRole::Word => words.push(QueryWord::of(token.text.to_owned())),
    });
    let count = words.len() as u32;
    QueryMatcher::of(words.iter().zip((0..count).map(|place| 1000 * (count - place))), kind)
}

fn terms(text: &str) -> BTreeSet<String> {
    let mut terms = BTreeSet::new();
    Analyzer::new().analyze(text, |token| {
        terms.insert(token.text.to_owned());
    });
    terms
}

/// Writes a file of texts as in a snapshot, with the given text between two others, and passes it to `work`.
fn with_texts<R>(text: &str, work: impl FnOnce(&Texts, Span) -> R) -> R {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = TextWriter::create(dir.path()).unwrap();
    writer.push("The text of another provision.").unwrap();
    let span = writer.push(text).unwrap();
    writer.push("And yet another").unwrap();
    writer.finish().unwrap();
    work(&Texts::open(dir.path()).unwrap(), span)
}

/// The snippet of one text, with its highlighted words in square brackets.
fn snippet(text: &str, query: &str, chunk: Option<Range<usize>>, kind: QueryKind) -> String {
    with_texts(text, |texts, span| {
        let wanted = wanted(query, kind);
        let chunk = chunk.map(|chunk| Span { offset: span.offset + chunk.start as u64, length: chunk.len() as u32 });
        let mut analyzer = Analyzer::new();
        let mut search = SnippetFinder { texts, wanted: &wanted, analyzer: &mut analyzer };
        let place = search.place(span, chunk).unwrap();
        let snippet = search.snippet_at(&place).unwrap();
        check(text, span, query, &snippet);
        marked(&snippet)
    })
}

fn marked(snippet: &Snippet<'_>) -> String {
    let mut out = String::new();
    for (at, c) in (0..).zip(snippet.text.chars()) {
        out.extend(snippet.highlights.iter().any(|highlight| highlight.end == at).then_some(']'));
        out.extend(snippet.highlights.iter().any(|highlight| highlight.start == at).then_some('['));
        out.push(c);
    }
    let count = snippet.text.chars().count() as u32;
    out.extend(snippet.highlights.iter().any(|highlight| highlight.end == count).then_some(']'));
    out
}

/// Checks what must be true of every snippet of every text.
fn check(text: &str, span: Span, query: &str, snippet: &Snippet<'_>) {
    let start = (snippet.place.offset - span.offset) as usize;
    let end = start + snippet.place.length as usize;
    assert_eq!(text.get(start..end), Some(snippet.text), "the snippet is not part of the text");
    assert!(snippet.text.chars().count() <= SNIPPET_CHARS_MAX, "{} is too long", snippet.text);
    assert_eq!(snippet.text.trim(), snippet.text);
    let parts_word = |at: usize| {
        let before = text[..at].chars().next_back().is_some_and(char::is_alphanumeric);
        before && text[at..].chars().next().is_some_and(char::is_alphanumeric)
    };
    assert!(snippet.text.is_empty() || !(parts_word(start) || parts_word(end)), "a word is cut: {}", snippet.text);
    assert_eq!(snippet.has_text_before, !text[..start].trim().is_empty());
    assert_eq!(snippet.has_text_after, !text[end..].trim().is_empty());
    let query_terms = terms(query);
    let chars: Vec<char> = snippet.text.chars().collect();
    let mut last_end = 0;
    for highlight in &snippet.highlights {
        assert!(last_end <= highlight.start && highlight.start < highlight.end, "{:?}", snippet.highlights);
        last_end = highlight.end;
        assert!(highlight.end as usize <= chars.len(), "{highlight:?} leaves the snippet");
        let run: String = chars[highlight.start as usize..highlight.end as usize].iter().collect();
        assert!(!terms(&run).is_disjoint(&query_terms), "'{run}' is no word of '{query}'");
    }
}

const DEPOSIT: &str = "(a) In general.\nA landlord may not demand or receive a security deposit of more than two months' \
rent. The deposit must be kept in a bank of this State.\n(b) Return.\nWithin thirty days after the tenancy ends, the \
landlord shall return the security deposit with interest, less damages. Whoever keeps it without cause owes three times \
the sum. Notice is given in writing.\n(c) Hotels are exempt.";

#[test]
fn a_number_is_marked_whole_or_not_at_all() {
    let text =
        "Section 55.1-1202, and 1226 of the acts of 1955, do not apply to a deposit under § 55.1-1226 of 55 dollars.";
    let shown = snippet(text, "55.1-1226", None, QueryKind::Topic);
    assert_eq!(shown.matches('[').count(), 1, "{shown}");
    assert!(shown.contains("§ [55.1-1226] of 55"), "{shown}");
    let compound = snippet("A nonprofit is no profit, and a non-profit body.", "non-profit", None, QueryKind::Topic);
    assert!(compound.contains("no [profit]"), "{compound}");
}

#[test]
fn the_sentence_with_the_words_is_shown_from_its_beginning() {
    let found = snippet(DEPOSIT, "deposit interest damages", None, QueryKind::Topic);
    assert!(found.starts_with("Within thirty days after"), "{found}");
    assert!(found.contains("return the security [deposit] with [interest], less [damages]."), "{found}");
    assert!(found.ends_with("(c) Hotels are exempt."), "{found}");
}

#[test]
fn words_in_a_row_beat_the_same_words_apart() {
    let found = snippet(
        "A deposit is no security.\n\nLater on.\n\nThe security deposit is here.",
        "security deposit",
        None,
        QueryKind::Topic,
    );
    assert!(found.contains("The [security] [deposit] is here."), "{found}");
    let far = format!("A deposit is a security. {} The security deposit.", "Other words stand between. ".repeat(20));
    assert!(snippet(&far, "security deposit", None, QueryKind::Topic).ends_with("The [security] [deposit]."));
}

#[test]
fn rare_words_count_more_than_common_ones() {
    let text = format!("Rent is due. Fees and rent.\n{}\nThe escrow agent.", "Nothing of it here. ".repeat(30));
    assert!(snippet(&text, "escrow rent", None, QueryKind::Topic).contains("The [escrow] agent."));
}

#[test]
fn stems_compounds_and_abbreviations_are_highlighted_as_written() {
    for (text, query, expected) in [
        ("Licensing of NON-PROFIT bodies", "license nonprofit", "[Licensing] of [NON-PROFIT] bodies"),
        ("Employers’ duties and the employer's wages", "employer", "[Employers]’ duties and the [employer]'s wages"),
        (
            "under 42 U.S.C. 1395w–4(b) and U. S. C. too",
            "u.s.c. 1395w-4",
            "under 42 [U.S.C.] [1395w–4](b) and [U. S. C.] too",
        ),
        ("Whoever is dying or has died", "die", "Whoever is [dying] or has [died]"),
        ("Ægis, façade, ½ of it", "aegis facade 1/2", "[Ægis], [façade], [½] of it"),
        ("northern ports", "north port", "northern [ports]"),
    ] {
        assert_eq!(snippet(text, query, None, QueryKind::Topic), expected);
    }
}

#[test]
fn questions_use_the_chunk_and_phrases_the_matching_place() {
    let chunk = DEPOSIT.find("Within").unwrap()..DEPOSIT.find("\n(c)").unwrap();
    for (query, kind, expected) in [
        ("getting money back", QueryKind::Question, "Within thirty days"),
        ("receive", QueryKind::Question, "Within thirty days"),
        ("receive", QueryKind::Topic, "A landlord may not"),
        ("demand or receive", QueryKind::Phrase, "A landlord may not"),
        ("security deposit", QueryKind::Topic, "Within thirty days"),
        ("nothing known", QueryKind::Topic, "Within thirty days"),
    ] {
        let found = snippet(DEPOSIT, query, Some(chunk.clone()), kind).replace(['[', ']'], "");
        assert!(found.starts_with(expected), "'{query}': {found}");
    }
}

#[test]
fn texts_without_the_words_are_shown_from_their_beginning() {
    let found = snippet(DEPOSIT, "zebra", None, QueryKind::Topic);
    assert!(found.starts_with("(a) In general.\nA landlord") && found.ends_with("interest, less damages."), "{found}");
    assert_eq!(snippet("", "zebra", None, QueryKind::Topic), "");
    assert_eq!(snippet(" \n ", "zebra", None, QueryKind::Topic), "");
}

#[test]
fn sentences_too_long_are_cut_between_words() {
    let long = format!("{}escrow agent {}", "word ".repeat(200), "word ".repeat(200));
    let found = snippet(&long, "escrow", None, QueryKind::Topic);
    assert!(found.starts_with("word") && found.contains("[escrow] agent") && found.ends_with("word"), "{found}");
    assert!(found.chars().count() > 250);
}

#[test]
fn a_word_longer_than_a_snippet_is_left_out() {
    let blob = "x".repeat(400);
    assert_eq!(snippet(&blob, "zebra", None, QueryKind::Topic), "");
    assert_eq!(snippet(&format!("See {blob}"), "zebra", None, QueryKind::Topic), "See");
    assert_eq!(snippet(&format!("{blob} here"), "here", None, QueryKind::Topic), "[here]");
}

#[test]
fn a_chunk_that_starts_with_the_space_behind_a_long_word_is_shown_from_its_first_word() {
    for space in [" ", "  ", "\u{a0} \n"] {
        let (blob, rest) = ("x".repeat(400), format!("{space}A deposit is kept {}", "apart ".repeat(80)));
        let chunk = blob.len()..blob.len() + rest.len();
        let found = snippet(&format!("{blob}{rest}"), "zebra", Some(chunk), QueryKind::Question);
        assert!(found.starts_with("A deposit is kept apart"), "{found}");
    }
}

#[test]
fn the_rare_word_is_found_anywhere_in_a_long_text() {
    let filler = "The board may adopt rules on rent and on other matters of this kind. ".repeat(7000);
    assert!(filler.len() > 480_000);
    for place in [0, filler.len() / 3, filler.len() - 200] {
        let place = filler[..place].rfind(". ").map_or(0, |at| at + 2);
        let text = format!("{}Escrowed rent is kept apart. {}", &filler[..place], &filler[place..]);
        for query in ["escrow rent", "escrowing of the rent"] {
            let found = snippet(&text, query, None, QueryKind::Topic);
            assert!(found.contains("[Escrowed] [rent] is kept apart."), "'{query}' at {place}: {found}");
        }
    }
    assert!(snippet(&filler, "zebra rent", None, QueryKind::Topic).contains("[rent]"));
}

#[test]
fn a_part_is_read_with_what_it_is_joined_to() {
    let found = |text: &str| best_window(&wanted("lease", QueryKind::Topic), &mut Analyzer::new(), text).is_some();
    assert!(found("leas-e") && found("(leas-e") && found("rent leas-e") && found("rent-lease"));
    assert!(!found("rent-leas-e") && !found("x rent-leas-e x"));
}

/// Words and separators, as they occur in law and in damaged files.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => "(lease|leases|rent|Rent|tenant|non-profit|nonprofit|deposit|dies|dying|U\\.S\\.C\\.|1395w–4|é|naïve|½)[,.;]?( |\n)",
        2 => "[a-z]{1,12}(—|-|'s |’ | )",
        1 => "\\PC{0,8}",
        1 => "[A-Z]\\. ",
        1 => "x{100,400}|\\.{200,400}|( |\u{a0}|\u{301}|\u{ad}){1,50}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn every_snippet_is_whole_words_of_the_text_with_marks_on_words_of_the_query(
        pieces in prop::collection::vec((piece(), 1..12_usize), 0..60),
        query in "((rent|leasing|deposits|die|non-profit|usc|u\\.s\\.c\\.|1395w-4|1/2|naive|x|[a-z]{1,3}) ){1,6}",
        chunk in prop::option::of((any::<prop::sample::Index>(), any::<prop::sample::Index>())),
        kind in prop::sample::select(vec![QueryKind::Question, QueryKind::Topic, QueryKind::Phrase]),
    ) {
        let text: String = pieces.iter().map(|(piece, times)| piece.repeat(*times)).collect();
        let bounds = |at: prop::sample::Index| text.floor_char_boundary(at.index(text.len() + 1));
        let chunk = chunk.map(|(a, b)| bounds(a).min(bounds(b))..bounds(a).max(bounds(b)));
        snippet(&text, &query, chunk, kind);
    }

    /// Compares the shortcut by first letters with an analysis of every word.
    #[test]
    fn the_letter_shortcut_never_misses_a_word(
        pieces in prop::collection::vec("(leas|rent|di|dy|sk|tenan|deposit|é|x)(e|es|ing|ed|s|y|ies)?(-| |\n|—|\\. |'s |§ )", 0..40),
        query in "((rent|lease|die|sky|tenant|é|x) ){1,4}",
    ) {
        let text = pieces.concat();
        let query_terms = terms(&query);
        let wanted = wanted(&query, QueryKind::Topic);
        let mut analyzer = Analyzer::new();
        let found = best_window(&wanted, &mut analyzer, &text);
        let stands = text.split_whitespace().any(|word| !terms(word).is_disjoint(&query_terms));
        prop_assert_eq!(found.is_some(), stands);
    }
}
