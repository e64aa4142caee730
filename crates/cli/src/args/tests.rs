//! Checks that every command and option in causes, errors, notes and help texts exists. Those of
//! this program go through its own parser; those of other programs are in a list.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use clap::error::ErrorKind;
use clap::{Command, CommandFactory as _, Parser as _};
use iotax_wording::cause::causes;

use super::Cli;

/// Other programs that causes name, and the options and subcommands that causes use.
const PROGRAMS: [(&str, &[&str]); 34] = [
    ("blockdev", &["--setra"]),
    ("chattr", &["+C"]),
    (
        "cryptsetup",
        &[
            "refresh",
            "benchmark",
            "luksDump",
            "reencrypt",
            "-c",
            "-s",
            "--persistent",
            "--perf-no_read_workqueue",
            "--perf-no_write_workqueue",
            "--perf-submit_from_crypt_cpus",
            "--sector-size",
        ],
    ),
    ("curl", &["-H"]),
    ("dmesg", &[]),
    ("dmsetup", &["table"]),
    ("echo", &[]),
    ("ethtool", &["-k", "-K", "-g", "-G", "-L", "-S"]),
    ("fstrim", &[]),
    ("gcloud", &["compute", "--zone", "--format"]),
    ("hdparm", &["-W"]),
    ("iotop", &[]),
    ("ip", &["route", "link", "xfrm", "-s"]),
    ("kubectl", &["get", "describe", "top", "uncordon", "-o"]),
    ("losetup", &["--direct-io"]),
    ("lsblk", &["-o"]),
    ("mdadm", &["--grow", "--bitmap", "--bitmap-chunk"]),
    ("modprobe", &[]),
    ("mount", &["-o", "-t"]),
    ("mpstat", &["-P"]),
    ("multipath", &["-ll"]),
    ("nfsstat", &["-m"]),
    ("nstat", &["-az"]),
    ("nvme", &["get-feature", "smart-log", "-f", "-H"]),
    ("pidstat", &["-d"]),
    ("ping", &["-M", "-s"]),
    ("smartctl", &["-x"]),
    ("ss", &["-t", "-ti", "-ltnp"]),
    ("swapoff", &[]),
    ("sysctl", &["-w"]),
    ("tc", &["qdisc", "class", "filter", "-s"]),
    ("top", &["-H", "-p"]),
    ("zfs", &["get", "set"]),
    ("zpool", &["iostat", "list", "-v"]),
];
/// Options of other programs that are named without their program.
const OPTIONS_OF_OTHERS: [(&str, &str); 4] = [
    ("--sector-size", "cryptsetup"),
    ("--integrity-no-journal", "cryptsetup"),
    ("--cache", "virtiofsd"),
    ("--thread-pool-size", "virtiofsd"),
];
/// Messages of other programs, which are not commands.
const SAYINGS: [&str; 1] = ["swiotlb buffer is full"];

/// Why a text in backquotes is not a valid command; `None` if it is valid or not a command.
fn wrong(text: &str) -> Option<String> {
    if is_left_out(text) {
        return None;
    }
    let words = shlex::split(&cut(text))?;
    let words: Vec<&str> =
        words.iter().map(String::as_str).skip_while(|word| is_assignment(word)).collect();
    let first = *words.first()?;
    if first == "iotax" {
        return wrong_here(&words);
    }
    if first.starts_with("--") {
        let known = options();
        let of_others = |option: &str| OPTIONS_OF_OTHERS.iter().any(|(name, _)| *name == option);
        let unknown = |option: &&str| !known.contains(*option) && !of_others(option);
        let named = words.iter().filter(|word| word.starts_with("--"));
        let named = named.map(|word| word.split('=').next().unwrap_or_default());
        return named.clone().find(unknown).map(|option| format!("no option {option}"));
    }
    // A mount option, in any context.
    if first == "-o" {
        return None;
    }
    let Some((_, known)) = PROGRAMS.iter().find(|(name, _)| *name == first) else {
        let is_word =
            first.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
        let is_command = is_word && words.len() > 1 && !SAYINGS.contains(&text);
        return is_command.then(|| format!("no program {first}"));
    };
    let name = |word: &str| word.split('=').next().unwrap_or_default().to_owned();
    let is_unknown = |word: &&&str| {
        (word.starts_with('-') || word.starts_with('+')) && !known.contains(&name(word).as_str())
    };
    words[1..].iter().find(is_unknown).map(|word| format!("{first} has no {word}"))
}

/// The text up to a pipe, a redirection, another command or a comment.
fn cut(text: &str) -> String {
    let ends = [" | ", " > ", " && ", " ; ", " # ", "   "];
    let end = ends.iter().filter_map(|end| text.find(end)).min().unwrap_or(text.len());
    text[..end].to_owned()
}

