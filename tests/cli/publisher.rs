//! A publisher's server on loopback: files with validators and ranges like on real servers, and
//! faults on demand.

use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A fault of one response.
#[derive(Clone, Debug)]
pub(crate) enum ResponseFault {
    /// The connection ends after this many bytes of the body.
    CloseAfter(usize),
    /// `Content-Length` has this value instead of the true one.
    WrongContentLength(usize),
    /// This status, with these header lines.
    Status(u16, &'static str),
    Redirect(String),
    /// One byte in the middle of the body is changed.
    Corrupt,
    /// `Content-Range` starts at another byte than requested.
    WrongRangeStart,
    /// The whole file is sent instead of the requested range.
    IgnoreRange,
    /// Sends nothing for this long, then closes the connection.
    Stall(Duration),
    /// No `Content-Length`: the body ends with the connection.
    NoLength,
    /// Chunked encoding without the last chunk: the connection ends after this many bytes.
    CloseAfterChunk(usize),
    /// Only this many bytes of the requested range are announced and sent.
    ShortRange(usize),
    /// The same, and `Content-Range` does not contain the length of the file.
    ShortRangeWithoutTotal(usize),
    /// The whole range is announced without a length, and the connection ends after this many bytes.
    TruncatedRange(usize),
    /// Sends one byte at a time, with this pause between them.
    SlowBytes(Duration),
    /// Sends this many bytes of the body, nothing for this long, then closes the connection.
    StallAfter(usize, Duration),
}

#[derive(Clone, Debug)]
struct OfferedFile {
    bytes: Vec<u8>,
    etag: Option<String>,
    last_modified: Option<String>,
}

/// A received request.
#[derive(Clone, Debug)]
pub(crate) struct ReceivedRequest {
    pub(crate) path: String,
    pub(crate) head: String,
    pub(crate) at: Instant,
}

impl ReceivedRequest {
    /// The value of a header; `name` is in lower case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }
}

#[derive(Default)]
struct State {
    files: Mutex<BTreeMap<String, OfferedFile>>,
    faults: Mutex<BTreeMap<String, VecDeque<ResponseFault>>>,
    asked: Mutex<Vec<ReceivedRequest>>,
    open: AtomicUsize,
    open_max: AtomicUsize,
}

pub(crate) struct Publisher {
    pub(crate) base: String,
    state: Arc<State>,
}

impl Publisher {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::new(State::default());
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let state = Arc::clone(&shared);
                std::thread::spawn(move || {
                    let open = state.open.fetch_add(1, Ordering::SeqCst) + 1;
                    state.open_max.fetch_max(open, Ordering::SeqCst);
                    let _ = serve(stream, &state);
                    state.open.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        Self { base, state }
    }

    /// Offers a file with a strong ETag computed from its bytes.
    pub(crate) fn offer(&self, path: &str, bytes: &[u8]) {
        let sum: u64 = bytes.iter().fold(7, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(*byte)));
        self.offer_with(path, bytes, Some(&format!("\"{sum:x}\"")), Some("Wed, 18 Nov 2026 10:00:00 GMT"));
    }

    pub(crate) fn offer_with(&self, path: &str, bytes: &[u8], etag: Option<&str>, last_modified: Option<&str>) {
        let offered = OfferedFile {
            bytes: bytes.to_vec(),
            etag: etag.map(str::to_owned),
            last_modified: last_modified.map(str::to_owned),
        };
        self.state.files.lock().unwrap().insert(path.to_owned(), offered);
    }

    /// Makes the next requests of a path fail, one fault each.
    pub(crate) fn add_faults(&self, path: &str, faults: impl IntoIterator<Item = ResponseFault>) {
        self.state.faults.lock().unwrap().entry(path.to_owned()).or_default().extend(faults);
    }

    /// Lets all further requests succeed.
    pub(crate) fn clear_faults(&self) {
        self.state.faults.lock().unwrap().clear();
    }

    /// The requests since the last call.
    pub(crate) fn take_requests(&self) -> Vec<ReceivedRequest> {
        std::mem::take(&mut *self.state.asked.lock().unwrap())
    }

    /// The largest number of connections open at the same time.
    pub(crate) fn connections_max(&self) -> usize {
        self.state.open_max.load(Ordering::SeqCst)
    }
}

/// Answers requests until a response ends the connection.
fn serve(mut stream: TcpStream, state: &State) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if reader.read_line(&mut head)? == 0 {
                return Ok(());
            }
        }
        let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
        let asked = ReceivedRequest { path: path.clone(), head: head.replace("\r\n", "\n"), at: Instant::now() };
        state.asked.lock().unwrap().push(asked.clone());
        let fault = state.faults.lock().unwrap().get_mut(&path).and_then(VecDeque::pop_front);
        let offered = state.files.lock().unwrap().get(&path).cloned();
        if !answer(&mut stream, &asked, offered, fault.as_ref())? {
            return Ok(());
        }
    }
}

