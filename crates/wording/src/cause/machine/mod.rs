//! Reasons for findings on a machine: a file for each family of rules, a sentence for each variant.

pub(super) mod azure;
pub(super) mod confidential;
pub(super) mod device;
pub(super) mod drive;
pub(super) mod ebs;
pub(super) mod encryption;
pub(super) mod file_system;
pub(super) mod gcp;
pub(super) mod groups;
pub(super) mod guest;
pub(super) mod interface;
pub(super) mod limits;
pub(super) mod memory;
pub(super) mod network;
pub(super) mod nfs;
pub(super) mod packets;
pub(super) mod path;
pub(super) mod proxy;
pub(super) mod raid;
pub(super) mod smb;
pub(super) mod zfs;

use iotax_diagnose::{Meanwhile, Since};
use iotax_quantity::{grouped, set_time, span};

/// `since boot (12 days earlier)`, if it is known how long.
fn since(what: &str, seconds: Option<u64>) -> String {
    match seconds {
        Some(seconds) => format!("since {what} ({} earlier)", span(seconds)),
        None => format!("since {what}"),
    }
}

fn since_boot(since_boot: &Since) -> String {
    since("boot", since_boot.ago_s)
}

/// By how much a counter grew while iotax watched it: `5 more in 0.2 s`.
fn meanwhile(meanwhile: Option<Meanwhile>) -> Option<String> {
    let Meanwhile { more, watched_ms } = meanwhile?;
    let more = if more == 0 { "no".to_owned() } else { grouped(more) };
    Some(format!(
        "{more} more while iotax watched ({})",
        set_time(watched_ms.saturating_mul(1_000_000))
    ))
}

/// The same at the end of a sentence: `; 5 more in 0.2 s`.
fn and_meanwhile(of: Option<Meanwhile>) -> String {
    meanwhile(of).map_or_else(String::new, |now| format!("; {now}"))
}
