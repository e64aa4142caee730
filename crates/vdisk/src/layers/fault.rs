//! `fault`: I/O errors, short reads and stalls, repeatable.
//!
//! The n-th I/O to reach the layer meets its fate by a hash of the seed and n: which thread's I/O
//! is the n-th is up to the schedule, how many meet which fate is not.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use crossbeam_utils::CachePadded;
use rustix::io::Errno;

use crate::chance::{Draws, split_mix};
use crate::error::Error;
use crate::io::{Io, Op, Parcel};
use crate::layer::{Flow, Layer, Place, Recipe};
use crate::text::Duration;

const NAME: &str = "fault";
const MAX_STALL_NS: u64 = 3_600_000_000_000;
/// Short reads end on a multiple of this.
const SHORT_UNIT_BYTES: usize = 512;

/// Which I/Os meet a fate.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Trigger {
    /// None.
    #[default]
    Never,
    /// The n-th, the 2n-th, and so on, counted after those that are let off.
    Every(u64),
    /// Each with this probability, 0 to 1.
    Chance(f64),
}

/// Makes I/Os fail, reads return less than asked for, and I/Os stall.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FaultConfig {
    /// Fail with `EIO`, without reaching the layers below.
    pub eio: Trigger,
    /// Reads that return half of what they would, in whole 512 bytes (so none of 512). Counted
    /// over all I/Os, of which only reads can be short.
    pub short: Trigger,
    /// Take `stall_ns` longer.
    pub stall: Trigger,
    /// Simulated length of a stall, nanoseconds.
    pub stall_ns: u64,
    /// I/Os that are let off before the first fault of any kind.
    pub after_ios: u64,
    /// The same seed gives the same fates.
    pub seed: u64,
}

impl fmt::Display for FaultConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        for (name, trigger) in [("eio", self.eio), ("short", self.short), ("stall", self.stall)] {
            match trigger {
                Trigger::Never => {}
                Trigger::Every(n) => parts.push(format!("{name}=1/{n}")),
                Trigger::Chance(p) => parts.push(format!("{name}={}%", p * 100.0)),
            }
        }
        if self.stall != Trigger::Never {
            parts.push(format!("stall_time={}", Duration(self.stall_ns)));
        }
        if self.after_ios > 0 {
            parts.push(format!("after={}", self.after_ios));
        }
        write!(f, "{NAME}({})", parts.join(", "))
    }
}

impl Recipe for FaultConfig {
    fn name(&self) -> &'static str {
        NAME
    }

    fn build(&self, place: &Place<'_>) -> Result<Box<dyn Layer>, Error> {
        for (parameter, trigger) in
            [("eio", self.eio), ("short", self.short), ("stall", self.stall)]
        {
            check_trigger(parameter, trigger)?;
        }
        if self.stall_ns > MAX_STALL_NS {
            let value = Duration(self.stall_ns);
            return Err(Error::parameter(NAME, "stall_time", value, "at most 1 hour"));
        }
        Ok(Box::new(Fault {
            config: self.clone(),
            index: place.index,
            draws: Draws::new(self.seed),
            counts: CachePadded::default(),
        }))
    }
}

fn check_trigger(parameter: &'static str, trigger: Trigger) -> Result<(), Error> {
    match trigger {
        Trigger::Every(0) => {
            Err(Error::parameter(NAME, parameter, "1/0", "every n-th, with n at least 1"))
        }
        Trigger::Chance(p) if !(0.0..=1.0).contains(&p) => {
            Err(Error::parameter(NAME, parameter, p, "a probability, 0 to 1"))
        }
        _ => Ok(()),
    }
}

#[derive(Default)]
struct Counts {
    eio: AtomicU64,
    short: AtomicU64,
    stall: AtomicU64,
}

struct Fault {
    config: FaultConfig,
    /// Of this layer's word in [`Io::notes`]: whether the I/O is to be short.
    index: usize,
    draws: Draws,
    counts: CachePadded<Counts>,
}

impl Fault {
    /// Does the I/O of this number and these random bits meet the fate? `salt` makes the fates
    /// independent of each other.
    fn strikes(trigger: Trigger, number: u64, bits: u64, salt: u64) -> bool {
        match trigger {
            Trigger::Never => false,
            Trigger::Every(n) => (number + 1).is_multiple_of(n),
            // 53 bits, as many as an f64 holds: uniform on [0, 1).
            Trigger::Chance(p) => {
                ((split_mix(bits ^ salt) >> 11) as f64) < p * (1_u64 << 53) as f64
            }
        }
    }
}

