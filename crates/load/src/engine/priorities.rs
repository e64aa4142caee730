//! Priorities of single I/Os, drawn as fio draws them (`cmdprio.c`): by direction and size.

use iotax_experiment::{Job, PriorityShare};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

use super::below;
use super::io::{Io, Op};

/// The kernel takes 0 for the priority of the thread.
const OF_THE_THREAD: u16 = 0;

pub(crate) struct Priorities {
    shares: Box<[PriorityShare]>,
    rng: Xoshiro256PlusPlus,
}

impl Priorities {
    /// Those of a job; `seed` is its thread's.
    pub(crate) fn of(job: &Job, seed: u64) -> Self {
        let rng = Xoshiro256PlusPlus::seed_from_u64(seed ^ 0x7072_696f);
        Self { shares: job.priorities.clone().into(), rng }
    }

    /// Of an I/O that begins.
    #[inline]
    pub(crate) fn draw(&mut self, io: Io) -> u16 {
        if self.shares.is_empty() || io.op == Op::Sync {
            return OF_THE_THREAD;
        }
        let mut percent = below(self.rng.next_u64(), 100);
        let is_read = io.op == Op::Read;
        for share in &self.shares {
            if share.reads == is_read && share.bytes.is_none_or(|bytes| bytes == io.bytes) {
                if percent < u64::from(share.percent) {
                    return share.priority.value();
                }
                percent -= u64::from(share.percent);
            }
        }
        OF_THE_THREAD
    }
}

#[cfg(test)]
mod tests {
    use iotax_experiment::{IoPriority, PriorityClass};

    use super::*;
    use crate::engine::testing::job;

    #[test]
    fn shares_are_drawn_by_direction_and_size() {
        const DRAWS: u32 = 20_000;
        let of = |reads, bytes, percent, class, level| PriorityShare {
            reads,
            bytes,
            percent,
            priority: IoPriority { class, level },
        };
        let mut job = job();
        job.priorities = vec![
            of(true, Some(65_536), 25, PriorityClass::RealTime, 1),
            of(true, Some(65_536), 75, PriorityClass::Idle, 2),
            of(false, None, 40, PriorityClass::BestEffort, 7),
        ];
        let mut priorities = Priorities::of(&job, 9);
        let mut share = |op, bytes, value| {
            let io = Io { offset: 0, bytes, file: 0, op, check: false };
            let drawn = (0..DRAWS).filter(|_| priorities.draw(io) == value).count();
            drawn as f64 / f64::from(DRAWS)
        };
        // Five standard deviations are 0.018.
        assert!((share(Op::Read, 65_536, 1 << 13 | 1) - 0.25).abs() < 0.018);
        assert!((share(Op::Read, 65_536, 3 << 13 | 2) - 0.75).abs() < 0.018);
        assert!((share(Op::Write, 4096, 2 << 13 | 7) - 0.4).abs() < 0.018);
        assert_eq!(share(Op::Read, 4096, 0), 1.0);
        assert_eq!(share(Op::Sync, 0, 0), 1.0);
    }
}
