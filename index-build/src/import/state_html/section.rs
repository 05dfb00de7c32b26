//! A section: its number and heading, and its blocks divided into law, source credit and notes.

use hornbook_corpus::layout::{Layout, Line, LineKind};
use hornbook_corpus::outline::Status;

use super::container::{CONTAINER, StateHtmlContainer, TITLE};
use super::cutting::cut;
use super::settings::StateHtmlSettings;
use super::{bold_labels, doubled_items, last_annotations};
use crate::content::{Content, ContentNote};
use crate::effect::{self, Effect};
use crate::import::flat_text;
use crate::import::html::{Element, HtmlPart};
use crate::import::html_text::HtmlSetter;
use crate::import::ranges::numbers_after;
use crate::import::remark::{REMARK_BYTES_MAX, heading_status, moved_to, named_status, status_in_credit, whole_status};
use crate::import::slug::slug;
use crate::import::target::ImportTarget;
use crate::order::SortKey;
use crate::pattern::Pattern;
use crate::report::WarningKind;

/// A section, divided into its parts.
#[derive(Debug, Default)]
pub(super) struct StateHtmlSection {
    number: Option<String>,
    /// Further numbers that it represents.
    others: Vec<String>,
    heading: String,
    /// The effective time that remarks at its heading state.
    effect: Effect,
    /// Whether it only states that the section is no longer law.
    is_gone: bool,
    text: String,
    layout: Layout,
    credit: Option<String>,
    notes: Vec<ContentNote>,
    /// Words that only introduce its number or its credit: `Sec.`, `of`.
    pub(super) introductions: String,
    /// Items that the release prints a second time.
    pub(super) copies: Vec<String>,
    /// Errors and doubts about it, with their lines.
    pub(super) faults: Vec<(WarningKind, u32, String)>,
}

