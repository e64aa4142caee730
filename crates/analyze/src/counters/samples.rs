//! Readings at one sample, and the samples that stretches of time are made of.

use iotax_record::{
    CPU_MODES, Counters, DeviceCounters, InterfaceCounters, NfsOperation, QdiscCounters, Series,
    Stalls,
};

use super::figures::{
    CpuFigures, DeviceFigures, MemoryFigures, NfsClientFigures, NfsFigures, PressureFigures,
    StallFigures,
};
use super::interfaces::{InterfaceFigures, QdiscFigures};

/// Samples nearer to each other than this bound no stretch: its figures would be noise.
const SHORTEST_NS: u64 = 100_000_000;

/// The stretch of time between two samples.
#[derive(Clone, Copy)]
pub(super) struct Stretch<'a> {
    pub counters: &'a Counters,
    pub from: usize,
    pub to: usize,
}

impl Stretch<'_> {
    pub(super) fn length_ns(self) -> u64 {
        let at = &self.counters.at_ns;
        at[self.to].saturating_sub(at[self.from])
    }

    /// What came of counters between its ends; `None`: they were not there at one of them.
    pub(super) fn between<const N: usize, T>(
        self,
        counters: &[Series; N],
        figures: fn(&[u64; N], &[u64; N], u64) -> T,
    ) -> Option<T> {
        Some(figures(&all(counters, self.from)?, &all(counters, self.to)?, self.length_ns()))
    }

    pub(super) fn device(self, device: &DeviceCounters) -> Option<DeviceFigures> {
        self.between(&device.counters, DeviceFigures::between)
    }

    pub(super) fn cpu(self) -> Option<CpuFigures> {
        let ticks: &[Series; CPU_MODES] = self.counters.cpu_ticks.as_ref()?;
        self.between(ticks, |before, after, _| CpuFigures::between(before, after))
    }

    pub(super) fn interface(self, interface: &InterfaceCounters) -> Option<InterfaceFigures> {
        self.between(&interface.counters, InterfaceFigures::between)
    }

    pub(super) fn qdisc(self, qdisc: &QdiscCounters) -> Option<QdiscFigures> {
        self.between(&qdisc.counters, QdiscFigures::between)
    }

    pub(super) fn nfs(self, operation: &NfsOperation) -> Option<NfsFigures> {
        self.between(&operation.counters, NfsFigures::between)
    }

    pub(super) fn nfs_client(self) -> Option<NfsClientFigures> {
        let client = self.counters.nfs_client.as_ref()?;
        let seconds = self.length_ns() as f64 / 1e9;
        let calls_per_s = self.per_s(&client.calls)?;
        let again_per_s = self.per_s(&client.credentials)? - calls_per_s;
        Some(NfsClientFigures {
            calls_per_s,
            retransmissions_per_s: self.per_s(&client.retransmissions)?,
            credentials_again: (again_per_s * seconds).round().max(0.0),
        })
    }

    pub(super) fn pressure(self) -> PressureFigures {
        let pressure = &self.counters.pressure;
        let of = |stalls: &Option<Stalls>| {
            let stalls = stalls.as_ref()?;
            let percent =
                |series: &Series| Some((self.per_s(series)? / 1e6 * 100.0).clamp(0.0, 100.0));
            Some(StallFigures {
                some_percent: percent(&stalls.some_us)?,
                full_percent: percent(&stalls.full_us)?,
            })
        };
        PressureFigures {
            cpu: of(&pressure.cpu),
            io: of(&pressure.io),
            memory: of(&pressure.memory),
        }
    }

    /// Counters over the stretch; sizes as they were at its end.
    pub(super) fn memory(self) -> Option<MemoryFigures> {
        let memory = self.counters.memory.as_ref()?;
        let bytes = |pages: &Series| Some(pages.at(self.to)? as f64 * f64::from(memory.page_bytes));
        Some(MemoryFigures {
            major_faults_per_s: self.per_s(&memory.major_faults)?,
            dirty_bytes: bytes(&memory.dirty_pages)?,
            writeback_bytes: bytes(&memory.writeback_pages)?,
            cached_bytes: bytes(&memory.cached_pages)?,
            dirty_threshold_bytes: bytes(&memory.dirty_threshold_pages)?,
            refault_bytes_per_s: self.per_s(&memory.file_refaults)? * f64::from(memory.page_bytes),
        })
    }

    /// Share of the time in which the process's group had used up its CPU quota.
    pub(super) fn throttled_percent(self) -> Option<f64> {
        let waited_us_per_s = self.per_s(self.counters.throttled_us.as_ref()?)?;
        Some(waited_us_per_s / 1e6 * 100.0)
    }

    fn per_s(self, series: &Series) -> Option<f64> {
        let counted = series.at(self.to)?.saturating_sub(series.at(self.from)?);
        Some(counted as f64 * 1e9 / self.length_ns().max(1) as f64)
    }
}

