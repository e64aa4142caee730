//! The ramp and the measured window of a phase, from the times of its jobs.
//!
//! fio measures each job over its own run; iotax measures all jobs of a phase over the same
//! window. The rules:
//!
//! 1. The window is the time in which every job that has a `runtime` runs, after its `ramp_time`.
//! 2. Where that is less than half of the longest `runtime` (jobs that follow one another by
//!    `startdelay`, or one that is only a prelude), the window lasts from the longest `ramp_time`
//!    to the last end, and shorter jobs run on until then.
//! 3. Where no job has a `runtime`, a trial ends when the jobs have moved their bytes, after
//!    [`MOST_NS`] at most.

use super::draft::{Draft, Timing};
use crate::units::format_duration;
use crate::workload::Bound;

/// The longest trial of jobs that end by bytes alone, from the start of the last of them.
const MOST_NS: u64 = 10 * 60 * 1_000_000_000;

/// Ramp and window in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Window {
    pub ramp_ns: u64,
    pub time_ns: u64,
}

impl Window {
    fn between(start_ns: u64, end_ns: u64) -> Self {
        Self { ramp_ns: start_ns, time_ns: end_ns.saturating_sub(start_ns) }
    }

    const fn end_ns(self) -> u64 {
        self.ramp_ns.saturating_add(self.time_ns)
    }
}

/// The window of a phase of these jobs.
pub(super) fn of(timings: &[Timing]) -> Window {
    let longest = timings.iter().filter_map(|timing| timing.runtime_ns).max();
    let ramp = timings.iter().map(|timing| timing.ramp_ns).max().unwrap_or_default();
    // A job that ends by bytes must at least begin.
    let last_untimed = timings.iter().filter(|timing| timing.runtime_ns.is_none());
    let begun = last_untimed.map(Timing::ramped_ns).max();
    let Some(longest) = longest else {
        return Window::between(ramp, begun.unwrap_or_default().saturating_add(MOST_NS).max(ramp));
    };
    let ends = || timings.iter().filter_map(Timing::end_ns);
    let start = timings.iter().map(Timing::ramped_ns).max().unwrap_or_default();
    let (first_end, last_end) = (ends().min().unwrap_or(start), ends().max().unwrap_or(start));
    if first_end.saturating_sub(start) >= longest.div_ceil(2) {
        return Window::between(start, first_end);
    }
    let end = begun.map_or(last_end, |begun| last_end.max(begun.saturating_add(longest)));
    Window::between(ramp, end)
}

/// Says where the window is not what a job's own times are.
pub(super) fn notes(drafts: &mut [Draft<'_>], window: Window) {
    let (ramp, time) = (format_duration(window.ramp_ns), format_duration(window.time_ns));
    let same = |timing: &Timing| {
        timing.end_ns() == Some(window.end_ns()) && timing.ramped_ns() == window.ramp_ns
    };
    let none_timed = drafts.iter().all(|draft| draft.timing.runtime_ns.is_none());
    for draft in drafts {
        if draft.timing.runtime_ns.is_some() {
            if same(&draft.timing) {
                continue;
            }
            if let Some(setting) = draft.chosen.get("runtime") {
                let text = format!("measured are {time} after {ramp}, together with other jobs");
                draft.note(setting, &text);
            }
        } else if none_timed && matches!(draft.job.bound, Bound::Bytes(_)) {
            let (place, name) = (draft.place().words(), &draft.job.name);
            let note = format!(
                "{place}: job `{name}` has no runtime: a trial ends when all bytes are moved, \
                 after {time} at most"
            );
            draft.notes.push(note);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const S: u64 = 1_000_000_000;

    fn timing(delay: u64, ramp: u64, runtime: Option<u64>) -> Timing {
        let runtime_ns = runtime.map(|seconds| seconds * S);
        Timing { delay_ns: delay * S, ramp_ns: ramp * S, runtime_ns }
    }

    fn window(timings: &[Timing]) -> (u64, u64) {
        let window = of(timings);
        (window.ramp_ns / S, window.time_ns / S)
    }

    #[test]
    fn the_window_is_when_all_run() {
        assert_eq!(window(&[timing(0, 2, Some(60))]), (2, 60));
        // The published command lines of a driver and a searcher.
        assert_eq!(window(&[timing(0, 2, Some(70)), timing(2, 2, Some(60))]), (4, 60));
    }

    #[test]
    fn jobs_that_hardly_overlap_are_measured_from_the_first_to_the_last() {
        assert_eq!(window(&[timing(0, 0, Some(10)), timing(10, 0, Some(10))]), (0, 20));
        assert_eq!(window(&[timing(0, 0, Some(5)), timing(0, 0, Some(60))]), (0, 60));
        assert_eq!(window(&[timing(0, 5, Some(10)), timing(30, 0, None)]), (5, 35));
    }

    #[test]
    fn jobs_that_end_by_bytes_have_ten_minutes() {
        assert_eq!(window(&[timing(0, 0, None)]), (0, 600));
        assert_eq!(window(&[timing(0, 0, None), timing(124, 0, None)]), (0, 724));
        assert_eq!(window(&[]), (0, 600));
    }

    proptest! {
        #[test]
        fn every_job_starts_before_the_end(
            jobs in proptest::collection::vec(
                (0..100u64, 0..100u64, proptest::option::of(1..100u64)), 1..6
            )
        ) {
            let timings: Vec<_> = jobs.iter().map(|(d, r, t)| timing(*d, *r, *t)).collect();
            let window = of(&timings);
            prop_assert!(window.time_ns > 0);
            prop_assert!(timings.iter().all(|timing| timing.delay_ns < window.end_ns()));
        }
    }
}
