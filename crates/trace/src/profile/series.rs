//! Counts over the time of a trace, in few bins whose width doubles whenever the trace outgrows
//! them.

use super::Class;
use super::summary::{Bin, Series};
use crate::event::{Event, Op};

/// At most this many bins.
const MOST_BINS: usize = 240;
/// The width of the bins of a short trace.
const FIRST_WIDTH_NS: u64 = 1_000_000;

pub(super) struct Bins {
    width_ns: u64,
    bins: Vec<Bin>,
}

impl Default for Bins {
    fn default() -> Self {
        Self { width_ns: FIRST_WIDTH_NS, bins: Vec::new() }
    }
}

impl Bins {
    /// Counts an operation when it ends.
    pub(super) fn add(&mut self, event: &Event, class: Class) {
        self.at(event.end_ns).add(&Bin::of(event, class));
    }

    fn at(&mut self, at_ns: u64) -> &mut Bin {
        while at_ns / self.width_ns >= MOST_BINS as u64 {
            self.double();
        }
        let at = usize::try_from(at_ns / self.width_ns).expect("less than the bins");
        if at >= self.bins.len() {
            self.bins.resize(at + 1, Bin::default());
        }
        &mut self.bins[at]
    }

    fn double(&mut self) {
        self.width_ns *= 2;
        self.bins = self.bins.chunks(2).map(|pair| pair.iter().sum()).collect();
    }

    /// Counts the time of an I/O in each bin that it spans. The one of its end exists already.
    pub(super) fn fly(&mut self, start_ns: u64, end_ns: u64) {
        let width_ns = self.width_ns;
        let first = usize::try_from(start_ns / width_ns).unwrap_or(usize::MAX);
        for (number, bin) in self.bins.iter_mut().enumerate().skip(first) {
            let from_ns = (number as u64).saturating_mul(width_ns);
            let to_ns = from_ns.saturating_add(width_ns).min(end_ns);
            if from_ns >= end_ns {
                break;
            }
            let part_ns = to_ns - from_ns.max(start_ns);
            bin.in_flight_ns = bin.in_flight_ns.saturating_add(part_ns);
        }
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.bins.len()
    }

    /// Bins up to the end of the trace.
    pub(super) fn finish(mut self, length_ns: u64) -> Series {
        self.at(length_ns.saturating_sub(1));
        Series { bin_ns: self.width_ns, bins: self.bins }
    }
}

impl Bin {
    pub(super) fn of(event: &Event, class: Class) -> Self {
        let mut bin = Self::default();
        match class {
            Class::Read => bin.reads = 1,
            Class::Write => bin.writes = 1,
            Class::Sync => bin.syncs = 1,
            Class::Fault => bin.faults = 1,
            Class::Metadata => bin.metadata = 1,
            Class::Other | Class::Scheduling | Class::Traffic => {}
        }
        match class {
            Class::Read | Class::Fault => bin.longest_read_ns = event.latency_ns,
            Class::Write => bin.longest_write_ns = event.latency_ns,
            Class::Sync => bin.longest_sync_ns = event.latency_ns,
            Class::Metadata | Class::Other | Class::Scheduling | Class::Traffic => {}
        }
        let moves = class.moves();
        bin.read_bytes = if moves.reads { event.moved() } else { 0 };
        bin.written_bytes = if moves.writes { event.moved() } else { 0 };
        if event.op == Op::CopyRange {
            bin.written_bytes = event.moved();
        }
        bin
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.reads += other.reads;
        self.writes += other.writes;
        self.syncs += other.syncs;
        self.faults += other.faults;
        self.metadata += other.metadata;
        self.read_bytes = self.read_bytes.saturating_add(other.read_bytes);
        self.written_bytes = self.written_bytes.saturating_add(other.written_bytes);
        self.longest_read_ns = self.longest_read_ns.max(other.longest_read_ns);
        self.longest_write_ns = self.longest_write_ns.max(other.longest_write_ns);
        self.longest_sync_ns = self.longest_sync_ns.max(other.longest_sync_ns);
        self.in_flight_ns = self.in_flight_ns.saturating_add(other.in_flight_ns);
    }
}

impl<'a> std::iter::Sum<&'a Self> for Bin {
    fn sum<I: Iterator<Item = &'a Self>>(bins: I) -> Self {
        bins.fold(Self::default(), |mut sum, bin| {
            sum.add(bin);
            sum
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::profile::testing::io;

    #[test]
    fn bins_double_and_lose_nothing() {
        let mut bins = Bins::default();
        for number in 0..10_000 {
            let read = Event { end_ns: number * 3_000_000, ..io(Op::Read, 0, 100) };
            bins.add(&read, Class::Read);
        }
        assert!(bins.len() <= MOST_BINS);
        let series = bins.finish(60_000_000_000);
        assert!(series.bins.len() > MOST_BINS / 2 && series.bins.len() <= MOST_BINS);
        let sum: Bin = series.bins.iter().sum();
        assert_eq!((sum.reads, sum.read_bytes), (10_000, 1_000_000));
        assert_eq!(series.bin_ns, FIRST_WIDTH_NS << 8);
        assert_eq!(series.bins.len() as u64, 60_000_000_000_u64.div_ceil(series.bin_ns));
    }

    proptest! {
        #[test]
        fn time_in_flight_is_that_of_each_nanosecond(
            ios in prop::collection::vec((0_u64..2_000, 0_u64..700), 1..40)
        ) {
            let mut bins = Bins { width_ns: 3, bins: Vec::new() };
            let mut ends: Vec<_> = ios.iter().map(|(start, length)| (start + length, *start)).collect();
            ends.sort_unstable();
            for (end_ns, start_ns) in &ends {
                let latency_ns = end_ns - start_ns;
                let write = Event { end_ns: *end_ns, latency_ns, ..io(Op::Write, 0, 1) };
                bins.add(&write, Class::Write);
                bins.fly(*start_ns, *end_ns);
            }
            let Series { bin_ns, bins } = bins.finish(1);
            for (bin, from_ns) in bins.iter().zip((0..).step_by(usize::try_from(bin_ns).expect("small"))) {
                let all_ns = from_ns..from_ns + bin_ns;
                let in_flight = |ns: &u64| {
                    ends.iter().filter(|(end, start)| (start..end).contains(&ns)).count() as u64
                };
                prop_assert_eq!(bin.in_flight_ns, all_ns.clone().map(|ns| in_flight(&ns)).sum::<u64>());
                let ended = ends.iter().filter(|(end, _)| all_ns.contains(end));
                let longest = ended.map(|(end, start)| end - start).max().unwrap_or(0);
                prop_assert_eq!(bin.longest_write_ns, longest);
                prop_assert_eq!((bin.longest_read_ns, bin.longest_sync_ns), (0, 0));
            }
        }
    }

    #[test]
    fn the_longest_time_has_a_bin() {
        let mut bins = Bins::default();
        bins.add(&Event { end_ns: u64::MAX, ..io(Op::Fsync, 0, 0) }, Class::Sync);
        assert!(bins.finish(u64::MAX).bins.len() <= MOST_BINS);
    }
}
