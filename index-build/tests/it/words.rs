//! Compares the words of a source with the words of the nodes imported from it: nothing may be lost
//! or invented.
//!
//! A test walks the source independently and reports every word of it to an [`Account`]. Words that
//! an importer leaves out or adds on purpose are reported under the name of a rule. Any remaining
//! difference is a mistake.

use std::collections::BTreeMap;
use std::collections::HashMap;

use hornbook_index_build::content::Content;

/// A multiset of words. A word is a run of letters and digits.
#[derive(Clone, Debug, Default)]
pub(crate) struct Words(HashMap<String, i64>);

impl Words {
    pub(crate) fn of(text: &str) -> Self {
        let mut words = Self::default();
        words.add(text, 1);
        words
    }

    /// Adds the words of a text `times` times; a negative number removes them.
    pub(crate) fn add(&mut self, text: &str, times: i64) {
        for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
            match self.0.get_mut(word) {
                Some(count) => *count += times,
                None => {
                    self.0.insert(word.to_owned(), times);
                }
            }
        }
    }

    pub(crate) fn count(&self) -> i64 {
        self.0.values().map(|count| count.abs()).sum()
    }

    /// The difference to the other multiset: words in surplus here (above zero) and missing words (below zero).
    pub(crate) fn less(mut self, other: &Self) -> Self {
        for (word, count) in &other.0 {
            *self.0.entry(word.clone()).or_default() -= count;
        }
        self.0.retain(|_, count| *count != 0);
        self
    }

    /// The words that differ, most frequent first.
    pub(crate) fn listed(&self) -> Vec<(String, i64)> {
        let mut listed: Vec<(String, i64)> =
            self.0.iter().filter(|(_, count)| **count != 0).map(|(word, count)| (word.clone(), *count)).collect();
        listed.sort_by_key(|(word, count)| (-count.abs(), word.clone()));
        listed
    }
}

/// The words of a source minus those of its nodes, and the words that rules explain.
#[derive(Debug, Default)]
pub(crate) struct WordLedger {
    balance: Words,
    rules: BTreeMap<&'static str, u64>,
}

impl WordLedger {
    /// Adds words of the source.
    pub(crate) fn source(&mut self, text: &str) {
        self.balance.add(text, 1);
    }

    /// Records words of the source that the importer leaves out.
    pub(crate) fn left_out(&mut self, rule: &'static str, text: &str) {
        *self.rules.entry(rule).or_default() += Words::of(text).count() as u64;
    }

    /// Records words that are not in the source and that the importer adds.
    pub(crate) fn added(&mut self, rule: &'static str, text: &str) {
        self.balance.add(text, 1);
        *self.rules.entry(rule).or_default() += Words::of(text).count() as u64;
    }

    /// Records words of the source that the importer keeps in another form.
    pub(crate) fn kept_as(&mut self, rule: &'static str, text: &str) {
        self.balance.add(text, -1);
        *self.rules.entry(rule).or_default() += Words::of(text).count() as u64;
    }

    /// Subtracts the words of a node: heading, text, remark, notes, source credit, other wordings,
    /// and the number of a provision. The number of a container is in its heading.
    pub(crate) fn imported(&mut self, content: &Content) {
        self.take(content, remark_at_heading);
    }

    /// Does the same for a source that prints its remarks outside text and notes, whether or not
    /// these repeat them.
    pub(crate) fn imported_with_remarks_apart(&mut self, content: &Content) {
        self.take(content, |content| content.effect.remark.clone());
    }

    fn take(&mut self, content: &Content, remark_of: fn(&Content) -> Option<String>) {
        let number = content.number.as_deref().filter(|_| content.text.is_some());
        let own = [Some(content.heading.as_str()), content.text.as_deref(), number, content.source_credit.as_deref()];
        let remark = remark_of(content);
        let notes = content.notes.iter().flat_map(|note| [note.topic.as_str(), note.text.as_str()]);
        for text in own.into_iter().flatten().chain(remark.as_deref()).chain(notes) {
            self.balance.add(text, -1);
        }
        content.wordings.iter().for_each(|wording| self.take(wording, remark_of));
    }

    /// The number of words that each rule explains.
    pub(crate) fn rules(&self) -> &BTreeMap<&'static str, u64> {
        &self.rules
    }

    /// The lost words (above zero) and invented words (below zero), if any.
    pub(crate) fn unsettled(&self, what: &str) -> Option<String> {
        let open = self.balance.listed();
        let first = &open[..open.len().min(60)];
        (!open.is_empty()).then(|| format!("{what}: {} words differ: {first:?}", open.len()))
    }

    /// Fails if a word is lost or invented.
    pub(crate) fn assert_settled(&self, what: &str) {
        assert_eq!(self.unsettled(what), None);
    }
}

/// A remark, without the parts that repeat the text or a note.
pub(crate) fn remark_at_heading(content: &Content) -> Option<String> {
    let remark = content.effect.remark.as_deref()?;
    let text = content.text.as_deref().unwrap_or_default();
    let folded = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let is_note =
        content.notes.iter().any(|note| folded(&format!("{}: {}", note.topic, note.text)).starts_with(&folded(remark)));
    let own: Vec<&str> = if is_note || text.contains(remark) {
        Vec::new()
    } else {
        remark.split("; ").filter(|part| !text.contains(part)).collect()
    };
    (!own.is_empty()).then(|| own.join("; "))
}

#[test]
fn lost_and_invented_words_are_distinguished() {
    let node = |text: &str| Content { text: Some(text.into()), ..Content::default() };
    let mut account = WordLedger::default();
    account.source("The owner shall pay.");
    account.imported(&node("The owner shall pay."));
    account.assert_settled("the same");
    account.imported(&node("twice"));
    assert_eq!(account.balance.listed(), [("twice".to_owned(), -1)]);
    account.added("repeats", "twice");
    account.source("lost");
    assert_eq!(account.balance.listed(), [("lost".to_owned(), 1)]);
    assert_eq!(account.rules()["repeats"], 1);
    assert_eq!(
        Words::of("a b a").less(&Words::of("a c")).listed(),
        [("a".into(), 1), ("b".into(), 1), ("c".into(), -1)]
    );
}
