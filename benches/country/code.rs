//! Writes one synthetic code in the native format: titles, chapters and sections, until it has its
//! number of chunks.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use hornbook_base::random::SplitMix64;
use hornbook_corpus::chunks::{Chunker, sentence_ends};
use hornbook_corpus::jurisdictions::GovernmentLevel;
use hornbook_corpus::outline::Status;
use serde::Serialize;
use zstd::stream::write::{AutoFinishEncoder, Encoder};

use crate::alter::SentenceAlterer;
use crate::law::{Group, RealLaw};
use crate::places::Code;

/// Chapters per title. The list has fewer large titles than small ones.
const CHAPTERS: [usize; 8] = [8, 12, 18, 25, 35, 50, 80, 120];
const SECTIONS_MIN: usize = 4;
const SECTIONS_MAX: usize = 70;
/// A chapter with more sections than this is divided into parts of this many sections.
const PART_SECTIONS: usize = 24;
/// The share of a non-federal code's titles that are made from federal law. No real state in the
/// snapshots has law on every subject.
const FEDERAL_TITLE_SHARE: f64 = 0.3;
/// The share of sentences that stay those of the provision that is the model of a section. The
/// others are replaced by a sentence of the same subject.
const KEPT_SENTENCE_SHARE: f64 = 0.5;
/// The share of replacement sentences that come from the next subject.
const NEXT_SUBJECT_SHARE: f64 = 0.12;
const DROPPED_SENTENCE_SHARE: f64 = 0.07;
const ADDED_SENTENCE_SHARE: f64 = 0.07;
/// The chance that a provision which is not in force is used as a model.
const REPEALED_MODEL_CHANCE: f64 = 0.4;
/// Writing of a section stops after the line in which it exceeds this length.
const TEXT_BYTES_MAX: usize = 40_000;
/// One in this many sections is cut into chunks as the builder does. The chunks of the others are estimated.
const CHUNKED_ONE_IN: u64 = 16;
/// The approximate length of a chunk.
const CHUNK_BYTES: u64 = 900;

/// A line of the native format.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Line<'a> {
    key: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<&'a str>,
    level: &'a str,
    number: &'a str,
    heading: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<Status>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source_credit: Option<String>,
}

/// Totals of a written code.
#[derive(Default)]
pub(crate) struct CodeTotals {
    pub(crate) provisions: u64,
    pub(crate) chunks: u64,
    pub(crate) text_bytes: u64,
    /// A hash of each text.
    pub(crate) texts: Vec<u64>,
}

pub(crate) struct CodeWriter<'a> {
    code: &'a Code,
    varied: SentenceAlterer<'a>,
    out: AutoFinishEncoder<'static, File>,
    /// The number of sections of each chapter of each title.
    sections: Vec<Vec<u16>>,
    estimate: ChunkEstimate,
    chunker: Chunker,
    written: CodeTotals,
    progress: &'a AtomicU64,
}

/// Estimates the number of chunks: from the lengths of all sections, corrected by the exact count of some.
#[derive(Default)]
struct ChunkEstimate {
    by_length: u64,
    cut: u64,
    cut_by_length: u64,
}

impl ChunkEstimate {
    fn chunks(&self) -> u64 {
        let ratio = if self.cut_by_length < 64 { 1.0 } else { self.cut as f64 / self.cut_by_length as f64 };
        (self.by_length as f64 * ratio) as u64
    }
}

impl<'a> CodeWriter<'a> {
    pub(crate) fn create(
        code: &'a Code,
        folder: &Path,
        varied: SentenceAlterer<'a>,
        progress: &'a AtomicU64,
    ) -> io::Result<Self> {
        Ok(Self {
            code,
            varied,
            out: Encoder::new(File::create_new(folder.join(code.file()))?, 1)?.auto_finish(),
            sections: Vec::new(),
            estimate: ChunkEstimate::default(),
            chunker: Chunker::new(),
            written: CodeTotals::default(),
            progress,
        })
    }

    /// Writes titles until the code has its number of chunks.
    pub(crate) fn write(mut self) -> io::Result<CodeTotals> {
        while !self.is_full() {
            self.title()?;
        }
        self.out.flush()?;
        self.written.chunks = self.estimate.chunks();
        Ok(self.written)
    }

    fn is_full(&self) -> bool {
        self.estimate.chunks() >= self.code.chunks
    }

