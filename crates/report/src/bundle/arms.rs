//! The arms of a bundle: a word for each that stands for itself in a shell and in a file's name.

use iotax_record::ExperimentHead;

use crate::words::printable;

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
