//! Warnings as people read them: what was seen on several arms, with the same advice, is one.

use iotax_analyze::{Analysis, Warning};
use iotax_experiment::Spec;

use crate::{arms, format, words};

/// Messages up to which each is shown.
const MAX_MESSAGES: usize = 8;

/// One warning, or several of a kind.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Notice {
    /// Which check, and on which arm if it is only one.
    pub(crate) title: String,
    /// What was seen; begins with the arm if there are several.
    pub(crate) messages: Vec<String>,
    /// What to do; may be empty.
    pub(crate) advice: String,
    /// Whether it puts the figures themselves in doubt.
    pub(crate) is_severe: bool,
}

/// All warnings in their order, those alike together.
pub(crate) fn notices(analysis: &Analysis) -> Vec<Notice> {
    let mut groups: Vec<Vec<&Warning>> = Vec::new();
    for warning in &analysis.warnings {
        let alike =
            |other: &Warning| other.check == warning.check && other.advice == warning.advice;
        match groups.iter_mut().find(|group| alike(group[0])) {
            Some(group) => group.push(warning),
            None => groups.push(vec![warning]),
        }
    }
    groups.iter().map(|group| notice(group, analysis)).collect()
}

/// That test files are smaller than the workload would have them, if they are.
pub(crate) fn of_files(spec: &Spec) -> Option<Notice> {
    let message = spec.told_fit()?;
    let advice = "Smaller files leave more to caches: compare with runs of the same size, or make \
                  room for more.";
    let (title, advice) = ("size of the test files".to_owned(), advice.to_owned());
    Some(Notice { title, messages: vec![message], advice, is_severe: false })
}

fn notice(group: &[&Warning], analysis: &Analysis) -> Notice {
    let first = group[0];
    let (check, is_severe) = words::check(first.check);
    let (title, messages) = if let [only] = group {
        let arm = only.arm.as_ref().map_or_else(String::new, |arm| format!(" ({arm})"));
        (format!("{check}{arm}"), vec![only.message.clone()])
    } else {
        let mut messages = messages(group, analysis);
        if messages.len() > MAX_MESSAGES {
            let rest = messages.split_off(MAX_MESSAGES - 2).len();
            messages.push(format!("and the same on {}", format::counted(rest as u64, "more arm")));
        }
        (check.to_owned(), messages)
    };
    Notice { title, messages, advice: first.advice.clone(), is_severe }
}

/// Each with its arm; the same of several arms, but for how often it was seen, once.
fn messages(group: &[&Warning], analysis: &Analysis) -> Vec<String> {
    let seen = |warning: &Warning| match warning.message.rsplit_once(" (in ") {
        Some((seen, times)) if times.ends_with(" trials)") => seen.to_owned(),
        _ => warning.message.clone(),
    };
    let mut alike: Vec<Vec<&Warning>> = Vec::new();
    for warning in group {
        let is_alike = |other: &Warning| {
            other.arm.is_some() && warning.arm.is_some() && seen(other) == seen(warning)
        };
        match alike.iter_mut().find(|others| is_alike(others[0])) {
            Some(others) => others.push(warning),
            None => alike.push(vec![warning]),
        }
    }
    let message = |warnings: &Vec<&Warning>| match warnings.as_slice() {
        [Warning { arm: None, message, .. }] => message.clone(),
        [Warning { arm: Some(arm), message, .. }] => format!("{arm}: {message}"),
        several => {
            let names: Vec<&str> = several.iter().filter_map(|w| w.arm.as_deref()).collect();
            let trials: u32 = several.iter().map(|warning| warning.trials).sum();
            let times = if trials == 0 { String::new() } else { format!(" (in {trials} trials)") };
            format!("{}: {}{times}", arms::label(&names, analysis), seen(several[0]))
        }
    };
    alike.iter().map(message).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotax_analyze::{Check, Ending, FORMAT};

    fn warning(arm: &str, advice: &str) -> Warning {
        Warning {
            check: Check::Precision,
            arm: Some(arm.to_owned()),
            message: format!("seen on {arm}"),
            advice: advice.to_owned(),
            trials: 1,
        }
    }

    #[test]
    fn the_same_advice_is_given_once() {
        let ending = Ending {
            reasons: Vec::new(),
            blocks: 0,
            trials: 0,
            wall_ns: 0,
            switch_ns: 0,
            interrupted: false,
            gaps: Vec::new(),
        };
        let analysis = Analysis {
            format: FORMAT,
            workload: String::new(),
            primary: String::new(),
            baseline: String::new(),
            margin: 0.05,
            alpha: 0.05,
            arms: Vec::new(),
            work: Vec::new(),
            comparisons: Vec::new(),
            attribution: None,
            depths: Vec::new(),
            drained: Vec::new(),
            preconditioned: Vec::new(),
            rules: Vec::new(),
            requirements: Vec::new(),
            matrix: None,
            outliers: None,
            fleet: None,
            below_cap: Vec::new(),
            documented: Vec::new(),
            trials: Vec::new(),
            warnings: vec![warning("a", "wait"), warning("b", "stop"), warning("c", "wait")],
            open_questions: Vec::new(),
            ending,
        };
        let shown: Vec<_> = notices(&analysis).into_iter().map(|n| (n.title, n.messages)).collect();
        let line = |text: &str| text.to_owned();
        let many = (0..60).map(|arm| warning(&format!("arm-{arm}"), "wait")).collect();
        let shown_of_many = notices(&Analysis { warnings: many, ..analysis.clone() });
        assert_eq!(shown_of_many[0].messages.len(), 7);
        assert_eq!(shown_of_many[0].messages[6], "and the same on 54 more arms");
        assert_eq!(
            shown,
            [
                (line("precision"), vec![line("a: seen on a"), line("c: seen on c")]),
                (line("precision (b)"), vec![line("seen on b")]),
            ]
        );
    }
}
