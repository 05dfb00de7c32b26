//! Tests that trees are in code order, in whatever order their nodes arrive.

use hornbook_corpus::outline::Status;
use proptest::prelude::*;

use super::*;
use crate::content::Content;
use crate::wordings;

fn node(name: &str, parent: Option<&str>, number: &str, is_provision: bool) -> NewNode {
    NewNode {
        handle: NodeHandle::new("b", name),
        parent: parent.map(|parent| NodeHandle::new("b", parent)),
        key: format!("b/{name}"),
        sort: if is_provision { SortKey::of_number(number) } else { SortKey::default() },
        on_repeat: OnRepeat::Refuse,
        content: Content {
            text: is_provision.then(|| format!("Text of {name}.")),
            parent_key: parent.map(str::to_owned),
            ..Content::default()
        },
        position: SourcePosition { file: "f.jsonl".into(), line: Some(7) },
    }
}

fn keys(nodes: Vec<NewNode>) -> Result<Vec<String>, String> {
    let dir = tempfile::tempdir().unwrap();
    let mut gatherer = Gatherer::new(dir.path()).unwrap();
    let mut mistakes = Mistakes::default();
    for node in nodes {
        gatherer.add(node, &mut mistakes).unwrap();
    }
    let tree = gatherer.finish_body(&mut Warnings::default(), &mut mistakes).unwrap();
    if !mistakes.is_empty() {
        return Err(mistakes.to_string());
    }
    Ok(tree.into_iter().map(|node| node.key).collect())
}

#[test]
fn containers_sort_like_their_first_provision() {
    let nodes = vec![
        node("ch-two", None, "", false),
        node("s2-1", Some("ch-two"), "2-1", true),
        node("ch-one", None, "", false),
        node("s1-10", Some("ch-one"), "1-10", true),
        node("s1-9", Some("ch-one"), "1-9", true),
    ];
    assert_eq!(keys(nodes).unwrap(), ["b/ch-one", "b/s1-9", "b/s1-10", "b/ch-two", "b/s2-1"]);
}

#[test]
fn broken_trees_are_reported_with_their_position() {
    let twice = vec![node("a", None, "1", true), node("a", None, "1", true)];
    assert!(keys(twice).unwrap_err().contains("f.jsonl:7: the key 'b/a' is already used at f.jsonl:7"));
    let orphans = vec![
        node("a", Some("nobody"), "1", false),
        node("below", Some("a"), "1", true),
        node("b", Some("no-one"), "1", true),
    ];
    let message = keys(orphans).unwrap_err();
    assert!(message.starts_with("2 errors"), "{message}");
    assert!(message.contains("the parent 'nobody' of 'b/a' does not exist"), "{message}");
    assert!(message.contains("the parent 'no-one' of 'b/b' does not exist"), "{message}");
    let circle = vec![node("a", Some("b"), "", false), node("b", Some("a"), "", false)];
    assert!(keys(circle).unwrap_err().contains("its own ancestor"));
    let deep: Vec<_> =
        (0..70).map(|n| node(&format!("n{n}"), (n > 0).then(|| format!("n{}", n - 1)).as_deref(), "", false)).collect();
    assert!(keys(deep).unwrap_err().contains("more than 64 levels"));
}

proptest! {
    #[test]
    fn the_order_nodes_arrive_in_changes_nothing(
        parents in proptest::collection::vec(any::<prop::sample::Index>(), 1..40),
        shuffle in any::<u64>(),
    ) {
        let build = |order: Vec<usize>| {
            let nodes = order.into_iter().map(|n| {
                let parent = (n > 0).then(|| parents[n].index(n + 1)).filter(|&p| p < n && p % 3 != 0);
                let parent = parent.map(|p| format!("n{p}"));
                node(&format!("n{n}"), parent.as_deref(), &format!("{}", (n * 7) % 11), n % 3 == 0)
            });
            keys(nodes.collect()).unwrap()
        };
        let straight: Vec<usize> = (0..parents.len()).collect();
        let mut shuffled = straight.clone();
        shuffled.sort_by_key(|&n| (n as u64 + 1).wrapping_mul(shuffle | 1).rotate_left(17));
        prop_assert_eq!(build(straight), build(shuffled));
    }
}

