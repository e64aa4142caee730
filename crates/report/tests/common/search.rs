//! A search for caps in which every table has rows.

use iotax_caps::{
    Burst, Cap, CapKind, CapSign, Caps, DepthStep, Fit, FlowStep, PathCap, PathQuantity,
    SecondPass, Shared, Sharing, SizeFit, TargetCaps, Wire,
};
use iotax_catalog::{Scope, Source};
use iotax_experiment::documented::{Documented, DocumentedLimit, LimitBy};
use iotax_experiment::{Engine, Opened, SearchDraft, SearchTarget, Traffic};
use iotax_record::{SEARCH_FORMAT, SearchHead};

/// Two targets, and limits in bytes per second that are known of each.
pub(crate) fn search(known: &[f64]) -> (SearchHead, Caps) {
    let iotax_record::ExperimentHead {
        iotax_version, started, command, hosts, spec, cloud, ..
    } = crate::common::compare();
    let arms = spec.arms.iter().take(2).cloned();
    let asked = |arm| SearchTarget { arm, span_bytes: 1 << 30 };
    let targets = arms.map(asked);
    let search = SearchDraft {
        targets: targets.collect(),
        writes: false,
        quick: true,
        max_time_ns: None,
        burst: None,
        cloud: spec.cloud.clone(),
        fail_if: Vec::new(),
        undecided: None,
        seed: 1,
    }
    .resolve()
    .unwrap();
    let names: Vec<String> = search.targets.iter().map(|target| target.arm.name.clone()).collect();
    let head = SearchHead {
        format: SEARCH_FORMAT,
        id: None,
        iotax_version,
        started,
        command,
        search,
        hosts,
        sites: Vec::new(),
        opened: Opened { cloud, targets: Vec::new() },
    };
    let caps = Caps {
        format: 1,
        targets: names.iter().map(|name| target(name)).collect(),
        sharing: [("iops", 4e3), ("bw_bytes", 5e9)].map(|of| sharing(&names, of)).to_vec(),
        documented: names.iter().filter_map(|name| documented(name, known)).collect(),
        rules: Vec::new(),
        levels: Vec::new(),
        ended: None,
        notes: Vec::new(),
    };
    (head, caps)
}

/// The first target is a network path, which was watched for a burst.
pub(crate) fn path() -> (SearchHead, Caps) {
    let (head, mut caps) = search(&[]);
    let quantities = [
        (PathQuantity::BytesTo, 6e7),
        (PathQuantity::BytesFrom, 5e7),
        (PathQuantity::PacketsTo, 2e5),
        (PathQuantity::Requests, 7e4),
    ];
    caps.targets[0] = TargetCaps {
        name: caps.targets[0].name.clone(),
        path: quantities.map(path_cap).to_vec(),
        soak_bw_bytes: vec![1.2e8, 1.2e8, 6e7, 6e7],
        ..TargetCaps::default()
    };
    caps.sharing.truncate(0);
    (head, caps)
}

/// More with two flows than with one, and no more with four.
fn path_cap((quantity, per_s): (PathQuantity, f64)) -> PathCap {
    let block_bytes = if quantity.is_bytes() { 128 << 10 } else { 64 };
    let is_back = quantity == PathQuantity::BytesFrom;
    let step = |(flows, share): (u32, f64)| FlowStep { flows, per_s: share * per_s };
    let wire = Wire { frame_bytes: 1514, data_bytes: 1448, mtu_bytes: 1500, per_s: 1.05 * per_s };
    PathCap {
        quantity,
        is_per_flow: false,
        traffic: Traffic { engine: Engine::TcpStream, is_back, flows: 2, block_bytes },
        cap: Cap { block_bytes, queue_depth: 1, ..cap(per_s) },
        is_plateau: true,
        flows: [(1, 0.6), (2, 1.0), (4, 1.02)].map(step).to_vec(),
        wire: quantity.is_bytes().then_some(wire),
    }
}

/// Slow with small I/Os, and faster than one GiB/s with large ones.
fn target(name: &str) -> TargetCaps {
    let fit = Fit { iops: Some(4e3), bw_bytes: Some(3e9), rms: 0.01 };
    TargetCaps {
        name: name.to_owned(),
        iops: Some(cap(4e3)),
        bw_bytes: Some(cap(3e9)),
        useful_depth: Some(4),
        unloaded_latency_ns: Some(1e6),
        ladder: vec![DepthStep { queue_depth: 1, iops: 1e3, mean_latency_ns: 1e6 }],
        sizes: Some(SizeFit {
            points: vec![(512, 4.0), (4_096, 4e3), (1 << 20, 2_900.0)],
            fitted: 3,
            computed: Vec::new(),
            disturbed: Vec::new(),
            cpu_bound: iotax_caps::CpuBoundSizes::default(),
            throttle: fit,
            device: fit,
        }),
        second_pass: Some(SecondPass {
            hits: true,
            // Within what the caps are uncertain by: no cause, whose evidence has a unit of its
            // own.
            ratio: 1.01,
            bw_bytes: 9e9,
            mean_latency_ns: 1e5,
            block_bytes: 1 << 18,
            holds_bytes: Some(1 << 26),
            evicts_bytes: None,
        }),
        soak_iops: vec![8e3, 4e3],
        soak_bw_bytes: vec![6e9, 3e9],
        ..TargetCaps::default()
    }
}

fn cap(per_s: f64) -> Cap {
    let burst = Burst {
        per_s: 2.0 * per_s,
        size: 60.0 * per_s,
        lasted_s: 60.0,
        recoveries: Vec::new(),
        refill_per_s: Some(per_s / 1e3),
    };
    Cap {
        cap: per_s,
        lo: 0.99 * per_s,
        hi: 1.01 * per_s,
        measurements: 3,
        block_bytes: 4_096,
        queue_depth: 64,
        kind: CapKind::Throttle,
        reason: CapSign::Said("a plateau".to_owned()).into(),
        burst: Some(burst),
    }
}

fn sharing(names: &[String], (quantity, together): (&str, f64)) -> Sharing {
    Sharing {
        a: names[0].clone(),
        b: names[1].clone(),
        quantity: quantity.to_owned(),
        a_alone: together / 1e4,
        b_alone: together / 2.0,
        together,
        phi: 0.0,
        lo: 0.0,
        hi: 0.0,
        blocks: 3,
        verdict: Shared::Separate,
    }
}

fn documented(target: &str, known: &[f64]) -> Option<Documented> {
    let limit = |per_s: &f64| DocumentedLimit {
        by: LimitBy::Documented(Scope::Disk),
        of: "P10".to_owned(),
        per_s: *per_s,
        burst_per_s: Some(2.0 * per_s),
        source: Some(Source { text: "a page".to_owned(), as_of: "2026-01-01".to_owned() }),
    };
    Documented::of(target, "bw_bytes", *known.first()?, known.iter().map(limit).collect())
}
