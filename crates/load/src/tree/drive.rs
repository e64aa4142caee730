//! The loop of one thread, and its record.

use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::{fs, thread};

use iotax_experiment::{Operation, Tree};
use iotax_record::{LatencyHistogram, OperationRecord};
use iotax_vdisk::Clock;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use rustix::fs::{AtFlags, Mode, OFlags, RawDir, openat, renameat, statat, unlinkat};
use rustix::io::{Errno, read, write};

use super::layout::{Made, Names, Slots};
use crate::engine::gate::Ticket;
use crate::engine::pace::Schedule;
use crate::engine::thread::{POLL_INTERVAL, SharedState, Thread, ThreadRecord};
use crate::engine::window::{Flow, Tally, Turn, Window};
use crate::engine::{Io, Op, below};
use crate::error::Error;
use crate::target::shown;

/// A thread gives up after so many failures in a row: its tree is gone.
const TOO_MANY_IN_A_ROW: u32 = 1000;
/// Drops dentries and inodes, and no pages. Only root may.
const DROP_CACHES: &str = "/proc/sys/vm/drop_caches";
const SEED_OF_MIX: u64 = 0x0074_7265_6573;

/// Performs `thread`. `None` if another thread failed before the start.
pub(crate) fn perform(
    shared: &SharedState<'_>,
    thread: &Thread<'_>,
    ticket: Ticket<'_>,
) -> Result<Option<ThreadRecord>, Error> {
    let job = thread.job;
    let Some(tree) = &job.tree else {
        let what = "engine `metadata` needs operations, such as `stat:80,open:8,list:12`";
        return Err(Error::unsuitable(job, what));
    };
    let (target, stop) = (thread.target, shared.request.stop);
    let (made, root, names, slots, content) = Made::new(job, tree, target, thread.index, stop)?;
    if job.invalidate {
        // Every thread does so when its tree is there: the last one's comes after all trees.
        drop_dentries(thread)?;
    }
    let actor = Actor::new(root, names, content);
    let through = shared.through(thread.job_index);
    let Some(start_ns) = ticket.arrive() else { return Ok(None) };
    let window = shared.window(start_ns);
    let turn = Turn::of(job, start_ns);
    let mut worker = Worker {
        actor,
        slots,
        mix: Mix::new(tree, thread.seed ^ SEED_OF_MIX),
        schedule: thread.schedule(turn.start_ns),
        tally: Tally::new(job, window, turn, shared.flags(), shared.request.live),
        window,
        opened: false,
        operations: Operation::ALL.map(|_| (LatencyHistogram::new(), 0)),
        in_a_row: 0,
        first_error: None,
        root: shown(made.path()).display().to_string(),
    };
    shared.clock.sleep_until(turn.start_ns);
    worker.run(&shared.clock);
    let operations = worker.take_operations(tree);
    let first_error = worker.first_error.take();
    let mut record =
        ThreadRecord::of_tally(thread, &mut worker.tally, first_error, window, turn.start_ns);
    record.job.operations = operations;
    drop(through);
    // Taking the tree down would be felt by those that still measure.
    while !shared.running.jobs_are_through() && !shared.flags().raised() {
        thread::sleep(POLL_INTERVAL);
    }
    drop(made);
    Ok(Some(record))
}

fn drop_dentries(thread: &Thread<'_>) -> Result<(), Error> {
    fs::write(DROP_CACHES, "2").map_err(|source| {
        Error::unsuitable(
            thread.job,
            format!(
                "only root can drop cached names and inodes ({source}); run as root, or set \
                 `invalidate = false`"
            ),
        )
    })
}

struct Worker<'a> {
    actor: Actor,
    slots: Slots,
    mix: Mix,
    schedule: Option<Schedule>,
    tally: Tally<'a>,
    window: Window,
    opened: bool,
    /// Latencies and failures, in the order of [`Operation::ALL`].
    operations: [(LatencyHistogram, u64); 6],
    in_a_row: u32,
    first_error: Option<String>,
    root: String,
}

/// What is about to be done.
struct Step {
    operation: Operation,
    /// Place in the slots, and the slot.
    of: (usize, u32),
    /// Of the new name, for a rename.
    to: (usize, u32),
}

