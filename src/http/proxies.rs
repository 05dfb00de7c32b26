//! Trusted proxies: only they can state the client of a connection or of a request.
//!
//! The PROXY protocol, version 1 or 2, names the client of a connection at its beginning.
//! `X-Forwarded-For` names the client of a request. Both are ignored if they come from anyone else.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use hyper::HeaderMap;
use tokio::io::{AsyncRead, AsyncReadExt};

use crate::network::Network;

const SIGNATURE_2: [u8; 12] = *b"\r\n\r\n\0\r\nQUIT\n";
/// The limit in the specification of the protocol.
const LINE_1_BYTES_MAX: usize = 107;
/// Addresses take 36 bytes. Extensions after them are skipped.
const BODY_2_BYTES_MAX: usize = 2048;

pub(super) const FORWARDED_FOR: &str = "x-forwarded-for";

/// The networks of trusted proxies.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Proxies {
    pub networks: Vec<Network>,
    /// Whether their connections begin with the PROXY protocol.
    pub uses_proxy_protocol: bool,
}

impl Proxies {
    fn include(&self, address: IpAddr) -> bool {
        self.networks.iter().any(|network| network.contains(address))
    }

    /// The client of a request from a proxy: the last address that is not a trusted proxy, if there is one.
    fn forwarded_for(&self, headers: &HeaderMap) -> Option<IpAddr> {
        let values = headers.get_all(FORWARDED_FOR).iter().filter_map(|value| value.to_str().ok());
        let entries: Vec<&str> = values.flat_map(|value| value.split(',')).map(str::trim).collect();
        for entry in entries.iter().rev() {
            // The sender of an invalid entry also wrote the entries before it.
            let address = entry.parse::<IpAddr>().ok()?.to_canonical();
            if !self.include(address) {
                return Some(address);
            }
        }
        None
    }
}

/// The remote side of a connection.
#[derive(Clone, Debug)]
pub(super) struct Peer {
    pub(super) address: IpAddr,
    /// Set if it is a trusted proxy, which sends the requests of others.
    proxies: Option<Arc<Proxies>>,
}

impl Peer {
    pub(super) fn new(address: IpAddr, proxies: &Arc<Proxies>) -> Self {
        Self { address, proxies: proxies.include(address).then(|| Arc::clone(proxies)) }
    }

    /// A peer that speaks for itself.
    pub(super) fn client_at(address: IpAddr) -> Self {
        Self { address, proxies: None }
    }

    pub(super) fn is_proxy(&self) -> bool {
        self.proxies.is_some()
    }

    /// The client of a request. `None` if a proxy does not name it.
    pub(super) fn client(&self, headers: &HeaderMap) -> Option<IpAddr> {
        match &self.proxies {
            Some(proxies) => proxies.forwarded_for(headers),
            None => Some(self.address),
        }
    }
}

