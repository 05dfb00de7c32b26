//! The folder of a channel on a server of static files, over HTTP or HTTPS.

use std::cell::RefCell;
use std::io::{self, Read};
use std::ops::Range;
use std::rc::Rc;
use std::thread;
use std::time::{Duration, Instant};

use bytes::{Buf, Bytes};
use hornbook_index_build::progress::ProgressDisplay;
use hornbook_pack::{OriginError, PackOrigin};
use tokio::runtime::Runtime;

use super::least_rate::{LeastRate, TransferWindow};
use crate::client::{ClientError, Request, RequestLimits, ReusedConnection, ServerAddress, StreamedResponse};
use crate::tls_client::Trust;

/// How long a pull waits for a server.
#[derive(Clone, Copy, Debug)]
pub struct OriginLimits {
    /// For a connection.
    pub connect: Duration,
    /// For the head of a response, with the connection.
    pub head: Duration,
    /// For the next piece of a response.
    pub patience: Duration,
    /// What the server must send while it is waited for, over all responses: many that stall are as slow as one.
    pub least_rate: LeastRate,
    /// Before the second attempt. It doubles with each failure in a row, up to `pause_max`.
    pub first_pause: Duration,
    pub pause_max: Duration,
}

impl Default for OriginLimits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(15),
            head: Duration::from_secs(60),
            patience: Duration::from_secs(30),
            least_rate: LeastRate::default(),
            first_pause: Duration::from_secs(1),
            pause_max: Duration::from_secs(30),
        }
    }
}

/// A publisher of packs as an origin of pulls.
pub struct HttpOrigin {
    runtime: Rc<Runtime>,
    connection: ReusedConnection,
    limits: OriginLimits,
    window: Rc<RefCell<TransferWindow>>,
    /// The URL of the folder without a slash at the end, for messages.
    url: String,
    /// The path of the folder, with a slash at the end.
    path: String,
    progress: ProgressDisplay,
}

impl HttpOrigin {
    /// Checks the URL of a folder. It connects at the first request.
    pub fn new(url: &str, trust: &Trust, limits: OriginLimits, progress: ProgressDisplay) -> Result<Self, OriginError> {
        let url = url.trim_end_matches('/').to_owned();
        let address = ServerAddress::with_path(&url, trust);
        let (server, path) = address.map_err(|error| OriginError::Final(error.to_string()))?;
        if path.contains('?') {
            return Err(OriginError::Final(format!("'{url}' is not the URL of a folder: it has a query")));
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| OriginError::Final(format!("cannot wait for a network: {error}")))?;
        let requests = RequestLimits { connect: limits.connect, total: limits.head, body_bytes_max: 0 };
        Ok(Self {
            runtime: Rc::new(runtime),
            connection: ReusedConnection::new(server, requests),
            limits,
            window: Rc::default(),
            path: format!("{}/", path.trim_end_matches('/')),
            url,
            progress,
        })
    }

    fn response(&mut self, file: &str, range: Option<&Range<u64>>) -> Result<StreamedResponse, OriginError> {
        let at = format!("{}/{file}", self.url);
        let mut request = Request::get(format!("{}{file}", self.path)).header("accept-encoding", "identity");
        if let Some(range) = range {
            request = request.header("range", format!("bytes={}-{}", range.start, range.end - 1));
        }
        let began = Instant::now();
        let sent = self.runtime.block_on(self.connection.send_streaming(request));
        let is_fast = self.window.borrow_mut().is_fast_enough(self.limits.least_rate, began.elapsed(), 0);
        let response = match sent {
            Ok(_) if !is_fast => {
                return Err(OriginError::Slow(format!("{at}: {}", too_slow(self.limits.least_rate))));
            }
            sent => sent.map_err(|error| self.origin_error(&at, &error, is_fast))?,
        };
        match (response.status, range) {
            (200, None) => {}
            (206, Some(range)) => {
                let wanted = format!("bytes {}-{}/", range.start, range.end - 1);
                if !response.header("content-range").is_some_and(|found| found.starts_with(&wanted)) {
                    return Err(OriginError::Passing(format!(
                        "{at}: the server sent another part than it was asked for"
                    )));
                }
            }
            (200, Some(_)) => {
                return Err(OriginError::Final(format!(
                    "{at}: the server cannot send parts of files; use one that can"
                )));
            }
            (408 | 425 | 429 | 500..=599, _) => {
                return Err(OriginError::Passing(format!("{at}: the server answered {}", response.status)));
            }
            (status @ 300..=399, _) => {
                let what = "redirects are not followed; use the address where the files are";
                return Err(OriginError::Final(format!("{at}: the server answered {status}: {what}")));
            }
            (status, _) => return Err(OriginError::Final(format!("{at}: the server answered {status}"))),
        }
        if response.header("content-encoding").is_some_and(|encoding| encoding != "identity") {
            return Err(OriginError::Final(format!("{at}: the server compresses what must arrive as it is")));
        }
        Ok(response)
    }

