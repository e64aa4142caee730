//! WireGuard: the kernel's, or wireguard-go, a daemon at each end.

use std::os::unix::net::UnixStream;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use iotax_layers::Wireguard;
use zeroize::Zeroizing;

use crate::layers::maker::prelude::*;

/// The directory of wireguard-go's control sockets, which are named after the interfaces.
const SOCKETS: &str = "/var/run/wireguard";
const PORT: u16 = 51820;

impl Network for Wireguard {
    fn make(&self, below: Link, context: &mut BuildContext<'_>) -> Result<Link, Error> {
        let mut link = below.above("wg");
        // Both ends' sockets are in one directory, whatever their namespaces.
        let token = new_token()?;
        for (end, mark) in [(&mut link.near, 'n'), (&mut link.far, 'f')] {
            end.interface = format!("{mark}{}", &token[..12]);
        }
        let by = interfaces(self.by.as_deref(), &link, context)?;
        context.note(format!("WireGuard by {by}"));
        let keys = [private_key()?, private_key()?];
        let public = [public_key(&keys[0], context)?, public_key(&keys[1], context)?];
        let ends = link.ends().into_iter().zip(below.ends());
        for (at, ((end, _), (under, peer))) in ends.enumerate() {
            let port = PORT + u16::from(below.number());
            let config = Zeroizing::new(format!(
                "[Interface]\nPrivateKey = {}\nListenPort = {port}\n[Peer]\nPublicKey = {}\n\
                 AllowedIPs = 198.18.{}.0/24\nEndpoint = {}:{port}\n",
                *keys[at],
                public[1 - at],
                below.number(),
                peer.address,
            ));
            let wg = end.program("wg").args(["setconf", &end.interface, "/dev/stdin"]);
            context.run(wg.input(config.as_bytes()))?;
            let mtu = mtu_over(under, context)?;
            end.ip(&format!("link set dev {} mtu {mtu}", end.interface), context)?;
            end.bring_up(context)?;
        }
        Ok(link)
    }
}

/// Makes both interfaces, and returns what provides them; `by` is the request.
fn interfaces(
    by: Option<&str>,
    link: &Link,
    context: &mut BuildContext<'_>,
) -> Result<&'static str, Error> {
    if by != Some("wireguard-go") {
        let made = link.ends().iter().try_for_each(|(end, _)| {
            let words = format!("link add {} type wireguard", end.interface);
            end.ip(&words, context).map(drop)
        });
        match made {
            Ok(()) => return Ok("the kernel"),
            Err(error) if by.is_some() => return Err(error),
            Err(_) => {}
        }
    }
    for (end, _) in link.ends() {
        let program = end.program("wireguard-go").args(["--foreground", &end.interface]);
        let socket = Path::new(SOCKETS).join(format!("{}.sock", end.interface));
        context.socket(&socket)?;
        context.serve(program, || answers(&socket))?;
    }
    Ok("wireguard-go, in user space")
}

/// Whether the daemon listens. The socket file exists earlier, and `wg` would then take it for that
/// of a dead daemon: it would remove it, and ask the kernel.
fn answers(socket: &Path) -> bool {
    UnixStream::connect(socket).is_ok()
}

/// The MTU of a tunnel: less 60 bytes of headers over IPv4, and 20 that IPv6 would need, as in
/// wg-quick.
fn mtu_over(under: &End, context: &BuildContext<'_>) -> Result<u32, Error> {
    const OVERHEAD_BYTES: u32 = 80;
    Ok(under.mtu(context)?.saturating_sub(OVERHEAD_BYTES))
}

/// In WireGuard's format: 32 bytes in base 64. Any bytes are a valid key; curve25519 clamps them.
fn private_key() -> Result<Zeroizing<String>, Error> {
    let key = Key::new()?;
    Ok(Zeroizing::new(BASE64.encode(&key.bytes()[..32])))
}

fn public_key(private: &str, context: &BuildContext<'_>) -> Result<String, Error> {
    let public = Program::new("wg").arg("pubkey").input(private.as_bytes());
    Ok(context.run(public)?.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use rustix::net::{
        AddressFamily, SocketAddrUnix, SocketType, bind, listen, socket as socket_of,
    };

    use super::*;

    #[test]
    fn a_socket_that_has_only_its_name_does_not_answer() {
        let directory = tempfile::TempDir::new().unwrap();
        let socket = directory.path().join("wg0.sock");
        assert!(!answers(&socket));
        // Bound but not listening, as after the daemon's death. A listener that is dropped could
        // still answer: the child that another test is just starting may hold it until its exec.
        let bound = socket_of(AddressFamily::UNIX, SocketType::STREAM, None).unwrap();
        bind(&bound, &SocketAddrUnix::new(&socket).unwrap()).unwrap();
        assert!(socket.exists() && !answers(&socket));
        listen(&bound, 1).unwrap();
        assert!(answers(&socket));
    }
}
