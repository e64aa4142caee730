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
            Class::Other | Class::Scheduling => {}
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

    #[test]
    fn the_longest_time_has_a_bin() {
        let mut bins = Bins::default();
        bins.add(&Event { end_ns: u64::MAX, ..io(Op::Fsync, 0, 0) }, Class::Sync);
        assert!(bins.finish(u64::MAX).bins.len() <= MOST_BINS);
    }
}
