//! Reads iperf3's JSON (`-J`) of clients; tested with 3.12.
//!
//! Each direction becomes a job whose block size is that of `-l`. **Only received data counts**:
//! for TCP, the bytes of `end.sum_received`. For UDP, `end.sum` is the sender's rate, and
//! `lost_percent` may exceed 100, because the loss is estimated from gaps in the numbering.
//! Received datagrams are therefore derived from the receiver's bytes. iperf3 does not time blocks,
//! so there are no latencies.

mod events;
#[cfg(test)]
mod tests;

use iotax_record::{DirectionRecord, FarEndRecord, JobRecord, TcpRecord, UdpRecord};
use jiff::Timestamp;
use serde::Deserialize;

use super::imported::{Error, Imported, Number, whole};

/// Seconds by which an interval may differ and still count as one second.
const OFF_BY_S: f64 = 0.1;
/// Limit for the length of a run: ten years, in seconds.
const LONGEST_S: f64 = 10.0 * 366.0 * 86_400.0;

/// Whether a text that begins with `start` is from iperf3.
pub(super) fn is_start(text: &str) -> bool {
    let is_iperf3 = |(at, _): (usize, &str)| {
        let rest = text[at + "\"version\"".len()..].trim_start();
        rest.strip_prefix(':').is_some_and(|value| value.trim_start().starts_with("\"iperf 3"))
    };
    text.contains('{') && text.match_indices("\"version\"").any(is_iperf3)
}

/// Reads the output of `iperf3 -c HOST -J`.
///
/// # Errors
/// [`Error::CutOff`] or [`Error::Json`] for incomplete JSON, [`Error::Nothing`] for a run that
/// failed or measured nothing, [`Error::Number`] for an impossible number.
pub fn read_iperf3(text: &str) -> Result<Imported, Error> {
    let (root, has_more) = events::read_root(text)?;
    if has_more {
        return Err(none("it has several results; save each in a separate file"));
    }
    if let Some(why) = root.error {
        return Err(none(format!(
            "the run failed with {why:?}, so the measurement is incomplete; run it again"
        )));
    }
    let asked = &root.start.asked;
    let is_udp = match asked.protocol.as_str() {
        "TCP" => false,
        "UDP" => true,
        "" => return Err(none("the run ended before the test started")),
        other => return Err(none(format!("{other} is not supported, only TCP and UDP"))),
    };
    let version: String =
        root.start.version.trim_start_matches("iperf ").chars().take(40).collect();
    let mut result = Imported {
        tool: format!("iperf3 {version}"),
        // A new random value for each run.
        id: Some(root.start.cookie.clone()).filter(|cookie| !cookie.is_empty()),
        started: root.start.timestamp.timesecs.whole().and_then(rfc3339),
        ..Imported::default()
    };
    let reverse = asked.reverse.whole() == Some(1);
    directed(&root, is_udp, reverse, false, &mut result)?;
    if root.end.sum_received_bidir_reverse.is_some() {
        directed(&root, is_udp, true, true, &mut result)?;
    }
    cpu(&root, &mut result)?;
    result.window_ns = result.jobs.iter().map(|job| job.active_ns).max().unwrap_or(0);
    Ok(result)
}

