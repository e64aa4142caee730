//! NFS whose server is a process of this machine: a proxy that encrypts, or a server.

use iotax_quantity::percent;
use iotax_record::machine::{Listener, MountSeen};

use crate::machine::finding::{Certainty, Finding, Observation};
use crate::machine::snapshot::{Snapshot, own_address};

/// The port of the kernel's own NFS server.
const NFS_PORT: &str = "2049";
/// Programs that encrypt what goes through them.
const TLS_PROXIES: [&str; 3] = ["efs-proxy", "stunnel", "ghostunnel"];

/// CPUs that a process has used, on average since it started.
fn cpus(listener: &Listener) -> Option<f64> {
    let (used, age) = (listener.cpu_ms?, listener.age_ms.filter(|age| *age > 0)?);
    Some(used as f64 / age as f64)
}

/// A process between the mount and its server.
pub(super) fn local(_: &Snapshot<'_>, mount: &MountSeen, path: &str) -> Option<Finding> {
    let nfs = mount.nfs.as_ref()?;
    let address = own_address(mount)?;
    let port = nfs.option("port").or_else(|| mount.option("port")).unwrap_or(NFS_PORT);
    let listener = nfs.network.as_ref().and_then(|way| way.listener.as_ref());
    // Nobody listens on the kernel's own server's port but the kernel.
    if listener.is_none() && port == NFS_PORT {
        return None;
    }
    let who = listener.map_or("A process of this machine".to_owned(), |by| by.program.clone());
    let threads = listener
        .and_then(|by| by.threads)
        .map(|threads| format!(" It has {}.", iotax_quantity::count(threads, "thread")));
    let used = listener
        .and_then(cpus)
        .map(|cpus| format!(" It used {} of a CPU since it started.", percent(cpus)));
    let does = match listener.map(|by| by.program.as_str()) {
        Some(name) if TLS_PROXIES.iter().any(|known| name.contains(known)) => {
            "encrypts it with TLS and sends it on"
        }
        Some(_) => "answers it or sends it on",
        None => "sends it on, with TLS if it is efs-proxy or stunnel",
    };
    let why = format!(
        "{who} takes each call of {} at {address}, port {port}, and {does}. All data are copied through that one \
         process, and its CPU is the limit.{}{}",
        mount.mount_point,
        threads.unwrap_or_default(),
        used.unwrap_or_default()
    );
    let program = listener.map(|by| {
        Observation::field("/proc/net/tcp", format!("listens on port {port}"), by.program.as_str())
    });
    Some(
        Finding::new(
            "nfs-local-proxy",
            format!("{} ({})", mount.mount_point, mount.source),
            Certainty::Likely,
            why,
        )
        .observed(Observation::mount(mount, "addr, port", format!("{address}, {port}")))
        .observed_if(program)
        .run("seqread-1m", path, "--set depth=16")
        .run("randread-4k", path, "--set depth=32"),
    )
}
