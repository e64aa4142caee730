//! Whether this machine's CPUs set the rate, and not what is behind them.
//!
//! The load's own thread is only part of it: without the storage's help a rate is also limited by
//! the kernel's workers of this process (which copy from a tmpfs), and by kernel threads (in which
//! dm-crypt and loop devices work). Those serve others, too: only what grows with the load counts.

use iotax_stats::plateau::BUSY;

use crate::probe::{Observation, Processors};
use crate::reason::BusySign;

/// Share of what all CPUs did from which on the load, and not other programs, kept them busy.
const OURS: f64 = 0.2;
/// Share of its time that a load that waits for a CPU may lose I/Os.
pub(crate) const TAKEN: f64 = 0.1;
/// Rates that differ by less tell nothing about what grows with them.
const APART: f64 = 1.2;

/// Share of the kernel threads' time that they worked for this load: what is in proportion to its
/// rate, from two rates. `None` if these are too close, or the system did not tell.
pub(crate) fn kernel_share(slow: &Observation, fast: &Observation) -> Option<f64> {
    let kernel = |seen: &Observation| seen.processors?.kernel_threads;
    let (few, many) = (kernel(slow)?, kernel(fast)?);
    if fast.iops() < APART * slow.iops() || many <= 0.0 {
        return None;
    }
    let per_iops = (many - few) / (fast.iops() - slow.iops());
    Some((per_iops * fast.iops() / many).clamp(0.0, 1.0))
}

/// What was busy while a cap was measured: the means over its measurements.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Busy {
    /// Share of its time that the load's thread computed.
    pub thread: Option<f64>,
    /// What the CPUs did.
    pub processors: Option<Processors>,
    /// Share of the kernel threads' time that they worked for this load.
    pub kernel_share: f64,
    /// Share of its time that the busiest thread at the far end of a path computed, on its own
    /// host.
    pub far: Option<f64>,
    /// Share of their time that the load's threads waited for a CPU.
    pub waited: Option<f64>,
}

impl Busy {
    /// Of several measurements of one cap.
    pub(crate) fn of(seen: &[Observation], kernel_share: f64) -> Self {
        let mean = |of: &dyn Fn(&Observation) -> Option<f64>| {
            let values: Option<Vec<f64>> = seen.iter().map(of).collect();
            values
                .filter(|values| !values.is_empty())
                .map(|values| values.iter().sum::<f64>() / values.len() as f64)
        };
        let processors = seen.first().and_then(|first| first.processors).and_then(|first| {
            Some(Processors {
                process: mean(&|seen| Some(seen.processors?.process))?,
                busy: mean(&|seen| seen.processors?.busy),
                kernel_threads: mean(&|seen| seen.processors?.kernel_threads),
                ..first
            })
        });
        let far = mean(&|seen| seen.far_busy);
        let waited = mean(&|seen| seen.cpu_wait);
        Self { thread: mean(&|seen| seen.busy), processors, kernel_share, far, waited }
    }

    /// Why this machine set the rate, if it did: no CPU was left.
    pub(crate) fn is_limit(&self) -> Option<BusySign> {
        self.thread_is_limit().or_else(|| self.processors_are_limit())
    }

    /// Why this machine may have set the rate although CPUs were left: one thread asks, and others
    /// work for it in turn.
    pub(crate) fn works_in_turn(&self) -> Option<BusySign> {
        let ours = self.processors.map(|cpus| self.ours(&cpus)).filter(|ours| *ours >= BUSY)?;
        Some(BusySign::InTurn { share: ours })
    }

    /// CPUs that worked for this load.
    fn ours(&self, cpus: &Processors) -> f64 {
        cpus.process + self.kernel_share * cpus.kernel_threads.unwrap_or(0.0)
    }

    fn thread_is_limit(&self) -> Option<BusySign> {
        self.thread.filter(|busy| *busy >= BUSY).map(|share| BusySign::Thread { share })
    }

    fn processors_are_limit(&self) -> Option<BusySign> {
        let cpus = self.processors?;
        let ours = self.ours(&cpus);
        if let Some(busy) = cpus.busy.filter(|busy| *busy >= BUSY)
            && ours >= OURS * busy * cpus.all
        {
            let ours = (ours / (busy * cpus.all)).min(1.0);
            return Some(BusySign::AllCpus { share: busy.min(1.0), ours });
        }
        let share = ours / cpus.usable;
        (ours >= BUSY * cpus.usable).then_some(BusySign::Allowed { share, cpus: cpus.usable })
    }

    /// Why the far end of a path set the rate.
    pub(crate) fn far_is_limit(&self) -> Option<BusySign> {
        self.far.filter(|busy| *busy >= BUSY).map(|share| BusySign::Peer { share })
    }

