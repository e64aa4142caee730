//! What a support engineer needs to know, in one page.

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
        "This folder repeats a storage measurement with fio alone. It was made from a\n\
         measurement with iotax, which is not needed here.\n\n## What was seen\n\n",
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
    text.push_str("The figures are in `expected.txt`; each trial is in `results.csv`.\n");
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
        machine.memory_bytes.map(|bytes| format!("{} of memory", iotax_quantity::size(bytes))),
        machine.hypervisor.as_ref().map(|hypervisor| format!("on {hypervisor}")),
    ];
    let facts: Vec<String> = facts.into_iter().flatten().map(|fact| escape(&fact)).collect();
    format!(
        "Measured on {} with iotax {}: {}. More in `environment.json`.\n\n",
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
        "\n## Run it\n\nNeeded: a POSIX shell, `fio` 3.20 or later, and `iostat` (sysstat) if it \
         is there.\nGive each arm a directory on the storage in question:\n\n    ./run.sh",
    );
    for arm in arms {
        text.push_str(&format!(" {}=PATH", arm.id));
    }
    text.push_str(&format!(
        "\n\nIt makes {} in the recorded order, which takes about {span} and the time to lay out\n\
         files. `--blocks 3` makes only the first three blocks. Files are made in a new folder in\n\
         each directory, which is removed in the end, also after Ctrl-C. Files and block devices\n\
         are only read, unless a job writes and `--destroy PATH` allows it.\n\n\
         | arm | was |\n| --- | --- |\n",
        count(trials as u64, "trial")
    ));
    for arm in arms {
        text.push_str(&format!("| {} | {} |\n", escape(&arm.id), escape(&arm.target)));
    }
    text.push_str(
        "\nAn arm that was a stack of layers has to be set up first, as its text says.\n",
    );
    if spec.arms.iter().any(|arm| arm.target.is_in_process()) {
        text.push_str(
            "Virtual disks (`mem`, `aes`, `delay` and the like) lay inside of iotax and cannot be set \
             up\nwithout it: give their arms any directory, and expect other figures.\n",
        );
    }
    text.push_str(
        "\n## Compare\n\nThe table that `run.sh` prints in the end is also in `out/summary.txt`. It \
         has the units of\n`expected.txt`. What counts is the difference between the arms, not \
         that the figures are\nthe same on another machine. One result of fio per trial is in \
         `out/`, with the output of\niostat beside it. Whoever has iotax gets verdicts from them: the command is \
         in\n`out/compare.txt`.",
    );
    if spec.phases().count() > 1 {
        text.push_str(" Results of each phase are in a folder of their own.");
    }
    text.push('\n');
    text
}

fn differences(phases: &[Phase]) -> String {
    let mut text = String::from(
        "\n## What differs from the measurement\n\n\
         - fio draws other offsets from the same seeds.\n\
         - fio needs a time of its own to start and end each trial.\n",
    );
    for phase in phases {
        if phase.sections.is_empty() {
            text.push_str(&format!("- Phase {} has no job for fio.\n", phase.id));
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

| file | holds |
| --- | --- |
| `run.sh` | the script |
| `arms.txt`, `phases.txt`, `order.txt` | what it repeats: arms, phases, trials with their seeds |
| `jobs/` | job files of fio |
| `expected.txt` | the figures measured, and the verdicts |
| `results.csv` | each trial measured |
| `environment.json` | the machine, and the experiment |
";

// The arms of a bundle: a word for each that stands for itself in a shell and in a file's name.

/// The longest word for an arm.
const LONGEST: usize = 20;

/// An arm as the bundle knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Arm {
    /// What `run.sh` calls it.
    pub(super) id: String,
    /// Its name in the record.
    pub(super) name: String,
    /// What it was, for people.
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
        let commands = commands.map(|text| format!(" ({text}; run.sh does not)"));
        let target = format!("{kind}{}{}", arm.target, commands.unwrap_or_default());
        arms.push(Arm { id, name: arm.name.clone(), target });
    }
    arms
}

/// Letters, digits and `-`, which begin with a letter or a digit.
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
