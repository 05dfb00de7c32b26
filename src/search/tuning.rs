//! Every number of the search that was chosen by measurement. `benches/README.md` has the figures, and
//! `hornbook eval --try` compares another number with these.

use serde::{Deserialize, Serialize};

use super::feature::{Feature, Features};
use super::request::Depth;
use super::understand::QueryKind;

/// How a search weighs what it finds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Tuning {
    pub heading: FieldTuning,
    pub text: FieldTuning,
    pub citation: FieldTuning,
    pub breadcrumb: FieldTuning,
    /// How soon further occurrences of a word stop counting.
    pub saturation: f32,
    /// What part of a query's weight a keyword match must carry.
    pub share_required: f32,
    /// How many chunks the semantic leg looks at where it is asked alone.
    pub chunk_candidates: usize,
    /// A passage that is less similar to the query than this is not near in meaning, and no hit by that alone. Of the
    /// passages that answer the judged queries over the US Code, the least similar is at 0.29.
    pub similarity_floor: f32,
    /// The same for a query that shares no word with the law. Nonsense is made of the same word pieces as words and has its
    /// nearest passage too: random letters reach 0.48, random digits and letters 0.62 over the US Code, and words that
    /// the law does not have (vaping, dashcam) reach 0.37 with passages about something else, misspelt words 0.39.
    pub similarity_floor_without_words: f32,
    /// `similarity_floor` and `similarity_floor_without_words` of the second space, if the snapshot has one.
    pub encoded_floor: f32,
    pub encoded_floor_without_words: f32,
    /// How many of the best living and of the best dead keyword matches are fused with what the semantic leg found.
    pub keyword_candidates: usize,
    /// Likeness of tokens below this counts nothing in late interaction.
    pub likeness_floor: f32,
    /// Likeness is raised to this power.
    pub likeness_power: f32,
    /// What part of its score law that is no longer in force keeps.
    pub dead: f32,
    /// What part of its score law keeps that is not of the place which the query probably names.
    pub elsewhere: f32,
    /// The keyword leg counts as much as this power of the part of the query that its best match has.
    pub coverage_power: f32,
    /// What a synonym of a word counts against the word itself; 0 turns synonyms off.
    pub synonym_share: f32,
    /// The same for a word that at most one of so many provisions has: who says it means what the law calls otherwise.
    pub rare_synonym_share: f32,
    pub rare_word_one_of: u32,
    pub question: KindTuning,
    pub topic: KindTuning,
    pub phrase: KindTuning,
    /// The same where the encoder of the second space embeds the query.
    pub deep: DeepTuning,
}

/// How deep searches weigh what they find.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DeepTuning {
    /// The least likeness in the second space, and the same for a query that shares no word with the law.
    pub floor: f32,
    pub floor_without_words: f32,
    pub question: KindTuning,
    pub topic: KindTuning,
    pub phrase: KindTuning,
}

/// How much a word is worth in a field, and how much a long field takes away from it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FieldTuning {
    pub weight: f32,
    pub length_normalisation: f32,
}

/// What the legs are worth for a kind of query.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct KindTuning {
    /// What the keyword leg is worth in hybrid mode against the semantic leg's one, if its best match has all of the query.
    pub keyword: f32,
    /// What part of the semantic score is late interaction.
    pub interaction: f32,
    /// What part of the semantic score is likeness in the second space, if the snapshot has one. What neither this nor late
    /// interaction takes is likeness in the first. A space that counts nothing is not searched.
    pub encoded: f32,
    /// What is added where the words stand in a row as they were typed.
    pub in_a_row: f32,
    /// What being cited by others is worth.
    pub cited_by: f32,
    /// How many chunks the semantic leg looks at in hybrid mode: fewer where the keyword leg finds what is further down.
    pub chunk_candidates: usize,
}

/// Of words of the law, in fast and deep searches alike.
const PHRASE: KindTuning =
    KindTuning { keyword: 2.0, interaction: 0.45, encoded: 0.3, in_a_row: 0.6, cited_by: 0.0, chunk_candidates: 64 };

impl Tuning {
    /// The numbers of a kind of query.
    pub(super) fn of(&self, depth: Depth, kind: QueryKind) -> &KindTuning {
        match (depth, kind) {
            (Depth::Fast, QueryKind::Question) => &self.question,
            (Depth::Fast, QueryKind::Topic) => &self.topic,
            (Depth::Fast, QueryKind::Phrase) => &self.phrase,
            (Depth::Deep, QueryKind::Question) => &self.deep.question,
            (Depth::Deep, QueryKind::Topic) => &self.deep.topic,
            (Depth::Deep, QueryKind::Phrase) => &self.deep.phrase,
        }
    }

    /// The same for a snapshot with a table of queries for a second space or without one.
    pub(super) fn for_spaces(self, has_table: bool) -> Self {
        let kind = |kind: KindTuning| KindTuning { encoded: if has_table { kind.encoded } else { 0.0 }, ..kind };
        Self { question: kind(self.question), topic: kind(self.topic), phrase: kind(self.phrase), ..self }
    }

