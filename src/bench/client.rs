//! A plain HTTP/1.1 client, with or without TLS: one connection, one request at a time, kept alive.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Empty};
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::{AUTHORIZATION, HOST};
use hyper::{Request, Uri};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::runtime::Runtime;
use tokio_rustls::TlsConnector;

use super::BenchError;
use crate::tls_client::{Trust, client_config};

/// For connecting, and for a whole response.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Where and how to connect.
#[derive(Clone)]
pub(super) struct Server {
    address: String,
    /// As in the Host header.
    host: String,
    tls: Option<Encryption>,
}

#[derive(Clone)]
struct Encryption {
    connector: TlsConnector,
    name: ServerName<'static>,
}

impl Server {
    /// `trust` matters for https alone.
    pub(super) fn parse(base: &str, trust: &Trust) -> Result<Self, BenchError> {
        let invalid = |why: &dyn std::fmt::Display| BenchError(format!("'{base}' is not the URL of a server: {why}"));
        let uri: Uri = base.parse().map_err(|error| invalid(&error))?;
        let (Some(scheme @ ("http" | "https")), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
            return Err(invalid(&"write it as http://127.0.0.1:8080 or https://law.example.org"));
        };
        if !matches!(uri.path(), "" | "/") || uri.query().is_some() {
            return Err(invalid(&"give it without a path; --path names what to request"));
        }
        let name = authority.host();
        let is_encrypted = scheme == "https";
        let port = uri.port_u16().unwrap_or(if is_encrypted { 443 } else { 80 });
        let tls = is_encrypted.then(|| {
            let config = client_config(trust).map_err(|error| BenchError(error.to_string()))?;
            let name =
                ServerName::try_from(name.trim_matches(['[', ']']).to_owned()).map_err(|error| invalid(&error))?;
            Ok(Encryption { connector: TlsConnector::from(Arc::new(config)), name })
        });
        Ok(Self { address: format!("{name}:{port}"), host: authority.to_string(), tls: tls.transpose()? })
    }
}

pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) server_timing: Option<String>,
    /// Of what is not a 200.
    pub(super) error: Option<Bytes>,
}

/// A connection with a runtime of its own, so that no connection waits for another.
pub(super) struct Connection {
    runtime: Runtime,
    server: Server,
    sender: Option<SendRequest<Empty<Bytes>>>,
}

impl Connection {
    pub(super) fn open(server: &Server) -> Result<Self, BenchError> {
        let unable =
            |error: &dyn std::fmt::Display| BenchError(format!("cannot connect to {}: {error}", server.address));
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| unable(&error))?;
        let mut connection = Self { runtime, server: server.clone(), sender: None };
        connection.connect().map_err(|why| unable(&why))?;
        Ok(connection)
    }

    fn connect(&mut self) -> Result<(), String> {
        let server = &self.server;
        let opened = async {
            let refused = |error: std::io::Error| format!("{error}; is the server running?");
            let stream = TcpStream::connect(&server.address).await.map_err(refused)?;
            let _ = stream.set_nodelay(true);
            match &server.tls {
                None => start(stream).await,
                Some(Encryption { connector, name }) => {
                    start(connector.connect(name.clone(), stream).await.map_err(|error| without_tls(&error))?).await
                }
            }
        };
        let within_time = async { tokio::time::timeout(TIMEOUT, opened).await };
        self.sender = Some(self.runtime.block_on(within_time).unwrap_or_else(|_| Err("timed out".to_owned()))?);
        Ok(())
    }

    /// Sends a request and reads the whole response. A broken connection is opened again for the next request.
    pub(super) fn get(&mut self, path: &str, key: Option<&str>) -> Result<Answer, Cow<'static, str>> {
        if self.sender.as_ref().is_none_or(SendRequest::is_closed) {
            self.sender = None;
            self.connect().map_err(|_| "cannot connect")?;
        }
        let mut request = Request::get(path).header(HOST, &self.server.host);
        if let Some(key) = key {
            request = request.header(AUTHORIZATION, format!("Bearer {key}"));
        }
        let request = request.body(Empty::new()).map_err(|error| error.to_string())?;
        let Some(sender) = self.sender.as_mut() else { return Err("cannot connect".into()) };
        let responded = self.runtime.block_on(async {
            let response = async {
                sender.ready().await?;
                let response = sender.send_request(request).await?;
                let status = response.status().as_u16();
                let timing = response.headers().get("server-timing").and_then(|value| value.to_str().ok());
                let server_timing = timing.map(str::to_owned);
                let body = response.into_body().collect().await?;
                let error = (status != 200).then(|| body.to_bytes());
                Ok::<_, hyper::Error>(Answer { status, server_timing, error })
            };
            tokio::time::timeout(TIMEOUT, response).await
        });
        let failure = match responded {
            Ok(Ok(answer)) => return Ok(answer),
            Ok(Err(_)) => "connection broke",
            Err(_) => "timed out",
        };
        self.sender = None;
        Err(failure.into())
    }
}

/// Why there is no encrypted connection, and what to do about it.
fn without_tls(error: &std::io::Error) -> String {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
        Some(rustls::Error::InvalidCertificate(_)) => {
            format!("{error}; name the file of a certificate to trust with --ca, or accept any with --insecure")
        }
        Some(rustls::Error::InvalidMessage(_)) => "the server does not speak TLS here; use http://".to_owned(),
        _ => error.to_string(),
    }
}

async fn start(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
) -> Result<SendRequest<Empty<Bytes>>, String> {
    let (sender, driver) = http1::handshake(TokioIo::new(stream)).await.map_err(|error| error.to_string())?;
    // Ends with the connection; the next request is told what broke it.
    tokio::spawn(async move { drop(driver.await) });
    Ok(sender)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_others_are_refused_in_words() {
        let parse = |base: &str| Server::parse(base, &Trust::Anyone);
        let server = parse("http://127.0.0.1:8080").unwrap();
        assert_eq!((server.address.as_str(), server.host.as_str()), ("127.0.0.1:8080", "127.0.0.1:8080"));
        assert!(server.tls.is_none());
        assert_eq!(parse("http://law.example/").unwrap().address, "law.example:80");
        assert_eq!(parse("http://[::1]:9").unwrap().address, "[::1]:9");
        let encrypted = parse("https://law.example").unwrap();
        assert_eq!((encrypted.address.as_str(), encrypted.tls.is_some()), ("law.example:443", true));
        assert!(parse("https://[::1]:9").unwrap().tls.is_some());
        for bad in ["ftp://law.example", "law.example:80", "data/current", "", "http://law.example/api", "http://a/?q"]
        {
            assert!(parse(bad).is_err(), "{bad}");
        }
        let absent = Server::parse("https://law.example", &Trust::File("absent.pem".into())).err().unwrap();
        assert!(absent.to_string().contains("absent.pem"), "{absent}");
    }
}
