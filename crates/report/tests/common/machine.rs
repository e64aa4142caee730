//! A comparison with counters of the machine.

use iotax_analyze::{
    Analysis, CounterLine, CounterSeries, CounterSummary, CpuFigures, DeviceFigures, DeviceSummary,
    DirectionFigures, MemoryFigures, NfsClientFigures, NfsFigures, NfsMountSummary, NfsSummary,
    NfsTransportFigures, PressureFigures, Quantity, StallFigures,
};
use iotax_record::NfsGranted;

use super::noise;

/// The comparison with a device below another under each arm, and NFS under the last.
pub(crate) fn compare() -> Analysis {
    let mut analysis = super::analyses::compare();
    let last = analysis.arms.len() - 1;
    for (i, arm) in analysis.arms.iter_mut().enumerate() {
        arm.counters = Some(summary(arm.iops, i == last));
    }
    let names: Vec<String> = analysis.arms.iter().map(|arm| arm.name.clone()).collect();
    for trial in &mut analysis.trials {
        let is_last = trial.arm == names[last];
        trial.counters = Some(series(trial.slot, trial.iops.unwrap_or(1.0), is_last, 7));
    }
    analysis
}

pub(super) fn summary(iops: f64, over_nfs: bool) -> CounterSummary {
    let read = DirectionFigures {
        per_s: iops,
        mib_per_s: iops / 256.0,
        merged_per_s: 0.0,
        merged_percent: 0.0,
        await_ms: 4e3 / iops,
        size_kib: 4.0,
    };
    let device = |name: &str, model: Option<&str>| DeviceSummary {
        name: name.to_owned(),
        model: model.map(str::to_owned),
        targets: Vec::new(),
        figures: DeviceFigures {
            read,
            queue_size: 3.97,
            util_percent: 99.2,
            ..DeviceFigures::default()
        },
    };
    let stall = |some_percent| Some(StallFigures { some_percent, full_percent: 0.1 });
    CounterSummary {
        trials: 12,
        devices: vec![device("dm-3", Some("device mapper CRYPT (x)")), device("nvme0n1", None)],
        cpu: Some(CpuFigures {
            user_percent: 12.0,
            system_percent: 31.4,
            iowait_percent: 20.0,
            idle_percent: 36.6,
            ..CpuFigures::default()
        }),
        pressure: PressureFigures { cpu: stall(1.25), io: stall(74.0), memory: None },
        memory: Some(MemoryFigures { dirty_bytes: 3e6, ..MemoryFigures::default() }),
        nfs: if over_nfs { vec![nfs()] } else { Vec::new() },
        nfs_mounts: if over_nfs { vec![nfs_mount()] } else { Vec::new() },
        nfs_client: over_nfs.then_some(NfsClientFigures {
            calls_per_s: 1250.0,
            retransmissions_per_s: 0.0,
            credentials_again: 3.0,
        }),
        throttled_percent: None,
        interfaces: Vec::new(),
    }
}

fn nfs_mount() -> NfsMountSummary {
    let transport = |sends_per_s| NfsTransportFigures {
        sends_per_s,
        in_flight: 1.5,
        ..NfsTransportFigures::default()
    };
    NfsMountSummary {
        source: "server:/export".to_owned(),
        granted: NfsGranted::of("rw,vers=4.1,rsize=65536,wsize=65536,nconnect=2,sec=krb5p"),
        transports: vec![transport(700.0), transport(550.0)],
    }
}

fn nfs() -> NfsSummary {
    NfsSummary {
        source: "server:/export".to_owned(),
        operation: "READ".to_owned(),
        figures: NfsFigures {
            per_s: 1234.0,
            rtt_ms: 0.8,
            execute_ms: 1.1,
            ..NfsFigures::default()
        },
    }
}

pub(super) fn series(slot: u32, iops: f64, over_nfs: bool, seconds: u32) -> CounterSeries {
    let line = |quantity, name: &str, scale: f64| CounterLine {
        quantity,
        name: name.to_owned(),
        values: (0..seconds)
            .map(|i| {
                let seed = u64::from(slot) * 31 + u64::from(i) + name.len() as u64;
                let wobble = 1.0 + 0.2 * noise(seed);
                // A device that was away for a second.
                let is_there = !(name == "dm-3" && slot == 4 && i == 3);
                is_there.then_some((scale * wobble) as f32)
            })
            .collect(),
    };
    let mut lines = Vec::new();
    for (name, share) in [("dm-3", 1.0), ("nvme0n1", 0.7)] {
        lines.extend([
            line(Quantity::DeviceMibPerS, name, share * iops / 256.0),
            line(Quantity::DeviceAwaitMs, name, share * 4e3 / iops),
            line(Quantity::DeviceQueue, name, share * 4.0),
            line(Quantity::DeviceUtilPercent, name, share * 100.0),
        ]);
    }
    for (name, percent) in
        [("user", 12.0), ("system", 30.0), ("interrupts", 4.0), ("steal", 1.0), ("iowait", 20.0)]
    {
        lines.push(line(Quantity::CpuPercent, name, percent));
    }
    lines.push(line(Quantity::PressurePercent, "cpu", 1.5));
    lines.push(line(Quantity::PressurePercent, "io", 70.0));
    lines.push(line(Quantity::PageCacheMib, "dirty", 3.0));
    if over_nfs {
        lines.push(line(Quantity::NfsPerS, "READ", 1234.0));
        lines.push(line(Quantity::NfsExecuteMs, "READ", 1.1));
    }
    CounterSeries { edges_s: (0..=seconds).map(f64::from).collect(), lines }
}
