//! Where a strategy's requests go, with everything that must be ready before the first of them.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::path::Path;
use std::sync::Arc;

use http::{HeaderMap, HeaderName, HeaderValue, header};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore, crypto::ring};

use super::keep_alive::KeepAlive;
use super::key::Secret;
use super::url::BaseUrl;

/// An endpoint that can't be used; found before any request.
#[derive(Debug, thiserror::Error)]
pub enum EndpointError {
    /// The host has no address.
    #[error("{host} has no address ({source}); check the host name and this machine's DNS")]
    NoAddress {
        /// The host.
        host: String,
        /// Why.
        source: io::Error,
    },
    /// No certificate authority is known.
    #[error(
        "{url} needs TLS, but this machine has no certificate authorities; pass --ca-file FILE (PEM), or install the \
         system's ca-certificates"
    )]
    NoRoots {
        /// The endpoint.
        url: String,
    },
    /// The file of certificate authorities is unusable.
    #[error("--ca-file {file} holds no usable certificate ({reason})")]
    CaFile {
        /// The file.
        file: String,
        /// Why.
        reason: String,
    },
    /// The host is no name that a certificate can have.
    #[error("{0} is no host name that a certificate can have")]
    ServerName(String),
    /// TLS can't be set up.
    #[error("TLS can't be set up ({0})")]
    Tls(String),
    /// A header that HTTP can't carry.
    #[error("header \"{0}\" has a name or value that HTTP can't carry")]
    Header(String),
    /// A header that says how a message is framed.
    #[error("header \"{0}\" follows from the body; take it out")]
    Framing(String),
}

/// How connections are encrypted.
#[derive(Clone)]
pub(super) struct Tls {
    pub config: Arc<ClientConfig>,
    pub name: ServerName<'static>,
}

/// An endpoint, resolved.
#[derive(Clone)]
pub struct Endpoint {
    /// Where.
    pub url: BaseUrl,
    pub(super) addresses: Vec<SocketAddr>,
    pub(super) tls: Option<Tls>,
    pub(super) headers: HeaderMap,
    pub(super) keep_alive: Arc<KeepAlive>,
}

impl Endpoint {
    /// Resolves the host and, for https alone, reads the certificate authorities.
    ///
    /// # Errors
    /// An unknown host, or TLS without usable roots.
    pub fn resolve(url: BaseUrl, ca_file: Option<&Path>) -> Result<Endpoint, EndpointError> {
        let host = url.host().to_owned();
        let addresses: Vec<SocketAddr> = (host.as_str(), url.port())
            .to_socket_addrs()
            .map_err(|source| EndpointError::NoAddress { host: host.clone(), source })?
            .collect();
        let tls = if url.tls() { Some(tls(&url, ca_file)?) } else { None };
        let keep_alive = Arc::default();
        let mut endpoint = Endpoint { url, addresses, tls, headers: HeaderMap::new(), keep_alive };
        let authority = endpoint.url.authority();
        endpoint.header("host", &authority, false)?;
        endpoint.header("user-agent", concat!("pacegate/", env!("CARGO_PKG_VERSION")), false)?;
        Ok(endpoint)
    }

    /// Adds a header to every request.
    ///
    /// # Errors
    /// A name or value that HTTP can't carry, and a header that says where the request ends.
    pub fn header(&mut self, name: &str, value: &str, sensitive: bool) -> Result<(), EndpointError> {
        let bad = || EndpointError::Header(name.to_owned());
        let header = HeaderName::from_bytes(name.as_bytes()).map_err(|_| bad())?;
        if [header::CONTENT_LENGTH, header::TRANSFER_ENCODING].contains(&header) {
            return Err(EndpointError::Framing(name.to_owned()));
        }
        let mut value = HeaderValue::from_str(value).map_err(|_| bad())?;
        value.set_sensitive(sensitive);
        self.headers.insert(header, value);
        Ok(())
    }

    /// Sends the key with every request. Whether it may go there was decided before.
    ///
    /// # Errors
    /// Never for a key that [`Secret::new`] took.
    pub fn authorize(&mut self, key: &Secret) -> Result<(), EndpointError> {
        self.header(header::AUTHORIZATION.as_str(), &format!("Bearer {}", key.expose()), true)
    }
}

fn tls(url: &BaseUrl, ca_file: Option<&Path>) -> Result<Tls, EndpointError> {
    let mut roots = RootCertStore::empty();
    if let Some(file) = ca_file {
        let bad = |reason: String| EndpointError::CaFile { file: file.display().to_string(), reason };
        let certificates = CertificateDer::pem_file_iter(file).map_err(|e| bad(e.to_string()))?;
        for certificate in certificates {
            let certificate = certificate.map_err(|e| bad(e.to_string()))?;
            roots.add(certificate).map_err(|e| bad(e.to_string()))?;
        }
        if roots.is_empty() {
            return Err(bad("no certificate in it".to_owned()));
        }
    } else {
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        if roots.is_empty() {
            return Err(EndpointError::NoRoots { url: url.to_string() });
        }
    }
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|e| EndpointError::Tls(e.to_string()))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    let name = ServerName::try_from(url.host().to_owned())
        .map_err(|_| EndpointError::ServerName(url.host().to_owned()))?;
    Ok(Tls { config: Arc::new(config), name })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(url: &str, ca_file: Option<&Path>) -> Result<Endpoint, EndpointError> {
        Endpoint::resolve(BaseUrl::parse(url).unwrap(), ca_file)
    }

    #[test]
    fn plain_http_needs_no_certificate_authority() {
        // The file does not exist: it is not looked at.
        let endpoint = resolve("http://127.0.0.1:9", Some(Path::new("no-such-file.pem"))).unwrap();
        assert!(endpoint.tls.is_none());
        assert_eq!(endpoint.headers["host"], "127.0.0.1:9");
    }

    #[test]
    fn a_file_without_certificates_is_refused_by_name() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let error = resolve("https://127.0.0.1:9", Some(file.path())).err().unwrap().to_string();
        assert!(error.contains("--ca-file") && error.contains("no certificate"), "{error}");
    }

    #[test]
    fn the_key_goes_into_a_header_that_does_not_print_itself() {
        let mut endpoint = resolve("http://127.0.0.1:9", None).unwrap();
        let key = Secret::new("K", "sk-abcdefgh").unwrap().unwrap();
        endpoint.authorize(&key).unwrap();
        assert_eq!(endpoint.headers["authorization"], "Bearer sk-abcdefgh");
        assert!(!format!("{:?}", endpoint.headers).contains("sk-abcdefgh"));
    }

    #[test]
    fn a_header_can_not_smuggle_another() {
        let mut endpoint = resolve("http://127.0.0.1:9", None).unwrap();
        assert!(endpoint.header("x-team", "a\r\nx-evil: 1", false).is_err());
        assert!(endpoint.header("x team", "a", false).is_err());
        assert!(endpoint.header("Content-Length", "3", false).is_err());
    }
}
