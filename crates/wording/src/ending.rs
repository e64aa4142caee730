//! Why a run ended.

use iotax_analyze::{Analysis, RuleOpen, is_within_reach};
use iotax_experiment::{Design, Spec, Stop, StopMode};
use iotax_quantity::{exact, grouped};
use iotax_record::{Besides, EndReason};

use crate::rule;

/// Why it ended, of phases that ended for reasons of their own each; without a full stop.
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
            format!("every {what} has a verdict, or does not keep up with the offered rate")
        }
        EndReason::Resolved { besides: Some(Besides::Silent) } => {
            format!("every {what} has a verdict, or completes nothing, as its baseline")
        }
        EndReason::Resolved { besides: Some(Besides::Changed) } => {
            format!("every {what} has a verdict, or an effect that changed during the run")
        }
        EndReason::Resolved { besides: Some(Besides::InMostSlices) } => {
            format!("every {what} has a verdict, in most slices if not in all")
        }
        EndReason::NoneKeepsUp => format!("no {what} keeps up with the offered rate"),
        EndReason::NoneCompletes => "no arm completes anything within its window".to_owned(),
        EndReason::AllChanged => format!(
            "the effect of every {what} changed, and a verdict on the blocks since is out of reach"
        ),
        EndReason::NotKeptUp => {
            "an arm does not keep up the throughput of its short slices when it is held under load"
                .to_owned()
        }
        EndReason::OutOfReach { futile, needed } => {
            let rest = futile.map_or_else(String::new, |futile| format!(" for {futile} of them"));
            let is_told = |needed: &u32| is_within_reach(*needed, analysis.ending.blocks);
            let price = match needed {
                None => format!(": {NEVER}"),
                Some(needed) if is_told(needed) => format!(": {}", price(*needed, most)),
                Some(_) => " at this noise".to_owned(),
            };
            format!("a verdict on every {what} is out of reach{rest}{price}")
        }
        EndReason::LastLook { blocks } => {
            format!("the last planned look at the data, after {blocks} blocks, was taken")
        }
        EndReason::NoNodeStandsOut { rounds } => {
            format!("no node stands out after {rounds} rounds")
        }
        EndReason::RulesDecided => "every rule is broken or kept".to_owned(),
        EndReason::RulesOutOfReach { needed } => {
            // Each rule tells how many would decide it.
            let more = || format!("at this noise it takes more than {most} blocks");
            let why = needed.map_or_else(|| open_rule(analysis), |_| Some(more()));
            let why = why.map_or_else(String::new, |why| format!(": {why}"));
            format!("what is left of the rules is out of reach{why}")
        }
        EndReason::ArmSilent { arm, trials } => {
            format!("arm {arm} completed nothing in {trials} trials in a row")
        }
        EndReason::ArmFailed { arm, times } => format!("arm {arm} failed {times} times in a row"),
        EndReason::DepthsClear => "how each arm answers to its depth is clear".to_owned(),
        EndReason::TimeUp => "the time was up".to_owned(),
        EndReason::Interrupted => "interrupted".to_owned(),
        EndReason::SpanWritten => "the span was written; the workload only reads".to_owned(),
        EndReason::Steady { rounds } => format!("all arms were steady after {rounds} rounds"),
        EndReason::NotSteady { rounds } => {
            format!("not all arms were steady after {rounds} rounds")
        }
        EndReason::Drained => {
            "every arm was loaded until its throughput fell, or its time was over".to_owned()
        }
        EndReason::SearchDecided => "all that was asked is decided".to_owned(),
        EndReason::ResultsRead { results } => {
            format!("nothing was run: all {results} results given were read")
        }
        EndReason::SearchFailed(text) | EndReason::Said(text) => text.clone(),
    }
}

const NEVER: &str = "at this noise no number of blocks would do";

fn price(needed: u32, most: u32) -> String {
    let (needed, most) = (grouped(needed.into()), grouped(most.into()));
    format!("at this noise it takes about {needed} blocks, of at most {most}")
}

/// What is concluded on.
fn compared(spec: &Spec) -> &'static str {
    match spec.design {
        _ if spec.matrix().is_some() => "effect",
        Design::Single | Design::Compare => "arm",
        Design::Fleet => "node",
        Design::Peel { .. } => "layer",
    }
}

/// How precise the default mode has a verdict: `within 5 points or a third of the effect`
pub fn default_precision(margin: f64) -> String {
    let points = exact(100.0 * margin);
    let points = if points == "1" { "1 point".to_owned() } else { format!("{points} points") };
    format!("within {points} or a third of the effect")
}

fn all_run(spec: &Spec) -> String {
    let most = spec.stop.max_blocks;
    if iotax_analyze::is_population(spec) {
        return format!("all {most} rounds were run");
    }
    match spec.design {
        Design::Single if most == 1 => "its one trial was run".to_owned(),
        Design::Single => format!("all {most} trials were run"),
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
            format!("every {what} has a verdict, known to {}", default_precision(stop.margin))
        }
        StopMode::Tight => {
            format!("the size for every {what} is known to within 1 point or a tenth of the effect")
        }
    }
}

/// Why the first rule that was left when the run stopped was not decided. `None` if there is none: it
/// is another phase's.
fn open_rule(analysis: &Analysis) -> Option<String> {
    let mut rules = analysis.rules.iter().chain(&analysis.requirements);
    let left = rules.find(|judgment| {
        // What is found in the record alone did not stop the run.
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
        every arm has a verdict, known to within 5 points or a third of the effect
        every arm has a verdict, or does not keep up with the offered rate
        every arm has a verdict, or completes nothing, as its baseline
        every arm has a verdict, or an effect that changed during the run
        every arm has a verdict, in most slices if not in all
        a verdict on every arm is out of reach: at this noise no number of blocks would do
        a verdict on every arm is out of reach for 2 of them at this noise
        the limit of 40 blocks was reached
        the last planned look at the data, after 40 blocks, was taken
        what is left of the rules is out of reach: at this noise it takes more than 40 blocks
        what is left of the rules is out of reach
        the effect of every arm changed, and a verdict on the blocks since is out of reach
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
        assert_eq!(all_run(&compare(), 4, 6), "the limit of 6 blocks was reached");
        assert_eq!(all_run(&single, 1, 1), "its one trial was run");
        assert_eq!(all_run(&single, 2, 2), "all 2 trials were run");
    }

    #[test]
    fn phases_that_ended_for_reasons_of_their_own_have_both_told() {
        let reasons = [EndReason::Resolved { besides: None }, EndReason::NoneKeepsUp];
        let mut spec = compare();
        spec = spec.with(|spec| spec.stop.mode = StopMode::Quick);
        let both = "every arm has a verdict; no arm keeps up with the offered rate";
        assert_eq!(said(&spec, &reasons), both);
        let cut = "the record was cut off: the program was killed or the machine went down";
        assert_eq!(said(&spec, &[]), cut);
    }
}
