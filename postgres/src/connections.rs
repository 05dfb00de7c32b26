//! A bounded number of connections, and the thread that serves them. Callers wait for answers, at
//! most for a stated time.

use std::future::Future;
use std::time::Duration;

use deadpool_postgres::{
    Hook, HookError, Manager, ManagerConfig, Object, Pool, PoolConfig, RecyclingMethod, Runtime, Timeouts,
};
use hornbook_accounts::state::StateError;
use rustls::ClientConfig;
use tokio::time::timeout;
use tokio_postgres::NoTls;
use tokio_postgres_rustls::MakeRustlsConnect;

use super::address::PostgresAddress;
use super::failure::DatabaseFailure;

/// One for changes, the others for reading.
const CONNECTIONS_MAX: usize = 8;
/// The maximum time for one statement, including the wait for another server's change.
pub(crate) const ANSWER_MAX: Duration = Duration::from_secs(10);
/// A server that is gone keeps others waiting for at most this time.
const SESSION_SETTINGS: &str =
    "SET idle_in_transaction_session_timeout = '5s'; SET statement_timeout = '8s'; SET client_min_messages = 'warning'";

pub(crate) struct Connections {
    /// Always there but while this is dropped.
    runtime: Option<tokio::runtime::Runtime>,
    pool: Pool,
    pub(crate) place: String,
}

impl Connections {
    /// `tls` is needed if the address uses TLS. Connects when the first connection is needed.
    pub(crate) fn new(address: &PostgresAddress, tls: Option<ClientConfig>) -> Result<Self, StateError> {
        let place = address.to_string();
        let failed = |doing: &'static str| {
            let place = place.clone();
            move |source: Box<dyn std::error::Error + Send + Sync>| StateError::Database {
                doing,
                place,
                is_full: false,
                source,
            }
        };
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("postgres")
            .enable_all()
            .build()
            .map_err(|e| failed("start the connections to")(e.into()))?;
        let recycling = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let manager = match tls.filter(|_| address.uses_tls()) {
            Some(tls) => Manager::from_config(address.config.clone(), MakeRustlsConnect::new(tls), recycling),
            None => Manager::from_config(address.config.clone(), NoTls, recycling),
        };
        let timeouts = Timeouts { wait: Some(ANSWER_MAX), create: Some(ANSWER_MAX), recycle: Some(ANSWER_MAX) };
        let pool = Pool::builder(manager)
            .config(PoolConfig { max_size: CONNECTIONS_MAX, timeouts, ..PoolConfig::default() })
            .runtime(Runtime::Tokio1)
            .post_create(Hook::async_fn(|client, _| {
                Box::pin(async move {
                    client.batch_execute(SESSION_SETTINGS).await.map_err(HookError::Backend)?;
                    Ok(())
                })
            }))
            .build()
            .map_err(|e| failed("start the connections to")(e.into()))?;
        Ok(Self { runtime: Some(runtime), pool, place })
    }

    /// Waits for a future on this thread, which may belong to another runtime. Ours serves sockets and timers.
    pub(crate) fn wait_for<T>(&self, future: impl Future<Output = T>) -> T {
        let _timers = self.runtime().enter();
        futures_executor::block_on(future)
    }

    pub(crate) async fn connection(&self) -> Result<Object, DatabaseFailure> {
        Ok(self.pool.get().await?)
    }

    /// Ends the transaction of a connection and gives it back, without waiting. If that fails, the connection is closed.
    pub(crate) fn roll_back(&self, connection: Object) {
        self.runtime().spawn(async move {
            if !matches!(timeout(ANSWER_MAX, connection.batch_execute("ROLLBACK")).await, Ok(Ok(()))) {
                close(connection);
            }
        });
    }

    fn runtime(&self) -> &tokio::runtime::Handle {
        match &self.runtime {
            Some(runtime) => runtime.handle(),
            None => unreachable!("the runtime ends with the last connection"),
        }
    }
}

/// Closes a connection whose state is not known.
pub(crate) fn close(connection: Object) {
    drop(Object::take(connection));
}

/// Waits for an answer, at most for [`ANSWER_MAX`].
pub(crate) async fn answer<T>(
    future: impl Future<Output = Result<T, tokio_postgres::Error>>,
) -> Result<T, DatabaseFailure> {
    match timeout(ANSWER_MAX, future).await {
        Ok(answered) => Ok(answered?),
        Err(_) => Err(DatabaseFailure::TimedOut(ANSWER_MAX)),
    }
}

impl Drop for Connections {
    fn drop(&mut self) {
        // Waiting here would panic on a thread of another runtime.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