    /// The CPUs that the load needed were in use, so that it may have asked for less than there is.
    pub(crate) fn taken(&self) -> Option<BusySign> {
        let waited = self.waited.filter(|waited| *waited >= TAKEN);
        let waited = waited.map(|share| BusySign::Waited { share });
        waited.or_else(|| self.all_busy().map(|share| BusySign::Taken { share }))
    }

    /// Other programs had the CPUs, so that the rate may be theirs.
    pub(crate) fn others(&self) -> Option<BusySign> {
        self.all_busy().map(|share| BusySign::OtherWork { share })
    }

    fn all_busy(&self) -> Option<f64> {
        Some(self.processors?.busy.filter(|busy| *busy >= BUSY)?.min(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MACHINE: Processors =
        Processors { usable: 2.0, busy: None, all: 2.0, process: 0.0, kernel_threads: None };

    fn seen(iops: u64, processors: Processors) -> Observation {
        Observation {
            ios: iops,
            active_ns: 1_000_000_000,
            busy: Some(0.3),
            processors: Some(processors),
            ..Observation::default()
        }
    }

    fn limit(kernel_share: f64, processors: Processors) -> Option<BusySign> {
        let busy = Busy::of(&[seen(1, processors)], kernel_share);
        busy.is_limit().or_else(|| busy.works_in_turn()).or_else(|| busy.others())
    }

    #[test]
    fn the_kernels_workers_of_this_process_count() {
        let copying = Processors { process: 1.04, busy: Some(0.56), ..MACHINE };
        assert_eq!(limit(0.0, copying), Some(BusySign::InTurn { share: 1.04 }));
    }

    #[test]
    fn kernel_threads_count_as_far_as_they_serve_the_load() {
        let idle = Processors { kernel_threads: Some(0.3), ..MACHINE };
        let loops = Processors { process: 0.4, kernel_threads: Some(1.1), ..MACHINE };
        let share = kernel_share(&seen(1000, idle), &seen(100_000, loops)).unwrap();
        assert!((0.7..0.8).contains(&share), "{share}");
        let Some(BusySign::InTurn { share: taken }) = limit(share, loops) else { panic!() };
        assert!((taken - 1.21).abs() < 0.005, "{taken}");
        assert_eq!(limit(0.0, loops), None, "they may serve anybody");
        assert_eq!(kernel_share(&seen(1000, idle), &seen(1100, loops)), None);
    }

    #[test]
    fn of_several_measurements_the_means_count() {
        let of = |process, busy, kernel_threads| {
            let cpus = Processors { process, busy: Some(busy), ..MACHINE };
            seen(1, Processors { kernel_threads: Some(kernel_threads), ..cpus })
        };
        let busy = Busy::of(&[of(0.2, 0.4, 0.1), of(0.6, 0.8, 0.3)], 0.5);
        let cpus = busy.processors.unwrap();
        let near =
            |found: f64, expected: f64| assert!((found - expected).abs() < 1e-12, "{cpus:?}");
        near(cpus.process, 0.4);
        near(cpus.busy.unwrap(), 0.6);
        near(cpus.kernel_threads.unwrap(), 0.2);
        assert_eq!((busy.thread, busy.far, busy.waited), (Some(0.3), None, None));
    }

    #[test]
    fn a_busy_machine_is_the_limit_if_the_load_has_its_share() {
        let shared = Processors { process: 0.9, busy: Some(0.95), ..MACHINE };
        let Some(BusySign::AllCpus { share, ours }) = limit(0.0, shared) else { panic!() };
        assert!((share - 0.95).abs() < 1e-9 && (ours - 0.9 / 1.9).abs() < 1e-9, "{share} {ours}");
        let less = Processors { process: 0.37, ..shared };
        assert_eq!(limit(0.0, less), Some(BusySign::OtherWork { share: 0.95 }), "below a fifth");
    }

    #[test]
    fn other_programs_are_pointed_out() {
        let theirs = Processors { process: 0.02, busy: Some(1.0), ..MACHINE };
        assert_eq!(limit(0.0, theirs), Some(BusySign::OtherWork { share: 1.0 }));
    }

    #[test]
    fn a_quota_of_cpus_is_all_there_is() {
        let quota = Processors { usable: 0.5, process: 0.49, busy: Some(0.3), ..MACHINE };
        assert_eq!(limit(0.0, quota), Some(BusySign::Allowed { share: 0.98, cpus: 0.5 }));
    }

    #[test]
    fn a_load_that_waits_is_limited_by_what_it_waits_for() {
        let waiting = Processors { process: 0.4, busy: Some(0.3), ..MACHINE };
        assert_eq!(limit(0.0, waiting), None);
        assert_eq!(Busy::of(&[], 0.0), Busy::default());
    }
}
