//! TLS for clients: which server certificates are accepted. Used by [`crate::client`] and
//! `hornbook healthcheck`.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};

/// Where common systems store the certificates they trust.
const SYSTEM_FILES: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/cert.pem",
    "/etc/ssl/ca-bundle.pem",
];

/// Which server certificates are accepted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Trust {
    /// Certificates that lead to one trusted by the operating system.
    System,
    /// Certificates that are in this PEM file, or lead to one in it.
    File(PathBuf),
    /// All certificates: the connection is encrypted, but the server may be anybody.
    Anyone,
}

/// The TLS configuration of a client that speaks HTTP/1.1 only.
pub(crate) fn client_config(trust: &Trust) -> io::Result<ClientConfig> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider));
    let builder = builder.with_safe_default_protocol_versions().map_err(io::Error::other)?;
    let mut config = match trust {
        Trust::Anyone => builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(AnyCertificate(provider)))
            .with_no_client_auth(),
        Trust::File(path) => builder.with_root_certificates(roots(path)?).with_no_client_auth(),
        Trust::System => builder.with_root_certificates(roots(system_file()?)?).with_no_client_auth(),
    };
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

fn system_file() -> io::Result<&'static Path> {
    SYSTEM_FILES.iter().map(Path::new).find(|path| path.is_file()).ok_or_else(|| {
        io::Error::new(io::ErrorKind::NotFound, "this system has no file of trusted certificates; name one with --ca")
    })
}

/// Reads the certificates of a PEM file. A file without any is an error.
fn roots(path: &Path) -> io::Result<RootCertStore> {
    let unreadable = |why: String| {
        let message = format!("cannot read certificates from {}: {why}", path.display());
        io::Error::new(io::ErrorKind::InvalidData, message)
    };
    let certificates = CertificateDer::pem_file_iter(path).map_err(|error| unreadable(error.to_string()))?;
    let certificates: Vec<_> = certificates.collect::<Result<_, _>>().map_err(|error| unreadable(error.to_string()))?;
    let mut store = RootCertStore::empty();
    // Systems also list certificates of unsupported kinds; these are skipped.
    match store.add_parsable_certificates(certificates) {
        (0, _) => Err(unreadable("it contains no certificate".to_owned())),
        _ => Ok(store),
    }
}

/// Accepts every certificate, but still verifies the signatures of the handshake.
struct AnyCertificate(Arc<CryptoProvider>);

impl fmt::Debug for AnyCertificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AnyCertificate")
    }
}

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