/// The day on which each provision ends, the status from then on, and the warnings.
fn ends(provisions: &[(&str, &str, &str)]) -> (Vec<String>, String) {
    let within = |name: &str, parent: Option<&str>, level: &str, text: &str| {
        let mut node = node(name, parent, "1", !text.is_empty());
        node.content.level = level.to_owned();
        node.content.number = Some(name.to_owned());
        node.content.citation = format!("Code § {name}");
        node.content.text = Some(text.to_owned()).filter(|text| !text.is_empty());
        node
    };
    let containers = [
        within("title", None, "title", ""),
        within("chapter", Some("title"), "chapter", ""),
        within("first", Some("chapter"), "subchapter", ""),
        within("second", Some("chapter"), "subchapter", ""),
    ];
    let provisions = provisions.iter().map(|(name, parent, text)| within(name, Some(parent), "section", text));
    let dir = tempfile::tempdir().unwrap();
    let mut gatherer = Gatherer::new(dir.path()).unwrap();
    let (mut warnings, mut mistakes) = (Warnings::default(), Mistakes::default());
    for node in containers.into_iter().chain(provisions) {
        gatherer.add(node, &mut mistakes).unwrap();
    }
    let tree = gatherer.finish_body(&mut warnings, &mut mistakes).unwrap();
    let spool = gatherer.into_spool();
    let mut ends: Vec<String> = tree
        .iter()
        .filter(|node| node.is_provision)
        .map(|node| {
            let time = wordings::time_of(&node.content.read(&spool).unwrap());
            let then = time.then.map_or("", Status::as_str);
            format!("{} {} {then}", &node.key[2..], time.to.as_deref().unwrap_or("never"))
        })
        .collect();
    ends.sort();
    (ends, format!("{warnings:?}"))
}

#[test]
fn a_provision_may_end_the_container_that_it_is_in() {
    let (ends, warnings) = ends(&[
        ("a", "chapter", "This chapter shall expire on September 30, 2014."),
        ("b", "first", "Law of the chapter."),
        ("c", "first", "This section shall expire on July 1, 2012."),
        ("d", "title", "Law of the title."),
    ]);
    assert_eq!(ends, ["a 2014-09-30 expired", "b 2014-09-30 expired", "c 2012-07-01 expired", "d never "]);
    assert!(!warnings.contains("This chapter shall expire"), "{warnings}");
}

#[test]
fn how_much_ends_is_uncertain_where_the_sentence_names_an_outer_container() {
    let (ends, warnings) = ends(&[
        ("a", "first", "(b) This chapter is repealed effective July 1, 2023."),
        ("b", "second", "Law of the chapter."),
        ("c", "title", "This subpart shall expire on July 1, 2012."),
    ]);
    assert_eq!(ends, ["a 2023-07-01 uncertain", "b 2023-07-01 uncertain", "c never "]);
    assert!(warnings.contains("how much of the law around it ends") && warnings.contains("nothing ends"), "{warnings}");
}

#[test]
fn sentences_that_end_one_container_on_several_days_mean_only_what_is_directly_around_them() {
    let (ends, _) = ends(&[
        ("a", "first", "This chapter shall expire on September 30, 2014."),
        ("b", "second", "This chapter shall expire on September 30, 2016."),
        ("c", "second", "Law of the second."),
        ("d", "chapter", "Law of the chapter."),
    ]);
    assert_eq!(ends, ["a 2014-09-30 uncertain", "b 2016-09-30 uncertain", "c 2016-09-30 uncertain", "d never "]);
}

#[test]
fn a_provision_may_end_sections_and_containers_by_their_numbers() {
    let (ends, warnings) = ends(&[
        (
            "63-1",
            "title",
            "(1) Section 63-2, Comparison, is repealed July 1, 2023.\n(2) Subsection 63-3(2) is repealed July 1, 2024.",
        ),
        ("63-1-1", "title", "Sections 64-1-2 through 64-1-9 are repealed July 1, 2025."),
        ("64-1-1", "second", "Law."),
        ("64-1-2", "second", "Law."),
        ("64-1-8.5", "second", "Law."),
        ("64-1-9", "second", "Law."),
        ("63-2", "first", "Law of the chapter."),
        ("63-3", "second", "Law of the chapter."),
        (
            "63-4",
            "title",
            "Section 63-9 is repealed July 1, 2023.\nThe Board, created in Section 63-2, is repealed July 1, 2025.",
        ),
    ]);
    assert_eq!(
        ends,
        [
            "63-1 never ",
            "63-1-1 never ",
            "63-2 2023-07-01 repealed",
            "63-3 2024-07-01 uncertain",
            "63-4 never ",
            "64-1-1 never ",
            "64-1-2 2025-07-01 repealed",
            "64-1-8.5 2025-07-01 repealed",
            "64-1-9 2025-07-01 repealed"
        ]
    );
    for warning in ["'Section 63-9 is repealed July 1, 2023': no law", "'The Board, created in Section 63-2, is"] {
        assert!(warnings.contains(warning), "{warnings}");
    }
}