impl Layer for Fault {
    fn down(&self, mut io: Parcel) -> Flow {
        io.notes[self.index] = 0;
        // Answered above: it never reaches what fails here.
        if io.passes_free {
            return Flow::Next(io);
        }
        let (index, bits) = self.draws.draw();
        let Some(number) = index.checked_sub(self.config.after_ios) else {
            return Flow::Next(io);
        };
        if Self::strikes(self.config.stall, number, bits, 1) {
            self.counts.stall.fetch_add(1, Ordering::Relaxed);
            io.extra_ns = io.extra_ns.saturating_add(self.config.stall_ns);
        }
        if Self::strikes(self.config.eio, number, bits, 2) {
            self.counts.eio.fetch_add(1, Ordering::Relaxed);
            io.result = Err(Errno::IO);
            return Flow::Turn(io);
        }
        if io.request.op == Op::Read && Self::strikes(self.config.short, number, bits, 3) {
            self.counts.short.fetch_add(1, Ordering::Relaxed);
            io.notes[self.index] = 1;
        }
        Flow::Next(io)
    }

    fn up(&self, io: &mut Io) {
        if let (1, Ok(len)) = (io.notes[self.index], io.result) {
            let half = len / 2;
            io.result = Ok(half - half % SHORT_UNIT_BYTES);
        }
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        let Counts { eio, short, stall } = &*self.counts;
        [("eio", eio), ("short", short), ("stalls", stall)]
            .map(|(name, count)| (name, count.load(Ordering::Relaxed)))
            .to_vec()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{LayerConfig, ManualClock, MemConfig, Request, Session, Submitted, VirtualDisk};

    fn session(config: FaultConfig) -> Session {
        let mem = MemConfig { size_bytes: 1 << 20 };
        let stack = [LayerConfig::Mem(mem), LayerConfig::Fault(config)];
        let disk = VirtualDisk::open(&stack, Arc::new(ManualClock::starting_at(1))).unwrap();
        Session::new(&disk, 1, 8192).unwrap()
    }

    fn fates(session: &mut Session, count: usize) -> Vec<(Result<usize, Errno>, u64)> {
        let read = |_| match session.submit(0, Request::read(0, 8192)) {
            Submitted::Done(completion) => (completion.result, completion.ready_at_ns),
            Submitted::InFlight => unreachable!("no queue in this stack"),
        };
        (0..count).map(read).collect()
    }

    #[test]
    fn every_nth_io_after_those_let_off() {
        let config = FaultConfig {
            eio: Trigger::Every(3),
            stall: Trigger::Every(2),
            stall_ns: 99,
            after_ios: 1,
            ..FaultConfig::default()
        };
        let (ok, eio) = (Ok(8192), Err(Errno::IO));
        let expected = [(ok, 0), (ok, 0), (ok, 100), (eio, 0), (ok, 100), (ok, 0), (eio, 100)];
        assert_eq!(fates(&mut session(config), 7), expected);
    }

    #[test]
    fn a_short_read_returns_half_and_writes_are_whole() {
        let config = FaultConfig { short: Trigger::Every(1), ..FaultConfig::default() };
        let mut session = session(config);
        assert_eq!(session.read_at(0, &mut [0; 8192]), Ok(4096));
        assert_eq!(session.read_at(0, &mut [0; 1536]), Ok(512));
        assert_eq!(session.read_at(0, &mut [0; 512]), Ok(0));
        assert_eq!(session.write_at(0, &[0; 8192]), Ok(8192));
    }

    #[test]
    fn chances_are_met_and_repeat_with_the_seed_only() {
        let config = |seed| FaultConfig {
            eio: Trigger::Chance(0.3),
            stall: Trigger::Chance(0.3),
            stall_ns: 5,
            seed,
            ..FaultConfig::default()
        };
        let first = fates(&mut session(config(1)), 10_000);
        assert_eq!(first, fates(&mut session(config(1)), 10_000));
        assert_ne!(first, fates(&mut session(config(2)), 10_000));
        // Standard deviations: 46 of 3000, and 29 of 900 for both at once.
        let count = |pick: fn(&(Result<usize, Errno>, u64)) -> bool| {
            first.iter().filter(|fate| pick(fate)).count()
        };
        assert!(count(|fate| fate.0.is_err()).abs_diff(3000) < 230);
        assert!(count(|fate| fate.1 > 0).abs_diff(3000) < 230);
        assert!(count(|fate| fate.0.is_err() && fate.1 > 0).abs_diff(900) < 145);
    }

    #[test]
    fn certain_and_impossible_chances_are_exact() {
        let config = |p| FaultConfig { eio: Trigger::Chance(p), ..FaultConfig::default() };
        assert!(fates(&mut session(config(1.0)), 1000).iter().all(|fate| fate.0.is_err()));
        assert!(fates(&mut session(config(0.0)), 1000).iter().all(|fate| fate.0.is_ok()));
    }
}
