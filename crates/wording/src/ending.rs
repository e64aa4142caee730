//! Why a run ended.

use iotax_analyze::{Analysis, RuleOpen, is_within_reach};
use iotax_experiment::{Design, Spec, Stop, StopMode};
use iotax_quantity::{count, exact, grouped};
use iotax_record::{Besides, EndReason};

use crate::rule;

/// Why it ended, with the reasons of all phases if they differ; without a full stop.
pub fn ending(spec: &Spec, analysis: &Analysis) -> String {
    let reasons = &analysis.ending.reasons;
    if reasons.is_empty() {
        return "the record was cut off: the program was killed or the machine went down"
            .to_owned();
    }
    let each: Vec<_> = reasons.iter().map(|of| reason(of, spec, analysis)).collect();
    each.join("; ")
}

fn reason(of: &EndReason, spec: &Spec, analysis: &Analysis) -> String {
    let (what, most) = (compared(spec), spec.stop.max_blocks);
    match of {
        EndReason::AllRun => all_run(spec),
        EndReason::Resolved { besides: None } => resolved(what, &spec.stop),
        EndReason::Resolved { besides: Some(Besides::Overloaded) } => {
            format!("every {what} either has a verdict or did not keep up with the offered rate")
        }
        EndReason::Resolved { besides: Some(Besides::Silent) } => {
            format!("every {what} either has a verdict or, like its baseline, completed nothing")
        }
        EndReason::Resolved { besides: Some(Besides::Changed) } => {
            format!("every {what} has a verdict, except where the effect changed during the run")
        }
        EndReason::Resolved { besides: Some(Besides::InMostSlices) } => {
            format!("every {what} has a verdict, at least for most slices")
        }
        EndReason::NoneKeepsUp => format!("no {what} kept up with the offered rate"),
        EndReason::NoneCompletes => "no arm completed an operation in any trial".to_owned(),
        EndReason::AllChanged => {
            format!("the effect of every {what} changed, and too few blocks remained for a verdict")
        }
        EndReason::NotKeptUp => {
            "an arm did not sustain the throughput of its short slices under continuous load"
                .to_owned()
        }
        EndReason::OutOfReach { futile, needed } => {
            let which = futile.map_or_else(
                || format!("no verdict is possible on any {what}"),
                |futile| format!("no verdict is possible on {}", count(futile, what)),
            );
            let is_shown = |needed: &u32| is_within_reach(*needed, analysis.ending.blocks);
            match needed {
                None => format!("{which}: {NEVER}"),
                Some(needed) if is_shown(needed) => format!("{which}: {}", price(*needed, most)),
                Some(_) => format!("{which} at this noise level"),
            }
        }
        EndReason::LastLook { blocks } => {
            format!("the last planned analysis was done after {blocks} blocks")
        }
        EndReason::NoNodeStandsOut { rounds } => {
            format!("no node stands out after {rounds} rounds")
        }
        EndReason::RulesDecided => "every rule has a verdict".to_owned(),
        EndReason::RulesOutOfReach { needed } => {
            // Each rule gives the number that would decide it.
            let more = || format!("at this noise level, they would need more than {most} blocks");
            let why = needed.map_or_else(|| open_rule(analysis), |_| Some(more()));
            let why = why.map_or_else(String::new, |why| format!(": {why}"));
            format!("the remaining rules cannot be decided{why}")
        }
        EndReason::ArmSilent { arm, trials } => {
            format!("arm {arm} completed nothing in {trials} trials in a row")
        }
        EndReason::ArmFailed { arm, times } => format!("arm {arm} failed {times} times in a row"),
        EndReason::DepthsClear => "the effect of the queue depth on each arm is clear".to_owned(),
        EndReason::TimeUp => "the time limit was reached".to_owned(),
        EndReason::Interrupted => "interrupted".to_owned(),
        EndReason::SpanWritten => {
            "the test area was written; there are no rounds, because the workload only reads"
                .to_owned()
        }
        EndReason::Steady { rounds } => format!("all arms were steady after {rounds} rounds"),
        EndReason::NotSteady { rounds } => {
            format!("not all arms were steady after {rounds} rounds")
        }
        EndReason::Drained => {
            "every arm was loaded until its throughput fell or its time ran out".to_owned()
        }
        EndReason::SearchDecided => "every question is answered".to_owned(),
        EndReason::ResultsRead { results } => {
            format!("nothing was run; all {results} results were read")
        }
        EndReason::SearchFailed(text) | EndReason::Said(text) => text.clone(),
    }
}

