//! Reasons to doubt the figures.

mod advice;
mod noise;
mod seen;

use iotax_analyze::{Analysis, Check, Doubt, DoubtKind, Weight};
use iotax_experiment::units::format_bytes;
use iotax_experiment::{Draft, Fitted, Spec};
use iotax_quantity::count;
use iotax_record::ExperimentHead;

use crate::{arms, name};

/// A doubt in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// What was seen, with figures.
    pub seen: String,
    /// How often it was seen, if shown separately: `in 3 of 10 trials`.
    pub often: Option<String>,
    /// What to do about it.
    pub advice: String,
}

impl Said {
    /// What was seen, with how often.
    pub fn message(&self) -> String {
        match &self.often {
            Some(often) => format!("{} ({often})", self.seen),
            None => self.seen.clone(),
        }
    }
}

/// Puts a doubt into words.
pub fn doubt(doubt: &Doubt, experiment: &ExperimentHead) -> Said {
    Said {
        seen: seen::seen(doubt, experiment),
        often: often(doubt).filter(|_| !is_in_the_sentence(&doubt.kind)),
        advice: advice::advice(doubt, experiment),
    }
}

/// `in 3 of 10 trials`
fn often(doubt: &Doubt) -> Option<String> {
    let of = doubt.of_trials?;
    Some(format!("in {} of {}", doubt.trials, count(of, "trial")))
}

/// Whether the sentence itself says how often it was seen.
const fn is_in_the_sentence(kind: &DoubtKind) -> bool {
    matches!(
        kind,
        DoubtKind::Mismatch { .. }
            | DoubtKind::Failed { .. }
            | DoubtKind::Paused { .. }
            | DoubtKind::StalledSecond { .. }
            | DoubtKind::ImpossibleSpeed { .. }
    )
}

/// The name of a kind of doubt.
pub const fn title(check: Check) -> &'static str {
    match check {
        Check::FailedTrials => "failed trials",
        Check::Paused => "paused load generator",
        Check::ReplayLate => "late replay",
        Check::StalledTrials => "stalled trials",
        Check::IoErrors => "I/O errors",
        Check::VerifyMismatch => "data mismatch",
        Check::LittlesLaw => "Little's law",
        Check::GeneratorBound => "load generator at its limit",
        Check::OneCore => "one core at its limit",
        Check::ScheduleSlip => "schedule slip",
        Check::ColdCacheUnproven => "cold cache not proven",
        Check::WrongSign => "unexpected gain",
        Check::ImpossibleSpeed => "impossible speed",
        Check::CacheAnswered => "a cache answered",
        Check::LayerCache => "a cache within the stack",
        Check::Steal => "CPU stolen by the hypervisor",
        Check::AnotherJob => "results of different workloads",
        Check::NotInterleaved => "not interleaved",
        Check::DifferentStorage => "different storage",
        Check::SharedStorage => "same storage",
        Check::NotGranted => "server granted different options",
        Check::RegimeShift => "level change",
        Check::PlaceEffect => "the order of trials matters",
        Check::ShortSlices => "short and long slices differ",
        Check::NotSteady => "not at steady state",
        Check::Dependence => "dependent blocks",
        Check::Precision => "precision",
    }
}

// Notices: doubts of several arms with the same advice are shown as one.

/// Largest number of messages that are all shown.
const MAX_MESSAGES: usize = 8;

/// One doubt, or several of a kind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Notice {
    /// Which check, and on which arm if it is only one.
    pub title: String,
    /// What was seen; each begins with the arm if there are several.
    pub messages: Vec<String>,
    /// What to do; may be empty.
    pub advice: String,
    pub weight: Weight,
}

impl Notice {
    /// Whether the figures themselves are in doubt.
    pub fn is_severe(&self) -> bool {
        self.weight == Weight::Severe
    }

    /// Whether it is no warning.
    pub fn is_context(&self) -> bool {
        self.weight == Weight::Context
    }

    /// The messages shortened to one.
    pub fn in_short(&self) -> String {
        match self.messages.as_slice() {
            [] => self.title.clone(),
            [only] => only.clone(),
            [first, rest @ ..] => format!("{first}; {} more in the report", rest.len()),
        }
    }
}

type Both<'a> = (&'a Doubt, Said);

/// All doubts in their order, similar ones together.
pub fn notices(experiment: &ExperimentHead, analysis: &Analysis) -> Vec<Notice> {
    let mut groups: Vec<Vec<Both<'_>>> = Vec::new();
    for one in &analysis.warnings {
        let said = doubt(one, experiment);
        let alike =
            |(other, known): &Both<'_>| other.check() == one.check() && known.advice == said.advice;
        match groups.iter_mut().find(|group| alike(&group[0])) {
            Some(group) => group.push((one, said)),
            None => groups.push(vec![(one, said)]),
        }
    }
    groups.iter().map(|group| notice(group, analysis)).collect()
}

