//! A workload as arguments of iperf3, or why that is impossible.

use std::net::SocketAddr;

use iotax_experiment::units::format_bytes;
use iotax_experiment::{BlockSizes, Bound, Job, Pace, Work, Workload};

use crate::error::Error;

/// Streams that iperf3 takes.
const MOST_STREAMS: u32 = 128;
/// The largest block of TCP that it takes, and the largest datagram that there is.
const LARGEST_BYTES: u32 = 1 << 20;
const LARGEST_DATAGRAM_BYTES: u32 = 65_507;
/// The smallest datagram that has room for iperf3's numbering.
const SMALLEST_DATAGRAM_BYTES: u32 = 16;
/// The longest discarded start (`-O`) and the longest run (`-t`), in seconds.
const LONGEST_RAMP_S: u64 = 60;
const LONGEST_S: u64 = 86_400;
/// How long the connection may take, in milliseconds.
const CONNECT_MS: u32 = 10_000;

/// Refuses, before anything is made, what iperf3 cannot do.
///
/// # Errors
/// As [`Iperf3`](crate::Iperf3) refuses it when it is to be driven.
pub fn refuse_with_iperf3(workload: &Workload) -> Result<(), Error> {
    the_job(workload).map(drop)
}

/// The job of a workload that iperf3 can do.
pub(super) fn the_job(workload: &Workload) -> Result<&Job, Error> {
    let job = &workload.jobs[0];
    let refused = |why: String| Err(Error::unsuitable(job, why));
    if workload.jobs.len() > 1 || workload.index.is_some() {
        return refused(format!(
            "iperf3 can run only one job, but workload {} has several; split it, or use --engine \
             native",
            workload.name
        ));
    }
    match obstacle(job) {
        Some(why) => refused(format!("{why}, or use --engine native")),
        None => Ok(job),
    }
}

/// What keeps iperf3 from a job, and what to do about it.
fn obstacle(job: &Job) -> Option<String> {
    let BlockSizes::Fixed(bytes) = job.block_sizes else {
        return Some(
            "iperf3 supports only one block size; set one, for example bs=128k".to_owned(),
        );
    };
    let (sizes, other) = match job.engine.info().does {
        Work::Stream => (1..=LARGEST_BYTES, "use a closed loop (rate=closed)"),
        Work::Datagrams => {
            (SMALLEST_DATAGRAM_BYTES..=LARGEST_DATAGRAM_BYTES, "use evenly spaced I/Os (rate=N)")
        }
        Work::RoundTrips | Work::Connections => {
            let why = "iperf3 cannot time requests and responses; choose tcp-stream or udp-stream";
            return Some(why.to_owned());
        }
        Work::Nothing | Work::Span | Work::Tree | Work::Recording => {
            let why = "iperf3 generates only network streams and datagrams, not storage I/O; \
                       choose --engine fio";
            return Some(why.to_owned());
        }
    };
    let paced_otherwise = match job.pace {
        Pace::Closed => false,
        Pace::Even { .. } => job.engine.is_stream(),
        Pace::Poisson { .. } => true,
    };
    if paced_otherwise {
        return Some(format!("iperf3 does not support this pacing; {other}"));
    }
    if !sizes.contains(&bytes) {
        let (from, to) = (sizes.start(), sizes.end());
        return Some(format!(
            "for this workload, iperf3 supports blocks of {from} to {to} bytes, not {}; change bs",
            format_bytes(bytes.into())
        ));
    }
    if job.threads > MOST_STREAMS {
        return Some(format!(
            "iperf3 supports at most {MOST_STREAMS} streams, not {}; reduce threads",
            job.threads
        ));
    }
    if !matches!(job.read_percent, 0 | 100) {
        let why = "iperf3 measures the two directions separately; choose one direction";
        return Some(why.to_owned());
    }
    let shaped = [
        (job.queue_depth > 1, "depth"),
        (job.think.is_some(), "think"),
        (job.start_delay_ns > 0, "start-delay"),
        (job.end_after_ns.is_some(), "end-after"),
        (job.bound != Bound::Time, "a bound"),
        (!job.cpus.is_empty(), "cpus"),
    ];
    let (_, key) = shaped.iter().find(|(is_set, _)| *is_set)?;
    Some(format!("iperf3 has no equivalent of {key}; remove it"))
}