const NEVER: &str = "at this noise level, no number of blocks would be enough";

fn price(needed: u32, most: u32) -> String {
    let (needed, most) = (grouped(needed.into()), grouped(most.into()));
    format!("at this noise level, a verdict would take about {needed} blocks (limit: {most})")
}

/// What gets verdicts.
fn compared(spec: &Spec) -> &'static str {
    match spec.design {
        _ if spec.matrix().is_some() => "effect",
        Design::Single | Design::Compare => "arm",
        Design::Fleet => "node",
        Design::Peel { .. } => "layer",
    }
}

/// The precision of the default mode: `within 5 points or a third of the effect, whichever is larger`
pub fn default_precision(margin: f64) -> String {
    let points = exact(100.0 * margin);
    let points = if points == "1" {
        "1 percentage point".to_owned()
    } else {
        format!("{points} percentage points")
    };
    format!("within {points} or a third of the effect, whichever is larger")
}

fn all_run(spec: &Spec) -> String {
    let most = spec.stop.max_blocks;
    if iotax_analyze::is_population(spec) {
        return format!("all {most} rounds were run");
    }
    match spec.design {
        Design::Single if most == 1 => "the only trial was run".to_owned(),
        Design::Single => format!("all {most} trials were run"),
        _ if most == 1 => "the only block was run".to_owned(),
        _ if spec.stop.min_blocks >= most => format!("all {most} blocks were run"),
        Design::Compare | Design::Fleet | Design::Peel { .. } => {
            format!("the limit of {most} blocks was reached")
        }
    }
}

fn resolved(what: &str, stop: &Stop) -> String {
    match stop.mode {
        StopMode::Quick => format!("every {what} has a verdict"),
        StopMode::Default => {
            let precision = default_precision(stop.margin);
            format!("every {what} has a verdict, and every difference is known to {precision}")
        }
        StopMode::Tight => {
            "every difference is known to within 1 percentage point or a tenth of the \
             effect, whichever is larger"
                .to_owned()
        }
    }
}

/// Why the first undecided rule was not decided. `None` if there is none: it belongs to another
/// phase.
fn open_rule(analysis: &Analysis) -> Option<String> {
    let mut rules = analysis.rules.iter().chain(&analysis.requirements);
    let left = rules.find(|judgment| {
        // These reasons concern the record; they did not stop the run.
        let is_of_record = matches!(
            judgment.open,
            Some(
                RuleOpen::NoEnd
                    | RuleOpen::Cut { .. }
                    | RuleOpen::Interrupted
                    | RuleOpen::JobsUnmatched(_)
            )
        );
        judgment.is_undecided() && !is_of_record
    })?;
    Some(rule::why(left).unwrap_or_else(|| NEVER.to_owned()))
}

#[cfg(test)]
mod tests {
    use iotax_analyze::Phases;
    use iotax_experiment::{Arm, Workload};
    use iotax_record::{End, ExperimentHead, FORMAT};

    use super::*;

    fn said(spec: &Spec, reasons: &[EndReason]) -> String {
        let experiment = ExperimentHead {
            format: FORMAT,
            id: None,
            iotax_version: String::new(),
            started: String::new(),
            command: Vec::new(),
            spec: spec.clone(),
            hosts: Vec::new(),
            sites: Vec::new(),
            cloud: iotax_experiment::CloudChoice::default(),
        };
        let end = End {
            reasons: reasons.to_vec(),
            wall_ns: 0,
            interrupted: false,
            gave_up: false,
            trials: None,
            other_programs: None,
        };
        let (_, analysis) = Phases::new(&experiment).finish(Some(&end)).remove(0);
        ending(spec, &analysis)
    }

