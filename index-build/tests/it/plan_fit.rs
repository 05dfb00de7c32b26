//! A plan that no longer fits its release is warned of, with figures.

use hornbook_index_build::report::WarningKind;

use crate::state_plans::statutes;

/// The warnings about sections of South Dakota with this credit. The plan expects `Source:` or `History:`.
fn misfits(credit: &str) -> Vec<String> {
    let text = |number: &str| format!("{number}. Dogs.\n\nA dog is licensed.\n\n{credit}");
    let numbers: Vec<String> = (1..=60).map(|number| format!("1-2A-{number}")).collect();
    let sections: Vec<(String, String)> = numbers.iter().map(|number| (number.clone(), text(number))).collect();
    let entries: Vec<(&str, &str, &str)> =
        sections.iter().map(|(number, text)| (&**number, "Dogs.", &**text)).collect();
    let imported = statutes("SD", "title-title-1-state/chapter-chapter-02a-lines", &entries);
    let warnings = imported.warnings.iter().filter(|warning| warning.kind == WarningKind::PoorFit);
    warnings.map(ToString::to_string).collect()
}

#[test]
fn a_release_that_writes_its_credits_differently_is_warned_of_with_figures() {
    assert_eq!(misfits("Source: SL 1980, ch 1."), [] as [&str; 0]);
    let warned = misfits("Enacted 1980, ch. 1, § 2.");
    let [credits, law] = warned.as_slice() else { panic!("{warned:#?}") };
    assert!(credits.contains("0 of 60 provisions in force have a source credit"), "{credits}");
    assert!(law.contains("60 of 60 provisions end with words that look like a source credit"), "{law}");
    assert!(warned.iter().all(|warning| warning.contains("content/a.json")), "{warned:#?}");
}
