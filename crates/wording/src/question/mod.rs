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
            "The record is incomplete: iotax was killed, or the machine went down. The record \
             contains only the trials up to that point."
        }
        OpenQuestion::Cut { held, run } => {
            return format!(
                "The record contains {held} trials, but {run} were run. The record was cut or \
                 edited afterwards, so it proves nothing."
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
                    "at this noise level, the requested precision would take about {} blocks",
                    grouped((*blocks).into())
                ),
                None => "the noise is too large for the requested precision".to_owned(),
            };
            return format!(
                "The effect of {} is known only as a range, {}; {price}.",
                name::subject(of),
                self::range(*metric, *range)
            );
        }
        OpenQuestion::DependsOnOthers { layers } => {
            return format!(
                "The cost of {} depends on other layers, but this design cannot show which ones. \
                 The tax is therefore a range. To find out, peel a stack that contains only the \
                 suspected pair.",
                name::all(layers)
            );
        }
        OpenQuestion::NoDesign => {
            "The arms form neither a complete set of layer subsets nor a screening design, so \
             iotax cannot attribute a cost to any layer."
        }
        OpenQuestion::TooManyBlocks { blocks, last_look } => {
            return format!(
                "{blocks} blocks were run, but intervals are valid only up to the last planned \
                 analysis, after block {last_look}. Later blocks are shown, but they are not used \
                 for verdicts."
            );
        }
        OpenQuestion::CapNotTested { of } => {
            return format!(
                "iotax did not test whether an IOPS or bandwidth cap that all arms share hides the \
                 tax of {}. At a cap, equal throughput proves nothing. Compare CPU per I/O, or \
                 set a rate below the throughput (--set rate=...).",
                name::subjects(of)
            );
        }
        OpenQuestion::CapBehindCpu { of, busy } => {
            return format!(
                "Equal throughput for {} means little: a CPU on this machine, not the storage, \
                 limited {}. Compare CPU per I/O, or set a fixed rate (--set rate=...).",
                name::subjects(of),
                name::all(busy)
            );
        }
        OpenQuestion::CapOneAtATime { of, arms } => {
            return format!(
                "iotax could not test whether a cap hides the tax of {}: changing the queue \
                 depth had no effect on {}, whose I/Os are served one at a time.",
                name::subjects(of),
                name::all(arms)
            );
        }
        OpenQuestion::CapUnclear { of } => {
            return format!(
                "It is not clear whether a cap hides the tax of {}. Runs at half and double the \
                 queue depth were too noisy, or stopped too early, to show whether there is a \
                 plateau. A cap may explain the equal throughput.",
                name::subjects(of)
            );
        }
        OpenQuestion::Masked { of } => {
            return format!(
                "The cost of {} was not measured, because throughput at a cap does not show it. To \
                 measure the cost, compare CPU per I/O, or run loads below the cap (--below-cap).",
                name::subjects(of)
            );
        }
        OpenQuestion::MaskedResults { of } => {
            return format!(
                "Equal throughput does not rule out a cost of {}: an IOPS or bandwidth cap, or the \
                 job's own rate, may hide it.",
                name::subjects(of)
            );
        }
        OpenQuestion::NeverFell { arms, seconds } => {
            return format!(
                "It is not known whether {} ran on burst credits: throughput did not fall during \
                 {} of draining. Either there are no credits, or they last longer than this drain \
                 (use a longer --drain=TIME).",
                name::all(arms),
                span(whole(*seconds))
            );
        }
        OpenQuestion::BurstAgain { arms } => {
            return format!(
                "{} ran on burst credits that had refilled after draining. The sustained rate is \
                 the rate after the drop.",
                name::all(arms)
            );
        }
        OpenQuestion::CpuByDesign { arms } => {
            return format!(
                "CPU-bound: {}. The tax is CPU time here, and would be different on faster CPUs.",
                name::all(arms)
            );
        }
        OpenQuestion::CpuOfMachine => {
            "CPU time is measured for the whole machine, because these layers work in kernel \
             threads and other processes. This figure includes the time of other programs, which \
             affects all arms equally."
        }
        OpenQuestion::FromSubmission => {
            "Latencies are measured from submission in all arms, because fio drives some arms and \
             does not know when an I/O was due. These latencies do not include the wait before \
             submission. To include this wait, let iotax drive all arms (without --engine fio)."
        }
        OpenQuestion::TailsDescribed => {
            "Tails were not compared: in a closed loop, a slower arm gets less load. For a verdict \
             on p99, run all arms at the same rate, 0.7 times the throughput of the slowest arm \
             (--set rate=...)."
        }
        OpenQuestion::TailsOfResults { is_at_a_rate: true } => {
            "fio and DiskSpd measure latency from submission, not from the time at which an I/O \
             was due. I/Os that waited for a free slot in the queue look faster than they were."
        }
        OpenQuestion::TailsOfResults { is_at_a_rate: false } => {
            "Tails were not compared: a slower arm got less load. For a verdict on p99, run all \
             arms at the same rate, 0.7 times the throughput of the slowest arm."
        }
        OpenQuestion::NoStall { trials } => {
            return format!(
                "No stall (a second with less than half of its trial's mean throughput) was seen \
                 in {} per arm. With 95 % confidence, at most {} of trials have a stall.",
                count(*trials, "trial"),
                percent(rule_of_three(*trials as usize))
            );
        }
        OpenQuestion::NoPercentiles { arms } => {
            return format!(
                "Some results of {} have no latency percentiles, or no percentiles for reads and \
                 writes together. fio writes them with --output-format=json+, and DiskSpd with -L.",
                name::all(arms)
            );
        }
        OpenQuestion::NotChecked { are_ours: true } => {
            "iotax did not repeat the checks that it made during the original runs. For their \
             warnings, see the report of each run."
        }
        OpenQuestion::NotChecked { are_ours: false } if experiment.spec.workload().is_network() => {
            "These results do not show whether CPU time went to other work or was stolen, whether \
             the path was the same, or whether a burst ended. iotax could not check this."
        }
        OpenQuestion::NotChecked { are_ours: false } => {
            "These results do not show whether a cache served the I/Os, whether the storage was \
             the same, or whether a burst ended during the run. They also do not show how much CPU \
             the load generator used, or whether CPU time went to other work or was stolen. iotax \
             could not check any of this."
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
            "not independent; successive blocks are correlated, so the interval is too narrow for \
             a verdict."
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
                "no information; neither side completed anything in {}. A longer window (--time) \
                 may show how slow both sides are.",
                count(*blocks, "block")
            );
        }
        NoAnswer::Lost => {
            "undecided; too many trials failed, or the verdict would change if failed trials \
             counted as trials that completed nothing. Find out why they failed, and measure again."
        }
        NoAnswer::OnlySigns { more } => {
            let price = more.map_or_else(String::new, |more| {
                format!("; {} would be enough", count(more, "more such block"))
            });
            return format!(
                "undecided; some trials completed nothing, so only the sign of each difference \
                 counts{price}."
            );
        }
        NoAnswer::Changed { in_depth_check: true } => {
            "effect changed; the depth check that followed shows a different effect at the same \
             depth. Use --drain to measure the sustained effect."
        }
        NoAnswer::Changed { in_depth_check: false } => {
            "effect changed; there are too few blocks after the change for a verdict."
        }
        NoAnswer::BeforeFirstLook { complete } => {
            return format!(
                "undecided after {}; the first analysis requires {FIRST_LOOK} blocks, so that each \
                 order of the arms is run twice.",
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
                "{} of {base} and {of_arm} of {} are too few for an interval, which requires at \
                 least {MIN_RESULTS} per arm; 5 per arm give a narrow interval.",
                count(*of_base, "result"),
                name::subjects(of)
            );
        }
        NoAnswer::WideResults { results: [base, with], range, withheld } => {
            let why = withheld.map(|why| format!(" ({})", why_withheld(why)));
            return format!(
                "undecided{}; with {base} and {with} results, the effect is known only as a range, \
                 {}. More results for each arm would narrow the range.",
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
            format!("at this noise level, a verdict takes about {blocks} blocks")
        }
        Outlook::OutOfReach => {
            "at this noise level, a verdict would take more than ten times as many \
             blocks"
                .to_owned()
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
            "the difference is significant on its own, but not after Holm's correction for \
             multiple comparisons"
        }
        Withheld::IfDependent => {
            "the verdict would not be valid if successive blocks were correlated"
        }
        Withheld::OrderMatters => {
            "the order of the trials in a block matters, and there are too few blocks to remove \
             its effect"
        }
        Withheld::NotKept => {
            "an arm does not sustain the throughput of its short slices under continuous load"
        }
        Withheld::ReplayLate => {
            "the replays could not keep up with the recording, which makes arms look alike"
        }
        Withheld::OtherEngines => {
            "one arm was measured with libaio, because a sandbox blocked io_uring there: measure \
             both arms with engine=libaio"
        }
    }
}
