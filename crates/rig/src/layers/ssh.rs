//! An OpenSSH tunnel: a private server at the far end and a client at the near end. Each has its
//! own key, which the other end knows.

use std::io;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use iotax_layers::Ssh;
use rcgen::{KeyPair, PublicKeyData as _};
use zeroize::Zeroizing;

use crate::layers::maker::prelude::*;
use crate::programs;

const PORT: u16 = 2200;

/// Starts a server with its files in a private `/run`: its key, from standard input, and its only
/// user. The shell is process 1 of a namespace, so everything that the server started ends with it.
/// That is needed because OpenSSH's server clears its environment, by which iotax finds processes.
const SERVER: &str = r#"
    mount -t tmpfs -o mode=755 tmpfs /run && mkdir /run/sshd && umask 077 && cat >/run/key &&
        echo "$1" >/run/users || exit
    shift
    trap 'exit 0' TERM
    "$@" &
    wait $!
"#;

impl Network for Ssh {
    fn make(&self, below: Link, context: &mut BuildContext<'_>) -> Result<Link, Error> {
        // ssh takes a number, and makes this name from it.
        let link = below.above("tun");
        for ((end, _), (under, _)) in link.ends().into_iter().zip(below.ends()) {
            end.make_tun(under.mtu(context)?, context)?;
        }
        let [server, client] = [Identity::new()?, Identity::new()?];
        let number = below.number();
        let port = PORT + u16::from(number);
        let near = below.near.address;
        let far = below.far.address;
        let found = |name| programs::find_program(name).unwrap_or_else(|| name.into());

        let sshd = link.far.program("unshare");
        let sshd = sshd.args(["--mount", "--pid", "--fork", "--kill-child", "sh", "-c", SERVER]);
        let sshd = sshd.args(["sh", &client.public]).arg(found("sshd")).args(["-D", "-e"]);
        let sshd = sshd.args(["-f", "/dev/null", "-h", "/run/key"]).args(options(&[
            &format!("ListenAddress={far}:{port}"),
            "AuthorizedKeysFile=/run/users",
            "PermitTunnel=point-to-point",
            "PidFile=none",
            "UsePAM=no",
            "UseDNS=no",
        ]));
        let sshd = sshd.input(server.private.as_bytes());
        context
            .serve_until_said(sshd, |said| said.contains("Server listening on").then_some(()))?;

        let ssh = link.near.program("ssh").args(["-F", "none", "-i", "/dev/stdin", "-N"]);
        let ssh = ssh.args(options(&[
            &format!("TunnelDevice={number}:{number}"),
            "Tunnel=point-to-point",
            &format!("Ciphers={}@openssh.com", self.cipher.replacen("aes-", "aes", 1)),
            &format!("BindAddress={near}"),
            &format!("Port={port}"),
            "User=root",
            "BatchMode=yes",
            "IdentitiesOnly=yes",
            "IdentityAgent=none",
            "StrictHostKeyChecking=yes",
            "UserKnownHostsFile=none",
            "GlobalKnownHostsFile=none",
            &format!("KnownHostsCommand=/bin/echo [{far}]:{port} {}", server.public),
            "ExitOnForwardFailure=yes",
            "PermitLocalCommand=yes",
            "LocalCommand=echo is through",
        ]));
        let ssh = ssh.arg(far.to_string()).input(client.private.as_bytes());
        context.serve_until_said(ssh, |said| said.contains("is through").then_some(()))?;
        Ok(link)
    }
}

fn options<'a>(all: &[&'a str]) -> Vec<&'a str> {
    all.iter().flat_map(|option| ["-o", option]).collect()
}

/// The identity of an end, made in memory for one tunnel.
struct Identity {
    /// As a line in OpenSSH's format.
    public: String,
    /// As PEM.
    private: Zeroizing<String>,
}

impl Identity {
    fn new() -> Result<Self, Error> {
        let key = KeyPair::generate().map_err(|error| {
            Error::cannot("generate a key", Path::new("ssh"))(io::Error::other(error))
        })?;
        // RFC 5656, 3.1: the two names and the point, each behind its length.
        let fields = [b"ecdsa-sha2-nistp256".as_slice(), b"nistp256", key.der_bytes()];
        let field = |field: &&[u8]| {
            let length = u32::try_from(field.len()).expect("they are short");
            [&length.to_be_bytes(), *field].concat()
        };
        let blob = fields.iter().flat_map(field).collect::<Vec<u8>>();
        Ok(Self {
            public: format!("ecdsa-sha2-nistp256 {}", BASE64.encode(blob)),
            private: Zeroizing::new(key.serialize_pem()),
        })
    }
}
