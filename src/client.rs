//! An HTTP/1.1 client for the requests that the program makes itself: to a server under a load
//! test, to a server that tools are forwarded to, to a payment provider, to the operator's webhook,
//! and to publishers of sources.
//!
//! A connection goes to one server, with or without TLS. The client follows no redirects. Every
//! wait and every response has a limit; a response that is too long for memory is read in pieces.
//! Apart from `src/http`, only this file uses hyper. Errors and `Debug` output do not contain the
//! data that was sent.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::{CONTENT_TYPE, HOST, HeaderMap};
use hyper::{Response, Uri};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::network::is_public;
use crate::tls_client::{Trust, client_config};

/// The address of a server, and how to connect to it.
#[derive(Clone)]
pub struct ServerAddress {
    address: String,
    /// The value of the Host header.
    host: String,
    tls: Option<TlsTarget>,
    /// Whether only addresses of the public internet are connected to.
    is_public_only: bool,
}

#[derive(Clone)]
struct TlsTarget {
    connector: TlsConnector,
    name: ServerName<'static>,
}

impl ServerAddress {
    /// Parses the URL of a server, which must have no path. `trust` applies only to https.
    pub fn parse(base: &str, trust: &Trust) -> Result<Self, ClientError> {
        let (server, path) = Self::with_path(base, trust)?;
        match path.as_str() {
            "/" => Ok(server),
            _ => Err(ClientError::Url(format!("'{base}' is not the URL of a server: give it without a path"))),
        }
    }

    /// Parses a whole URL into the server and the path to request.
    pub fn with_path(url: &str, trust: &Trust) -> Result<(Self, String), ClientError> {
        let invalid = |why: &dyn fmt::Display| ClientError::Url(format!("'{url}' is not the URL of a server: {why}"));
        let uri: Uri = url.parse().map_err(|error| invalid(&error))?;
        let (Some(scheme @ ("http" | "https")), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
            return Err(invalid(&"write it as http://127.0.0.1:8080 or https://law.example.org"));
        };
        if authority.as_str().contains('@') {
            return Err(ClientError::Url("a URL must not contain a user name or password".to_owned()));
        }
        let name = authority.host();
        let is_encrypted = scheme == "https";
        let port = uri.port_u16().unwrap_or(if is_encrypted { 443 } else { 80 });
        let tls = is_encrypted.then(|| {
            let config = client_config(trust).map_err(|error| ClientError::Url(error.to_string()))?;
            let name =
                ServerName::try_from(name.trim_matches(['[', ']']).to_owned()).map_err(|error| invalid(&error))?;
            Ok(TlsTarget { connector: TlsConnector::from(Arc::new(config)), name })
        });
        let path = uri.path_and_query().map_or("/", |path| path.as_str()).to_owned();
        let (address, host, tls) = (format!("{name}:{port}"), authority.to_string(), tls.transpose()?);
        Ok((Self { address, host, tls, is_public_only: false }, path))
    }

    /// Connects only to addresses of the public internet: for addresses that a customer chose. The name is looked up for
    /// each connection, and what was looked up is what is connected to.
    #[must_use]
    pub fn public_only(self) -> Self {
        Self { is_public_only: true, ..self }
    }

    /// Whether nobody on the network can read the traffic: it is encrypted, or it stays on this machine.
    pub fn is_private(&self) -> bool {
        let name = self.address.rsplit_once(':').map_or(&*self.address, |(name, _)| name).trim_matches(['[', ']']);
        let is_here = name.parse::<IpAddr>().map_or(name.eq_ignore_ascii_case("localhost"), |ip| ip.is_loopback());
        self.tls.is_some() || is_here
    }

    /// Host and port, for messages.
    pub fn address(&self) -> &str {
        &self.address
    }

    pub fn is_encrypted(&self) -> bool {
        self.tls.is_some()
    }
}

/// Limits on the time and on the response size of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RequestLimits {
    pub connect: Duration,
    /// From the request to the last byte of the response, including connecting if needed.
    pub total: Duration,
    pub body_bytes_max: usize,
}

/// A request to send. The path includes the query and is percent-encoded.
#[derive(Clone)]
pub struct Request {
    method: ClientMethod,
    path: String,
    headers: Vec<(&'static str, String)>,
    body: Bytes,
}

#[derive(Clone, Copy)]
enum ClientMethod {
    Get,
    Post,
}

impl Request {
    pub fn get(path: impl Into<String>) -> Self {
        Self { method: ClientMethod::Get, path: path.into(), headers: Vec::new(), body: Bytes::new() }
    }

    pub fn post(path: impl Into<String>, content_type: &str, body: impl Into<Bytes>) -> Self {
        let request = Self { method: ClientMethod::Post, body: body.into(), ..Self::get(path) };
        request.header(CONTENT_TYPE.as_str(), content_type)
    }

