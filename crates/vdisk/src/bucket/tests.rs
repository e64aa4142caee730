use proptest::prelude::*;

use super::*;

/// The definition, taken literally: time passes nanosecond by nanosecond, and the first request
/// in line passes as soon as every level allows it. Levels are in thousandths of a token times
/// nanoseconds, computed apart from the code under test.
struct Oracle {
    /// (rate in thousandths per second, depth, level, counts bytes?)
    meters: Vec<(i128, i128, i128, bool)>,
    now_ns: u64,
}

impl Oracle {
    fn new(ios: Option<RateLimit>, bytes: Option<RateLimit>, start_ns: u64) -> Self {
        let mut meters = Vec::new();
        for (limit, counts_bytes) in [(ios, false), (bytes, true)] {
            let Some(limit) = limit else { continue };
            let credits = limit.burst.map_or(0, |burst| i128::from(burst.credits)) * PER_TOKEN;
            let mut add = |per_s: f64, credits: i128| {
                #[expect(clippy::cast_possible_truncation, reason = "small rates")]
                let rate = (per_s * 1000.0).round() as i128;
                let slack = rate * i128::from(SLACK_NS);
                meters.push((rate, credits + slack, credits, counts_bytes));
            };
            add(limit.sustained_per_s, credits);
            if let Some(burst) = limit.burst {
                add(burst.per_s, 0);
            }
        }
        Self { meters, now_ns: start_ns }
    }

    fn tick(&mut self) {
        self.now_ns += 1;
        for (rate, depth, level, _) in &mut self.meters {
            *level = (*level + *rate).min(*depth);
        }
    }

    fn admit(&mut self, arrival_ns: u64, bytes: u64) -> u64 {
        while self.now_ns < arrival_ns || self.meters.iter().any(|meter| meter.2 < 0) {
            self.tick();
        }
        for (.., level, counts_bytes) in &mut self.meters {
            *level -= i128::from(if *counts_bytes { bytes } else { 1 }) * PER_TOKEN;
        }
        self.now_ns
    }
}

/// Rates so high that a request costs some ten nanoseconds, for an oracle that counts them.
fn fast_limit(scale: u32) -> impl Strategy<Value = RateLimit> {
    (1.0..50.0_f64, proptest::option::of((1.1..4.0_f64, 0_u64..60))).prop_map(
        move |(rate, burst)| {
            let sustained_per_s = rate * 1e6 * f64::from(scale);
            let burst = burst.map(|(factor, credits)| Burst {
                per_s: sustained_per_s * factor,
                credits: credits * u64::from(scale),
            });
            RateLimit { sustained_per_s, burst }
        },
    )
}

fn limits() -> impl Strategy<Value = (Option<RateLimit>, Option<RateLimit>)> {
    let ios = proptest::option::of(fast_limit(1));
    let bytes = proptest::option::of(fast_limit(100));
    (ios, bytes).prop_filter("no limit at all", |(ios, bytes)| ios.is_some() || bytes.is_some())
}

proptest! {
    #[test]
    fn requests_pass_exactly_when_the_definition_says(
        (ios, bytes) in limits(),
        requests in proptest::collection::vec((0_u64..120, 0_u64..300), 1..80),
    ) {
        let start_ns = 5_000;
        let mut bucket = Bucket::new(ios, bytes);
        let mut oracle = Oracle::new(ios, bytes, start_ns);
        let mut now_ns = start_ns;
        for (index, (gap_ns, len)) in requests.into_iter().enumerate() {
            // A bucket's time starts with its first request.
            now_ns += if index == 0 { 0 } else { gap_ns };
            prop_assert_eq!(bucket.admit(now_ns, len), oracle.admit(now_ns, len));
        }
    }

    #[test]
    fn no_window_exceeds_its_bound_and_a_backlog_is_served_at_the_full_rate(
        sustained in 100.0..1e6_f64,
        burst in proptest::option::of((1.1..30.0_f64, 1_u64..5_000)),
        gaps in proptest::collection::vec(prop_oneof![Just(0_u64), 0..20_000_000_u64], 50..400),
    ) {
        let burst = burst.map(|(factor, credits)| Burst { per_s: sustained * factor, credits });
        let limit = RateLimit { sustained_per_s: sustained, burst };
        let mut bucket = Bucket::new(Some(limit), None);
        let mut now_ns = 0;
        let mut passed = Vec::new();
        for gap_ns in gaps {
            now_ns += gap_ns;
            passed.push(bucket.admit(now_ns, 4096));
        }
        prop_assert!(passed.is_sorted());
        // Rates are kept in thousandths, for the slack as well.
        let bound = |per_s: f64, credits: u64, span_ns: u64| {
            (per_s * 1000.0).round() / 1000.0 * (span_ns + SLACK_NS) as f64 / 1e9 + credits as f64 + 1.0 + 1e-6
        };
        for (first, &from_ns) in passed.iter().enumerate() {
            for (last, &to_ns) in passed.iter().enumerate().skip(first) {
                let count = (last - first + 1) as f64;
                let credits = burst.map_or(0, |burst| burst.credits);
                prop_assert!(count <= bound(sustained, credits, to_ns - from_ns));
                if let Some(burst) = burst {
                    prop_assert!(count <= bound(burst.per_s, 0, to_ns - from_ns));
                }
            }
        }
        // Conservation: a backlog loses nothing. 1000 more requests at one instant take no longer
        // than their price at the sustained rate.
        let from_ns = *passed.last().unwrap();
        let mut until_ns = from_ns;
        for _ in 0..1000 {
            until_ns = bucket.admit(from_ns, 4096);
        }
        prop_assert!((until_ns - from_ns) as f64 <= 1001.0 * 1e9 / (sustained - 0.001) + 1000.0);
    }

    #[test]
    fn arrivals_out_of_order_never_pass_before_they_arrive(
        arrivals in proptest::collection::vec(0_u64..1_000_000, 1..100),
    ) {
        let mut bucket = Bucket::new(Some(RateLimit::sustained(1e6)), None);
        for now_ns in arrivals {
            prop_assert!(bucket.admit(now_ns, 1) >= now_ns);
        }
    }
}

