//! Builds several graphs at a time, because no graph keeps all cores busy in every step, and passes
//! them on in order.
//!
//! The number of chunks in work at once is limited, and so is memory: while a full shard is built,
//! only small ranges are built with it. Graphs that are finished before their turn wait on disk.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use hornbook_corpus::vectors::{ChunkLinks, GraphWriter};

use super::error::GraphBuildError;
use super::stats::GraphStats;

/// The time between two progress reports.
const REPORT_EVERY: Duration = Duration::from_millis(200);

/// A finished graph. `lists` contains, for each chunk, the lengths of its three lists and then the lists.
pub(super) struct BuiltGraph {
    pub(super) entries: Vec<u32>,
    pub(super) stats: GraphStats,
    pub(super) lists: Vec<u32>,
}

impl BuiltGraph {
    pub(super) fn push(&mut self, chunk: ChunkLinks<'_>) {
        let lists = [chunk.links, chunk.near, chunk.equal];
        self.lists.extend(lists.map(|list| list.len() as u32));
        lists.iter().for_each(|list| self.lists.extend_from_slice(list));
        self.stats.links += chunk.links.len() as u64;
        self.stats.collapsed_near += chunk.near.len() as u32;
        self.stats.collapsed_equal += chunk.equal.len() as u32;
    }

    /// Writes the lists of the chunks to a graph that was begun.
    pub(super) fn write(&self, writer: &mut GraphWriter) -> Result<(), GraphBuildError> {
        let mut rest = self.lists.as_slice();
        while let [links, near, equal, behind @ ..] = rest {
            let (links, behind) = behind.split_at(*links as usize);
            let (near, behind) = behind.split_at(*near as usize);
            let (equal, behind) = behind.split_at(*equal as usize);
            writer.push(ChunkLinks { links, near, equal })?;
            rest = behind;
        }
        Ok(())
    }
}

/// A graph whose lists are on disk until its turn comes.
struct SpooledGraph {
    graph: BuiltGraph,
    lists: File,
    length: usize,
}

impl SpooledGraph {
    fn put(dir: &Path, mut graph: BuiltGraph) -> std::io::Result<Self> {
        let mut file = tempfile::tempfile_in(dir)?;
        let lists = std::mem::take(&mut graph.lists);
        file.write_all(bytemuck::cast_slice(&lists))?;
        Ok(Self { graph, lists: file, length: lists.len() })
    }

    fn fetch(mut self) -> std::io::Result<BuiltGraph> {
        self.graph.lists = vec![0; self.length];
        self.lists.seek(SeekFrom::Start(0))?;
        self.lists.read_exact(bytemuck::cast_slice_mut(&mut self.graph.lists))?;
        Ok(self.graph)
    }
}

/// The progress of one graph.
pub(super) struct GraphProgress<'a> {
    all: &'a AtomicU32,
    own: Cell<u32>,
}

impl<'a> GraphProgress<'a> {
    /// Nothing of this graph is done yet. `all` counts the chunks of all graphs.
    pub(super) fn new(all: &'a AtomicU32) -> Self {
        Self { all, own: Cell::new(0) }
    }

    /// Sets the number of finished chunks of the graph.
    pub(super) fn set(&self, chunks: u32) {
        let more = chunks.saturating_sub(self.own.get());
        self.own.set(self.own.get() + more);
        self.all.fetch_add(more, Ordering::Relaxed);
    }
}

/// The graphs that no worker has taken yet, and how many more chunks may be in work.
struct GraphQueue {
    waiting: Vec<usize>,
    room: u32,
    in_work: u32,
}

struct Jobs<'a> {
    sizes: &'a [u32],
    queue: Mutex<GraphQueue>,
    room_made: Condvar,
}

impl Jobs<'_> {
    fn lock(&self) -> MutexGuard<'_, GraphQueue> {
        // The queue is consistent between any two statements that change it.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The first graph for which there is room; waits until there is. None if all graphs are taken.
    fn take(&self) -> Option<usize> {
        let mut queue = self.lock();
        loop {
            let fits = queue.waiting.iter().position(|&job| self.sizes[job] <= queue.room);
            let place = if queue.in_work == 0 { fits.or(Some(0)) } else { fits };
            if queue.waiting.is_empty() {
                return None;
            }
            if let Some(place) = place {
                let job = queue.waiting.remove(place);
                queue.room = queue.room.saturating_sub(self.sizes[job]);
                queue.in_work += 1;
                return Some(job);
            }
            queue = self.room_made.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn give_back(&self, job: usize, chunks_at_once: u32) {
        let mut queue = self.lock();
        queue.room = queue.room.saturating_add(self.sizes[job]).min(chunks_at_once);
        queue.in_work -= 1;
        self.room_made.notify_all();
    }

    fn clear(&self) {
        self.lock().waiting.clear();
        self.room_made.notify_all();
    }
}

/// The room that a job occupies. If a worker panics, the queue is cleared, and `thread::scope`
/// passes the panic on.
struct JobPermit<'j> {
    jobs: &'j Jobs<'j>,
    job: usize,
    chunks_at_once: u32,
}

impl Drop for JobPermit<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.jobs.clear();
        }
        self.jobs.give_back(self.job, self.chunks_at_once);
    }
}