    /// Writes a title whose chapters have subjects that follow each other in a real code.
    fn title(&mut self) -> io::Result<()> {
        let law = self.varied.law;
        let is_federal = self.code.level == GovernmentLevel::Federal;
        let is_foreign = !is_federal && self.varied.chance(FEDERAL_TITLE_SHARE);
        let groups = law.groups_for(self.code.kind, is_federal || is_foreign);
        let mut subject = self.varied.random.index(groups.len());
        let title = self.sections.len() + 1;
        self.sections.push(Vec::new());
        let key = format!("t{title}");
        let heading = self.heading_of_container(groups[subject], 0);
        self.line(&Line {
            key: &key,
            parent: None,
            level: "title",
            number: &title.to_string(),
            heading: &heading,
            text: None,
            status: None,
            source_credit: None,
        })?;
        // No title takes much more than an eighth of the chunks, so that even a small code has several titles.
        let most = self.varied.random.index(CHAPTERS.len());
        let room = self.code.chunks / 8;
        let begun = self.estimate.chunks();
        for _ in 0..CHAPTERS[most] {
            let next = (subject + 1) % groups.len();
            self.chapter(&key, groups[subject], groups[next])?;
            if self.is_full() || self.estimate.chunks() - begun > room {
                break;
            }
            subject = (subject + 1 + self.varied.random.index(2)) % groups.len();
        }
        Ok(())
    }

    fn chapter(&mut self, title_key: &str, group: &Group, next: &Group) -> io::Result<()> {
        let title = self.sections.len();
        let chapter = self.sections[title - 1].len() + 1;
        let real = group.provisions.len();
        let count = (real / 2 + self.varied.random.index(real + 1)).clamp(SECTIONS_MIN, SECTIONS_MAX);
        self.sections[title - 1].push(count as u16);
        let key = format!("{title_key}/c{chapter}");
        let heading = self.heading_of_container(group, 1);
        self.line(&Line {
            key: &key,
            parent: Some(title_key),
            level: "chapter",
            number: &chapter.to_string(),
            heading: &heading,
            text: None,
            status: None,
            source_credit: None,
        })?;
        let first = self.varied.random.index(real);
        let mut parent = key.clone();
        for section in 1..=count {
            if count > PART_SECTIONS && section % PART_SECTIONS == 1 {
                let part = section / PART_SECTIONS + 1;
                parent = format!("{key}/p{part}");
                let heading = self.heading(group);
                self.line(&Line {
                    key: &parent,
                    parent: Some(&key),
                    level: "part",
                    number: &part.to_string(),
                    heading: &heading,
                    text: None,
                    status: None,
                    source_credit: None,
                })?;
            }
            self.section(&parent, [title, chapter, section], first, group, next)?;
            if self.is_full() {
                break;
            }
        }
        Ok(())
    }

    fn section(
        &mut self,
        parent: &str,
        [title, chapter, section]: [usize; 3],
        first: usize,
        group: &Group,
        next: &Group,
    ) -> io::Result<()> {
        let law = self.varied.law;
        let real = group.provisions.len();
        let mut form = group.provisions[(first + section) % real];
        if !law.status(form).may_be_in_force() && !self.varied.chance(REPEALED_MODEL_CHANCE) {
            form = group.provisions[self.varied.random.index(real)];
        }
        let number = self.code.number(title, chapter, section);
        let own_heading = self.varied.chance(0.5);
        let heading = if own_heading { self.altered(law.heading(form), group) } else { self.heading(group) };
        let text = self.text(law.text(form), group, next);
        let status = law.status(form);
        let credit = format!(
            "Acts {}, ch. {}, § {}.",
            1850 + self.varied.random.index(176),
            1 + self.varied.random.index(900),
            1 + self.varied.random.index(40)
        );
        self.count(&text);
        self.line(&Line {
            key: &format!("{parent}/s{}", number.to_ascii_lowercase()),
            parent: Some(parent),
            level: "section",
            number: &number,
            heading: &heading,
            text: Some(&text),
            status: (!status.may_be_in_force()).then_some(status),
            source_credit: Some(credit),
        })
    }

    fn count(&mut self, text: &str) {
        let by_length = (text.len() as u64).div_ceil(CHUNK_BYTES).max(1);
        self.estimate.by_length += by_length;
        if self.written.provisions.is_multiple_of(CHUNKED_ONE_IN) {
            self.estimate.cut_by_length += by_length;
            self.estimate.cut += self.chunker.chunk(text).len().max(1) as u64;
        }
        self.written.provisions += 1;
        self.written.text_bytes += text.len() as u64;
        self.written.texts.push(crate::alter::hash(text));
        self.progress.fetch_add(by_length, Ordering::Relaxed);
    }

