//! `throttle`: caps on I/Os and bytes per second, with burst credits, as cloud disks have them.
//!
//! The token bucket is defined in [`crate::bucket`]. A throttled I/O is sent on at once, and the
//! time that it would have waited is added to it. Flushes are free, and so are reads that a `tier`
//! above answers.

use std::num::NonZeroU64;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use crossbeam_utils::CachePadded;
use iotax_layers::{Counts, Throttle};

use super::Waits;
use crate::bucket::{Caps, Groups, RateLimit, SharedBucket};
use crate::clock::Clock;
use crate::layer::prelude::*;

const NAME: &str = "throttle";
/// From one I/O in 17 minutes to a petabyte per second: the range of the bucket's arithmetic.
const RATES: std::ops::RangeInclusive<f64> = 0.001..=1e15;

fn caps(throttle: &Throttle) -> Caps {
    let limit = |sustained: Option<f64>, burst: Option<f64>| {
        let sustained = sustained?;
        Some(match burst.zip(throttle.credits_ns) {
            Some((burst, credits_ns)) => RateLimit::bursting(sustained, burst, credits_ns),
            None => RateLimit::sustained(sustained),
        })
    };
    Caps {
        iops: limit(throttle.iops, throttle.burst_iops),
        bw_bytes: limit(throttle.bw_bytes, throttle.burst_bw_bytes),
        io_unit_bytes: throttle.io_unit_bytes.and_then(NonZeroU64::new),
        counts_reads: throttle.counts != Counts::Writes,
        counts_writes: throttle.counts != Counts::Reads,
    }
}

impl Recipe for Throttle {
    fn build(&self, place: &BuildPlace<'_>) -> Result<Box<dyn OpenLayer>, Error> {
        let caps = caps(self);
        let is_limit = caps.iops.is_some() || caps.bw_bytes.is_some();
        Error::demand(is_limit, NAME, "iops", "none", "set unless bw is set")?;
        check_limit(caps.iops, ["iops", "burst_iops"])?;
        check_limit(caps.bw_bytes, ["bw", "burst_bw"])?;
        let bucket = match &self.group {
            Some(group) => join_group(group, caps)?,
            None => Arc::new(SharedBucket::new(caps)),
        };
        let clock = Arc::clone(place.clock);
        Ok(Box::new(OpenThrottle { bucket, caps, clock, waits: CachePadded::default() }))
    }
}

