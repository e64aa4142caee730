//! Advice about noise that keeps a comparison undecided.

use iotax_analyze::{NoiseSource, Outlook, Program, ProgramLoad};
use iotax_experiment::Draft;
use iotax_experiment::plan::Plan;
use iotax_quantity::{count, grouped, list, measured_mb_per_s, percent};

use crate::name::printable;

/// Factor for switching and pauses between trials.
const BESIDE: f64 = 1.2;

pub(super) fn advice(source: &NoiseSource) -> String {
    match source {
        NoiseSource::Programs { cpu_share, programs } => {
            let named: Vec<String> = programs.iter().map(program).collect();
            let what = match named.as_slice() {
                [] => format!("they used {} of the CPU time", percent(*cpu_share)),
                named => list(&named.iter().map(String::as_str).collect::<Vec<_>>()),
            };
            format!(
                "Most of the noise probably comes from other programs: {what}. Stop them, or run \
                 iotax when they are idle."
            )
        }
        NoiseSource::Steal { share } => format!(
            "Most of the noise probably comes from other virtual machines: the hypervisor took {} \
             of the CPU time. Use a dedicated host, or measure at another time of day.",
            percent(*share)
        ),
        NoiseSource::Stalls { trials, of, share } => format!(
            "Most of the noise comes from stalls: {} of {} ran at less than half the usual speed \
             and caused {} of the noise. Find out what stalls the storage (iotax doctor), or use \
             p50, which is not affected by stalls.",
            grouped((*trials).into()),
            count(*of, "trial"),
            percent(*share)
        ),
        NoiseSource::Storage { variation, is_alone } => {
            let (varies, others) = (percent(*variation), "other machines probably share it");
            let what = if *is_alone {
                format!("and nothing else on this machine uses the storage, so {others}")
            } else {
                format!(
                    "and other programs use little CPU time. If they do not use the storage either \
                     ({SEE}), {others}"
                )
            };
            format!(
                "The speed of the storage itself varies by {varies} from one trial to the next, \
                 {what}. Measure at another time, or on storage that you do not share. p50 often \
                 varies less than throughput."
            )
        }
    }
}

/// A hint for users without root's rights.
const SEE: &str = "only root can see what they read and write";

/// `rustc used 84 % of the CPU time`, `postgres wrote 120 MB/s`
fn program(Program { name, load }: &Program) -> String {
    let name = printable(name);
    match load {
        ProgramLoad::Cpu { share } => format!("{name} used {} of the CPU time", percent(*share)),
        ProgramLoad::Reads { bytes_per_s } => {
            format!("{name} read {}", measured_mb_per_s(*bytes_per_s))
        }
        ProgramLoad::Writes { bytes_per_s } => {
            format!("{name} wrote {}", measured_mb_per_s(*bytes_per_s))
        }
    }
}

/// ` Or run more blocks (--max-time 34m).`, if that is within reach.
pub(super) fn or_more_blocks(outlook: Option<&Outlook>, spec: &Draft) -> String {
    match outlook {
        Some(Outlook::Blocks([_, most])) => {
            format!(" Or run more blocks ({}).", more_blocks(*most, spec))
        }
        Some(Outlook::OutOfReach | Outlook::Withheld(_)) | None => String::new(),
    }
}

/// The options that allow this many blocks.
pub(super) fn more_blocks(blocks: u32, spec: &Draft) -> String {
    let plan = Plan::new(spec);
    let seconds = plan.block_ns(plan.arms) as f64 * f64::from(blocks) * BESIDE / 1e9;
    let minutes = iotax_quantity::whole((seconds / 60.0).ceil().max(1.0));
    let is_too_few = blocks > spec.stop.max_blocks;
    let is_too_short = spec.stop.max_time_ns.is_some_and(|ns| seconds * 1e9 > ns as f64);
    match (is_too_few, is_too_short) {
        (true, true) => format!("--max-blocks {blocks} --max-time {minutes}m"),
        (false, true) => format!("--max-time {minutes}m"),
        (_, false) => format!("--max-blocks {blocks}"),
    }
}

#[cfg(test)]
mod tests {
    use iotax_experiment::{Arm, Workload};

    use super::*;

    #[test]
    fn each_source_is_named_with_what_to_do_about_it() {
        let program = |name: &str, load| Program { name: name.to_owned(), load };
        let programs = vec![
            program("postgres", ProgramLoad::Writes { bytes_per_s: 120e6 }),
            program("rustc", ProgramLoad::Cpu { share: 0.84 }),
            program("back\u{1b}up", ProgramLoad::Reads { bytes_per_s: 31.4e6 }),
        ];
        let all = [
            NoiseSource::Programs { cpu_share: 0.9, programs },
            NoiseSource::Programs { cpu_share: 0.9, programs: Vec::new() },
            NoiseSource::Steal { share: 0.12 },
            NoiseSource::Stalls { trials: 12, of: 1400, share: 0.7 },
            NoiseSource::Storage { variation: 0.12, is_alone: true },
            NoiseSource::Storage { variation: 0.12, is_alone: false },
        ];
        insta::assert_snapshot!(all.iter().map(advice).collect::<Vec<_>>().join("\n"), @"
        Most of the noise probably comes from other programs: postgres wrote 120 MB/s, rustc used 84 % of the CPU time and back�up read 31.4 MB/s. Stop them, or run iotax when they are idle.
        Most of the noise probably comes from other programs: they used 90 % of the CPU time. Stop them, or run iotax when they are idle.
        Most of the noise probably comes from other virtual machines: the hypervisor took 12 % of the CPU time. Use a dedicated host, or measure at another time of day.
        Most of the noise comes from stalls: 12 of 1,400 trials ran at less than half the usual speed and caused 70 % of the noise. Find out what stalls the storage (iotax doctor), or use p50, which is not affected by stalls.
        The speed of the storage itself varies by 12 % from one trial to the next, and nothing else on this machine uses the storage, so other machines probably share it. Measure at another time, or on storage that you do not share. p50 often varies less than throughput.
        The speed of the storage itself varies by 12 % from one trial to the next, and other programs use little CPU time. If they do not use the storage either (only root can see what they read and write), other machines probably share it. Measure at another time, or on storage that you do not share. p50 often varies less than throughput.
        ");
    }

    #[test]
    fn what_allows_more_blocks_can_be_typed() {
        let arms = ["a=/a", "b=/b"].map(|text| Arm::parse(text).expect("an arm"));
        let workload = Workload::preset("randread-4k").expect("a workload");
        let mut spec = Draft::compare(vec![workload], arms.into()).expect("arms");
        insta::assert_snapshot!(more_blocks(120, &spec), @"--max-blocks 120");
        spec.stop.max_time_ns = Some(600_000_000_000);
        insta::assert_snapshot!(more_blocks(120, &spec), @"--max-blocks 120 --max-time 34m");
        spec.stop.max_blocks = 5120;
        insta::assert_snapshot!(more_blocks(120, &spec), @"--max-time 34m");
    }
}
