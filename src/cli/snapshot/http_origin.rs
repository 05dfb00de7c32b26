//! The folder of a channel on a server of static files, over HTTP or HTTPS.

use std::io::{self, Read};
use std::ops::Range;
use std::rc::Rc;
use std::thread;
use std::time::{Duration, Instant};

use bytes::{Buf, Bytes};
use hornbook::client::{ClientError, Request, RequestLimits, ReusedConnection, ServerAddress, StreamedResponse};
use hornbook::tls_client::Trust;
use hornbook_index_build::progress::ProgressDisplay;
use hornbook_pack::{OriginError, PackOrigin};
use tokio::runtime::Runtime;

use crate::cli::output::CommandError;

const LIMITS: RequestLimits =
    RequestLimits { connect: Duration::from_secs(15), total: Duration::from_secs(60), body_bytes_max: 0 };
/// How long the next piece of a response may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// A response must bring this many bytes in each of these intervals, or the pull would take days.
const BYTES_MIN: u64 = 60 << 10;
const INTERVAL: Duration = Duration::from_secs(60);
/// The longest pause between two attempts.
const PAUSE_MAX: Duration = Duration::from_secs(30);

pub(super) struct HttpOrigin {
    runtime: Rc<Runtime>,
    connection: ReusedConnection,
    /// The URL of the folder without a slash at the end, for messages.
    url: String,
    /// The path of the folder, with a slash at the end.
    path: String,
    progress: ProgressDisplay,
}

impl HttpOrigin {
    pub(super) fn new(url: &str, trust: &Trust, progress: ProgressDisplay) -> Result<Self, CommandError> {
        let url = url.trim_end_matches('/').to_owned();
        let (server, path) = ServerAddress::with_path(&url, trust)?;
        if path.contains('?') {
            return Err(format!("'{url}' is not the URL of a folder: it has a query").into());
        }
        let runtime = Rc::new(tokio::runtime::Builder::new_current_thread().enable_all().build()?);
        let path = format!("{}/", path.trim_end_matches('/'));
        Ok(Self { runtime, connection: ReusedConnection::new(server, LIMITS), url, path, progress })
    }

    fn response(&mut self, file: &str, range: Option<&Range<u64>>) -> Result<StreamedResponse, OriginError> {
        let at = format!("{}/{file}", self.url);
        let mut request = Request::get(format!("{}{file}", self.path)).header("accept-encoding", "identity");
        if let Some(range) = range {
            request = request.header("range", format!("bytes={}-{}", range.start, range.end - 1));
        }
        let sent = self.runtime.block_on(self.connection.send_streaming(request));
        let response = sent.map_err(|error| origin_error(&at, &error))?;
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
}

impl PackOrigin for HttpOrigin {
    fn get(&mut self, file: &str, range: Option<Range<u64>>) -> Result<Box<dyn Read>, OriginError> {
        let response = self.response(file, range.as_ref())?;
        let runtime = Rc::clone(&self.runtime);
        Ok(Box::new(ResponseReader { runtime, response, piece: Bytes::new(), waited: Duration::ZERO, arrived: 0 }))
    }

    fn wait(&mut self, failures: u32) {
        let pause = Duration::from_secs(1 << failures.saturating_sub(1).min(5)).min(PAUSE_MAX);
        self.progress.say(format_args!("trying again in {} s", pause.as_secs()));
        self.connection.close();
        thread::sleep(pause);
    }
}

fn origin_error(at: &str, error: &ClientError) -> OriginError {
    let text = format!("{at}: {error}");
    match error {
        ClientError::Url(_) | ClientError::Certificate(_) | ClientError::Plain | ClientError::Request => {
            OriginError::Final(text)
        }
        _ => OriginError::Passing(text),
    }
}

/// The body of a response as a reader.
struct ResponseReader {
    runtime: Rc<Runtime>,
    response: StreamedResponse,
    piece: Bytes,
    /// Time spent waiting for the server in the current interval, and the bytes that arrived in it.
    waited: Duration,
    arrived: u64,
}

impl ResponseReader {
    fn next_piece(&mut self) -> io::Result<Option<Bytes>> {
        let began = Instant::now();
        let piece = self.runtime.block_on(self.response.next(PATIENCE)).map_err(io::Error::other)?;
        self.waited += began.elapsed();
        self.arrived += piece.as_ref().map_or(0, |piece| piece.len() as u64);
        if self.waited > INTERVAL {
            if self.arrived < BYTES_MIN {
                return Err(io::Error::other("the server sent less than a kilobyte a second for a minute"));
            }
            (self.waited, self.arrived) = (Duration::ZERO, 0);
        }
        Ok(piece)
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
