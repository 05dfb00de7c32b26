//! The socket in the data directory: one line of JSON as request, one line of JSON as reply. Only
//! the owner of the directory can connect. This is the only authentication, as for the state file
//! itself.

use std::fs::Permissions;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hornbook_accounts::Accounts;
use hornbook_accounts::actor::Actor;
use hornbook_accounts::entropy::SystemEntropy;
use hornbook_base::clock::Clock;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::command::AdminCommand;
use super::execute::{CommandContext, Reload};
use super::{AdminError, SOCKET_FILE};

const REQUEST_BYTES_MAX: u64 = 1 << 20;
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

#[derive(Serialize, Deserialize)]
struct AdminRequest {
    actor: Actor,
    command: AdminCommand,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum AdminReply {
    Done(Value),
    Failed(String),
}

/// A listening socket; dropping it removes its file.
pub struct AdminSocket {
    path: PathBuf,
    listener: UnixListener,
}

impl AdminSocket {
    /// Call this only while holding the lock of the data directory: an existing socket file then
    /// belongs to a dead process.
    pub fn bind(data: &Path) -> Result<Self, AdminError> {
        let path = data.join(SOCKET_FILE);
        let socket = |doing| {
            let path = path.clone();
            move |source| AdminError::Socket { doing, path, source }
        };
        match std::fs::remove_file(&path) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(socket("replace")(e)),
            _ => {}
        }
        // Bound in a directory that is closed to others, and renamed once its mode is set. So
        // nobody else can connect in between, whatever the umask is.
        let closed = data.join("admin.new");
        let _ = std::fs::remove_dir_all(&closed);
        std::fs::DirBuilder::new().mode(0o700).create(&closed).map_err(socket("prepare"))?;
        let fresh = closed.join("sock");
        let listener = UnixListener::bind(&fresh).map_err(socket("listen on"))?;
        std::fs::set_permissions(&fresh, Permissions::from_mode(0o600)).map_err(socket("protect"))?;
        std::fs::rename(&fresh, &path).map_err(socket("publish"))?;
        let _ = std::fs::remove_dir(&closed);
        Ok(Self { path, listener })
    }

    /// Serves until the process ends. Each connection has its own thread, so that a key can be
    /// revoked while a backup is being written.
    pub fn serve(&self, accounts: &Accounts, clock: &Arc<dyn Clock>, reload: &Reload) {
        let lanes = CommandLanes::default();
        std::thread::scope(|scope| {
            for stream in self.listener.incoming().flatten() {
                let lanes = &lanes;
                let Some(place) = lanes.connection() else { continue };
                // If no thread can be started, the connection is closed, and the client reports that.
                let _ = std::thread::Builder::new().name("admin".to_owned()).spawn_scoped(scope, move || {
                    let _place = place;
                    // Nobody needs to know that a client disconnected.
                    let _ = answer(&stream, accounts, clock, reload, lanes);
                });
            }
        });
    }
}

/// The maximum number of maximum number of open connections; further ones are closed.
const CONNECTIONS_MAX: usize = 64;
/// The maximum number of slow commands among them, so that there is always room for a fast one.
const SLOW_MAX: usize = 8;

/// Schedules commands: slow ones one after another, fast ones at once.
#[derive(Default)]
struct CommandLanes {
    connections: AtomicUsize,
    slow_waiting: AtomicUsize,
    slow: Mutex<()>,
}

/// One of a limited number of places. Dropping it frees the place.
struct SlotGuard<'l>(&'l AtomicUsize);

impl<'l> SlotGuard<'l> {
    fn take(places: &'l AtomicUsize, most: usize) -> Option<Self> {
        let place = Self(places);
        (places.fetch_add(1, Ordering::Relaxed) < most).then_some(place)
    }
}

impl Drop for SlotGuard<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl CommandLanes {
    fn connection(&self) -> Option<SlotGuard<'_>> {
        SlotGuard::take(&self.connections, CONNECTIONS_MAX)
    }

    /// Waits until the slow commands before this one have ended.
    fn slow(&self) -> Result<(SlotGuard<'_>, MutexGuard<'_, ()>), AdminError> {
        let waiting = SlotGuard::take(&self.slow_waiting, SLOW_MAX).ok_or_else(|| {
            AdminError::Refused(format!("{SLOW_MAX} slow commands are waiting already; try again when they are done"))
        })?;
        Ok((waiting, self.slow.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}

impl Drop for AdminSocket {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

fn answer(
    stream: &UnixStream,
    accounts: &Accounts,
    clock: &Arc<dyn Clock>,
    reload: &Reload,
    lanes: &CommandLanes,
) -> std::io::Result<()> {
    stream.set_read_timeout(Some(REQUEST_TIMEOUT))?;
    stream.set_write_timeout(Some(REQUEST_TIMEOUT))?;
    let mut line = String::new();
    BufReader::new(stream.take(REQUEST_BYTES_MAX)).read_line(&mut line)?;
    let reply = match serde_json::from_str::<AdminRequest>(&line) {
        Ok(AdminRequest { actor, command }) => {
            let run = |command: AdminCommand| {
                let _turn = if command.is_slow() { Some(lanes.slow()?) } else { None };
                let now = clock.now();
                CommandContext { accounts, reload: Some(reload), actor, now, entropy: &mut SystemEntropy }
                    .execute(command)
            };
            match run(command) {
                Ok(value) => AdminReply::Done(value),
                Err(error) => AdminReply::Failed(error.to_string()),
            }
        }
        Err(error) => AdminReply::Failed(format!(
            "the server does not know this command ({error}); use the same hornbook version"
        )),
    };
    let mut line = serde_json::to_vec(&reply)?;
    line.push(b'\n');
    (&*stream).write_all(&line)
}

/// Sends a command to the running server. `None` if there is no server.
pub(super) fn send_command(data: &Path, actor: &Actor, command: &AdminCommand) -> Result<Option<Value>, AdminError> {
    let path = data.join(SOCKET_FILE);
    // There is no socket, or its server is gone.
    let Ok(stream) = UnixStream::connect(&path) else { return Ok(None) };
    let failed = |doing| {
        let path = path.clone();
        move |source| AdminError::Socket { doing, path, source }
    };
    let request = AdminRequest { actor: actor.clone(), command: command.clone() };
    let mut line = serde_json::to_vec(&request).map_err(|e| failed("write to")(e.into()))?;
    line.push(b'\n');
    (&stream).write_all(&line).map_err(failed("write to"))?;
    let mut reply = String::new();
    BufReader::new(&stream).read_line(&mut reply).map_err(failed("read from"))?;
    match serde_json::from_str(&reply).map_err(|e| failed("understand the answer from")(e.into()))? {
        AdminReply::Done(value) => Ok(Some(value)),
        AdminReply::Failed(text) => Err(AdminError::Server(text)),
    }
}
