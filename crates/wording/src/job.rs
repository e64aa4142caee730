//! The jobs of a workload in words.

use iotax_experiment::{BlockSizes, Bound, HostCommands, Job, LatencyTarget, Pace, Pattern, Trims};
use iotax_quantity::{iops_limit, set_percent, set_time};

use crate::format;

/// `random read`, `sequential, 70 % read`.
pub fn access(job: &Job) -> String {
    if job.recording.is_some() {
        return "as recorded".to_owned();
    }
    if job.engine.is_network() {
        return match job.read_percent {
            _ if !job.engine.is_stream() && !job.engine.is_datagrams() => "round trip",
            100 => "from the peer",
            _ => "to the peer",
        }
        .to_owned();
    }
    let orders: Vec<_> = job.patterns().map(Pattern::name).collect();
    let order = orders.join("; writes ");
    match job.read_percent {
        100 => format!("{order} read"),
        0 => match job.trims {
            None => format!("{order} write"),
            Some(Trims::Only) => format!("{order} trim"),
            Some(Trims::First) => format!("{order} trim, then write"),
        },
        reads => format!("{order}, {} read", set_percent(reads)),
    }
}

/// `4 KiB; writes 16 KiB`.
pub fn block_sizes(job: &Job) -> String {
    let all = job.all_block_sizes().map(sizes);
    all.collect::<Vec<_>>().join("; writes ")
}

fn sizes(sizes: &BlockSizes) -> String {
    let bytes = |n: u32| format::bytes(f64::from(n));
    match sizes {
        BlockSizes::Fixed(size) => bytes(*size),
        BlockSizes::Range { min, max } => format!("{} to {}", bytes(*min), bytes(*max)),
        BlockSizes::Split(shares) => {
            let shares =
                shares.iter().map(|s| format!("{} {}", bytes(s.bytes), set_percent(s.percent)));
            shares.collect::<Vec<_>>().join(", ")
        }
    }
}

/// `closed loop`, `2,000 IOPS, evenly spaced`.
pub fn pace(job: &Job) -> String {
    match job.pace {
        Pace::Closed => "closed loop".to_owned(),
        Pace::Even { iops } => format!("{}, evenly spaced", rate(job, iops)),
        Pace::Poisson { iops } => format!("{}, Poisson", rate(job, iops)),
    }
}

/// An offered rate.
fn rate(job: &Job, per_s: f64) -> String {
    match job.engine.unit() {
        "I/O" => iops_limit(per_s),
        _ => format::rate_of(job.engine, per_s, per_s * f64::from(job.block_sizes.max_bytes())),
    }
}

/// Its engine and its other options.
pub fn options(job: &Job) -> String {
    let mut words = vec![job.engine.name().to_owned()];
    let flags = [
        (job.direct, "direct"),
        (job.invalidate, "cold cache"),
        (job.end_fsync, "fsync at end"),
        (job.verify, "verify"),
        (job.verify_apart && job.writes(), "verified by another job"),
        (job.verify_apart && job.reads(), "verifies another job's data"),
        (job.verify_ends, "stops at the first mismatch"),
        (job.sqpoll, "sqpoll"),
        (job.zero_copy, "zero-copy"),
        (!job.advise, "no fadvise"),
    ];
    words.extend(flags.iter().filter(|(set, _)| *set).map(|(_, word)| (*word).to_owned()));
    words.extend(job.verify_every.map(|n| format!("verifies after every {n} writes")));
    words.extend(job.fsync_every.map(|n| format!("fdatasync every {n}")));
    if let Bound::Bytes(bytes) = job.bound {
        words.push(format!("ends after {}", iotax_quantity::size(bytes)));
    }
    words.extend(job.explain_shares());
    if job.start_delay_ns > 0 {
        words.push(format!("starts after {}", set_time(job.start_delay_ns)));
    }
    if let Some(end_ns) = job.end_after_ns {
        words.push(format!("ends {} into the trial", set_time(end_ns)));
    }
    words.join(", ")
}

/// `at most 1 ms for 99 % of I/Os`.
pub fn latency_target(of: LatencyTarget) -> String {
    let most = set_time(of.target_ns);
    if of.percentile < 100.0 {
        format!("at most {most} for {} of I/Os", set_percent(of.percentile))
    } else {
        format!("at most {most}")
    }
}

/// The commands on the host that are part of an arm.
pub fn host_commands(commands: &HostCommands) -> String {
    let HostCommands { before, after, .. } = commands;
    let after = after.as_ref().map(|after| format!(", and `{after}` ran after it"));
    format!("`{before}` ran before each turn{}", after.unwrap_or_default())
}
