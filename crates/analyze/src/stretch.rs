//! Slices of one arm in a row, as one trial of the usual length: what a check of a trial can be
//! made on. A window of 100 ms holds ten ticks of the kernel's clock, and an I/O at either end of
//! it weighs much.

use iotax_experiment::Spec;
use iotax_record::{FarEndRecord, SystemCounters};

use crate::counters;
use crate::facts::{JobFacts, TrialFacts, TrialOutcome};

/// Length of what is one value of a stretch's series.
const SECOND_NS: u64 = 1_000_000_000;

/// The usable slices of each arm in stretches as long as a trial of it usually is, in the order of
/// `trials`, which are sorted by slot; trials that are no slices, or not usable, as they are.
pub(crate) fn stretches(spec: &Spec, trials: &[&TrialFacts]) -> Vec<TrialFacts> {
    let workload = spec.workload();
    let Some(slices) = workload.slices.filter(|_| workload.is_sliced()) else {
        return trials.iter().map(|trial| (*trial).clone()).collect();
    };
    let wanted_ns = slices.usual.time_ns;
    let mut made: Vec<TrialFacts> = Vec::new();
    let mut open: Vec<Vec<&TrialFacts>> = vec![Vec::new(); spec.arms.len()];
    for trial in trials {
        let Some(arm) = trial.arm.filter(|_| trial.usable) else {
            made.push((*trial).clone());
            continue;
        };
        open[arm].push(trial);
        if open[arm].iter().map(|slice| slice.window_ns).sum::<u64>() >= wanted_ns {
            made.extend(join(&std::mem::take(&mut open[arm])));
        }
    }
    made.extend(open.iter().filter_map(|slices| join(slices)));
    made
}

/// Trials in a row of one arm as one: what was counted adds up, means weigh by what they are means
/// of; of medians the first is kept. `None` of none.
pub(crate) fn join(slices: &[&TrialFacts]) -> Option<TrialFacts> {
    let (first, rest) = slices.split_first()?;
    let mut all = (*first).clone();
    if rest.is_empty() {
        return Some(all);
    }
    for slice in rest {
        all.window_ns += slice.window_ns;
        all.switch_ns += slice.switch_ns;
        all.far_cpu_ns += slice.far_cpu_ns;
        all.slices += slice.slices;
        add_system(&mut all.system, &slice.system);
        all.far_end = all.far_end.zip(slice.far_end).map(|(a, b)| FarEndRecord {
            cpu_ns: a.cpu_ns + b.cpu_ns,
            cpu_busy_ns: sum(a.cpu_busy_ns, b.cpu_busy_ns),
            ..a
        });
        for job in &slice.jobs {
            match all.jobs.iter_mut().find(|known| known.job == job.job) {
                Some(known) => add_job(known, job),
                None => all.jobs.push(job.clone()),
            }
        }
        for busy in &slice.busiest {
            match all.busiest.iter_mut().find(|b| (b.end, &b.one) == (busy.end, &busy.one)) {
                Some(known) => known.busy_ns += busy.busy_ns,
                None => all.busiest.push(busy.clone()),
            }
        }
        for (name, mean_ns) in &slice.beside {
            if let Some((_, known)) = all.beside.iter_mut().find(|(known, _)| known == name) {
                *known += mean_ns;
            }
        }
        all.first_error = all.first_error.or_else(|| slice.first_error.clone());
    }
    all.beside.iter_mut().for_each(|(_, sum)| *sum /= slices.len() as f64);
    all.busiest.sort_by_key(|busy| std::cmp::Reverse(busy.busy_ns));
    let counters: Vec<_> = slices.iter().filter_map(|slice| slice.counters.as_ref()).collect();
    all.counters = counters::of_arm(&counters);
    all.per_second_ios = seconds(slices);
    let stalled = slices.iter().all(|slice| slice.stalled_below.is_some());
    all.stalled_below = all.stalled_below.filter(|_| stalled);
    if !stalled {
        let degraded = slices.iter().any(|slice| slice.outcome == TrialOutcome::Degraded);
        all.outcome = if degraded { TrialOutcome::Degraded } else { TrialOutcome::Completed };
    }
    (all.spread, all.series, all.intervals) = (None, None, 0);
    all.is_slice = false;
    Some(all)
}

