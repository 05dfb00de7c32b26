//! The formats of a node beside JSON: Markdown, plain text, and the text for models.

use std::fmt::Write as _;

use hornbook_corpus::layout::LayoutRef;
use hornbook_corpus::outline::Status;
use hornbook_search::LawOnDay;

use super::include::IncludedPart;
use super::law_markdown;
use super::node::{NodeReply, NoteReply, Provenance, WordingReply};
use crate::api::corpus::Corpus;
use crate::api::currency::Currency;
use crate::api::error::ApiError;
use crate::api::model_text::{ForModel, ModelText, Standing};

impl NodeReply<'_> {
    /// Everything that a person who quotes the law must know. Before the text it states whether the law
    /// is in force.
    pub(super) fn as_markdown(&self, corpus: &Corpus, law: &LawOnDay) -> Result<String, ApiError> {
        Ok(self.markdown_with_layouts(&self.layouts(corpus, law)?))
    }

    /// The layouts of the text, of the other wordings and of the notes, in this order.
    pub fn layouts<'c>(&self, corpus: &'c Corpus, law: &LawOnDay) -> Result<Vec<Option<LayoutRef<'c>>>, ApiError> {
        let Some(node) = corpus.snapshot().ordinal(self.id) else { return Ok(Vec::new()) };
        let shown = law.shown(node).place;
        let first_note = corpus.snapshot().nodes.get(node)?.first_note_of(shown);
        let others = (0..=self.wordings.len()).filter(|place| *place != shown);
        let notes = first_note..first_note + self.notes.len();
        let parts = std::iter::once(shown).chain(others).chain(notes);
        Ok(parts.map(|part| corpus.snapshot().layouts.of_part(node, part)).collect())
    }

    fn markdown_with_layouts(&self, layouts: &[Option<LayoutRef<'_>>]) -> String {
        let Self { citation, heading, .. } = self;
        let set = |text, part: usize| law_markdown::of(text, layouts.get(part).copied().flatten());
        let mut out = format!("# {citation} {heading}\n\n*{}*\n\n", self.breadcrumb.join(" > "));
        for line in self.status_lines() {
            out += &format!("**{line}**\n\n");
        }
        out += &format!("{}\n", set(&self.text, 0));
        if let Some(credit) = &self.source_credit {
            out += &format!("\n{credit}\n");
        }
        for (wording, part) in self.wordings.iter().zip(1..).filter(|(wording, _)| self.has_text_of(wording)) {
            let WordingReply { label, text, source_credit, .. } = wording;
            out += &format!("\n## {label}\n\n*{}*\n\n{}\n", wording.days(), set(text, part));
            if let Some(credit) = source_credit {
                out += &format!("\n{credit}\n");
            }
        }
        for (NoteReply { topic, text }, part) in self.notes.iter().zip(1 + self.wordings.len()..) {
            out += &format!("\n## {topic}\n\n{}\n", set(text, part));
        }
        if let Some(line) = self.left_out_line() {
            out += &format!("\n*{line}*\n");
        }
        out + &format!("\n---\n{}\n", self.source_line())
    }

    /// Whether the text of another wording was not left out.
    fn has_text_of(&self, wording: &WordingReply<'_>) -> bool {
        !wording.text.is_empty() || !self.left_out.iter().any(|part| &**part == IncludedPart::Wordings.name())
    }

    /// What there is besides, and how to get it.
    fn left_out_line(&self) -> Option<String> {
        let names: Vec<&str> = self.left_out.iter().map(|part| &**part).collect();
        let (last, rest) = names.split_last()?;
        let listed = if rest.is_empty() { (*last).to_owned() } else { format!("{} and {last}", rest.join(", ")) };
        Some(format!("Not shown: {listed}; include={} adds them.", names.join(",")))
    }

    /// Only the law, with its citation, heading, status lines and source.
    pub(super) fn as_text(&self) -> String {
        let standing: String = self.status_lines().into_iter().map(|line| line + "\n").collect();
        format!(
            "{}\n{}\n{}\n{standing}\n{}\n\n{}\n",
            self.citation,
            self.heading,
            self.breadcrumb.join(" > "),
            self.text,
            self.source_line()
        )
    }

    pub(super) fn standing(&self) -> Standing {
        Standing {
            status: self.status,
            from: self.effective_from,
            to: self.effective_to,
            through: self.provenance.current_through,
            retrieved: self.provenance.day_of_copy(),
        }
    }

    /// What a reader must know before the text: status, days, successors, and what the edition does not know.
    fn status_lines(&self) -> Vec<String> {
        let mut facts = vec![format!("Status: {}", self.status.as_str())];
        facts.extend(self.effective_from.map(|day| format!("from {day}")));
        facts.extend(self.effective_to.map(|day| format!("until {day}")));
        let mut lines = vec![facts.join(", ")];
        if self.status == Status::Uncertain {
            lines.extend(self.validity_remark.as_ref().map(|remark| format!("The publisher says: {remark}")));
        }
        let successors: Vec<&str> = self.successors.iter().map(|successor| &*successor.citation).collect();
        match &self.now {
            _ if !successors.is_empty() => lines.push(format!("Now: {}", successors.join("; "))),
            Some(now) => lines.push(format!("Now: {now}, which this corpus does not contain")),
            None => {}
        }
        lines.extend(self.notice.clone());
        lines
    }

    fn currency(&self) -> Option<String> {
        let Provenance { current_through: through, .. } = self.provenance;
        let currency = Currency { through, retrieved: self.provenance.day_of_copy(), is_outdated: false };
        Some(currency.to_string()).filter(|words| !words.is_empty())
    }

    /// Publisher, edition, URLs and hash, as far as they are known.
    fn source_line(&self) -> String {
        let Provenance { publisher, edition, source_url, official_url, content_hash, .. } = &self.provenance;
        let known = [
            publisher.as_deref().map(str::to_owned),
            edition.as_deref().map(str::to_owned),
            self.currency(),
            official_url.clone(),
            source_url.clone(),
        ];
        let known: Vec<String> = known.into_iter().flatten().chain([content_hash.clone()]).collect();
        known.join("; ")
    }
}

