//! Reads command lines of `DiskSpd` 2.2 and translates them to Linux.
//!
//! ```text
//! diskspd -b256k -d30 -o10 -t1 -Sh -w100 -L -Z1G -c2G e:\io.tst.bin
//! ```
//!
//! Several command lines run as in a shell: the lines of a batch file one after the other, commands
//! joined by `&` (or started by `start`) together. Command lines that `DiskSpd` refuses are refused
//! here too. Flags without a counterpart are refused by name, or reported in [`Workload::notes`] if
//! they do not affect what is measured. Sources: `CmdLineParser.cpp` and `Profile::Validate` of
//! <https://github.com/microsoft/diskspd>, and its wiki.

mod flags;
mod line;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use indexmap::IndexSet;
use iotax_experiment::units::format_bytes;
use iotax_experiment::{
    BlockSizes, Engine, Error, Files, Job, Origin, Pace, Pattern, RunLength, Think, Workload,
};

use crate::lines::by_line;
use crate::names::{Names, last_part, plain, shorten_targets};
use crate::shell::{self, Pasted, Start, Tool, Word};
use line::{Line, Throttle};

/// Reads one or more command lines: those that run together make one phase.
///
/// The result is not yet validated: see [`Workload::validate`].
///
/// # Errors
/// For command lines that `DiskSpd` would refuse, and for flags that iotax does not support; each
/// with its position.
pub fn from_command(text: &str) -> Result<Vec<Workload>, Error> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim().contains('\n') { from_script("the script", text) } else { read(text) }
}

/// Reads a file of command lines. Positions have a line number and `name`.
///
/// # Errors
/// As [`from_command`].
pub fn from_script(name: &str, text: &str) -> Result<Vec<Workload>, Error> {
    read(text.strip_prefix('\u{feff}').unwrap_or(text)).map_err(|error| by_line(error, name))
}

fn read(text: &str) -> Result<Vec<Workload>, Error> {
    let mut lines = Vec::new();
    let (commands, mut notes) = commands(text)?;
    for command in commands {
        let placed = |(span, error): (Range<usize>, Box<Error>)| {
            typed(*error, command.slashes).at(text, span)
        };
        let mut line = flags::read_flags(&command).map_err(placed)?;
        line::refuse(&line).map_err(placed)?;
        line.slashes = command.slashes;
        line.start = command.start;
        for note in &mut line.notes {
            *note = as_typed(note, command.slashes);
        }
        lines.push(line);
    }
    let mut phases = phases(text, &lines)?;
    if let Some(first) = phases.first_mut() {
        notes.append(&mut first.notes);
        first.notes = notes;
    }
    Ok(phases)
}

/// An error that shows flags as they were typed.
fn typed(error: Error, slashes: bool) -> Error {
    match error {
        Error::Syntax { problem, advice } => {
            let typed = |message: &str| as_typed(message, slashes);
            Error::syntax(typed(&problem), typed(&advice))
        }
        error => error,
    }
}

// The words of a command as `DiskSpd` reads them: flags may begin with a slash.

/// The words of one command without the name of the program; at least one.
#[derive(Debug, Clone)]
struct Command {
    pub words: Vec<Word>,
    pub start: Start,
    /// Whether flags were typed as `/b4K`; [`Word::text`] has `-b4K`.
    pub slashes: bool,
}

impl Command {
    fn span(&self) -> Range<usize> {
        let start = self.words.first().map_or(0, |word| word.span.start);
        start..self.words.last().map_or(0, |word| word.span.end)
    }
}

/// The commands in `text`, and the parts that were left out.
fn commands(text: &str) -> Result<(Vec<Command>, Vec<String>), Error> {
    let Pasted { runs, notes } = shell::read_pasted(text, Tool::DiskSpd)?;
    let advice = "write a command such as diskspd -b4K -r -o32 -d10 -Sh -c1G io.dat";
    let mut commands = Vec::new();
    for run in runs {
        let mut words = run.words;
        if words.is_empty() {
            let error = Error::syntax("the command has neither flags nor a target", advice);
            return Err(error.at(text, run.span));
        }
        let mut slashes = false;
        for word in &mut words {
            slashes |= switch(word);
        }
        commands.push(Command { words, start: run.start, slashes });
    }
    if commands.is_empty() {
        return Err(Error::syntax("there is no command", advice));
    }
    let note = |note: shell::Note| format!("{}: {}", shell::shown(&text[note.span]), note.why);
    Ok((commands, notes.into_iter().map(note).collect()))
}

/// Rewrites `/b4K` to `-b4K`; returns whether it did. A path of this system contains another slash.
fn switch(word: &mut Word) -> bool {
    if let Some(flag) = word.text.strip_prefix('/')
        && !flag.contains('/')
    {
        word.text = format!("-{flag}");
        return true;
    }
    false
}