    /// The lines of the model text. Each keeps its own sentences or gets others of the same
    /// subject; all are altered.
    fn text(&mut self, form: &str, group: &Group, next: &Group) -> String {
        let law = self.varied.law;
        let mut out = String::with_capacity(form.len() + form.len() / 4);
        for line in form.lines() {
            if !out.is_empty() {
                out.push('\n');
            }
            let (label, body) = line.split_at(label_len(line));
            out.push_str(label);
            let (mut from, written) = (0, out.len());
            for to in sentence_ends(body) {
                let own = body[from..to].trim();
                from = to;
                let is_needed = out.len() == written;
                if own.is_empty() || !is_needed && self.varied.chance(DROPPED_SENTENCE_SHARE) {
                    continue;
                }
                self.sentence(own, group, next, &mut out);
                if own.len() > 40 && self.varied.chance(ADDED_SENTENCE_SHARE) {
                    let added = law.some_sentence(group, &mut self.varied.random);
                    self.altered_after(added, group, &mut out);
                }
            }
            if out.len() > TEXT_BYTES_MAX {
                break;
            }
        }
        out
    }

    fn sentence(&mut self, own: &str, group: &Group, next: &Group, out: &mut String) {
        let law: &RealLaw = self.varied.law;
        // Short pieces are labels and forms, not sentences.
        let stays = own.len() <= 40 || self.varied.chance(KEPT_SENTENCE_SHARE);
        if stays {
            return self.altered_after(own, group, out);
        }
        let from = if self.varied.chance(NEXT_SUBJECT_SHARE) { next } else { group };
        let taken = law.some_sentence(from, &mut self.varied.random);
        let taken = taken[label_len(taken)..].trim();
        self.altered_after(if taken.len() > 40 { taken } else { own }, from, out);
    }

    fn altered_after(&mut self, sentence: &str, group: &Group, out: &mut String) {
        if !out.is_empty() && !out.ends_with(['\n', ' ']) {
            out.push(' ');
        }
        let (code, sections) = (self.code, &self.sections);
        let mut cite =
            |random: &mut SplitMix64, out: &mut String| out.push_str(&existing_number(code, sections, random));
        self.varied.push(sentence, group, &mut cite, out);
    }

    fn altered(&mut self, text: &str, group: &Group) -> String {
        let mut out = String::with_capacity(text.len() + 16);
        self.altered_after(text, group, &mut out);
        out
    }

    /// A heading for something in the group: one of the group's headings, or two of them joined.
    fn heading(&mut self, group: &Group) -> String {
        let law = self.varied.law;
        let some = |random: &mut SplitMix64| law.heading(group.provisions[random.index(group.provisions.len())]);
        let mut heading = some(&mut self.varied.random).to_owned();
        if heading.len() < 60 && self.varied.chance(0.3) {
            let second = some(&mut self.varied.random);
            heading = format!("{}; {second}", heading.trim_end_matches('.'));
        }
        let altered = self.altered(&heading, group);
        if altered.trim().is_empty() { "General".to_owned() } else { altered }
    }

    fn heading_of_container(&mut self, group: &Group, level: usize) -> String {
        let above = self.varied.law.headings_above(group);
        let own = if level == 0 { above.first() } else { above.last() };
        match own {
            Some(heading) if !heading.trim().is_empty() => {
                let heading = (*heading).to_owned();
                self.altered(&heading, group)
            }
            _ => self.heading(group),
        }
    }

    fn line(&mut self, line: &Line<'_>) -> io::Result<()> {
        serde_json::to_writer(&mut self.out, line)?;
        self.out.write_all(b"\n")
    }
}

/// The number of an existing provision: usually in the same chapter, sometimes in the same title or
/// anywhere in the code.
fn existing_number(code: &Code, sections: &[Vec<u16>], random: &mut SplitMix64) -> String {
    let near = random.below(10);
    let title = if near < 8 { sections.len() - 1 } else { random.index(sections.len()) };
    let chapters = &sections[title];
    let Some(last) = chapters.len().checked_sub(1) else { return code.number(title + 1, 1, 1) };
    let chapter = if near < 6 { last } else { random.index(chapters.len()) };
    let section = 1 + random.index(usize::from(chapters[chapter]));
    code.number(title + 1, chapter + 1, section)
}

/// The length of the label at the start of a line: `(a)(1) `, `A. `, `12. `.
fn label_len(line: &str) -> usize {
    let bytes = line.as_bytes();
    let mut at = 0;
    while bytes.get(at) == Some(&b'(') {
        let Some(end) = line[at..].find(')').filter(|&end| end <= 6) else { break };
        at += end + 1;
    }
    if at == 0 {
        let end = line.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(0);
        if end == 0 || end > 3 || !line[end..].starts_with(". ") {
            return 0;
        }
        at = end + 1;
    }
    at + bytes[at..].iter().take_while(|&&byte| byte == b' ').count()
}