    fn compare() -> Spec {
        let arms = ["a=/a", "b=/b"].map(|text| Arm::parse(text).unwrap()).to_vec();
        let workload = Workload::preset("randread-4k").unwrap();
        Spec::compare(workload, arms, Stop::default(), 7).unwrap()
    }

    #[test]
    fn what_is_compared_and_how_precisely_is_told_with_the_reason() {
        let mut spec = compare();
        spec = spec.with(|spec| (spec.stop.min_blocks, spec.stop.max_blocks) = (4, 40));
        let besides =
            [Besides::Overloaded, Besides::Silent, Besides::Changed, Besides::InMostSlices];
        let besides = [None].into_iter().chain(besides.map(Some));
        let resolved: Vec<EndReason> =
            besides.map(|besides| EndReason::Resolved { besides }).collect();
        let out_of_reach = [(None, None), (Some(2), Some(96))];
        let out_of_reach =
            out_of_reach.map(|(futile, needed)| EndReason::OutOfReach { futile, needed });
        let others = [
            EndReason::AllRun,
            EndReason::LastLook { blocks: 40 },
            EndReason::RulesOutOfReach { needed: Some(6846) },
            EndReason::RulesOutOfReach { needed: None },
            EndReason::AllChanged,
        ];
        let all = resolved.iter().chain(&out_of_reach).chain(&others);
        let all: Vec<_> = all.map(|of| said(&spec, std::slice::from_ref(of))).collect();
        insta::assert_snapshot!(all.join("\n"), @"
        every arm has a verdict, and every difference is known to within 5 percentage points or a third of the effect, whichever is larger
        every arm either has a verdict or did not keep up with the offered rate
        every arm either has a verdict or, like its baseline, completed nothing
        every arm has a verdict, except where the effect changed during the run
        every arm has a verdict, at least for most slices
        no verdict is possible on any arm: at this noise level, no number of blocks would be enough
        no verdict is possible on 2 arms at this noise level
        the limit of 40 blocks was reached
        the last planned analysis was done after 40 blocks
        the remaining rules cannot be decided: at this noise level, they would need more than 40 blocks
        the remaining rules cannot be decided
        the effect of every arm changed, and too few blocks remained for a verdict
        ");
    }

    #[test]
    fn how_much_was_run_is_told_in_what_the_design_counts() {
        let all_run = |spec: &Spec, min_blocks, max_blocks| {
            let spec = spec.with(|spec| {
                (spec.stop.min_blocks, spec.stop.max_blocks) = (min_blocks, max_blocks);
            });
            said(&spec, &[EndReason::AllRun])
        };
        let single = compare().with(|spec| spec.design = Design::Single);
        assert_eq!(all_run(&compare(), 6, 6), "all 6 blocks were run");
        assert_eq!(all_run(&compare(), 1, 1), "the only block was run");
        assert_eq!(all_run(&compare(), 4, 6), "the limit of 6 blocks was reached");
        assert_eq!(all_run(&single, 1, 1), "the only trial was run");
        assert_eq!(all_run(&single, 2, 2), "all 2 trials were run");
    }

    #[test]
    fn phases_that_ended_for_reasons_of_their_own_have_both_told() {
        let reasons = [EndReason::Resolved { besides: None }, EndReason::NoneKeepsUp];
        let mut spec = compare();
        spec = spec.with(|spec| spec.stop.mode = StopMode::Quick);
        let both = "every arm has a verdict; no arm kept up with the offered rate";
        assert_eq!(said(&spec, &reasons), both);
        let cut = "the record was cut off: the program was killed or the machine went down";
        assert_eq!(said(&spec, &[]), cut);
    }
}
