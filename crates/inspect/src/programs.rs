//! Finds programs that use CPU and I/O, from the difference between two readings of `/proc`.
//!
//! The kernel adds CPU time and I/O of ended processes to their parent when it waits for them.
//! Usage before the first reading is subtracted.

use std::collections::HashMap;
use std::fs;
use std::time::Instant;

use iotax_record::{OtherPrograms, ProgramUse};

/// Largest number of programs to keep, each for CPU time and for I/O.
const KEPT: usize = 4;
/// The kernel's flag for its own threads (`PF_KTHREAD`).
const KERNEL_THREAD: u64 = 0x0020_0000;
/// No process has this many ancestors.
const DEEPEST: usize = 100;

/// All visible processes at one moment.
#[derive(Debug, Clone)]
pub struct Programs {
    taken: Instant,
    all: HashMap<u32, Process>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Process {
    name: String,
    parent: u32,
    is_kernel: bool,
    /// In ticks since boot. A different process with the same number has another start time.
    started: u64,
    used: Used,
    /// Whether its I/O could be read.
    io_is_known: bool,
}

/// Usage of a process and of its ended children.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Used {
    cpu_ticks: u64,
    read_bytes: u64,
    write_bytes: u64,
}

impl Used {
    fn minus(self, other: Self) -> Self {
        Self {
            cpu_ticks: self.cpu_ticks.saturating_sub(other.cpu_ticks),
            read_bytes: self.read_bytes.saturating_sub(other.read_bytes),
            write_bytes: self.write_bytes.saturating_sub(other.write_bytes),
        }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            cpu_ticks: self.cpu_ticks.saturating_add(other.cpu_ticks),
            read_bytes: self.read_bytes.saturating_add(other.read_bytes),
            write_bytes: self.write_bytes.saturating_add(other.write_bytes),
        }
    }

    const fn bytes(self) -> u64 {
        self.read_bytes.saturating_add(self.write_bytes)
    }
}

impl Programs {
    /// Reads all processes now, in a few milliseconds.
    pub fn now() -> Self {
        let all = fs::read_dir("/proc").into_iter().flatten().flatten();
        let number = |name: std::ffi::OsString| name.to_str()?.parse::<u32>().ok();
        let numbers = all.filter_map(|entry| number(entry.file_name()));
        let process = |number: u32| {
            let stat = fs::read(format!("/proc/{number}/stat")).ok()?;
            let io = fs::read_to_string(format!("/proc/{number}/io")).ok();
            Some((number, Process::parse(&String::from_utf8_lossy(&stat), io.as_deref())?))
        };
        Self { taken: Instant::now(), all: numbers.filter_map(process).collect() }
    }

    /// What programs used since `earlier`, without process `own` and its descendants. If
    /// `tells_daemons` is set, processes that the first process adopted since `own` started are
    /// also left out, as daemons of layers are.
    pub fn since(&self, earlier: &Self, own: u32, tells_daemons: bool) -> OtherPrograms {
        let span = self.taken.saturating_duration_since(earlier.taken);
        let mut used: HashMap<u32, Used> = self
            .all
            .iter()
            .map(|(number, process)| {
                let before = earlier.same(*number, process).map_or(Used::default(), |old| old.used);
                (*number, process.used.minus(before))
            })
            .collect();
        for (number, gone) in &earlier.all {
            let is_there = self.all.get(number).is_some_and(|now| now.started == gone.started);
            let heir = (!is_there).then(|| self.heir(earlier, gone)).flatten();
            if let Some(used) = heir.and_then(|heir| used.get_mut(&heir)) {
                *used = used.minus(gone.used);
            }
        }
        let own_start = self.all.get(&own).map_or(u64::MAX, |own| own.started);
        let is_adopted = |process: &Process| process.parent == 1 && process.started >= own_start;
        let is_layer = |number| tells_daemons && self.line(number).any(is_adopted);
        let is_left_out = |number: u32, process: &Process| {
            process.is_kernel || self.is_of(number, own) || is_layer(number)
        };
        let others = || self.all.iter().filter(|(number, process)| !is_left_out(**number, process));
        let mut by_name: HashMap<&str, Used> = HashMap::new();
        for (number, process) in others() {
            let sum = by_name.entry(&process.name).or_default();
            *sum = sum.plus(used[number]);
        }
        let tick_ns = 1_000_000_000 / rustix::param::clock_ticks_per_second().max(1);
        let cpu_ticks = by_name.values().map(|used| used.cpu_ticks).sum::<u64>();
        OtherPrograms {
            span_ns: u64::try_from(span.as_nanos()).unwrap_or(u64::MAX),
            cpu_ns: cpu_ticks * tick_ns,
            io_is_known: others().all(|(_, process)| process.io_is_known),
            largest: largest(&by_name, tick_ns),
        }
    }