/// Requests of `len` bytes that pass within `span_ns`, at `depth`, with `service_ns` of work each.
fn closed_loop(bucket: &mut Bucket, depth: usize, len: u64, service_ns: u64, span_ns: u64) -> u64 {
    let mut ready_ns = vec![0_u64; depth];
    let mut done = 0;
    loop {
        let slot = ready_ns.iter_mut().min().unwrap();
        let passed_ns = bucket.admit(*slot, len);
        *slot = passed_ns + service_ns;
        if *slot > span_ns {
            return done;
        }
        done += 1;
    }
}

const TEN_SECONDS_NS: u64 = 10_000_000_000;

#[test]
fn both_caps_are_held_to_a_thousandth_over_ten_seconds_at_any_depth() {
    let bandwidth = 32.0 * 1_048_576.0;
    for depth in [1, 2, 32, 256] {
        let caps = || {
            let (iops, bw) = (RateLimit::sustained(4000.0), RateLimit::sustained(bandwidth));
            Bucket::new(Some(iops), Some(bw))
        };
        let ios = closed_loop(&mut caps(), depth, 4096, 30_000, TEN_SECONDS_NS);
        assert!(ios.abs_diff(40_000) <= 40, "depth {depth}: {ios} I/Os of 4 KiB");
        let ios = closed_loop(&mut caps(), depth, 131_072, 30_000, TEN_SECONDS_NS);
        assert!(ios.abs_diff(2_560) <= 3, "depth {depth}: {ios} I/Os of 128 KiB");
    }
}

#[test]
fn an_io_counts_once_for_each_unit_it_begins() {
    const KIB: u64 = 1024;
    let unit = NonZeroU64::new(256 * KIB);
    let bucket = || Bucket::new(Some(RateLimit::sustained(1000.0)), None).with_io_unit(unit);
    for (len, ios) in [(4, 1), (256, 1), (257, 2), (512, 2), (1024, 4), (1025, 5)] {
        let done = closed_loop(&mut bucket(), 8, len * KIB, 30_000, TEN_SECONDS_NS);
        assert!((done * ios).abs_diff(10_000) <= 10, "{len} KiB: {done} I/Os");
    }
    // Credits are I/Os too: 1000 of them last for 250 I/Os of 1 MiB beside the sustained rate.
    let burst = Some(Burst { per_s: 1e9, credits: 1000 });
    let limit = RateLimit { sustained_per_s: 0.001, burst };
    let mut bucket = Bucket::new(Some(limit), None).with_io_unit(unit);
    let at_once = (0..500).filter(|_| bucket.admit(0, 1024 * KIB) < 1_000_000).count();
    assert_eq!(at_once, 251, "the credits, and the one that goes into debt");
}

#[test]
fn a_full_bucket_pays_for_the_burst_as_long_as_stated_then_the_sustained_rate_holds() {
    // 500 IOPS, 3500 for 2 s: 6000 credits. In 10 s: 2 * 3500 + 8 * 500.
    let limit = RateLimit::bursting(500.0, 3500.0, 2_000_000_000);
    assert_eq!(limit.burst.unwrap().credits, 6000);
    let mut bucket = Bucket::new(Some(limit), None);
    let first_two_s = closed_loop(&mut bucket, 8, 4096, 1_000, 2_000_000_000);
    assert!(first_two_s.abs_diff(7000) <= 8, "{first_two_s}");
    let mut bucket = Bucket::new(Some(limit), None);
    let ten_s = closed_loop(&mut bucket, 8, 4096, 1_000, TEN_SECONDS_NS);
    assert!(ten_s.abs_diff(11_000) <= 10, "{ten_s}");
}

#[test]
fn idle_time_earns_credits_up_to_the_initial_ones() {
    let limit =
        RateLimit { sustained_per_s: 100.0, burst: Some(Burst { per_s: 1e6, credits: 50 }) };
    let mut bucket = Bucket::new(Some(limit), None);
    let burst_of = |bucket: &mut Bucket, now_ns: u64| {
        (0..500).filter(|_| bucket.admit(now_ns, 0) < now_ns + 1_000_000).count()
    };
    // Each time: the credits, and the one that goes into debt.
    assert_eq!(burst_of(&mut bucket, 0), 51);
    // 450 in debt, until 4.5 s; a quarter of a second after that, 25 credits have been earned.
    assert_eq!(burst_of(&mut bucket, 4_750_000_000), 26);
    // And when full, the slack: 10 ms at 100 per second.
    assert_eq!(burst_of(&mut bucket, 1_000_000_000_000), 52);
}

#[test]
fn rates_below_one_per_second_are_exact() {
    let mut bucket = Bucket::new(Some(RateLimit::sustained(0.5)), None);
    let passed: Vec<u64> = (0..4).map(|_| bucket.admit(7, 0)).collect();
    assert_eq!(passed, [7, 2_000_000_007, 4_000_000_007, 6_000_000_007]);
}

#[test]
fn extreme_values_saturate() {
    let mut bucket =
        Bucket::new(Some(RateLimit::sustained(0.001)), Some(RateLimit::sustained(1e15)));
    assert_eq!(bucket.admit(0, u64::MAX), 0);
    assert!(bucket.admit(u64::MAX, u64::MAX) == u64::MAX);
    assert!(bucket.admit(u64::MAX, 1) == u64::MAX);
}