impl Worker<'_> {
    fn run(&mut self, clock: &impl Clock) {
        let mut now_ns = clock.now_ns();
        loop {
            if now_ns >= self.tally.next_edge_ns && self.tally.on_edge(now_ns) == Flow::Stop {
                break;
            }
            let mut intended_ns = now_ns;
            if let Some(schedule) = &mut self.schedule {
                intended_ns = schedule.peek();
                if intended_ns > now_ns {
                    clock.sleep_until(intended_ns.min(self.tally.next_edge_ns));
                    now_ns = clock.now_ns();
                    continue;
                }
                schedule.advance();
                self.tally.max_slip_ns = self.tally.max_slip_ns.max(now_ns - intended_ns);
            }
            let step = self.next();
            let outcome = self.actor.act(step.operation, step.of.1, step.to.1);
            let done_ns = clock.now_ns();
            self.settle(&step, outcome.is_ok());
            self.tally.passed(1, now_ns, done_ns);
            if done_ns >= self.tally.next_edge_ns && self.tally.on_edge(done_ns) == Flow::Stop {
                now_ns = done_ns;
                break;
            }
            self.count(&step, outcome, now_ns, intended_ns, done_ns);
            now_ns = done_ns;
        }
        self.tally.finish(now_ns, false);
        if !self.opened {
            // All of it was ramp.
            self.reset();
        }
    }

    fn next(&mut self) -> Step {
        let operation = self.mix.next(&self.slots);
        let random = self.mix.random();
        let of = match operation {
            Operation::Create => self.slots.free_one(random),
            Operation::List => (0, self.slots.any(random)),
            _ => self.slots.file(random),
        };
        let to = match operation {
            Operation::Rename => self.slots.free_one(self.mix.random()),
            _ => of,
        };
        Step { operation, of, to }
    }

    fn settle(&mut self, step: &Step, done: bool) {
        match step.operation {
            Operation::Create if done => self.slots.created(step.of.0),
            Operation::Delete if done => self.slots.deleted(step.of.0),
            Operation::Rename if done => self.slots.renamed(step.of.0, step.to.0),
            _ => {}
        }
    }

    /// Counts what ended in the window, or may yet turn out to be before it.
    fn count(
        &mut self,
        step: &Step,
        outcome: Result<u64, Errno>,
        submitted_ns: u64,
        intended_ns: u64,
        done_ns: u64,
    ) {
        if !self.opened && done_ns >= self.window.open_ns {
            self.opened = true;
            self.reset();
        }
        let op = if step.operation.changes() { Op::Write } else { Op::Read };
        let (latency, errors) = &mut self.operations[step.operation as usize];
        match outcome {
            Ok(bytes) => {
                let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
                let io = Io { bytes, op, ..Io::SYNC };
                self.tally.completed::<true>(io, submitted_ns, intended_ns, done_ns);
                latency.record(done_ns.saturating_sub(intended_ns));
                self.in_a_row = 0;
            }
            Err(errno) => {
                *errors += 1;
                self.tally.counts[op as usize].errors += 1;
                self.fail(step, errno);
            }
        }
    }

    #[cold]
    fn fail(&mut self, step: &Step, errno: Errno) {
        if self.first_error.is_none() {
            let path = match step.operation {
                Operation::List => self.actor.names.directory_of(step.of.1),
                _ => self.actor.names.file(step.of.1),
            };
            self.first_error = Some(format!(
                "{} of {}/{}: {}",
                step.operation.name(),
                self.root,
                path.to_string_lossy(),
                std::io::Error::from(errno)
            ));
        }
        self.in_a_row += 1;
        if self.in_a_row >= TOO_MANY_IN_A_ROW {
            self.tally.give_up();
        }
    }

    fn reset(&mut self) {
        for (latency, errors) in &mut self.operations {
            if latency.count() > 0 {
                latency.reset();
            }
            *errors = 0;
        }
    }

    /// Those that the job asks for, and those that were done instead.
    fn take_operations(&mut self, tree: &Tree) -> Vec<OperationRecord> {
        if !self.opened {
            self.reset();
        }
        let all = Operation::ALL.iter().zip(&mut self.operations);
        let all = all.map(|(operation, (latency, errors))| {
            let latency = std::mem::take(latency);
            let wanted = tree.weight(*operation) > 0 || latency.count() > 0;
            let name = operation.name().to_owned();
            let done = OperationRecord { name, latency, errors: *errors, ..Default::default() };
            wanted.then_some(done)
        });
        all.flatten().collect()
    }
}

// What comes next, by weight.

/// Draws operations.
struct Mix {
    /// Weights added up, in the order of [`Operation::ALL`].
    sums: [u32; 6],
    rng: Xoshiro256PlusPlus,
}

impl Mix {
    /// By the weights of `tree`.
    pub(super) fn new(tree: &Tree, seed: u64) -> Self {
        let mut sum = 0_u32;
        let sums = Operation::ALL.map(|operation| {
            sum = sum.saturating_add(tree.weight(operation));
            sum
        });
        Self { sums, rng: Xoshiro256PlusPlus::seed_from_u64(seed) }
    }

