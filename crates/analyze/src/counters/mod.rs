//! What the machine did during a trial: the figures of iostat, nfsiostat, pressure stall
//! information, and of interfaces. Descriptive: no conclusion rests on them.

mod figures;
mod interfaces;
mod iostat;
mod mean;
mod samples;
mod series;
mod summary;

pub use figures::{
    CpuFigures, DeviceFigures, DirectionFigures, MemoryFigures, NfsClientFigures, NfsFigures,
    NfsTransportFigures, PressureFigures, StallFigures,
};
pub use interfaces::{InterfaceFigures, QdiscFigures, WayFigures};
pub use iostat::{Interval, IntervalDevice, intervals};
pub use series::{CounterLine, CounterSeries, Quantity};
pub use summary::{
    CounterSummary, DeviceSummary, InterfaceSummary, NfsMountSummary, NfsSummary, QdiscSummary,
};

pub(crate) use series::{IntervalBudget, MOST_INTERVALS, series};
pub(crate) use summary::{of_arm, of_trial};
