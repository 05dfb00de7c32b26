//! Keeps the server and the client on separate processors, so that neither takes time from the
//! other, and reports how much time other virtual machines took.

use std::sync::OnceLock;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The processors of the servers and those of this process, if they are separated.
static PARTS: OnceLock<[CpuSet; 2]> = OnceLock::new();

/// Assigns one half of the processors to servers started from now on, and the other half to this process.
pub(crate) fn separate_processors() {
    let all = sched_getaffinity(None).expect("the processors that this process may use");
    let count = all.count() as usize;
    assert!(count > 1, "--apart needs at least two processors");
    let mut parts = [CpuSet::new(), CpuSet::new()];
    let usable = (0..CpuSet::MAX_CPU).filter(|&processor| all.is_set(processor));
    usable.enumerate().for_each(|(place, processor)| parts[usize::from(place >= count / 2)].set(processor));
    sched_setaffinity(None, &parts[1]).expect("processors of this process");
    let _ = PARTS.set(parts);
}

/// Starts a process on the processors of the servers: it inherits those of the thread that starts it.
pub(crate) fn start_on_server_processors<T>(start: impl FnOnce() -> T) -> T {
    let Some([servers, own]) = PARTS.get() else { return start() };
    sched_setaffinity(None, servers).expect("processors of servers");
    let started = start();
    sched_setaffinity(None, own).expect("processors of this process");
    started
}

/// Processor time of this machine since it started, in ticks.
pub(crate) struct CpuTicks {
    all: f64,
    /// Steal time: taken by other virtual machines on the same hardware.
    steal: f64,
}

impl CpuTicks {
    pub(crate) fn now() -> Self {
        let stat = std::fs::read_to_string("/proc/stat").expect("the kernel's counts");
        let first = stat.lines().next().unwrap_or_default().split_whitespace().skip(1);
        // The kernel lists eight kinds, then two which are included in the first ones.
        let kinds: Vec<f64> = first.take(8).map(|ticks| ticks.parse().expect("ticks")).collect();
        Self { all: kinds.iter().sum(), steal: kinds[7] }
    }

    /// The percentage of the time since `earlier` that other virtual machines took.
    pub(crate) fn taken_since(&self, earlier: &Self) -> f64 {
        100.0 * (self.steal - earlier.steal) / (self.all - earlier.all)
    }
}