/// What the client is told. `address`: of the server.
pub(super) fn arguments(
    job: &Job,
    address: SocketAddr,
    ramp_ns: u64,
    time_ns: u64,
) -> Result<Vec<String>, Error> {
    let seconds = |ns: u64, most_s: u64, key: &str| {
        // It counts in whole seconds.
        let s = ns.div_ceil(1_000_000_000);
        let why = format!("iperf3 supports a {key} of at most {most_s} s, not {s} s; lower it");
        if s > most_s { Err(Error::unsuitable(job, why)) } else { Ok(s.to_string()) }
    };
    let omitted = seconds(ramp_ns, LONGEST_RAMP_S, "ramp")?;
    let counted = seconds(time_ns, LONGEST_S, "time")?;
    let bytes = job.block_sizes.max_bytes();
    let mut arguments = vec!["--json".to_owned()];
    let mut add = |option: &str, value: &dyn ToString| {
        arguments.extend([option.to_owned(), value.to_string()]);
    };
    add("--client", &address.ip());
    add("--port", &address.port());
    add("--connect-timeout", &CONNECT_MS);
    add("--interval", &1);
    add("--time", &counted);
    add("--omit", &omitted);
    add("--parallel", &job.threads);
    add("--length", &bytes);
    if job.engine.is_datagrams() {
        // Of each stream, in bits per second; 0 is as fast as it can.
        let iops = job.pace.offered_iops().unwrap_or(0.0);
        let rate = iops * f64::from(bytes) * 8.0 / f64::from(job.threads.max(1));
        add("--bitrate", &rate.round());
        arguments.push("--udp".to_owned());
    }
    if job.reads() {
        arguments.push("--reverse".to_owned());
    }
    if job.zero_copy {
        arguments.push("--zerocopy".to_owned());
    }
    Ok(arguments)
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use iotax_experiment::{Engine, Think};

    use super::*;

    fn preset(name: &str) -> Workload {
        Workload::preset(name).unwrap()
    }

    #[test]
    fn workloads_have_words() {
        let words = |name: &str, change: fn(&mut Job)| {
            let mut workload = preset(name);
            change(&mut workload.jobs[0]);
            let job = the_job(&workload).unwrap();
            let address = "192.0.2.2:7000".parse().unwrap();
            arguments(job, address, 200_000_000, 3_000_000_000).unwrap().join(" ")
        };
        assert_snapshot!(words("tcp-stream", |_| ()), @"--json --client 192.0.2.2 --port 7000 --connect-timeout 10000 --interval 1 --time 3 --omit 1 --parallel 1 --length 131072");
        assert_snapshot!(words("tcp-stream-back", |job| job.threads = 4), @"--json --client 192.0.2.2 --port 7000 --connect-timeout 10000 --interval 1 --time 3 --omit 1 --parallel 4 --length 131072 --reverse");
        assert_snapshot!(words("tcp-stream", |job| job.zero_copy = true), @"--json --client 192.0.2.2 --port 7000 --connect-timeout 10000 --interval 1 --time 3 --omit 1 --parallel 1 --length 131072 --zerocopy");
        assert_snapshot!(words("udp-stream", |job| job.threads = 2), @"--json --client 192.0.2.2 --port 7000 --connect-timeout 10000 --interval 1 --time 3 --omit 1 --parallel 2 --length 1200 --bitrate 24000000 --udp");
        assert_snapshot!(words("udp-stream", |job| job.pace = Pace::Closed), @"--json --client 192.0.2.2 --port 7000 --connect-timeout 10000 --interval 1 --time 3 --omit 1 --parallel 1 --length 1200 --bitrate 0 --udp");
    }

    #[test]
    fn what_it_cannot_do_is_refused_with_what_to_do() {
        let refused = |name: &str, change: fn(&mut Job)| {
            let mut workload = preset(name);
            change(&mut workload.jobs[0]);
            refuse_with_iperf3(&workload).unwrap_err().to_string()
        };
        let error = |change| refused("tcp-stream", change);
        assert_snapshot!(refused("tcp-rr", |_| ()), @"job `requests`: iperf3 cannot time requests and responses; choose tcp-stream or udp-stream, or use --engine native");
        assert_snapshot!(refused("randread-4k", |_| ()), @"job `io`: iperf3 generates only network streams and datagrams, not storage I/O; choose --engine fio, or use --engine native");
        assert_snapshot!(refused("driver-searcher", |_| ()), @"job `download`: iperf3 can run only one job, but workload driver-searcher has several; split it, or use --engine native");
        assert_snapshot!(error(|job| job.pace = Pace::Even { iops: 10.0 }), @"job `flow`: iperf3 does not support this pacing; use a closed loop (rate=closed), or use --engine native");
        assert_snapshot!(refused("udp-stream", |job| job.pace = Pace::Poisson { iops: 10.0 }), @"job `datagrams`: iperf3 does not support this pacing; use evenly spaced I/Os (rate=N), or use --engine native");
        assert_snapshot!(error(|job| job.block_sizes = BlockSizes::Fixed(2 << 20)), @"job `flow`: for this workload, iperf3 supports blocks of 1 to 1048576 bytes, not 2M; change bs, or use --engine native");
        assert_snapshot!(refused("udp-stream", |job| job.block_sizes = BlockSizes::Fixed(8)), @"job `datagrams`: for this workload, iperf3 supports blocks of 16 to 65507 bytes, not 8; change bs, or use --engine native");
        assert_snapshot!(error(|job| job.threads = 129), @"job `flow`: iperf3 supports at most 128 streams, not 129; reduce threads, or use --engine native");
        assert_snapshot!(error(|job| job.read_percent = 50), @"job `flow`: iperf3 measures the two directions separately; choose one direction, or use --engine native");
        assert_snapshot!(error(|job| job.think = Some(Think { time_ns: 1, after_ios: 1 })), @"job `flow`: iperf3 has no equivalent of think; remove it, or use --engine native");
        let job = Job { engine: Engine::TcpStream, ..Job::new("flow") };
        let address = "192.0.2.2:7000".parse().unwrap();
        let long = arguments(&job, address, 61_000_000_000, 1).unwrap_err();
        assert_snapshot!(long, @"job `flow`: iperf3 supports a ramp of at most 60 s, not 61 s; lower it");
    }
}