/// A message with its flags as they were typed.
fn as_typed(message: &str, slashes: bool) -> String {
    if !slashes {
        return message.to_owned();
    }
    let mut before = ' ';
    let mut typed = String::with_capacity(message.len());
    let mut chars = message.chars().peekable();
    while let Some(c) = chars.next() {
        let is_flag = c == '-'
            && matches!(before, ' ' | '(' | '`')
            && chars.peek().is_some_and(|next| next.is_ascii_alphabetic() || *next == '?');
        typed.push(if is_flag { '/' } else { c });
        before = c;
    }
    typed
}

// Translates command lines to jobs, a ramp and a window.

const SECOND_NS: u64 = 1_000_000_000;
/// The default of `DiskSpd`.
const DEFAULT_SECONDS: u32 = 10;
const DEFAULT_WARM_UP_SECONDS: u32 = 5;
const DEFAULT_OUTSTANDING: u32 = 2;
/// If none of `-c`, `-f` and `-B` gives a size, `DiskSpd` uses the size of the file, which is
/// unknown here.
const UNKNOWN_BYTES: u64 = 1 << 30;

/// A phase of the lines that run together.
fn phases(text: &str, lines: &[Line]) -> Result<Vec<Workload>, Error> {
    let files = file_names(lines);
    let mut phases = Vec::new();
    for together in lines.chunk_by(|a, b| a.start.phase == b.start.phase) {
        phases.push(workload(text, together, &files)?);
    }
    if phases.len() > 1 {
        let mut names = Names::default();
        for phase in &mut phases {
            let jobs: Vec<&str> = phase.jobs.iter().map(|job| job.name.as_str()).collect();
            phase.name = names.take(&jobs.join(" + "));
        }
    }
    shorten_targets(&mut phases);
    Ok(phases)
}

