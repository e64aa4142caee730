//! What most of the noise is from, as far as the machine's counters tell.

use iotax_stats::sample::{mean, variance};

use crate::analysis::{NoiseSource, Program, ProgramLoad};
use crate::evidence::Evidence;
use crate::facts::TrialFacts;

/// Share of all CPU time that others use before the noise is put down to it.
const BUSY: f64 = 0.2;
/// Share below which others are taken to be idle.
const IDLE: f64 = 0.1;
/// Share of all CPU time, and bytes per second, from which on a program is named.
const NAMED_SHARE: f64 = 0.05;
const NAMED_BYTES_PER_S: f64 = 5e6;
/// Share of what the load itself moves per second from which on others' I/O disturbs it.
const NAMED_OF_LOAD: f64 = 0.1;
/// Programs named at most.
const MOST_NAMED: usize = 3;
/// Share of all CPU time that the hypervisor takes before the noise is put down to it.
const STOLEN: f64 = 0.02;
/// A trial below this share of its arm's median stalled.
const STALLED: f64 = 0.5;
/// Share of the noise that so few stalled trials carry.
const CARRIED: f64 = 0.5;
const FEW: f64 = 0.1;
/// Variation of the storage itself that is worth telling.
const VARIES: f64 = 0.02;
/// Trials that an arm needs before its own variation counts.
const ENOUGH: usize = 8;

/// `None` if nothing stands out.
pub(super) fn source(evidence: &Evidence<'_>) -> Option<NoiseSource> {
    let trials: Vec<&TrialFacts> =
        (0..evidence.names.len()).flat_map(|arm| evidence.usable(arm)).collect();
    let cpus = f64::from(evidence.experiment.host(0).environment.cpus.max(1));
    let capacity_ns = cpus * trials.iter().map(|trial| trial.window_ns as f64).sum::<f64>();
    let is_on_disk = !evidence.experiment.spec.arms.iter().all(|arm| arm.target.is_in_memory());
    let others_share = others_share(evidence, &trials, cpus, capacity_ns);
    let programs = named(evidence, &trials, cpus, is_on_disk);
    let does_io = programs.iter().any(|program| !matches!(program.load, ProgramLoad::Cpu { .. }));
    if does_io || others_share > BUSY {
        return Some(NoiseSource::Programs { cpu_share: others_share.min(1.0), programs });
    }
    let stolen_ns: u64 = trials.iter().filter_map(|trial| trial.system.cpu_steal_ns).sum();
    let share = stolen_ns as f64 / capacity_ns;
    if share > STOLEN {
        return Some(NoiseSource::Steal { share });
    }
    let arms: Vec<Vec<f64>> = (0..evidence.names.len()).map(|arm| rates(evidence, arm)).collect();
    if let Some(stalls) = stalls(&arms) {
        return Some(stalls);
    }
    let others = evidence.other_programs.filter(|_| is_on_disk && others_share <= IDLE)?;
    let long_enough = arms.iter().filter(|rates| rates.len() >= ENOUGH);
    let variation = long_enough.map(|rates| variation_of_neighbours(rates)).fold(0.0, f64::max);
    (variation >= VARIES)
        .then_some(NoiseSource::Storage { variation, is_alone: others.io_is_known })
}

/// CPU time of other programs as a share of all.
fn others_share(
    evidence: &Evidence<'_>,
    trials: &[&TrialFacts],
    cpus: f64,
    capacity_ns: f64,
) -> f64 {
    let of_names = evidence
        .other_programs
        .map_or(0.0, |others| others.cpu_ns as f64 / (cpus * others.span_ns.max(1) as f64));
    // Layers of the system cannot be told from others there. Kernel threads are no program.
    let in_system = (0..evidence.names.len()).any(|arm| evidence.is_in_system(arm));
    let of_trial = |trial: &&TrialFacts| {
        let system = &trial.system;
        let own_ns = system.process_cpu_ns?.saturating_add(system.kernel_threads_cpu_ns?);
        Some(system.cpu_busy_ns?.saturating_sub(own_ns) as f64)
    };
    let counted: f64 = trials.iter().filter_map(of_trial).sum();
    if in_system { of_names } else { of_names.max(counted / capacity_ns.max(1.0)) }
}

