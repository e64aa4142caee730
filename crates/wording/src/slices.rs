//! Sentences about slices, and about whole trials in their place.

use iotax_experiment::units::format_duration;
use iotax_experiment::{Draft, Driver, Slices, Uncut, WholeTrials, Workload};
use iotax_quantity::{count, grouped, set_time, span_of_ns};

use crate::name::printable;

/// The times of a workload's trials; `None` for whole trials.
pub fn times(workload: &Workload) -> Option<String> {
    let slices = workload.slices?;
    let Some(parts) = workload.parts() else { return Some(range(slices)) };
    let length = set_time(slices.least_ns);
    Some(format!("{} parts of about {length} each", grouped(parts.into())))
}

/// Before a pilot run sets them.
fn range(slices: Slices) -> String {
    let [least, most] = [slices.least_ns, slices.longest_ns()].map(set_time);
    let [ramp, time] = [slices.usual.ramp_ns, slices.usual.time_ns].map(format_duration);
    let lengths = if least == most { most } else { format!("{least} to {most}") };
    format!(
        "slices of {lengths}; if these are too short on this machine, trials with a {ramp} ramp \
         and {time} of measurement"
    )
}

/// How arms alternate, and for how long; `None` for whole trials.
pub fn schedule(spec: &Draft) -> Option<Vec<String>> {
    let settled = spec.in_shortest_slices()?;
    let plan = iotax_experiment::plan::Plan::new(&settled);
    let (fewest, most) = (plan.least_blocks(), plan.max_blocks);
    let alternation = if spec.workload().parts().is_some() {
        "The arms alternate in parts of the recording, so that all of them see the same noise. All \
         arms replay the same part before the next one begins. There is no verdict before the \
         recording has been replayed to its end."
    } else {
        "The arms alternate in short slices, so that all of them see the same noise. Before the \
         measurement, a pilot run on each arm sets the slice length."
    };
    // A limit that the user set is shown with what stops the run.
    let limit = plan.max_time_ns.filter(|_| spec.stop.max_time_ns.is_none());
    let limit = limit.map_or_else(String::new, |ns| format!(", at most {}", span_of_ns(ns)));
    let most = grouped(most.into());
    let limits = format!("{fewest} to {most} {}{limit}.", blocks(plan.arms));
    let held = plan.hold_ns.map_or_else(String::new, |ns| {
        format!(", plus {} of continuous load on each arm", set_time(ns))
    });
    let shortest = format!(
        "A verdict takes at least {}: {} of the shortest slices{held}, not counting the time to \
         switch arms.",
        span_of_ns(plan.duration_ns().0),
        count(fewest, block(plan.arms)),
    );
    Some(vec![alternation.to_owned(), format!("{limits} {shortest}")])
}

/// The name for one slice of each arm.
pub const fn block(arms: usize) -> &'static str {
    if arms == 2 { "pair" } else { "block" }
}

fn blocks(arms: usize) -> String {
    if arms == 2 { "pairs of slices".to_owned() } else { format!("blocks of {arms} slices") }
}

/// Why trials are not slices; `None` for saved results.
pub fn why_whole(why: &WholeTrials) -> Option<String> {
    let why = match why {
        WholeTrials::SavedResults => return None,
        WholeTrials::OneArm => {
            return Some(
                "Trials run at full length, not in slices, because there is only one arm."
                    .to_owned(),
            );
        }
        WholeTrials::Nodes => {
            return Some(
                "Nodes alternate in whole trials, not in short slices: each node has its own \
                 noise, which does not cancel out."
                    .to_owned(),
            );
        }
        WholeTrials::FixedTrials => "the number of trials is fixed".to_owned(),
        WholeTrials::AtTheSameTime => "several arms are measured at the same time".to_owned(),
        WholeTrials::Drained => "--drain spends burst credits before each trial".to_owned(),
        WholeTrials::DrivenBy { arm, driver } => {
            let program = match driver {
                Driver::Native => "a program",
                Driver::Fio => "fio",
                Driver::Iperf3 => "iperf3",
            };
            format!("{program} drives arm {} and takes too long to start", printable(arm))
        }
        WholeTrials::HostCommands { arm } => {
            format!("commands run before each turn of arm {}", printable(arm))
        }
        WholeTrials::TimesAreSet { workload } => format!(
            "the trial length of {} is set (with --time or --ramp, or in a file)",
            printable(workload)
        ),
        WholeTrials::NotEven { job } => {
            format!("job {} starts late or can end early", printable(job))
        }
        WholeTrials::LatencyTarget { job } => {
            format!("job {} must first find the queue depth for its latency target", printable(job))
        }
        WholeTrials::TooFewForParts { parts, max_blocks } => format!(
            "the recording has {} parts, but --max-blocks allows only {} blocks",
            grouped((*parts).into()),
            grouped((*max_blocks).into())
        ),
        WholeTrials::TooFewBlocks { least, max_blocks } => {
            format!(
                "slices need at least {least} blocks, but --max-blocks allows only {max_blocks}"
            )
        }
        WholeTrials::SeveralRecordings => {
            "a recording is cut into parts only if it is the only workload".to_owned()
        }
        WholeTrials::Recording { workload, why } => {
            let workload = printable(workload);
            match why {
                Uncut::Short => format!("the recording {workload} is too short to be cut"),
                Uncut::Busy => format!(
                    "the recording {workload} cannot be cut: too many operations are in flight at \
                     any time, or it has too few reads and writes"
                ),
                Uncut::WriteBack => format!(
                    "in the recording {workload}, most writes are not synced: the kernel would \
                     write the data back during the other arm's turn"
                ),
            }
        }
        WholeTrials::TooShort { least_ns, time_ns } => format!(
            "a slice would have to last at least {} (eight cycles of the periodic load), but a \
             trial lasts only {}",
            set_time(*least_ns),
            set_time(*time_ns)
        ),
    };
    Some(format!("The arms alternate in whole trials, not in short slices: {why}."))
}

