//! A server that is only hyper: it returns recorded responses by their path, including the headers.

use std::collections::HashMap;
use std::convert::Infallible;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{CONNECTION, CONTENT_LENGTH, DATE, HeaderName, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{HeaderMap, Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

use crate::server::{ServerProcess, get};

/// The argument that makes this program the bare server.
pub(crate) const FLAG: &str = "--bare";

/// Records the responses of a server as they came over the wire.
pub(crate) fn record_responses(server: &ServerProcess, key: &str, paths: &[String], folder: &Path) {
    for (place, path) in paths.iter().enumerate() {
        let answer = get(&server.address, path, Some(key));
        assert!(answer.starts_with(b"HTTP/1.1 200"), "{path}: {}", String::from_utf8_lossy(&answer));
        std::fs::write(folder.join(place.to_string()), answer).expect("an answer kept");
    }
    std::fs::write(folder.join("paths"), paths.join("\n")).expect("the addresses kept");
}

/// Starts this program again as the bare server of recorded responses.
pub(crate) fn start(folder: &Path) -> ServerProcess {
    let program = std::env::current_exe().expect("this program");
    ServerProcess::start(Command::new(program).arg(FLAG).arg(folder))
}

/// Serves recorded responses until the process ends.
pub(crate) fn serve_recorded(folder: &Path) {
    let paths = std::fs::read_to_string(folder.join("paths")).expect("addresses");
    let read = |(place, path): (usize, &str)| {
        (path.to_owned(), parse(&std::fs::read(folder.join(place.to_string())).expect("an answer")))
    };
    let answers: HashMap<String, (HeaderMap, Bytes)> = paths.lines().enumerate().map(read).collect();
    let answers = Arc::new(answers);
    // The same runtime as in 'hornbook serve'.
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        println!("listening on http://{}", listener.local_addr().expect("an address"));
        loop {
            let Ok((stream, _)) = listener.accept().await else { continue };
            let _ = stream.set_nodelay(true);
            let answers = Arc::clone(&answers);
            let service = service_fn(move |request: Request<Incoming>| {
                let answers = Arc::clone(&answers);
                async move {
                    let asked = request.uri().path_and_query().map_or("/", |asked| asked.as_str());
                    let (headers, body) = &answers[asked];
                    let mut response = Response::new(Full::new(body.clone()));
                    *response.headers_mut() = headers.clone();
                    Ok::<_, Infallible>(response)
                }
            });
            tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
        }
    });
}

/// Headers and body of a response, without the headers that hyper writes itself.
fn parse(answer: &[u8]) -> (HeaderMap, Bytes) {
    const END: &[u8] = b"\r\n\r\n";
    let end = answer.windows(END.len()).position(|window| window == END).expect("a head");
    let head = str::from_utf8(&answer[..end]).expect("a head in text");
    let mut headers = HeaderMap::new();
    for (name, value) in head.lines().skip(1).filter_map(|line| line.split_once(": ")) {
        let name: HeaderName = name.parse().expect("a header's name");
        if ![CONNECTION, CONTENT_LENGTH, DATE].contains(&name) {
            headers.append(name, HeaderValue::from_str(value).expect("a header's value"));
        }
    }
    (headers, Bytes::copy_from_slice(&answer[end + END.len()..]))
}
