use iotax_diagnose::why::proxy::ProxyWhy;
use iotax_quantity::{count, percent};

pub(in super::super) fn why(why: &ProxyWhy, mount: &str) -> String {
    match why {
        ProxyWhy::Local { program, address, port, has_tls, threads, cpus } => {
            let who = program.as_deref().unwrap_or("A process of this machine");
            let does = match has_tls {
                Some(true) => "encrypts it with TLS and sends it on",
                Some(false) => "answers it or sends it on",
                None => "sends it on, with TLS if it is efs-proxy or stunnel",
            };
            let threads = threads.map(|threads| format!(" It has {}.", count(threads, "thread")));
            let used =
                cpus.map(|cpus| format!(" It used {} of a CPU since it started.", percent(cpus)));
            format!(
                "{who} takes each call of {mount} at {address}, port {port}, and {does}. All data \
                 are copied through that one process, and its CPU is the limit.{}{}",
                threads.unwrap_or_default(),
                used.unwrap_or_default()
            )
        }
    }
}