/// Returns whether the connection stays open.
fn answer(
    stream: &mut TcpStream,
    asked: &ReceivedRequest,
    offered: Option<OfferedFile>,
    fault: Option<&ResponseFault>,
) -> std::io::Result<bool> {
    match fault {
        Some(ResponseFault::Status(status, headers)) => {
            write!(stream, "HTTP/1.1 {status} X\r\n{headers}Content-Length: 0\r\n\r\n")?;
            return Ok(true);
        }
        Some(ResponseFault::Redirect(to)) => {
            write!(stream, "HTTP/1.1 302 X\r\nLocation: {to}\r\nContent-Length: 5\r\n\r\nmoved")?;
            return Ok(true);
        }
        Some(ResponseFault::Stall(pause)) => {
            std::thread::sleep(*pause);
            return Ok(false);
        }
        _ => {}
    }
    let Some(offered) = offered else {
        write!(stream, "HTTP/1.1 404 X\r\nContent-Length: 4\r\n\r\nnone")?;
        return Ok(true);
    };
    let is_same = asked.header("if-none-match").is_some_and(|tag| offered.etag.as_deref() == Some(tag))
        || asked.header("if-modified-since").is_some_and(|date| offered.last_modified.as_deref() == Some(date));
    let mut validators = String::new();
    validators += &offered.etag.as_ref().map(|etag| format!("ETag: {etag}\r\n")).unwrap_or_default();
    validators += &offered.last_modified.as_ref().map(|date| format!("Last-Modified: {date}\r\n")).unwrap_or_default();
    if is_same {
        write!(stream, "HTTP/1.1 304 X\r\n{validators}\r\n")?;
        return Ok(true);
    }
    let mut body = offered.bytes.clone();
    let total = body.len();
    let unchanged = asked.header("if-range").is_none_or(|validator| {
        [&offered.etag, &offered.last_modified].into_iter().flatten().any(|own| own == validator)
    });
    let range = asked.header("range").and_then(|range| range.strip_prefix("bytes=")?.split_once('-'));
    let start = range.and_then(|(start, _)| start.parse().ok());
    let last: Option<usize> = range.and_then(|(_, last)| last.parse().ok());
    let start: Option<usize> = start.filter(|_| unchanged && !matches!(fault, Some(ResponseFault::IgnoreRange)));
    let mut head = match start {
        Some(start) if start >= total => {
            write!(stream, "HTTP/1.1 416 X\r\nContent-Range: bytes */{total}\r\nContent-Length: 0\r\n\r\n")?;
            return Ok(true);
        }
        Some(start) => {
            body.truncate(last.map_or(total, |last| total.min(last + 1)));
            body.drain(..start);
            let reported = if matches!(fault, Some(ResponseFault::WrongRangeStart)) { start - 1 } else { start };
            if let Some(ResponseFault::ShortRange(length) | ResponseFault::ShortRangeWithoutTotal(length)) = fault {
                body.truncate(*length);
            }
            let total = if matches!(fault, Some(ResponseFault::ShortRangeWithoutTotal(_))) {
                "*".to_owned()
            } else {
                total.to_string()
            };
            format!("HTTP/1.1 206 X\r\nContent-Range: bytes {reported}-{}/{total}\r\n", start + body.len() - 1)
        }
        None => "HTTP/1.1 200 X\r\n".to_owned(),
    };
    head += &validators;
    let announced = match fault {
        Some(ResponseFault::WrongContentLength(length)) => *length,
        _ => body.len(),
    };
    head += &match fault {
        Some(ResponseFault::NoLength | ResponseFault::TruncatedRange(_)) => "Connection: close\r\n".to_owned(),
        Some(ResponseFault::CloseAfterChunk(_)) => "Transfer-Encoding: chunked\r\n".to_owned(),
        _ => format!("Content-Length: {announced}\r\n"),
    };
    stream.write_all(head.as_bytes())?;
    stream.write_all(b"\r\n")?;
    match fault {
        Some(ResponseFault::Corrupt) => {
            let middle = body.len() / 2;
            body[middle] ^= 0x55;
        }
        Some(ResponseFault::CloseAfter(length) | ResponseFault::TruncatedRange(length)) => body.truncate(*length),
        Some(ResponseFault::CloseAfterChunk(length)) => {
            body.truncate(*length);
            write!(stream, "{length:x}\r\n")?;
        }
        Some(ResponseFault::StallAfter(length, pause)) => {
            stream.write_all(&body[..body.len().min(*length)])?;
            std::thread::sleep(*pause);
            return Ok(false);
        }
        Some(ResponseFault::SlowBytes(pause)) => {
            for byte in &body {
                std::thread::sleep(*pause);
                stream.write_all(&[*byte])?;
            }
            return Ok(true);
        }
        _ => {}
    }
    stream.write_all(&body)?;
    stream.flush()?;
    let ends = matches!(
        fault,
        Some(
            ResponseFault::CloseAfter(_)
                | ResponseFault::WrongContentLength(_)
                | ResponseFault::NoLength
                | ResponseFault::CloseAfterChunk(_)
                | ResponseFault::TruncatedRange(_)
        )
    );
    Ok(!ends)
}