/// Adds the job of one direction; `backward` is the second direction of `--bidir`.
fn directed(
    root: &Root,
    is_udp: bool,
    reverse: bool,
    backward: bool,
    result: &mut Imported,
) -> Result<(), Error> {
    let (end, asked) = (&root.end, &root.start.asked);
    let (sum, sent, received) = if backward {
        (&end.sum_bidir_reverse, &end.sum_sent_bidir_reverse, &end.sum_received_bidir_reverse)
    } else {
        (&end.sum, &end.sum_sent, &end.sum_received)
    };
    let protocol = if is_udp { "udp" } else { "tcp" };
    let name = if reverse { format!("{protocol} reverse") } else { protocol.to_owned() };
    let block = asked.blksize.count(&name, "start.test_start.blksize")?.filter(|bytes| *bytes > 0);
    let block = block.ok_or_else(|| none("it has no start.test_start.blksize"))?;
    let streams = asked.num_streams.count(&name, "start.test_start.num_streams")?.unwrap_or(1);
    let streams = u32::try_from(streams).unwrap_or(u32::MAX).max(1);
    // For UDP, older versions may have only the sum.
    let came = received.as_ref().or(sum.as_ref().filter(|_| is_udp));
    let came = came.ok_or_else(|| none("it has no end.sum_received: the run ended too early"))?;
    let active_s = seconds(came.seconds, &name)?;
    let (bytes, udp) = if is_udp {
        let received = received.as_ref();
        let counted = datagrams(sum.as_ref().unwrap_or(came), received, block, &name, result)?;
        let udp = UdpRecord { reordered: reordered(root, backward, &name)?, ..counted };
        (udp.sent.saturating_mul(block), Some(udp))
    } else {
        (came.bytes.count(&name, "bytes")?.unwrap_or(0), None)
    };
    if bytes == 0 {
        return Err(none(if is_udp { "no datagram was sent" } else { "nothing was received" }));
    }
    let sent_s = sent.as_ref().map_or(Ok(active_s), |sent| seconds(sent.seconds, &name))?;
    let bits = asked.target_bitrate.count(&name, "start.test_start.target_bitrate")?.unwrap_or(0);
    let rate = (bits / 8).saturating_mul(u64::from(streams));
    let moved = DirectionRecord {
        ios: bytes.div_ceil(block),
        bytes,
        per_second_bytes: per_second(&root.intervals, backward),
        ..DirectionRecord::default()
    };
    let (read, write) = if reverse {
        (moved, DirectionRecord::default())
    } else {
        (DirectionRecord::default(), moved)
    };
    let engine = if is_udp { "udp_stream" } else { "tcp_stream" };
    let options = [
        ("ioengine", engine.to_owned()),
        ("rw", if reverse { "read" } else { "write" }.to_owned()),
        ("bs", block.to_string()),
        ("numjobs", streams.to_string()),
        ("rate", if rate > 0 { rate.to_string() } else { String::new() }),
        (
            "runtime",
            asked.duration.whole().filter(|s| *s > 0).map_or(String::new(), |s| s.to_string()),
        ),
    ];
    let options = options.into_iter().filter(|(_, value)| !value.is_empty());
    result.options.push(options.map(|(name, value)| (name.to_owned(), value)).collect());
    result.jobs.push(JobRecord {
        engine: engine.to_owned(),
        threads: streams,
        queue_depth: 1,
        active_ns: whole(active_s * 1e9),
        offered_ios: (is_udp && rate > 0).then(|| whole(rate as f64 * sent_s / block as f64)),
        tcp: if is_udp || reverse { None } else { tcp(root, sent.as_ref(), &name)? },
        udp,
        read,
        write,
        name,
        ..JobRecord::default()
    });
    Ok(())
}

/// Datagrams as the receiver counted them, from its bytes if given; warns about impossible numbers.
fn datagrams(
    sum: &Sum,
    received: Option<&Sum>,
    block: u64,
    job: &str,
    result: &mut Imported,
) -> Result<UdpRecord, Error> {
    let sent = sum.packets.count(job, "packets")?.unwrap_or(0);
    let lost = sum.lost_packets.float().unwrap_or(0.0);
    let came = match received {
        Some(received) => received.bytes.count(job, "bytes")?.unwrap_or(0).div_ceil(block),
        None => whole((sent as f64 - lost).max(0.0)),
    };
    let udp = UdpRecord {
        sent,
        received: came.min(sent),
        jitter_ns: nanoseconds(sum.jitter_ms, 1e6, job, "jitter_ms")?,
        ..UdpRecord::default()
    };
    let percents = [Some(sum), received].into_iter().flatten();
    let percents = percents.filter_map(|sum| sum.lost_percent.float());
    let impossible = percents.into_iter().find(|percent| !(0.0..=100.0).contains(percent));
    let claim = if !(0.0..=sent as f64).contains(&lost) || came > sent {
        format!("counts {lost} of {sent} datagrams as lost")
    } else if let Some(percent) = impossible {
        format!("counts {} of the datagrams as lost", iotax_quantity::percent(percent / 100.0))
    } else {
        return Ok(udp);
    };
    result.warnings.push(format!(
        "{job}: iperf3 {claim}, which is impossible; iotax counts {} as received",
        udp.received
    ));
    Ok(udp)
}

