//! An authority of our own that nobody trusts unless told to, and a server's certificate of it.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::PrivatePkcs8KeyDer;

/// The authority's certificate, and what a server needs that it vouches for.
pub(crate) struct Authority {
    /// The certificate, as a file of them holds it.
    pub(crate) pem: String,
    /// How a server speaks that has one.
    pub(crate) server: Arc<ServerConfig>,
}

impl Authority {
    /// One that vouches for a server of this name or address.
    pub(crate) fn vouching_for(name: &str) -> Self {
        let mut about = CertificateParams::new(Vec::new()).unwrap();
        about.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(about, KeyPair::generate().unwrap()).unwrap();
        let key = KeyPair::generate().unwrap();
        let about = CertificateParams::new([name.to_owned()]).unwrap();
        let own = about.signed_by(&key, &authority).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let server = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(
                vec![own.der().clone()],
                PrivatePkcs8KeyDer::from(key.serialize_der()).into(),
            )
            .unwrap();
        Self { pem: pem(authority.der()), server: Arc::new(server) }
    }
}

fn pem(der: &[u8]) -> String {
    let text = STANDARD.encode(der);
    format!("-----BEGIN CERTIFICATE-----\n{text}\n-----END CERTIFICATE-----\n")
}
