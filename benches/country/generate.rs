//! Generates all codes on all cores and the plan for them, and counts what was generated.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use hornbook_index_build::progress::ProgressDisplay;

use crate::alter::{SentenceAlterer, hash};
use crate::code::{CodeTotals, CodeWriter};
use crate::law::RealLaw;
use crate::places::{self, Code};
use crate::words::Words;

pub(crate) const PLAN: &str = "plan.toml";

/// Totals of all codes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CountryTotals {
    pub(crate) codes: usize,
    pub(crate) provisions: u64,
    pub(crate) chunks: u64,
    pub(crate) text_bytes: u64,
    /// Texts that are equal to the text of an earlier provision.
    pub(crate) copies: u64,
}

/// Writes the codes and their plan into the folder.
pub(crate) fn generate(
    law: &RealLaw,
    chunks: u64,
    seed: u64,
    folder: &Path,
    progress: ProgressDisplay,
) -> io::Result<CountryTotals> {
    fs::create_dir_all(folder)?;
    let words = Words::of(law);
    let place_names = law.place_names();
    let codes = places::codes(chunks);
    fs::write(folder.join(PLAN), places::plan(&codes, seed))?;
    // The largest first, so that no core works alone at the end.
    let mut queue: Vec<&Code> = codes.iter().collect();
    queue.sort_by_key(|code| Reverse(code.chunks));
    let (next, done, is_over) = (AtomicUsize::new(0), AtomicU64::new(0), AtomicBool::new(false));
    let results = Mutex::new(Vec::new());
    let work = || {
        while let Some(&code) = queue.get(next.fetch_add(1, Ordering::Relaxed)) {
            let seeds = [seed ^ hash(&code.key()), seed ^ hash(code.jurisdiction)];
            let varied = SentenceAlterer::new(law, &words, &place_names, code.place, seeds);
            let written = CodeWriter::create(code, folder, varied, &done).and_then(CodeWriter::write);
            results.lock().expect("no worker panics with the lock").push(written);
        }
    };
    let workers = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let running: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        scope.spawn(|| {
            let mut stage = progress.stage("making law", "chunks", Some(chunks));
            while !is_over.load(Ordering::Relaxed) {
                thread::sleep(Duration::from_millis(100));
                stage.set(done.load(Ordering::Relaxed));
            }
            stage.finish();
        });
        let ended: Vec<_> = running.into_iter().map(|worker| worker.join()).collect();
        is_over.store(true, Ordering::Relaxed);
        ended.into_iter().for_each(|ended| ended.expect("a worker panicked"));
    });
    let results = results.into_inner().expect("no worker panics with the lock");
    sum(codes.len(), results)
}

fn sum(codes: usize, results: Vec<io::Result<CodeTotals>>) -> io::Result<CountryTotals> {
    let mut made = CountryTotals { codes, ..CountryTotals::default() };
    let mut texts = HashSet::new();
    for written in results {
        let written = written?;
        made.provisions += written.provisions;
        made.chunks += written.chunks;
        made.text_bytes += written.text_bytes;
        made.copies += written.texts.into_iter().filter(|&text| !texts.insert(text)).count() as u64;
    }
    Ok(made)
}