/// The streams of a direction.
fn streams(root: &Root, backward: bool) -> impl Iterator<Item = &Stream> {
    // With --bidir, streams of the second direction are marked as not sent by the client.
    let is_bidir = root.end.sum_received_bidir_reverse.is_some();
    let is_sent = |stream: &Stream| {
        let half = stream.udp.as_ref().or(stream.sender.as_ref());
        half.and_then(|half| half.sender).unwrap_or(true)
    };
    root.end.streams.iter().filter(move |stream| !is_bidir || is_sent(stream) != backward)
}

fn reordered(root: &Root, backward: bool, job: &str) -> Result<u64, Error> {
    let counts = streams(root, backward)
        .filter_map(|stream| stream.udp.as_ref())
        .map(|udp| udp.out_of_order.count(job, "out_of_order").map(Option::unwrap_or_default));
    counts.sum()
}

/// Facts from the sender's kernel. If the far end sends, only its retransmits are known; with
/// --bidir the round trip next to them is that of a socket that only receives.
fn tcp(root: &Root, sent: Option<&Sum>, job: &str) -> Result<Option<TcpRecord>, Error> {
    let Some(retransmits) =
        sent.map(|sum| sum.retransmits.count(job, "retransmits")).transpose()?.flatten()
    else {
        return Ok(None);
    };
    let mut record = TcpRecord {
        retransmits,
        mss_bytes: match root.start.tcp_mss.count(job, "start.tcp_mss")? {
            Some(bytes) => bytes,
            None => root.start.tcp_mss_default.count(job, "start.tcp_mss_default")?.unwrap_or(0),
        },
        ..TcpRecord::default()
    };
    for sender in streams(root, false).filter_map(|stream| stream.sender.as_ref()) {
        record.connections += 1;
        record.rtt_ns = record.rtt_ns.max(nanoseconds(sender.mean_rtt, 1e3, job, "mean_rtt")?);
        record.cwnd_bytes += sender.max_snd_cwnd.count(job, "max_snd_cwnd")?.unwrap_or(0);
    }
    Ok((record.rtt_ns > 0).then_some(record))
}

/// Bytes of each second as the client saw them; empty if intervals are not seconds.
fn per_second(intervals: &[Interval], backward: bool) -> Vec<u64> {
    let sums = intervals.iter().filter_map(|interval| {
        if backward { interval.sum_bidir_reverse.as_ref() } else { interval.sum.as_ref() }
    });
    let is_second = |sum: &&Sum| sum.seconds.float().is_some_and(|s| (s - 1.0).abs() < OFF_BY_S);
    let counted = sums.filter(|sum| !sum.omitted);
    counted.take_while(is_second).map_while(|sum| sum.bytes.whole()).collect()
}

/// CPU time of both ends, if there is one job.
fn cpu(root: &Root, result: &mut Imported) -> Result<(), Error> {
    let ([job], Some(cpu)) = (result.jobs.as_mut_slice(), &root.end.cpu_utilization_percent) else {
        return Ok(());
    };
    let active_ns = job.active_ns as f64;
    let ns = |percent: Number, field: &str| -> Result<u64, Error> {
        let percent = percent.positive(&job.name, field)?.unwrap_or(0.0);
        Ok(whole(percent / 100.0 * active_ns))
    };
    let (user_ns, system_ns) =
        (ns(cpu.host_user, "host_user")?, ns(cpu.host_system, "host_system")?);
    let far_ns = ns(cpu.remote_total, "remote_total")?;
    (job.cpu_user_ns, job.cpu_system_ns) = (user_ns, system_ns);
    result.far_end = Some(FarEndRecord { cpu_ns: far_ns, ..FarEndRecord::default() });
    Ok(())
}

