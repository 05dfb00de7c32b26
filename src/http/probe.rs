//! The client of `hornbook healthcheck`: requests `/readyz` from our own server.

use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use rustls::ClientConnection;
use rustls::pki_types::ServerName;

use crate::tls_client::{Trust, client_config};

const ANSWER_BYTES_MAX: u64 = 64 << 10;

/// The server's response.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReadinessAnswer {
    pub status: u16,
    /// The status or the error code, such as `ready` or `stopping`.
    pub state: String,
    pub snapshot: Option<String>,
}

/// Requests `/readyz` from the server at this address.
pub fn fetch_readiness(listens: SocketAddr, is_encrypted: bool, within: Duration) -> io::Result<ReadinessAnswer> {
    let address = reachable(listens);
    let mut stream = TcpStream::connect_timeout(&address, within)?;
    stream.set_read_timeout(Some(within))?;
    stream.set_write_timeout(Some(within))?;
    let request = format!("GET /readyz HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    let answer = match is_encrypted {
        false => exchange(&mut stream, &request)?,
        true => {
            let mut connection = client(address.ip())?;
            exchange(&mut rustls::Stream::new(&mut connection, &mut stream), &request)?
        }
    };
    parsed(&answer).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "the response is not from hornbook"))
}

/// The address to connect to. A server that listens on all addresses is reached on the loopback address.
fn reachable(listens: SocketAddr) -> SocketAddr {
    let ip = match listens.ip() {
        ip if !ip.is_unspecified() => ip,
        IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
    };
    SocketAddr::new(ip, listens.port())
}

fn exchange(stream: &mut (impl Read + Write), request: &str) -> io::Result<String> {
    stream.write_all(request.as_bytes())?;
    stream.flush()?;
    let mut answer = Vec::new();
    match stream.take(ANSWER_BYTES_MAX).read_to_end(&mut answer) {
        // The end of the stream without the end of TLS is accepted, because the response states its own length.
        Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => Err(error),
        Ok(_) | Err(_) => Ok(String::from_utf8_lossy(&answer).into_owned()),
    }
}

fn parsed(answer: &str) -> Option<ReadinessAnswer> {
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    let body: serde_json::Value = serde_json::from_str(body).ok()?;
    let word = body["status"].as_str().or_else(|| body["error"].as_str())?.to_owned();
    let snapshot = head.lines().find_map(|line| line.strip_prefix("x-corpus-snapshot: ")).map(str::to_owned);
    Some(ReadinessAnswer { status, state: word, snapshot })
}

fn client(address: IpAddr) -> io::Result<ClientConnection> {
    // Nothing secret is sent. The certificate may be for another address, or be newer than the one in the file.
    let config = client_config(&Trust::Anyone)?;
    ClientConnection::new(Arc::new(config), ServerName::from(address)).map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read_by_its_status_and_word() {
        let ready = "HTTP/1.1 200 OK\r\nx-corpus-snapshot: abc\r\n\r\n{\"status\":\"ready\"}";
        let expected = ReadinessAnswer { status: 200, state: "ready".to_owned(), snapshot: Some("abc".to_owned()) };
        assert_eq!(parsed(ready), Some(expected));
        for strange in ["", "HTTP/1.1 200 OK\r\n\r\nhello", "SSH-2.0\r\n\r\n{}", "HTTP/1.1 200 OK\r\n\r\n{}"] {
            assert_eq!(parsed(strange), None, "{strange}");
        }
    }

    #[test]
    fn unspecified_addresses_are_reached_on_loopback() {
        for (listens, asked) in
            [("0.0.0.0:80", "127.0.0.1:80"), ("[::]:80", "[::1]:80"), ("192.0.2.1:80", "192.0.2.1:80")]
        {
            assert_eq!(reachable(listens.parse().unwrap()).to_string(), asked);
        }
    }
}
