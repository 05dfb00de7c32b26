//! TLS with rustls, from PEM files that can be replaced while the server runs.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

/// The protocols that clients are offered, in this order.
const PROTOCOLS: [&[u8]; 2] = [b"h2", b"http/1.1"];

/// The paths of the certificate and the key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TlsFiles {
    /// The server's certificate first, then its issuers.
    pub certificate: PathBuf,
    pub private_key: PathBuf,
}

#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    #[error("cannot read PEM from {}: {source}; check path, permissions and contents", .path.display())]
    Read { path: PathBuf, source: rustls::pki_types::pem::Error },
    #[error("{} contains no certificate; put the server's first, then its issuers", .path.display())]
    NoCertificate { path: PathBuf },
    /// The key does not match the certificate, or their algorithm is not supported.
    #[error(
        "cannot serve with {} and {}: {source}; check that the key belongs to the first certificate",
        .certificate.display(),
        .private_key.display()
    )]
    Mismatched { certificate: PathBuf, private_key: PathBuf, source: rustls::Error },
}

/// The current certificate, and the files from which the next one is loaded.
pub struct Tls {
    files: TlsFiles,
    current: RwLock<TlsAcceptor>,
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.files.fmt(f)
    }
}

impl Tls {
    pub fn load(files: TlsFiles) -> Result<Self, TlsError> {
        let current = RwLock::new(acceptor(&files)?);
        Ok(Self { files, current })
    }

    /// Loads the files again, for new connections. If they are invalid, the current certificate stays.
    pub fn reload(&self) -> Result<(), TlsError> {
        let fresh = acceptor(&self.files)?;
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = fresh;
        Ok(())
    }

    pub(super) fn acceptor(&self) -> TlsAcceptor {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn acceptor(files: &TlsFiles) -> Result<TlsAcceptor, TlsError> {
    let TlsFiles { certificate, private_key } = files;
    let chain = certificates(certificate)?;
    let key = PrivateKeyDer::from_pem_file(private_key)
        .map_err(|source| TlsError::Read { path: private_key.clone(), source })?;
    let unfit =
        |source| TlsError::Mismatched { certificate: certificate.clone(), private_key: private_key.clone(), source };
    let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let builder = builder.with_safe_default_protocol_versions().map_err(unfit)?;
    let mut config = builder.with_no_client_auth().with_single_cert(chain, key).map_err(unfit)?;
    config.alpn_protocols = PROTOCOLS.map(<[u8]>::to_vec).to_vec();
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// The certificates of a PEM file, at least one.
fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let read = |source| TlsError::Read { path: path.to_owned(), source };
    let chain: Vec<_> = CertificateDer::pem_file_iter(path).map_err(read)?.collect::<Result<_, _>>().map_err(read)?;
    if chain.is_empty() {
        return Err(TlsError::NoCertificate { path: path.to_owned() });
    }
    Ok(chain)
}