#[cfg(test)]
mod tests {
    use iotax_experiment::{Arm, Workload};

    use super::*;

    fn compared(arms: &[&str]) -> Draft {
        let arms = arms.iter().map(|text| Arm::parse(text).expect("an arm")).collect();
        let workload = Workload::preset("randread-4k").expect("a workload");
        let mut draft = Draft::compare(vec![workload], arms).expect("arms");
        assert_eq!(draft.alternate(), None);
        draft
    }

    #[test]
    fn slices_are_told_with_their_range_and_limits() {
        let two = compared(&["a=/a", "b=/b"]);
        insta::assert_snapshot!(range(two.workload().slices.expect("slices")), @"slices of 100 ms to 2.5 s; if these are too short on this machine, trials with a 2s ramp and 5s of measurement");
        insta::assert_snapshot!(schedule(&two).expect("slices").join("\n"), @"
        The arms alternate in short slices, so that all of them see the same noise. Before the measurement, a pilot run on each arm sets the slice length.
        20 to 5,120 pairs of slices, at most 10 min. A verdict takes at least 5 s: 20 pairs of the shortest slices, not counting the time to switch arms.
        ");
        let mut three = compared(&["a=/a", "b=/b", "c=/c"]);
        three.stop.max_time_ns = Some(95_000_000_000);
        insta::assert_snapshot!(schedule(&three).expect("slices").join("\n"), @"
        The arms alternate in short slices, so that all of them see the same noise. Before the measurement, a pilot run on each arm sets the slice length.
        20 to 5,120 blocks of 3 slices. A verdict takes at least 7 s: 20 blocks of the shortest slices, not counting the time to switch arms.
        ");
        let mut held = two.clone();
        held.hold_ns = Some(45_000_000_000);
        insta::assert_snapshot!(schedule(&held).expect("slices").join("\n"), @"
        The arms alternate in short slices, so that all of them see the same noise. Before the measurement, a pilot run on each arm sets the slice length.
        28 to 5,120 pairs of slices, at most 16 min. A verdict takes at least 97 s: 28 pairs of the shortest slices, plus 45 s of continuous load on each arm, not counting the time to switch arms.
        ");
        assert_eq!(
            schedule(&{
                let mut whole = two;
                whole.phases[0].slices = None;
                whole
            }),
            None
        );
    }

    #[test]
    fn each_reason_for_whole_trials_is_one_sentence() {
        let arm = || "b".to_owned();
        let all = [
            WholeTrials::OneArm,
            WholeTrials::Nodes,
            WholeTrials::FixedTrials,
            WholeTrials::AtTheSameTime,
            WholeTrials::Drained,
            WholeTrials::DrivenBy { arm: arm(), driver: Driver::Fio },
            WholeTrials::HostCommands { arm: arm() },
            WholeTrials::TimesAreSet { workload: "web".into() },
            WholeTrials::NotEven { job: "log".into() },
            WholeTrials::LatencyTarget { job: "io".into() },
            WholeTrials::TooFewForParts { parts: 50, max_blocks: 40 },
            WholeTrials::TooFewBlocks { least: 8, max_blocks: 6 },
            WholeTrials::SeveralRecordings,
            WholeTrials::Recording { workload: "app".into(), why: Uncut::Short },
            WholeTrials::Recording { workload: "app".into(), why: Uncut::Busy },
            WholeTrials::Recording { workload: "app".into(), why: Uncut::WriteBack },
            WholeTrials::TooShort { least_ns: 2_000_000_000, time_ns: 3_000_000_000 },
        ];
        let sentences: Vec<_> = all.iter().filter_map(why_whole).collect();
        insta::assert_snapshot!(sentences.join("\n"), @"
        Trials run at full length, not in slices, because there is only one arm.
        Nodes alternate in whole trials, not in short slices: each node has its own noise, which does not cancel out.
        The arms alternate in whole trials, not in short slices: the number of trials is fixed.
        The arms alternate in whole trials, not in short slices: several arms are measured at the same time.
        The arms alternate in whole trials, not in short slices: --drain spends burst credits before each trial.
        The arms alternate in whole trials, not in short slices: fio drives arm b and takes too long to start.
        The arms alternate in whole trials, not in short slices: commands run before each turn of arm b.
        The arms alternate in whole trials, not in short slices: the trial length of web is set (with --time or --ramp, or in a file).
        The arms alternate in whole trials, not in short slices: job log starts late or can end early.
        The arms alternate in whole trials, not in short slices: job io must first find the queue depth for its latency target.
        The arms alternate in whole trials, not in short slices: the recording has 50 parts, but --max-blocks allows only 40 blocks.
        The arms alternate in whole trials, not in short slices: slices need at least 8 blocks, but --max-blocks allows only 6.
        The arms alternate in whole trials, not in short slices: a recording is cut into parts only if it is the only workload.
        The arms alternate in whole trials, not in short slices: the recording app is too short to be cut.
        The arms alternate in whole trials, not in short slices: the recording app cannot be cut: too many operations are in flight at any time, or it has too few reads and writes.
        The arms alternate in whole trials, not in short slices: in the recording app, most writes are not synced: the kernel would write the data back during the other arm's turn.
        The arms alternate in whole trials, not in short slices: a slice would have to last at least 2 s (eight cycles of the periodic load), but a trial lasts only 3 s.
        ");
        assert_eq!(why_whole(&WholeTrials::SavedResults), None);
    }
}
