//! Counters of the kernel: one parser per file of `/proc` and kind of netlink message, and the files
//! and sockets kept open to be read again and again.

mod links;
mod meters;
mod mountstats;
mod netlink;
mod plain;

pub use links::{InterfaceMeter, InterfaceStats, QdiscStats};
pub use meters::disk_counters;
pub use meters::{Meters, Reading};
pub use mountstats::{NfsMount, NfsTransportStats, nfs_mounts};
pub use plain::{Memory, NfsClient, Stall, cpu_ticks, memory, nfs_client, stall};
pub(crate) use plain::{counter, throttled_us};