    /// Adds a header. The name must be in lower case.
    #[must_use]
    pub fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    fn into_hyper(self, host: &str) -> Result<hyper::Request<Full<Bytes>>, ClientError> {
        let method = match self.method {
            ClientMethod::Get => hyper::Method::GET,
            ClientMethod::Post => hyper::Method::POST,
        };
        let mut request = hyper::Request::builder().method(method).uri(self.path).header(HOST, host);
        for (name, value) in self.headers {
            request = request.header(name, value);
        }
        // The error contains neither the path nor a header value: either may be a secret.
        request.body(Full::new(self.body)).map_err(|_| ClientError::Request)
    }
}

/// A whole response.
#[derive(Clone)]
pub struct ClientResponse {
    pub status: u16,
    headers: HeaderMap,
    pub body: Bytes,
}

impl ClientResponse {
    /// The first value of a header, if it is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

/// The head of a response, and its body, which is read in pieces.
pub struct StreamedResponse {
    pub status: u16,
    headers: HeaderMap,
    body: Incoming,
}

impl StreamedResponse {
    /// The first value of a header, if it is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// Returns the next piece of the body, or None at its end. The piece must arrive within
    /// `patience`. A body that ends before the length stated in the head is an error.
    pub async fn next(&mut self, patience: Duration) -> Result<Option<Bytes>, ClientError> {
        loop {
            let frame = tokio::time::timeout(patience, self.body.frame()).await.map_err(|_| ClientError::Timeout)?;
            match frame.transpose().map_err(ClientError::Broken)?.map(hyper::body::Frame::into_data) {
                None => return Ok(None),
                Some(Ok(piece)) => return Ok(Some(piece)),
                // Trailers are skipped.
                Some(Err(_)) => {}
            }
        }
    }
}

/// The reason why there is no response.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The URL or the file of trusted certificates is invalid.
    #[error("{0}")]
    Url(String),
    /// The name leads into a network that is not the public internet.
    #[error("its address is not one of the public internet")]
    Internal,
    #[error("{0}; check that the server is running")]
    Unreachable(#[source] io::Error),
    /// The server's certificate does not lead to a trusted one.
    #[error("{0}")]
    Certificate(#[source] io::Error),
    /// The server does not answer in TLS.
    #[error("the server does not speak TLS here; use http://")]
    Plain,
    #[error("timed out")]
    ConnectTimeout,
    /// The path or a header cannot be sent.
    #[error("the request has a path or header that HTTP does not allow")]
    Request,
    /// The the connection broke. The request may have been sent.
    #[error("the connection broke")]
    Broken(#[source] hyper::Error),
    /// The time limit passed. The request may have been sent.
    #[error("timed out")]
    Timeout,
    /// The response is longer than this limit in bytes. The request was sent.
    #[error("the response is longer than {0} bytes")]
    TooLong(usize),
}

impl ClientError {
    /// Whether the server may have received the request and acted on it.
    pub fn may_have_arrived(&self) -> bool {
        matches!(self, Self::Broken(_) | Self::Timeout | Self::TooLong(_))
    }
}

/// A connection that is reused for one request after another. If it broke, the next request opens it again.
pub struct ReusedConnection {
    server: ServerAddress,
    limits: RequestLimits,
    sender: Option<SendRequest<Full<Bytes>>>,
}

impl ReusedConnection {
    /// Connects at the first request, unless `connect` is called before.
    pub fn new(server: ServerAddress, limits: RequestLimits) -> Self {
        Self { server, limits, sender: None }
    }

    pub async fn connect(&mut self) -> Result<(), ClientError> {
        self.sender = None;
        let opened = tokio::time::timeout(self.limits.connect, self.server.open());
        self.sender = Some(opened.await.unwrap_or(Err(ClientError::ConnectTimeout))?);
        Ok(())
    }

    /// Sends a request and reads the whole response.
    pub async fn send(&mut self, request: Request) -> Result<ClientResponse, ClientError> {
        let request = request.into_hyper(&self.server.host)?;
        let total = self.limits.total;
        let result = tokio::time::timeout(total, self.exchange(request)).await.unwrap_or(Err(ClientError::Timeout));
        if result.is_err() {
            self.sender = None;
        }
        result
    }

    /// Sends a request and waits for the head of the response; the limit on the body size does not
    /// apply. Dropping the body before its end closes the connection.
    pub async fn send_streaming(&mut self, request: Request) -> Result<StreamedResponse, ClientError> {
        let request = request.into_hyper(&self.server.host)?;
        let total = self.limits.total;
        let result = tokio::time::timeout(total, self.head(request)).await.unwrap_or(Err(ClientError::Timeout));
        if result.is_err() {
            self.sender = None;
        }
        let (head, body) = result?.into_parts();
        Ok(StreamedResponse { status: head.status.as_u16(), headers: head.headers, body })
    }

    /// Closes the connection; the next request opens a new one.
    pub fn close(&mut self) {
        self.sender = None;
    }

    async fn exchange(&mut self, request: hyper::Request<Full<Bytes>>) -> Result<ClientResponse, ClientError> {
        let response = self.head(request).await?;
        read(response, self.limits.body_bytes_max).await
    }

    async fn head(&mut self, request: hyper::Request<Full<Bytes>>) -> Result<Response<Incoming>, ClientError> {
        if self.sender.as_ref().is_none_or(SendRequest::is_closed) {
            self.connect().await?;
        }
        let Some(sender) = self.sender.as_mut() else { return Err(ClientError::ConnectTimeout) };
        sender.ready().await.map_err(ClientError::Broken)?;
        sender.send_request(request).await.map_err(ClientError::Broken)
    }
}

/// Sends one request over a new connection.
pub async fn send_once(
    server: &ServerAddress,
    limits: RequestLimits,
    request: Request,
) -> Result<ClientResponse, ClientError> {
    ReusedConnection::new(server.clone(), limits).send(request).await
}

async fn read(response: Response<Incoming>, bytes_max: usize) -> Result<ClientResponse, ClientError> {
    let (head, body) = response.into_parts();
    let body =
        Limited::new(body, bytes_max).collect().await.map_err(|error| match error.downcast::<hyper::Error>() {
            Ok(error) => ClientError::Broken(*error),
            Err(other) => {
                debug_assert!(other.is::<LengthLimitError>(), "{other}");
                ClientError::TooLong(bytes_max)
            }
        })?;
    Ok(ClientResponse { status: head.status.as_u16(), headers: head.headers, body: body.to_bytes() })
}

impl ServerAddress {
    async fn connect(&self) -> Result<TcpStream, ClientError> {
        if !self.is_public_only {
            return TcpStream::connect(&self.address).await.map_err(ClientError::Unreachable);
        }
        let found = tokio::net::lookup_host(&self.address).await.map_err(ClientError::Unreachable)?;
        let found: Vec<SocketAddr> = found.filter(|address| is_public(address.ip())).collect();
        if found.is_empty() {
            return Err(ClientError::Internal);
        }
        TcpStream::connect(&*found).await.map_err(ClientError::Unreachable)
    }

    async fn open(&self) -> Result<SendRequest<Full<Bytes>>, ClientError> {
        let stream = self.connect().await?;
        let _ = stream.set_nodelay(true);
        match &self.tls {
            None => start(stream).await,
            Some(TlsTarget { connector, name }) => {
                start(connector.connect(name.clone(), stream).await.map_err(tls_error)?).await
            }
        }
    }
}

/// Converts the error of a failed TLS connection.
fn tls_error(error: io::Error) -> ClientError {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
        Some(rustls::Error::InvalidCertificate(_)) => ClientError::Certificate(error),
        Some(rustls::Error::InvalidMessage(_)) => ClientError::Plain,
        _ => ClientError::Unreachable(error),
    }
}

async fn start(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
) -> Result<SendRequest<Full<Bytes>>, ClientError> {
    let (sender, driver) = http1::handshake(TokioIo::new(stream)).await.map_err(ClientError::Broken)?;
    // The task ends with the connection; the next request reports what broke it.
    tokio::spawn(async move { drop(driver.await) });
    Ok(sender)
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Read, Write};
    use std::net::TcpListener;

    use super::*;

    const LIMITS: RequestLimits =
        RequestLimits { connect: Duration::from_secs(10), total: Duration::from_secs(10), body_bytes_max: 64 };

    #[test]
    fn valid_urls_parse_and_others_give_an_error() {
        let parse = |base: &str| ServerAddress::parse(base, &Trust::Anyone);
        let server = parse("http://127.0.0.1:8080").unwrap();
        assert_eq!((server.address.as_str(), server.host.as_str()), ("127.0.0.1:8080", "127.0.0.1:8080"));
        assert!(server.tls.is_none());
        assert_eq!(parse("http://law.example/").unwrap().address, "law.example:80");
        assert_eq!(parse("http://[::1]:9").unwrap().address, "[::1]:9");
        let encrypted = parse("https://law.example").unwrap();
        assert_eq!((encrypted.address.as_str(), encrypted.tls.is_some()), ("law.example:443", true));
        assert!(parse("https://[::1]:9").unwrap().tls.is_some());
        for bad in [
            "ftp://law.example",
            "law.example:80",
            "data/current",
            "",
            "http://law.example/api",
            "http://a/?q",
            "http://a?q",
        ] {
            assert!(parse(bad).is_err(), "{bad}");
        }
        let secret = parse("http://operator:hunter2@law.example").err().unwrap().to_string();
        assert!(!secret.contains("hunter2"), "{secret}");
        let absent = ServerAddress::parse("https://law.example", &Trust::File("absent.pem".into())).err().unwrap();
        assert!(absent.to_string().contains("absent.pem"), "{absent}");
        let (server, path) = ServerAddress::with_path("http://law.example/hooks/a?b=c", &Trust::System).unwrap();
        assert_eq!((server.address(), path.as_str()), ("law.example:80", "/hooks/a?b=c"));
    }

    /// Starts a server that reads requests with a body of the stated length. `answer` gets the
    /// request line, headers and body, and returns the response. An empty response closes the
    /// connection.
    fn server(answer: fn(&str) -> String) -> ServerAddress {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            for mut stream in listener.incoming().map_while(Result::ok) {
                let mut reader = BufReader::new(stream.try_clone().unwrap());
                loop {
                    let mut received = String::new();
                    while !received.ends_with("\r\n\r\n") && reader.read_line(&mut received).unwrap() > 0 {}
                    let length = received.lines().find_map(|line| line.strip_prefix("content-length: "));
                    let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
                    reader.read_exact(&mut body).unwrap();
                    let answer = answer(&(received + &String::from_utf8(body).unwrap()));
                    stream.write_all(answer.as_bytes()).unwrap();
                    if answer.is_empty() {
                        break;
                    }
                }
            }
        });
        ServerAddress::parse(&base, &Trust::System).unwrap()
    }

