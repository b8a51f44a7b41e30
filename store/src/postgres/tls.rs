//! Encrypted connections: certificates are always checked.

use std::io;
use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};

use crate::error::{Result, StoreError};

/// Makes the settings of a client that trusts the certificates of a file, or those that the system trusts.
pub(super) fn settings(roots: Option<&Path>) -> Result<ClientConfig> {
    let path = roots.unwrap_or_else(|| Path::new("the system's certificates"));
    let failed = |source: io::Error| StoreError::File {
        path: path.into(),
        doing: "read the certificates that a server's must be signed by (sslrootcert)",
        source,
    };
    let mut trusted = RootCertStore::empty();
    if let Some(file) = roots {
        let certificates = CertificateDer::pem_file_iter(file)
            .and_then(Iterator::collect::<std::result::Result<Vec<_>, _>>)
            .map_err(|error| failed(io::Error::other(error)))?;
        for certificate in certificates {
            trusted
                .add(certificate)
                .map_err(|error| failed(io::Error::other(error)))?;
        }
    } else {
        let found = rustls_native_certs::load_native_certs();
        trusted.add_parsable_certificates(found.certs);
    }
    if trusted.is_empty() {
        return Err(failed(io::Error::new(
            io::ErrorKind::NotFound,
            "there is none: name a file with sslrootcert=",
        )));
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let settings = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| failed(io::Error::other(error)))?
        .with_root_certificates(trusted)
        .with_no_client_auth();
    Ok(settings)
}
