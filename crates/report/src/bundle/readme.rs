//! The README of a bundle, for a support engineer.

use iotax_experiment::Workload;
use iotax_quantity::count;
use iotax_record::ExperimentHead;
use iotax_wording::format;
use iotax_wording::verdict::verdict;

use super::phases::Phase;
use crate::experiment::AnalyzedPhase;
use crate::markdown::escape;
use crate::words::printable;

/// The page, as Markdown.
pub(super) fn readme(
    experiment: &ExperimentHead,
    parts: &[AnalyzedPhase],
    arms: &[Arm],
    phases: &[Phase],
    trials: usize,
) -> String {
    let spec = &experiment.spec;
    let mut text = format!("# Reproduction: {}\n\n", escape(spec.name()));
    text.push_str(
        "Use this folder to repeat a storage measurement with fio alone. The original\n\
         measurement was made with iotax, which you do not need here.\n\n## Results\n\n",
    );
    for (phase, (experiment, analysis)) in phases.iter().zip(parts) {
        if phases.len() > 1 {
            text.push_str(&format!("Phase {}, {}:\n\n", phase.id, escape(&phase.name)));
        }
        for sentence in verdict(experiment, analysis) {
            text.push_str(&format!("- {}\n", escape(&sentence)));
        }
        text.push('\n');
    }
    text.push_str(&machine(experiment));
    text.push_str(
        "All figures are in `expected.txt`; the individual trials are in `results.csv`.\n",
    );
    text.push_str(&how_to_run(experiment, arms, trials));
    text.push_str(&differences(phases));
    text.push_str(FILES);
    text
}

fn machine(experiment: &ExperimentHead) -> String {
    let machine = &experiment.host(0).environment;
    let facts = [
        machine.os.clone(),
        machine.kernel.as_ref().map(|kernel| format!("kernel {kernel}")),
        machine.cpu_model.as_ref().map(|model| format!("{} x {model}", machine.cpus)),
        machine.memory_bytes.map(|bytes| format!("{} memory", iotax_quantity::size(bytes))),
        machine.hypervisor.as_ref().map(|hypervisor| format!("on {hypervisor}")),
    ];
    let facts: Vec<String> = facts.into_iter().flatten().map(|fact| escape(&fact)).collect();
    format!(
        "Measured on {} with iotax {}: {}. See `environment.json` for details.\n\n",
        escape(&experiment.started),
        escape(&experiment.iotax_version),
        facts.join(", ")
    )
}

fn how_to_run(experiment: &ExperimentHead, arms: &[Arm], trials: usize) -> String {
    let spec = &experiment.spec;
    let phase_ns = spec.phases().map(|phase| phase.ramp_ns.saturating_add(phase.time_ns));
    let mean_ns = phase_ns.fold(0, u64::saturating_add) / spec.phases().count().max(1) as u64;
    let span = format::span(mean_ns.saturating_mul(trials as u64));
    let mut text = String::from(
        "\n## Run it\n\nYou need a POSIX shell and `fio` 3.20 or later; `iostat` (sysstat) is \
         optional.\n",
    );
    if spec.phases().any(Workload::is_recorded) {
        text.push_str("To replay a recording, you need `fio` 3.31 or later.\n");
    }
    text.push_str("For each arm, give a directory on the storage to test:\n\n    ./run.sh");
    for arm in arms {
        text.push_str(&format!(" {}=PATH", arm.id));
    }
    text.push_str(&format!(
        "\n\nThe script runs {} in the recorded order. This takes about {span}, plus the time to\n\
         create the files. `--blocks 3` runs only the first three blocks. The script creates its\n\
         files in a new folder in each directory, and removes that folder at the end, even after\n\
         Ctrl-C. It never writes to a file or block device that you name, unless a job writes and\n\
         `--destroy` names the same path.\n\n\
         | arm | original target |\n| --- | --- |\n",
        count(trials as u64, "trial")
    ));
    for arm in arms {
        text.push_str(&format!("| {} | {} |\n", escape(&arm.id), escape(&arm.target)));
    }
    text.push_str("\nIf the original target was a stack of layers, set up the same stack first.\n");
    if spec.arms.iter().any(|arm| arm.target.is_in_process()) {
        text.push_str(
            "Virtual disks (`mem`, `aes`, `delay` and others) exist only inside iotax. Use any \
             directory for\narms with a virtual disk, and expect different figures.\n",
        );
    }
    text.push_str(
        "\n## Compare\n\nAt the end, `run.sh` prints a table with the same units as \
         `expected.txt`, and writes it to\n`out/summary.txt`. Compare the differences between the \
         arms; the figures themselves depend on the\nmachine. `out/` contains the iostat output \
         and one fio result per trial. If iotax is installed,\nthe command in `out/compare.txt` \
         computes verdicts from these results.",
    );
    if spec.phases().count() > 1 {
        text.push_str(" Each phase\nhas its own folder.");
    }
    text.push('\n');
    text
}

