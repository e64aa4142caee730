//! Text of `strace -f -ttt -T`, also with `-y`, `-tt` and `-o`.
//!
//! A file is known by its path, which is resolved as far as the trace tells the working directory.
//! Two paths count as one file only after `link` or `rename`, or if `-y` shows the same path. The
//! offsets of `read` and `write` follow from the descriptor's position; a descriptor that was open
//! before the trace is assumed to be at position 0. Files in `/proc`, `/sys` and `/dev` are left
//! out, except block devices.

mod calls;
mod flags;
mod kind;
mod line;
mod names;
mod paths;
mod tasks;

use std::collections::HashMap;
use std::io::{BufRead, Write};

use jiff::Timestamp;

use super::builder::Builder;
use super::lines::Lines;
use super::outcome::{ImportError, Reason};
use crate::event::{Event, Op, Thread};
use crate::head::Unseen;
use kind::Kind;
use line::{Call, Text, Time};
use paths::Paths;
use tasks::{Pending, Task};

/// Lines of a sample that are looked at.
const SAMPLE_LINES: usize = 200;
const DAY_NS: u64 = 24 * 3600 * 1_000_000_000;
/// The task of lines that name none.
const UNNAMED: u32 = 0;
/// What strace inserts, even into the line of another task.
const ATTACHED: &str = "strace: Process ";

fn sample_lines(sample: &[u8]) -> impl Iterator<Item = &str> {
    let lines = sample.split(|byte| *byte == b'\n').take(SAMPLE_LINES);
    lines.filter_map(|line| std::str::from_utf8(line).ok())
}

pub(super) fn sniff(sample: &[u8]) -> bool {
    sample_lines(sample).any(|line| match line::parse(line) {
        Ok(line) => match line.text {
            Text::Call(text) | Text::Unfinished(text) => line::name(text).is_some(),
            Text::Resumed { .. } | Text::Exited => true,
            Text::Other => false,
        },
        // It is a message of strace; the import reports what is missing.
        Err(Reason::RelativeTime) => true,
        Err(_) => Call::parse(line.trim()).is_ok(),
    })
}

/// When the trace began, and what it does not tell.
pub(super) fn preview(sample: &[u8]) -> (Option<Timestamp>, Vec<Unseen>) {
    let mut unseen = vec![
        Unseen::Faults,
        Unseen::DirtiedPages,
        Unseen::Uring,
        Unseen::Wakes,
        Unseen::CpuTime,
        Unseen::StartState,
    ];
    if !sample_lines(sample).any(|line| line::latency(line.trim_end()).1.is_some()) {
        unseen.push(Unseen::Latencies);
    }
    let first = sample_lines(sample).find_map(|line| line::parse(line).ok());
    let started = first.and_then(|line| match line.time {
        Time::Absolute(ns) => Timestamp::from_nanosecond(i128::from(ns)).ok(),
        Time::OfDay(_) => None,
    });
    (started, unseen)
}

/// Times since the first line.
#[derive(Default)]
struct Clock {
    began_ns: Option<u64>,
    days: u64,
    last_of_day_ns: u64,
}

impl Clock {
    fn since_begin(&mut self, time: Time) -> u64 {
        let ns = match time {
            Time::Absolute(ns) => ns,
            Time::OfDay(ns) => {
                if ns + DAY_NS / 2 < self.last_of_day_ns {
                    self.days += 1;
                }
                self.last_of_day_ns = ns;
                self.days * DAY_NS + ns
            }
        };
        ns.saturating_sub(*self.began_ns.get_or_insert(ns))
    }
}

/// An event without contents.
const BLANK: Event = Event::new(Op::SyncAll);

/// Why a line gives no event.
enum Stop {
    /// It is counted.
    Skip(Reason),
    Fail(ImportError),
}

impl From<Reason> for Stop {
    fn from(reason: Reason) -> Self {
        Self::Skip(reason)
    }
}

impl From<ImportError> for Stop {
    fn from(error: ImportError) -> Self {
        Self::Fail(error)
    }
}

/// Who called, and when.
#[derive(Debug, Clone, Copy)]
struct Moment {
    pid: u32,
    end_ns: u64,
    latency_ns: u64,
}

struct Importer<'a, W> {
    builder: &'a mut Builder<W>,
    tasks: HashMap<u32, Task>,
    paths: Paths,
    clock: Clock,
    /// The begin of a line that a message interrupted.
    interrupted: Option<String>,
}

pub(super) fn read<R: BufRead, W: Write>(
    input: R,
    builder: &mut Builder<W>,
) -> Result<(), ImportError> {
    let mut lines = Lines::new(input);
    let mut importer = Importer {
        builder,
        tasks: HashMap::new(),
        paths: Paths::default(),
        clock: Clock::default(),
        interrupted: None,
    };
    while let Some(line) = lines.next()? {
        let done = line.map_err(Stop::Skip).and_then(|line| importer.line(line));
        match done {
            Ok(()) => {}
            Err(Stop::Skip(reason)) => importer.builder.skip_line(lines.number, reason),
            Err(Stop::Fail(error)) => return Err(error),
        }
    }
    Ok(())
}

