//! The stages of a search, and the time that each takes.

use std::ops::{Index, IndexMut};
use std::time::{Duration, Instant};

use serde::ser::{Serialize, SerializeMap, Serializer};

/// A stage of a search. Hits are hydrated and snippets are cut when results are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    Understand,
    Embed,
    Keyword,
    Vector,
    Rerank,
    Fuse,
    Facets,
    Hydrate,
    Snippet,
}

impl Stage {
    pub const ALL: [Self; 9] = [
        Self::Understand,
        Self::Embed,
        Self::Keyword,
        Self::Vector,
        Self::Rerank,
        Self::Fuse,
        Self::Facets,
        Self::Hydrate,
        Self::Snippet,
    ];

    /// The name in responses, logs, metrics and benchmarks.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Understand => "understand",
            Self::Embed => "embed",
            Self::Keyword => "keyword",
            Self::Vector => "vector",
            Self::Rerank => "rerank",
            Self::Fuse => "fuse",
            Self::Facets => "facets",
            Self::Hydrate => "hydrate",
            Self::Snippet => "snippet",
        }
    }
}

/// The time of each stage of one search, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StageMicros([u32; Stage::ALL.len()]);

impl StageMicros {
    /// Every stage with its name, in order.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, u32)> + '_ {
        Stage::ALL.into_iter().map(|stage| (stage.name(), self[stage]))
    }
}

impl Index<Stage> for StageMicros {
    type Output = u32;

    fn index(&self, stage: Stage) -> &u32 {
        &self.0[stage as usize]
    }
}

impl IndexMut<Stage> for StageMicros {
    fn index_mut(&mut self, stage: Stage) -> &mut u32 {
        &mut self.0[stage as usize]
    }
}

impl Serialize for StageMicros {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(Stage::ALL.len()))?;
        self.named().try_for_each(|(name, micros)| map.serialize_entry(name, &micros))?;
        map.end()
    }
}

/// Measures the stages of one search. Each stage begins when the previous one ends.
pub(super) struct Stopwatch {
    since: Instant,
    pub stages: StageMicros,
}

impl Stopwatch {
    pub(super) fn start() -> Self {
        Self { since: Instant::now(), stages: StageMicros::default() }
    }

    /// Adds the time since the last stage ended to this stage.
    pub(super) fn end(&mut self, stage: Stage) {
        let now = Instant::now();
        self.stages[stage] += micros(now.duration_since(self.since));
        self.since = now;
    }
}

pub(super) fn micros(time: Duration) -> u32 {
    u32::try_from(time.as_micros()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_stage_has_its_own_index_and_name() {
        let mut stages = StageMicros::default();
        for (number, stage) in (1..).zip(Stage::ALL) {
            stages[stage] = number;
        }
        let named: Vec<(&str, u32)> = stages.named().collect();
        let numbers: Vec<u32> = named.iter().map(|&(_, micros)| micros).collect();
        assert_eq!(numbers, (1..=Stage::ALL.len() as u32).collect::<Vec<_>>());
        let written = serde_json::to_value(stages).unwrap();
        assert_eq!(written.as_object().unwrap().len(), Stage::ALL.len());
        assert!(named.iter().all(|&(name, micros)| written[name] == micros), "{written}");
    }
}
