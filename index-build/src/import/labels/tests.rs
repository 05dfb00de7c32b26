use hornbook_base::roman::to_roman;
use proptest::prelude::*;

use super::*;

/// The labels of each line with their depths, such as `0(a)(1)`. A line without a label is only its depth.
fn labels_with_depths(lines: &[&str], scheme: &Scheme) -> String {
    let paragraphs: Vec<Paragraph<'_>> = lines.iter().map(|line| Paragraph::from(*line)).collect();
    let places = infer(&paragraphs, scheme);
    let one = |(line, place): (&&str, &Place)| format!("{}{}", place.depth, &line[..place.label_bytes]);
    lines.iter().zip(&places).map(one).collect::<Vec<_>>().join(" ")
}

fn found(lines: &[&str]) -> String {
    labels_with_depths(lines, &Scheme::found())
}

#[test]
fn nesting_is_inferred_without_a_scheme() {
    assert_eq!(
        found(&["Intro", "(a) x", "(1) x", "(i) x", "(A) x", "(B) x", "(ii) x", "(2) x", "(b) x"]),
        "0 0(a) 1(1) 2(i) 3(A) 3(B) 2(ii) 1(2) 0(b)"
    );
    assert_eq!(
        found(&["(1)(a) x", "(b) x", "(i) x", "(A) x", "(B) x", "(ii) x", "(2) x"]),
        "0(1)(a) 1(b) 2(i) 3(A) 3(B) 2(ii) 0(2)"
    );
    assert_eq!(found(&["A. x", "1. x", "a. x", "b. x", "2. x", "B. x"]), "0A. 1(1. 2a. 2b. 1(2. 0B.".replace('(', ""));
    assert_eq!(found(&["I. x", "A. x", "1. x", "2. x", "B. x", "II. x"]), "0I. 1A. 21. 22. 1B. 0II.");
}

#[test]
fn labels_in_brackets_are_labels() {
    assert_eq!(found(&["[(a)] x", "(1) x", "[(2)] x", "(b) x"]), "0[(a)] 1(1) 1[(2)] 0(b)");
    assert_eq!(found(&["[(a)x] y", "[(1) and (2)] y", "[a] y"]), "0 0 0");
}

#[test]
fn a_line_may_begin_with_the_first_label_within_its_own() {
    let lines = ["1. x", "2. a. x", "b. x", "c. (1) x", "(2) x", "3. (a) x", "(b) x", "4. A. B. Smith", "5. x"];
    assert_eq!(found(&lines), "01. 02. a. 1b. 1c. (1) 2(2) 03. (a) 1(b) 04. 05.");
    assert_eq!(found(&["1. x", "2. b. x", "3. (2) x"]), "01. 02. 03.", "no series begins with its second label");
}

