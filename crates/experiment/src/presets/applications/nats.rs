//! NATS with streams that sync each message.

use super::super::scales::MIB;
use super::{Application, application};
use crate::workload::{BlockSizes, Job, Pattern, Workload};

pub(super) const SYNC: Application = Application {
    name: "nats-sync",
    build: sync,
    sources: &[
        "https://docs.nats.io/reference/config/jetstream/sync_interval (always: a sync on every write)",
        "https://github.com/nats-io/natscli/blob/main/cli/bench_command.go (messages of 128 bytes)",
    ],
};

/// A message of 128 bytes under a subject of one, as a trace shows it.
const RECORD_BYTES: u32 = 159;

fn sync() -> Workload {
    let messages = Job {
        read_percent: 0,
        pattern: Pattern::Sequential,
        block_sizes: BlockSizes::Fixed(RECORD_BYTES),
        size_bytes: 64 * u64::from(MIB),
        fsync_every: Some(1),
        fresh: true,
        ..Job::new("messages")
    };
    application(
        "nats-sync",
        "A stream of NATS JetStream with sync_interval: always, and one publisher that waits for each \
         acknowledgement: records of 159 bytes (messages of 128) are appended, and each is synced. \
         What counts is the time of the sync. Nobody gives a threshold.",
        vec![messages],
        None,
    )
}
