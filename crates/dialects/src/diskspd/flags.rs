//! Reads words as flags. A value follows its letter directly.

use std::ops::Range;

use iotax_experiment::units::Unit;
use iotax_experiment::{Error, Extent, Zone};
use iotax_quantity::set_percent;

use super::Command;
use super::line::{Caching, Hints, Line, Throttle};
use crate::shell::Word;

/// Flags that do not change anything that iotax measures, and why.
const WITHOUT_EFFECT: [(&str, &str); 12] = [
    ("-L", "iotax always measures latencies"),
    ("-D", "iotax always records rates per second"),
    ("-C", "iotax measures nothing after the measured window, so it needs no cool-down"),
    ("-Z", "iotax writes random data, generated before the measurement"),
    ("-z", "offsets depend on iotax's --seed"),
    ("-R", "choose the output with --format"),
    ("-v", "iotax has no verbose output"),
    ("-P", "iotax shows one progress line"),
    ("-l", "iotax uses ordinary pages for I/O buffers"),
    ("-n", "only -a binds threads to CPUs"),
    ("-x", "iotax gets completions from io_uring"),
    ("-u", "iotax uses io_uring anyway"),
];
/// Those of them that take no value.
const BARE: [&str; 6] = ["-L", "-v", "-l", "-n", "-x", "-u"];

/// Flags of `DiskSpd` that iotax does not support, and what to do instead.
const REFUSED: [(&str, &str, &str); 5] = [
    (
        "-X",
        "iotax cannot run XML profiles",
        "specify the profile's values as flags; iotax compare reads XML results directly",
    ),
    ("-e", "Windows event tracing is not available here", "leave it out"),
    ("-y", "Windows events are not available here", "leave out -y; all jobs start together"),
    ("-N", "iotax cannot flush a memory-mapped view after each write", "leave it out"),
    ("-?", "this prints DiskSpd's help", "see `iotax run --help`"),
];

/// An error, and the range of bytes that it is about.
pub(super) type Placed<T> = Result<T, (Range<usize>, Box<Error>)>;

/// Reads all words of a command; the targets come last.
pub(super) fn read_flags(command: &Command) -> Placed<Line> {
    let mut line = Line { words: command.words.clone(), ..Line::default() };
    // Other flags count in blocks, whatever the position of this flag.
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
            let problem = format!("{} comes after the target {}", word.text, target.text);
            return Err(placed(Error::syntax(problem, "put all flags before the targets")));
        } else {
            flag(&mut line, word).map_err(placed)?;
        }
    }
    if line.targets.is_empty() {
        let advice = "end the command with a file, as in diskspd -c1G io.dat";
        let error = Error::syntax("the command has no target", advice);
        return Err((command.span(), Box::new(error)));
    }
    Ok(line)
}

