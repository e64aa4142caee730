//! ESP in user space: strongSwan's daemon at each end, with private files and control socket.

use iotax_layers::Libipsec;
use zeroize::Zeroizing;

use crate::layers::maker::prelude::*;
use crate::programs;

const PORT: u16 = 4500;
/// Over IPv4: headers of IP, UDP and ESP, and at most an initialisation vector, padding of the last
/// cipher block, and the tag.
const OVERHEAD_BYTES: u32 = 20 + 8 + 8 + 16 + 17 + 16;
/// The daemon does not read longer packets from its interface.
const LONGEST_PACKET_BYTES: u32 = 1400;
const SECRET_BYTES: usize = 32;

/// Starts a daemon with its files in a private `/run`; connection and secret come from standard
/// input. It makes the interface `$3`, which needs an address before a tunnel can have a route.
/// With `$6` it initiates the tunnel. The shell is process 1 of a namespace, so the daemon ends
/// with it.
const DAEMON: &str = r#"
    mount -t tmpfs -o mode=700 tmpfs /run && umask 077 && cat >/run/swanctl.conf &&
        printf %s "$1" >/run/strongswan.conf || exit
    export STRONGSWAN_CONF=/run/strongswan.conf SWANCTL_DIR=/run
    trap 'exit 0' TERM
    "$2" &
    daemon=$!
    until [ -S /run/charon.vici ]; do
        kill -0 $daemon || exit
        sleep 0.05
    done
    ip link set dev "$3" mtu "$4" && ip address add "$5/24" dev "$3" && ip link set dev "$3" up || exit
    swanctl --load-all --uri unix:///run/charon.vici || exit
    if [ -n "$6" ]; then
        swanctl --initiate --child tunnel --uri unix:///run/charon.vici || exit
    fi
    echo is through
    wait $daemon
"#;

impl Network for Libipsec {
    fn make(&self, below: Link, context: &mut BuildContext<'_>) -> Result<Link, Error> {
        let mut link = below.above("ipsec");
        for end in [&mut link.near, &mut link.far] {
            // The daemon takes the first name that is free.
            let tunnels = end.ip("-oneline link show type tun", context)?;
            end.interface = format!("ipsec{}", tunnels.matches(": ipsec").count());
        }
        let mtu = below.near.mtu(context)?.saturating_sub(OVERHEAD_BYTES);
        let mtu = mtu.min(LONGEST_PACKET_BYTES).to_string();
        let secret = Key::new()?.hexadecimal(SECRET_BYTES);
        let port = PORT + u16::from(below.number());
        let settings = settings(port);
        let charon = programs::find_program("charon").unwrap_or_else(|| "charon".into());
        // The far end listens before the near end initiates.
        let ends = link.ends().into_iter().zip(below.ends()).zip(["begins", ""]).rev();
        for (((end, other), (under, other_under)), begins) in ends {
            let (own, others) = (under.address, other_under.address);
            let connection = Zeroizing::new(format!(
                "connections {{ tunnel {{\n version = 2\n local_addrs = {own}\n \
                 remote_addrs = {others}\n local_port = {port}\n remote_port = {port}\n \
                 encap = yes\n mobike = no\n rekey_time = 0s\n \
                 proposals = aes128-sha256-prfsha256-ecp256\n \
                 local {{\n auth = psk\n id = {own}\n }}\n \
                 remote {{\n auth = psk\n id = {others}\n }}\n \
                 children {{ tunnel {{\n local_ts = {}/32\n remote_ts = {}/32\n \
                 rekey_time = 0s\n esp_proposals = {}\n }} }}\n}} }}\n\
                 secrets {{ ike {{\n secret = 0x{}\n}} }}\n",
                end.address,
                other.address,
                proposal(&self.cipher),
                *secret,
            ));
            let daemon =
                end.program("unshare").args(["--mount", "--pid", "--fork", "--kill-child"]);
            let daemon = daemon.args(["sh", "-c", DAEMON, "sh", &settings]).arg(&charon).args([
                &end.interface,
                &mtu,
                &end.address.to_string(),
                begins,
            ]);
            let daemon = daemon.input(connection.as_bytes());
            context.serve_until_said(daemon, |said| said.contains("is through").then_some(()))?;
        }
        Ok(link)
    }
}

/// Settings of the daemon: the plugins it loads, and where it listens. If a plugin marked with `!`
/// is missing, it ends instead of waiting forever. It reads none of the machine's settings.
fn settings(port: u16) -> String {
    format!(
        "charon {{\n load = random nonce aes sha1 sha2 hmac kdf gcm openssl pem pkcs1 \
         kernel-libipsec! kernel-netlink socket-default! vici!\n port = {}\n port_nat_t = {port}\n \
         routing_table = 254\n retransmit_tries = 2\n \
         plugins {{ vici {{ socket = unix:///run/charon.vici\n}} }}\n}}\n\
         swanctl {{ load = random openssl pem pkcs1\n}}\n",
        port + 256,
    )
}

/// strongSwan's words for the cipher.
fn proposal(cipher: &str) -> &'static str {
    match cipher {
        "aes-256-gcm" => "aes256gcm16",
        "aes-128-cbc-sha256" => "aes128-sha256",
        _ => "aes128gcm16",
    }
}
