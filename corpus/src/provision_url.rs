//! Templates for the address of a provision at its publisher, such as
//! `https://law.example/title-{title}/section-{number}`.

use serde::{Deserialize, Serialize};

use crate::citation::{Citation, Locator, Unit};

/// One or more templates that were checked. A provision has the address of the first that fits it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "WrittenTemplates", into = "WrittenTemplates")]
pub struct ProvisionUrl(Vec<UrlTemplate>);

/// One template as a string, several as a list.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum WrittenTemplates {
    One(String),
    Several(Vec<String>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct UrlTemplate {
    text: String,
    pieces: Vec<Piece>,
}

/// A template that is the address of the page.
const PAGE: &str = "{page}";

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Literal(String),
    /// A value from the provision, with its leading digits padded with zeros to this many digits.
    Value {
        field: UrlField,
        digits: usize,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum UrlField {
    Number,
    /// The part of the number with this place, counted from 1, between hyphens.
    NumberPart(usize),
    /// The number with hyphens in place of its full stops.
    HyphenatedNumber,
    /// The title in the citation.
    Title,
    /// The number of the container of this level.
    Container(String),
    /// The address of the publisher's page that the text was read from.
    Page,
}

/// Why a template cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidProvisionUrl {
    #[error(
        "provision_url cannot be used: it must be an address that begins with https:// or http://, without spaces, quotation marks or angle brackets"
    )]
    NoAddress,
    #[error(
        "provision_url cannot be used: in braces there may be {{number}}, a part of it such as {{number.1}}, {{number-}}, or a level such as {{title}}, each with a width such as {{number:5}}; {{page}} is the whole address"
    )]
    UnknownField,
    #[error(
        "provision_url cannot be used: it must contain {{number}} or the last of its parts, or several provisions would have one address"
    )]
    NoNumber,
    #[error("provision_url cannot be used: the list is empty")]
    NoTemplate,
}

impl From<ProvisionUrl> for WrittenTemplates {
    fn from(url: ProvisionUrl) -> Self {
        let mut texts: Vec<String> = url.0.into_iter().map(|template| template.text).collect();
        if texts.len() == 1 { Self::One(texts.remove(0)) } else { Self::Several(texts) }
    }
}

impl TryFrom<WrittenTemplates> for ProvisionUrl {
    type Error = InvalidProvisionUrl;

    fn try_from(written: WrittenTemplates) -> Result<Self, InvalidProvisionUrl> {
        let texts = match written {
            WrittenTemplates::One(text) => vec![text],
            WrittenTemplates::Several(texts) if texts.is_empty() => return Err(InvalidProvisionUrl::NoTemplate),
            WrittenTemplates::Several(texts) => texts,
        };
        texts.into_iter().map(UrlTemplate::try_from).collect::<Result<_, _>>().map(Self)
    }
}

impl TryFrom<String> for UrlTemplate {
    type Error = InvalidProvisionUrl;

    fn try_from(text: String) -> Result<Self, InvalidProvisionUrl> {
        let mut pieces = Vec::new();
        let mut rest = text.as_str();
        while let Some((literal, field)) = rest.split_once('{') {
            let (field, after) = field.split_once('}').ok_or(InvalidProvisionUrl::UnknownField)?;
            pieces.extend([Piece::Literal(literal.to_owned()), Piece::field(field)?]);
            rest = after;
        }
        pieces.push(Piece::Literal(rest.to_owned()));
        let literals = pieces.iter().filter_map(|piece| match piece {
            Piece::Literal(text) => Some(text.bytes()),
            Piece::Value { .. } => None,
        });
        let is_graphic = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'}' | b'"' | b'<' | b'>');
        let is_web = text.starts_with("https://") || text.starts_with("http://") || text == PAGE;
        if !is_web || !literals.flatten().all(is_graphic) {
            return Err(InvalidProvisionUrl::NoAddress);
        }
        let made = Self { text, pieces };
        if made.text != PAGE && made.fields().any(|field| *field == UrlField::Page) {
            return Err(InvalidProvisionUrl::UnknownField);
        }
        let names_provision =
            |field: &UrlField| matches!(field, UrlField::NumberPart(2..) | UrlField::Page) || field.is_whole_number();
        if made.fields().any(names_provision) { Ok(made) } else { Err(InvalidProvisionUrl::NoNumber) }
    }
}