/// The value of a flag that requires one.
fn needed<'a>(word: &Word, value: &'a str) -> Result<&'a str, Error> {
    if value.is_empty() {
        let advice = "put the value directly after the flag, without a space, as in -b64K";
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
            let problem = format!("{}: iotax supports only the normal I/O priority", word.text);
            return Err(Error::syntax(problem, "leave out -I, or use -I3 (normal)"));
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
            't' => line.note("-ft", "files have no `temporary` attribute on Linux"),
            _ => {
                let advice = "use -f1G for a size, or -fr, -fs or -ft for a hint";
                return Err(Error::syntax(format!("{} is not a valid hint", word.text), advice));
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
    let none = || Error::syntax("the alignment is 0 bytes", "specify a size, as in -r4K");
    (line.is_random, line.align_bytes) = (true, above_none(line, value, none)?);
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
    let none = || Error::syntax("the stride is 0 bytes", "specify a size, as in -s64K");
    line.stride_bytes = above_none(line, stride, none)?;
    Ok(())
}

/// A size above 0, if there is one.
fn above_none(line: &Line, value: &str, none: fn() -> Error) -> Result<Option<u64>, Error> {
    if value.is_empty() {
        return Ok(None);
    }
    let bytes = size(value, u64::from(line.block_bytes()))?;
    if bytes == 0 { Err(none()) } else { Ok(Some(bytes)) }
}

/// `-a0,1` or, since there is only one group of processors, `-ag0,0,1`.
fn affinity(line: &mut Line, word: &Word, value: &str) -> Result<(), Error> {
    line.affinity = true;
    if value == "g" {
        line.note("-ag", "threads can be bound to CPUs only with a list such as -a0,1");
        return Ok(());
    }
    for (i, number) in needed(word, value)?.split(',').enumerate() {
        if let Some(group) = number.strip_prefix('g') {
            if count(group, 0)? == 0 {
                continue;
            }
            let problem = format!("{}: Linux has no processor groups", word.text);
            return Err(Error::syntax(
                problem,
                "number the CPUs of all groups consecutively, as in -a0,1,64,65",
            ));
        }
        if i >= 4096 {
            return Err(Error::syntax("too many CPUs", "give at most 4096"));
        }
        let cpu = count(number, 0)?;
        if !line.cpus.contains(&cpu) {
            line.cpus.push(cpu);
        }
    }
    Ok(())
}

/// Notes that the flag has no effect, or refuses it by name.
fn without_meaning(line: &mut Line, word: &Word) -> Result<(), Error> {
    let (name, value) = match word.text.char_indices().nth(2) {
        Some((end, _)) => word.text.split_at(end),
        None => (word.text.as_str(), ""),
    };
    if word.text == "-Rp" || word.text.starts_with("-Rp") {
        let problem = format!("{}: this prints a profile and runs nothing", word.text);
        return Err(Error::syntax(problem, "use `iotax plan` to see what would run"));
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
            let advice = "put each value directly after its flag, as in -b64K -o32 -rs50";
            Err(Error::syntax(problem, advice))
        }
    }
}

// Values of flags: sizes, counts, percentages, caches and parts of the target.

const SIZE_ADVICE: &str =
    "specify a size as in DiskSpd: 4096, 4K, 64M, 2G, 1T (powers of 1024), or 8b for 8 blocks";

const CACHING_ADVICE: &str = "use -Sb (cached), -Su (O_DIRECT), -Sw (write through), -Sh (both), \
                              -Sm (mapped) or -Sr (no local cache)";
const ZONES_ADVICE: &str = "specify each part as IO%/TARGET%, as in -rdpct90/10:5/20, or as \
                            IO%/SIZE, as in -rdabs90/10G:5/20G";

/// A size in bytes; `b` means blocks of `block_bytes`.
pub(super) fn size(text: &str, block_bytes: u64) -> Result<u64, Error> {
    let refuse = |problem: &str| Unit::Size.refuse(text, problem, SIZE_ADVICE);
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let multiplier = match &text[digits.len()..] {
        "" => 1,
        "b" | "B" => block_bytes,
        "k" | "K" => 1 << 10,
        "m" | "M" => 1 << 20,
        "g" | "G" => 1 << 30,
        "t" | "T" => 1_u64 << 40,
        _ => return Err(refuse("the unit must be K, M, G, T or b")),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(refuse("it is not a whole number"));
    }
    let number: Option<u64> = digits.parse().ok();
    number
        .and_then(|number| number.checked_mul(multiplier))
        .ok_or_else(|| refuse("it must be below 16 EiB"))
}

/// A size above 0 that fits 32 bits.
pub(super) fn block(text: &str) -> Result<u32, Error> {
    let bytes = size(text, 64 << 10)?;
    match u32::try_from(bytes) {
        Ok(0) => Err(Unit::Size.refuse(text, "an I/O of 0 bytes does nothing", SIZE_ADVICE)),
        Ok(bytes) => Ok(bytes),
        Err(_) => {
            Err(Unit::Size.refuse(text, "it is too large for one I/O; the limit is 4G - 1", ""))
        }
    }
}

/// A whole number, at least `least`.
pub(super) fn count(text: &str, least: u32) -> Result<u32, Error> {
    let refuse = |problem: String| {
        Unit::Count.refuse(text, problem, "use only digits, directly after the flag")
    };
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(refuse("it must consist of digits".into()));
    }
    let number: u32 = text.parse().map_err(|_| refuse("it is too large".into()))?;
    if number < least { Err(refuse(format!("it must be at least {least}"))) } else { Ok(number) }
}