impl<W: Write> Importer<'_, W> {
    fn line(&mut self, line: &str) -> Result<(), Stop> {
        if let Some(begin) = self.interrupted.take() {
            return self.line(&(begin + line));
        }
        if let Some(pid) = line::attached(line) {
            self.adopt(pid);
            return Ok(());
        }
        if line::is_message(line) {
            return Ok(());
        }
        if let Some((begin, message)) = line.rsplit_once(ATTACHED)
            && let Some(pid) = message.strip_suffix(" attached").and_then(|pid| pid.parse().ok())
            && let Ok(parsed) = line::parse(begin)
        {
            let parent = self.pid(parsed.pid);
            match parsed.text {
                Text::Call(text) if is_clone(text) => {
                    let child = self.task(parent).child(text);
                    self.tasks.entry(pid).or_insert(child);
                }
                _ => self.adopt(pid),
            }
            self.interrupted = Some(begin.to_owned());
            return Ok(());
        }
        let parsed = line::parse(line)?;
        let time_ns = self.clock.since_begin(parsed.time);
        let pid = self.pid(parsed.pid);
        match parsed.text {
            Text::Call(text) => self.returned(pid, text, time_ns, None),
            Text::Unfinished(text) => {
                if line::name(text).and_then(Kind::of).is_some() {
                    let pending = Pending { text: text.to_owned(), began_ns: time_ns };
                    self.task(pid).pending = Some(pending);
                }
                Ok(())
            }
            Text::Resumed { name, rest } => {
                if Kind::of(name).is_none() {
                    return Ok(());
                }
                let pending = self.task(pid).pending.take().ok_or(Reason::NoBeginning)?;
                if line::name(&pending.text) != Some(name) {
                    return Err(Reason::NoBeginning.into());
                }
                let whole = pending.text + rest.trim_end();
                self.returned(pid, &whole, pending.began_ns, Some(time_ns))
            }
            Text::Exited => self.exited(pid, time_ns),
            Text::Other => Ok(()),
        }
    }

    /// A call returned that began at `began_ns`. Without `-T`, only the lines of calls that were
    /// interrupted tell when.
    fn returned(
        &mut self,
        pid: u32,
        text: &str,
        began_ns: u64,
        resumed_ns: Option<u64>,
    ) -> Result<(), Stop> {
        let name = line::name(text).ok_or(Reason::Malformed)?;
        let Some(kind) = Kind::of(name) else { return Ok(()) };
        let call = Call::parse(text)?;
        let latency_ns = call.latency_ns.unwrap_or_else(|| {
            resumed_ns.map_or(0, |resumed_ns| resumed_ns.saturating_sub(began_ns))
        });
        let moment = Moment { pid, end_ns: began_ns.saturating_add(latency_ns), latency_ns };
        self.call(kind, &call, text, moment)
    }

    fn exited(&mut self, pid: u32, end_ns: u64) -> Result<(), Stop> {
        if self.task(pid).thread.is_some() {
            let moment = Moment { pid, end_ns, latency_ns: 0 };
            self.push(moment, Event { op: Op::Exit, ..BLANK })?;
        }
        self.tasks.remove(&pid);
        Ok(())
    }

    /// The task of a line. strace names none as long as there is only one.
    fn pid(&mut self, named: Option<u32>) -> u32 {
        match named {
            Some(pid) => {
                if !self.tasks.contains_key(&pid) {
                    match self.tasks.remove(&UNNAMED) {
                        Some(task) if task.clone_text().is_none() => {
                            self.tasks.insert(pid, task);
                        }
                        task => {
                            self.tasks.extend(task.map(|task| (UNNAMED, task)));
                            self.adopt(pid);
                        }
                    }
                }
                pid
            }
            None if self.tasks.len() == 1 => *self.tasks.keys().next().expect("there is one"),
            None => UNNAMED,
        }
    }

    fn task(&mut self, pid: u32) -> &mut Task {
        self.tasks.entry(pid).or_default()
    }

    /// Creates the task of a child whose first line comes before its parent's clone returns.
    fn adopt(&mut self, pid: u32) {
        if self.tasks.contains_key(&pid) {
            return;
        }
        let parents = self.tasks.values().filter_map(|task| Some((task, task.clone_text()?)));
        let parent = parents
            .max_by_key(|(task, _)| task.pending.as_ref().map_or(0, |pending| pending.began_ns));
        let child = parent.map(|(task, text)| task.child(text)).unwrap_or_default();
        self.tasks.insert(pid, child);
    }

    fn thread(&mut self, pid: u32) -> Thread {
        let task = self.tasks.entry(pid).or_default();
        *task.thread.get_or_insert_with(|| self.builder.thread())
    }

    fn push(&mut self, moment: Moment, event: Event) -> Result<(), Stop> {
        let Moment { pid, end_ns, latency_ns } = moment;
        let thread = self.thread(pid);
        Ok(self.builder.push(Event { thread, end_ns, latency_ns, ..event })?)
    }
}

impl Task {
    /// The call that makes a child and has not returned yet.
    fn clone_text(&self) -> Option<&str> {
        let text = self.pending.as_ref()?.text.as_str();
        is_clone(text).then_some(text)
    }
}

/// Whether the call creates a task (`clone`, `fork`, ...).
fn is_clone(text: &str) -> bool {
    line::name(text).and_then(Kind::of) == Some(Kind::Clone)
}