/// Reads the PROXY protocol, and not a byte more. `None` if the proxy opened the connection for itself.
pub(super) async fn read_proxy_header(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<Option<IpAddr>> {
    let mut start = [0; SIGNATURE_2.len()];
    stream.read_exact(&mut start).await?;
    if start == SIGNATURE_2 {
        return announced_2(stream).await;
    }
    let mut line = start.to_vec();
    while !line.ends_with(b"\r\n") {
        if line.len() >= LINE_1_BYTES_MAX {
            return Err(invalid());
        }
        line.push(stream.read_u8().await?);
    }
    announced_1(&line)
}

/// Parses version 1, such as `PROXY TCP4 192.0.2.1 192.0.2.2 56324 443`.
fn announced_1(line: &[u8]) -> io::Result<Option<IpAddr>> {
    let text = str::from_utf8(line).map_err(|_| invalid())?.trim_end_matches("\r\n");
    let parts: Vec<&str> = text.split(' ').collect();
    match parts.as_slice() {
        ["PROXY", "UNKNOWN", ..] => Ok(None),
        ["PROXY", family @ ("TCP4" | "TCP6"), client, server, client_port, server_port] => {
            let (client, server): (IpAddr, IpAddr) =
                (client.parse().map_err(|_| invalid())?, server.parse().map_err(|_| invalid())?);
            let is_of_family = |address: IpAddr| address.is_ipv4() == (*family == "TCP4");
            let are_ports = [client_port, server_port].iter().all(|port| port.parse::<u16>().is_ok());
            let is_good = is_of_family(client) && is_of_family(server) && are_ports;
            if is_good { Ok(Some(client.to_canonical())) } else { Err(invalid()) }
        }
        _ => Err(invalid()),
    }
}

async fn announced_2(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<Option<IpAddr>> {
    let (command, family, length) = (stream.read_u8().await?, stream.read_u8().await?, stream.read_u16().await?);
    if usize::from(length) > BODY_2_BYTES_MAX {
        return Err(invalid());
    }
    let mut body = vec![0; usize::from(length)];
    stream.read_exact(&mut body).await?;
    match (command, family) {
        // The proxy's own health checks.
        (0x20, _) => Ok(None),
        (0x21, 0x11) => {
            let address: [u8; 4] = body.get(..4).and_then(|bytes| bytes.try_into().ok()).ok_or_else(invalid)?;
            if body.len() < 12 { Err(invalid()) } else { Ok(Some(Ipv4Addr::from(address).into())) }
        }
        (0x21, 0x21) => {
            let address: [u8; 16] = body.get(..16).and_then(|bytes| bytes.try_into().ok()).ok_or_else(invalid)?;
            if body.len() < 36 {
                Err(invalid())
            } else {
                Ok(Some(IpAddr::from(Ipv6Addr::from(address)).to_canonical()))
            }
        }
        (0x21, 0x00) => Ok(None),
        _ => Err(invalid()),
    }
}

fn invalid() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the connection does not begin with the PROXY protocol")
}

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;

    use super::*;

    fn read(bytes: &[u8]) -> (io::Result<Option<IpAddr>>, usize) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let mut rest = bytes;
        let client = runtime.block_on(read_proxy_header(&mut rest));
        (client, rest.len())
    }

    fn version_2(command: u8, family: u8, body: &[u8]) -> Vec<u8> {
        let length = u16::try_from(body.len()).unwrap().to_be_bytes();
        [&SIGNATURE_2[..], &[command, family], &length, body, b"GET"].concat()
    }

    #[test]
    fn the_proxy_protocol_is_read_and_not_a_byte_more() {
        let v4: IpAddr = "192.0.2.7".parse().unwrap();
        let v6: IpAddr = "2001:db8::7".parse().unwrap();
        let body_4 = [192, 0, 2, 7, 10, 0, 0, 1, 0, 80, 1, 187];
        let body_6 = [&"2001:db8::7".parse::<Ipv6Addr>().unwrap().octets()[..], &[0; 20]].concat();
        for (bytes, expected) in [
            (b"PROXY TCP4 192.0.2.7 10.0.0.1 56324 443\r\nGET".to_vec(), Some(v4)),
            (b"PROXY TCP6 2001:db8::7 ::1 56324 443\r\nGET".to_vec(), Some(v6)),
            (b"PROXY TCP6 ::ffff:192.0.2.7 ::1 1 2\r\nGET".to_vec(), Some(v4)),
            (b"PROXY UNKNOWN\r\nGET".to_vec(), None),
            (b"PROXY UNKNOWN ffff::1 ::1 1 2\r\nGET".to_vec(), None),
            (version_2(0x21, 0x11, &body_4), Some(v4)),
            (version_2(0x21, 0x21, &body_6), Some(v6)),
            (version_2(0x21, 0x11, &[&body_4[..], &[4, 0, 1, 7]].concat()), Some(v4)),
            (version_2(0x20, 0x00, b""), None),
            (version_2(0x20, 0x11, &body_4), None),
        ] {
            let (client, left) = read(&bytes);
            assert_eq!((client.unwrap(), left), (expected, 3), "{}", bytes.escape_ascii());
        }
    }

    #[test]
    fn other_bytes_are_an_error() {
        for bytes in [
            b"GET / HTTP/1.1\r\nHost: a\r\n\r\n".to_vec(),
            b"PROXY TCP4 192.0.2.7 10.0.0.1 56324\r\n".to_vec(),
            b"PROXY TCP4 ::1 ::1 1 2\r\nGET".to_vec(),
            b"PROXY TCP4 a b 1 2\r\nGET".to_vec(),
            b"PROXY TCP4 1.2.3.4 1.2.3.4 1 99999\r\n".to_vec(),
            b"PROXY".to_vec(),
            [b"PROXY TCP4 ".to_vec(), vec![b'1'; 200]].concat(),
            version_2(0x21, 0x11, &[1, 2, 3]),
            version_2(0x31, 0x11, &[0; 12]),
            version_2(0x21, 0x12, &[0; 12]),
            version_2(0x21, 0x11, &vec![0; 3000]),
        ] {
            assert!(read(&bytes).0.is_err(), "{}", bytes.escape_ascii());
        }
    }

    #[test]
    fn the_last_address_that_is_no_proxy_is_the_client() {
        let networks = ["10.0.0.0/8", "2001:db8::/32", "192.0.2.1"].map(|network| network.parse().unwrap()).into();
        let proxies = Proxies { networks, uses_proxy_protocol: false };
        let forwarded = |values: &[&'static str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append("x-forwarded-for", HeaderValue::from_static(value));
            }
            proxies.forwarded_for(&headers).map(|address| address.to_string())
        };
        assert_eq!(forwarded(&["203.0.113.9"]).as_deref(), Some("203.0.113.9"));
        assert_eq!(forwarded(&["1.1.1.1, 203.0.113.9, 10.1.2.3"]).as_deref(), Some("203.0.113.9"));
        assert_eq!(forwarded(&["1.1.1.1", "203.0.113.9", "2001:db8::1"]).as_deref(), Some("203.0.113.9"));
        assert_eq!(forwarded(&["::ffff:203.0.113.9, 192.0.2.1"]).as_deref(), Some("203.0.113.9"));
        for none in [&[][..], &["10.1.2.3"], &["unknown"], &["1.1.1.1, garbage, 10.0.0.1"], &["1.1.1.1:80"]] {
            assert_eq!(forwarded(none), None, "{none:?}");
        }
    }
}
