//! Tips for words of other tools, behind clap's errors.

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::resolve::workload::is_workload;

/// Options of fio and other tools, and what does the same here.
const OTHER_NAMES: &[(&str, &str)] = &[
    ("--duration", "--time TIME"),
    ("--runtime", "--time TIME"),
    ("--ramp-time", "--ramp TIME"),
    ("--ramp_time", "--ramp TIME"),
    ("--size", "--set size=SIZE"),
    ("--bs", "--set block-size=SIZE"),
    ("--block-size", "--set block-size=SIZE"),
    ("--iodepth", "--set depth=N"),
    ("--depth", "--set depth=N"),
    ("--numjobs", "--set threads=N"),
    ("--threads", "--set threads=N"),
    ("--rate_iops", "--set rate=IOPS"),
    ("--ioengine", "--set engine=NAME"),
    ("--direct", "--set direct=true"),
    ("--rw", "a workload, such as randread-4k"),
    ("--readwrite", "a workload, such as randread-4k"),
    ("--filename", "a target: iotax run randread-4k FILE"),
    ("--repeat", "--max-blocks N, or --trials N for iotax run"),
    ("--runs", "--max-blocks N, or --trials N for iotax run"),
    ("--confidence", "--tight or --quick"),
    ("--json", "--format json"),
];

/// The error, with what does here what the user seems to mean.
pub(crate) fn with_tip(mut error: clap::Error) -> clap::Error {
    let word = |kind| match error.get(kind) {
        Some(ContextValue::String(word)) => Some(word.clone()),
        _ => None,
    };
    let tip = match error.kind() {
        ErrorKind::UnknownArgument => word(ContextKind::InvalidArg).and_then(|word| {
            let name = word.split('=').next().unwrap_or(&word);
            let (_, here) = OTHER_NAMES.iter().find(|(other, _)| *other == name)?;
            Some(format!("use {here}"))
        }),
        ErrorKind::InvalidSubcommand => word(ContextKind::InvalidSubcommand)
            .filter(|word| is_workload(word))
            .map(|word| format!("to run this workload: iotax run {word} DIR")),
        _ => None,
    };
    if let Some(tip) = tip {
        error.remove(ContextKind::SuggestedArg);
        error.remove(ContextKind::SuggestedSubcommand);
        let tip = ContextValue::StyledStrs(vec![StyledStr::from(tip)]);
        error.insert(ContextKind::Suggested, tip);
    }
    error
}
