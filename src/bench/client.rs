//! A plain HTTP/1.1 client: one connection, one request at a time, kept alive.

use std::borrow::Cow;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Empty};
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::{AUTHORIZATION, HOST};
use hyper::{Request, Uri};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::runtime::Runtime;

use super::BenchError;

/// Nobody waits longer for a page of law.
const PATIENCE: Duration = Duration::from_secs(30);

/// Where to connect to.
pub(super) struct Server {
    address: String,
    /// As the Host header says it.
    host: String,
}

impl Server {
    pub(super) fn parse(base: &str) -> Result<Self, BenchError> {
        let uri: Uri = base.parse().map_err(|error| BenchError(format!("'{base}' is no address: {error}")))?;
        if uri.scheme_str() != Some("http") {
            let why =
                "only http:// is measured; for TLS put the same proxy in front that your clients have, and measure it";
            return Err(BenchError(format!("'{base}': {why}")));
        }
        let host = uri.authority().map(ToString::to_string).unwrap_or_default();
        let name = uri.host().unwrap_or_default();
        Ok(Self { address: format!("{name}:{}", uri.port_u16().unwrap_or(80)), host })
    }
}

pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) server_timing: Option<String>,
}

/// A connection with the little runtime that drives it: a thread of its own for each, so none waits for another.
pub(super) struct Connection {
    runtime: Runtime,
    address: String,
    host: String,
    sender: Option<SendRequest<Empty<Bytes>>>,
}

impl Connection {
    pub(super) fn open(server: &Server) -> Result<Self, BenchError> {
        let unable = |error: &dyn std::fmt::Display| {
            BenchError(format!("cannot connect to {}: {error}; is the server running?", server.address))
        };
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| unable(&error))?;
        let mut connection = Self { runtime, address: server.address.clone(), host: server.host.clone(), sender: None };
        connection.connect().map_err(|why| unable(&why))?;
        Ok(connection)
    }

    fn connect(&mut self) -> Result<(), Cow<'static, str>> {
        let address = &self.address;
        let sender = self.runtime.block_on(async move {
            let opened = async {
                let stream = TcpStream::connect(address).await.map_err(|error| error.to_string())?;
                let _ = stream.set_nodelay(true);
                let (sender, driver) =
                    http1::handshake(TokioIo::new(stream)).await.map_err(|error| error.to_string())?;
                // Ends with the connection; what breaks it is told to whoever asks next.
                tokio::spawn(async move { drop(driver.await) });
                Ok::<_, String>(sender)
            };
            tokio::time::timeout(PATIENCE, opened).await.unwrap_or_else(|_| Err("timed out".to_owned()))
        });
        self.sender = Some(sender?);
        Ok(())
    }

    /// Asks and reads the whole answer. A connection that broke is opened again for the next request.
    pub(super) fn get(&mut self, path: &str, key: Option<&str>) -> Result<Answer, Cow<'static, str>> {
        if self.sender.as_ref().is_none_or(SendRequest::is_closed) {
            self.sender = None;
            self.connect().map_err(|_| "cannot connect")?;
        }
        let mut request = Request::get(path).header(HOST, &self.host);
        if let Some(key) = key {
            request = request.header(AUTHORIZATION, format!("Bearer {key}"));
        }
        let request = request.body(Empty::new()).map_err(|error| error.to_string())?;
        let Some(sender) = self.sender.as_mut() else { return Err("cannot connect".into()) };
        let asked = self.runtime.block_on(async {
            let answered = async {
                sender.ready().await?;
                let response = sender.send_request(request).await?;
                let status = response.status().as_u16();
                let timing = response.headers().get("server-timing").and_then(|value| value.to_str().ok());
                let server_timing = timing.map(str::to_owned);
                response.into_body().collect().await?;
                Ok::<_, hyper::Error>(Answer { status, server_timing })
            };
            tokio::time::timeout(PATIENCE, answered).await
        });
        let answer = match asked {
            Ok(Ok(answer)) => return Ok(answer),
            Ok(Err(_)) => Err("connection broke".into()),
            Err(_) => Err("timed out".into()),
        };
        self.sender = None;
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_others_are_refused_in_words() {
        let server = Server::parse("http://127.0.0.1:8080").unwrap();
        assert_eq!((server.address.as_str(), server.host.as_str()), ("127.0.0.1:8080", "127.0.0.1:8080"));
        assert_eq!(Server::parse("http://law.example/").unwrap().address, "law.example:80");
        assert_eq!(Server::parse("http://[::1]:9").unwrap().address, "[::1]:9");
        for bad in ["https://law.example", "law.example:80", "data/current", ""] {
            assert!(Server::parse(bad).is_err(), "{bad}");
        }
    }
}