/// Builds the graphs of these sizes, as many at once as there are cores and room for, and passes
/// them to `take` in order. `progress` receives how many chunks of all graphs are done.
pub(super) fn build_in_parallel(
    sizes: &[u32],
    chunks_at_once: u32,
    dir: &Path,
    build: impl Fn(usize, &GraphProgress<'_>) -> Result<BuiltGraph, GraphBuildError> + Sync,
    mut take: impl FnMut(usize, BuiltGraph) -> Result<(), GraphBuildError>,
    mut progress: impl FnMut(u32),
) -> Result<(), GraphBuildError> {
    let queue = GraphQueue { waiting: (0..sizes.len()).collect(), room: chunks_at_once, in_work: 0 };
    let jobs = Jobs { sizes, queue: Mutex::new(queue), room_made: Condvar::new() };
    let done = AtomicU32::new(0);
    let (finished, incoming) = sync_channel(0);
    thread::scope(|scope| {
        let incoming = incoming;
        for _ in 0..rayon::current_num_threads().min(sizes.len()) {
            let (jobs, done, build, finished) = (&jobs, &done, &build, finished.clone());
            scope.spawn(move || {
                while let Some(job) = jobs.take() {
                    let _room = JobPermit { jobs, job, chunks_at_once };
                    let own = GraphProgress::new(done);
                    let built = build(job, &own);
                    own.set(jobs.sizes[job]);
                    // Waits until the graph is taken, so that finished graphs do not pile up. After
                    // an error there is no receiver, and the queue is empty.
                    let _ = finished.send((job, built));
                }
            });
        }
        drop(finished);
        let mut in_order = || {
            let (mut next, mut waiting) = (0, BTreeMap::new());
            while next < sizes.len() {
                match incoming.recv_timeout(REPORT_EVERY) {
                    Ok((job, built)) if job == next => {
                        take(job, built?)?;
                        next += 1;
                    }
                    Ok((job, built)) => {
                        waiting.insert(job, SpooledGraph::put(dir, built?).map_err(GraphBuildError::Spool)?);
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                    // A worker panicked; `thread::scope` passes the panic on.
                    Err(RecvTimeoutError::Disconnected) => break,
                }
                while let Some(graph) = waiting.remove(&next) {
                    take(next, graph.fetch().map_err(GraphBuildError::Spool)?)?;
                    next += 1;
                }
                progress(done.load(Ordering::Relaxed));
            }
            Ok(())
        };
        let result = in_order();
        jobs.clear();
        // Releases the workers that wait to send a graph.
        drop(incoming);
        result
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(job: usize) -> BuiltGraph {
        BuiltGraph { entries: vec![job as u32], stats: GraphStats::default(), lists: vec![job as u32; job + 1] }
    }

    #[test]
    fn graphs_arrive_in_order_within_the_chunk_limit() {
        let dir = tempfile::tempdir().unwrap();
        let sizes = [10, 10, 3, 10, 3, 3, 14, 1];
        let (in_work, most) = (AtomicU32::new(0), AtomicU32::new(0));
        let build = |job: usize, done: &GraphProgress<'_>| {
            let now = in_work.fetch_add(sizes[job], Ordering::SeqCst) + sizes[job];
            most.fetch_max(now, Ordering::SeqCst);
            // The first graph takes longest, so that others finish before their turn.
            thread::sleep(Duration::from_millis(if job == 0 { 60 } else { 5 }));
            done.set(1);
            in_work.fetch_sub(sizes[job], Ordering::SeqCst);
            Ok(graph(job))
        };
        let (mut taken, mut last) = (Vec::new(), 0);
        let take = |job: usize, built: BuiltGraph| {
            assert_eq!((built.entries, built.lists), (graph(job).entries, graph(job).lists));
            taken.push(job);
            Ok(())
        };
        build_in_parallel(&sizes, 13, dir.path(), build, take, |done| last = done).unwrap();
        assert_eq!(taken, [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(last, sizes.iter().sum::<u32>());
        // A graph larger than the room is built alone.
        assert_eq!(most.into_inner(), 14);
    }

    #[test]
    fn the_first_error_ends_the_build() {
        let dir = tempfile::tempdir().unwrap();
        let begun = AtomicU32::new(0);
        let build = |job: usize, _: &GraphProgress<'_>| {
            begun.fetch_add(1, Ordering::SeqCst);
            thread::sleep(Duration::from_millis(2));
            if job == 3 { Err(GraphBuildError::Spool(std::io::Error::other("full"))) } else { Ok(graph(job)) }
        };
        let error = build_in_parallel(&[1; 500], 500, dir.path(), build, |_, _| Ok(()), |_| {}).unwrap_err();
        assert!(error.to_string().ends_with("full"), "{error}");
        assert!(begun.into_inner() < 500);
    }

    /// Without the cleanup, the other workers would wait forever for the room of the job that panicked.
    #[test]
    fn a_panic_ends_the_build() {
        let dir = tempfile::tempdir().unwrap();
        let build = |job: usize, _: &GraphProgress<'_>| -> Result<BuiltGraph, GraphBuildError> {
            assert!(job > 0, "a fault");
            Ok(graph(job))
        };
        let built = || build_in_parallel(&[4; 5], 4, dir.path(), build, |_, _| Ok(()), |_| {});
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(built)).is_err());
    }
}
