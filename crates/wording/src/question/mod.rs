//! Open questions: what the data did not decide.

use iotax_analyze::{Effect, Metric, NoAnswer, OpenQuestion, Outlook, Withheld};
use iotax_experiment::Subject;
use iotax_quantity::{capital, count, grouped, percent, span, whole};
use iotax_record::ExperimentHead;
use iotax_stats::tail::rule_of_three;
use iotax_stats::unpaired::MIN_RESULTS;

use crate::effect::EffectWords as _;
use crate::name;

/// Number of blocks before the first look at the data.
const FIRST_LOOK: usize = iotax_analyze::FIRST_LOOK;

/// An open question, as a sentence.
#[expect(clippy::too_many_lines, reason = "one sentence after the other")]
pub fn question(question: &OpenQuestion, experiment: &ExperimentHead) -> String {
    let text = match question {
        OpenQuestion::NoEnd => {
            "The record has no end: iotax was killed, or the machine went down. It contains only \
             the trials until then."
        }
        OpenQuestion::Cut { held, run } => {
            return format!(
                "The record contains {held} trials, but {run} were run. It was cut or edited \
                 afterwards, and proves nothing."
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
                    "at this noise, the requested precision takes about {} blocks",
                    grouped((*blocks).into())
                ),
                None => "this noise is too large for the requested precision".to_owned(),
            };
            return format!(
                "The known range of the effect of {} is {}; {price}.",
                name::subject(of),
                self::range(*metric, *range)
            );
        }
        OpenQuestion::DependsOnOthers { layers } => {
            return format!(
                "The cost of {} depends on other layers, and this design cannot show on which \
                 ones. The tax is therefore a range. Peel a stack of only the suspected pair.",
                name::all(layers)
            );
        }
        OpenQuestion::NoDesign => {
            "The arms are neither all subsets of the layers nor a screening design, so no cost can \
             be attributed to a layer."
        }
        OpenQuestion::TooManyBlocks { blocks, last_look } => {
            return format!(
                "{blocks} blocks were run, but intervals are only valid up to the last planned \
                 look, after {last_look}. Later blocks are shown, but not used for verdicts."
            );
        }
        OpenQuestion::CapNotTested { of } => {
            return format!(
                "iotax did not test whether a cap (on IOPS or bandwidth) above all arms hides a \
                 tax of {}. At a cap, equal throughput proves nothing. Compare CPU per I/O, or \
                 offer a rate below the throughput (--set rate=...).",
                name::subjects(of)
            );
        }
        OpenQuestion::CapBehindCpu { of, busy } => {
            return format!(
                "Equal throughput of {} says little: a CPU of this machine, not the storage, \
                 limited {}. Compare CPU per I/O, or offer a rate (--set rate=...).",
                name::subjects(of),
                name::all(busy)
            );
        }
        OpenQuestion::CapOneAtATime { of, arms } => {
            return format!(
                "iotax could not test whether a cap hides a tax of {}: another depth changed \
                 nothing for {}, whose I/Os are served one at a time.",
                name::subjects(of),
                name::all(arms)
            );
        }
        OpenQuestion::CapUnclear { of } => {
            return format!(
                "It is not clear whether a cap hides a tax of {}. Runs at half and twice the depth \
                 were too noisy, or stopped too early, to show whether there is a plateau. A cap \
                 may be the reason for equal throughput.",
                name::subjects(of)
            );
        }
        OpenQuestion::Masked { of } => {
            return format!(
                "The cost of {} was not measured, because throughput cannot show it at a cap. CPU \
                 per I/O shows it, and so does one I/O at a time or a rate below the cap \
                 (--below-cap).",
                name::subjects(of)
            );
        }
        OpenQuestion::MaskedResults { of } => {
            return format!(
                "Equal throughput does not show whether a cap (on IOPS or bandwidth, or the rate \
                 of the job) hides a difference of {}.",
                name::subjects(of)
            );
        }
        OpenQuestion::NeverFell { arms, seconds } => {
            return format!(
                "It is not known whether {} ran on burst credits: throughput did not fall during \
                 {} of draining. Either there are none, or they last longer (--drain=TIME).",
                name::all(arms),
                span(whole(*seconds))
            );
        }
        OpenQuestion::BurstAgain { arms } => {
            return format!(
                "{} ran on burst credits that came back after draining. The sustained rate is the \
                 one after the fall.",
                name::all(arms)
            );
        }
        OpenQuestion::CpuByDesign { arms } => {
            return format!(
                "CPU-bound: {}. The tax there is CPU time; the tax on a machine with faster CPUs \
                 was not measured.",
                name::all(arms)
            );
        }
        OpenQuestion::CpuOfMachine => {
            "CPU time is that of the whole machine, because these layers work in kernel threads \
             and in other processes. It includes other programs, in all arms alike."
        }
        OpenQuestion::FromSubmission => {
            "Latencies count from submission in all arms, because fio drives some arms and does \
             not know when an I/O was due. They do not include the wait before submission. To \
             include it, let iotax drive all arms (without --engine fio)."
        }
        OpenQuestion::TailsDescribed => {
            "Tails were not compared: in a closed loop, a slower arm gets less load. For a verdict \
             on p99, offer all arms the same rate, 0.7 times the throughput of the slowest (--set \
             rate=...)."
        }
        OpenQuestion::TailsOfResults { is_at_a_rate: true } => {
            "fio and DiskSpd count latency from submission, not from when an I/O was due at the \
             rate. I/Os that waited for a free place in the queue look faster than they were."
        }
        OpenQuestion::TailsOfResults { is_at_a_rate: false } => {
            "Tails were not compared: a slower arm got less load. For a verdict on p99, run all \
             arms at the same rate, 0.7 times the throughput of the slowest."
        }
        OpenQuestion::NoStall { trials } => {
            return format!(
                "No stall (a second below half of its trial's mean) was seen in {} per arm: with \
                 95 % confidence, at most {} of trials have one.",
                count(*trials, "trial"),
                percent(rule_of_three(*trials as usize))
            );
        }
        OpenQuestion::NoPercentiles { arms } => {
            return format!(
                "Some results of {} have no latency percentiles, or none for reads and writes \
                 together. fio writes them with --output-format=json+, DiskSpd with -L.",
                name::all(arms)
            );
        }
        OpenQuestion::NotChecked { are_ours: true } => {
            "iotax did not repeat the checks of the original runs. The report of each result has \
             its warnings."
        }
        OpenQuestion::NotChecked { are_ours: false } if experiment.spec.workload().is_network() => {
            "Not checked, because such results do not show it: whether CPUs were busy with other \
             work or stolen, whether the path was the same, and whether a burst ended during the \
             run."
        }
        OpenQuestion::NotChecked { are_ours: false } => {
            "Not checked, because such results do not show it: whether a cache answered, how much \
             CPU the load generator used, whether CPUs were busy or stolen, whether the storage \
             was the same, and whether a burst ended during the run."
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
             narrow for a verdict."
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
                "no information; neither completed anything in its window, in {}. A longer window \
                 (--time) may show how slow they are.",
                count(*blocks, "block")
            );
        }
        NoAnswer::Lost => {
            "undecided; too many trials failed, or the verdict would change if they counted as \
             trials that completed nothing. Find out why they failed, and measure again."
        }
        NoAnswer::OnlySigns { more } => {
            let price = more.map_or_else(String::new, |more| {
                format!("; {} would decide", count(more, "more such block"))
            });
            return format!(
                "undecided; some trials completed nothing, so only the sign of each difference \
                 counts{price}."
            );
        }
        NoAnswer::Changed { in_depth_check: true } => {
            "effect changed; the depth check that followed shows a different effect at the same \
             depth. --drain measures the sustained effect."
        }
        NoAnswer::Changed { in_depth_check: false } => {
            "effect changed; the blocks after the change are too few for a verdict."
        }
        NoAnswer::BeforeFirstLook { complete } => {
            return format!(
                "undecided after {}; the first look needs {FIRST_LOOK}, with each order of the \
                 arms twice.",
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
                "{} of {base} and {of_arm} of {} give no interval; this takes at least \
                 {MIN_RESULTS} of each, and 5 for a narrow interval.",
                count(*of_base, "result"),
                name::subjects(of)
            );
        }
        NoAnswer::WideResults { results: [base, with], range, withheld } => {
            let why = withheld.map(|why| format!(" ({})", why_withheld(why)));
            return format!(
                "undecided{}; with {base} and {with} results, the known range of the effect is {}. \
                 More results of each narrow it.",
                why.unwrap_or_default(),
                self::range(metric, *range)
            );
        }
    };
    text.to_owned()
}

