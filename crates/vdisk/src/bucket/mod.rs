//! The token bucket behind `throttle`, in exact integers and without a clock of its own.
//!
//! # Definition
//!
//! A *meter* limits one quantity, I/Os or bytes; call its unit a token. It has a rate `r`, a depth
//! `d`, and a level `L(t)`, which rises at rate `r` up to `d`. A request of `n` tokens may pass at
//! an instant at which `L >= 0`, and then `L` falls by `n`; it may become negative (a debt), and
//! then nothing passes until it has risen to zero again. Debt instead of prepayment, because a
//! request larger than the bucket must pass some time, and because nothing then depends on how
//! request sizes and depth relate. Over time it is the same: each token is paid for once, at `r`.
//!
//! A limit without a burst is one meter. A limit with a burst rate `p` and credits `C` is two, and
//! a request passes when both let it:
//!
//! | meter | rate | depth | starts at |
//! |---|---|---|---|
//! | sustained | `r` | `C` + slack | `C` |
//! | peak | `p` | slack | 0 |
//!
//! While credits last the peak meter decides: the load runs at `p`, and credits shrink at `p - r`,
//! so full ones last `C / (p - r)`. That is what Azure documents (30 minutes at the maximum burst
//! rate: `C = (p - r) * 1800 s`) and AWS for gp2 (5.4 million I/O credits, so `5.4e6 / (3000 - r)`
//! seconds). When they are spent the load runs at `r`. A load below `r` earns credits at the
//! difference, up to `C`. Limits for I/Os and for bytes are metered apart, and a request passes
//! when all meters let it.
//!
//! *Slack* is what the rate yields in [`SLACK_NS`], 10 ms. It starts at zero, so there is no burst
//! at the start; it only makes up for a submitter that the scheduler held up for less than that,
//! as happens to any thread on a busy machine (a few milliseconds is one time slice of another).
//! Without it every such pause would lower the rate, and a load at depth 1 would miss its cap. Over
//! ten seconds it can add a thousandth.
//!
//! # Bound
//!
//! In any window of length `T` a meter lets pass at most `r * T + d + n`, where `n` is the largest
//! request. Proof: just before the first request of the window `L <= d`. Just before the last one
//! `L >= 0`. In between `L` rose by at most `r * T` and fell by all requests but the last. From the
//! start, with `C = 0`, it is `r * T + n`, since the level starts at 0 and what slack it gains is
//! part of `r * T`.
//!
//! # Order
//!
//! First come, first served: a request passes no earlier than the one before it. Requests are only
//! told *when* they pass; whoever asked waits. As long as requests wait, each meter's level is
//! negative or zero when one passes, so no token is wasted and the limit is reached exactly.
//!
//! # I/O units
//!
//! Some providers count large I/Os several times: an I/O of `n` bytes is `ceil(n / u)` I/Os, with a
//! unit `u` of 256 KiB, say. A bucket with such a unit charges its meters for I/Os that many
//! tokens, so no I/O of more than `u` bytes is cheaper than the same bytes in I/Os of `u`. Without
//! one, every I/O is one token. Bytes are charged as they are, either way.
//!
//! # Arithmetic
//!
//! Rates are kept in thousandths of a token per second and levels in 10^-12 tokens, so that a
//! nanosecond at any rate is a whole number of them: nothing is ever rounded but the instant at
//! which a request passes, up, to a whole nanosecond; what it gains by that stays in the level.

use std::num::NonZeroU64;

mod shared;

pub(crate) use shared::{Caps, Groups, SharedBucket};

/// How long a submitter may be held up without lowering the rate.
pub(crate) const SLACK_NS: u64 = 10_000_000;

/// Levels count 10^-12 tokens.
const PER_TOKEN: i128 = 1_000_000_000_000;

/// A limit on one quantity: I/Os, or bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RateLimit {
    /// The permanent rate per second, in thousandths.
    pub(crate) sustained_per_s: f64,
    /// The limited rate beyond that.
    pub(crate) burst: Option<Burst>,
}

/// A burst on top of a [`RateLimit`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Burst {
    /// The rate while credits last, per second; above the sustained rate.
    pub(crate) per_s: f64,
    /// Credits at the start, and their maximum: I/Os or bytes in excess of the sustained rate.
    pub(crate) credits: u64,
}

impl RateLimit {
    /// A limit without a burst.
    pub(crate) const fn sustained(per_s: f64) -> Self {
        Self { sustained_per_s: per_s, burst: None }
    }

