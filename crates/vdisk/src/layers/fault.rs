//! `fault`: I/O errors, short reads and stalls, repeatable.
//!
//! The n-th I/O to reach the layer meets its fate by a hash of the seed and n: which thread's I/O
//! is the n-th is up to the schedule, how many meet which fate is not.

use std::sync::atomic::{AtomicU64, Ordering};

use crossbeam_utils::CachePadded;
use iotax_layers::Fault;
use rustix::io::Errno;

use super::check_time;
use crate::chance::{Draws, split_mix};
use crate::layer::prelude::*;

const NAME: &str = "fault";
/// Short reads end on a multiple of this.
const SHORT_UNIT_BYTES: usize = 512;

impl Recipe for Fault {
    fn build(&self, place: &BuildPlace<'_>) -> Result<Box<dyn OpenLayer>, Error> {
        for (parameter, share) in [("eio", self.eio), ("short", self.short), ("stall", self.stall)]
        {
            let is_share = (0.0..=1.0).contains(&share);
            Error::demand(is_share, NAME, parameter, share, "a probability from 0 to 1")?;
        }
        check_time(NAME, "stall_time", self.stall_ns)?;
        Ok(Box::new(OpenFault {
            config: self.clone(),
            index: place.index,
            draws: Draws::new(place.seed.wrapping_add(place.index as u64)),
            counts: CachePadded::default(),
        }))
    }
}

#[derive(Default)]
struct Counts {
    eio: AtomicU64,
    short: AtomicU64,
    stall: AtomicU64,
}

struct OpenFault {
    config: Fault,
    /// Of this layer's word in [`Io::notes`]: whether the I/O is to be short.
    index: usize,
    draws: Draws,
    counts: CachePadded<Counts>,
}

impl OpenFault {
    /// Does the I/O with these random bits meet a fate of this probability? `salt` makes the fates
    /// independent of each other.
    fn strikes(share: f64, bits: u64, salt: u64) -> bool {
        // 53 bits, as many as an f64 holds: uniform on [0, 1).
        share > 0.0 && ((split_mix(bits ^ salt) >> 11) as f64) < share * (1_u64 << 53) as f64
    }
}

impl OpenLayer for OpenFault {
    fn down(&self, mut io: Parcel) -> Flow {
        io.notes[self.index] = 0;
        // Answered above: it never reaches what fails here.
        if io.passes_free {
            return Flow::Next(io);
        }
        let (index, bits) = self.draws.draw();
        if index < self.config.after_ios {
            return Flow::Next(io);
        }
        if Self::strikes(self.config.stall, bits, 1) {
            self.counts.stall.fetch_add(1, Ordering::Relaxed);
            io.extra_ns = io.extra_ns.saturating_add(self.config.stall_ns);
        }
        if Self::strikes(self.config.eio, bits, 2) {
            self.counts.eio.fetch_add(1, Ordering::Relaxed);
            io.result = Err(Errno::IO);
            return Flow::Turn(io);
        }
        if io.request.op == Op::Read && Self::strikes(self.config.short, bits, 3) {
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

    use iotax_layers::{Layer, Mem};

    use super::*;
    use crate::{ManualClock, Request, Session, Submitted, VirtualDisk};

    fn session(config: Fault, seed: u64) -> Session {
        let mem = Mem { size_bytes: 1 << 20 };
        let stack = [Layer::Mem(mem), Layer::Fault(config)];
        let clock = Arc::new(ManualClock::starting_at(1));
        let disk = VirtualDisk::open_seeded(&stack, seed, clock).unwrap();
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
    fn the_first_are_let_off_and_a_stall_is_added() {
        let fault = Fault { stall: 1.0, stall_ns: 99, after_ios: 2, ..Fault::default() };
        let (ok, eio) = (Ok(8192), Err(Errno::IO));
        let stalled = [(ok, 0), (ok, 0), (ok, 100), (ok, 100)];
        assert_eq!(fates(&mut session(fault.clone(), 0), 4), stalled);
        let failed = fates(&mut session(Fault { eio: 1.0, ..fault }, 0), 3);
        assert_eq!(failed, [(ok, 0), (ok, 0), (eio, 100)]);
    }

    #[test]
    fn a_short_read_returns_half_and_writes_are_whole() {
        let mut session = session(Fault { short: 1.0, ..Fault::default() }, 0);
        assert_eq!(session.read_at(0, &mut [0; 8192]), Ok(4096));
        assert_eq!(session.read_at(0, &mut [0; 1536]), Ok(512));
        assert_eq!(session.read_at(0, &mut [0; 512]), Ok(0));
        assert_eq!(session.write_at(0, &[0; 8192]), Ok(8192));
    }

    #[test]
    fn chances_are_met_and_repeat_with_the_seed_only() {
        let fault = Fault { eio: 0.3, stall: 0.3, stall_ns: 5, ..Fault::default() };
        let first = fates(&mut session(fault.clone(), 1), 10_000);
        assert_eq!(first, fates(&mut session(fault.clone(), 1), 10_000));
        assert_ne!(first, fates(&mut session(fault, 2), 10_000));
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
        let config = |p| Fault { eio: p, ..Fault::default() };
        assert!(fates(&mut session(config(1.0), 0), 1000).iter().all(|fate| fate.0.is_err()));
        assert!(fates(&mut session(config(0.0), 0), 1000).iter().all(|fate| fate.0.is_ok()));
    }

    #[test]
    fn faults_of_two_layers_are_drawn_apart() {
        let half = Layer::Fault(Fault { eio: 0.5, ..Fault::default() });
        let stack = [Layer::Mem(Mem { size_bytes: 1 << 20 }), half.clone(), half];
        let clock = Arc::new(ManualClock::default());
        let disk = VirtualDisk::open_seeded(&stack, 7, clock).unwrap();
        let mut session = Session::new(&disk, 1, 512).unwrap();
        let fates = (0..400).filter(|_| session.read_at(0, &mut [0; 512]).is_err()).count();
        // Independent halves: three quarters fail; the same draw twice would fail half.
        assert!(fates > 250, "{fates} of 400 failed");
    }
}