    fn echo(received: &str) -> String {
        let line = received.lines().next().unwrap_or_default();
        let body = received.split("\r\n\r\n").nth(1).unwrap_or_default();
        match line {
            "GET /break HTTP/1.1" | "" => String::new(),
            "GET /long HTTP/1.1" => format!("HTTP/1.1 200 OK\r\nContent-Length: 65\r\n\r\n{:65}", ""),
            "GET /endless HTTP/1.1" => "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n".to_owned(),
            _ => {
                let secret = received.lines().find_map(|line| line.strip_prefix("x-secret: ")).unwrap_or("none");
                let text = format!("{line} {secret} {body}");
                format!("HTTP/1.1 201 Created\r\nX-Kind: echo\r\nContent-Length: {}\r\n\r\n{text}", text.len())
            }
        }
    }

    fn on_a_runtime<T>(work: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
    }

    #[test]
    fn method_path_headers_and_body_arrive_and_the_response_comes_back_whole() {
        on_a_runtime(async {
            let mut connection = ReusedConnection::new(server(echo), LIMITS);
            let request = Request::post("/a?b=c", "text/plain", "hello").header("x-secret", "s");
            let answer = connection.send(request).await.unwrap();
            assert_eq!((answer.status, answer.header("x-kind")), (201, Some("echo")));
            assert_eq!(answer.body, "POST /a?b=c HTTP/1.1 s hello");
            assert_eq!(connection.send(Request::get("/b")).await.unwrap().body, "GET /b HTTP/1.1 none ");
        });
    }

