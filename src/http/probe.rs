//! A client for one question, asked of our own server: are you ready?

use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use rustls::ClientConnection;
use rustls::pki_types::ServerName;

use crate::tls_client::{Trust, client_config};

const ANSWER_BYTES_MAX: u64 = 64 << 10;

/// What the server said.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Said {
    pub status: u16,
    /// One word, such as `ready` or `stopping`.
    pub word: String,
    pub snapshot: Option<String>,
}

/// Asks `/readyz` of whatever listens there.
pub fn ask_readiness(listens: SocketAddr, is_encrypted: bool, within: Duration) -> io::Result<Said> {
    let address = reachable(listens);
    let mut stream = TcpStream::connect_timeout(&address, within)?;
    stream.set_read_timeout(Some(within))?;
    stream.set_write_timeout(Some(within))?;
    let question = format!("GET /readyz HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    let answer = match is_encrypted {
        false => converse(&mut stream, &question)?,
        true => {
            let mut connection = client(address.ip())?;
            converse(&mut rustls::Stream::new(&mut connection, &mut stream), &question)?
        }
    };
    said(&answer).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "its answer is not one of hornbook"))
}

/// Who listens on all addresses is asked on the loopback one.
fn reachable(listens: SocketAddr) -> SocketAddr {
    let ip = match listens.ip() {
        ip if !ip.is_unspecified() => ip,
        IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
    };
    SocketAddr::new(ip, listens.port())
}

fn converse(stream: &mut (impl Read + Write), question: &str) -> io::Result<String> {
    stream.write_all(question.as_bytes())?;
    stream.flush()?;
    let mut answer = Vec::new();
    match stream.take(ANSWER_BYTES_MAX).read_to_end(&mut answer) {
        // The end of the stream is as good as the end of TLS: the answer tells its own length.
        Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => Err(error),
        Ok(_) | Err(_) => Ok(String::from_utf8_lossy(&answer).into_owned()),
    }
}

fn said(answer: &str) -> Option<Said> {
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    let body: serde_json::Value = serde_json::from_str(body).ok()?;
    let word = body["status"].as_str().or_else(|| body["error"].as_str())?.to_owned();
    let snapshot = head.lines().find_map(|line| line.strip_prefix("x-corpus-snapshot: ")).map(str::to_owned);
    Some(Said { status, word, snapshot })
}

fn client(address: IpAddr) -> io::Result<ClientConnection> {
    // Nothing secret is sent, and the certificate need not be one for this address, nor the one in the file by now.
    let config = client_config(&Trust::Anyone)?;
    ClientConnection::new(Arc::new(config), ServerName::from(address)).map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read_by_its_status_and_word() {
        let ready = "HTTP/1.1 200 OK\r\nx-corpus-snapshot: abc\r\n\r\n{\"status\":\"ready\"}";
        let expected = Said { status: 200, word: "ready".to_owned(), snapshot: Some("abc".to_owned()) };
        assert_eq!(said(ready), Some(expected));
        for strange in ["", "HTTP/1.1 200 OK\r\n\r\nhello", "SSH-2.0\r\n\r\n{}", "HTTP/1.1 200 OK\r\n\r\n{}"] {
            assert_eq!(said(strange), None, "{strange}");
        }
    }

    #[test]
    fn who_listens_everywhere_is_asked_at_home() {
        for (listens, asked) in
            [("0.0.0.0:80", "127.0.0.1:80"), ("[::]:80", "[::1]:80"), ("192.0.2.1:80", "192.0.2.1:80")]
        {
            assert_eq!(reachable(listens.parse().unwrap()).to_string(), asked);
        }
    }
}