/// Programs that use much, each for what it uses most; those that do I/O first.
fn named(
    evidence: &Evidence<'_>,
    trials: &[&TrialFacts],
    cpus: f64,
    is_on_disk: bool,
) -> Vec<Program> {
    let Some(others) = evidence.other_programs else { return Vec::new() };
    let span_ns = others.span_ns.max(1) as f64;
    let rates = trials.iter().filter_map(|trial| Some(trial.primary()?.bytes_per_s()));
    let load = mean(&rates.collect::<Vec<_>>());
    let much = NAMED_BYTES_PER_S.min(if load > 0.0 { NAMED_OF_LOAD * load } else { f64::MAX });
    let mut io = Vec::new();
    let mut cpu = Vec::new();
    for program in &others.largest {
        let name = || program.name.clone();
        let per_s = |bytes: u64| bytes as f64 * 1e9 / span_ns;
        let (reads, writes) = (per_s(program.read_bytes), per_s(program.write_bytes));
        let share = program.cpu_ns as f64 / (cpus * span_ns);
        if is_on_disk && reads.max(writes) >= much {
            let load = if reads > writes {
                ProgramLoad::Reads { bytes_per_s: reads }
            } else {
                ProgramLoad::Writes { bytes_per_s: writes }
            };
            io.push((reads.max(writes), Program { name: name(), load }));
        } else if share >= NAMED_SHARE {
            cpu.push((share, Program { name: name(), load: ProgramLoad::Cpu { share } }));
        }
    }
    for all in [&mut io, &mut cpu] {
        all.sort_by(|a, b| b.0.total_cmp(&a.0));
    }
    let all = io.into_iter().take(MOST_NAMED).chain(cpu).take(MOST_NAMED);
    all.map(|(_, program)| program).collect()
}

/// Logarithms of the throughput of an arm's trials, in their order.
fn rates(evidence: &Evidence<'_>, arm: usize) -> Vec<f64> {
    let rate = |trial: &TrialFacts| Some(trial.primary()?.iops()).filter(|iops| *iops > 0.0);
    evidence.usable(arm).filter_map(|trial| rate(trial).map(f64::ln)).collect()
}

/// Few trials far below the median of their arm that carry most of the noise.
fn stalls(arms: &[Vec<f64>]) -> Option<NoiseSource> {
    let (mut all, mut of_stalled) = (0.0, 0.0);
    let (mut trials, mut stalled) = (0_u32, 0_u32);
    for rates in arms.iter().filter(|rates| rates.len() >= ENOUGH) {
        let mut sorted = rates.clone();
        sorted.sort_by(f64::total_cmp);
        let median = sorted[sorted.len() / 2];
        for rate in rates {
            let square = (rate - median).powi(2);
            trials += 1;
            all += square;
            if *rate < median + STALLED.ln() {
                stalled += 1;
                of_stalled += square;
            }
        }
    }
    let share = of_stalled / all;
    let is_few = f64::from(stalled) <= FEW * f64::from(trials);
    (stalled > 0 && is_few && share > CARRIED).then_some(NoiseSource::Stalls {
        trials: stalled,
        of: trials,
        share,
    })
}

/// By how much a trial differs from the next, as a fraction: what changes slowly is left out.
fn variation_of_neighbours(rates: &[f64]) -> f64 {
    let steps: Vec<f64> = rates.windows(2).map(|pair| pair[1] - pair[0]).collect();
    (variance(&steps) / 2.0).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_stalls_that_carry_the_noise_are_told_from_noise_all_over() {
        let quiet: Vec<f64> = (0..100).map(|i| 9.0 + 0.01 * f64::from(i % 5)).collect();
        let mut stalled = quiet.clone();
        (stalled[7], stalled[50]) = (7.0, 6.0);
        let Some(NoiseSource::Stalls { trials, of, share }) = stalls(&[quiet.clone(), stalled])
        else {
            panic!("no stalls");
        };
        assert_eq!((trials, of), (2, 200));
        assert!(share > 0.9);
        let noisy: Vec<f64> = (0..100).map(|i| 9.0 + 0.5 * f64::from(i % 5)).collect();
        assert_eq!(stalls(&[quiet, noisy]), None);
    }

    #[test]
    fn a_slow_change_is_no_variation_from_trial_to_trial() {
        let drift: Vec<f64> = (0..100).map(|i| f64::from(i) * 0.05).collect();
        assert!(variation_of_neighbours(&drift) < 1e-6);
        let alternating: Vec<f64> = (0..100).map(|i| 0.1 * f64::from(i % 2)).collect();
        assert!((0.06..0.08).contains(&variation_of_neighbours(&alternating)));
    }
}