impl StateHtmlSection {
    /// `numbers_are_plain` if numbers of the document have no dashes.
    pub(super) fn read(
        heading: Element<'_>,
        blocks: &[HtmlPart<'_>],
        settings: &StateHtmlSettings,
        numbers_are_plain: bool,
    ) -> Self {
        let mut section = Self::default();
        section.name(heading, settings);
        if numbers_are_plain && heading.text().starts_with("§§") {
            section.divide_range();
        }
        let (end, by_lead) = section.end_of_law(blocks, settings);
        let by_form = || blocks[..end].iter().position(|part| credit_at_end(&words_of(part)).is_some());
        let after = match if by_lead.is_some() { None } else { by_form() } {
            Some(last) => section.set_around_credit(blocks, last + 1, settings),
            None => {
                let behind = &blocks[end + by_lead.as_ref().map_or(0, |led| led.blocks)..];
                let resumed = match by_lead {
                    Some(_) => resumed_law(&blocks[..end], behind, settings),
                    None => 0,
                };
                let law: Vec<HtmlPart<'_>> = blocks[..end].iter().chain(&behind[..resumed]).copied().collect();
                section.set_law(&law, settings);
                if let Some(first) = behind[..resumed].first() {
                    section
                        .warn_doubtful_end(first, "behind the source credit, and articles follow; it is kept as law");
                }
                if by_lead.is_none() {
                    section.credit = cut_last_line(&mut section.text, &mut section.layout, settings);
                }
                &behind[resumed..]
            }
        };
        if let (None, Some(led)) = (&section.credit, by_lead) {
            section.introduce(&led.lead);
            section.credit = Some(led.credit);
        }
        section.copies = doubled_items::remove(&mut section.text, &mut section.layout);
        bold_labels::place(&section.text, &mut section.layout);
        section.end_by_remarks();
        section.notes = notes(after, settings);
        if section.credit.is_some() {
            let last = last_annotations::remove(&mut section.text, &mut section.layout);
            let what = |note: &ContentNote| format!("'{}' at the end of the law is kept as a note", note.topic);
            section.faults.extend(last.iter().map(|note| (WarningKind::DoubtfulEnd, heading.line(), what(note))));
            section.notes.extend(last);
        }
        section.faults.extend(section.empty().map(|what| (WarningKind::EmptyProvision, heading.line(), what)));
        section
    }

    /// The number of blocks that are law, and the source credit if it is the next block. A source
    /// credit precedes all annotations: a paragraph before it that looks like an annotation is law.
    fn end_of_law(&mut self, blocks: &[HtmlPart<'_>], settings: &StateHtmlSettings) -> (usize, Option<LedCredit>) {
        let credited = (0..blocks.len()).find_map(|at| Some((at, credit_at(blocks, at, settings)?)));
        let annotation = blocks.iter().position(|part| begins_annotations(part, settings));
        let (end, credit) = match (annotation, credited) {
            (Some(heading), Some((at, credit))) if heading < at && is_paragraph(&blocks[heading]) => {
                self.warn_doubtful_end(
                    &blocks[heading],
                    "like annotations, but the source credit comes later; it is kept as law",
                );
                (at, Some(credit))
            }
            (Some(heading), Some((at, _))) if heading < at => (heading, None),
            (_, Some((at, credit))) => (at, Some(credit)),
            (heading, None) => {
                let heading = heading.unwrap_or(blocks.len());
                self.warn_law_behind_annotations(&blocks[heading..]);
                (heading, None)
            }
        };
        let is_no_credit = |part: &&HtmlPart<'_>| credit_lead(part, settings).is_some();
        for part in blocks[..end].iter().filter(is_no_credit) {
            self.warn_doubtful_end(part, "like a source credit, but names no year; it is kept as law");
        }
        (end, credit)
    }

    /// Adds words that only introduce a part, without those by which every snapshot names these parts.
    fn introduce(&mut self, words: &str) {
        const NAMES: [&str; 4] = ["Section", "History", "HISTORY", "Source"];
        let own = words.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty() && !NAMES.contains(word));
        for word in own {
            self.introductions += word;
            self.introductions.push(' ');
        }
    }

    /// Without a source credit, nothing proves that a bold `Note` ends the law.
    fn warn_law_behind_annotations(&mut self, annotations: &[HtmlPart<'_>]) {
        let Some((first, rest)) = annotations.split_first().filter(|(first, _)| is_paragraph(first)) else { return };
        let is_heading = |part: &HtmlPart<'_>| is_annotation_behind_credit(part) && !is_paragraph(part);
        let is_list = |part: &HtmlPart<'_>| matches!(part, HtmlPart::Element(element) if element.name() == "ol");
        let reads_as_law = |part: &HtmlPart<'_>| is_list(part) || flat_text::begins_with_label(&words_of(part));
        let up_to_heading = rest.iter().position(is_heading).unwrap_or(rest.len());
        if rest[..up_to_heading].iter().any(reads_as_law) {
            self.warn_doubtful_end(
                first,
                "like annotations without a source credit before it, but labelled paragraphs follow; they are kept as notes",
            );
        }
    }

    fn warn_doubtful_end(&mut self, part: &HtmlPart<'_>, what: &str) {
        let HtmlPart::Element(element) = part else { return };
        let words: String = element.text().chars().take(60).collect();
        self.faults.push((WarningKind::DoubtfulEnd, element.line(), format!("'{words}' begins {what}")));
    }

    /// Reads law whose source credit ends the first `with_credit` blocks, and returns the blocks
    /// after the law. Some older releases contain law after the credit: forms, tables, and lists
    /// that the generating program moved there.
    fn set_around_credit<'p, 't>(
        &mut self,
        blocks: &'p [HtmlPart<'t>],
        with_credit: usize,
        settings: &StateHtmlSettings,
    ) -> &'p [HtmlPart<'t>] {
        let behind = blocks[with_credit..].iter().position(is_annotation_behind_credit);
        let end = behind.map_or(blocks.len(), |behind| with_credit + behind);
        let (first, _, _) = set(&blocks[..with_credit], settings);
        self.set_law(&blocks[..end], settings);
        self.credit = cut_credit(&mut self.text, &mut self.layout, first.len());
        &blocks[end..]
    }

