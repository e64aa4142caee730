//! A network path to a host where ssh starts the peer. The peer ends with the arm.

use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::path::Path;

use iotax_layers::Remote;

use crate::layers::maker::prelude::*;
use crate::network::start_peer;

impl NetworkBase for Remote {
    fn make(&self, context: &mut BuildContext<'_>) -> Result<Base, Error> {
        let host = address(&self.host, context)?;
        // There is no terminal for a password, so it must not wait for one.
        let ssh = Program::new("ssh").args(["-o", "BatchMode=yes", "-o", "ConnectTimeout=10"]);
        let ssh = ssh.args([&self.host, "--", &self.program]);
        let any = if host.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
        let (port, secret) = start_peer(ssh, any, context)?;
        context.note(format!(
            "ssh started the peer on {host}; the peer stops when the arm is taken \
                              down"
        ));
        let address = SocketAddr::new(host, port);
        Ok(Base::Elsewhere(iotax_load::Peer::at(address, secret)))
    }
}

/// The address for the load: ssh resolves the name.
fn address(host: &str, context: &BuildContext<'_>) -> Result<IpAddr, Error> {
    let told = context.run(Program::new("ssh").args(["-G", host]))?;
    let name = told.lines().find_map(|line| line.strip_prefix("hostname ")).unwrap_or_default();
    let failed = Error::cannot("resolve this host name", Path::new(host));
    let mut found = (name, 0).to_socket_addrs().map_err(failed)?;
    let address = found.next().ok_or_else(|| io::ErrorKind::NotFound.into());
    address.map(|address| address.ip()).map_err(failed)
}