fn notice(group: &[Both<'_>], analysis: &Analysis) -> Notice {
    let (first, said) = &group[0];
    let check = title(first.check());
    let (title, messages) = if group.len() == 1 {
        let arm =
            first.of.as_ref().map_or_else(String::new, |of| format!(" ({})", name::subject(of)));
        (format!("{check}{arm}"), vec![said.message()])
    } else {
        let mut messages = messages(group, analysis);
        if messages.len() > MAX_MESSAGES {
            let rest = messages.split_off(MAX_MESSAGES - 2).len();
            messages.push(format!("and the same for {}", count(rest as u64, "more arm")));
        }
        (check.to_owned(), messages)
    };
    Notice { title, messages, advice: said.advice.clone(), weight: first.check().weight() }
}

/// Each message with its arm; one message if several arms differ only in how often it was seen.
fn messages(group: &[Both<'_>], analysis: &Analysis) -> Vec<String> {
    let mut alike: Vec<Vec<&Both<'_>>> = Vec::new();
    for one in group {
        let is_alike = |other: &Both<'_>| {
            other.0.of.is_some() && one.0.of.is_some() && other.1.seen == one.1.seen
        };
        match alike.iter_mut().find(|others| is_alike(others[0])) {
            Some(others) => others.push(one),
            None => alike.push(vec![one]),
        }
    }
    let message = |doubts: &Vec<&Both<'_>>| match doubts.as_slice() {
        [(Doubt { of: None, .. }, said)] => said.message(),
        [(Doubt { of: Some(of), .. }, said)] => {
            format!("{}: {}", name::subject(of), said.message())
        }
        several => {
            let names: Vec<String> = several
                .iter()
                .filter_map(|(doubt, _)| doubt.of.as_ref())
                .map(name::subject)
                .collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let trials: u32 = several.iter().map(|(doubt, _)| doubt.trials).sum();
            let times = if trials == 0 { String::new() } else { format!(" (in {trials} trials)") };
            format!("{}: {}{times}", arms::label(&names, analysis), several[0].1.seen)
        }
    };
    alike.iter().map(message).collect()
}

/// How test files were shrunk to the free space, if they were.
pub fn fitted(spec: &Draft) -> Option<String> {
    let Fitted { arm, free_bytes, from_bytes, to_bytes, scale } = spec.fitted?;
    let name = spec.arms.get(arm).map_or("an arm", |arm| arm.name.as_str());
    let [free, from, to] = [free_bytes, from_bytes, to_bytes].map(rounded);
    let how = scale.map_or(String::new(), |scale| format!(" (same as --scale {scale})"));
    Some(format!(
        "test files shrunk from {from} to {to}{how}, because {name} has room for only {free}"
    ))
}

/// As a user types it: large sizes in whole GiB, others in whole MiB.
fn rounded(bytes: u64) -> String {
    let unit: u64 = match bytes {
        0..0xa0_0000 => 1,
        0xa0_0000..0x2_8000_0000 => 1 << 20,
        _ => 1 << 30,
    };
    format_bytes(bytes / unit * unit)
}

/// A notice if test files are smaller than the workload's.
pub fn of_files(spec: &Spec) -> Option<Notice> {
    let message = fitted(spec)?;
    let advice = "A cache can hold a larger share of a smaller file. Compare only with runs that \
                  use the same file size, or free up some space.";
    let (title, advice) = ("size of the test files".to_owned(), advice.to_owned());
    Some(Notice { title, messages: vec![message], advice, weight: Weight::Minor })
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use iotax_experiment::{Arm, Target, Workload};

    use super::*;

    #[test]
    fn how_files_were_fitted_is_one_sentence() {
        let workload = Workload::preset("randread-4k").expect("a workload");
        let arms = ["a", "b"].map(|arm| Arm::new(arm, Target::Path(arm.into())));
        let mut draft = Draft::compare(vec![workload], arms.into()).expect("two arms");
        let mut sentence = |from_bytes, to_bytes, scale| {
            let free_bytes = 2 << 30;
            draft.fitted = Some(Fitted { arm: 1, free_bytes, from_bytes, to_bytes, scale });
            fitted(&draft).unwrap_or_default()
        };
        assert_snapshot!(sentence((110 << 30) + 5, (1662 << 20) + 5, Some(0.03)), @"test files shrunk from 110G to 1662M (same as --scale 0.03), because b has room for only 2G");
        assert_snapshot!(sentence(1 << 30, 832 << 20, None), @"test files shrunk from 1G to 832M, because b has room for only 2G");
    }
}
