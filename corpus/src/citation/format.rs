//! The canonical form of a citation. Parsing it gives the same citation.

use hornbook_base::roman::{READ_MAX, to_roman};

use super::forms::{CodeCitationForm, ConstitutionStyle, TitlePlace};
use super::grammar::Grammar;
use super::value::{Citation, ConstitutionUnit, Locator, Unit, WordingKind};

impl Grammar {
    /// The canonical form: `42 U.S.C. § 1983(b)`, `Cal. Penal Code § 187`, `U.S. Const. art. I, § 8`. Empty if this
    /// grammar does not contain the citation's body.
    pub fn format(&self, citation: &Citation) -> String {
        let mut text = String::with_capacity(40);
        if let Some(form) = self.forms.row(citation.body) {
            write_citation(&mut text, form, citation);
        }
        text
    }
}

fn write_citation(text: &mut String, form: &CodeCitationForm, citation: &Citation) {
    let title = form.title.as_ref().zip(citation.title.as_deref());
    if let Some((rule, title)) = title
        && rule.place == TitlePlace::Before
    {
        text.push_str(title);
        text.push(' ');
    }
    text.push_str(&form.printed);
    if citation.appendix {
        text.push_str(" App.");
    }
    if let Some((rule, title)) = title
        && let TitlePlace::After(word) = &rule.place
    {
        text.push_str(word);
        text.push_str(title);
        text.push(',');
    }
    match &citation.place {
        Locator::Numbered { unit, number, last, wording } => {
            text.push(' ');
            text.push_str(mark(form, *unit, number, last.is_some()));
            text.push_str(number);
            if let Some(last) = last {
                text.push_str(" to ");
                text.push_str(last);
            }
            if *wording == Some(WordingKind::Permanent) {
                text.push_str("(Perm)");
            }
        }
        Locator::Constitution(parts) => {
            let style = form.constitution.unwrap_or(ConstitutionStyle {
                arabic_articles: false,
                roman_sections: false,
                sections_alone: false,
            });
            write_parts(text, parts, style);
        }
    }
    write_subdivisions(text, form, citation);
    if citation.note {
        text.push_str(" note");
    }
}

fn mark<'f>(form: &'f CodeCitationForm, unit: Unit, number: &str, is_range: bool) -> &'f str {
    match (unit, &*form.mark, is_range) {
        (Unit::Part, _, false) => "pt. ",
        (Unit::Part, _, true) => "pts. ",
        (Unit::Chapter, _, false) => "ch. ",
        (Unit::Chapter, _, true) => "chs. ",
        // Without a section sign, a number of an unusual shape would not be parsed again.
        (Unit::Section, "", false) if !form.shape.fits_text(number) => "§ ",
        (Unit::Section, "", true) if !form.shape.fits_text(number) => "§§ ",
        (Unit::Section, "§ ", true) => "§§ ",
        (Unit::Section, "art. ", true) => "arts. ",
        (Unit::Section, mark, _) => mark,
    }
}

fn write_parts(text: &mut String, parts: &[(ConstitutionUnit, Box<str>)], style: ConstitutionStyle) {
    // The articles of a declaration of rights have plain numbers.
    let in_declaration = parts.first().is_some_and(|(unit, _)| *unit == ConstitutionUnit::DeclarationOfRights);
    for (index, (unit, value)) in parts.iter().enumerate() {
        text.push_str(if index == 0 { " " } else { ", " });
        text.push_str(match unit {
            ConstitutionUnit::Preamble => "pmbl.",
            ConstitutionUnit::DeclarationOfRights => "Decl. of Rts.",
            ConstitutionUnit::BillOfRights => "Bill of Rts.",
            ConstitutionUnit::Chapter => "ch. ",
            ConstitutionUnit::Part => "pt. ",
            ConstitutionUnit::Article => "art. ",
            ConstitutionUnit::Amendment => "amend. ",
            ConstitutionUnit::Section => "§ ",
            ConstitutionUnit::Clause => "cl. ",
            ConstitutionUnit::Paragraph => "para. ",
        });
        let is_roman =
            matches!(unit, ConstitutionUnit::Article | ConstitutionUnit::Amendment | ConstitutionUnit::Chapter)
                && !style.arabic_articles
                && !in_declaration;
        if is_roman { write_roman(text, value) } else { text.push_str(value) }
    }
}

/// Writes `13A` as `XIII A`.
fn write_roman(text: &mut String, value: &str) {
    let digits = value.bytes().take_while(u8::is_ascii_digit).count();
    let (number, letters) = value.split_at(digits);
    let numeral = number.parse().ok().filter(|number| *number <= READ_MAX).and_then(to_roman);
    match numeral.filter(|_| letters.len() <= 1) {
        Some(numeral) => {
            text.push_str(&numeral);
            if !letters.is_empty() {
                text.push(' ');
                text.push_str(letters);
            }
        }
        None => text.push_str(value),
    }
}

fn write_subdivisions(text: &mut String, form: &CodeCitationForm, citation: &Citation) {
    let is_section = matches!(citation.place, Locator::Numbered { unit: Unit::Section, last: None, wording: None, .. });
    for (index, subdivision) in citation.subdivisions.iter().enumerate() {
        let is_capital = subdivision.len() == 1 && subdivision.bytes().all(|byte| byte.is_ascii_uppercase());
        let takes_capital = form.shape.takes_capital(citation.number().unwrap_or(""));
        let is_number = subdivision.bytes().next().is_some_and(|byte| byte.is_ascii_digit());
        if index == 0 && form.subd && is_number {
            text.push_str(", subd. ");
            text.push_str(subdivision);
        } else if index == 0 && takes_capital && is_capital && is_section {
            text.push_str(subdivision);
        } else if index == 0 && form.shape.dot_is_subdivision && is_section && is_number {
            text.push('.');
            text.push_str(subdivision);
        } else {
            text.push('(');
            text.push_str(subdivision);
            text.push(')');
        }
    }
}
