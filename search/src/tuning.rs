//! All numbers of the search that were chosen by measurement. `benches/README.md` has the figures.
//! `hornbook eval --try` compares another number with these.

use serde::{Deserialize, Serialize};

use super::feature::{FeatureVector, RankingFeature};
use super::request::Depth;
use super::understand::QueryKind;

/// The parameters of a search.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Tuning {
    pub heading: FieldTuning,
    pub text: FieldTuning,
    pub citation: FieldTuning,
    pub breadcrumb: FieldTuning,
    /// How soon further occurrences of a word stop counting (`k1` of BM25).
    pub saturation: f32,
    /// The share of a query's weight that a keyword match must have.
    pub share_required: f32,
    /// How many chunks semantic search considers in semantic mode.
    pub chunk_candidates: usize,
    /// The minimum similarity of a chunk to the query. A less similar chunk is not near in meaning, and
    /// its provision is not a hit because of it. Of the chunks that answer the judged queries over the
    /// US Code, the least similar is at 0.29.
    pub similarity_floor: f32,
    /// The same for a query of which the index contains no word. Nonsense consists of the same word
    /// pieces as words, and it has a nearest chunk too. Over the US Code, random letters reach 0.48,
    /// and random digits and letters 0.62. Words that the law does not contain (vaping, dashcam) reach
    /// 0.37 with chunks about something else, and misspelt words 0.39.
    pub similarity_floor_without_words: f32,
    /// `similarity_floor` in the second vector space, if the snapshot has one.
    pub encoded_floor: f32,
    /// `similarity_floor_without_words` in the second vector space, if the snapshot has one.
    pub encoded_floor_without_words: f32,
    /// How many of the best keyword matches enter the head; of those no longer in force, fewer.
    pub keyword_candidates: usize,
    /// In late interaction, a similarity of tokens below this counts as 0.
    pub likeness_floor: f32,
    /// In late interaction, a similarity of tokens is raised to this power.
    pub likeness_power: f32,
    /// The share of its score that law keeps if it is no longer in force.
    pub dead: f32,
    /// The share of its score that law keeps if it is not of the place that the query probably names.
    pub elsewhere: f32,
    /// The weight of keyword search is multiplied by this power of the share of the query that the best
    /// match covers.
    pub coverage_power: f32,
    /// The weight of a synonym relative to the word itself; 0 turns synonyms off.
    pub synonym_share: f32,
    /// The same for a rare word: a user who types such a word means something that the law usually
    /// calls by another name.
    pub rare_synonym_share: f32,
    /// A word is rare if at most one in this many provisions contains it.
    pub rare_word_one_of: u32,
    pub question: KindTuning,
    pub topic: KindTuning,
    pub phrase: KindTuning,
    /// The same for searches where the encoder of the second space embeds the query.
    pub deep: DeepTuning,
}

/// The parameters of deep searches.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DeepTuning {
    /// The minimum similarity in the second space.
    pub floor: f32,
    /// The minimum similarity in the second space for a query of which the index contains no word.
    pub floor_without_words: f32,
    pub question: KindTuning,
    pub topic: KindTuning,
    pub phrase: KindTuning,
}

/// The weight of a word in a field, and how much the length of the field reduces it (`b` of BM25).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FieldTuning {
    pub weight: f32,
    pub length_normalisation: f32,
}

/// The weights for one kind of query.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct KindTuning {
    /// The weight of keyword search in hybrid mode if its best match covers the whole query. The weight
    /// of semantic search is 1.
    pub keyword: f32,
    /// The share of late interaction in the semantic score.
    pub interaction: f32,
    /// The share of similarity in the second space in the semantic score, if the snapshot has this
    /// space. What remains is similarity in the first space. A space with share 0 is not searched.
    pub encoded: f32,
    /// The weight of containing the words in sequence, as typed.
    pub in_a_row: f32,
    /// The weight of having the query as heading.
    pub heading: f32,
    /// The weight of being cited by other provisions.
    pub cited_by: f32,
    /// How many chunks semantic search considers in hybrid mode. Fewer are enough where keyword search
    /// finds the less similar ones.
    pub chunk_candidates: usize,
}

/// For words taken from the law, in fast and in deep searches.
const PHRASE: KindTuning = KindTuning {
    keyword: 2.0,
    interaction: 0.45,
    encoded: 0.3,
    in_a_row: 0.6,
    heading: 0.5,
    cited_by: 0.0,
    chunk_candidates: 64,
};

impl Tuning {
    /// The weights for a kind of query.
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

    /// Removes the second space from fast searches if the snapshot has no table to embed queries for it.
    pub(super) fn for_spaces(self, has_table: bool) -> Self {
        let kind = |kind: KindTuning| KindTuning { encoded: if has_table { kind.encoded } else { 0.0 }, ..kind };
        Self { question: kind(self.question), topic: kind(self.topic), phrase: kind(self.phrase), ..self }
    }

    /// The weight of each feature for a kind of query, if the best match covers the whole query.
    pub fn weights(&self, depth: Depth, kind: QueryKind) -> FeatureVector {
        let &KindTuning { keyword, interaction, encoded, in_a_row, heading, cited_by, .. } = self.of(depth, kind);
        let mut weights = FeatureVector::default();
        weights.set(RankingFeature::Keyword, keyword);
        weights.set(RankingFeature::Similarity, (1.0 - interaction - encoded).max(0.0));
        weights.set(RankingFeature::Encoded, encoded);
        weights.set(RankingFeature::Interaction, interaction);
        weights.set(RankingFeature::Sequence, in_a_row);
        weights.set(RankingFeature::Heading, heading);
        weights.set(RankingFeature::CitedBy, cited_by);
        weights
    }

    /// The values that measured best.
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
            heading: 0.5,
            cited_by: 0.2,
            chunk_candidates: 160,
        },
        topic: KindTuning {
            keyword: 0.8,
            interaction: 0.4,
            encoded: 0.3,
            in_a_row: 0.3,
            heading: 0.5,
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
                heading: 0.5,
                cited_by: 0.2,
                chunk_candidates: 160,
            },
            topic: KindTuning {
                keyword: 2.0,
                interaction: 0.35,
                encoded: 0.4,
                in_a_row: 0.3,
                heading: 0.5,
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
    /// A copy with one number changed; names are like `question.keyword`.
    pub fn with(&self, name: &str, value: &str) -> Result<Self, String> {
        let known = || format!("'{name}' is not a parameter; the parameters are {}", Self::names().join(", "));
        let number: serde_json::Number =
            value.parse().map_err(|_| format!("'{value}' for '{name}' is not a number"))?;
        let mut all = serde_json::json!(self);
        let place = all.pointer_mut(&format!("/{}", name.replace('.', "/"))).filter(|place| place.is_number());
        *place.ok_or_else(known)? = number.into();
        serde_json::from_value(all).map_err(|error| format!("'{value}' is not valid for '{name}': {error}"))
    }

    /// The names of all numbers that can be changed.
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
    fn invalid_parameters_are_reported() {
        let message = |name: &str, value: &str| Tuning::default().with(name, value).unwrap_err();
        assert!(message("question.colour", "1").contains("question.keyword, "));
        assert!(message("question", "1").contains("is not a parameter"));
        assert!(message("saturation", "high").contains("not a number"));
        assert!(message("chunkCandidates", "1.5").contains("is not valid for"));
    }
}
