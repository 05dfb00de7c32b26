//! Separates the wordings of a section: finds where the law of each ends, and where its source
//! credit and notes begin.
//!
//! Only words mark the end. A paragraph is a credit by its form, because it names acts, and by its
//! place: another credit, a note, another wording, or nothing follows it. If law follows, the
//! paragraph was a line of the law, and the search continues. Each such line causes a warning.

use super::future_wording;
use super::heading;
use super::repetition::WRITTEN_TWICE;
use super::section::{PrintedWording, StateJsonSection, effect_of};
use super::settings::StateJsonSettings;
use crate::effect::{self, Effect};
use crate::import::flat_text;
use crate::pattern::Pattern;
use crate::report::WarningKind;

/// Reads the wordings of a section from its lines. `heading` is the heading from the separate field.
pub(super) fn read(lines: &[&str], heading: String, settings: &StateJsonSettings, section: &mut StateJsonSection) {
    let mut heading = Some(heading);
    for block in blocks(lines, settings, &section.number) {
        let heading = heading.take().unwrap_or_default();
        section.left_out.extend(block.repeated.iter().map(|remark| (WRITTEN_TWICE, (*remark).to_owned())));
        let mut wording = PrintedWording {
            heading,
            effect: block.remark.map(effect_of).unwrap_or_default(),
            ..PrintedWording::default()
        };
        let mut lines = heading::without_heading(block.lines, &mut wording, settings, section);
        let mut is_one_of_several = false;
        while let Some(rest) = divide(lines, &mut wording, is_one_of_several, settings, section) {
            let (of_heading, heading) = effect::of_heading(&wording.heading);
            // The next wording begins when this one ends, so it is as uncertain as that end.
            let effect = Effect { uncertain: of_heading.uncertain || wording.effect.uncertain, ..Effect::default() };
            section
                .wordings
                .push(std::mem::replace(&mut wording, PrintedWording { heading, effect, ..PrintedWording::default() }));
            (lines, is_one_of_several) = (rest, true);
        }
        take_pointer(&mut wording);
        while let Some(amended) = future_wording::split_off(&mut wording, settings, section) {
            section.wordings.push(std::mem::replace(&mut wording, amended));
        }
        section.wordings.push(wording);
    }
    share_credit(&mut section.wordings);
}

/// Turns a pointer into a note: `*(See end of section for amended version and effective date.) Fire districts.`
fn take_pointer(wording: &mut PrintedWording) {
    let pointer =
        Pattern::fixed(r"^\*?\(?(See end of (?:section|chapter) for amended version(?:[^.()]|\(\w{1,3}\))*)\.?\)?\s*");
    let Some(found) = pointer.captures(&wording.heading) else { return };
    wording.notes.insert(0, format!("Note: {}.", &found[1]));
    wording.heading = wording.heading[found[0].len()..].trim_start_matches(['.', ' ']).to_owned();
}

/// Some publishers print one credit after all wordings of a section.
fn share_credit(wordings: &mut [PrintedWording]) {
    if let [before @ .., last] = wordings
        && before.iter().all(|wording| wording.credit.is_none())
    {
        before.iter_mut().for_each(|wording| wording.credit.clone_from(&last.credit));
    }
}

/// The lines from a section number up to the next wording.
struct WordingBlock<'l, 't> {
    remark: Option<String>,
    /// The parts of its remark that the source wrote twice.
    repeated: Vec<&'t str>,
    lines: &'l [&'t str],
}

/// Splits lines into wordings. A later wording follows a credit or states its effective time, and
/// begins with the section number again. A line before it may state the time.
fn blocks<'l, 't>(lines: &'l [&'t str], settings: &StateJsonSettings, number: &str) -> Vec<WordingBlock<'l, 't>> {
    let begins_again = format!("{}{number}.", settings.opening);
    let says_when = Pattern::fixed(r"^[(\[]?(?i:effective|contingent|expires|repealed effective|text of)\b.{0,200}$");
    let says_so_itself = Pattern::fixed(r"\[(?:EFFECTIVE|CONTINGENT|EXPIRES)\b");
    let (mut blocks, mut begin, mut remark, mut has_credit) = (Vec::new(), 0, None, false);
    let mut repeated: Vec<&str> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let is_later = at > 0 && (has_credit || says_so_itself.is_match(line));
        if is_later && line.starts_with(&begins_again) {
            let own = lines[begin..at].iter().rev().take_while(|line| says_when.is_match(line)).count();
            blocks.push(WordingBlock {
                remark: remark.take(),
                repeated: std::mem::take(&mut repeated),
                lines: &lines[begin..at - own],
            });
            // The line is an element with one child, written twice.
            let mut when: Vec<&str> =
                lines[at - own..at].iter().map(|line| line.trim_matches(['(', ')', '[', ']'])).collect();
            repeated.extend(when.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]));
            when.dedup();
            remark = (!when.is_empty()).then(|| when.join("; "));
            (begin, has_credit) = (at, false);
        }
        has_credit |= settings.credit.is_match(line);
    }
    blocks.push(WordingBlock { remark, repeated, lines: &lines[begin..] });
    blocks
}