    /// The same process in this reading.
    fn same(&self, number: u32, process: &Process) -> Option<&Process> {
        self.all.get(&number).filter(|own| own.started == process.started)
    }

    /// The process that inherited the usage of an ended process.
    fn heir(&self, earlier: &Self, gone: &Process) -> Option<u32> {
        let mut parent = gone.parent;
        for _ in 0..DEEPEST {
            let old = earlier.all.get(&parent)?;
            if self.same(parent, old).is_some() {
                return Some(parent);
            }
            parent = old.parent;
        }
        None
    }

    /// A process and its ancestors.
    fn line(&self, number: u32) -> impl Iterator<Item = &Process> {
        let next = |process: &&Process| self.all.get(&process.parent);
        std::iter::successors(self.all.get(&number), next).take(DEEPEST)
    }

    /// Whether it is `own` or a descendant of it.
    fn is_of(&self, number: u32, own: u32) -> bool {
        number == own || self.line(number).any(|process| process.parent == own)
    }
}

impl Process {
    /// Parses `/proc/PID/stat` and `/proc/PID/io`, described in proc(5). The name may contain
    /// anything, so fields are counted from its last parenthesis.
    fn parse(stat: &str, io: Option<&str>) -> Option<Self> {
        let (name, rest) = (stat.split_once('(')?.1.rsplit_once(')')?.0, stat.rsplit_once(')')?.1);
        let fields: Vec<&str> = rest.split_whitespace().collect();
        // The state is the third field.
        let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
        let cpu_ticks = [14, 15, 16, 17].into_iter().filter_map(field).sum();
        let bytes = |name: &str| {
            let line = io?.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
            line?.trim().parse().ok()
        };
        Some(Self {
            name: name.to_owned(),
            parent: u32::try_from(field(4)?).ok()?,
            is_kernel: field(9)? & KERNEL_THREAD != 0,
            started: field(22)?,
            used: Used {
                cpu_ticks,
                read_bytes: bytes("read_bytes").unwrap_or(0),
                write_bytes: bytes("write_bytes").unwrap_or(0),
            },
            io_is_known: io.is_some(),
        })
    }
}

