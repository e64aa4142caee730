//! What was not concluded.

use iotax_analyze::{Effect, Metric, NoAnswer, OpenQuestion, Outlook, Withheld};
use iotax_experiment::Subject;
use iotax_quantity::{capital, count, grouped, percent, span, whole};
use iotax_record::ExperimentHead;
use iotax_stats::tail::rule_of_three;
use iotax_stats::unpaired::MIN_RESULTS;

use crate::effect::EffectWords as _;
use crate::name;

/// Blocks before which nothing is concluded.
const FIRST_LOOK: usize = iotax_analyze::FIRST_LOOK;

/// An open question, as a sentence.
#[expect(clippy::too_many_lines, reason = "one sentence after the other")]
pub fn question(question: &OpenQuestion, experiment: &ExperimentHead) -> String {
    let text = match question {
        OpenQuestion::NoEnd => {
            "The record has no end: the program was killed or the machine went down, and the \
             trials up to then are all there is."
        }
        OpenQuestion::Cut { held, run } => {
            return format!(
                "The record holds {held} trials, and {run} were run: it was cut or edited since, \
                 and proves nothing."
            );
        }
        OpenQuestion::NoAnswer { metric, of, why } => {
            let subjects = name::subjects(of);
            let metric_name = capital(name::metric(*metric));
            let why = no_answer(*metric, of, why, experiment);
            return format!("{metric_name} of {subjects}: {why}");
        }
        OpenQuestion::Imprecise { metric, of, range, blocks } => {
            let price = match blocks {
                Some(blocks) => format!(
                    "the precision asked for takes about {} blocks at this noise",
                    grouped((*blocks).into())
                ),
                None => "this noise is too large for the precision asked for".to_owned(),
            };
            return format!(
                "The effect of {} is not known better than {}; {price}.",
                name::subject(of),
                self::range(*metric, *range)
            );
        }
        OpenQuestion::DependsOnOthers { layers } => {
            return format!(
                "What {} costs depends on which other layers are there, and this design cannot say \
                 on which: its tax is a range. Peel a stack of the suspected pair alone.",
                name::all(layers)
            );
        }
        OpenQuestion::NoDesign => {
            "The arms are neither all subsets of the layers nor a screening design, so no cost can \
             be attributed to a layer."
        }
        OpenQuestion::TooManyBlocks { blocks, last_look } => {
            return format!(
                "{blocks} blocks were run, and intervals are valid up to the last planned look, \
                 after {last_look}: later blocks are shown but not used for verdicts."
            );
        }
        OpenQuestion::CapNotTested { of } => {
            return format!(
                "Whether a cap (on IOPS or bandwidth) above all arms hides a tax of {} was not \
                 tested: equal throughput shows it only below the cap. CPU per I/O, or an offered \
                 rate below the throughput (--set rate=...), would.",
                name::subjects(of)
            );
        }
        OpenQuestion::CapBehindCpu { of, busy } => {
            return format!(
                "Equal throughput of {} says little: a CPU of this machine was the limit of {}, \
                 not the storage. Compare CPU per I/O, or offer a rate (--set rate=...).",
                name::subjects(of),
                name::all(busy)
            );
        }
        OpenQuestion::CapOneAtATime { of, arms } => {
            return format!(
                "Whether a cap hides a tax of {} could not be tested: another depth changed \
                 nothing for {}, whose I/Os are served one at a time.",
                name::subjects(of),
                name::all(arms)
            );
        }
        OpenQuestion::CapUnclear { of } => {
            return format!(
                "Whether a cap hides a tax of {} remains open: half and twice the depth showed \
                 neither a plateau nor the lack of one, being too noisy or stopped too early. \
                 Until then equal throughput may be the cap's.",
                name::subjects(of)
            );
        }
        OpenQuestion::Masked { of } => {
            return format!(
                "What {} costs was not measured: on a cap throughput cannot show it. CPU per I/O, \
                 one I/O at a time, or a rate below the cap can; --below-cap runs them.",
                name::subjects(of)
            );
        }
        OpenQuestion::MaskedResults { of } => {
            return format!(
                "Whether a cap (on IOPS or bandwidth, or the rate of the job) hides a difference \
                 of {} cannot be told from equal throughput.",
                name::subjects(of)
            );
        }
        OpenQuestion::NeverFell { arms, seconds } => {
            return format!(
                "Whether {} ran on burst credits is not known: in {} of draining its \
                 throughput did not fall. Either there are none, or they last longer \
                 (--drain=TIME).",
                name::all(arms),
                span(whole(*seconds))
            );
        }
        OpenQuestion::BurstAgain { arms } => {
            return format!(
                "{} ran on burst credits that came back after draining: what lasts is the rate \
                 after the fall.",
                name::all(arms)
            );
        }
        OpenQuestion::CpuByDesign { arms } => {
            return format!(
                "CPU-bound: {}. The tax there is CPU time; what a machine with faster CPUs would \
                 pay was not measured.",
                name::all(arms)
            );
        }
        OpenQuestion::CpuOfMachine => {
            "CPU time here is all that this machine used, since these layers work in kernel \
             threads and in other processes: what other programs used is in it, in all arms alike."
        }
        OpenQuestion::FromSubmission => {
            "Latencies count from submission in all arms, since fio, which drives some, knows of \
             no time at which an I/O was due: what I/Os waited before they were issued is not in \
             them. To have that counted, let iotax drive all arms (without --engine fio)."
        }
        OpenQuestion::TailsDescribed => {
            "Tails are described, not compared: in a closed loop a slower arm gets less load. For \
             a verdict on p99 offer all arms the same rate, 0.7 times the throughput of the \
             slowest (--set rate=...)."
        }
        OpenQuestion::TailsOfResults { is_at_a_rate: true } => {
            "Latencies of fio and DiskSpd begin when an I/O is submitted, not when the rate asked \
             for it: what waited for a free place in the queue looks faster than it was."
        }
        OpenQuestion::TailsOfResults { is_at_a_rate: false } => {
            "Tails are described, not compared: a slower arm got less load. For a verdict on p99 \
             run all arms at one rate, 0.7 times the throughput of the slowest."
        }
        OpenQuestion::NoStall { trials } => {
            return format!(
                "No stall (a second below half of its trial's mean) was seen in {} per arm: at 95 \
                 % certainty at most {} of trials have one.",
                count(*trials, "trial"),
                percent(rule_of_three(*trials as usize))
            );
        }
        OpenQuestion::NoPercentiles { arms } => {
            return format!(
                "Percentiles of latency are not in all results of {}, at least not for reads and \
                 writes together; fio gives them with --output-format=json+, DiskSpd with -L.",
                name::all(arms)
            );
        }
        OpenQuestion::NotChecked { are_ours: true } => {
            "Not checked again: what iotax has checked while it measured. The report of each \
             result has its warnings."
        }
        OpenQuestion::NotChecked { are_ours: false } if experiment.spec.workload().is_network() => {
            "Not checked, because such results do not tell: whether CPUs were busy with others or \
             stolen, whether the path was the same, and whether a burst ended on the way."
        }
        OpenQuestion::NotChecked { are_ours: false } => {
            "Not checked, because such results do not tell: whether a cache answered, what the \
             load generator cost, whether CPUs were busy or stolen, whether the storage was the \
             same, and whether a burst ended on the way."
        }
    };
    text.to_owned()
}

