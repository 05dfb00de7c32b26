//! What an edition ships if one provision in a hundred is amended: a guard for the figures in FORMAT.md, which are of real
//! law.

use hornbook_base::random::SplitMix64;

use super::*;
use crate::index::BlockCoding;

const PROVISIONS: usize = 3000;

/// A sentence of made-up words, of which some are frequent and most are rare, as in law.
fn sentence(random: &mut SplitMix64) -> String {
    let mut out = String::new();
    for _ in 0..8 + random.below(20) {
        let frequent = ["the", "of", "shall", "any", "person", "license", "section", "department"];
        match random.below(3) {
            0 => out += frequent[random.index(frequent.len())],
            _ => {
                // The square makes low numbers frequent.
                let rank = random.below(90) * random.below(90);
                out += &format!("{}{}", ["lex", "tort", "deed", "writ"][(rank % 4) as usize], letters(rank));
            }
        }
        out.push(' ');
    }
    out.trim_end().to_owned() + ". "
}

fn letters(mut number: u64) -> String {
    let mut out = String::new();
    while number > 0 {
        out.push(char::from(b'a' + (number % 26) as u8));
        number /= 26;
    }
    out
}

#[test]
fn an_edition_with_one_provision_in_a_hundred_amended_ships_a_small_part() {
    let dir = tempfile::tempdir().unwrap();
    let mut random = SplitMix64(1);
    let mut texts: Vec<String> =
        (0..PROVISIONS).map(|_| (0..2 + random.below(12)).map(|_| sentence(&mut random)).collect()).collect();
    let old = built(&dir.path().join("old"), &texts);
    for _ in 0..PROVISIONS / 100 {
        let amended = random.index(PROVISIONS);
        let end = texts[amended].find(". ").unwrap() + 2;
        texts[amended].replace_range(..end, &sentence(&mut random));
    }
    let new = built(&dir.path().join("new"), &texts);
    let complete = packed(&new, None, &dir.path().join("complete.pack"));
    let changes = packed(&new, Some(&old), &dir.path().join("changes.pack"));
    let share = 100.0 * changes.bytes as f64 / complete.bytes as f64;
    println!("{} of {} bytes, {share:.1} %", changes.bytes, complete.bytes);
    let codings = || changes.index.blocks.iter().filter_map(|block| block.packed()).map(|packed| packed.coding);
    assert!(codings().filter(|coding| matches!(coding, BlockCoding::Patched { .. })).count() > 10);
    assert!(codings().filter(|coding| matches!(coding, BlockCoding::Shifted { .. })).count() > 5);
    assert!(codings().any(|coding| matches!(coding, BlockCoding::Regrouped { .. })));
    assert!(share < 7.0, "{share:.1} %");
    unpacked(&dir.path().join("changes.pack"), &dir.path().join("again"), Some(&old)).unwrap();
    assert_eq!(contents(&dir.path().join("again")), contents(&new));
}
