//! A certificate for this machine, and an authority to trust.

use std::error::Error;
use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::PrivatePkcs8KeyDer;

/// What a server needs for TLS, and its clients.
pub(super) struct Certified {
    pub(super) config: Arc<ServerConfig>,
    /// The certificate of the authority that signed the server's.
    pub(super) authority_pem: String,
}

/// Makes an authority and a certificate for `localhost` and `127.0.0.1`.
pub(super) fn certify() -> Result<Certified, Box<dyn Error>> {
    let mut authority = CertificateParams::new(Vec::new())?;
    authority.distinguished_name.push(DnType::CommonName, "Squall test authority");
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    authority.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    let authority_key = KeyPair::generate()?;
    let authority_pem = authority.self_signed(&authority_key)?.pem();
    let issuer = Issuer::new(authority, authority_key);

    let mut server = CertificateParams::new(vec!["localhost".into(), "127.0.0.1".into()])?;
    server.distinguished_name.push(DnType::CommonName, "Squall scripted server");
    server.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let server_key = KeyPair::generate()?;
    let certificate = server.signed_by(&server_key, &issuer)?.der().clone();

    let key = PrivatePkcs8KeyDer::from(server_key.serialize_der());
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key.into())?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Certified { config: Arc::new(config), authority_pem })
}
