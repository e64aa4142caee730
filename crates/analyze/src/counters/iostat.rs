//! A trial second by second, as `iostat -mxt` prints it.

use iotax_record::Counters;

use super::figures::{CpuFigures, DeviceFigures};
use super::samples::{Stretch, bounds, stretches, window};

/// One stretch between two samples.
#[derive(Debug, Clone, PartialEq)]
pub struct Interval {
    /// Its end, in nanoseconds since the start of the trial.
    pub end_ns: u64,
    /// Its length in nanoseconds.
    pub length_ns: u64,
    /// Whether it is part of the measured window.
    pub in_window: bool,
    /// The CPUs, if the kernel tells.
    pub cpu: Option<CpuFigures>,
    /// The devices under the target that were there, and have ever done any I/O: iostat shows no
    /// others.
    pub devices: Vec<IntervalDevice>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct IntervalDevice {
    pub name: String,
    pub figures: DeviceFigures,
}

/// All intervals of a trial, ramp included.
pub fn intervals(counters: &Counters) -> Vec<Interval> {
    let edges = window(counters);
    stretches(counters, &bounds(counters))
        .into_iter()
        .map(|stretch| {
            let Stretch { from, to, .. } = stretch;
            let devices = counters.devices.iter().filter_map(|device| {
                let ever = [0, 4, 11, 15].iter().any(|i| device.counters[*i].at(to) != Some(0));
                let figures = stretch.device(device).filter(|_| ever)?;
                Some(IntervalDevice { name: device.name.clone(), figures })
            });
            Interval {
                end_ns: counters.at_ns[to],
                length_ns: stretch.length_ns(),
                in_window: edges.is_some_and(|(first, last)| first <= from && to <= last),
                cpu: stretch.cpu(),
                devices: devices.collect(),
            }
        })
        .collect()
}
