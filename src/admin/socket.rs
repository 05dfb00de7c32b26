//! The socket in the data directory: one line of JSON in, one line of JSON back. Only the owner of the directory may
//! connect; that is all the authentication there is, as for the file itself.

use std::fs::Permissions;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::command::AdminCommand;
use super::execute::{Desk, Reload};
use super::{AdminError, SOCKET_FILE};
use crate::accounts::Accounts;
use crate::accounts::entropy::SystemEntropy;
use crate::clock::Clock;

const REQUEST_BYTES_MAX: u64 = 1 << 20;
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

#[derive(Serialize, Deserialize)]
struct Request {
    actor: String,
    command: AdminCommand,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Reply {
    Done(Value),
    Failed(String),
}

/// A listening socket; dropping it removes its file.
pub struct AdminSocket {
    path: PathBuf,
    listener: UnixListener,
}

impl AdminSocket {
    /// Call this only as the owner of the data directory: a socket file found there is a dead one.
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
        // Bound in a directory that is closed to others and renamed once its mode is set: whatever the umask, nobody
        // else can connect in between.
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

    /// Serves one connection after another on this thread, for as long as the process lives.
    pub fn serve(&self, accounts: &Accounts, clock: &Arc<dyn Clock>, reload: &Reload) {
        for stream in self.listener.incoming().flatten() {
            // A client that breaks off has only itself to answer to.
            let _ = answer(&stream, accounts, clock, reload);
        }
    }
}

impl Drop for AdminSocket {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

fn answer(stream: &UnixStream, accounts: &Accounts, clock: &Arc<dyn Clock>, reload: &Reload) -> std::io::Result<()> {
    stream.set_read_timeout(Some(REQUEST_TIMEOUT))?;
    stream.set_write_timeout(Some(REQUEST_TIMEOUT))?;
    let mut line = String::new();
    BufReader::new(stream.take(REQUEST_BYTES_MAX)).read_line(&mut line)?;
    let reply = match serde_json::from_str::<Request>(&line) {
        Ok(Request { actor, command }) => {
            let mut desk =
                Desk { accounts, reload: Some(reload), actor, now: clock.now(), entropy: &mut SystemEntropy };
            match desk.execute(command) {
                Ok(value) => Reply::Done(value),
                Err(error) => Reply::Failed(error.to_string()),
            }
        }
        Err(error) => {
            Reply::Failed(format!("the server does not know this command ({error}); use the same hornbook version"))
        }
    };
    let mut line = serde_json::to_vec(&reply)?;
    line.push(b'\n');
    (&*stream).write_all(&line)
}

/// Asks the running server; `None` when there is none.
pub(super) fn ask(data: &Path, actor: &str, command: &AdminCommand) -> Result<Option<Value>, AdminError> {
    let path = data.join(SOCKET_FILE);
    // No socket, or one whose server is gone.
    let Ok(stream) = UnixStream::connect(&path) else { return Ok(None) };
    let failed = |doing| {
        let path = path.clone();
        move |source| AdminError::Socket { doing, path, source }
    };
    let request = Request { actor: actor.to_owned(), command: command.clone() };
    let mut line = serde_json::to_vec(&request).map_err(|e| failed("write to")(e.into()))?;
    line.push(b'\n');
    (&stream).write_all(&line).map_err(failed("write to"))?;
    let mut reply = String::new();
    BufReader::new(&stream).read_line(&mut reply).map_err(failed("read from"))?;
    match serde_json::from_str(&reply).map_err(|e| failed("understand the answer from")(e.into()))? {
        Reply::Done(value) => Ok(Some(value)),
        Reply::Failed(text) => Err(AdminError::Server(text)),
    }
}
