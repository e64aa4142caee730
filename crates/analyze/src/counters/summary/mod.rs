//! Figures over the measured window: of one trial, and of an arm as the mean over its trials.

mod interfaces;

use iotax_record::{Counters, NfsGranted};
use iotax_stats::sample;
use iotax_stats::sample::count;
use serde::Serialize;

use super::figures::{
    CpuFigures, DeviceFigures, MemoryFigures, NfsClientFigures, NfsFigures, NfsTransportFigures,
    PressureFigures, StallFigures,
};
use super::mean::mean;
use super::samples::{Stretch, bounds, stretches, window};
pub use interfaces::*;

/// What the machine did in the measured window.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct CounterSummary {
    /// Trials behind it.
    pub trials: u32,
    /// Devices under the target, each above those it lies on.
    pub devices: Vec<DeviceSummary>,
    /// CPU time of the whole machine.
    pub cpu: Option<CpuFigures>,
    /// Pressure stall information.
    pub pressure: PressureFigures,
    /// Page faults per second; the page cache as it was on the average.
    pub memory: Option<MemoryFigures>,
    /// NFS operations that were used in the window.
    pub nfs: Vec<NfsSummary>,
    /// NFS mounts under the target: what was granted, and each connection.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nfs_mounts: Vec<NfsMountSummary>,
    /// All NFS mounts of the machine, where there is one under the target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nfs_client: Option<NfsClientFigures>,
    /// Time in which the process's control group had used up its CPU quota, in percent of time,
    /// summed over CPUs; absent where no quota is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throttled_percent: Option<f64>,
    /// Interfaces of a network path, those of the near end first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub interfaces: Vec<InterfaceSummary>,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct DeviceSummary {
    pub name: String,
    /// What it is, if the kernel says.
    pub model: Option<String>,
    /// Of a trial with several targets: those that lie on it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<String>,
    pub figures: DeviceFigures,
}

/// One kind of operation on one NFS mount.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct NfsSummary {
    /// What is mounted.
    pub source: String,
    pub operation: String,
    pub figures: NfsFigures,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct NfsMountSummary {
    /// What is mounted.
    pub source: String,
    /// What client and server agreed on.
    pub granted: NfsGranted,
    /// Each connection that was made.
    pub transports: Vec<NfsTransportFigures>,
}

/// The window of one trial; `None` if it has none, or no two samples.
pub(crate) fn of_trial(counters: &Counters) -> Option<CounterSummary> {
    let (from, to) = window(counters)?;
    let stretch = Stretch { counters, from, to };
    let devices = counters.devices.iter().filter_map(|device| {
        Some(DeviceSummary {
            name: device.name.clone(),
            model: device.model.clone(),
            targets: device.targets.clone(),
            figures: stretch.device(device)?,
        })
    });
    let nfs = counters.nfs.iter().flat_map(|mount| {
        mount.operations.iter().filter_map(|operation| {
            let figures = stretch.nfs(operation).filter(|figures| figures.per_s > 0.0)?;
            let (source, operation) = (mount.source.clone(), operation.name.clone());
            Some(NfsSummary { source, operation, figures })
        })
    });
    let nfs_mounts = counters.nfs.iter().map(|mount| NfsMountSummary {
        source: mount.source.clone(),
        granted: mount.granted.clone(),
        transports: (mount.transports.iter())
            .filter(|transport| transport.counters[0].at(to) > Some(0))
            .map(|transport| {
                let figures = stretch.between(&transport.counters, NfsTransportFigures::between);
                figures.unwrap_or_default()
            })
            .collect(),
    });
    // Sizes are those at the end of each stretch, so their mean is over the stretches.
    let bounds: Vec<usize> =
        bounds(counters).into_iter().filter(|i| (from..=to).contains(i)).collect();
    let stretches = stretches(counters, &bounds);
    let sizes = stretches.iter().filter_map(|stretch| stretch.memory());
    let memory = mean(sizes).zip(stretch.memory()).map(|(sizes, whole)| MemoryFigures {
        major_faults_per_s: whole.major_faults_per_s,
        refault_bytes_per_s: whole.refault_bytes_per_s,
        ..sizes
    });
    Some(CounterSummary {
        trials: 1,
        devices: devices.collect(),
        cpu: stretch.cpu(),
        pressure: stretch.pressure(),
        memory,
        nfs: nfs.collect(),
        nfs_mounts: nfs_mounts.collect(),
        nfs_client: stretch.nfs_client(),
        throttled_percent: stretch.throttled_percent(),
        interfaces: interfaces::of_trial(counters, stretch, &stretches),
    })
}

