//! Counts per operation.

use std::collections::BTreeMap;

use super::distribution::Distribution;
use super::files::Step;
use super::pages::PAGE_BYTES;
use super::share;
use super::summary::{Issued, Latency, Operation, Order, SizeShare, Sizes};
use super::table::Frequent;
use crate::event::{Event, Flags, Op};

/// Sizes that are counted exactly.
const TRACKED_SIZES: usize = 1024;
const REPORTED_SIZES: usize = 8;
/// A smaller read moves less than a sector.
pub(super) const SECTOR_BYTES: u64 = 512;

#[derive(Default)]
pub(super) struct Operations {
    counts: BTreeMap<Op, Counts>,
}

struct Counts {
    errors: u64,
    bytes: u64,
    latency: Distribution,
    sizes: Distribution,
    frequent: Frequent,
    compared: u64,
    sequential: u64,
    in_streams: u64,
    same_offset: u64,
    below_sector: u64,
    unaligned: u64,
    direct_unaligned: u64,
    direct: u64,
    append: u64,
    write_through: u64,
    uring: u64,
    aio: u64,
}

impl Operations {
    pub(super) fn add(&mut self, event: &Event, step: Option<Step>) {
        self.counts.entry(event.op).or_insert_with(Counts::new).add(event, step);
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.counts.values().map(|counts| counts.frequent.len()).sum()
    }

    pub(super) fn finish(&self, has_latencies: bool) -> Vec<Operation> {
        self.counts.iter().map(|(op, counts)| counts.finish(*op, has_latencies)).collect()
    }
}

/// Whether the call returns when its data are durable.
pub(super) fn is_write_through(event: &Event) -> bool {
    event.flags.contains(Flags::DATA_SYNC) || event.flags.contains(Flags::SYNC)
}

impl Counts {
    fn new() -> Self {
        Self {
            errors: 0,
            bytes: 0,
            latency: Distribution::default(),
            sizes: Distribution::default(),
            frequent: Frequent::new(TRACKED_SIZES),
            compared: 0,
            sequential: 0,
            in_streams: 0,
            same_offset: 0,
            below_sector: 0,
            unaligned: 0,
            direct_unaligned: 0,
            direct: 0,
            append: 0,
            write_through: 0,
            uring: 0,
            aio: 0,
        }
    }

    fn add(&mut self, event: &Event, step: Option<Step>) {
        self.errors += u64::from(event.errno().is_some());
        self.latency.add(event.latency_ns);
        let has = |flag| u64::from(event.flags.contains(flag));
        self.direct += has(Flags::DIRECT);
        self.append += has(Flags::APPEND);
        self.write_through += u64::from(is_write_through(event));
        self.uring += has(Flags::URING);
        self.aio += has(Flags::AIO);
        if let Some(step) = step {
            self.compared += 1;
            self.sequential += u64::from(step.is_sequential);
            self.in_streams += u64::from(step.is_in_stream);
            self.same_offset += u64::from(step.is_at_same_offset);
        }
        if event.op.moves_data() {
            self.add_size(event);
        }
    }

    fn add_size(&mut self, event: &Event) {
        self.bytes = self.bytes.saturating_add(event.moved());
        self.sizes.add(event.length);
        self.frequent.add(event.length);
        self.below_sector += u64::from(event.length < SECTOR_BYTES);
        let is_aligned =
            event.offset.is_multiple_of(PAGE_BYTES) && event.length.is_multiple_of(PAGE_BYTES);
        self.unaligned += u64::from(!is_aligned);
        self.direct_unaligned += u64::from(!is_aligned && event.flags.contains(Flags::DIRECT));
    }

    fn finish(&self, op: Op, has_latencies: bool) -> Operation {
        let count = self.latency.count();
        let moves = op.moves_data();
        Operation {
            op,
            count,
            errors: self.errors,
            bytes: self.bytes,
            latency: has_latencies.then(|| latency(&self.latency)),
            sizes: moves.then(|| self.finish_sizes()),
            order: moves.then(|| Order {
                compared: self.compared,
                sequential_share: share(self.sequential, self.compared),
                in_streams_share: share(self.in_streams, self.compared),
                same_offset_share: share(self.same_offset, self.compared),
            }),
            issued: Issued {
                direct_share: share(self.direct, count),
                append_share: share(self.append, count),
                write_through_share: share(self.write_through, count),
                uring_share: share(self.uring, count),
                aio_share: share(self.aio, count),
            },
        }
    }

    fn finish_sizes(&self) -> Sizes {
        let count = self.sizes.count();
        let frequent: Vec<_> = self
            .frequent
            .top(REPORTED_SIZES)
            .into_iter()
            .map(|(bytes, times)| SizeShare { bytes, share: share(times, count) })
            .collect();
        let frequent_share: f64 = frequent.iter().map(|size| size.share).sum();
        Sizes {
            mean_bytes: self.sizes.mean(),
            median_bytes: self.sizes.quantile(0.5),
            highest_bytes: self.sizes.highest(),
            other_share: (1.0 - frequent_share).max(0.0),
            frequent,
            histogram: self.sizes.buckets(),
            below_sector_share: share(self.below_sector, count),
            unaligned_share: share(self.unaligned, count),
            direct_unaligned_share: share(self.direct_unaligned, self.direct),
        }
    }
}

pub(super) fn latency(distribution: &Distribution) -> Latency {
    Latency {
        mean_ns: distribution.mean(),
        p50_ns: distribution.quantile(0.5),
        p90_ns: distribution.quantile(0.9),
        p99_ns: distribution.quantile(0.99),
        p99_9_ns: distribution.quantile(0.999),
        max_ns: distribution.highest(),
        histogram: distribution.buckets(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::testing::io;

    #[test]
    fn shares_are_of_each_operation() {
        let mut operations = Operations::default();
        for number in 0..10_u64 {
            let flags = if number < 5 { Flags::DIRECT } else { Flags::DATA_SYNC };
            let length = if number == 0 { 100 } else { 4096 };
            let write = Event { flags, length, ..io(Op::Write, number * 4096, length) };
            operations.add(&write, None);
        }
        operations.add(&Event { result: -5, ..io(Op::Fsync, 0, 0) }, None);
        let found = operations.finish(true);
        assert_eq!(found.len(), 2);
        let write = &found[0];
        assert_eq!((write.op, write.count, write.errors), (Op::Write, 10, 0));
        assert_eq!(write.bytes, 9 * 4096 + 100);
        assert_eq!(write.issued.direct_share, 0.5);
        assert_eq!(write.issued.write_through_share, 0.5);
        let sizes = write.sizes.as_ref().expect("writes have sizes");
        assert_eq!(sizes.frequent[0], SizeShare { bytes: 4096, share: 0.9 });
        assert_eq!(sizes.direct_unaligned_share, 0.2);
        assert_eq!(sizes.unaligned_share, 0.1);
        assert_eq!((found[1].errors, &found[1].sizes), (1, &None));
    }

    #[test]
    fn latencies_that_nobody_saw_are_not_zero() {
        let mut operations = Operations::default();
        operations.add(&io(Op::Read, 0, 4096), None);
        assert_eq!(operations.finish(false)[0].latency, None);
    }
}