/// Repeats the checks of the parser, which stacks from records or other processes did not pass.
fn check_limit(
    limit: Option<RateLimit>,
    [rate, burst_rate]: [&'static str; 2],
) -> Result<(), Error> {
    let Some(limit) = limit else { return Ok(()) };
    let sustained = limit.sustained_per_s;
    Error::demand(RATES.contains(&sustained), NAME, rate, sustained, "0.001 to 1e15 per second")?;
    let Some(burst) = limit.burst else { return Ok(()) };
    let is_above = RATES.contains(&burst.per_s) && burst.per_s > sustained;
    let must_be = "above the sustained rate, and at most 1e15 per second";
    Error::demand(is_above, NAME, burst_rate, burst.per_s, must_be)?;
    let must_be = "long enough to allow at least one I/O or byte above the sustained rate";
    Error::demand(burst.credits > 0, NAME, "credits", "0", must_be)
}

/// The bucket of the group, which all disks of this process look for in one place.
fn join_group(group: &str, caps: Caps) -> Result<Arc<SharedBucket>, Error> {
    static GROUPS: LazyLock<Mutex<Groups>> = LazyLock::new(Mutex::default);
    let mut groups = GROUPS.lock().unwrap_or_else(PoisonError::into_inner);
    groups.join(group, caps).ok_or_else(|| Error::GroupConflict { group: group.to_owned() })
}

struct OpenThrottle {
    bucket: Arc<SharedBucket>,
    caps: Caps,
    clock: Arc<dyn Clock>,
    waits: CachePadded<Waits>,
}

impl OpenLayer for OpenThrottle {
    fn down(&self, mut io: Parcel) -> Flow {
        let counts = match io.request.op {
            Op::Read => self.caps.counts_reads,
            Op::Write => self.caps.counts_writes,
            Op::Flush => false,
        };
        if !counts || io.passes_free {
            return Flow::Next(io);
        }
        let arrival_ns = || self.clock.now_ns().saturating_add(io.extra_ns);
        let passage = self.bucket.admit(io.request.len as u64, arrival_ns);
        let wait_ns = passage.passes_ns - passage.arrival_ns;
        io.extra_ns = io.extra_ns.saturating_add(wait_ns);
        self.waits.count(wait_ns);
        Flow::Next(io)
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        self.waits.counters()
    }
}

#[cfg(test)]
mod tests {
    use iotax_layers::{Layer, Mem};

    use super::*;
    use crate::VirtualDisk;
    use crate::{ManualClock, Request, Session, Submitted};

    fn open(config: Throttle, clock: &Arc<ManualClock>) -> Result<VirtualDisk, Error> {
        let stack = [Layer::Mem(Mem { size_bytes: 1 << 20 }), Layer::Throttle(config)];
        VirtualDisk::open(&stack, Arc::clone(clock) as Arc<dyn Clock>)
    }

    fn group(name: &str, iops: f64) -> Throttle {
        let iops = Some(iops);
        Throttle { iops, group: Some(name.to_owned()), ..Throttle::default() }
    }

    fn ready_ns(session: &mut Session) -> u64 {
        let Submitted::Done(completion) = session.submit(0, Request::read(0, 4096)) else {
            unreachable!("no queue in this stack")
        };
        completion.ready_at_ns.max(session.disk().clock().now_ns())
    }

    #[test]
    fn credits_become_tokens_at_the_difference_of_the_rates() {
        let caps = caps(&Throttle {
            iops: Some(500.0),
            bw_bytes: Some(60e6),
            burst_iops: Some(3500.0),
            credits_ns: Some(1_800_000_000_000),
            io_unit_bytes: Some(262_144),
            ..Throttle::default()
        });
        assert_eq!(caps.iops.unwrap().burst.unwrap().credits, 3000 * 1800);
        assert_eq!(caps.bw_bytes, Some(RateLimit::sustained(60e6)));
        assert_eq!(caps.io_unit_bytes, NonZeroU64::new(262_144));
    }

    #[test]
    fn disks_of_a_group_share_one_bucket_and_others_do_not() {
        let clock = Arc::new(ManualClock::starting_at(1000));
        let a = open(group("shared", 1000.0), &clock).unwrap();
        let b = open(group("shared", 1000.0), &clock).unwrap();
        let c = open(group("apart", 1000.0), &clock).unwrap();
        let [mut a, mut b, mut c] = [a, b, c].map(|disk| Session::new(&disk, 1, 4096).unwrap());
        assert_eq!(ready_ns(&mut a), 1000);
        assert_eq!(ready_ns(&mut b), 1_001_000);
        assert_eq!(ready_ns(&mut a), 2_001_000);
        assert_eq!(ready_ns(&mut c), 1000, "a group of its own");
        assert_eq!(ready_ns(&mut b), 3_001_000);
    }

    #[test]
    fn a_group_ends_with_its_last_disk_and_has_one_set_of_caps() {
        let clock = Arc::new(ManualClock::default());
        let first = open(group("short-lived", 1000.0), &clock).unwrap();
        let io_unit_bytes = Some(4096);
        let other_unit = Throttle { io_unit_bytes, ..group("short-lived", 1000.0) };
        let reads = Throttle { counts: Counts::Reads, ..group("short-lived", 1000.0) };
        for other in [group("short-lived", 2000.0), other_unit, reads] {
            let error = open(other, &clock).unwrap_err();
            assert!(matches!(error, Error::GroupConflict { .. }));
        }
        drop(first);
        assert!(open(group("short-lived", 2000.0), &clock).is_ok());
    }

    #[test]
    fn what_is_not_counted_passes() {
        let of = |op| Request { op, ..Request::read(0, 4096) };
        for (counts, limited, free) in
            [(Counts::Reads, Op::Read, Op::Write), (Counts::Writes, Op::Write, Op::Read)]
        {
            let clock = Arc::new(ManualClock::default());
            let iops = Some(1000.0);
            let config = Throttle { iops, counts, ..Throttle::default() };
            let disk = open(config, &clock).unwrap();
            let mut session = Session::new(&disk, 1, 4096).unwrap();
            let ready = [limited, limited, free, free].map(|op| match session.submit(0, of(op)) {
                Submitted::Done(completion) => completion.ready_at_ns,
                Submitted::InFlight => unreachable!("no queue in this stack"),
            });
            assert_eq!(ready, [0, 1_000_000, 0, 0]);
        }
    }

    #[test]
    fn waits_are_counted_and_flushes_are_free() {
        let clock = Arc::new(ManualClock::default());
        let config =
            Throttle { iops: Some(1e6), bw_bytes: Some(4096.0 * 1e5), ..Throttle::default() };
        let disk = open(config, &clock).unwrap();
        let mut session = Session::new(&disk, 1, 4096).unwrap();
        for _ in 0..3 {
            let _ = session.submit(0, Request::flush());
        }
        assert_eq!([(); 3].map(|()| ready_ns(&mut session)), [0, 10_000, 20_000]);
        drop(session);
        assert_eq!(disk.stats()[1].own, [("waits", 2), ("wait_ns", 30_000)]);
        assert_eq!(disk.stats()[0].flushes, 3);
    }
}
