use iotax_diagnose::why::nfs::{Kerberos, NfsLost, NfsWhy};
use iotax_quantity::{grouped, percent, size};

use super::{meanwhile, since};

pub(in super::super) fn why(why: &NfsWhy) -> String {
    match why {
        NfsWhy::Kerberos { does } => {
            let does = match does {
                Kerberos::Authentication => "krb5 authenticates each call",
                Kerberos::Integrity => "krb5i computes a checksum over each call and its data",
                Kerberos::Privacy => "krb5p encrypts each call and its data",
            };
            format!("sec={does}, using the CPUs of this machine and of the server.")
        }
        NfsWhy::GssWindow { connections, lost: lost_calls } => {
            let so_far = lost_calls.as_ref().map_or_else(
                || {
                    "With many calls in flight, the server drops calls outside its sequence window"
                        .to_owned()
                },
                lost,
            );
            format!(
                "{connections} connections share one Kerberos context, so calls arrive out of \
                 order. {so_far}."
            )
        }
        NfsWhy::SentAgain { lost: calls, timeo } => {
            format!("{} (timeo={timeo}, in tenths of a second).", lost(calls))
        }
        NfsWhy::Slots { most, allowed, mounted_s } => format!(
            "A connection has had up to {most} calls in flight {}, and at most {allowed} are \
             allowed. Further calls waited on this machine.",
            since("the mount", *mounted_s)
        ),
        NfsWhy::AttributeCache { off } => format!(
            "With {off}, this machine asks the server each time a program accesses a file. Without \
             this option, the machine could cache the server's answer for several seconds."
        ),
        NfsWhy::ReadAhead { ahead_bytes, call_bytes } => format!(
            "For sequential reads, the kernel reads only {} ahead, although one call could fetch \
             {}.",
            size(*ahead_bytes),
            size(*call_bytes)
        ),
    }
}

/// How many calls were resent, since when, and whether this continues.
fn lost(NfsLost { share, calls, since: mounted, timeouts }: &NfsLost) -> String {
    format!(
        "{} of {} calls were resent {}{}; {timeouts} timed out",
        percent(*share),
        grouped(*calls),
        since("the mount", mounted.ago_s),
        meanwhile(mounted.meanwhile).map_or(String::new(), |now| format!(", {now}"))
    )
}
