//! Kernel counters: one parser for each file of `/proc` and each type of netlink message, and the
//! files and sockets that stay open to be read repeatedly.

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
