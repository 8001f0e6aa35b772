//! Where connections go.

use std::fmt;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::sync::Arc;

use rustls::ClientConfig;
use rustls::pki_types::ServerName;

use super::error::PlanError;
use super::target::Target;
use super::tls;
use crate::spec::{Family, NetworkSpec};

/// What a socket connects to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// An IP address and a port.
    Tcp(SocketAddr),
    /// A Unix socket.
    Unix(PathBuf),
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Unix(path) => path.display().fmt(f),
        }
    }
}

/// Where connections go, and what they speak there.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// Candidates in the order of the resolver, at least one. One of them is chosen before the
    /// load begins, and all connections go there.
    pub addresses: Vec<Address>,
    /// Set for `https`.
    pub(crate) tls: Option<TlsEndpoint>,
}

/// How connections are encrypted.
#[derive(Clone, Debug)]
pub(crate) struct TlsEndpoint {
    pub(crate) config: Arc<ClientConfig>,
    pub(crate) name: ServerName<'static>,
}

impl Endpoint {
    /// Resolves the host of `target`, unless `network` says where to go instead.
    ///
    /// # Errors
    /// [`PlanError`] if there is no address, or TLS cannot be set up.
    pub fn resolve(target: &Target, network: &NetworkSpec) -> Result<Self, PlanError> {
        let addresses = match (&network.unix_socket, network.connect_to) {
            (Some(path), None) => vec![Address::Unix(path.clone())],
            (None, Some(address)) => vec![Address::Tcp(address)],
            (Some(_), Some(_)) => return Err(PlanError::TwoAddresses),
            (None, None) => resolve(target, network.family)?,
        };
        let tls = target.tls.then(|| {
            let name = network.sni.as_deref().unwrap_or(&target.host);
            Ok::<_, PlanError>(TlsEndpoint {
                config: tls::config(network)?,
                name: tls::name(name)?,
            })
        });
        Ok(Self { addresses, tls: tls.transpose()? })
    }
}

fn resolve(target: &Target, family: Family) -> Result<Vec<Address>, PlanError> {
    let host = target.host.clone();
    let found = (host.as_str(), target.port)
        .to_socket_addrs()
        .map_err(|source| PlanError::Resolve { host: host.clone(), source })?;
    let fits = |address: &SocketAddr| match family {
        Family::Any => true,
        Family::V4 => address.is_ipv4(),
        Family::V6 => address.is_ipv6(),
    };
    let mut addresses: Vec<Address> = found.filter(fits).map(Address::Tcp).collect();
    addresses.dedup();
    if addresses.is_empty() {
        let family = if family == Family::V6 { "IPv6" } else { "IPv4" };
        return Err(PlanError::NoAddress { host, family });
    }
    Ok(addresses)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_family_is_obeyed() {
        let target = Target::parse("http://[::1]:80/").unwrap();
        let network = NetworkSpec { family: Family::V4, ..NetworkSpec::default() };
        let error = Endpoint::resolve(&target, &network).unwrap_err().to_string();
        assert!(error.contains("no IPv4 address"), "{error}");
        let found = Endpoint::resolve(&target, &NetworkSpec::default()).unwrap();
        assert_eq!(found.addresses, [Address::Tcp("[::1]:80".parse().unwrap())]);
    }

    #[test]
    fn an_address_can_be_given_instead() {
        let target = Target::parse("http://nowhere.invalid/").unwrap();
        let connect_to = Some("127.0.0.1:81".parse().unwrap());
        let network = NetworkSpec { connect_to, ..NetworkSpec::default() };
        let found = Endpoint::resolve(&target, &network).unwrap();
        assert_eq!(found.addresses[0].to_string(), "127.0.0.1:81");
    }
}