    /// The next operation that is possible: where no name is free, a file is deleted instead of
    /// created, and where no file is there, one is created first. With creations as frequent as
    /// deletions that is rare; what was really done is what is counted.
    pub(super) fn next(&mut self, slots: &Slots) -> Operation {
        let drawn = below(self.rng.next_u64(), u64::from(self.sums[5].max(1)));
        let index = self.sums.iter().filter(|sum| u64::from(**sum) <= drawn).count();
        match Operation::ALL[index.min(5)] {
            Operation::Create | Operation::Rename if slots.free() == 0 => Operation::Delete,
            Operation::Stat | Operation::Open | Operation::Rename | Operation::Delete
                if slots.there() == 0 =>
            {
                Operation::Create
            }
            possible => possible,
        }
    }

    /// A random number for whom an operation meets.
    pub(super) fn random(&mut self) -> u64 {
        self.rng.next_u64()
    }
}

// One operation: the system calls.

/// Entries of a directory are read in pieces of this size, as the C library does.
const LIST_BYTES: usize = 32 << 10;

/// A thread's tree, ready to be worked on.
struct Actor {
    pub root: OwnedFd,
    pub names: Names,
    content: Vec<u8>,
    buffer: Vec<u8>,
    entries: Box<[MaybeUninit<u8>]>,
}

impl Actor {
    /// With files of this content.
    pub(super) fn new(root: OwnedFd, names: Names, content: Vec<u8>) -> Self {
        let buffer = vec![0; content.len().max(1)];
        Self { root, names, content, buffer, entries: Box::new_uninit_slice(LIST_BYTES) }
    }

    /// Does `operation` to the file `slot`; a rename gives it the name of `other`. Returns bytes
    /// read or written.
    pub(super) fn act(
        &mut self,
        operation: Operation,
        slot: u32,
        other: u32,
    ) -> Result<u64, Errno> {
        let file = self.names.file(slot);
        match operation {
            Operation::Create => create(&self.root, file, &self.content),
            Operation::Stat => statat(&self.root, file, AtFlags::SYMLINK_NOFOLLOW).map(|_| 0),
            Operation::Open => {
                let opened =
                    openat(&self.root, file, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
                let mut bytes = 0;
                loop {
                    match read(&opened, &mut self.buffer)? {
                        0 => return Ok(bytes),
                        more => bytes += more as u64,
                    }
                }
            }
            Operation::List => {
                let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
                let opened =
                    openat(&self.root, self.names.directory_of(slot), flags, Mode::empty())?;
                let mut entries = RawDir::new(&opened, &mut self.entries);
                while let Some(entry) = entries.next() {
                    entry?;
                }
                Ok(0)
            }
            Operation::Rename => {
                renameat(&self.root, file, &self.root, self.names.file(other)).map(|()| 0)
            }
            Operation::Delete => unlinkat(&self.root, file, AtFlags::empty()).map(|()| 0),
        }
    }
}

/// A new file with its content; none if that fails.
pub(super) fn create(root: &OwnedFd, file: &CStr, content: &[u8]) -> Result<u64, Errno> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let opened = openat(root, file, flags, Mode::from_raw_mode(0o644))?;
    let mut written = 0;
    while written < content.len() {
        match write(&opened, &content[written..]) {
            Ok(more) if more > 0 => written += more,
            failed => {
                let _ = unlinkat(root, file, AtFlags::empty());
                return Err(failed.err().unwrap_or(Errno::IO));
            }
        }
    }
    Ok(written as u64)
}

#[cfg(test)]
mod tests {
    use iotax_experiment::OperationShare;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn operations_come_in_their_proportions(
            weights in prop::array::uniform6(0..50u32), seed in any::<u64>()
        ) {
            prop_assume!(weights.iter().sum::<u32>() > 0);
            let operations = Operation::ALL
                .iter()
                .zip(weights)
                .map(|(&operation, weight)| OperationShare { operation, weight })
                .collect();
            let tree = Tree { operations, ..Tree::default() };
            let (mut mix, slots) = (Mix::new(&tree, seed), Slots::new(10, 5));
            let mut counts = [0_u32; 6];
            for _ in 0..20_000 {
                let drawn = mix.next(&slots);
                counts[Operation::ALL.iter().position(|known| *known == drawn).unwrap()] += 1;
            }
            let sum: u32 = weights.iter().sum();
            for (count, weight) in counts.iter().zip(weights) {
                // Six standard deviations of a share of 20,000 draws are 2.1 points at most.
                let share = f64::from(*count) / 20_000.0;
                prop_assert!((share - f64::from(weight) / f64::from(sum)).abs() < 0.022);
            }
        }
    }

    #[test]
    fn what_cannot_be_done_is_replaced() {
        let shares = [(Operation::Create, 1), (Operation::Delete, 1)];
        let operations =
            shares.map(|(operation, weight)| OperationShare { operation, weight }).into();
        let mut mix = Mix::new(&Tree { operations, ..Tree::default() }, 1);
        for _ in 0..100 {
            assert_eq!(mix.next(&Slots::new(4, 4)), Operation::Delete);
            assert_eq!(mix.next(&Slots::new(4, 0)), Operation::Create);
        }
    }
}
