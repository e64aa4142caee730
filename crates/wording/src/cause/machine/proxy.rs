use iotax_diagnose::why::proxy::ProxyWhy;
use iotax_quantity::{count, percent};

pub(in super::super) fn why(why: &ProxyWhy, mount: &str) -> String {
    match why {
        ProxyWhy::Local { program, address, port, has_tls, threads, cpus } => {
            let who = program.as_deref().unwrap_or("A process on this machine");
            let does = match has_tls {
                Some(true) => "forwards it with TLS",
                Some(false) => "answers or forwards it",
                None => "forwards it (with TLS if the process is efs-proxy or stunnel)",
            };
            let threads =
                threads.map(|threads| format!(" The process has {}.", count(threads, "thread")));
            let used = cpus.map(|cpus| {
                format!(" The process has used {} of a CPU since it started.", percent(cpus))
            });
            format!(
                "{who} receives each call for {mount} at {address}, port {port}, and {does}. All \
                 data is copied by this one process, so its CPU time is the limit.{}{}",
                threads.unwrap_or_default(),
                used.unwrap_or_default()
            )
        }
    }
}
