use crate::analysis::{Doubt, DoubtKind, InFlight};
use crate::evidence::Evidence;
use crate::facts::JobFacts;

/// Allowed relative deviation.
const TOLERANCE: f64 = 0.05;
/// Mean deviation per I/O that clock readings around it explain.
const CLOCK_NS: f64 = 100.0;

/// Little's law, L = X R: the mean number in flight must be throughput times mean latency (Little,
/// "A Proof for the Queuing Formula: L = lambda W", Operations Research 9, 1961). The number in
/// flight is counted independently of latencies, and can never exceed threads x depth.
pub(super) fn check(evidence: &Evidence<'_>) -> Vec<Doubt> {
    evidence.worst_jobs(|_, job, facts| {
        let (excess, by_latency, counted, bound) = deviation(facts)?;
        let against = if by_latency > bound * (1.0 + TOLERANCE) {
            InFlight::Allowed(bound)
        } else {
            InFlight::Counted(counted)
        };
        let job = job.name.clone();
        Some((excess, DoubtKind::LittlesLaw { job, by_latency, against }))
    })
}

/// How far the law is broken, with the three numbers in flight: by latency, counted, possible.
///
/// I/Os that were in flight when the window opened are counted in full where they end, though part
/// of their time lies before it: at most as many as there are slots, each no longer than the
/// longest. And failed I/Os are in flight but have no latency.
fn deviation(facts: &JobFacts) -> Option<(f64, f64, f64, f64)> {
    if facts.threads == 0 || facts.queue_depth == 0 {
        return None; // Another tool's result that does not tell.
    }
    let slots = f64::from(facts.threads.max(1)) * f64::from(facts.queue_depth.max(1));
    if facts.errors + facts.short_ios > 0 || slots / facts.ios as f64 > TOLERANCE {
        return None;
    }
    let (sum_ns, counted_ns) = (facts.service_sum_ns, facts.in_flight_io_ns as f64);
    let active_ns = facts.active_ns as f64;
    // At both ends of several windows they add up like noise.
    let windows = f64::from(facts.more_windows + 1);
    let edges_ns = slots * facts.service_max_ns as f64 * windows.sqrt();
    let allowed_ns = TOLERANCE * counted_ns + edges_ns + CLOCK_NS * facts.ios as f64;
    let is_off = counted_ns > 0.0 && (sum_ns - counted_ns).abs() > allowed_ns;
    let limit_ns = slots * active_ns;
    let is_impossible = sum_ns > limit_ns * (1.0 + TOLERANCE) + edges_ns;
    let excess = (sum_ns / counted_ns.max(1.0)).ln().abs().max((sum_ns / limit_ns).ln());
    (is_off || is_impossible).then_some((excess, sum_ns / active_ns, counted_ns / active_ns, slots))
}