/// Why comparisons have no verdict.
fn no_answer(
    metric: Metric,
    of: &[Subject],
    why: &NoAnswer,
    experiment: &ExperimentHead,
) -> String {
    let text = match why {
        NoAnswer::Overloaded => {
            "overloaded; the offered rate was not reached, so there is no response time to compare."
        }
        NoAnswer::NotIndependent => {
            "not independent; successive blocks depend on each other, so the interval is too \
             narrow to rest a verdict on."
        }
        NoAnswer::TailSamples { needed } => {
            let spec = &experiment.spec;
            let samples = name::samples(metric, spec.workload());
            let each = if spec.is_of_results() { "run" } else { "trial" };
            return format!(
                "insufficient tail samples; a p99 needs {needed} {samples} per {each}."
            );
        }
        NoAnswer::Silent { blocks } => {
            return format!(
                "no information; neither completed anything within its window in {}. A longer \
                 window (--time) may show how slow they are.",
                count(*blocks, "block")
            );
        }
        NoAnswer::Lost => {
            "undecided; some trials gave nothing, and counted as trials that did nothing they \
             would turn the verdict around, or they are too many. Find out why they failed, and \
             measure again."
        }
        NoAnswer::OnlySigns { more } => {
            let price = more.map_or_else(String::new, |more| {
                format!("; {} would decide", count(more, "more such block"))
            });
            return format!(
                "undecided; some trials completed nothing, so only signs count{price}."
            );
        }
        NoAnswer::Changed { in_depth_check: true } => {
            "effect changed; the depth check that followed shows another one at the same depth. \
             --drain measures what lasts."
        }
        NoAnswer::Changed { in_depth_check: false } => {
            "effect changed; the blocks are of two kinds, and those since are too few for a \
             verdict of their own."
        }
        NoAnswer::BeforeFirstLook { complete } => {
            return format!(
                "undecided after {}; the first look needs {FIRST_LOOK}, and each order of the arms \
                 twice.",
                count(*complete, "complete block")
            );
        }
        NoAnswer::Noise { blocks, outlook } => {
            let price = outlook.as_ref().map(|of| format!("; {}", in_view(of)));
            let blocks = count(*blocks, "block");
            return format!("undecided after {blocks}{}.", price.unwrap_or_default());
        }
        NoAnswer::FewResults { base, results: [of_base, of_arm] } => {
            return format!(
                "{} of {base} and {of_arm} of {} give no interval; it takes {MIN_RESULTS} of each \
                 at least, and 5 for a narrow one.",
                count(*of_base, "result"),
                name::subjects(of)
            );
        }
        NoAnswer::WideResults { results: [base, with], range, withheld } => {
            let why = withheld.map(|why| format!(" ({})", why_withheld(why)));
            return format!(
                "undecided{}; from {base} and {with} results all that is known of the effect is \
                 {}. More results of each narrow it.",
                why.unwrap_or_default(),
                self::range(metric, *range)
            );
        }
    };
    text.to_owned()
}