fn all<const N: usize>(counters: &[Series; N], sample: usize) -> Option<[u64; N]> {
    let values: Option<Vec<u64>> = counters.iter().map(|series| series.at(sample)).collect();
    values?.try_into().ok()
}

/// From each of these samples to the next.
pub(super) fn stretches<'a>(counters: &'a Counters, bounds: &[usize]) -> Vec<Stretch<'a>> {
    bounds.windows(2).map(|pair| Stretch { counters, from: pair[0], to: pair[1] }).collect()
}

/// The samples at the edges of the measured window: those taken nearest to them. `None`: there was
/// no window, or it was too short for two samples.
pub(super) fn window(counters: &Counters) -> Option<(usize, usize)> {
    let [opened, closed] = counters.window_ns?;
    let nearest = |edge: u64| {
        let samples = counters.at_ns.iter().enumerate();
        samples.min_by_key(|(_, at)| at.abs_diff(edge)).map(|(i, _)| i)
    };
    let (from, to) = (nearest(opened)?, nearest(closed)?);
    let length_ns = counters.at_ns[to].saturating_sub(counters.at_ns[from]);
    (length_ns >= SHORTEST_NS).then_some((from, to))
}

/// The samples that bound the stretches of a trial, in order; those at the edges of the window are
/// among them.
pub(super) fn bounds(counters: &Counters) -> Vec<usize> {
    let edges = window(counters);
    let is_edge = |i: usize| edges.is_some_and(|(from, to)| i == from || i == to);
    let mut bounds: Vec<usize> = Vec::new();
    for (i, at) in counters.at_ns.iter().enumerate() {
        let far = |last: &usize| at.saturating_sub(counters.at_ns[*last]) >= SHORTEST_NS;
        match bounds.last() {
            Some(last) if !far(last) && (is_edge(*last) || !is_edge(i)) => {}
            Some(last) if !far(last) => {
                bounds.pop();
                bounds.push(i);
            }
            _ => bounds.push(i),
        }
    }
    bounds
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(at_ms: &[u64], window_ms: Option<[u64; 2]>) -> Counters {
        let ns = |ms: &u64| ms * 1_000_000;
        Counters {
            at_ns: at_ms.iter().map(ns).collect(),
            window_ns: window_ms.map(|edges| edges.map(|ms| ns(&ms))),
            ..Counters::default()
        }
    }

    #[test]
    fn the_window_lies_between_the_samples_nearest_to_its_edges() {
        let told = at(&[0, 1000, 2001, 3001, 4002], Some([2000, 4000]));
        assert_eq!(window(&told), Some((2, 4)));
        let guessed = at(&[0, 1000, 2000, 3000], Some([1300, 2700]));
        assert_eq!(window(&guessed), Some((1, 3)));
        assert_eq!(window(&at(&[0, 1000], Some([300, 400]))), None);
        assert_eq!(window(&at(&[], Some([300, 400]))), None);
        assert_eq!(window(&at(&[0, 1000], None)), None);
    }

    #[test]
    fn stretches_are_not_too_short_and_begin_and_end_with_the_window() {
        let counters = at(&[0, 1000, 1990, 2000, 3000, 4000, 4010, 4020], Some([2000, 4010]));
        assert_eq!(bounds(&counters), [0, 1, 3, 4, 6]);
        assert_eq!(bounds(&at(&[0, 50], None)), [0]);
        assert!(bounds(&at(&[], None)).is_empty());
    }

    #[test]
    fn times_out_of_order_do_no_harm() {
        let counters = at(&[5000, 0, 9000, 1], Some([9000, 0]));
        bounds(&counters);
        assert_eq!(window(&counters), None);
    }
}
