//! Tips for words of other tools, in clap's errors.

use std::ffi::OsString;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, CommandFactory as _};

use super::Cli;
use crate::resolve::workload::is_workload;

/// Options of fio and other tools, each with its replacements. The tip names the first replacement
/// that the command supports.
const OTHER_NAMES: &[(&str, &[&str])] = &[
    ("--duration", &["--time TIME"]),
    ("--runtime", &["--time TIME"]),
    ("--ramp-time", &["--ramp TIME"]),
    ("--ramp_time", &["--ramp TIME"]),
    ("--size", &["--set size=SIZE"]),
    ("--bs", &["--set block-size=SIZE"]),
    ("--block-size", &["--set block-size=SIZE"]),
    ("--iodepth", &["--set depth=N"]),
    ("--depth", &["--set depth=N"]),
    ("--numjobs", &["--set threads=N"]),
    ("--threads", &["--set threads=N"]),
    ("--rate_iops", &["--set rate=IOPS"]),
    ("--ioengine", &["--set engine=NAME"]),
    ("--direct", &["--set direct=true"]),
    ("--repeat", &["--trials N", "--max-blocks N"]),
    ("--runs", &["--trials N", "--max-blocks N"]),
    ("--confidence", &["--tight or --quick"]),
    ("--json", &["--format json"]),
];

/// Adds a tip about what the user probably meant to a parse error of the command line `words`.
pub(crate) fn with_tip(mut error: clap::Error, words: &[OsString]) -> clap::Error {
    let wrong = |kind| match error.get(kind) {
        Some(ContextValue::String(word)) => Some(word.as_str()),
        _ => None,
    };
    let tip = match error.kind() {
        ErrorKind::UnknownArgument => {
            wrong(ContextKind::InvalidArg).and_then(|word| instead(word, &asked(words)))
        }
        ErrorKind::InvalidSubcommand => wrong(ContextKind::InvalidSubcommand)
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

fn instead(word: &str, command: &Command) -> Option<String> {
    let name = word.split('=').next()?;
    let (_, options) = OTHER_NAMES.iter().find(|(other, _)| *other == name)?;
    let has = |option: &&&str| {
        let long = option.trim_start_matches('-').split(' ').next();
        command.get_arguments().any(|argument| argument.get_long() == long)
    };
    options.iter().find(has).map(|option| format!("use {option}"))
}

/// The subcommand that the first words of a command line name.
fn asked(words: &[OsString]) -> Command {
    let mut command = Cli::command();
    for word in words.iter().skip(1).filter_map(|word| word.to_str()) {
        let Some(next) = command.find_subcommand(word) else { break };
        command = next.clone();
    }
    command
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    fn tip(line: &str) -> Option<String> {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let error = with_tip(Cli::try_parse_from(&words).unwrap_err(), &words).to_string();
        let tip = error.lines().find_map(|line| line.trim().strip_prefix("tip: "));
        tip.map(str::to_owned)
    }

    #[test]
    fn options_of_other_tools_are_answered_with_those_of_the_command() {
        let run = |option: &str| tip(&format!("iotax run randread-4k d {option}")).unwrap();
        assert_eq!(run("--runtime=3"), "use --time TIME");
        assert_eq!(run("--iodepth"), "use --set depth=N");
        assert_eq!(run("--repeat"), "use --trials N");
        assert_eq!(tip("iotax compare a=d b=e --repeat 3").unwrap(), "use --max-blocks N");
        assert_eq!(
            tip("iotax plan run randread-4k d --bs 4k").unwrap(),
            "use --set block-size=SIZE"
        );
        // A command without such an option gets no tip that would fail, too.
        assert_ne!(tip("iotax doctor --runtime 3"), Some("use --time TIME".to_owned()));
        assert_eq!(
            tip("iotax randread-4k d").unwrap(),
            "to run this workload: iotax run randread-4k DIR"
        );
    }

    #[test]
    fn what_is_advised_exists() {
        for (other, options) in OTHER_NAMES {
            let commands = ["run", "compare"].map(|name| asked(&["iotax".into(), name.into()]));
            let advised = commands.iter().any(|command| instead(other, command).is_some());
            assert!(advised, "{other}: {options:?}");
        }
    }
}
