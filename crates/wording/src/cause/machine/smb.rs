use iotax_diagnose::why::smb::{NotCached, SmbWhy};
use iotax_quantity::{mb_per_s, size};

pub(in super::super) fn why(why: &SmbWhy, mount: &str) -> String {
    match why {
        SmbWhy::Encrypted { source, is_slow } => {
            let slow = if *is_slow { " This machine's CPUs have no AES instructions." } else { "" };
            format!(
                "seal encrypts each request to {source}, using the CPUs of this machine and of the \
                 server.{slow}"
            )
        }
        SmbWhy::OneConnection { source } => {
            format!("All requests to {source} use one connection.")
        }
        SmbWhy::NoCache { what } => {
            let what = match what {
                NotCached::Data => {
                    "nothing: each read or write by a program is sent to the server as one \
                     request of the same size"
                }
                NotCached::Attributes => "no attributes: each stat causes a request to the server",
            };
            format!("{mount} caches {what}.")
        }
        SmbWhy::SmallRequests { option, bytes, reaches } => format!(
            "A request carries at most {} ({option}). With one request in flight and an assumed \
             round-trip time of 1 ms, throughput reaches {}.",
            size(*bytes),
            mb_per_s(*reaches)
        ),
    }
}