    /// A limit whose full credits last for `full_burst_ns` at the burst rate, as providers state
    /// it ("30 minutes at the maximum burst rate"): (`burst_per_s` - `sustained_per_s`) * time.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "credits beyond 2^64 saturate, and a burst below the sustained rate is refused \
                  when the disk is opened"
    )]
    pub(crate) fn bursting(sustained_per_s: f64, burst_per_s: f64, full_burst_ns: u64) -> Self {
        let credits = (burst_per_s - sustained_per_s) * full_burst_ns as f64 / 1e9;
        let burst = Burst { per_s: burst_per_s, credits: credits.round() as u64 };
        Self { sustained_per_s, burst: Some(burst) }
    }
}

#[derive(Debug)]
struct Meter {
    /// Thousandths of a token per second; equally, 10^-12 tokens per nanosecond.
    rate: i128,
    depth: i128,
    level: i128,
}

impl Meter {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "opening the disk checks that rates are from 0.001 to 1e15"
    )]
    fn new(per_s: f64, credits: u64) -> Self {
        let rate = ((per_s * 1000.0).round() as i128).max(1);
        let level = i128::from(credits) * PER_TOKEN;
        Self { rate, depth: level + rate * i128::from(SLACK_NS), level }
    }

    fn rise(&mut self, elapsed_ns: u64) {
        let gained = self.rate.saturating_mul(i128::from(elapsed_ns));
        self.level = self.level.saturating_add(gained).min(self.depth);
    }

    /// Time until the level is no longer negative.
    fn debt_ns(&self) -> u64 {
        if self.level >= 0 {
            return 0;
        }
        // -level > 0 and rate > 0, so this is the ceiling of their quotient.
        let wait_ns = (-self.level - 1) / self.rate + 1;
        u64::try_from(wait_ns).unwrap_or(u64::MAX)
    }

    fn charge(&mut self, tokens: u64) {
        self.level -= i128::from(tokens) * PER_TOKEN;
    }
}

/// The meters of one limit.
#[derive(Debug)]
struct Limit {
    meters: [Option<Meter>; 2],
}

impl Limit {
    fn new(limit: Option<RateLimit>) -> Self {
        let sustained = limit.map(|limit| {
            Meter::new(limit.sustained_per_s, limit.burst.map_or(0, |burst| burst.credits))
        });
        let peak = limit.and_then(|limit| limit.burst).map(|burst| Meter::new(burst.per_s, 0));
        Self { meters: [sustained, peak] }
    }
}

/// Limits on I/Os and on bytes, together.
#[derive(Debug)]
pub(crate) struct Bucket {
    ios: Limit,
    bytes: Limit,
    /// `None`: an I/O is one I/O, however large.
    io_unit_bytes: Option<NonZeroU64>,
    /// The instant the levels stand for: that of the last request to pass. `None` before the
    /// first: the bucket's time starts with it.
    at_ns: Option<u64>,
}

impl Bucket {
    pub(crate) fn new(iops: Option<RateLimit>, bw_bytes: Option<RateLimit>) -> Self {
        Self {
            ios: Limit::new(iops),
            bytes: Limit::new(bw_bytes),
            io_unit_bytes: None,
            at_ns: None,
        }
    }

    /// The bucket, counting an I/O once for each unit of this many bytes that it has or begins.
    pub(crate) const fn with_io_unit(mut self, io_unit_bytes: Option<NonZeroU64>) -> Self {
        self.io_unit_bytes = io_unit_bytes;
        self
    }

    /// The instant, not before `now_ns`, at which a request of `bytes` bytes that arrives at
    /// `now_ns` passes. It is charged: the caller must send it then.
    pub(crate) fn admit(&mut self, now_ns: u64, bytes: u64) -> u64 {
        let last_ns = self.at_ns.unwrap_or(now_ns);
        let arrival_ns = now_ns.max(last_ns);
        let mut wait_ns = 0;
        for meter in self.meters() {
            meter.rise(arrival_ns - last_ns);
            wait_ns = wait_ns.max(meter.debt_ns());
        }
        for meter in self.meters() {
            meter.rise(wait_ns);
        }
        let ios = self.io_unit_bytes.map_or(1, |unit| bytes.div_ceil(unit.get()).max(1));
        self.ios.meters.iter_mut().flatten().for_each(|meter| meter.charge(ios));
        self.bytes.meters.iter_mut().flatten().for_each(|meter| meter.charge(bytes));
        let at_ns = arrival_ns.saturating_add(wait_ns);
        self.at_ns = Some(at_ns);
        at_ns
    }

    fn meters(&mut self) -> impl Iterator<Item = &mut Meter> {
        self.ios.meters.iter_mut().chain(&mut self.bytes.meters).flatten()
    }
}

#[cfg(test)]
mod tests;
