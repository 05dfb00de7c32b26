//! TLS: both versions of HTTP, and a certificate that is replaced while the server runs.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hornbook::http::{HttpSettings, Tls, TlsFiles, fetch_readiness};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use crate::test_server::{TestResponse, TestServer, generous_tariff, wait_until};

/// Writes a self-signed certificate and returns it.
fn write_self_signed_certificate(folder: &Path) -> CertificateDer<'static> {
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed(["law.example".to_owned()]).unwrap();
    std::fs::write(folder.join("cert.pem"), cert.pem()).unwrap();
    std::fs::write(folder.join("key.pem"), signing_key.serialize_pem()).unwrap();
    cert.der().clone()
}

pub(crate) struct TlsServer {
    pub(crate) server: TestServer,
    tls: Arc<Tls>,
    folder: tempfile::TempDir,
    pub(crate) certificate: CertificateDer<'static>,
}

impl TlsServer {
    fn open() -> Self {
        Self::open_changed(|_| ())
    }

    /// With changed HTTP settings.
    pub(crate) fn open_changed(change: impl FnOnce(&mut HttpSettings)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let certificate = write_self_signed_certificate(folder.path());
        let files =
            TlsFiles { certificate: folder.path().join("cert.pem"), private_key: folder.path().join("key.pem") };
        let tls = Arc::new(Tls::load(files).unwrap());
        let used = Arc::clone(&tls);
        let server = TestServer::start_with(generous_tariff(), |http| {
            http.tls = Some(used);
            change(http);
        });
        Self { server, tls, folder, certificate }
    }
}

fn connect(
    address: SocketAddr,
    trusted: &CertificateDer<'static>,
    protocols: &[&[u8]],
) -> StreamOwned<ClientConnection, TcpStream> {
    tls_connect(TcpStream::connect(address).unwrap(), trusted, protocols)
}

pub(crate) fn tls_connect(
    stream: TcpStream,
    trusted: &CertificateDer<'static>,
    protocols: &[&[u8]],
) -> StreamOwned<ClientConnection, TcpStream> {
    let mut roots = RootCertStore::empty();
    roots.add(trusted.clone()).unwrap();
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let mut config =
        builder.with_safe_default_protocol_versions().unwrap().with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
    let name = ServerName::try_from("law.example").unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    StreamOwned::new(ClientConnection::new(Arc::new(config), name).unwrap(), stream)
}

fn ask(address: SocketAddr, trusted: &CertificateDer<'static>) -> std::io::Result<TestResponse> {
    ask_over(&mut connect(address, trusted, &[b"http/1.1"]))
}

fn ask_over(stream: &mut (impl Read + Write)) -> std::io::Result<TestResponse> {
    stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: law.example\r\nConnection: close\r\n\r\n")?;
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes)?;
    Ok(TestResponse::read(&bytes))
}

#[test]
fn both_http_versions_are_offered_and_refusals_have_messages() {
    let TlsServer { server, certificate, .. } = TlsServer::open();
    for (offered, chosen) in [
        (&[&b"h2"[..], b"http/1.1"][..], Some(&b"h2"[..])),
        (&[&b"http/1.1"[..]][..], Some(b"http/1.1")),
        (&[][..], None),
    ] {
        let mut stream = connect(server.address, &certificate, offered);
        while stream.conn.is_handshaking() {
            stream.conn.complete_io(&mut stream.sock).unwrap();
        }
        assert_eq!(stream.conn.alpn_protocol(), chosen);
    }
    assert_eq!(ask(server.address, &certificate).unwrap().status, 200);
    let mut stream = connect(server.address, &certificate, &[b"http/1.1"]);
    stream.write_all(b"GET /healthz HTTP/1.1\nHost: a\n\n").unwrap();
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    TestResponse::read(&bytes).expect_error(400, "bad_request");
}

#[test]
fn hsts_is_sent_when_the_server_has_tls() {
    let reported = |days: u32| {
        let TlsServer { server, certificate, .. } = TlsServer::open_changed(|http| http.https_only_days = days);
        ask(server.address, &certificate).unwrap().header("strict-transport-security").to_owned()
    };
    assert_eq!((reported(365).as_str(), reported(0).as_str()), ("max-age=31536000", ""));
    assert_eq!(TestServer::start(generous_tariff()).get_with("/healthz", &[]).header("strict-transport-security"), "");
}

#[test]
fn a_client_without_tls_is_closed_and_others_are_served() {
    let TlsServer { server, certificate, .. } = TlsServer::open();
    let mut plain = TcpStream::connect(server.address).unwrap();
    plain.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    plain.write_all(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
    let mut bytes = Vec::new();
    let _ = plain.read_to_end(&mut bytes);
    assert!(!bytes.starts_with(b"HTTP/"), "the server answered without TLS");
    assert_eq!(ask(server.address, &certificate).unwrap().status, 200);
    // It is counted after the connection ends.
    let refused = || server.metric_value("hornbook_connections_refused_total{why=\"handshake\"}");
    wait_until("the refusal's count", || (refused() - 1.0).abs() < 1e-9);
}

#[test]
fn a_new_certificate_is_used_once_it_is_reloaded_and_a_bad_one_is_not() {
    let TlsServer { server, tls, folder, certificate: first } = TlsServer::open();
    let mut kept = connect(server.address, &first, &[b"http/1.1"]);
    while kept.conn.is_handshaking() {
        kept.conn.complete_io(&mut kept.sock).unwrap();
    }
    let second = write_self_signed_certificate(folder.path());
    assert!(ask(server.address, &second).is_err(), "files alone change nothing");
    tls.reload().unwrap();
    assert_eq!(ask(server.address, &second).unwrap().status, 200);
    assert!(ask(server.address, &first).is_err());
    assert_eq!(ask_over(&mut kept).unwrap().status, 200, "an open connection keeps its certificate");

    write_self_signed_certificate(folder.path());
    let (cert, key) = (folder.path().join("cert.pem"), folder.path().join("key.pem"));
    let good = std::fs::read(&cert).unwrap();
    for (content, reported) in [(&b""[..], "no certificate"), (b"-----BEGIN CERTIFICATE-----\nAAAA\n", "cert.pem")] {
        std::fs::write(&cert, content).unwrap();
        let error = tls.reload().unwrap_err().to_string();
        assert!(error.contains(reported), "{error}");
    }
    std::fs::write(&cert, good).unwrap();
    std::fs::write(&key, rcgen::KeyPair::generate().unwrap().serialize_pem()).unwrap();
    let error = tls.reload().unwrap_err().to_string();
    assert!(error.contains("first certificate"), "{error}");
    std::fs::remove_file(&key).unwrap();
    assert!(tls.reload().unwrap_err().to_string().contains("key.pem"));
    assert_eq!(ask(server.address, &second).unwrap().status, 200, "the last good one stays");
}

#[test]
fn readiness_is_asked_with_tls_and_without() {
    let encrypted = TlsServer::open();
    let plain = TestServer::start(generous_tariff());
    for (server, is_encrypted) in [(&encrypted.server, true), (&plain, false)] {
        let said = fetch_readiness(server.address, is_encrypted, Duration::from_secs(10)).unwrap();
        assert_eq!((said.status, said.state.as_str()), (200, "ready"));
        assert_eq!(said.snapshot.as_deref(), Some(server.service.corpus().id()));
    }
    assert!(fetch_readiness(encrypted.server.address, false, Duration::from_secs(10)).is_err());
}