    #[test]
    fn a_response_over_the_limit_is_refused_and_one_at_the_limit_is_not() {
        on_a_runtime(async {
            let server = server(echo);
            let at = |body_bytes_max| RequestLimits { body_bytes_max, ..LIMITS };
            let refused = send_once(&server, at(64), Request::get("/long")).await.err().unwrap();
            assert!(matches!(refused, ClientError::TooLong(64)) && refused.may_have_arrived(), "{refused:?}");
            assert_eq!(send_once(&server, at(65), Request::get("/long")).await.unwrap().body.len(), 65);
        });
    }

    #[test]
    fn errors_state_whether_the_request_may_have_arrived() {
        on_a_runtime(async {
            let mut connection = ReusedConnection::new(server(echo), LIMITS);
            let broken = connection.send(Request::get("/break")).await.err().unwrap();
            assert!(matches!(broken, ClientError::Broken(_)) && broken.may_have_arrived(), "{broken:?}");
            assert_eq!(connection.send(Request::get("/b")).await.unwrap().status, 201, "opened again");
            connection.limits.total = Duration::from_millis(50);
            let late = connection.send(Request::get("/endless")).await.err().unwrap();
            assert!(matches!(late, ClientError::Timeout) && late.may_have_arrived(), "{late:?}");

            let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
            let gone = ServerAddress::parse(&format!("http://{gone}"), &Trust::System).unwrap();
            let unreachable = send_once(&gone, LIMITS, Request::get("/")).await.err().unwrap();
            assert!(matches!(unreachable, ClientError::Unreachable(_)) && !unreachable.may_have_arrived());
            let unsent = connection.send(Request::get("/").header("x-secret", "hunter2\r\n")).await.err().unwrap();
            assert!(!unsent.may_have_arrived() && !format!("{unsent} {unsent:?}").contains("hunter2"), "{unsent:?}");
        });
    }
}
