//! Flags without a meaning here: those that change nothing that is measured, and the others.

use iotax_experiment::Error;

use super::line::Line;
use crate::shell::Word;

/// Flags that change nothing that is measured here, and why.
const WITHOUT_EFFECT: [(&str, &str); 12] = [
    ("-L", "latencies are always measured"),
    ("-D", "rates are always kept second by second"),
    ("-C", "nothing is measured after the window, so nothing cools down"),
    ("-Z", "what is written is random data, made before the measurement"),
    ("-z", "offsets follow from iotax's own --seed"),
    ("-R", "choose the output with --format"),
    ("-v", "there is no verbose output"),
    ("-P", "there is one progress line"),
    ("-l", "I/O buffers are ordinary pages"),
    ("-n", "threads are bound to CPUs by -a only"),
    ("-x", "completions come from io_uring"),
    ("-u", "io_uring is used anyway"),
];
/// Of those, the ones that have no value.
const BARE: [&str; 6] = ["-L", "-v", "-l", "-n", "-x", "-u"];

/// Flags that mean something there and nothing here, and what to do instead.
const REFUSED: [(&str, &str, &str); 5] = [
    (
        "-X",
        "a profile in XML describes a run of its own",
        "write its values as flags; results in XML can be compared as they are",
    ),
    ("-e", "there is no Windows event tracing here", "leave it out"),
    ("-y", "there are no Windows events here", "leave it out: all jobs start together"),
    ("-N", "views of a mapping cannot be flushed after each write", "leave it out"),
    ("-?", "this asks for DiskSpd's help", "see `iotax run --help`"),
];

/// Notes the flag, or refuses it by name.
pub(super) fn read(line: &mut Line, word: &Word) -> Result<(), Error> {
    let (name, value) = match word.text.char_indices().nth(2) {
        Some((end, _)) => word.text.split_at(end),
        None => (word.text.as_str(), ""),
    };
    if word.text == "-Rp" || word.text.starts_with("-Rp") {
        let problem = format!("{}: it prints a profile and runs nothing", word.text);
        return Err(Error::syntax(problem, "see `iotax plan` for what would run"));
    }
    if let Some((_, why, advice)) = REFUSED.iter().find(|(known, ..)| *known == name) {
        return Err(Error::syntax(format!("{}: {why}", word.text), *advice));
    }
    match WITHOUT_EFFECT.iter().find(|(known, _)| *known == name) {
        Some((known, why)) if value.is_empty() || !BARE.contains(known) => {
            line.note(&word.text, why);
            Ok(())
        }
        _ => {
            let problem = format!("DiskSpd 2.2 has no flag `{}`", word.text);
            let advice = "values stand right behind the letter, as in -b64K -o32 -rs50";
            Err(Error::syntax(problem, advice))
        }
    }
}
