//! Decides which jobs run together and which one after the other: `stonewall`, `wait_for`,
//! `exitall`.

use std::ops::Range;

use iotax_experiment::units::format_duration;
use iotax_experiment::{Bound, Error};

use super::draft::{Draft, Timing};

/// Jobs that run together, as a range of the list of all jobs.
type Phase = Range<usize>;

/// The phases, in order.
pub(super) fn split(drafts: &mut [Draft<'_>]) -> Result<Vec<Phase>, Error> {
    let mut phases: Vec<Phase> = Vec::new();
    // The job whose `wait_for` started the phase.
    let mut waiting: Option<usize> = None;
    for at in 0..drafts.len() {
        let starts = match phases.last() {
            None => true,
            Some(phase) => {
                let phase_of = |at: usize| drafts[at].chosen.section.phase;
                phase_of(at) != phase_of(phase.start) || stonewalled(drafts, at)?
            }
        };
        if starts {
            phases.push(at..at + 1);
            waiting = None;
            continue;
        }
        match waits(drafts, at, &phases)? {
            Wait::NewPhase => {
                phases.push(at..at + 1);
                waiting = Some(at);
                continue;
            }
            Wait::Part => too_late(drafts, at, "starts when one of several jobs ends"),
            Wait::Over => {}
            // In fio it would have started with the previous phase.
            Wait::None => {
                if let Some(waiter) = waiting.take() {
                    too_late(drafts, waiter, "starts while other jobs are still running");
                }
            }
        }
        if let Some(phase) = phases.last_mut() {
            phase.end = at + 1;
        }
    }
    late_starts(drafts, &phases);
    Ok(phases)
}

/// Whether a job waits for all jobs that were started before it.
fn stonewalled(drafts: &[Draft<'_>], at: usize) -> Result<bool, Error> {
    let chosen = &drafts[at].chosen;
    let Some(setting) = chosen.get("stonewall") else { return Ok(false) };
    if !setting.boolean()? {
        return Ok(false);
    }
    let (command, phase) = (chosen.section.command, chosen.section.phase);
    let mut together = drafts.iter().map(|d| d.chosen.section).filter(|s| s.phase == phase);
    let is_first = !drafts[..at].iter().any(|earlier| {
        let section = earlier.chosen.section;
        (section.phase, section.command) == (phase, command)
    });
    if is_first {
        return Ok(false);
    }
    if together.any(|section| section.command != command) {
        let advice = "join the commands with `;` instead of `&`, or leave out this option";
        return Err(
            setting.refuse("is not supported in commands that run at the same time", advice)
        );
    }
    Ok(true)
}

enum Wait {
    /// It does not wait for any job.
    None,
    /// The job that it waits for has already ended.
    Over,
    /// It waits for all running jobs.
    NewPhase,
    /// It waits for some of the running jobs.
    Part,
}

fn waits(drafts: &[Draft<'_>], at: usize, phases: &[Phase]) -> Result<Wait, Error> {
    let Some(setting) = drafts[at].chosen.get("wait_for") else { return Ok(Wait::None) };
    let name = setting.value.as_deref().unwrap_or_default();
    let Some(current) = phases.last() else { return Ok(Wait::None) };
    let found = drafts[..at].iter().rposition(|draft| draft.chosen.section.name == name);
    match found {
        Some(job) if job < current.start => return Ok(Wait::Over),
        Some(_) if current.len() == 1 => return Ok(Wait::NewPhase),
        Some(_) => return Ok(Wait::Part),
        None => {}
    }
    Err(setting.refuse_value("no earlier job has this name", ""))
}

fn too_late(drafts: &mut [Draft<'_>], at: usize, why: &str) {
    if let Some(setting) = drafts[at].chosen.get("wait_for") {
        drafts[at].beyond(setting, why);
    }
}

/// fio counts `startdelay` from its own start: in later phases part of it has passed.
fn late_starts(drafts: &mut [Draft<'_>], phases: &[Phase]) {
    for at in phases.iter().skip(1).cloned().flatten() {
        let draft = &mut drafts[at];
        if let Some(setting) = draft.chosen.get("startdelay")
            && draft.timing.delay_ns > draft.chosen.section.start_offset_ns
        {
            draft.note(
                setting,
                "counts from the start of the phase; in fio, it counts from the start of fio",
            );
        }
    }
}

/// Finds other jobs that end with a job that has `exitall`, as in fio; `drafts` are the jobs of a
/// phase.
pub(super) fn check_exits(drafts: &mut [Draft<'_>], is_last: bool) {
    let groups = groups(drafts);
    for (at, draft) in drafts.iter_mut().enumerate().filter(|(_, draft)| draft.job.ends_all) {
        let what = draft.chosen.get("exit_what");
        let members = groups.iter().filter(|group| **group == groups[at]).count();
        match what.map_or("group", |setting| setting.word().0) {
            // No other job ends with it.
            "group" if members == 1 => draft.job.ends_all = false,
            "group" if members < groups.len() => {
                if let Some(setting) = draft.chosen.get("exitall") {
                    draft.beyond(setting, "ends only the jobs of its own group");
                }
            }
            "all" if !is_last => {
                if let Some(setting) = what {
                    draft.beyond(setting, "prevents later phases from running");
                }
            }
            _ => {}
        }
    }
}

/// The reporting group of each job of a phase.
fn groups(drafts: &[Draft<'_>]) -> Vec<usize> {
    let mut group = 0;
    let numbers = drafts.iter().map(|draft| {
        group += usize::from(draft.chosen.switch("new_group", false) == Ok(true));
        group
    });
    numbers.collect()
}

// The ramp and the measured window of a phase, derived from the times of its jobs.
//
// In fio, each job has a ramp, a start and an end of its own, and is measured between them. In
// iotax, a trial has one window, in which each job starts, ends and is measured by its own times.
// The rules:
//
// 1. The window is the time in which all jobs with a `runtime` run, after their `ramp_time`, if
//    that is most of the longest `runtime`. Such jobs were started one after the other and are
//    meant to run together.
// 2. Otherwise it lasts from the longest `ramp_time` to the last end, and each job ends at its own
//    time.
// 3. If no job has a `runtime`, a trial ends when the jobs have moved their bytes, but after
//    [`MOST_NS`] at most.
// 4. A job with `exitall` ends all other jobs and the window.

/// The longest trial of jobs that end by bytes alone, from the start of the last of them.
const MOST_NS: u64 = 10 * 60 * 1_000_000_000;

/// Fraction of the longest `runtime` that all jobs must share for rule 1.
const MOST_OF_IT: (u64, u64) = (3, 4);

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

    /// The end of a job that ends before the window does.
    pub(super) fn own_end_ns(self, timing: &Timing) -> Option<u64> {
        timing.end_ns().filter(|end_ns| *end_ns < self.end_ns())
    }

    /// The measured part of a job: from when, until when.
    fn measured(self, timing: &Timing) -> (u64, u64) {
        let end_ns = self.own_end_ns(timing).unwrap_or(self.end_ns());
        (timing.delay_ns.max(self.ramp_ns), end_ns)
    }

    /// Whether a job ends before the measurement starts.
    pub(super) fn is_before(self, timing: &Timing) -> bool {
        timing.end_ns().is_some_and(|end_ns| end_ns <= self.ramp_ns)
    }
}

/// The window of a phase with these jobs.
pub(super) fn window_of(timings: &[Timing]) -> Window {
    let longest = timings.iter().filter_map(|timing| timing.runtime_ns).max();
    let ramp = timings.iter().map(|timing| timing.ramp_ns).max().unwrap_or_default();
    // A job that ends by bytes must at least start.
    let last_untimed = timings.iter().filter(|timing| timing.runtime_ns.is_none());
    let begun = last_untimed.map(Timing::ramped_ns).max();
    let Some(longest) = longest else {
        return Window::between(ramp, begun.unwrap_or_default().saturating_add(MOST_NS).max(ramp));
    };
    let ends = || timings.iter().filter_map(Timing::end_ns);
    let start = timings.iter().map(Timing::ramped_ns).max().unwrap_or_default();
    let (first_end, last_end) = (ends().min().unwrap_or(start), ends().max().unwrap_or(start));
    let (part, whole) = MOST_OF_IT;
    if first_end.saturating_sub(start) >= longest.div_ceil(whole).saturating_mul(part) {
        return Window::between(start, first_end);
    }
    let end = begun.map_or(last_end, |begun| last_end.max(begun.saturating_add(longest)));
    let exits = timings.iter().filter(|timing| timing.ends_all).filter_map(Timing::end_ns).min();
    let end = exits.filter(|exit| *exit > ramp).map_or(end, |exit| exit.min(end));
    Window::between(ramp, end)
}

/// Notes jobs whose own times differ from the window.
pub(super) fn notes(drafts: &mut [Draft<'_>], window: Window) {
    let none_timed = drafts.iter().all(|draft| draft.timing.runtime_ns.is_none());
    for draft in drafts {
        if draft.timing.runtime_ns.is_some() {
            let Some(setting) = draft.chosen.get("runtime") else { continue };
            let (from_ns, to_ns) = window.measured(&draft.timing);
            if window.is_before(&draft.timing) {
                draft.note(
                    setting,
                    "not measured, because the job ends before the other jobs' ramp ends",
                );
            } else if (from_ns, Some(to_ns)) != (draft.timing.ramped_ns(), draft.timing.end_ns()) {
                let from = format_duration(from_ns);
                let time = format_duration(to_ns.saturating_sub(from_ns));
                let text =
                    format!("measured together with other jobs: for {time}, starting at {from}");
                draft.note(setting, &text);
            }
        } else if none_timed && matches!(draft.job.bound, Bound::Bytes(_)) {
            let (place, name) = (draft.place().words(), &draft.job.name);
            let time = format_duration(window.time_ns);
            let note = format!(
                "{place}: job `{name}` has no runtime; a trial ends when all bytes are \
                 transferred, or after {time}"
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
        Timing { delay_ns: delay * S, ramp_ns: ramp * S, runtime_ns, ends_all: false }
    }

    fn window(timings: &[Timing]) -> (u64, u64) {
        let window = window_of(timings);
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
        assert_eq!(window(&[timing(0, 0, Some(20)), timing(0, 0, Some(30))]), (0, 30));
    }

    #[test]
    fn a_job_that_is_over_before_the_window_has_an_end_of_its_own() {
        let jobs = [timing(0, 1, Some(5)), timing(3, 0, Some(10)), timing(0, 0, Some(60))];
        let window = window_of(&jobs);
        assert_eq!((window.ramp_ns / S, window.time_ns / S), (1, 59));
        let ends = jobs.map(|job| window.own_end_ns(&job).map(|end| end / S));
        assert_eq!(ends, [Some(6), Some(13), None]);
        assert_eq!(window.measured(&jobs[1]), (3 * S, 13 * S));
    }

    #[test]
    fn a_job_that_ends_all_others_ends_the_window() {
        let exits = Timing { ends_all: true, ..timing(0, 0, Some(5)) };
        assert_eq!(window(&[exits, timing(0, 0, Some(60))]), (0, 5));
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
            let window = window_of(&timings);
            prop_assert!(window.time_ns > 0);
            prop_assert!(timings.iter().all(|timing| timing.delay_ns < window.end_ns()));
        }
    }
}