/// Divides the lines of a wording into law, source credit and notes. Returns the law of another
/// wording that follows without a heading: pages of Washington print all wordings under the heading
/// of the first, each with its own credit and notes.
fn divide(
    mut lines: Vec<String>,
    wording: &mut PrintedWording,
    is_one_of_several: bool,
    settings: &StateJsonSettings,
    section: &mut StateJsonSection,
) -> Option<Vec<String>> {
    let mut from = 0;
    while let Some(credit) = next_credit(&lines, from, settings) {
        let after = &lines[credit.end..];
        let follows = AfterCredit::of(after, settings);
        let is_dated =
            is_one_of_several || wording.effect.is_stated() || effect::of_heading(&wording.heading).0.is_stated();
        let next = match follows {
            AfterCredit::Law if is_dated => Some(0),
            AfterCredit::Notes | AfterCredit::Unknown => next_wording(after, &lines[..credit.at], is_dated, settings),
            AfterCredit::Law | AfterCredit::Nothing => None,
        };
        if follows == AfterCredit::Law && next.is_none() {
            let what = format!(
                "'{}': law follows '{}', which looks like a source credit; both are kept as law",
                section.number,
                beginning(&lines[credit.at])
            );
            section.faults.push((WarningKind::DoubtfulCredit, what));
            from = credit.end;
            continue;
        }
        if follows == AfterCredit::Unknown {
            let what = format!(
                "'{}': '{}' follows the source credit and is kept as a note; nothing shows whether it is law",
                section.number,
                beginning(&after[0])
            );
            section.faults.push((WarningKind::DoubtfulCredit, what));
        }
        let mut notes = lines.split_off(credit.end);
        notes.splice(0..0, credit.notes);
        let rest = next.map(|next| notes.split_off(next));
        lines.truncate(credit.at);
        section.left_out.extend(credit.repeated.into_iter().map(|acts| (WRITTEN_TWICE, acts)));
        lines.extend(Some(credit.law).filter(|law| !law.is_empty()));
        (wording.law, wording.credit, wording.notes) = (lines, Some(credit.acts), notes);
        if rest.is_some() {
            let what = format!(
                "'{}' has another wording without a heading, after the one with the remark '{}'",
                section.number, wording.heading
            );
            section.faults.push((WarningKind::SecondWording, what));
        }
        return rest;
    }
    wording.law = lines;
    None
}

/// The start of the law of another wording after the notes of one. It ends with its own credit, and
/// begins with the words of the first wording or, if that one is dated, where the notes end.
fn next_wording(after: &[String], law: &[String], is_dated: bool, settings: &StateJsonSettings) -> Option<usize> {
    let is_whole = |line: &String| settings.credit.find(line).is_some_and(|found| found.start() == 0);
    let end = after.iter().position(|line| is_whole(line) && names_acts(line))?;
    let begins_alike = |line: &String| law.first().is_some_and(|first| begin_alike(line, first));
    let by_words = after[..end].iter().position(begins_alike);
    by_words.or_else(|| notes_end(&after[..end]).filter(|_| is_dated))
}

/// Whether two lines begin with the same words, and the first one is not a quotation.
fn begin_alike(line: &str, other: &str) -> bool {
    /// If a line is shorter than the compared length, the whole lines must be equal and contain at
    /// least this many letters.
    const LETTERS_MIN: usize = 12;
    const FIRST_WORDS: usize = 30;
    let letters = |line: &str| line.chars().filter(|c| c.is_alphanumeric()).take(FIRST_WORDS).collect::<String>();
    let is_quotation = line.trim_start_matches('*').starts_with(['“', '"']);
    let (line, other) = (letters(line), letters(other));
    line == other && line.len() >= LETTERS_MIN && !is_quotation
}