/// The mean over the trials of an arm, given in their order. A device's name may change from one
/// trial to the next when the arm is made anew; the place in the stack tells which is which.
pub(crate) fn of_arm(trials: &[&CounterSummary]) -> Option<CounterSummary> {
    // Operations of all trials in the order in which they were first seen.
    let mut operations: Vec<(&str, &str)> = Vec::new();
    for summary in trials.iter().flat_map(|trial| &trial.nfs) {
        let key = (summary.source.as_str(), summary.operation.as_str());
        if !operations.contains(&key) {
            operations.push(key);
        }
    }
    let first = trials.first()?;
    let devices = first.devices.iter().enumerate().filter_map(|(place, device)| {
        let same = trials.iter().filter_map(|trial| {
            let other = trial.devices.get(place)?;
            (driver(&other.name) == driver(&device.name)).then_some(other.figures)
        });
        Some(DeviceSummary { figures: mean(same)?, ..device.clone() })
    });
    let nfs = operations.into_iter().filter_map(|(source, operation)| {
        // A trial that did not use an operation used it 0 times per second.
        let of_trial = |trial: &&CounterSummary| {
            let same = |seen: &&NfsSummary| seen.source == source && seen.operation == operation;
            trial.nfs.iter().find(same).map(|seen| seen.figures).unwrap_or_default()
        };
        let figures = mean(trials.iter().map(of_trial))?;
        Some(NfsSummary { source: source.to_owned(), operation: operation.to_owned(), figures })
    });
    let nfs_mounts = first.nfs_mounts.iter().enumerate().map(|(place, mount)| {
        let same = || trials.iter().filter_map(|trial| trial.nfs_mounts.get(place));
        let of_one = |at: usize| mean(same().filter_map(|mount| mount.transports.get(at).copied()));
        let most = same().map(|mount| mount.transports.len()).max().unwrap_or(0);
        let transports = (0..most).filter_map(of_one).collect();
        NfsMountSummary { transports, ..mount.clone() }
    });
    let stalls = |of: fn(&PressureFigures) -> Option<StallFigures>| {
        mean(trials.iter().filter_map(|trial| of(&trial.pressure)))
    };
    Some(CounterSummary {
        trials: count(trials.len()),
        devices: devices.collect(),
        cpu: mean(trials.iter().filter_map(|trial| trial.cpu)),
        pressure: PressureFigures {
            cpu: stalls(|pressure| pressure.cpu),
            io: stalls(|pressure| pressure.io),
            memory: stalls(|pressure| pressure.memory),
        },
        memory: mean(trials.iter().filter_map(|trial| trial.memory)),
        nfs: nfs.collect(),
        nfs_mounts: nfs_mounts.collect(),
        nfs_client: mean(trials.iter().filter_map(|trial| trial.nfs_client)),
        throttled_percent: {
            let told: Vec<f64> =
                trials.iter().filter_map(|trial| trial.throttled_percent).collect();
            (!told.is_empty()).then(|| sample::mean(&told))
        },
        interfaces: {
            let all: Vec<_> = trials.iter().map(|trial| trial.interfaces.as_slice()).collect();
            interfaces::of_arm(&all)
        },
    })
}

/// The part of a device's name that says what kind it is.
fn driver(name: &str) -> &str {
    name.trim_end_matches(|c: char| c.is_ascii_digit())
}
