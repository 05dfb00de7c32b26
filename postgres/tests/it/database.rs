//! A schema of its own for each test, on the server that `HORNBOOK_POSTGRES` names.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use hornbook_accounts::state::StateStorage;
use hornbook_postgres::{PostgresAddress, PostgresStorage};
use tempfile::TempDir;

static SCHEMAS: AtomicU32 = AtomicU32::new(0);
static FOLDER: OnceLock<TempDir> = OnceLock::new();

/// The address of the server.
#[expect(clippy::disallowed_methods, reason = "the caller names the server")]
pub(crate) fn server_address() -> Option<String> {
    std::env::var("HORNBOOK_POSTGRES").ok().filter(|address| !address.is_empty())
}

/// An empty state in a schema of its own, and the files of one server. Neither is removed when this is dropped, because a
/// medium may outlive it.
pub(crate) struct TestState {
    /// The address without the schema.
    server: String,
    schema: String,
    folder: PathBuf,
}

impl TestState {
    pub(crate) fn fresh() -> Self {
        let server = server_address().expect("HORNBOOK_POSTGRES names a server; 'make postgres' starts one");
        let schema = format!("test_{}_{}", std::process::id(), SCHEMAS.fetch_add(1, Ordering::Relaxed));
        let folder = FOLDER.get_or_init(|| tempfile::tempdir().unwrap()).path().join(&schema);
        let state = Self { server, schema, folder };
        state.sql(&format!("CREATE SCHEMA {}", state.schema));
        state
    }

    /// Runs statements as the operator of the database would.
    pub(crate) fn sql(&self, text: &str) -> String {
        let path = format!("SET search_path = {}", self.schema);
        let mut psql = Command::new("psql");
        psql.args([&self.server, "--quiet", "--tuples-only", "--no-align", "-v", "ON_ERROR_STOP=1"]);
        let output = psql.args(["-c", &path, "-c", text]).output().expect("psql runs");
        assert!(output.status.success(), "{text}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// The address of the schema, reached through `host` instead of the server's own.
    pub(crate) fn address_through(&self, host: Option<&str>) -> PostgresAddress {
        let mut server = self.server.clone();
        if let Some(host) = host {
            let (scheme, rest) = server.split_once("://").expect("a URL");
            let (who, rest) = rest.split_once('@').expect("a user");
            let (_, database) = rest.split_once('/').expect("a database");
            server = format!("{scheme}://{who}@{host}/{database}");
        }
        let mark = if server.contains('?') { '&' } else { '?' };
        format!("{server}{mark}options=-csearch_path%3D{}", self.schema).parse().unwrap()
    }

    pub(crate) fn medium(&self) -> Arc<dyn StateStorage> {
        Arc::new(PostgresStorage::new(&self.folder, &self.address_through(None), None).unwrap())
    }

    /// The files of the server that uses [`Self::medium`].
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Two servers use it.
    pub(crate) fn media(&self) -> Vec<Arc<dyn StateStorage>> {
        ["one", "other"].map(|server| self.medium_of(server, None)).into()
    }

    /// The same state as another server sees it, which has files of its own.
    pub(crate) fn medium_of(&self, server: &str, host: Option<&str>) -> Arc<dyn StateStorage> {
        let files = self.folder.join(server);
        Arc::new(PostgresStorage::new(&files, &self.address_through(host), None).unwrap())
    }
}