impl Piece {
    fn field(text: &str) -> Result<Self, InvalidProvisionUrl> {
        const DIGITS_MAX: usize = 9;
        let (name, digits) = match text.split_once(':') {
            None => (text, 0),
            Some((name, digits)) => {
                let digits = digits.parse().ok().filter(|digits| (1..=DIGITS_MAX).contains(digits));
                (name, digits.ok_or(InvalidProvisionUrl::UnknownField)?)
            }
        };
        let field = match name.split_once('.') {
            None if name == "number" => UrlField::Number,
            None if name == "number-" => UrlField::HyphenatedNumber,
            None if text == "page" => UrlField::Page,
            None if name == "title" => UrlField::Title,
            None if !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase()) => {
                UrlField::Container(name.to_owned())
            }
            Some(("number", place)) => {
                let place = place.parse().ok().filter(|place| (1..=DIGITS_MAX).contains(place));
                UrlField::NumberPart(place.ok_or(InvalidProvisionUrl::UnknownField)?)
            }
            _ => return Err(InvalidProvisionUrl::UnknownField),
        };
        Ok(Self::Value { field, digits })
    }
}

impl UrlField {
    fn is_whole_number(&self) -> bool {
        matches!(self, Self::Number | Self::HyphenatedNumber)
    }
}

impl ProvisionUrl {
    /// The address of the section with this citation. `container` gives the number of its container of a
    /// level, `page` is the address that it was read from. `None` if no template fits: appendices, ranges and parts
    /// have no address, nor has
    /// a number of other parts or without the digits that are padded.
    pub fn address(
        &self,
        citation: &Citation,
        container: impl Fn(&str) -> Option<String>,
        page: Option<&str>,
    ) -> Option<String> {
        self.0.iter().find_map(|template| template.address(citation, &container, page))
    }

    /// Whether an address depends on the containers of the provision.
    pub fn has_containers(&self) -> bool {
        self.0.iter().flat_map(UrlTemplate::fields).any(|field| matches!(field, UrlField::Container(_)))
    }
}

impl UrlTemplate {
    fn address(
        &self,
        citation: &Citation,
        container: impl Fn(&str) -> Option<String>,
        page: Option<&str>,
    ) -> Option<String> {
        let Locator::Numbered { unit: Unit::Section, number, last: None, .. } = &citation.place else { return None };
        if citation.appendix || !self.fits_parts_of(number) {
            return None;
        }
        let mut address = String::new();
        for piece in &self.pieces {
            let (field, digits) = match piece {
                Piece::Literal(text) => {
                    address.push_str(text);
                    continue;
                }
                Piece::Value { field, digits } => (field, *digits),
            };
            let value = match field {
                UrlField::Number => number.to_string(),
                UrlField::HyphenatedNumber => number.replace('.', "-"),
                UrlField::NumberPart(place) => number.split('-').nth(place - 1)?.to_owned(),
                UrlField::Title => citation.title.as_deref()?.to_owned(),
                UrlField::Container(level) => container(level)?,
                UrlField::Page => return page.map(str::to_owned),
            };
            address.push_str(&percent_encode(&padded(value, digits)?));
        }
        Some(address)
    }

    fn fields(&self) -> impl Iterator<Item = &UrlField> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Value { field, .. } => Some(field),
            Piece::Literal(_) => None,
        })
    }

    /// Whether the number has the parts that the template names, and no others unless the whole number is in it too.
    fn fits_parts_of(&self, number: &str) -> bool {
        let places = self.fields().filter_map(|field| match field {
            UrlField::NumberPart(place) => Some(*place),
            _ => None,
        });
        let Some(last) = places.max() else { return true };
        let parts = number.split('-').count();
        parts == last || (parts > last && self.fields().any(UrlField::is_whole_number))
    }
}