fn none(why: impl Into<String>) -> Error {
    Error::Nothing { tool: "iperf3", why: why.into() }
}

fn seconds(number: Number, job: &str) -> Result<f64, Error> {
    match number.positive(job, "seconds")? {
        Some(s) if s > 0.0 && s <= LONGEST_S => Ok(s),
        _ => Err(number.wrong(job, "seconds", "more than 0 and less than ten years")),
    }
}

fn nanoseconds(number: Number, unit_ns: f64, job: &str, field: &str) -> Result<u64, Error> {
    let value = number.positive(job, field)?;
    Ok(whole(value.unwrap_or(0.0) * unit_ns))
}

fn rfc3339(timesecs: u64) -> Option<String> {
    let start = Timestamp::from_second(i64::try_from(timesecs).ok()?).ok()?;
    Some(start.to_string())
}

// The members of iperf3's JSON that are read.

#[derive(Deserialize, Default)]
#[serde(default, expecting = "an object, as iperf3 writes it")]
struct Root {
    pub start: Start,
    pub intervals: Vec<Interval>,
    pub end: End,
    pub error: Option<String>,
    /// Of `--json-stream` (3.17).
    pub event: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default, expecting = "the start of the test")]
struct Start {
    pub version: String,
    pub timestamp: Began,
    pub cookie: String,
    pub tcp_mss: Number,
    pub tcp_mss_default: Number,
    #[serde(rename = "test_start")]
    pub asked: Asked,
}

#[derive(Deserialize, Default)]
#[serde(default, expecting = "a time")]
struct Began {
    pub timesecs: Number,
}

#[derive(Deserialize, Default)]
#[serde(default, expecting = "the requested test")]
struct Asked {
    pub protocol: String,
    pub num_streams: Number,
    pub blksize: Number,
    /// Seconds; 0 for a test that ends by bytes.
    pub duration: Number,
    pub reverse: Number,
    /// Bits per second of each stream.
    pub target_bitrate: Number,
}

#[derive(Deserialize, Default)]
#[serde(default, expecting = "an interval")]
struct Interval {
    pub sum: Option<Sum>,
    pub sum_bidir_reverse: Option<Sum>,
}

#[derive(Deserialize, Default)]
#[serde(default, expecting = "the end of the test")]
struct End {
    pub streams: Vec<Stream>,
    pub sum: Option<Sum>,
    pub sum_sent: Option<Sum>,
    pub sum_received: Option<Sum>,
    pub sum_bidir_reverse: Option<Sum>,
    pub sum_sent_bidir_reverse: Option<Sum>,
    pub sum_received_bidir_reverse: Option<Sum>,
    pub cpu_utilization_percent: Option<Cpu>,
}

/// Sums over all streams of a direction.
#[derive(Deserialize, Default)]
#[serde(default, expecting = "a sum")]
struct Sum {
    pub seconds: Number,
    pub bytes: Number,
    pub retransmits: Number,
    pub jitter_ms: Number,
    /// May be negative, or more than the number of packets.
    pub lost_packets: Number,
    /// May exceed 100.
    pub lost_percent: Number,
    pub packets: Number,
    /// Part of `-O`.
    pub omitted: bool,
}

#[derive(Deserialize, Default)]
#[serde(default, expecting = "a stream")]
struct Stream {
    pub sender: Option<Half>,
    pub udp: Option<Half>,
}

#[derive(Deserialize, Default)]
#[serde(default, expecting = "one end of a stream")]
struct Half {
    /// Microseconds; 0 if the sender is the far end.
    pub mean_rtt: Number,
    pub max_snd_cwnd: Number,
    pub out_of_order: Number,
    /// Whether the client sent.
    pub sender: Option<bool>,
}

/// In percent of one CPU; `host` is the client.
#[derive(Deserialize, Default)]
#[serde(default, expecting = "CPU time")]
struct Cpu {
    pub host_user: Number,
    pub host_system: Number,
    pub remote_total: Number,
}