/// The first line that is not a note, a quotation that a note begins, or one of its items after the first.
fn notes_end(lines: &[String]) -> Option<usize> {
    let later_item = Pattern::fixed(r"^\**\((?:[2-9]|\d\d|[b-z])\)");
    let mut is_quotation = false;
    lines.iter().enumerate().position(|(at, line)| {
        // `As used in this chapter:` introduces items, which no note without a lead does.
        let leads = line.ends_with(':') && !line.contains('—');
        let is_lead = leads && lines.get(at + 1).is_some_and(|next| flat_text::begins_with_label(next));
        let is_of_notes = is_quotation || (is_note(line) && !is_lead) || later_item.is_match(line);
        is_quotation ^= line.matches('"').count() % 2 == 1;
        !is_of_notes
    })
}

fn beginning(line: &str) -> String {
    line.chars().take(80).collect()
}

/// Lines that look like a source credit.
struct Credit {
    at: usize,
    end: usize,
    /// The text before the credit on the first line.
    law: String,
    acts: String,
    /// Notes in the paragraph of the acts: `History: 1968, Act 1Compiler's Notes: For transfer of`.
    notes: Option<String>,
    /// Lines that repeat the line before them.
    repeated: Vec<String>,
}

fn next_credit(lines: &[String], from: usize, settings: &StateJsonSettings) -> Option<Credit> {
    let at = (from..lines.len()).find(|&at| {
        let found = settings.credit.find(&lines[at]);
        found.is_some_and(|found| names_acts(&lines[at][found.start()..]) || is_lead_alone(lines, at))
    })?;
    let (law, first) = lines[at].split_at(settings.credit.find(&lines[at])?.start());
    let (mut acts, mut end) = (first.to_owned(), at + 1);
    if is_lead_alone(lines, at) {
        acts = format!("{acts} {}", lines[end]);
        end += 1;
    }
    // Some publishers write each act on a separate line.
    let is_whole = |line: &&String| settings.credit.find(line).is_some_and(|found| found.start() == 0);
    let mut repeated = Vec::new();
    while let Some(more) = lines.get(end).filter(is_whole).filter(|line| names_acts(line)) {
        if acts.ends_with(more.as_str()) {
            repeated.push(more.clone());
        } else {
            acts = format!("{acts} {more}");
        }
        end += 1;
    }
    let behind = settings.notes.as_ref().and_then(|notes| notes.find(&acts)).map(|found| found.start());
    let notes = behind.filter(|&behind| behind > 0).map(|behind| acts.split_off(behind));
    Some(Credit { at, end, law: law.trim_end().to_owned(), acts: bare(&acts), notes, repeated })
}

/// Whether a line is only `Source:`, with the acts on the next line.
fn is_lead_alone(lines: &[String], at: usize) -> bool {
    let is_lead = matches!(lines[at].trim_end_matches([':', ' ']), "Source" | "History");
    is_lead && lines.get(at + 1).is_some_and(|next| names_acts(next))
}

/// The acts without the introducing word or brackets.
fn bare(acts: &str) -> String {
    let bare = acts.strip_prefix('[').and_then(|acts| acts.strip_suffix(']')).unwrap_or(acts);
    let bare = ["Source", "History", "HISTORY"].iter().find_map(|word| bare.strip_prefix(word)).unwrap_or(bare);
    bare.trim_start_matches([' ', ':']).trim_end().to_owned()
}

/// Whether words name acts: a year, a section or chapter, or an abbreviation of session laws with a number.
fn names_acts(words: &str) -> bool {
    let acts = Pattern::fixed(concat!(
        r"\b1[6-9]\d\d\b|\b20\d\d\b|§ ?\d",
        r"|\b(?:SL|S\.L\.|L\.?|Laws|Acts?|Stats?|P\.? ?A\.?|S\.A\.|Pub\. ?L\.|R\.?S\.?|C\.?L\.?|Rules?|Ord\.?|Ch\.?|ch\.?|cc?\.?|No\.?|sec\.?|ss?\.?|LB|RCP)",
        r",? ?(?:No\. )?\(?\w{0,2}\d",
        r"|\bRCP, Form \d",
    ));
    acts.is_match(words)
}

/// The kind of text after a supposed credit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AfterCredit {
    Nothing,
    Notes,
    Law,
    Unknown,
}

impl AfterCredit {
    fn of(after: &[String], settings: &StateJsonSettings) -> Self {
        let Some(first) = after.first() else { return Self::Nothing };
        if settings.notes.as_ref().is_some_and(|notes| notes.is_match(first)) || is_note(first) {
            Self::Notes
        } else if flat_text::begins_with_label(first)
            || next_credit(after, 0, settings).is_some()
            || is_command(first)
            || (after.iter().any(|line| flat_text::begins_with_label(line))
                && after.iter().any(|line| is_command(line)))
        {
            Self::Law
        } else {
            Self::Unknown
        }
    }
}

