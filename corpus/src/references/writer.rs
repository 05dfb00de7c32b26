//! Writes the file. Outgoing lists are collected; incoming lists are computed from them in linear time and memory.

use std::path::Path;

use super::file::{FILE_NAME, KIND};
use crate::ids::NodeOrdinal;
use crate::section_file::{SectionFileError, SectionWriter};

/// Collects the citations of each node, in the order of the nodes.
#[derive(Debug)]
pub struct ReferenceWriter {
    out: Vec<u32>,
    starts: Vec<u64>,
}

impl Default for ReferenceWriter {
    fn default() -> Self {
        Self { out: Vec::new(), starts: vec![0] }
    }
}

impl ReferenceWriter {
    /// Adds the next node. `cited` must be in order of mention, contain each node once, and not contain the node
    /// itself.
    pub fn push(&mut self, cited: &[NodeOrdinal]) {
        self.out.extend(cited.iter().map(|node| node.0));
        self.starts.push(self.out.len() as u64);
    }

    /// The number of references so far.
    pub fn count(&self) -> u64 {
        self.out.len() as u64
    }

    pub fn finish(self, dir: &Path) -> Result<(), SectionFileError> {
        let Self { out, starts } = self;
        let (incoming, incoming_starts) = transposed(&out, &starts);
        let mut file = SectionWriter::create(&dir.join(FILE_NAME), KIND, 4)?;
        file.section("out", &out)?;
        file.section("outat", &starts)?;
        file.section("in", &incoming)?;
        file.section("inat", &incoming_starts)?;
        file.finish()
    }
}

/// Transposes the lists with a counting sort. The resulting lists are ascending.
fn transposed(out: &[u32], starts: &[u64]) -> (Vec<u32>, Vec<u64>) {
    let mut incoming_starts = vec![0_u64; starts.len()];
    for &cited in out {
        incoming_starts[cited as usize + 1] += 1;
    }
    for node in 1..incoming_starts.len() {
        incoming_starts[node] += incoming_starts[node - 1];
    }
    let mut next = incoming_starts.clone();
    let mut incoming = vec![0; out.len()];
    for (citing, bounds) in (0..).zip(starts.windows(2)) {
        for &cited in &out[bounds[0] as usize..bounds[1] as usize] {
            let place = &mut next[cited as usize];
            incoming[*place as usize] = citing;
            *place += 1;
        }
    }
    (incoming, incoming_starts)
}