impl ForModel for NodeReply<'_> {
    fn for_model(&self) -> ModelText {
        let Self { id, url, citation, heading, .. } = self;
        let standing = self.standing();
        let around = self.breadcrumb.join(" > ");
        let mut out = format!("# {citation} {heading}\n{around}\nPage: {url}\nStatus: {standing}\n");
        if let Some(remark) = &self.validity_remark {
            let _ = writeln!(out, "The publisher says: {remark}");
        }
        for successor in &self.successors {
            let _ = writeln!(out, "Now: {} {} (id {})", successor.citation, successor.heading, successor.id);
        }
        if let Some(now) = self.now.as_ref().filter(|_| self.successors.is_empty()) {
            let _ = writeln!(out, "Now: {now}, which this corpus does not contain");
        }
        if let Some(notice) = &self.notice {
            let _ = writeln!(out, "Note: {notice}");
        }
        let _ = writeln!(out, "\n{}", self.text);
        if self.child_count > 0 {
            let _ =
                writeln!(out, "\nIt contains {} more; list them with law.browse and parent {id}.", self.child_count);
        }
        let credits = self.source_credit.as_deref().map(|credit| format!("Source credit: {credit}"));
        let former = joined("Formerly", &self.formerly);
        let parallel = joined("Also cited as", &self.parallel_citations);
        for line in [credits, former, parallel].into_iter().flatten() {
            let _ = writeln!(out, "\n{line}");
        }
        let others = self.wordings.iter().map(|wording| (&wording.label, &wording.text));
        let others = others.chain(self.notes.iter().map(|note| (&note.topic, &note.text)));
        for (name, text) in others.filter(|(_, text)| !text.is_empty()) {
            let _ = writeln!(out, "\n## {name}\n{text}");
        }
        for (list, what) in [(&self.references.out, "Cites"), (&self.references.r#in, "Cited by")] {
            if list.total > 0 {
                let cited = list.nodes.iter().map(|link| format!("{} (id {})", link.citation, link.id));
                let more = if list.total > list.nodes.len() { "; law.references lists all" } else { "" };
                let _ = writeln!(out, "\n{what} {}: {}{more}", list.total, cited.collect::<Vec<_>>().join("; "));
            }
        }
        if let Some(line) = self.left_out_line() {
            let _ = writeln!(out, "\n{line}");
        }
        let Provenance { source_url, official_url, publisher, .. } = &self.provenance;
        let currency = self.currency();
        let source = [publisher.as_deref(), currency.as_deref(), official_url.as_deref().or(source_url.as_deref())];
        let source: Vec<&str> = source.into_iter().flatten().collect();
        if !source.is_empty() {
            let _ = writeln!(out, "\nSource: {}", source.join("; "));
        }
        let mut shown = ModelText::of(out);
        shown.link(*id, citation, heading);
        shown
    }
}

fn joined(what: &str, citations: &[String]) -> Option<String> {
    (!citations.is_empty()).then(|| format!("{what}: {}", citations.join("; ")))
}