/// Reads and writes of the primary job in each second of the slices' own time.
fn seconds(slices: &[&TrialFacts]) -> Vec<u32> {
    let (mut all, mut ios, mut over_ns) = (Vec::new(), 0, 0);
    for slice in slices {
        ios += slice.primary().map_or(0, |job| job.ios);
        over_ns += slice.window_ns;
        if over_ns >= SECOND_NS {
            let per_second = ios as f64 * SECOND_NS as f64 / over_ns as f64;
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "saturates"
            )]
            all.push(per_second.round() as u32);
            (ios, over_ns) = (0, 0);
        }
    }
    all
}

fn sum(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    a.zip(b).map(|(a, b)| a + b)
}

fn add_system(all: &mut SystemCounters, more: &SystemCounters) {
    *all = SystemCounters {
        process_cpu_ns: sum(all.process_cpu_ns, more.process_cpu_ns),
        device_read_bytes: sum(all.device_read_bytes, more.device_read_bytes),
        device_write_bytes: sum(all.device_write_bytes, more.device_write_bytes),
        cpu_busy_ns: sum(all.cpu_busy_ns, more.cpu_busy_ns),
        cpu_steal_ns: sum(all.cpu_steal_ns, more.cpu_steal_ns),
        kernel_threads_cpu_ns: sum(all.kernel_threads_cpu_ns, more.kernel_threads_cpu_ns),
    };
}

