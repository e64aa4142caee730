//! `aes`: AES-XTS-256 encryption, as dm-crypt's `aes-xts-plain64` with a 512-bit key.
//!
//! A write is encrypted on the way down, into the I/O's scratch buffer; a read is decrypted on the
//! way up, in place. The work is done by the thread that walks: with `aes` under a `queue`
//! (`file + aes + queue`) by a worker, with `aes` on top (`file + queue + aes`) a write's by the
//! submitter and a read's by the worker that completes it.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

use crossbeam_utils::CachePadded;
use iotax_layers::Aes;

use crate::layer::prelude::*;
use crate::xts::{Cipher, Direction, random_key};

/// Under a random key of 256 bits, of which XTS takes two, that is forgotten when the disk is
/// closed.
impl Recipe for Aes {
    fn build(&self, _place: &BuildPlace<'_>) -> Result<Box<dyn OpenLayer>, Error> {
        Error::demand(self.key_bits == 256, "aes", "key", self.key_bits, "256")?;
        let is_sector = [512, 4096].contains(&self.sector_bytes);
        Error::demand(is_sector, "aes", "sector", self.sector_bytes, "512 or 4096")?;
        let key = random_key();
        let sector_bytes = self.sector_bytes as usize;
        let lanes = std::thread::available_parallelism().map_or(1, usize::from);
        let lanes = (0..lanes.next_power_of_two())
            .map(|_| {
                let encrypt = Cipher::new(&key, Direction::Encrypt, sector_bytes);
                let decrypt = Cipher::new(&key, Direction::Decrypt, sector_bytes);
                CachePadded::new(Mutex::new(Lane { encrypt, decrypt }))
            })
            .collect();
        Ok(Box::new(OpenAes { sector_bytes: self.sector_bytes, lanes }))
    }
}

/// Keyed contexts for one thread at a time.
struct Lane {
    encrypt: Cipher,
    decrypt: Cipher,
}

struct OpenAes {
    sector_bytes: u32,
    /// As many as CPUs, so that a running thread finds one free: contexts that stay in a core's
    /// cache, which one per I/O in flight would not.
    lanes: Box<[CachePadded<Mutex<Lane>>]>,
}

impl OpenAes {
    /// This thread's usual lane, or the next one that is free.
    fn lane(&self) -> MutexGuard<'_, Lane> {
        let first = lane_of_thread();
        let mask = self.lanes.len() - 1;
        for index in first..first + self.lanes.len() {
            match self.lanes[index & mask].try_lock() {
                Ok(lane) => return lane,
                // A lane is whole at any time: its next user sets a tweak first.
                Err(TryLockError::Poisoned(poisoned)) => return poisoned.into_inner(),
                Err(TryLockError::WouldBlock) => {}
            }
        }
        self.lanes[first & mask].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Threads are dealt over lanes in turn.
fn lane_of_thread() -> usize {
    static THREADS: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static LANE: Cell<usize> = const { Cell::new(usize::MAX) };
    }
    LANE.with(|lane| {
        if lane.get() == usize::MAX {
            lane.set(THREADS.fetch_add(1, Ordering::Relaxed) & 0xffff);
        }
        lane.get()
    })
}

impl OpenLayer for OpenAes {
    fn down(&self, mut io: Parcel) -> Flow {
        if io.request.op == Op::Write {
            let offset = io.request.offset;
            io.transform_payload(|source, scratch| {
                let cipher = &mut self.lane().encrypt;
                match source {
                    Some(source) => cipher.transform(offset, source, scratch),
                    None => cipher.transform_in_place(offset, scratch),
                }
            });
        }
        Flow::Next(io)
    }

    fn up(&self, io: &mut Io) {
        if let (Op::Read, Ok(len)) = (io.request.op, io.result) {
            // A short read ends inside a sector at worst; half a sector cannot be decrypted.
            let whole = len - len % self.sector_bytes as usize;
            io.result = Ok(whole);
            let offset = io.request.offset;
            self.lane().decrypt.transform_in_place(offset, &mut io.target()[..whole]);
        }
    }

    fn block_bytes(&self) -> u32 {
        self.sector_bytes
    }

    fn needs_scratch(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::clock::ManualClock;

    #[test]
    fn what_is_below_is_ciphertext_of_a_key_that_no_other_disk_has() {
        let clock: Arc<dyn crate::clock::Clock> = Arc::new(ManualClock::default());
        let place = BuildPlace { index: 0, size_bytes: 0, clock: &clock, seed: 0 };
        let aes = Aes { key_bits: 256, sector_bytes: 4096 };
        let build = || aes.build(&place).unwrap();
        let port: Arc<dyn crate::io::Port> = Arc::new(crate::handoff::Handoff::with_capacity(1));
        let coded = |layer: &dyn OpenLayer| {
            let made = Io::new(0, 1, 4096, 4096, Arc::clone(&port), Arc::clone(&clock));
            let mut io = made.unwrap();
            io.start(Request::write(0, 4096));
            let Flow::Next(io) = layer.down(Parcel::new(Box::new(io))) else { unreachable!() };
            assert!(io.data.bytes().iter().all(|&byte| byte == 0), "the submitter's data changed");
            io.payload().to_vec()
        };
        let (one, other) = (coded(&*build()), coded(&*build()));
        assert_ne!(one, other);
        assert_ne!(one, vec![0; 4096]);
    }

    #[test]
    fn more_threads_than_lanes_still_get_one() {
        let key = random_key();
        let lane = || {
            let encrypt = Cipher::new(&key, Direction::Encrypt, 512);
            let decrypt = Cipher::new(&key, Direction::Decrypt, 512);
            CachePadded::new(Mutex::new(Lane { encrypt, decrypt }))
        };
        let aes = OpenAes { sector_bytes: 512, lanes: Box::new([lane(), lane()]) };
        std::thread::scope(|scope| {
            for _ in 0..6 {
                scope.spawn(|| {
                    for _ in 0..500 {
                        let mut sector = [9; 512];
                        let mut lane = aes.lane();
                        lane.encrypt.transform_in_place(512, &mut sector);
                        lane.decrypt.transform_in_place(512, &mut sector);
                        assert_eq!(sector, [9; 512]);
                    }
                });
            }
        });
    }
}
