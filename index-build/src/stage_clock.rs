//! Wall and CPU time of each stage of a build, for the final report.

use std::time::Instant;

use crate::report::{Report, StageReport};
use crate::usage;

/// Wall and CPU time of each stage.
pub(crate) struct StageClock {
    began: Instant,
    lap: Instant,
    lap_cpu: f64,
    stages: Vec<StageReport>,
}

impl StageClock {
    pub(crate) fn start() -> Self {
        Self { began: Instant::now(), lap: Instant::now(), lap_cpu: usage::cpu_seconds(), stages: Vec::new() }
    }

    pub(crate) fn lap(&mut self, name: &str) {
        let cpu = usage::cpu_seconds();
        let (seconds, cpu_seconds) = (self.lap.elapsed().as_secs_f64(), cpu - self.lap_cpu);
        self.stages.push(StageReport { name: name.to_owned(), seconds, cpu_seconds });
        (self.lap, self.lap_cpu) = (Instant::now(), cpu);
    }

    pub(crate) fn add_to(&mut self, report: &mut Report) {
        report.seconds = self.began.elapsed().as_secs_f64();
        report.cpu_seconds = self.stages.iter().map(|stage| stage.cpu_seconds).sum();
        report.stages = std::mem::take(&mut self.stages);
    }
}