fn differences(phases: &[Phase]) -> String {
    let mut text = String::from("\n## Differences from the original measurement\n\n");
    if phases.iter().any(|phase| !phase.is_recorded()) {
        text.push_str("- Even with the same seeds, fio and iotax choose different offsets.\n");
    }
    text.push_str("- Each trial also includes the time that fio takes to start and exit.\n");
    for phase in phases {
        if phase.sections.is_empty() {
            text.push_str(&format!("- Phase {} has no job that fio can run.\n", phase.id));
        }
        for line in &phase.without {
            let phase =
                if phases.len() > 1 { format!("Phase {}: ", phase.id) } else { String::new() };
            text.push_str(&format!("- {}\n", escape(&format!("{phase}{line}."))));
        }
    }
    text
}

const FILES: &str = "
## Files

| file | contents |
| --- | --- |
| `run.sh` | the script |
| `arms.txt`, `phases.txt`, `order.txt` | arms; phases; order and seeds of the trials |
| `jobs/` | fio job files |
| `expected.txt` | measured figures and verdicts |
| `results.csv` | all measured trials |
| `environment.json` | description of the machine and the experiment |
";

// The arms of a bundle. Each has an ID that needs no quoting in a shell or a file name.

/// Maximum length of an ID.
const LONGEST: usize = 20;

/// An arm of the bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Arm {
    /// Its ID in `run.sh`.
    pub(super) id: String,
    /// Its name in the record.
    pub(super) name: String,
    /// Description of the original target.
    pub(super) target: String,
}

/// The arms in the order of the experiment; the first is the baseline.
pub(super) fn arms(experiment: &ExperimentHead) -> Vec<Arm> {
    let mut arms: Vec<Arm> = Vec::new();
    for (n, arm) in experiment.spec.arms.iter().enumerate() {
        let mut id = word(&arm.name);
        if id.is_empty() {
            id = format!("arm-{}", n + 1);
        }
        if arms.iter().any(|other| other.id == id) {
            id = format!("{id}-{}", n + 1);
        }
        let site = experiment.sites.get(n);
        let kind = site.map(|site| format!("{}: ", site.kind)).unwrap_or_default();
        let commands = arm.host_commands.as_ref().map(iotax_wording::job::host_commands);
        let commands =
            commands.map(|text| format!(" ({text}; run.sh does not run these commands)"));
        let target = format!("{kind}{}{}", arm.target, commands.unwrap_or_default());
        arms.push(Arm { id, name: arm.name.clone(), target });
    }
    arms
}

/// Reduces text to letters, digits and `-`. The first character is a letter or digit.
pub(super) fn word(text: &str) -> String {
    let mut word = String::new();
    for c in text.chars() {
        if word.len() >= LONGEST {
            break;
        }
        if c.is_ascii_alphanumeric() {
            word.push(c);
        } else if !word.ends_with('-') && !word.is_empty() {
            word.push('-');
        }
    }
    word.trim_end_matches('-').to_owned()
}

/// The lines of `arms.txt`.
pub(super) fn table(arms: &[Arm]) -> String {
    let line =
        |arm: &Arm| format!("{}\t{}\t{}\n", arm.id, printable(&arm.name), printable(&arm.target));
    arms.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_stands_for_itself_anywhere() {
        let words = ["base", "/mnt/data disk", "$(reboot)`x`", "aes + queue", "\n;#", "-x"];
        let expected = ["base", "mnt-data-disk", "reboot-x", "aes-queue", "", "x"];
        assert_eq!(words.map(word), expected);
    }
}
