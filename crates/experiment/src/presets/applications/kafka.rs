//! A Kafka broker: appends, readers at the tail, a reader that catches up.

use super::super::scales::{GIB, KIB, MIB};
use super::{Application, application};
use crate::workload::{BlockSizes, Files, Job, Pace, Pattern, Workload};

pub(super) const KAFKA: Application = Application {
    name: "kafka",
    build: kafka,
    sources: &[
        "https://engineering.linkedin.com/kafka/benchmarking-apache-kafka-2-million-writes-second-three-cheap-machines \
         (6 partitions; 786,980 records of 100 bytes a second from one producer with three \
         replicas, 940,521 a second to one consumer)",
        "https://kafka.apache.org/documentation/#producerconfigs (batch.size 16384)",
        "https://kafka.apache.org/documentation/#consumerconfigs (max.partition.fetch.bytes 1048576)",
        "https://kafka.apache.org/documentation/#brokerconfigs (no flush by default: \
         log.flush.interval.messages; segments of 1 GiB)",
    ],
};

const RECORD_BYTES: f64 = 100.0;
const PRODUCED_PER_SECOND: f64 = 786_980.0;
const CONSUMED_PER_SECOND: f64 = 940_521.0;
const PARTITIONS: u32 = 6;
const BATCH_BYTES: u32 = 16 * KIB;
const FETCH_BYTES: u32 = MIB;

fn kafka() -> Workload {
    application(
        "kafka",
        "A Kafka broker: six partitions take batches of 16 KiB at 75 MiB/s, left to the kernel to \
         write back; a consumer at the tail reads as much from the page cache, and one that catches \
         up reads old segments from the disk, 1 MiB at a time at 90 MiB/s. What counts is the \
         latency of appends: they wait when the disk does not keep up with writing back.",
        vec![append(), tail(), catch_up()],
        None,
    )
}

fn rate(records_per_second: f64, bytes: u32) -> Pace {
    Pace::Even { iops: (records_per_second * RECORD_BYTES / f64::from(bytes)).round() }
}

fn append() -> Job {
    Job {
        threads: PARTITIONS,
        read_percent: 0,
        pattern: Pattern::Sequential,
        block_sizes: BlockSizes::Fixed(BATCH_BYTES),
        size_bytes: GIB / 4,
        fresh: true,
        pace: rate(PRODUCED_PER_SECOND, BATCH_BYTES),
        ..Job::new("append")
    }
}

/// What it reads was just written: it is in the page cache, and costs the disk nothing.
fn tail() -> Job {
    Job {
        pattern: Pattern::Sequential,
        block_sizes: BlockSizes::Fixed(FETCH_BYTES),
        size_bytes: 64 * u64::from(MIB),
        files: Files::Shared("kafka_tail".into()),
        pre_read: true,
        pace: rate(PRODUCED_PER_SECOND, FETCH_BYTES),
        ..Job::new("tail")
    }
}

fn catch_up() -> Job {
    Job {
        pattern: Pattern::Sequential,
        block_sizes: BlockSizes::Fixed(FETCH_BYTES),
        size_bytes: GIB,
        files: Files::Shared("kafka_segments".into()),
        uncached: true,
        invalidate: true,
        pace: rate(CONSUMED_PER_SECOND, FETCH_BYTES),
        ..Job::new("catch-up")
    }
}
