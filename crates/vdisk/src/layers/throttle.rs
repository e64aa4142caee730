//! `throttle`: caps on I/Os and bytes per second, with burst credits, as cloud disks have them.
//!
//! The token bucket is defined in [`crate::bucket`]. A throttled I/O is sent on at once, and the
//! time that it would have waited is added to it. Flushes are free, and so are reads that a `tier`
//! above answers.

use std::collections::HashMap;
use std::fmt;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use crossbeam_utils::CachePadded;

use crate::bucket::{Bucket, RateLimit};
use crate::clock::Clock;
use crate::error::Error;
use crate::io::{Op, Parcel};
use crate::layer::{Flow, Layer, Place, Recipe};
use crate::text::Bytes;

const NAME: &str = "throttle";
/// From once in 17 minutes to a petabyte a second: what the bucket's arithmetic is sized for.
const RATES: std::ops::RangeInclusive<f64> = 0.001..=1e15;

/// Caps I/Os per second, bytes per second, or both.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ThrottleConfig {
    /// Cap on reads and writes; `None`: no cap.
    pub iops: Option<RateLimit>,
    /// Cap on their bytes; `None`: no cap.
    pub bw_bytes: Option<RateLimit>,
    /// An I/O counts as one for each unit of this many bytes that it has or begins; `None`: as one.
    pub io_unit_bytes: Option<NonZeroU64>,
    /// The operation that is limited, reads or writes; `None`: both.
    pub counts: Option<Op>,
    /// Throttles of the same group in this process share one bucket. They must have the same caps
    /// and the same kind of clock.
    pub group: Option<String>,
}

/// What throttles of a group must agree on: limits on I/Os and bytes, the unit of an I/O, and
/// which I/Os count.
type Caps = (Option<RateLimit>, Option<RateLimit>, Option<NonZeroU64>, Option<Op>);

impl ThrottleConfig {
    const fn caps(&self) -> Caps {
        (self.iops, self.bw_bytes, self.io_unit_bytes, self.counts)
    }
}

impl fmt::Display for ThrottleConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        for (name, limit) in [("iops", self.iops), ("bw", self.bw_bytes)] {
            let Some(limit) = limit else { continue };
            parts.push(format!("{name}={}", limit.sustained_per_s));
            if let Some(burst) = limit.burst {
                parts.push(format!("burst_{name}={}", burst.per_s));
            }
        }
        if let Some(unit) = self.io_unit_bytes {
            parts.push(format!("unit={}", Bytes(unit.get())));
        }
        match self.counts {
            Some(Op::Read) => parts.push("counts=reads".to_owned()),
            Some(Op::Write) => parts.push("counts=writes".to_owned()),
            _ => {}
        }
        if let Some(group) = &self.group {
            parts.push(format!("group={group}"));
        }
        write!(f, "{NAME}({})", parts.join(", "))
    }
}

impl Recipe for ThrottleConfig {
    fn name(&self) -> &'static str {
        NAME
    }

    fn build(&self, place: &Place<'_>) -> Result<Box<dyn Layer>, Error> {
        if self.iops.is_none() && self.bw_bytes.is_none() {
            return Err(Error::NothingThrottled);
        }
        check_limit(self.iops, ["iops", "burst_iops"])?;
        check_limit(self.bw_bytes, ["bw", "burst_bw"])?;
        let bucket = match &self.group {
            Some(group) => join_group(group, self)?,
            None => Arc::new(SharedBucket::new(self)),
        };
        let clock = Arc::clone(place.clock);
        let counts = self.counts;
        Ok(Box::new(Throttle { bucket, counts, clock, waits: CachePadded::default() }))
    }
}

