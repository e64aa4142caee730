//! Trials of the plain run, as a load driver records them.

use iotax_record::{DirectionRecord, JobRecord, LatencyHistogram, LoadRecord, Outcome, Trial};

use super::noise;

/// Seconds of each trial.
pub(crate) const SECONDS: u64 = 2;

fn direction(ios: u64, seed: u64, open_loop: bool) -> DirectionRecord {
    let mut service = LatencyHistogram::new();
    let mut response = LatencyHistogram::new();
    for i in 0..ios {
        let ns = (20_000.0 * (1.0 + noise(seed * 1_000 + i))) as u64;
        service.record(ns);
        response.record(ns + 3_000);
    }
    DirectionRecord {
        ios,
        bytes: ios * 4096,
        errors: 0,
        short_ios: 0,
        service,
        response: open_loop.then_some(response),
        per_second_ios: vec![u32::try_from(ios / SECONDS).unwrap(); 2],
        per_second_bytes: vec![ios / SECONDS * 4096; 2],
        fio_bins: Vec::new(),
        summary: None,
    }
}

/// Three trials with reads and writes, the last one with an I/O error, and a failed one.
pub(crate) fn run(open_loop: bool) -> Vec<Trial> {
    let experiment = super::run();
    let job = &experiment.spec.workload().jobs[0];
    let trial = |i: u64, outcome, load| Trial {
        phase: 0,
        block: u32::try_from(i).unwrap(),
        slot: u32::try_from(i).unwrap(),
        arm: "target".to_owned(),
        length: iotax_record::TrialLength::default(),
        started_ns: i * 4_000_000_000,
        switch_ns: 1_000_000,
        outcome,
        load,
        counters: None,
    };
    let measured = |i: u64, errors: u64| LoadRecord {
        driver: "native".to_owned(),
        window_ns: SECONDS * 1_000_000_000,
        jobs: vec![JobRecord {
            name: job.name.clone(),
            engine: "vdisk".to_owned(),
            threads: 2,
            queue_depth: 4,
            active_ns: SECONDS * 1_000_000_000,
            read: DirectionRecord { errors, ..direction(7_000, 2 * i, open_loop) },
            write: direction(3_000, 2 * i + 1, open_loop),
            cpu_user_ns: 6_000_000,
            cpu_system_ns: 14_000_000,
            context_switches: 11,
            minor_faults: 5,
            in_flight_io_ns: 2 * 4 * SECONDS * 1_000_000_000,
            first_error: (errors > 0).then(|| "read at 4096: Input/output error".to_owned()),
            ..JobRecord::default()
        }],
        ..LoadRecord::default()
    };
    let degraded = Outcome::Degraded { reasons: vec!["1 I/O failed".to_owned()] };
    vec![
        trial(0, Outcome::Completed, Some(measured(0, 0))),
        trial(1, Outcome::Completed, Some(measured(1, 0))),
        trial(2, degraded, Some(measured(2, 1))),
        trial(3, Outcome::Failed { error: "gone".to_owned() }, None),
        trial(4, Outcome::Interrupted, Some(measured(3, 0))),
    ]
}
