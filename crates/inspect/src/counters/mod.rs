//! Counters of the kernel: one parser per file of `/proc`, and the files kept open to be read
//! again and again.

mod diskstats;
mod meters;
mod mountstats;
mod plain;

pub use diskstats::disk_counters;
pub use meters::{Meters, Reading};
pub use mountstats::{NfsMount, NfsTransportStats, nfs_mounts};
pub use plain::{Memory, NfsClient, Stall, cpu_ticks, memory, nfs_client, stall};
pub(crate) use plain::{counter, throttled_us};