fn is_command(words: &str) -> bool {
    Pattern::fixed(r"\b(?:shall|must|may|does not)\b").is_match(words)
}

/// Whether a paragraph looks like an editor's note, by its lead, by words that begin notes, or by
/// the reports it cites.
fn is_note(line: &str) -> bool {
    // A short line with a reference or some words after a colon: `Weeds, city ordinance: RCW 35.21.310.`
    let lead = Pattern::fixed(r#"^\*?["“]?[A-Z0-9][^:]{2,200}: ?.{0,200}$|^\*?["“]?[A-Z0-9][^:."]{2,160}:"#);
    let has_lead = |form: &Pattern| form.find(line).is_some_and(|lead| !is_command(lead.as_str()));
    // A lead with a dash: `Effective date—2005 1st sp.s. c 409 s 3: "..."`, `Repeals.— Laws 2018`.
    let dashed = Pattern::fixed(r#"^\*?["“]?[A-Z0-9][^:]{2,300}—[^:]{0,300}:|^[A-Z][\w’', ]{2,60}\.\s?—|: See "#);
    let word = Pattern::fixed(concat!(
        r"^[*(]*(?:Note|NOTE|Cited|See|Former|Effective|History|Cross|Referred|Case|Annot|Subsec|Subdiv|Reviser|Revisor|Compiler",
        r"|Editor|Law Rev|Research|Attorney Gen|Prior|Amend|Commission|Applicab|Severab|Decision|Purpose|Intent|Finding|Contingent",
        r"|Expiration|Hawaii Leg|Revision|Repeals|Enacted|Omitted|Transferred|Renumbered)",
    ));
    // Case reports: `19 C. 334`, `10 CS 205`, `181 Conn. App. 12`.
    let report = Pattern::fixed(r"\b\d{1,3} (?:C|CA|CS|R|Conn|A|P|N\.W|S\.D)\.?(?:2d|3d)?(?: App\.| Supp\.)? ?\d");
    has_lead(&lead)
        || has_lead(&dashed)
        || word.is_match(line)
        || report.is_match(line)
        || flat_text::is_cross_reference(line)
}

/// The effect in a heading of Idaho: `PENALTIES — EFFECTIVE UPON A CERTAIN OCCURRENCE.`
pub(super) fn effect_in_heading(heading: &str) -> Effect {
    let remark = Pattern::fixed(r"— (EFFECTIVE UPON [^.]{2,200})\.?$").captures(heading);
    remark.map_or_else(Effect::default, |remark| Effect::unknown(&remark[1]))
}

/// The effective time that editors' notes state for a section: `Commission Note: This section is effective until ...`,
/// `Reviser's note: RCW 1.2.3 was amended by 2020 c 1 without cognizance of its repeal by 2020 c 2.`
pub(super) fn effect_in(notes: &[String], number: &str) -> Effect {
    let remark = Pattern::fixed(
        r"^[A-Z][\w' ]{2,40}: ?This section is ((?:effective|suspended|repealed)\b[^.]*?)(?:, (?:per|pursuant to) .*)?\.?$",
    );
    // Missouri goes on printing such sections, and does not say whether they were extended.
    let sunset = Pattern::fixed(r"^(?:Sunset date|Terminates|Expires) \d{1,2}-\d{1,2}-\d{2,4}\b");
    // Acts of one session of which one repeals what the other amends. The section is printed, whichever is law.
    let conflict = Pattern::fixed(concat!(
        r"(?P<remark>(?:This section|RCW (?P<number>[\d.A-Z]+\d)) was (?:also )?",
        r"(?:repealed.{3,120}? without cognizance of its amendment|amended.{3,120}? without cognizance of (?:its|the) repeal).*?)",
        r"(?:\. For |\.?$)",
    ));
    let is_own = |found: &regex::Captures<'_>| found.name("number").is_none_or(|named| named.as_str() == number);
    let read = |note: &String| match (remark.captures(note), conflict.captures(note).filter(is_own)) {
        (Some(remark), _) => Some(effect_of(remark[1].to_owned())),
        (None, Some(conflict)) => Some(Effect::unknown(&conflict["remark"])),
        (None, None) => sunset.is_match(note).then(|| Effect::unknown(note)),
    };
    notes.iter().filter_map(read).fold(Effect::default(), Effect::and)
}