impl WordingReply<'_> {
    /// Its status and its days, as far as the source states them.
    fn days(&self) -> String {
        let mut facts = vec![self.status.as_str().to_owned()];
        facts.extend(self.effective_from.map(|day| format!("from {day}")));
        facts.extend(self.effective_to.map(|day| format!("until {day}")));
        facts.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use hornbook_corpus::ids::NodeId;
    use hornbook_corpus::layout::{Layout, Line, LineKind};
    use sha2::{Digest, Sha256};
    use uuid::Uuid;

    use super::*;
    use crate::api::corpus::NodeLink;
    use crate::api::endpoints::node::format_version;
    use crate::api::endpoints::references::NodeReferences;
    use crate::api::reply::Format;
    use hornbook_base::hex;

    /// A provision with every field that a format can write.
    fn whole() -> NodeReply<'static> {
        let dated = |date: &str| Some(date.parse().unwrap());
        let link = || NodeLink {
            id: NodeId(Uuid::from_u128(2)),
            url: "https://law.example/test/t9".into(),
            citation: "Title 9".into(),
            heading: "Lights".into(),
            status: Status::InForce,
            effective_from: None,
            effective_to: None,
            current_through: dated("2021-06-30"),
            retrieved_at: None,
        };
        let said = |words: &str| Some(words.to_owned());
        NodeReply {
            id: NodeId(Uuid::from_u128(1)),
            url: "https://law.example/test/s9.1".into(),
            citation: "Test Code § 9.1".into(),
            heading: "Lamps".into(),
            text: "(a) As follows:\nLamp\tWatts\nRed|blue\t40".into(),
            breadcrumb: vec!["Test Code".into(), "Lights".into()],
            jurisdiction: None,
            code_body: Some("Test Code".into()),
            code_body_id: None,
            level: "section".into(),
            number: Some("9.1".into()),
            status: Status::Repealed,
            path: vec![link()],
            parent: Some(link()),
            previous: None,
            next: Some(link()),
            child_count: 0,
            tags: vec!["statute".into()],
            notes: vec![NoteReply { topic: "Amendments".into(), text: "2020: All.".into() }],
            source_credit: Some("(1999, c. 1.)".into()),
            effective_from: dated("2020-01-01"),
            effective_to: dated("2021-01-01"),
            validity_remark: said("Expires soon"),
            notice: said("This edition is current through 2021-06-30. It does not have later changes."),
            is_outdated: false,
            now: said("Test Code § 9.2"),
            successors: vec![link()],
            wordings: vec![WordingReply {
                label: "Effective later".into(),
                heading: "Lamps".into(),
                status: Status::InForce,
                effective_from: dated("2022-01-01"),
                effective_to: None,
                text: "None.".into(),
                source_credit: Some("(2021, c. 2.)".into()),
                notes: vec![NoteReply { topic: "Editor's note".into(), text: "Later.".into() }],
                source_url: None,
            }],
            formerly: vec!["Test Code § 8.1".into()],
            parallel_citations: Vec::new(),
            left_out: Vec::new(),
            references: NodeReferences::default(),
            provenance: Provenance {
                source_url: said("https://example.org"),
                official_url: said("https://example.org/1"),
                publisher: Some("Publisher".into()),
                edition: Some("2021".into()),
                current_through: dated("2021-06-30"),
                retrieved_at: Some("2021-07-01".into()),
                license: Some("CC0 1.0".into()),
                content_hash: "sha256:00".into(),
                snapshot: "s".into(),
            },
        }
    }

    /// If the bytes of a format change, raise its edition and write its new hash here.
    #[test]
    fn changed_output_needs_a_new_format_version() {
        let node = whole();
        let row = |kind| Line::in_table(kind, 0, 0);
        let lines = vec![Line::labelled(LineKind::Paragraph, 0, 3), row(LineKind::TableHead), row(LineKind::TableRow)];
        let layout = Layout { lines, marks: Vec::new() };
        assert_eq!(layout.check_against_text(&node.text), None);
        let written = [
            (Format::Json, serde_json::to_string(&node).unwrap()),
            (Format::Markdown, node.markdown_with_layouts(&[Some(layout.as_ref())])),
            (Format::Text, node.as_text()),
        ];
        let now = written.each_ref().map(|(format, written)| {
            (format.name(), format_version(*format), hex::encode(&Sha256::digest(written)[..8]))
        });
        let then = [("json", 8, "411aef532f966e7f"), ("md", 5, "ec77d060439ba090"), ("txt", 5, "2f2135a53e7f3fa3")];
        assert_eq!(now, then.map(|(format, edition, hash)| (format, edition, hash.to_owned())), "{written:#?}");
    }
}
