use iotax_diagnose::why::smb::{NotCached, SmbWhy};
use iotax_quantity::{mb_per_s, size};

pub(in super::super) fn why(why: &SmbWhy, mount: &str) -> String {
    match why {
        SmbWhy::Encrypted { source, is_slow } => {
            let slow = if *is_slow { " This machine has no AES instructions." } else { "" };
            format!(
                "seal encrypts each request to {source} on the CPUs of this machine and of the \
                 server.{slow}"
            )
        }
        SmbWhy::OneConnection { source } => {
            format!("All requests to {source} go over one connection.")
        }
        SmbWhy::NoCache { what } => {
            let what = match what {
                NotCached::Data => {
                    "each read and write of a program is a request to the server, of the program's \
                     own size"
                }
                NotCached::Attributes => "each stat is a request to the server",
            };
            format!("Of {mount} nothing is cached: {what}.")
        }
        SmbWhy::SmallRequests { option, bytes, reaches } => format!(
            "A request carries at most {} ({option}): at a round trip of 1 ms, which is an \
             assumption, one in flight comes to {}.",
            size(*bytes),
            mb_per_s(*reaches)
        ),
    }
}
