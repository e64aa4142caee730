//! Words into flags. A value stands right behind its letter.

use std::ops::Range;

use iotax_experiment::Error;

use super::line::{Hints, Line, Throttle};
use super::split::Command;
use super::values::{block, caching, count, percent, size, zones};
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

/// An error, and the bytes it is about.
pub(super) type Placed<T> = Result<T, (Range<usize>, Box<Error>)>;

/// Reads all words of a command; targets come last.
pub(super) fn read_flags(command: &Command) -> Placed<Line> {
    let mut line = Line { words: command.words.clone(), ..Line::default() };
    // Other flags count in blocks, wherever this one stands.
    for word in &command.words {
        if let Some(value) = word.text.strip_prefix("-b") {
            let bytes = needed(word, value).and_then(block);
            line.block_bytes = Some(bytes.map_err(|error| (word.span.clone(), Box::new(error)))?);
        }
    }
    for word in &command.words {
        let placed = |error| (word.span.clone(), Box::new(error));
        if !word.text.starts_with('-') {
            line.targets.push(word.clone());
        } else if let Some(target) = line.targets.first() {
            let problem = format!("{} stands behind the target {}", word.text, target.text);
            return Err(placed(Error::syntax(problem, "write flags first, then targets")));
        } else {
            flag(&mut line, word).map_err(placed)?;
        }
    }
    if line.targets.is_empty() {
        let advice = "end the command with a file, as in diskspd -c1G io.dat";
        let error = Error::syntax("the command names no target", advice);
        return Err((command.span(), Box::new(error)));
    }
    Ok(line)
}

/// The value of a flag that must have one.
fn needed<'a>(word: &Word, value: &'a str) -> Result<&'a str, Error> {
    if value.is_empty() {
        let advice = "write the value right behind the letter, without a blank, as in -b64K";
        return Err(Error::syntax(format!("{} has no value", word.text), advice));
    }
    Ok(value)
}

fn flag(line: &mut Line, word: &Word) -> Result<(), Error> {
    let mut letters = word.text[1..].chars();
    let letter = letters.next().unwrap_or(' ');
    let value = letters.as_str();
    let blocks = u64::from(line.block_bytes());
    let size = |value| needed(word, value).and_then(|value| size(value, blocks));
    let count = |value, least| needed(word, value).and_then(|value| count(value, least));
    match letter {
        'b' => {}
        'B' => return base(line, word, value),
        'c' => line.create_bytes = Some(size(value)?),
        'd' => line.seconds = Some(count(value, 1)?),
        'f' if value.starts_with(|c: char| c.is_ascii_digit()) => {
            line.end_bytes = Some(size(value)?);
        }
        'f' => return hints(line, word, value),
        'F' => line.threads = Some(count(value, 1)?),
        'g' => return throttle(line, word, value),
        'i' => line.burst_ios = Some(count(value, 1)?),
        'j' => line.think_ms = Some(count(value, 1)?),
        'o' => line.outstanding = Some(count(value, 1)?),
        'O' => line.outstanding_per_thread = Some(count(value, 1)?),
        'r' => return random(line, word, value),
        's' => return sequential(line, value),
        'S' => line.caching = Some(caching(line.caching(), word, value)?),
        'h' if value.is_empty() => {
            line.caching = Some(caching(line.caching(), word, "h")?);
        }
        't' => line.threads_per_target = Some(count(value, 1)?),
        'T' => line.thread_stride_bytes = Some(size(value)?),
        'p' if value.is_empty() => line.parallel = true,
        'w' if value.is_empty() => line.write_percent = Some(0),
        'w' => line.write_percent = Some(percent(value)?),
        'W' => line.warm_up_seconds = Some(count(value, 0)?),
        'a' => return affinity(line, word, value),
        'I' if value == "3" => {}
        'I' => {
            let problem = format!("{}: I/Os have no priorities here", word.text);
            return Err(Error::syntax(problem, "leave it out, or write -I3, the usual one"));
        }
        'Z' => {
            let bytes = value.split(',').next().unwrap_or_default();
            if bytes.starts_with(|c: char| c.is_ascii_digit()) {
                line.write_source_bytes = Some(size(bytes)?);
            }
            return without_meaning(line, word);
        }
        'x' if value.is_empty() => {
            line.completion_routines = true;
            return without_meaning(line, word);
        }
        'n' if value.is_empty() => {
            line.no_affinity = true;
            return without_meaning(line, word);
        }
        _ => return without_meaning(line, word),
    }
    Ok(())
}