    fn set_law(&mut self, blocks: &[HtmlPart<'_>], settings: &StateHtmlSettings) {
        let (text, layout, doubts) = set(blocks, settings);
        (self.text, self.layout) = (text, layout);
        self.faults.extend(doubts.into_iter().map(|(line, what)| (WarningKind::DoubtfulLabel, line, what)));
    }

    /// Reads a heading such as `§§ 50-1 through 50-43.12. Repealed.` into a first number, further
    /// numbers and a heading.
    fn name(&mut self, heading: Element<'_>, settings: &StateHtmlSettings) {
        let title = heading.text();
        let title = title.as_str();
        let found = settings.section.captures(title).and_then(|found| Some((found.get(0)?.end(), found.get(1)?)));
        let Some((mut end, number)) = found else {
            self.heading = title.to_owned();
            self.effect = effect::within_heading(title);
            let what = format!("'{title}' has no number");
            self.faults.push((WarningKind::MissingNumber, heading.line(), what));
            return;
        };
        self.introduce(&title[..number.start()]);
        // Letters in italics are separated by a space: `706 l`.
        self.number = Some(number.as_str().replace(' ', ""));
        let further = Pattern::fixed(r"^(?:,? ?(through|to|and|,|-|–|—) ?)(\d[\w:-]*(?:\.\w[\w:-]*)*)[.,]?");
        let number_end = number.end();
        // If numbers have no section sign, neither have ranges: `1-1-401 to 1-1-403. (Repealed)`.
        let is_range = ["through ", "to "].iter().any(|word| title[number_end..].trim_start().starts_with(word));
        if ["§§", "Secs. "].iter().any(|sign| title.starts_with(sign))
            || title.starts_with(|c: char| c.is_ascii_digit())
            || is_range
        {
            let mut at = number_end;
            while let Some(next) = further.captures(title[at..].trim_start_matches('.').trim_start()) {
                let skipped = title[at..].len() - title[at..].trim_start_matches('.').trim_start().len();
                let before = self.others.last().map_or(number.as_str(), |last| last.as_str()).to_owned();
                let others = match &next[1] {
                    "through" | "to" | "-" | "–" | "—" => numbers_after(&before, &next[2]),
                    _ => vec![next[2].to_owned()],
                };
                self.others.extend(others);
                at += skipped + next.get(2).map_or(0, |number| number.end());
            }
            end = end.max(at);
        }
        (self.effect, self.heading) = effect_of(title[end..].trim_start_matches(['.', ',', ' ']));
        // A heading that is only a remark keeps it: `7-12-42. [Repealed effective January 1, 2023.]`
        let is_remark = self.heading.starts_with(['(', '[']) && !self.effect.is_stated();
        let remark = self.heading.trim_matches(['(', '[', ')', ']', '.', ' ']);
        if let Some(effect) = Some(remark).filter(|_| is_remark).and_then(effect::read) {
            self.effect = effect;
        }
    }

    /// Divides a number such as `781-784`, if it is that of several sections.
    fn divide_range(&mut self) {
        let Some((first, last)) =
            self.number.as_deref().filter(|_| self.others.is_empty()).and_then(|own| own.split_once('-'))
        else {
            return;
        };
        let descends = matches!((first.parse::<u32>(), last.parse::<u32>()), (Ok(first), Ok(last)) if first >= last);
        if !descends {
            (self.number, self.others) = (Some(first.to_owned()), numbers_after(first, last));
        }
    }

    /// Takes the editor's remark on the whole section from the start of its law: `[Editor's note: This section is effective
    /// July 1, 2023.]`
    fn take_editors_remark(&mut self) {
        let form = Pattern::fixed(r"^\[(Editor.s note: This (?:version of this )?section is [^\]]{2,300})\] ?");
        let Some(found) = form.captures(self.text.split('\n').next().unwrap_or_default()) else { return };
        let Some(effect) = effect::read(&found[1]) else { return };
        let end = found[0].len();
        self.effect = std::mem::take(&mut self.effect).and(effect);
        let end = if self.text[end..].starts_with('\n') { end + 1 } else { end };
        cut(&mut self.text, &mut self.layout, 0, end);
    }

    /// Adds the effective time that the text states. If a remark says that a section is repealed
    /// from a day, the release prints the wording before that day and, without text, the repealed
    /// section after it.
    fn end_by_remarks(&mut self) {
        self.take_editors_remark();
        self.effect = std::mem::take(&mut self.effect).and(effect::of_text(&self.text));
        if self.text.is_empty() && self.effect.from.is_none() && self.effect.then == Some(Status::Repealed) {
            self.effect.from = self.effect.to.take();
            self.effect.then = None;
            self.is_gone = self.effect.from.is_some();
        }
    }

    fn empty(&self) -> Option<String> {
        let number = self.number.as_deref().unwrap_or(&self.heading);
        let is_empty = self.text.is_empty() && self.status().may_be_in_force();
        is_empty.then(|| format!("'{number}' is in force but has no text"))
    }

    fn status(&self) -> Status {
        let short = self.text.len() <= REMARK_BYTES_MAX;
        let bare = self.heading.trim_start_matches(['(', '[']);
        // A section that came from another number may state so, but has its own text and acts.
        let is_kept = |status: &Status| *status == Status::Renumbered && self.credit.is_some() && !self.text.is_empty();
        let whole = whole_status(&self.heading).filter(|status| !is_kept(status));
        let named = heading_status(&self.heading).filter(|_| !bare.starts_with("Repealed effective"));
        let named = named.filter(|status| !is_kept(status));
        let named = named.or_else(|| named_status(&self.text)).filter(|_| short);
        // From the day in its remark it is no longer law.
        let is_moved = self.effect.remark.as_ref().is_some_and(|remark| remark.starts_with("Renumbered to"));
        let moved = is_moved.then_some(Status::Renumbered).or(self.is_gone.then_some(Status::Repealed));
        let credited = || status_in_credit(self.credit.as_deref().filter(|_| self.text.is_empty())?);
        let was_rejected = || {
            let form = Pattern::fixed(r"(?i)^(?:defeat of proposed|proposed amendment (?:not agreed|defeated))");
            let topic = &self.notes.first().filter(|_| self.text.is_empty() && self.credit.is_none())?.topic;
            form.is_match(topic).then_some(Status::Reserved)
        };
        moved.or(whole).or(named).or_else(credited).or_else(was_rejected).unwrap_or(Status::InForce)
    }

    /// The content of the node, its key and its sort key.
    pub(super) fn into_content(
        self,
        reference: String,
        target: ImportTarget<'_>,
        path: &[StateHtmlContainer],
    ) -> (Content, String, SortKey) {
        let status = self.status();
        let own = self.number.clone().unwrap_or_else(|| format!("unnumbered ({})", self.heading));
        let uses = |name: &str| target.citation.is_some_and(|template| template.contains(name));
        let counted_in = path.last().filter(|_| uses(CONTAINER)).or(path.first().filter(|_| uses(TITLE)));
        let cited = |number: &str| {
            let citation = flat_text::citation(number, target);
            let Some(container) = counted_in else { return citation };
            let title = container.number.as_deref().unwrap_or(&container.heading);
            citation.replace(CONTAINER, &container.short).replace(TITLE, title)
        };
        let citation = cited(&own);
        let gone = Some(status).filter(|status| !status.may_be_in_force());
        let now = gone.and_then(|_| moved_to(&own, &self.heading).or_else(|| moved_to(&own, &self.text)));
        let now = now.map(cited);
        let key: String = slug(&own).chars().take(120).collect();
        let key = format!("{}/s{key}", counted_in.map_or(target.key, |container| &container.key));
        let sort = SortKey::of_citation(&citation);
        let mut tags = target.tags.to_vec();
        tags.sort_unstable();
        let content = Content {
            citation,
            heading: self.heading,
            level: "section".into(),
            number: self.number,
            status: Some(status),
            text: Some(self.text),
            layout: self.layout,
            notes: self.notes,
            source_credit: self.credit,
            tags,
            parallel_citations: self.others.iter().map(|number| cited(number)).collect(),
            now,
            effect: self.effect,
            reference,
            source: target.source,
            ..Content::default()
        };
        (content, key, sort)
    }
}

/// Splits a heading into its remarks on effective time and the rest. Remarks are in brackets, or
/// before the heading: `Section 753 effective until July 1, 2022; see also section 753 effective
/// July 1, 2022 set out below. Merger.`
fn effect_of(heading: &str) -> (Effect, String) {
    let form = concat!(
        r"^Section [\w.-]+ ((?:repealed )?effective (?:.*?\b\d{4}|[a-z ]+)(?:; see also .*? (?:below|above))?)",
        r"\.? (\p{Lu}.*)$",
    );
    let named = Pattern::fixed(form).captures(heading).and_then(|found| {
        let [remark, rest] = found.extract().1;
        Some((effect::read(remark)?, rest))
    });
    let of_note = || {
        let found = Pattern::fixed(r"^(See effective date [^.]*)\. ?(\p{Lu}.*)$").captures(heading)?;
        let [remark, rest] = found.extract().1;
        Some((effect::read(remark)?, rest))
    };
    let (named, rest) = named.or_else(of_note).unwrap_or((Effect::default(), heading));
    let (bracketed, rest) = effect::of_heading(rest);
    (named.and(bracketed), rest)
}

/// Parts as a text with its layout. Words outside all elements become a paragraph.
fn set(blocks: &[HtmlPart<'_>], settings: &StateHtmlSettings) -> (String, Layout, Vec<(u32, String)>) {
    let mut setter = HtmlSetter::new(&settings.labels);
    for part in blocks {
        if let HtmlPart::Element(element) = part {
            setter.set_labels(labels_of(*element, settings));
        }
        setter.part(*part);
    }
    let (text, mut layout, doubts) = setter.finish();
    let lines = text.split('\n').zip(&mut layout.lines);
    for (_, line) in lines.filter(|(words, _)| settings.images.is_match(words)) {
        *line = Line::labelled(LineKind::Image, line.depth, 0);
    }
    (text, layout, doubts)
}

/// The label templates of the lists in a block, outermost first.
fn labels_of<'s>(block: Element<'_>, settings: &'s StateHtmlSettings) -> &'s [String] {
    let is_numbered = block.name() == "ol" && matches!(block.attribute("type"), None | Some("1"));
    let second = settings.labels.get(1..).filter(|labels| !labels.is_empty());
    second.filter(|_| settings.letters_first && is_numbered).unwrap_or(&settings.labels)
}

fn begins_annotations(part: &HtmlPart<'_>, settings: &StateHtmlSettings) -> bool {
    lead(part).or_else(|| lead_in(part)).is_some_and(|lead| settings.annotations.is_match(&lead))
        || bold_lead(part, settings).is_some()
        || is_about_number(part)
}

fn is_paragraph(part: &HtmlPart<'_>) -> bool {
    matches!(part, HtmlPart::Element(element) if element.name() == "p")
}

/// After a source credit, every heading begins annotations, and so does a paragraph with a lead.
fn is_annotation_behind_credit(part: &HtmlPart<'_>) -> bool {
    lead(part).is_some()
        || lead_in(part).is_some()
        || is_about_number(part)
        || Pattern::fixed(r"^(?:Applied in |The (?:19|20)\d\d amendment)").is_match(&words_of(part))
}

/// Matches `The number of this section was assigned by the Virginia Code Commission, the 1956 act
/// having assigned no number.`
fn is_about_number(part: &HtmlPart<'_>) -> bool {
    let form = r"^The numbers? (?:of|for) [^.]*(?:\.\d[^.]*)* (?:was|were) assigned by the [A-Z]\w+ Code Commission";
    Pattern::fixed(form).is_match(&words_of(part))
}

/// The lead of an annotation in older releases: `Editor's note. - Former § 1 ...`
fn lead_in(part: &HtmlPart<'_>) -> Option<String> {
    const BYTES_MAX: usize = 64;
    let text = words_of(part);
    let (lead, _) = text.split_once(" - ")?;
    (lead.ends_with('.') && lead.len() <= BYTES_MAX).then(|| lead.to_owned())
}

/// The start of a source credit at the end of a text, as in older releases: `(1984, c. 611; 2012, cc. 78, 84.)`
fn credit_at_end(text: &str) -> Option<usize> {
    let form = concat!(
        r"\( ?(?:Code \d{4},?|R\. P\.(?: \d{4})?,|R\.C\., c\.|Rev\., s|(?:Acts )?(?:1[6-9]|20)\d\d",
        r"(?:,| Sp\. Sess\.|-\d{2,3}, (?:c|s)\.| \(Reg\. Sess\.[^()]*\)))[^()]*(?:\([^()]*\)[^()]*)*\)$",
    );
    Pattern::fixed(form).find(text).map(|found| found.start())
}

/// Removes the source credit, which ends at `end`, from a text.
fn cut_credit(text: &mut String, layout: &mut Layout, end: usize) -> Option<String> {
    let start = credit_at_end(text.get(..end)?)?;
    Some(cut(text, layout, start, end))
}

/// Removes the last line from a text if it is the source credit. In some releases it is a paragraph
/// of the last list item.
fn cut_last_line(text: &mut String, layout: &mut Layout, settings: &StateHtmlSettings) -> Option<String> {
    let start = text.rfind('\n').map_or(0, |line_feed| line_feed + 1);
    let found = settings.credit.captures(&text[start..])?;
    let lead = found.get(0).filter(|lead| lead.start() == 0)?;
    let lead_bytes = if found.get(1).is_some() { 0 } else { lead.end() };
    let named = &text[start + lead_bytes..];
    if !names_year(named) && !names_old_act(named) {
        return None;
    }
    let credit = cut(text, layout, start, text.len());
    Some(credit[lead_bytes..].trim_start().to_owned())
}

fn words_of(part: &HtmlPart<'_>) -> String {
    match part {
        HtmlPart::Words(words) => words.trim().to_owned(),
        HtmlPart::Element(element) => element.text(),
    }
}

/// The source credit, if a block begins with its lead and names acts, or if the lead is the heading of the next block.
fn credit_at(blocks: &[HtmlPart<'_>], at: usize, settings: &StateHtmlSettings) -> Option<LedCredit> {
    let led =
        credit_lead(&blocks[at], settings).or_else(|| credit_below(&blocks[at], blocks.get(at + 1)?, settings))?;
    let is_last = || blocks.get(at + led.blocks).is_none_or(is_annotation_behind_credit);
    (names_year(&led.credit) || (names_old_act(&led.credit) && is_last())).then_some(led)
}

/// The source credit below a heading: `Source:`, and the acts in the next paragraph.
fn credit_below(heading: &HtmlPart<'_>, next: &HtmlPart<'_>, settings: &StateHtmlSettings) -> Option<LedCredit> {
    let lead = lead(heading).filter(|lead| settings.credit.find(lead).is_some_and(|found| found.as_str() == lead))?;
    is_paragraph(next).then(|| LedCredit { lead, credit: words_of(next), blocks: 2 })
}

/// How many blocks behind the source credit are law: compacts whose articles a release prints there. Before the first
/// article, there may be the name of the compact and a sentence. Articles that are called sections count if the law before
/// the credit announces them.
fn resumed_law(law: &[HtmlPart<'_>], behind: &[HtmlPart<'_>], settings: &StateHtmlSettings) -> usize {
    let announces = law.last().is_some_and(|part| words_of(part).trim_end().ends_with(':'));
    let form = if announces {
        r"^(?:ARTICLE|Article|SECTION|Section) (?:I|1|ONE|One)\b"
    } else {
        r"^(?:ARTICLE|Article) (?:I|1|ONE|One)\b"
    };
    let begins_article = Pattern::fixed(form);
    let is_annotation = |part: &&HtmlPart<'_>| begins_annotations(part, settings);
    let end = behind.iter().position(|part| is_annotation(&part)).unwrap_or(behind.len());
    let has_articles = behind[..end].iter().any(|part| begins_article.is_match(&words_of(part)));
    if has_articles { end } else { 0 }
}

/// Whether a text names the year of an act: `2019`, or `L. 96` in Colorado.
fn names_year(credit: &str) -> bool {
    Pattern::fixed(r"\b(?:1[6-9]|20)\d\d\b|\bL\. ?\d\d\b").is_match(credit)
}

/// Whether a text names acts by numbers and abbreviations alone, as old credits do: `186m.` It has no word of a sentence.
fn names_old_act(credit: &str) -> bool {
    const BYTES_MAX: usize = 300;
    let has_words = || Pattern::fixed(r"(?:^|[^A-Za-z])[a-z]{4,}").is_match(credit);
    credit.len() <= BYTES_MAX && credit.contains(|c: char| c.is_ascii_digit()) && !has_words()
}

/// A source credit, the words that introduce it, and the number of blocks in which both are.
#[derive(Debug)]
struct LedCredit {
    lead: String,
    credit: String,
    blocks: usize,
}

/// The text after the lead of a source credit. The lead is usually in bold, except where a section
/// number in the credit is a link.
fn credit_lead(part: &HtmlPart<'_>, settings: &StateHtmlSettings) -> Option<LedCredit> {
    let HtmlPart::Element(element) = part else { return None };
    let text = element.text();
    let groups = settings.credit.captures(&text).filter(|_| element.name() == "p")?;
    let found = groups.get(0).filter(|found| found.start() == 0)?;
    if let Some(own) = groups.get(1) {
        let (lead, credit) = (text[..own.start()].to_owned(), text[own.start()..].trim_end().to_owned());
        return Some(LedCredit { lead, credit, blocks: 1 });
    }
    let (lead, credit) = text.split_at(found.end());
    let bold = element.elements().next().filter(|first| matches!(first.name(), "b" | "strong")).map(Element::text);
    let is_lead = match bold.filter(|bold| text.starts_with(bold.as_str())) {
        Some(bold) => bold == lead,
        None => credit.starts_with(' '),
    };
    is_lead.then(|| LedCredit { lead: lead.to_owned(), credit: credit.trim_start().to_owned(), blocks: 1 })
}

/// A heading of annotations: a heading element, or a paragraph that is entirely bold.
fn lead(part: &HtmlPart<'_>) -> Option<String> {
    let HtmlPart::Element(element) = part else { return None };
    let text = element.text();
    let is_heading = matches!(element.name(), "h4" | "h5" | "h6");
    (is_heading || (element.name() == "p" && is_all_bold(*element, &text))).then_some(text)
}

/// The name of an annotation in bold before its text: `The 2011 amendment, effective July 1, 2011,
/// added subsection (b).`
fn bold_lead(part: &HtmlPart<'_>, settings: &StateHtmlSettings) -> Option<String> {
    let HtmlPart::Element(element) = part else { return None };
    let text = element.text();
    let bold = element.elements().next().filter(|first| matches!(first.name(), "b" | "strong"))?.text();
    let is_lead = element.name() == "p" && text.starts_with(bold.as_str()) && settings.annotations.is_match(&bold);
    is_lead.then(|| bold.trim_end_matches([',', ' ']).to_owned())
}

fn is_all_bold(element: Element<'_>, text: &str) -> bool {
    let mut bold = element.elements().filter(|inner| matches!(inner.name(), "b" | "strong"));
    !text.is_empty() && bold.next().is_some_and(|bold| bold.text() == text)
}

/// Turns blocks after the law into notes. Each heading begins a note.
pub(super) fn notes(blocks: &[HtmlPart<'_>], settings: &StateHtmlSettings) -> Vec<ContentNote> {
    let mut notes = Vec::new();
    let mut rest = blocks;
    let begins = |part: &HtmlPart<'_>| lead(part).or_else(|| bold_lead(part, settings));
    while !rest.is_empty() {
        let topic = begins(&rest[0]);
        let is_heading = lead(&rest[0]).is_some();
        let end = rest.iter().skip(1).position(|part| begins(part).is_some()).map_or(rest.len(), |end| 1 + end);
        let (mut text, mut layout, _) = set(&rest[usize::from(is_heading)..end], settings);
        // If a paragraph continues after its lead, the rest is text.
        let lead = topic.as_deref().filter(|_| !is_heading);
        if let Some(words) = lead.and_then(|lead| text.strip_prefix(lead)) {
            let start = text.len() - words.trim_start_matches([',', ' ']).len();
            cut(&mut text, &mut layout, 0, start);
        }
        if topic.is_some() || !text.is_empty() {
            notes.push(ContentNote { topic: topic.unwrap_or_else(|| flat_text::NOTE.to_owned()), text, layout });
        }
        rest = &rest[end..];
    }
    notes
}
