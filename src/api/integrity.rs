//! Watches the served snapshot. Damage that a call notices is reported within a second. From time to time
//! every file is read again (a scrub), so that damage is found before a client asks for the damaged part. The snapshot
//! that was served before the last swap is closed when its time is over.
//!
//! One thread does all of it. It works at the lowest priority, and during a scrub it sleeps nine tenths of the time.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use hornbook_corpus::manifest::{Manifest, ManifestError};

use super::corpus::Corpus;
use super::service::Service;

/// How often the thread looks for damage that calls have noticed, and for a snapshot to close.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// After each piece of a scrub the thread sleeps this many times as long as the piece took.
const REST_FACTOR: u32 = 9;

/// Events that operators need to know.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum IntegrityEvent {
    /// A check failed. The damaged part is not served. The service is not ready until another snapshot is
    /// served.
    Damaged { snapshot: String, what: String },
    /// Everything was read again and is undamaged.
    Scrubbed { snapshot: String, bytes: u64, took: Duration },
    /// The files of the served snapshot were moved or replaced, so they cannot be read again.
    NotScrubbed { snapshot: String, why: String },
}

/// The thread that watches the snapshot.
#[derive(Debug)]
pub struct IntegrityMonitor {
    thread: JoinHandle<()>,
    stop: Sender<()>,
}

impl IntegrityMonitor {
    /// `scrub_every`: `None` turns scrubs off.
    pub fn start(
        service: Arc<Service>,
        scrub_every: Option<Duration>,
        report: impl Fn(&IntegrityEvent) + Send + 'static,
    ) -> Self {
        let (stop, stopped) = channel();
        let thread = std::thread::spawn(move || {
            // Lowers only this thread's priority. If that is not permitted, the pauses still limit its load.
            let _ = rustix::process::nice(19);
            MonitorLoop { service, stopped, tell: report, reported: Weak::new() }.run(scrub_every);
        });
        Self { thread, stop }
    }

    pub fn stop(self) {
        drop(self.stop);
        // The thread ends by itself. A panic in it was reported when it happened.
        let _ = self.thread.join();
    }
}

struct MonitorLoop<F> {
    service: Arc<Service>,
    stopped: Receiver<()>,
    tell: F,
    /// The corpus whose damage was reported, so that it is reported only once.
    reported: Weak<Corpus>,
}

impl<F: Fn(&IntegrityEvent)> MonitorLoop<F> {
    fn run(mut self, scrub_every: Option<Duration>) {
        let pause = scrub_every.map_or(CHECK_INTERVAL, |every| every.min(CHECK_INTERVAL));
        let mut scrubbed = Instant::now();
        while self.wait(pause).is_continue() {
            if scrub_every.is_some_and(|every| scrubbed.elapsed() >= every) {
                self.scrub();
                scrubbed = Instant::now();
            }
        }
    }

    /// Reports damage and closes what is over, then sleeps until the time has passed or the service stops.
    fn wait(&mut self, time: Duration) -> ControlFlow<()> {
        self.report_damage();
        self.service.close_previous();
        match self.stopped.recv_timeout(time) {
            Err(RecvTimeoutError::Timeout) => ControlFlow::Continue(()),
            Ok(()) | Err(RecvTimeoutError::Disconnected) => ControlFlow::Break(()),
        }
    }

    fn report_damage(&mut self) {
        let corpus = self.service.corpus();
        let is_reported = std::ptr::eq(self.reported.as_ptr(), Arc::as_ptr(&corpus));
        if let Some(what) = corpus.snapshot().damage().first().filter(|_| !is_reported) {
            (self.tell)(&IntegrityEvent::Damaged { snapshot: corpus.id().to_owned(), what: what.to_owned() });
            self.reported = Arc::downgrade(&corpus);
        }
    }

    fn scrub(&mut self) {
        let corpus = self.service.corpus();
        let snapshot = corpus.snapshot();
        let (began, mut bytes) = (Instant::now(), 0);
        let mut piece_began = Instant::now();
        let outcome = snapshot.manifest.scrub(snapshot.dir(), |piece| {
            bytes += piece;
            let rest = piece_began.elapsed() * REST_FACTOR;
            let goes_on = self.wait(rest).is_continue() && Arc::ptr_eq(&corpus, &self.service.corpus());
            piece_began = Instant::now();
            if goes_on { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        let id = corpus.id().to_owned();
        match outcome {
            Ok(ControlFlow::Break(())) => {}
            Ok(ControlFlow::Continue(())) => {
                (self.tell)(&IntegrityEvent::Scrubbed { snapshot: id, bytes, took: began.elapsed() });
            }
            Err(error) => match replacement_reason(snapshot.dir(), &id) {
                Some(why) => (self.tell)(&IntegrityEvent::NotScrubbed { snapshot: id, why }),
                None => {
                    snapshot.damage().record(&error);
                    self.report_damage();
                }
            },
        }
    }
}

/// The reason why the files cannot be read again: the folder of the served snapshot now contains another
/// snapshot, or none. The open files of the served snapshot are undamaged.
fn replacement_reason(dir: &Path, served: &str) -> Option<String> {
    match Manifest::open(dir) {
        Err(error @ (ManifestError::NoSnapshot { .. } | ManifestError::Format { .. })) => Some(error.to_string()),
        Ok(manifest) if manifest.snapshot != served => {
            Some(format!("{} now holds the snapshot {}; run 'hornbook reload'", dir.display(), manifest.snapshot))
        }
        Ok(_) | Err(_) => None,
    }
}