/// The programs with the most CPU time, then those with the most I/O.
fn largest(by_name: &HashMap<&str, Used>, tick_ns: u64) -> Vec<ProgramUse> {
    let mut kept: Vec<(&str, Used)> = Vec::new();
    for of in [|used: &Used| used.cpu_ticks, |used: &Used| used.bytes()] {
        let mut all: Vec<_> = by_name.iter().filter(|(_, used)| of(used) > 0).collect();
        all.sort_by_key(|(name, used)| (std::cmp::Reverse(of(used)), **name));
        for (name, used) in all.into_iter().take(KEPT) {
            if !kept.iter().any(|(other, _)| other == name) {
                kept.push((name, *used));
            }
        }
    }
    let program = |(name, used): (&str, Used)| ProgramUse {
        name: name.to_owned(),
        cpu_ns: used.cpu_ticks * tick_ns,
        read_bytes: used.read_bytes,
        write_bytes: used.write_bytes,
    };
    kept.into_iter().map(program).collect()
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::time::Duration;

    use super::*;

    fn process(name: &str, parent: u32, cpu_ticks: u64, write_bytes: u64) -> Process {
        let used = Used { cpu_ticks, read_bytes: 0, write_bytes };
        Process {
            name: name.to_owned(),
            parent,
            is_kernel: false,
            started: 10,
            used,
            io_is_known: true,
        }
    }

    fn looks(before: Vec<(u32, Process)>, after: Vec<(u32, Process)>) -> [Programs; 2] {
        let taken = Instant::now();
        let later = taken + Duration::from_secs(10);
        let look =
            |taken, all: Vec<(u32, Process)>| Programs { taken, all: all.into_iter().collect() };
        [look(taken, before), look(later, after)]
    }

    /// Names, with the CPU time in ticks of 10 ms and what was written.
    fn used(others: &OtherPrograms) -> Vec<(&str, u64, u64)> {
        let each = others.largest.iter();
        each.map(|of| (of.name.as_str(), of.cpu_ns / 10_000_000, of.write_bytes)).collect()
    }

    #[test]
    fn a_line_of_the_kernel_is_read_whatever_the_name_holds() {
        let stat = "77 (a) (b c) S 42 77 77 0 -1 4194560 1 2 3 4 100 20 3 4 20 0 1 0 555 8 9";
        let read = Process::parse(stat, Some("rchar: 9\nread_bytes: 4096\nwrite_bytes: 8192\n"));
        let used = Used { cpu_ticks: 127, read_bytes: 4096, write_bytes: 8192 };
        let expected = Process { started: 555, used, ..process("a) (b c", 42, 0, 0) };
        assert_eq!(read, Some(expected));
        let kernel = Process::parse(&stat.replace("4194560", "69238880"), None).unwrap();
        assert!(kernel.is_kernel && !kernel.io_is_known);
        assert_eq!(Process::parse("77 (a) S 42", None), None);
    }

    #[test]
    fn own_processes_and_kernel_threads_are_no_others() {
        let kernel = Process { is_kernel: true, ..process("kworker", 2, 0, 0) };
        let of = |cpu| {
            vec![
                (5, process("iotax", 1, cpu, 0)),
                (6, process("fio", 5, cpu, 0)),
                (7, process("fio", 6, cpu, 0)),
                (8, Process { used: Used { cpu_ticks: cpu, ..Used::default() }, ..kernel.clone() }),
                (9, process("rustc", 1, 2 * cpu, 0)),
                (10, process("rustc", 1, cpu, 0)),
                (11, process("postgres", 1, 0, cpu << 20)),
            ]
        };
        let [before, after] = looks(of(100), of(400));
        let others = after.since(&before, 5, false);
        assert_eq!(used(&others), [("rustc", 900, 0), ("postgres", 0, 300 << 20)]);
        assert_eq!((others.cpu_ns, others.span_ns), (9_000_000_000, 10_000_000_000));
        assert!(others.io_is_known);
    }

    #[test]
    fn what_ended_counts_with_its_parent_since_the_first_look_only() {
        let before = vec![
            (20, process("make", 1, 10, 0)),
            (21, process("cc", 20, 500, 1 << 20)),
            (22, process("sh", 20, 0, 0)),
            (23, process("ld", 22, 40, 0)),
        ];
        // `cc` used 100 more before it ended, `ld` 60 and `sh` none.
        let after = vec![(20, process("make", 1, 710, 1 << 20))];
        let [before, after] = looks(before, after);
        assert_eq!(used(&after.since(&before, 5, false)), [("make", 160, 0)]);
        // Another process with the number of one that ended has begun at nothing.
        let again = Process { started: 99, ..process("cc", 20, 7, 0) };
        let mut anew = after.clone();
        anew.all.insert(21, again);
        assert_eq!(used(&anew.since(&before, 5, false)), [("make", 160, 0), ("cc", 7, 0)]);
    }

    #[test]
    fn daemons_that_began_after_this_process_may_be_layers() {
        let own = Process { started: 50, ..process("iotax", 30, 0, 0) };
        let daemon = Process { started: 60, ..process("qemu-nbd", 1, 90, 0) };
        let [before, after] = looks(vec![(5, own.clone())], vec![(5, own), (6, daemon)]);
        assert_eq!(used(&after.since(&before, 5, true)), []);
        assert_eq!(used(&after.since(&before, 5, false)), [("qemu-nbd", 90, 0)]);
    }

    #[test]
    fn a_busy_program_of_this_machine_is_seen_and_an_own_child_is_not() {
        let before = Programs::now();
        let spin = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; read x";
        let mut child = Command::new("sh")
            .args(["-c", spin])
            .stdin(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let ticks = || {
            let stat = fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap();
            Process::parse(&stat, None).unwrap().used.cpu_ticks
        };
        while ticks() < 2 {
            std::thread::yield_now();
        }
        let after = Programs::now();
        // For a process that does not exist, this one and its child are others.
        let sum = after.since(&before, u32::MAX, false).cpu_ns;
        let without = after.since(&before, std::process::id(), false).cpu_ns;
        assert!(sum >= without + 20_000_000, "{sum} {without}");
        drop(child.stdin.take());
        child.wait().unwrap();
    }
}