/// All lines together, started at the same time.
fn workload(text: &str, lines: &[Line], files: &BTreeMap<&str, String>) -> Result<Workload, Error> {
    let (ramp_ns, time_ns) = window(text, lines)?;
    // A note that holds for several lines or targets is given once.
    let mut notes = IndexSet::new();
    let mut jobs: Vec<Job> = Vec::new();
    let mut names = Names::default();
    for line in lines {
        notes.extend(line.notes.iter().cloned());
        for target in &line.targets {
            let file = files[target.text.as_str()].clone();
            let name = names.take(&file);
            let mut own = IndexSet::new();
            jobs.push(Job { target: place(&target.text), ..job(line, name, file, &mut own) });
            notes.extend(own.iter().map(|note| as_typed(note, line.slashes)));
        }
    }
    Ok(Workload {
        about: one_line(text),
        ramp_ns,
        time_ns,
        origin: Some(Origin::Text("a DiskSpd command line".into())),
        notes: notes.into_iter().collect(),
        ..Workload::new("diskspd", jobs)
    })
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Ramp and measured time. If lines have different times, only the time in which all of them run is
/// measured.
fn window(text: &str, lines: &[Line]) -> Result<(u64, u64), Error> {
    let warm_up_ns = |line: &Line| {
        let seconds = u64::from(line.warm_up_seconds.unwrap_or(DEFAULT_WARM_UP_SECONDS));
        line.start.offset_ns.saturating_add(seconds * SECOND_NS)
    };
    let seconds_ns = |line: &Line| {
        let seconds = line.seconds.unwrap_or(DEFAULT_SECONDS);
        u64::from(seconds) * SECOND_NS
    };
    let end_ns = |line: &Line| warm_up_ns(line).saturating_add(seconds_ns(line));
    let start = lines.iter().map(warm_up_ns).max().unwrap_or_default();
    let end = lines.iter().map(end_ns).min().unwrap_or_default();
    if end <= start {
        let last = lines.iter().rev().find(|line| line.seconds.is_some());
        let span = last.map_or(0..text.len(), |line| line.span("-d"));
        let problem = "there is no period in which all commands are measured together";
        let advice = "give all commands the same -d and -W";
        return Err(Error::syntax(problem, advice).at(text, span));
    }
    Ok((start, end - start))
}

fn job(line: &Line, name: String, file: String, notes: &mut IndexSet<String>) -> Job {
    let block = u64::from(line.block_bytes());
    let caching = line.caching();
    let offset_bytes = line.base_bytes.unwrap_or(0);
    let threads = line.threads_on_target();
    let outstanding = line.outstanding_per_thread.or(line.outstanding);
    let outstanding = outstanding.unwrap_or(DEFAULT_OUTSTANDING);
    // A single I/O at a time is synchronous, as in DiskSpd.
    let (engine, queue_depth) = match outstanding {
        _ if caching.mapped => (Engine::Mmap, 1),
        1 => (Engine::Psync, 1),
        depth => (Engine::IoUring, depth),
    };
    if caching.mapped && outstanding > 1 {
        notes.insert("-o: with a mapping (-Sm), a thread does one I/O at a time".into());
    }
    if caching.remote_only {
        notes.insert(
            "-Sr: O_DIRECT bypasses the cache of this machine, but not the cache of a server"
                .into(),
        );
    }
    if line.interlocked && threads == 1 {
        notes.insert("-si: it has no effect with only one thread".into());
    }
    Job {
        engine,
        threads,
        queue_depth,
        read_percent: 100 - line.write_percent.unwrap_or(0),
        pattern: pattern(line),
        block_sizes: BlockSizes::Fixed(line.block_bytes()),
        align_bytes: line.align_bytes.filter(|a| *a != block),
        files: Files::Shared(file),
        size_bytes: size_bytes(line, offset_bytes, notes),
        offset_bytes,
        pace: pace(line, threads, notes),
        think: line
            .burst_ios
            .zip(line.think_ms)
            .map(|(after_ios, ms)| Think { time_ns: u64::from(ms) * 1_000_000, after_ios }),
        direct: caching.unbuffered || caching.remote_only,
        write_through: caching.write_through,
        start_delay_ns: line.start.offset_ns,
        cpus: line.cpus.clone(),
        // DiskSpd issues each I/O separately.
        submit_batch: (engine == Engine::IoUring).then_some(1),
        advise: line.hints.is_some_and(|hints| hints.random != hints.sequential),
        ..Job::new(name)
    }
}

fn pattern(line: &Line) -> Pattern {
    let block = u64::from(line.block_bytes());
    let stride = line.stride_bytes;
    let step_bytes = stride.unwrap_or(block);
    let several = line.threads_on_target() > 1;
    match line.random_percent() {
        100 => line.zones.clone().map_or(Pattern::Random, Pattern::Zoned),
        0 if several && line.interlocked => Pattern::Interlocked(step_bytes),
        0 if let Some(apart_bytes) = line.thread_stride_bytes => {
            Pattern::Staggered { step_bytes, apart_bytes }
        }
        0 if step_bytes != block => Pattern::Strided(step_bytes),
        0 => Pattern::Sequential,
        // Each I/O is random with this probability, so this is the mean length of the runs between
        // random I/Os.
        percent => Pattern::Runs(RunLength::Geometric(100.0 / f64::from(percent))),
    }
}

fn size_bytes(line: &Line, offset_bytes: u64, notes: &mut IndexSet<String>) -> u64 {
    if let Some(length) = line.length_bytes {
        return length;
    }
    if let Some(end) = line.end_bytes.or(line.create_bytes) {
        return end.saturating_sub(offset_bytes);
    }
    notes.insert(format!(
        "without -c, -f or a length in -B, the size is {}; change it with --set size=SIZE",
        format_bytes(UNKNOWN_BYTES)
    ));
    UNKNOWN_BYTES
}

fn pace(line: &Line, threads: u32, notes: &mut IndexSet<String>) -> Pace {
    let Some(throttle) = line.throttle else { return Pace::Closed };
    notes.insert(
        "-g: I/Os are offered at this rate, and latencies are measured from the time at which each \
         I/O was due"
            .into(),
    );
    let of_thread = match throttle {
        Throttle::Iops(iops) => f64::from(iops),
        Throttle::BytesPerMillisecond(bytes) => {
            f64::from(bytes) * 1000.0 / f64::from(line.block_bytes())
        }
    };
    Pace::Even { iops: of_thread * f64::from(threads) }
}

/// A file name for each target: the last part of its path, or the whole path where two targets
/// would get the same name.
fn file_names(lines: &[Line]) -> BTreeMap<&str, String> {
    let paths: Vec<&str> =
        lines.iter().flat_map(|line| &line.targets).map(|word| word.text.as_str()).collect();
    let mut bases: BTreeMap<String, &str> = BTreeMap::new();
    let mut ambiguous: BTreeSet<String> = BTreeSet::new();
    for path in &paths {
        let base = file_name(last_part(path));
        if *bases.entry(base.clone()).or_insert(path) != *path {
            ambiguous.insert(base);
        }
    }
    let mut names: BTreeMap<&str, String> = BTreeMap::new();
    let mut taken = Names::default();
    for path in paths {
        if names.contains_key(path) {
            continue;
        }
        let base = file_name(last_part(path));
        let wanted = if ambiguous.contains(&base) { file_name(path) } else { base };
        names.insert(path, taken.take(&wanted));
    }
    names
}

/// The drive, directory or device of a target, if it names one: `E:\\file` is on `e`, and so is
/// `/mnt/e/file`; `#1` is the disk with that number.
fn place(target: &str) -> Option<String> {
    let target = target.trim_end_matches(['/', '\\']);
    if let Some((drive, _)) = target.split_once(':')
        && drive.len() == 1
    {
        return Some(drive.to_ascii_lowercase());
    }
    if let Some(disk) = target.strip_prefix('#') {
        return Some(format!("disk{disk}"));
    }
    if target.starts_with("/dev/") || target.starts_with(r"\\.\") {
        return Some(target.to_ascii_lowercase());
    }
    let folder = target.rfind(['/', '\\']).map(|at| &target[..at])?;
    Some(folder.to_owned()).filter(|folder| !folder.is_empty())
}

fn file_name(path: &str) -> String {
    let name = plain(path);
    let name = name.trim_end_matches('_');
    let nothing = name.trim_matches('.').is_empty() || name == "index";
    if nothing { "target".into() } else { name.to_owned() }
}
