//! Checks whether a plan still fits its source, by statistics over all provisions of a source whose
//! importer depends on words that the plan describes.
//!
//! A plan that does not fit fails silently: credits stay in the law, or law ends up in headings and
//! credits. A single section proves nothing, since any section may lack a credit or have a long
//! heading, but many sections together do.

use std::collections::BTreeMap;

use crate::content::Content;
use crate::pattern::Pattern;
use crate::report::{SourcePosition, WarningKind, Warnings};

/// The statistics of the sources being read, by their index in the catalogue.
#[derive(Debug, Default)]
pub(crate) struct PlanFitStats(BTreeMap<u16, SourceFitStats>);

/// Statistics over the provisions in force of one source.
#[derive(Debug, Default)]
struct SourceFitStats {
    first: Option<SourcePosition>,
    provisions: u64,
    with_credit: u64,
    signs: BTreeMap<MisfitSign, (u64, Option<SourcePosition>)>,
}

/// A sign that a plan does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum MisfitSign {
    NoText,
    CreditInLaw,
    LawInHeading,
    LawInCredit,
}

impl MisfitSign {
    const ALL: [Self; 4] = [Self::NoText, Self::CreditInLaw, Self::LawInHeading, Self::LawInCredit];

    fn is_of(self, content: &Content) -> bool {
        let text = content.text.as_deref().unwrap_or_default();
        let credit = content.source_credit.as_deref();
        match self {
            Self::NoText => text.is_empty(),
            Self::CreditInLaw => credit.is_none() && text.lines().last().is_some_and(is_credit),
            Self::LawInHeading => is_law_sentence(&content.heading),
            Self::LawInCredit => credit.is_some_and(|acts| acts.split_whitespace().count() > CREDIT_WORDS_MAX),
        }
    }

    /// How many of this many provisions may have the sign although the plan fits.
    fn accepted(self, provisions: u64) -> u64 {
        match self {
            Self::NoText => (provisions / 50).max(10),
            Self::CreditInLaw | Self::LawInHeading => (provisions / 500).max(5),
            Self::LawInCredit => 0,
        }
    }

    fn described(self) -> &'static str {
        match self {
            Self::NoText => "are in force but have no text",
            Self::CreditInLaw => "end with words that look like a source credit, but have no credit",
            Self::LawInHeading => "have several sentences as their heading",
            Self::LawInCredit => "have a source credit that is too long to be one",
        }
    }
}

/// The longest credits of Washington and South Dakota are shorter.
const CREDIT_WORDS_MAX: usize = 1_000;

/// Whether a last paragraph names acts, in brackets or after a word that introduces a credit.
fn is_credit(line: &str) -> bool {
    let form = Pattern::fixed(concat!(
        r"^(?:(?i:history|source|credits?) ?[:.—-].*\d|[(\[](?:.*\W)?(?:1[789]|20)\d\d\W.*[)\]]\.?$",
        r"|(?:Added|Amended|Enacted) (?:by )?(?:1[789]|20)\d\d\W)",
    ));
    let acts = Pattern::fixed(
        r"(?i)\b(?:§|ch?\.|chs?|sec\.?|ss?\.|no\.|p\.a\.|s\.a\.|acts?|laws?|ord\.|st(?:at)?s?\.|eff)\W?",
    );
    let is_short = line.len() <= 3_000;
    is_short && form.is_match(line) && acts.is_match(line)
}