    fn origin_error(&self, at: &str, error: &ClientError, is_fast: bool) -> OriginError {
        let text = match error {
            ClientError::Timeout => format!("{at}: the server sent no answer for {:?}", self.limits.head),
            _ => format!("{at}: {error}"),
        };
        match error {
            ClientError::Url(_) | ClientError::Certificate(_) | ClientError::Plain | ClientError::Request => {
                OriginError::Final(text)
            }
            _ if is_fast => OriginError::Passing(text),
            _ => OriginError::Slow(text),
        }
    }
}

impl PackOrigin for HttpOrigin {
    fn get(&mut self, file: &str, range: Option<Range<u64>>) -> Result<Box<dyn Read>, OriginError> {
        let response = self.response(file, range.as_ref())?;
        Ok(Box::new(ResponseReader {
            runtime: Rc::clone(&self.runtime),
            response,
            piece: Bytes::new(),
            limits: self.limits,
            window: Rc::clone(&self.window),
        }))
    }

    fn wait(&mut self, failures: u32) {
        let doubled = self.limits.first_pause.saturating_mul(1 << failures.saturating_sub(1).min(16));
        let pause = doubled.min(self.limits.pause_max);
        self.progress.say(format_args!("trying again in {pause:?}"));
        self.connection.close();
        thread::sleep(pause);
    }
}

fn too_slow(least: LeastRate) -> String {
    format!("the server sent fewer than {} bytes in {:?}", least.bytes, least.window)
}

/// The body of a response as a reader. `TimedOut` means that the server is too slow.
struct ResponseReader {
    runtime: Rc<Runtime>,
    response: StreamedResponse,
    piece: Bytes,
    limits: OriginLimits,
    window: Rc<RefCell<TransferWindow>>,
}

impl ResponseReader {
    fn next_piece(&mut self) -> io::Result<Option<Bytes>> {
        let began = Instant::now();
        let piece = self.runtime.block_on(self.response.next(self.limits.patience));
        let arrived = piece.as_ref().ok().and_then(Option::as_ref).map_or(0, Bytes::len);
        let is_fast = self.window.borrow_mut().is_fast_enough(self.limits.least_rate, began.elapsed(), arrived);
        let what = match piece {
            Ok(piece) if is_fast => return Ok(piece),
            Ok(_) => too_slow(self.limits.least_rate),
            Err(ClientError::Timeout) => format!("the server sent nothing for {:?}", self.limits.patience),
            Err(error) => error.to_string(),
        };
        let kind = if is_fast { io::ErrorKind::Other } else { io::ErrorKind::TimedOut };
        Err(io::Error::new(kind, what))
    }
}

impl Read for ResponseReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.piece.is_empty() {
            match self.next_piece()? {
                Some(piece) => self.piece = piece,
                None => return Ok(0),
            }
        }
        let count = self.piece.len().min(buffer.len());
        self.piece.copy_to_slice(&mut buffer[..count]);
        Ok(count)
    }
}