/// The range of a tax without an estimate: `10 to 14 % slower`, `2.1 to 4.5x slower`.
fn range(metric: Metric, [lo, hi]: [f64; 2]) -> String {
    Effect { on: metric.on(), tax: None, ends: Some([lo, hi]) }.in_words()
}

// How many blocks a verdict would take.

/// `at this noise, a verdict takes about 40 to 60 blocks`, or why it was withheld.
fn in_view(outlook: &Outlook) -> String {
    match outlook {
        Outlook::Blocks(blocks) => {
            let blocks = span_of(blocks.map(|blocks| grouped(blocks.into())));
            format!("at this noise, a verdict takes about {blocks} blocks")
        }
        Outlook::OutOfReach => {
            "at this noise, a verdict would take more than ten times as many blocks".to_owned()
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
            "the verdict holds alone, but not after Holm's correction for all comparisons"
        }
        Withheld::IfDependent => {
            "the verdict would not hold if successive blocks depended on each other"
        }
        Withheld::OrderMatters => {
            "the order of the trials in a block matters, and there are too few blocks to remove \
             its effect"
        }
        Withheld::NotKept => {
            "slices are short, and an arm does not sustain their rate under continuous load"
        }
        Withheld::OtherEngines => {
            "libaio drove one of them, because a sandbox blocked io_uring there: measure both with \
             engine=libaio"
        }
    }
}
