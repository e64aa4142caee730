//! Long periods of load between short slices. Burst credits that come back during the other arm's
//! turn never run out in slices, nor in trials of a few seconds.

use iotax_layers::{About, Error};

use crate::plan::{LEAST_HELD_BLOCKS, REPEATS};
use crate::spec::Draft;
use crate::units::format_duration;
use crate::workload::{Slices, Workload};

impl Draft {
    /// Refuses to hold arms if that shows nothing, or does not fit into the time and number of
    /// blocks. Trials must be slices according to [`Draft::alternate`].
    ///
    /// # Errors
    /// If it is refused.
    pub fn validate_hold(&self) -> Result<(), Error> {
        let Some(hold_ns) = self.hold_ns else { return Ok(()) };
        let refuse = |problem: String, advice: &'static str| {
            Err(Error::impossible(About::Experiment, "hold", problem, advice))
        };
        let slices = |phase: &Workload| phase.slices;
        let longest_ns =
            self.phases().filter_map(slices).map(Slices::longest_ns).max().unwrap_or(0);
        if hold_ns <= longest_ns {
            let [hold, slice] = [hold_ns, longest_ns].map(format_duration);
            let problem = format!("{hold} is not longer than the longest slice ({slice})");
            return refuse(problem, "use a time that is longer than any burst, for example 45s");
        }
        if self.stop.max_blocks < LEAST_HELD_BLOCKS {
            let most = self.stop.max_blocks;
            let problem =
                format!("requires max-blocks to be at least {LEAST_HELD_BLOCKS}, not {most}");
            return refuse(problem, "leave out max-blocks, or set it to 40");
        }
        let needed_ns = self.turns_ns(hold_ns);
        if let Some(most_ns) = self.stop.max_time_ns.filter(|most_ns| *most_ns <= needed_ns) {
            let [hold, needed, most] = [hold_ns, needed_ns, most_ns].map(format_duration);
            let problem = format!(
                "loading each arm for {hold} takes {needed} in total, but max-time is {most}"
            );
            return refuse(problem, "increase max-time, or reduce hold");
        }
        Ok(())
    }

    /// Time for each arm once under each phase, in nanoseconds.
    fn turns_ns(&self, each_ns: u64) -> u64 {
        each_ns.saturating_mul((self.arms.len() * self.phases.len()) as u64)
    }

    /// Whether an arm was held in a window of `window_ns`, which may be slightly shorter.
    pub fn is_held_in(&self, window_ns: u64) -> bool {
        self.hold_ns.is_some_and(|hold_ns| window_ns >= hold_ns / 10 * 9)
    }

    /// Maximum time for holding arms, in nanoseconds, including repeats.
    pub(crate) fn most_hold_ns(&self) -> u64 {
        let ns = self.hold_ns.map_or(0, |hold_ns| self.turns_ns(hold_ns));
        ns.saturating_mul(u64::from(1 + REPEATS))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Plan;
    use crate::spec::Arm;

    const SECOND_NS: u64 = 1_000_000_000;

    fn held(hold_ns: u64) -> Draft {
        let arms = ["a=/a", "b=/b"].map(|text| Arm::parse(text).unwrap()).to_vec();
        let mut draft =
            Draft::compare(vec![Workload::preset("randread-4k").unwrap()], arms).unwrap();
        assert_eq!(draft.alternate(), None);
        draft.hold_ns = Some(hold_ns);
        draft
    }

    #[test]
    fn holding_makes_a_run_longer_and_gives_it_more_time() {
        let plan = Plan::new(&held(45 * SECOND_NS).in_shortest_slices().unwrap());
        let (shortest_ns, longest_ns) = plan.duration_ns();
        assert_eq!(longest_ns, (600 + 4 * 90) * SECOND_NS);
        let pairs = (shortest_ns - 90 * SECOND_NS) / 240_000_000;
        assert!((24..34).contains(&pairs), "{pairs}");
        assert_eq!(plan.window_ns(0, 450), 45 * SECOND_NS);
        // It is not rounded up to whole slices.
        let odd = Plan::new(&held(45_030_000_000).in_shortest_slices().unwrap());
        assert_eq!(odd.window_ns(0, 451), 45_030_000_000);
        assert_eq!(odd.window_ns(0, 10), SECOND_NS);
    }

    #[test]
    fn what_holds_no_arm_is_refused() {
        let refused = |draft: Draft| draft.validate_hold().unwrap_err().to_string();
        assert_eq!(held(45 * SECOND_NS).validate_hold(), Ok(()));
        let mut few = held(45 * SECOND_NS);
        few.stop.max_blocks = 20;
        few.stop.min_blocks = 4;
        let mut brief = held(45 * SECOND_NS);
        brief.stop.max_time_ns = Some(90 * SECOND_NS);
        let all = [held(2 * SECOND_NS), few, brief].map(refused);
        insta::assert_snapshot!(all.join("\n"), @"
        hold: 2s is not longer than the longest slice (2500ms)
        use a time that is longer than any burst, for example 45s
        hold: requires max-blocks to be at least 34, not 20
        leave out max-blocks, or set it to 40
        hold: loading each arm for 45s takes 90s in total, but max-time is 90s
        increase max-time, or reduce hold
        ");
    }
}