    /// What each feature is worth for a kind of query whose words are all covered.
    pub fn weights(&self, depth: Depth, kind: QueryKind) -> Features {
        let &KindTuning { keyword, interaction, encoded, in_a_row, cited_by, .. } = self.of(depth, kind);
        let mut weights = Features::default();
        weights.set(Feature::Keyword, keyword);
        weights.set(Feature::Similarity, (1.0 - interaction - encoded).max(0.0));
        weights.set(Feature::Encoded, encoded);
        weights.set(Feature::Interaction, interaction);
        weights.set(Feature::InARow, in_a_row);
        weights.set(Feature::CitedBy, cited_by);
        weights
    }

    /// What measured best.
    pub const MEASURED: Self = Self {
        heading: FieldTuning { weight: 4.0, length_normalisation: 0.5 },
        text: FieldTuning { weight: 1.0, length_normalisation: 0.75 },
        citation: FieldTuning { weight: 2.0, length_normalisation: 0.0 },
        breadcrumb: FieldTuning { weight: 1.0, length_normalisation: 0.5 },
        saturation: 1.2,
        share_required: 0.5,
        chunk_candidates: 160,
        similarity_floor: 0.25,
        similarity_floor_without_words: 0.65,
        encoded_floor: 0.2,
        encoded_floor_without_words: 0.65,
        keyword_candidates: 96,
        likeness_floor: 0.4,
        likeness_power: 1.5,
        dead: 0.85,
        elsewhere: 0.8,
        coverage_power: 4.0,
        synonym_share: 0.35,
        rare_synonym_share: 1.0,
        rare_word_one_of: 1024,
        question: KindTuning {
            keyword: 0.1,
            interaction: 0.35,
            encoded: 0.3,
            in_a_row: 0.0,
            cited_by: 0.1,
            chunk_candidates: 160,
        },
        topic: KindTuning {
            keyword: 0.8,
            interaction: 0.4,
            encoded: 0.3,
            in_a_row: 0.3,
            cited_by: 0.04,
            chunk_candidates: 96,
        },
        phrase: PHRASE,
        deep: DeepTuning {
            floor: 0.2,
            floor_without_words: 0.45,
            question: KindTuning {
                keyword: 0.2,
                interaction: 0.35,
                encoded: 0.4,
                in_a_row: 0.0,
                cited_by: 0.1,
                chunk_candidates: 160,
            },
            topic: KindTuning {
                keyword: 2.0,
                interaction: 0.35,
                encoded: 0.4,
                in_a_row: 0.3,
                cited_by: 0.04,
                chunk_candidates: 64,
            },
            phrase: PHRASE,
        },
    };
}

impl Default for Tuning {
    fn default() -> Self {
        Self::MEASURED
    }
}

impl Tuning {
    /// The same with one number changed, named as `question.keyword`.
    pub fn with(&self, name: &str, value: &str) -> Result<Self, String> {
        let known = || format!("'{name}' is nothing to tune; there are {}", Self::names().join(", "));
        let number: serde_json::Number =
            value.parse().map_err(|_| format!("'{value}' for '{name}' is not a number"))?;
        let mut all = serde_json::json!(self);
        let place = all.pointer_mut(&format!("/{}", name.replace('.', "/"))).filter(|place| place.is_number());
        *place.ok_or_else(known)? = number.into();
        serde_json::from_value(all).map_err(|error| format!("'{value}' does not fit '{name}': {error}"))
    }

    /// What there is to tune.
    pub fn names() -> Vec<String> {
        let mut names = Vec::new();
        push_names(&serde_json::json!(Self::default()), "", &mut names);
        names
    }
}

fn push_names(value: &serde_json::Value, name: &str, to: &mut Vec<String>) {
    let serde_json::Value::Object(inner) = value else {
        to.push(name.to_owned());
        return;
    };
    for (key, value) in inner {
        let inner_name = if name.is_empty() { key.clone() } else { format!("{name}.{key}") };
        push_names(value, &inner_name, to);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_number_is_changed_by_its_name() {
        let tried = Tuning::default().with("question.keyword", "0.25").unwrap().with("chunkCandidates", "64").unwrap();
        assert_eq!((tried.question.keyword, tried.chunk_candidates), (0.25, 64));
        assert_eq!(Tuning { question: Tuning::default().question, chunk_candidates: 160, ..tried }, Tuning::default());
        for name in Tuning::names() {
            assert!(Tuning::default().with(&name, "1").is_ok(), "{name}");
        }
    }

    #[test]
    fn what_cannot_be_tuned_is_told() {
        let message = |name: &str, value: &str| Tuning::default().with(name, value).unwrap_err();
        assert!(message("question.colour", "1").contains("question.keyword, "));
        assert!(message("question", "1").contains("nothing to tune"));
        assert!(message("saturation", "high").contains("not a number"));
        assert!(message("chunkCandidates", "1.5").contains("does not fit"));
    }
}