fn check_limit(
    limit: Option<RateLimit>,
    [rate, burst_rate]: [&'static str; 2],
) -> Result<(), Error> {
    let Some(limit) = limit else { return Ok(()) };
    if !RATES.contains(&limit.sustained_per_s) {
        let must_be = "0.001 to 1e15 per second";
        return Err(Error::parameter(NAME, rate, limit.sustained_per_s, must_be));
    }
    let Some(burst) = limit.burst else { return Ok(()) };
    if !RATES.contains(&burst.per_s) || burst.per_s <= limit.sustained_per_s {
        let must_be = "above the sustained rate, and at most 1e15 per second";
        return Err(Error::parameter(NAME, burst_rate, burst.per_s, must_be));
    }
    if burst.credits == 0 {
        let must_be = "above 0: credits are what pays for a burst";
        return Err(Error::parameter(NAME, "credits", burst.credits, must_be));
    }
    Ok(())
}

/// A bucket and what it was made for.
struct SharedBucket {
    caps: Caps,
    bucket: CachePadded<Mutex<Bucket>>,
}

impl SharedBucket {
    fn new(config: &ThrottleConfig) -> Self {
        let bucket = Bucket::new(config.iops, config.bw_bytes).with_io_unit(config.io_unit_bytes);
        Self { caps: config.caps(), bucket: CachePadded::new(Mutex::new(bucket)) }
    }
}

/// The group's bucket: the one that some open disk holds, or a new one.
fn join_group(group: &str, config: &ThrottleConfig) -> Result<Arc<SharedBucket>, Error> {
    static GROUPS: Mutex<Option<HashMap<String, Weak<SharedBucket>>>> = Mutex::new(None);
    let mut groups = GROUPS.lock().unwrap_or_else(PoisonError::into_inner);
    let groups = groups.get_or_insert_default();
    groups.retain(|_, bucket| bucket.strong_count() > 0);
    if let Some(bucket) = groups.get(group).and_then(Weak::upgrade) {
        if bucket.caps != config.caps() {
            return Err(Error::GroupConflict { group: group.to_owned() });
        }
        return Ok(bucket);
    }
    let bucket = Arc::new(SharedBucket::new(config));
    groups.insert(group.to_owned(), Arc::downgrade(&bucket));
    Ok(bucket)
}

#[derive(Default)]
struct Waits {
    count: AtomicU64,
    total_ns: AtomicU64,
}

struct Throttle {
    bucket: Arc<SharedBucket>,
    counts: Option<Op>,
    clock: Arc<dyn Clock>,
    waits: CachePadded<Waits>,
}

impl Layer for Throttle {
    fn down(&self, mut io: Parcel) -> Flow {
        let op = io.request.op;
        if op == Op::Flush || self.counts.is_some_and(|counts| counts != op) || io.passes_free {
            return Flow::Next(io);
        }
        let mut bucket = self.bucket.bucket.lock().unwrap_or_else(PoisonError::into_inner);
        // Read under the lock, so that arrivals are in the order in which they are served.
        let arrival_ns = self.clock.now_ns().saturating_add(io.extra_ns);
        let passes_ns = bucket.admit(arrival_ns, io.request.len as u64);
        drop(bucket);
        let wait_ns = passes_ns - arrival_ns;
        if wait_ns > 0 {
            io.extra_ns = io.extra_ns.saturating_add(wait_ns);
            self.waits.count.fetch_add(1, Ordering::Relaxed);
            self.waits.total_ns.fetch_add(wait_ns, Ordering::Relaxed);
        }
        Flow::Next(io)
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        vec![
            ("waits", self.waits.count.load(Ordering::Relaxed)),
            ("wait_ns", self.waits.total_ns.load(Ordering::Relaxed)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::VirtualDisk;
    use crate::{LayerConfig, ManualClock, MemConfig, Request, Session, Submitted};

    fn open(config: ThrottleConfig, clock: &Arc<ManualClock>) -> Result<VirtualDisk, Error> {
        let stack =
            [LayerConfig::Mem(MemConfig { size_bytes: 1 << 20 }), LayerConfig::Throttle(config)];
        VirtualDisk::open(&stack, Arc::clone(clock) as Arc<dyn Clock>)
    }

    fn group(name: &str, iops: f64) -> ThrottleConfig {
        let iops = Some(RateLimit::sustained(iops));
        ThrottleConfig { iops, group: Some(name.to_owned()), ..ThrottleConfig::default() }
    }

    fn ready_ns(session: &mut Session) -> u64 {
        let Submitted::Done(completion) = session.submit(0, Request::read(0, 4096)) else {
            unreachable!("no queue in this stack")
        };
        completion.ready_at_ns.max(session.disk().clock().now_ns())
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
        let io_unit_bytes = NonZeroU64::new(4096);
        let other_unit = ThrottleConfig { io_unit_bytes, ..group("short-lived", 1000.0) };
        let reads = ThrottleConfig { counts: Some(Op::Read), ..group("short-lived", 1000.0) };
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
        for (limited, free) in [(Op::Read, Op::Write), (Op::Write, Op::Read)] {
            let clock = Arc::new(ManualClock::default());
            let iops = Some(RateLimit::sustained(1000.0));
            let config =
                ThrottleConfig { iops, counts: Some(limited), ..ThrottleConfig::default() };
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
        let config = ThrottleConfig {
            iops: Some(RateLimit::sustained(1e6)),
            bw_bytes: Some(RateLimit::sustained(4096.0 * 1e5)),
            ..ThrottleConfig::default()
        };
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