/// Whether a heading contains several sentences and a verb typical of law. Real headings have neither.
fn is_law_sentence(heading: &str) -> bool {
    let sentence = Pattern::fixed(r#"[a-z)”"]{2}\.["”)]* +["“(\[]?[A-Z]"#);
    let verb = Pattern::fixed(r"\b(?:shall|must|may|means)\b");
    heading.len() > 150 && sentence.is_match(heading) && verb.is_match(heading)
}

impl PlanFitStats {
    /// Counts a provision of a source that is read with patterns from its plan.
    pub(crate) fn count(&mut self, content: &Content, position: &SourcePosition) {
        if content.text_of_law().is_none() {
            return;
        }
        let fit = self.0.entry(content.source).or_default();
        fit.first.get_or_insert_with(|| SourcePosition { file: position.file.clone(), line: None });
        fit.provisions += 1;
        fit.with_credit += u64::from(content.source_credit.is_some());
        for sign in MisfitSign::ALL.into_iter().filter(|sign| sign.is_of(content)) {
            let (count, first) = fit.signs.entry(sign).or_default();
            *count += 1;
            first.get_or_insert_with(|| position.clone());
        }
    }

    /// Warns of each source whose statistics show that its plan does not fit, and clears all statistics.
    pub(crate) fn report(&mut self, warnings: &mut Warnings) {
        for fit in std::mem::take(&mut self.0).into_values() {
            fit.report(warnings);
        }
    }
}

impl SourceFitStats {
    fn report(self, warnings: &mut Warnings) {
        /// Fewer provisions prove nothing.
        const PROVISIONS_MIN: u64 = 50;
        /// A constitution has no credits; a code of this length does.
        const WHOLE_CODE: u64 = 1_000;
        let all = self.provisions;
        let Some(start) = self.first.filter(|_| all >= PROVISIONS_MIN) else { return };
        let in_law = self.signs.contains_key(&MisfitSign::CreditInLaw);
        if self.with_credit * 2 < all && (in_law || self.with_credit > 0 || all >= WHOLE_CODE) {
            let what = format!(
                "{} of {all} provisions in force have a source credit; the option 'credit' of the plan may not fit this source",
                self.with_credit
            );
            warnings.add(WarningKind::PoorFit, &start, what);
        }
        for (sign, (count, first)) in self.signs {
            if count > sign.accepted(all) {
                let what = format!(
                    "{count} of {all} provisions {}; this is the first one; the plan may not fit this source",
                    sign.described()
                );
                warnings.add(WarningKind::PoorFit, first.as_ref().unwrap_or(&start), what);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use hornbook_corpus::outline::Status;

    use super::*;

    fn section(number: u32, text: &str, credit: Option<&str>) -> (Content, SourcePosition) {
        let content = Content {
            heading: "Dogs.".into(),
            text: Some(text.into()),
            status: Some(Status::InForce),
            source_credit: credit.map(str::to_owned),
            ..Content::default()
        };
        (content, SourcePosition { file: "a.json".into(), line: Some(number) })
    }

    fn warned(sections: impl IntoIterator<Item = (Content, SourcePosition)>) -> Vec<String> {
        let (mut fits, mut warnings) = (PlanFitStats::default(), Warnings::default());
        for (content, position) in sections {
            fits.count(&content, &position);
        }
        fits.report(&mut warnings);
        warnings.into_parts().0.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_source_that_its_plan_fits_gives_no_warning() {
        assert_eq!(warned((0..100).map(|n| section(n, "No dog barks.", Some("SL 1980, ch 1.")))), [""; 0]);
        // Few provisions prove nothing.
        assert_eq!(warned((0..49).map(|n| section(n, "", None))), [""; 0]);
    }

    #[test]
    fn credits_that_stay_in_the_law_are_counted() {
        let credit = "No dog barks.\nHISTORY: Added 1985, No. 12, § 1.";
        let found = warned((0..100).map(|n| section(n, credit, None)));
        assert!(found[0].starts_with("a.json: 0 of 100 provisions in force have a source credit;"), "{found:?}");
        assert!(found[1].starts_with("a.json:0: 100 of 100 provisions end with words that look like"), "{found:?}");
        assert_eq!(found.len(), 2);
        let few = (0..1_000).map(|n| section(n, if n < 6 { credit } else { "None." }, (n >= 6).then_some("SL 1980.")));
        assert!(warned(few).concat().contains("6 of 1000 provisions end with words"));
        for line in ["(P.A. 85-2, S. 3; Sept. 1993, S.A. 93-1.)", "[18-57, added 1972, ch. 336, sec. 1, p. 954.]"] {
            assert!(is_credit(line), "{line}");
        }
        for line in ["(a) The report of 1999 shall be kept.", "The Laws of 1999 apply.", "History of dogs."] {
            assert!(!is_credit(line), "{line}");
        }
    }

    #[test]
    fn law_in_headings_and_credits_and_missing_texts_are_counted() {
        let heading =
            format!("SHORT TITLE. This act may be cited as the Dog Act. {}", "It is an act on dogs. ".repeat(10));
        let in_heading = (0..100).map(|n| {
            let (content, position) = section(n, "", Some("SL 1980, ch 1."));
            (Content { heading: heading.clone(), ..content }, position)
        });
        let found = warned(in_heading).concat();
        assert!(found.contains("100 of 100 provisions are in force but have no text"), "{found}");
        assert!(found.contains("100 of 100 provisions have several sentences as their heading"), "{found}");
        let long = "word ".repeat(1_001);
        let credits = (0..100).map(|n| section(n, "None.", Some(if n == 7 { &long } else { "SL 1980, ch 1." })));
        assert!(
            warned(credits).concat().contains("a.json:7: 1 of 100 provisions have a source credit that is too long")
        );
    }
}