/// 0 to 100.
pub(super) fn percent(text: &str) -> Result<u8, Error> {
    let number = count(text, 0)?;
    u8::try_from(number)
        .ok()
        .filter(|percent| *percent <= 100)
        .ok_or_else(|| Unit::Percent.refuse(text, "it is above 100", "specify 0 to 100"))
}

/// `-S...`: caches and write-through. Adds the flags in `value` to earlier ones. As in `DiskSpd`,
/// one flag selects caching and one selects write-through; to give either twice is a conflict.
pub(super) fn caching(mut caching: Caching, word: &Word, value: &str) -> Result<Caching, Error> {
    for flag in if value.is_empty() { "u" } else { value }.chars() {
        let cache_said = caching.cached || caching.unbuffered || caching.remote_only;
        let fresh = match flag {
            'b' | 'u' | 'r' => !cache_said,
            'w' => !caching.write_through,
            'h' => !cache_said && !caching.write_through,
            'm' => !caching.mapped,
            _ => {
                return Err(Error::syntax(
                    format!("{}: -S has no flag `{flag}`", word.text),
                    CACHING_ADVICE,
                ));
            }
        };
        if !fresh {
            let problem = format!("{}: the caching mode is given twice", word.text);
            return Err(Error::syntax(problem, CACHING_ADVICE));
        }
        match flag {
            'b' => caching.cached = true,
            'u' => caching.unbuffered = true,
            'r' => caching.remote_only = true,
            'w' => caching.write_through = true,
            'm' => caching.mapped = true,
            _ => (caching.unbuffered, caching.write_through) = (true, true),
        }
    }
    Ok(caching)
}

/// `-rd`: parts of the target in order, with their shares of the random I/Os. The remaining I/Os go
/// to the remaining part of the target.
pub(super) fn zones(word: &Word, text: &str, block_bytes: u64) -> Result<Vec<Zone>, Error> {
    let refuse = |problem: String| Error::syntax(format!("{}: {problem}", word.text), ZONES_ADVICE);
    let (is_percent, parts) = match (text.strip_prefix("pct"), text.strip_prefix("abs")) {
        (Some(parts), _) => (true, parts),
        (_, Some(parts)) => (false, parts),
        _ => return Err(refuse("it has neither pct nor abs".to_owned())),
    };
    let (mut accesses, mut target) = (0_u32, 0_u32);
    let mut zones = Vec::new();
    for part in parts.split(':') {
        let Some((share, extent)) = part.split_once('/') else {
            return Err(refuse(format!("`{part}` does not have the form IO%/TARGET")));
        };
        let accesses_percent = percent(share)?;
        accesses += u32::from(accesses_percent);
        let extent = if is_percent {
            let share = percent(extent)?;
            target += u32::from(share);
            Extent::Percent(share)
        } else {
            Extent::Bytes(size(extent, block_bytes)?)
        };
        match extent {
            Extent::Percent(0) => {
                return Err(refuse(format!("`{part}` covers 0 % of the target")));
            }
            // A gap may have any size.
            Extent::Bytes(bytes) if bytes == 0 || accesses_percent > 0 && bytes < block_bytes => {
                return Err(refuse(format!("`{part}` is smaller than a block")));
            }
            _ => zones.push(Zone { accesses_percent, extent }),
        }
        if accesses > 100 || target > 100 {
            let of = if accesses > 100 { "I/Os" } else { "target" };
            return Err(refuse(format!("the parts add up to more than 100 % of the {of}")));
        }
    }
    let left = u8::try_from(100 - accesses).unwrap_or(0);
    if is_percent && left > 0 && target == 100 {
        return Err(refuse(format!(
            "the parts cover the whole target, but {} of the I/Os are not assigned to a part",
            set_percent(left)
        )));
    }
    if is_percent && left == 0 && target < 100 {
        return Err(refuse(format!(
            "{} of the target gets no share of the I/Os",
            set_percent(100 - target)
        )));
    }
    if left > 0 {
        zones.push(Zone { accesses_percent: left, extent: Extent::Rest });
    }
    Ok(zones)
}
