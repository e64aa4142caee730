//! When fio runs a job: it counts ramp and time from the job's own start, iotax from the trial's.

use iotax_experiment::Job;

/// Times of one job for fio.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Times {
    /// fio's `ramp_time`, in nanoseconds.
    pub ramp_ns: u64,
    /// fio's `runtime`, in nanoseconds.
    pub run_ns: u64,
    /// Whether any of it lies in the measured window: a job that is over before has results, too,
    /// to fio.
    pub measured: bool,
}

/// The times of a job in a trial of so much ramp and time; `None` if the trial is over before the
/// job would start.
pub fn times(job: &Job, ramp_ns: u64, time_ns: u64) -> Option<Times> {
    let trial_ends_ns = ramp_ns.saturating_add(time_ns);
    let end_ns = job.end_after_ns.map_or(trial_ends_ns, |own_ns| own_ns.min(trial_ends_ns));
    let measured = end_ns > ramp_ns;
    let from_ns = if measured { job.start_delay_ns.max(ramp_ns) } else { job.start_delay_ns };
    let run_ns = end_ns.checked_sub(from_ns).filter(|ns| *ns > 0)?;
    Some(Times { ramp_ns: from_ns - job.start_delay_ns, run_ns, measured })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ramp_and_runtime_count_from_the_start_of_the_job() {
        let of = |start_delay_ns, end_after_ns| {
            let job = Job { start_delay_ns, end_after_ns, ..Job::new("a") };
            times(&job, 10, 60).map(|times| (times.ramp_ns, times.run_ns, times.measured))
        };
        assert_eq!(of(0, None), Some((10, 60, true)));
        assert_eq!(of(4, None), Some((6, 60, true)));
        assert_eq!(of(30, None), Some((0, 40, true)));
        assert_eq!(of(70, None), None);
        assert_eq!(of(0, Some(15)), Some((10, 5, true)));
        assert_eq!(of(12, Some(15)), Some((0, 3, true)));
        assert_eq!(of(0, Some(900)), Some((10, 60, true)));
        // Over before the window opens: it runs, and is not measured.
        assert_eq!(of(2, Some(10)), Some((0, 8, false)));
    }
}