/// `IOTAX_TOKEN_FILE=FILE`.
fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_uppercase() || c == '_')
    })
}

/// Whether a text is about Kubernetes and this build does not include it.
fn is_left_out(text: &str) -> bool {
    !cfg!(feature = "kubernetes") && (text.contains("iotax kube") || text.contains("--cluster"))
}

/// Why this program rejects a command; the command may be incomplete.
fn wrong_here(words: &[&str]) -> Option<String> {
    let words = words.iter().filter_map(|word| substituted(word));
    let words: Vec<String> = words.collect();
    let error = Cli::try_parse_from(&words).err()?;
    let is_cut_short = matches!(
        error.kind(),
        ErrorKind::MissingRequiredArgument
            | ErrorKind::MissingSubcommand
            | ErrorKind::DisplayHelp
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
            | ErrorKind::DisplayVersion
    ) || error.to_string().contains("a value is required for");
    (!is_cut_short).then(|| error.to_string())
}

/// Replaces a placeholder by a value; `None` for a placeholder for several words.
fn substituted(word: &str) -> Option<String> {
    let word = word.trim_start_matches('[').trim_end_matches(']');
    match word {
        "OPTIONS" | "..." | "…" => None,
        // Placeholders that need a value of another kind.
        "N" => Some("1".to_owned()),
        "SHELL" => Some("bash".to_owned()),
        word => Some(word.trim_end_matches("...").to_owned()),
    }
}

/// Long options of all commands.
fn options() -> BTreeSet<String> {
    fn collect(command: &Command, into: &mut BTreeSet<String>) {
        into.extend(command.get_opts().filter_map(|own| Some(format!("--{}", own.get_long()?))));
        into.extend(
            command.get_arguments().filter_map(|own| Some(format!("--{}", own.get_long()?))),
        );
        command.get_subcommands().for_each(|own| collect(own, into));
    }
    let mut all: BTreeSet<String> =
        ["--help", "--version"].map(str::to_owned).into_iter().collect();
    collect(&Cli::command(), &mut all);
    all
}

/// The texts between backquotes.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

fn report(wrong: &[String]) {
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn commands_in_causes_exist() {
    let mut all = Vec::new();
    let mut count = 0;
    for cause in causes() {
        let texts = [
            &cause.mechanism, &cause.detection, &cause.experiment, &cause.remedy, &cause.magnitude,
        ];
        for text in texts.into_iter().flat_map(|text| quoted(text)) {
            count += 1;
            all.extend(wrong(text).map(|why| format!("{}: `{text}`: {why}", cause.id)));
        }
    }
    report(&all);
    assert!(count > 200, "causes have commands: {count}");
}

/// The texts of the program by source file, without comments and tests.
fn texts() -> Vec<(PathBuf, String)> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = Vec::new();
    let mut directories: Vec<PathBuf> = fs::read_dir(crates)
        .unwrap()
        .map(|entry| entry.unwrap().path().join("src"))
        .filter(|path| path.is_dir())
        .collect();
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            match path.extension().and_then(|extension| extension.to_str()) {
                _ if path.is_dir() => directories.push(path),
                Some("rs") if !path.ends_with("args/tests.rs") => files.push(path),
                _ => {}
            }
        }
    }
    let of_file = |path: PathBuf| {
        let text = fs::read_to_string(&path).unwrap();
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        let is_shown = |line: &&str| {
            let line = line.trim_start();
            !line.starts_with("//")
                || line.starts_with("/// ") && path.to_string_lossy().contains("/args")
        };
        // Joins lines that continue with a backslash.
        let code = code.lines().filter(is_shown).collect::<Vec<_>>().join("\n");
        let joined = code.split("\\\n").map(str::trim_start).collect::<Vec<_>>().join("");
        (path, joined)
    };
    files.into_iter().map(of_file).collect()
}

/// Replaces the placeholders of format strings.
fn filled_in(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        let Some((_, after)) = after.split_once('}') else { break };
        out.push_str(before);
        // Directly after a word, it is a plural or nothing.
        let is_glued = out.chars().last().is_some_and(|c| c.is_ascii_alphanumeric());
        out.push_str(if is_glued { "" } else { "1" });
        rest = after;
    }
    out + rest
}

/// Texts in quotes that begin with this program's name but are not commands.
const PROSE: [&str; 6] = [
    // The name of a process.
    "iotax agent in pod",
    // Greeting between the ends of a network path.
    "iotax peer 0",
    "iotax report shows it",
    "iotax catalog azure (or",
    "iotax doctor --explain lists",
    // A usage line that clap cannot generate.
    "iotax kube fleet [OPTIONS]",
];

