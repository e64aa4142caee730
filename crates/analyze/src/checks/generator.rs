use crate::analysis::{Doubt, DoubtKind};
use crate::evidence::Evidence;

/// Share of a thread's time that the load generator may need for itself.
const MAX_SHARE: f64 = 0.10;

/// Is the load generator, rather than the storage, what takes the time? Its own cost per I/O was
/// measured at the start with an engine that does nothing.
pub(super) fn check(evidence: &Evidence<'_>) -> Vec<Doubt> {
    evidence.worst_jobs(|arm, job, facts| {
        let own_ns = evidence.experiment.host(arm).generator_ns_per_io?;
        let threads_ns = f64::from(facts.threads.max(1)) * facts.active_ns as f64;
        let per_io_ns = threads_ns / facts.ios as f64;
        let share = own_ns / per_io_ns;
        let job = job.name.clone();
        (share > MAX_SHARE).then_some((share, DoubtKind::GeneratorShare { job, own_ns, per_io_ns }))
    })
}