#[test]
fn ambiguous_labels_are_decided_by_their_neighbours() {
    assert_eq!(found(&["(g) x", "(h) x", "(i) x", "(j) x"]), "0(g) 0(h) 0(i) 0(j)");
    assert_eq!(found(&["(a) x", "(i) x", "(ii) x", "(b) x"]), "0(a) 1(i) 1(ii) 0(b)");
    let letters: Vec<String> = ('a'..='h').map(|letter| format!("({letter}) x")).collect();
    let after_h = |rest: &[&str]| {
        let lines: Vec<&str> = letters.iter().map(String::as_str).chain(rest.iter().copied()).collect();
        found(&lines).split(' ').skip(letters.len()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(after_h(&["(i) x", "(ii) x", "(iii) x", "(i) x", "(j) x"]), "1(i) 1(ii) 1(iii) 0(i) 0(j)");
    assert_eq!(after_h(&["(1) x", "(2) x", "(i) x"]), "1(1) 1(2) 0(i)");
    assert_eq!(after_h(&["(1) x", "(i) x", "(ii) x", "(2) x", "(i) x", "(j) x"]), "1(1) 2(i) 2(ii) 1(2) 0(i) 0(j)");
    let to_u: Vec<String> = ('a'..='u').map(|letter| format!("({letter}) x")).collect();
    let mut lines: Vec<&str> = to_u.iter().map(String::as_str).collect();
    lines.extend(["(1) x", "(2) x", "(v) x", "(w) x", "(x) x", "(y) x"]);
    assert!(found(&lines).ends_with("1(1) 1(2) 0(v) 0(w) 0(x) 0(y)"), "{}", found(&lines));
    assert_eq!(
        found(&["(a) x", "(1) x", "(i) x", "(ii) x", "(iii) x", "(iv) x", "(v) x", "(vi) x", "(2) x"]),
        "0(a) 1(1) 2(i) 2(ii) 2(iii) 2(iv) 2(v) 2(vi) 1(2)"
    );
    assert_eq!(found(&["(A) x", "(B) x", "(C) x", "(D) x"]), "0(A) 0(B) 0(C) 0(D)");
    assert_eq!(found(&["(k) x", "(l) x", "(m) x"]), "0(k) 0(l) 0(m)");
}

/// A list that is one sentence ends with its full stop.
#[test]
fn text_after_a_list_belongs_to_the_parent_of_the_list() {
    let list = ["It may be:", "(1) red;", "(2) blue; or", "(3) any of:", "(a) green;", "(b) grey."];
    assert_eq!(found(&[list.as_slice(), &["Nothing limits it."]].concat()), "0 0(1) 0(2) 0(3) 1(a) 1(b) 0");
    assert_eq!(found(&["(a) It may be:", "(1) red; or", "(2) blue.", "Ask."]), "0(a) 1(1) 1(2) 1");
    // Here the last item continues.
    assert_eq!(found(&["It may be:", "(1) Red. It glows.", "(2) Blue.", "It is dark."]), "0 0(1) 0(2) 1");
    assert_eq!(found(&["(1) It may be red.", "(2) It may be blue.", "It is dark."]), "0(1) 0(2) 1");
}

#[test]
fn numbers_within_a_form_are_words() {
    let form = ["(1) It shall be in the following form:", "TO: . . . .", "(1) You", "(2) He", "(2) x", "(a) x"];
    assert_eq!(found(&form), "0(1) 1 1 1 0(2) 1(a)");
    // A single `(2)` is law: an extra number is better than law that nobody can cite.
    assert_eq!(found(&form[..4]), "0(1) 1 1 0(2)");
    // A form contains blanks to fill in, and is part of something.
    assert_eq!(found(&["(1) In any form:", "Words", "(a) x", "(b) x", "(2) x"]), "0(1) 1 1(a) 1(b) 0(2)");
    assert_eq!(found(&["The form:", "TO: ____", "(1) You", "(2) He"]), "0 0 0(1) 0(2)");
    assert_eq!(found(&["(1) To inform:", "TO: ____", "(a) x", "(b) x", "(2) x"]), "0(1) 1 1(a) 1(b) 0(2)");
}

#[test]
fn italics_tell_the_lower_levels_of_federal_regulations_apart() {
    let lines = ["(a) x", "(1) x", "(i) x", "(A) x", "(1) x", "(i) x", "(ii) x", "(2) x", "(B) x", "(2) x"];
    let italic = [false, false, false, false, true, true, true, true, false, false];
    let paragraphs: Vec<Paragraph<'_>> = lines
        .iter()
        .zip(italic)
        .map(|(text, italic)| Paragraph { text, italics: if italic { &[(1, 2)] } else { &[] } })
        .collect();
    let depths: Vec<usize> = infer(&paragraphs, &Scheme::cfr()).iter().map(|place| place.depth).collect();
    assert_eq!(depths, [0, 1, 2, 3, 4, 5, 5, 4, 3, 1]);
    // Without italics the order of levels is enough here.
    assert_eq!(labels_with_depths(&lines, &Scheme::cfr()), "0(a) 1(1) 2(i) 3(A) 4(1) 5(i) 5(ii) 4(2) 3(B) 1(2)");
    // Numerals below letters are not in this order, so the label is a letter.
    let letters = ["(f) x", "(g) x", "(i) x"];
    assert_eq!(
        (labels_with_depths(&letters, &Scheme::cfr()), found(&letters)),
        ("0(f) 0(g) 0(i)".into(), "0(f) 0(g) 1(i)".into())
    );
}

#[test]
fn words_in_parentheses_are_text() {
    for lines in [
        ["(See the rules.) x", "(1976) x", "(to) x"],
        ["(b) of this section applies", "(c) 1999 Arden", "(15 U.S.C. 78a) x"],
        ["(s)he", "1.5 acres", "A.B. Doe"],
        ["() x", "(", "(a"],
    ] {
        assert!(!found(&lines).contains(['(', '.']), "{}", found(&lines));
    }
    assert_eq!(found(&["(a) x", "(See below.)", "(b) x"]), "0(a) 1 0(b)");
    assert_eq!(found(&["(a) x", "(1976) one year", "(1977) the next", "(b) x"]), "0(a) 1 1 0(b)");
    assert_eq!(found(&["(a) x", "(u) only here", "(b) x"]), "0(a) 0(u) 0(b)".replace("0(u)", "1"));
}

#[test]
fn ranges_and_lists_of_reserved_labels_are_one_line() {
    assert_eq!(found(&["(a) x", "(b)-(d) [Reserved]", "(e) x"]), "0(a) 0(b)-(d) 0(e)");
    assert_eq!(found(&["(a) x", "(b) and (c) [Reserved]", "(d) x"]), "0(a) 0(b) and (c) 0(d)");
    assert_eq!(found(&["(a) and (b) of the Act apply"]), "0");
    assert_eq!(found(&["(1) x", "(1A) x", "(1B) x", "(2) x"]), "0(1) 0(1A) 0(1B) 0(2)");
    assert_eq!(found(&["(a) x", "(a-1) x", "(b) x", "(d) x"]), "0(a) 0(a-1) 0(b) 0(d)");
    assert_eq!(found(&["(z) x", "(aa) x", "(bb) x"]), "0(z) 0(aa) 0(bb)");
}

#[test]
fn series_restart_after_unlabelled_text() {
    let lines = ["Means:", "(1) x", "(2) x", "Or means:", "(1) x.", "(2) x.", "Rest."];
    assert_eq!(found(&lines), "0 0(1) 0(2) 0 0(1) 0(2) 1");
    // The rest of a sentence that a list interrupts is outside the list.
    let lines = ["(a) x", "(1) one,", "(2) two,", "all of it.", "(b) x"];
    assert_eq!(found(&lines), "0(a) 1(1) 1(2) 1 0(b)");
}

#[test]
fn layouts_fit_their_texts_and_are_empty_without_labels() {
    let text = "Intro\n(a) x\n(1) x\n(2) x";
    let layout = layout_of(text, &Scheme::found());
    assert_eq!(layout.check_against_text(text), None);
    assert_eq!(layout.lines.iter().map(|line| line.depth).collect::<Vec<_>>(), [0, 0, 1, 1]);
    assert!(layout_of("a\nb", &Scheme::found()).is_empty());
}

#[test]
fn schemes_are_read_from_their_first_labels() {
    assert_eq!(Scheme::of("(a)(1)(i)(A)").unwrap().levels.len(), 4);
    assert_eq!(Scheme::of("A. 1. a.").unwrap().levels[1].form, LabelPunctuation::Period);
    assert!(Scheme::of("(b)").unwrap_err().contains("'(b)' is not an order of labels"));
    assert!(Scheme::of("a").is_err());
}

/// A simple model: items within items.
#[derive(Clone, Debug)]
struct Item(Vec<Item>);

/// `width_max` applies to the outermost level, the rest to inner ones. A series has at least two
/// items, or none.
fn items(widths: &'static [usize]) -> BoxedStrategy<Vec<Item>> {
    let Some((&width_max, inner)) = widths.split_first() else { return Just(Vec::new()).boxed() };
    let item = prop_oneof![2 => Just(Item(Vec::new())), 1 => items(inner).prop_map(Item)];
    prop_oneof![1 => Just(Vec::new()), 3 => prop::collection::vec(item, 2..=width_max)].boxed()
}

/// Prints the items. A first item may share the line of its parent item.
fn flatten(items: &[Item], depth: usize, scheme: &Scheme, shared: bool, into: &mut Vec<(String, usize, bool)>) {
    for (at, Item(within)) in (1_u16..).zip(items) {
        let style = scheme.levels[depth];
        let letter = |first: u8| char::from(first + (at - 1) as u8).to_string();
        let label = match style.alphabet {
            Alphabet::Number => at.to_string(),
            Alphabet::Small => letter(b'a'),
            Alphabet::Capital => letter(b'A'),
            Alphabet::SmallRoman => to_roman(at).unwrap().to_lowercase(),
            Alphabet::CapitalRoman => to_roman(at).unwrap(),
        };
        match style.form {
            LabelPunctuation::Parentheses if shared && at == 1 && depth > 0 && !style.italic => {
                let line = &mut into.last_mut().unwrap().0;
                line.truncate(line.len() - " x".len());
                line.push_str(&format!("({label}) x"));
            }
            LabelPunctuation::Parentheses => into.push((format!("({label}) x"), depth, style.italic)),
            _ => into.push((format!("{label}. x"), depth, style.italic)),
        }
        flatten(within, depth + 1, scheme, shared, into);
    }
}

fn check(tree: &[Item], scheme: &Scheme, shared: bool, reported: &Scheme) {
    let mut lines = Vec::new();
    flatten(tree, 0, scheme, shared, &mut lines);
    let paragraphs: Vec<Paragraph<'_>> = lines
        .iter()
        .map(|(text, _, italic)| Paragraph { text, italics: if *italic { &[(1, 2)] } else { &[] } })
        .collect();
    let places = infer(&paragraphs, reported);
    for ((text, depth, _), place) in lines.iter().zip(&places) {
        assert_eq!((place.depth, place.label_bytes), (*depth, text.len() - 2), "{text} in {lines:?}");
    }
}

proptest! {
    #[test]
    fn trees_are_found_again_in_their_lines(tree in items(&[5, 4, 4, 3]), which in 0..4_usize, shared: bool) {
        let scheme = Scheme::of(["(a)(1)(i)(A)", "(1)(a)(i)(A)", "A. 1. a. i.", "(A)(1)(a)(i)"][which]).unwrap();
        check(&tree, &scheme, shared, &scheme);
        check(&tree, &scheme, shared, &Scheme::found());
    }

    #[test]
    fn long_series_of_letters_keep_their_numerals_apart(tree in items(&[26, 3, 3, 3, 3, 3])) {
        check(&tree, &Scheme::cfr(), false, &Scheme::cfr());
    }

    #[test]
    fn any_lines_at_all_are_set(lines in prop::collection::vec("[(]?[a-civxlA-C1-3é]{0,3}[).-]{0,2}[( ]?[ab1]?[)]? ?.{0,4}", 0..12)) {
        let text = lines.join("\n");
        let layout = layout_of(&text, &Scheme::cfr());
        prop_assert!(layout.is_empty() || layout.check_against_text(&text).is_none());
    }
}