/// What is known of a tax beside any estimate: `10 to 14 % slower`, `2.1 to 4.5x slower`.
fn range(metric: Metric, [lo, hi]: [f64; 2]) -> String {
    Effect { on: metric.on(), tax: None, ends: Some([lo, hi]) }.in_words()
}

// What a verdict would take.

/// `at this noise a verdict takes about 40 to 60 blocks`, or why it was withheld.
fn in_view(outlook: &Outlook) -> String {
    match outlook {
        Outlook::Blocks(blocks) => {
            let blocks = span_of(blocks.map(|blocks| grouped(blocks.into())));
            format!("at this noise a verdict takes about {blocks} blocks")
        }
        Outlook::OutOfReach => {
            "at this noise a verdict would take more than ten times as many blocks".to_owned()
        }
        Outlook::Withheld(why) => why_withheld(*why).to_owned(),
    }
}

/// `5 %`, `5 % to 7 %`
pub(crate) fn span_of([least, most]: [String; 2]) -> String {
    if least == most { most } else { format!("{least} to {most}") }
}

pub(crate) const fn why_withheld(why: Withheld) -> &'static str {
    match why {
        Withheld::AfterHolm => {
            "it holds alone, but not after Holm's correction for all comparisons"
        }
        Withheld::IfDependent => "it would not hold if successive blocks depended on each other",
        Withheld::OrderMatters => {
            "it matters which trial comes first in a block, and these blocks are too few to take \
             that out"
        }
        Withheld::NotKept => {
            "it is about short slices, and an arm does not keep up what they show when it is held \
             under load"
        }
        Withheld::OtherEngines => {
            "libaio drove one of them, for a sandbox forbade io_uring there: measure both with \
             engine=libaio"
        }
    }
}