fn add_job(all: &mut JobFacts, more: &JobFacts) {
    let mean = |a: f64, of_a: u64, b: f64, of_b: u64| {
        let weight = (of_a + of_b) as f64;
        if weight > 0.0 { (a * of_a as f64 + b * of_b as f64) / weight } else { a }
    };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a mean of u64s")]
    let quantile =
        |a: u64, of_a: u64, b: u64, of_b: u64| mean(a as f64, of_a, b as f64, of_b).round() as u64;
    let ios = [all.latency_ios, more.latency_ios];
    all.mean_latency_ns = mean(all.mean_latency_ns, ios[0], more.mean_latency_ns, ios[1]);
    all.p99_latency_ns = quantile(all.p99_latency_ns, ios[0], more.p99_latency_ns, ios[1]);
    all.sync_p99_ns = quantile(all.sync_p99_ns, all.syncs, more.sync_p99_ns, more.syncs);
    all.latency_ios += more.latency_ios;
    all.more_windows += 1 + more.more_windows;
    all.active_ns += more.active_ns;
    all.ios += more.ios;
    all.read_bytes += more.read_bytes;
    all.write_bytes += more.write_bytes;
    all.trim_bytes += more.trim_bytes;
    all.errors += more.errors;
    all.short_ios += more.short_ios;
    all.cpu_ns += more.cpu_ns;
    all.offered_ios = sum(all.offered_ios, more.offered_ios);
    all.max_slip_ns = all.max_slip_ns.max(more.max_slip_ns);
    all.in_flight_io_ns += more.in_flight_io_ns;
    all.mismatches += more.mismatches;
    all.service_sum_ns += more.service_sum_ns;
    all.service_max_ns = all.service_max_ns.max(more.service_max_ns);
    all.syncs += more.syncs;
    all.sync_sum_ns += more.sync_sum_ns;
    all.requests += more.requests;
    all.request_sum_ns += more.request_sum_ns;
    all.sync_max_ns = all.sync_max_ns.max(more.sync_max_ns);
    if let (Some(udp), Some(more)) = (&mut all.udp, &more.udp) {
        udp.add(more);
    }
    if let (Some(tcp), Some(more)) = (&mut all.tcp, &more.tcp) {
        tcp.connections = tcp.connections.max(more.connections);
        tcp.retransmits += more.retransmits;
        tcp.rtt_ns = tcp.rtt_ns.max(more.rtt_ns);
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use iotax_experiment::plan::Phase;
    use iotax_experiment::{Arm, Stop, Target, Workload};
    use iotax_record::{LoadRecord, Outcome, Trial, TrialLength};

    use super::*;

    const MS: u64 = 1_000_000;

    pub(crate) fn spec() -> Spec {
        let arm = |name: &str| Arm::new(name, Target::parse("mem").unwrap());
        let arms = vec![arm("a"), arm("b")];
        let workload = Workload::preset("randread-4k").unwrap();
        let spec = Spec::compare(workload, arms, Stop::default(), 1).unwrap();
        let times = Phase { ramp_ns: 20 * MS, time_ns: 100 * MS };
        spec.with(|draft| draft.settle(Some(&[times])))
    }

    fn slice(spec: &Spec, slot: u32, ios: u64) -> TrialFacts {
        trial(spec, slot, ios, 100 * MS, TrialLength::Planned)
    }

    pub(crate) fn trial(
        spec: &Spec,
        slot: u32,
        ios: u64,
        window_ns: u64,
        length: TrialLength,
    ) -> TrialFacts {
        let arm = (slot % 2) as usize;
        let mut read = iotax_record::DirectionRecord { ios, ..Default::default() };
        read.bytes = 4096 * ios;
        let job = iotax_record::JobRecord {
            name: "io".into(),
            threads: 1,
            queue_depth: 1,
            active_ns: window_ns,
            read,
            cpu_user_ns: 10 * ios,
            in_flight_io_ns: window_ns,
            ..Default::default()
        };
        let load = LoadRecord {
            driver: "native".into(),
            window_ns,
            jobs: vec![job],
            ..LoadRecord::default()
        };
        let trial = Trial {
            block: slot / 2,
            slot,
            arm: spec.arms[arm].name.clone(),
            phase: 0,
            length,
            started_ns: u64::from(slot) * 125 * MS,
            switch_ns: MS,
            outcome: Outcome::Completed,
            load: Some(load),
            counters: None,
        };
        TrialFacts::of(&trial, spec, Some(arm))
    }

    #[test]
    fn slices_of_an_arm_make_trials_of_the_usual_length() {
        let spec = spec();
        let all: Vec<TrialFacts> =
            (0..220).map(|slot| slice(&spec, slot, 100 + u64::from(slot % 2))).collect();
        let made = stretches(&spec, &all.iter().collect::<Vec<_>>());
        let of = |arm: usize| made.iter().filter(|t| t.arm == Some(arm)).collect::<Vec<_>>();
        let shape = |arm| of(arm).iter().map(|t| (t.slices, t.window_ns / MS)).collect::<Vec<_>>();
        assert_eq!(shape(0), [(50, 5000), (50, 5000), (10, 1000)]);
        assert_eq!(shape(0), shape(1));
        let whole = of(1)[0].primary().unwrap();
        assert_eq!((whole.ios, whole.cpu_ns, whole.active_ns), (5050, 50_500, 5000 * MS));
        assert_eq!(of(1)[0].per_second_ios, [1010; 5]);
        assert_eq!(of(0).iter().map(|t| t.primary().unwrap().ios).sum::<u64>(), 11_000);
    }

    #[test]
    fn a_slice_without_ios_is_a_part_of_its_stretch() {
        let spec = spec();
        let all: Vec<TrialFacts> =
            (0..40).map(|slot| slice(&spec, slot, if slot == 8 { 0 } else { 100 })).collect();
        assert!(all[8].stalled_below.is_some());
        let made = stretches(&spec, &all.iter().collect::<Vec<_>>());
        assert_eq!(made[0].stalled_below, None);
        assert_eq!((made[0].slices, made[0].primary().unwrap().ios), (20, 1900));
    }
}