/// A number whose leading digits are padded: `4451a` as `04451a`. Only digits with letters behind them can be padded.
fn padded(number: String, digits: usize) -> Option<String> {
    if digits == 0 {
        return Some(number);
    }
    let leading = number.bytes().take_while(u8::is_ascii_digit).count();
    let is_plain = leading > 0 && number[leading..].bytes().all(|byte| byte.is_ascii_alphabetic());
    is_plain.then(|| format!("{}{number}", "0".repeat(digits.saturating_sub(leading))))
}

/// Percent-encodes a number for use in a URL.
fn percent_encode(number: &str) -> String {
    let mut out = String::with_capacity(number.len());
    for byte in number.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b':' | b',' => {
                out.push(char::from(byte));
            }
            other => out.push_str(&format!("%{other:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::citation::Grammar;

    fn read(written: &str) -> Result<ProvisionUrl, InvalidProvisionUrl> {
        WrittenTemplates::One(written.to_owned()).try_into()
    }

    fn in_chapter(template: &str, citation: &str, chapter: Option<&str>) -> Option<String> {
        let template = read(template).unwrap();
        let citation = Grammar::built_in().parse(citation).unwrap();
        template.address(&citation, |level| chapter.filter(|_| level == "chapter").map(str::to_owned), None)
    }

    fn address(template: &str, citation: &str) -> Option<String> {
        in_chapter(template, citation, None)
    }

    #[test]
    fn an_address_has_the_number_and_title_of_its_citation() {
        let code = "https://law.example/title-{title}/section-{number}";
        assert_eq!(
            address(code, "42 U.S.C. § 300aa-1(b)").as_deref(),
            Some("https://law.example/title-42/section-300aa-1")
        );
        assert_eq!(
            address("https://x.example/{number}/", "Va. Code § 13.1-345").as_deref(),
            Some("https://x.example/13.1-345/")
        );
        assert_eq!(
            address("https://x.example/{number}", "735 ILCS 5/2-1401").as_deref(),
            Some("https://x.example/5%2F2-1401")
        );
        // The template does not fit appendices, ranges, parts and constitutions, nor a state's section without a title.
        for other in [
            "5 U.S.C. App. § 3",
            "2 U.S.C. §§ 293a to 293c",
            "12 C.F.R. pt. 1026",
            "U.S. Const. art. I",
            "RCW 59.18.010",
        ] {
            assert_eq!(address(code, other), None, "{other}");
        }
    }

    #[test]
    fn an_address_may_have_containers_and_padded_digits() {
        let code = "https://x.example/{title:2}/{chapter:3}/{number:5}";
        assert_eq!(
            in_chapter(code, "9 V.S.A. § 4451a", Some("137")).as_deref(),
            Some("https://x.example/09/137/04451a")
        );
        assert_eq!(in_chapter(code, "32 V.S.A. § 1", Some("5A")).as_deref(), Some("https://x.example/32/005A/00001"));
        assert_eq!(in_chapter(code, "9 V.S.A. § 4451a", None), None, "it has no chapter");
        assert_eq!(in_chapter(code, "9A V.S.A. § 2-316", Some("2")), None, "what is padded in '2-316' is unknown");
    }

    #[test]
    fn an_address_may_have_the_parts_of_a_number() {
        let code = "https://x.example/Title{number.1}/Chapter{number.2}/{number.1}-{number.2}-S{number.3}.html";
        assert_eq!(
            address(code, "Utah Code § 78B-4-702.5").as_deref(),
            Some("https://x.example/Title78B/Chapter4/78B-4-S702.5.html")
        );
        assert_eq!(address(code, "Utah Code § 78B-4"), None);
        assert_eq!(address(code, "Utah Code § 78B-4-702-1"), None);
    }

    #[test]
    fn a_part_beside_the_whole_number_fits_numbers_of_more_parts() {
        let code = "https://x.example/Title{number.1}/T{number.1}CH{chapter}/SECT{number}";
        let address = |citation| in_chapter(code, citation, Some("1"));
        assert_eq!(address("Idaho Code § 6-303").as_deref(), Some("https://x.example/Title6/T6CH1/SECT6-303"));
        assert_eq!(address("Idaho Code § 28-1-101").as_deref(), Some("https://x.example/Title28/T28CH1/SECT28-1-101"));
    }

    #[test]
    fn the_page_that_the_text_was_read_from_may_be_the_publishers() {
        let template = read("{page}").unwrap();
        let at = |citation: &str, page| template.address(&Grammar::built_in().parse(citation).unwrap(), |_| None, page);
        let page = "https://x.example/HRS_0006E-0043_0006.htm";
        assert_eq!(at("Haw. Rev. Stat. § 6E-43.6", Some(page)).as_deref(), Some(page));
        assert_eq!(at("Haw. Rev. Stat. § 6E-43.6", None), None);
        assert_eq!(at("Haw. Rev. Stat. ch. 6E", Some(page)), None);
    }

    #[test]
    fn a_number_may_have_hyphens_for_its_full_stops() {
        let code = "https://x.example/mcl-{number-}";
        assert_eq!(address(code, "MCL 750.81a").as_deref(), Some("https://x.example/mcl-750-81a"));
    }

    #[test]
    fn the_first_template_that_fits_gives_the_address() {
        let written = r#"["https://x.example/{title:2}/{chapter:3}/{number:5}", "https://x.example/{title:2}/{number.1:3}/{number.2:5}"]"#;
        let code: ProvisionUrl = serde_json::from_str(written).unwrap();
        let address = |citation: &str, chapter: Option<&str>| {
            let citation = Grammar::built_in().parse(citation).unwrap();
            code.address(&citation, |level| chapter.filter(|_| level == "chapter").map(str::to_owned), None)
        };
        assert_eq!(address("9 V.S.A. § 4451a", Some("137")).as_deref(), Some("https://x.example/09/137/04451a"));
        assert_eq!(address("9A V.S.A. § 2-316", None).as_deref(), Some("https://x.example/09A/002/00316"));
        assert_eq!(address("9 V.S.A. § 4451a", None), None);
        assert_eq!(serde_json::to_string(&code).unwrap(), written.replace(", ", ","));
        assert!(serde_json::from_str::<ProvisionUrl>("[]").is_err());
    }

    #[test]
    fn invalid_templates_are_refused() {
        let refused = [
            ("law.example/{number}", InvalidProvisionUrl::NoAddress),
            ("https://x/{number} a", InvalidProvisionUrl::NoAddress),
            ("https://x/{number}}", InvalidProvisionUrl::NoAddress),
            ("https://x/", InvalidProvisionUrl::NoNumber),
            ("https://x/{title}/{number.1}", InvalidProvisionUrl::NoNumber),
            ("https://x/{number", InvalidProvisionUrl::UnknownField),
            ("https://x/{Number}", InvalidProvisionUrl::UnknownField),
            ("https://x/{number.0}", InvalidProvisionUrl::UnknownField),
            ("https://x/{number:0}", InvalidProvisionUrl::UnknownField),
            ("https://x/{number:99}", InvalidProvisionUrl::UnknownField),
            ("https://x/{chapter.1}", InvalidProvisionUrl::UnknownField),
            ("https://x/{chapter-}", InvalidProvisionUrl::UnknownField),
            ("https://x/{page}", InvalidProvisionUrl::UnknownField),
            ("https://x/{number}?{page}", InvalidProvisionUrl::UnknownField),
        ];
        for (template, why) in refused {
            assert_eq!(read(template), Err(why), "{template}");
        }
    }
}