/// `-B<base>[:<length>]`.
fn base(line: &mut Line, word: &Word, value: &str) -> Result<(), Error> {
    let blocks = u64::from(line.block_bytes());
    let (base, length) = match needed(word, value)?.split_once(':') {
        Some((base, length)) => (base, Some(length)),
        None => (value, None),
    };
    line.base_bytes = Some(size(base, blocks)?);
    if let Some(length) = length {
        line.length_bytes = Some(size(length, blocks)?);
    }
    Ok(())
}

/// `-f<rst>`.
fn hints(line: &mut Line, word: &Word, value: &str) -> Result<(), Error> {
    let mut hints = Hints::default();
    for hint in needed(word, value)?.chars() {
        match hint {
            'r' => hints.random = true,
            's' => hints.sequential = true,
            't' => line.note("-ft", "files have no attribute `temporary` here"),
            _ => {
                let advice = "write -f1G for a size, or -fr, -fs or -ft for a hint";
                return Err(Error::syntax(format!("{} hints at nothing", word.text), advice));
            }
        }
    }
    line.hints = Some(hints);
    Ok(())
}

/// `-g<bytes per millisecond>` or `-g<IOPS>i`.
fn throttle(line: &mut Line, word: &Word, value: &str) -> Result<(), Error> {
    let value = needed(word, value)?;
    let throttle = match value.strip_suffix('i') {
        Some(iops) => Throttle::Iops(count(iops, 1)?),
        None => Throttle::BytesPerMillisecond(count(value, 1)?),
    };
    line.throttle = Some(throttle);
    Ok(())
}

/// `-r[align]`, `-rs<pct>`, `-rd<distribution>`.
fn random(line: &mut Line, word: &Word, value: &str) -> Result<(), Error> {
    if let Some(share) = value.strip_prefix('s') {
        line.random_percent = Some(needed(word, share).and_then(percent)?);
        return Ok(());
    }
    if let Some(distribution) = value.strip_prefix('d') {
        let blocks = u64::from(line.block_bytes());
        line.zones = Some(zones(word, distribution, blocks)?);
        return Ok(());
    }
    let align = match value {
        "" => None,
        _ => match size(value, u64::from(line.block_bytes()))? {
            0 => return Err(Error::syntax("an alignment of 0 bytes", "write for example -r4K")),
            align => Some(align),
        },
    };
    (line.is_random, line.align_bytes) = (true, align);
    Ok(())
}

/// `-s[i][stride]`.
fn sequential(line: &mut Line, value: &str) -> Result<(), Error> {
    let stride = match value.strip_prefix('i') {
        Some(stride) => {
            line.interlocked = true;
            stride
        }
        None => value,
    };
    let stride = match stride {
        "" => None,
        _ => match size(stride, u64::from(line.block_bytes()))? {
            0 => return Err(Error::syntax("a stride of 0 bytes", "write for example -s64K")),
            stride => Some(stride),
        },
    };
    line.stride_bytes = stride;
    Ok(())
}

/// `-a0,1` or, with the one group of processors there is, `-ag0,0,1`.
fn affinity(line: &mut Line, word: &Word, value: &str) -> Result<(), Error> {
    line.affinity = true;
    if value == "g" {
        line.note("-ag", "threads are bound to CPUs only by a list such as -a0,1");
        return Ok(());
    }
    for (i, number) in needed(word, value)?.split(',').enumerate() {
        if let Some(group) = number.strip_prefix('g') {
            if count(group, 0)? == 0 {
                continue;
            }
            let problem = format!("{}: there are no groups of processors here", word.text);
            return Err(Error::syntax(problem, "number CPUs through, as in -a0,1,64,65"));
        }
        if i >= 4096 {
            return Err(Error::syntax("more CPUs than there are", "name at most 4096"));
        }
        let cpu = count(number, 0)?;
        if !line.cpus.contains(&cpu) {
            line.cpus.push(cpu);
        }
    }
    Ok(())
}

/// Notes the flag, or refuses it by name.
fn without_meaning(line: &mut Line, word: &Word) -> Result<(), Error> {
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