#[test]
fn commands_in_errors_and_notes_exist() {
    let mut all = Vec::new();
    let mut count = 0;
    let commands: Vec<String> =
        Cli::command().get_subcommands().map(|own| own.get_name().to_owned()).collect();
    for (path, text) in texts() {
        let in_backquotes = text
            .split("`iotax ")
            .skip(1)
            .filter_map(|rest| Some(rest.split_once('`')?.0).filter(|rest| !rest.contains('\n')));
        let in_quotes =
            text.split("\"iotax ").skip(1).filter_map(|rest| Some(rest.split_once('"')?.0));
        let is_command = |rest: &&str| {
            let first = rest.split([' ', '{']).next().unwrap_or_default();
            let is_prose = PROSE.iter().any(|prose| format!("iotax {rest}").starts_with(prose));
            commands.iter().any(|name| name == first) && !is_prose
        };
        for rest in in_backquotes.chain(in_quotes.filter(is_command)) {
            let command =
                filled_in(&format!("iotax {}", rest.replace("\\\\", "\\").replace("\\n", " ")));
            count += 1;
            all.extend(
                wrong(&command).map(|why| format!("{}: `{command}`: {why}", path.display())),
            );
        }
    }
    report(&all);
    assert!(count > 60, "messages have commands: {count}");
}

/// Crates whose texts only name options of this program.
const OF_THIS_PROGRAM: [&str; 6] = ["analyze", "caps", "diagnose", "documented", "report", "run"];
/// Exceptions: options of others in their texts.
const IN_TEXTS_OF_OTHERS: [(&str, &str); 2] =
    [("--output-format", "fio"), ("--blocks", "the script of a bundle")];

#[test]
fn options_in_messages_exist() {
    let known = options();
    let mut all = Vec::new();
    for (path, text) in texts() {
        let is_of = |name: &str| path.to_string_lossy().contains(&format!("crates/{name}/src"));
        if !OF_THIS_PROGRAM.iter().any(|name| is_of(name)) {
            continue;
        }
        let strings = text.lines().flat_map(|line| line.split('"').skip(1).step_by(2));
        for string in strings.filter(|string| !is_left_out(string)) {
            for (at, _) in string.match_indices("--") {
                let starts = string[..at].chars().last().is_none_or(|c| " (`'\n".contains(c));
                let name: String = string[at..]
                    .chars()
                    .take_while(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || *c == '-')
                    .collect();
                let is_others = IN_TEXTS_OF_OTHERS.iter().any(|(other, _)| *other == name);
                if starts && name.len() > 3 && !known.contains(&name) && !is_others {
                    all.push(format!("{}: {name} in {string:?}", path.display()));
                }
            }
        }
    }
    report(&all);
}

#[test]
fn examples_in_help_are_taken() {
    fn collect(command: &Command, into: &mut Vec<String>) {
        let texts = [command.get_after_help(), command.get_after_long_help(), command.get_about()];
        into.extend(texts.into_iter().flatten().map(ToString::to_string));
        let helps = command.get_arguments().flat_map(|own| [own.get_help(), own.get_long_help()]);
        into.extend(helps.flatten().map(ToString::to_string));
        command.get_subcommands().for_each(|own| collect(own, into));
    }
    let mut texts = Vec::new();
    collect(&Cli::command(), &mut texts);
    let mut all = Vec::new();
    let mut count = 0;
    for text in texts {
        let joined = text.replace("\\\n", " ");
        let examples = joined
            .lines()
            .filter(|line| line.starts_with("  iotax ") || line.starts_with("  IOTAX_"));
        let examples: Vec<&str> = examples.map(str::trim).chain(quoted(&joined)).collect();
        for example in examples {
            if example.contains("iotax ") && !example.starts_with("ssh ") {
                count += 1;
                all.extend(wrong(example).map(|why| format!("{example}: {why}")));
            }
        }
    }
    report(&all);
    assert!(count > 40, "help has examples: {count}");
}

#[test]
fn what_does_not_exist_is_found() {
    for text in [
        "iotax run WORKLOAD PATH --rate 1000",
        "iotax rnu WORKLOAD PATH",
        "--rate",
        "blockdev --set-read-ahead 128",
        "frobnicate --now",
        "iotax limits --burst=40m PATH --iops",
    ] {
        assert!(wrong(text).is_some(), "{text}");
    }
    for text in
        ["iotax limits", "read_ahead_kb", "iotax run ... --engine fio", "echo none > /sys/x"]
    {
        assert_eq!(wrong(text), None, "{text}");
    }
}
