//! Reloads the snapshot, the operator's synonyms and the certificate of a running service: 'hornbook reload',
//! SIGHUP, and the operator page.

use std::path::PathBuf;
use std::sync::Arc;

use hornbook::api::service::Service;
use hornbook::api::snapshot_reload::ReloadResult;
use hornbook::http::{Observers, Tls, TlsError};
use hornbook::log::LogLevel;
use hornbook::watches::WatchThread;
use serde_json::json;
use tokio::signal::unix::{SignalKind, signal};

use super::events::log_event;

pub(super) struct Reloader {
    pub(super) service: Arc<Service>,
    pub(super) data: PathBuf,
    pub(super) synonyms: Option<PathBuf>,
    pub(super) tls: Option<Arc<Tls>>,
    pub(super) observers: Observers,
    pub(super) watches: WatchThread,
}

impl Reloader {
    /// Serves the snapshot that the link in the data directory points to now, and reads the synonyms and the certificate
    /// again. If one of them is invalid, the old one stays, and the other is still reloaded.
    pub(super) fn reload(&self) -> Result<ReloadResult, String> {
        self.reload_with(self.tls.as_deref().map_or(Ok(()), Tls::reload))
    }

    /// The same for the snapshot alone.
    pub(super) fn reload_snapshot(&self) -> Result<ReloadResult, String> {
        self.reload_with(Ok(()))
    }

    fn reload_with(&self, certificate: Result<(), TlsError>) -> Result<ReloadResult, String> {
        let snapshot = self.service.reload_snapshot(&self.data, self.synonyms.as_deref());
        let snapshot =
            snapshot.map_err(|error| format!("the new snapshot is not served, the old one stays in use: {error}"));
        let certificate =
            certificate.map_err(|error| format!("the new certificate is not used, the old one stays in use: {error}"));
        let reloaded = match (certificate, snapshot) {
            (Ok(()), snapshot) => snapshot,
            (Err(fault), Ok(_)) => Err(fault),
            (Err(fault), Err(other)) => Err(format!("{fault}; {other}")),
        };
        self.observers.metrics.reloaded(if reloaded.is_ok() { "done" } else { "refused" });
        match &reloaded {
            Ok(reloaded) => {
                self.watches.wake();
                let fields = [
                    ("snapshot", json!(reloaded.snapshot)),
                    ("before", json!(reloaded.before)),
                    ("ownSynonyms", json!(reloaded.own_synonyms)),
                ];
                log_event(&self.observers, LogLevel::Info, "reloaded", &fields);
            }
            Err(why) => log_event(&self.observers, LogLevel::Error, "reload failed", &[("why", json!(why))]),
        }
        reloaded
    }
}

pub(super) fn reload_at_hangup(reload: Arc<Reloader>) -> std::io::Result<()> {
    let mut hangups = signal(SignalKind::hangup())?;
    tokio::spawn(async move {
        while hangups.recv().await.is_some() {
            let reload = Arc::clone(&reload);
            // `reload` logs its result.
            let _ = tokio::task::spawn_blocking(move || drop(reload.reload())).await;
        }
    });
    Ok(())
}
