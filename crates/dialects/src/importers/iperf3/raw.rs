//! The members of iperf3's JSON that are read.

use serde::Deserialize;

use crate::importers::number::Number;

#[derive(Deserialize, Default)]
#[serde(default, expecting = "an object, as iperf3 writes it")]
pub(super) struct Root {
    pub start: Start,
    pub intervals: Vec<Interval>,
    pub end: End,
    pub error: Option<String>,
    /// Of `--json-stream` (3.17).
    pub event: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default, expecting = "what iperf3 began with")]
pub(super) struct Start {
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
pub(super) struct Began {
    pub timesecs: Number,
}

#[derive(Deserialize, Default)]
#[serde(default, expecting = "what was asked for")]
pub(super) struct Asked {
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
pub(super) struct Interval {
    pub sum: Option<Sum>,
    pub sum_bidir_reverse: Option<Sum>,
}

#[derive(Deserialize, Default)]
#[serde(default, expecting = "the end of the test")]
pub(super) struct End {
    pub streams: Vec<Stream>,
    pub sum: Option<Sum>,
    pub sum_sent: Option<Sum>,
    pub sum_received: Option<Sum>,
    pub sum_bidir_reverse: Option<Sum>,
    pub sum_sent_bidir_reverse: Option<Sum>,
    pub sum_received_bidir_reverse: Option<Sum>,
    pub cpu_utilization_percent: Option<Cpu>,
}

/// Of all streams of a direction.
#[derive(Deserialize, Default)]
#[serde(default, expecting = "a sum")]
pub(super) struct Sum {
    pub seconds: Number,
    pub bytes: Number,
    pub retransmits: Number,
    pub jitter_ms: Number,
    /// May be negative, or more than there are.
    pub lost_packets: Number,
    /// May exceed 100.
    pub lost_percent: Number,
    pub packets: Number,
    /// Part of `-O`.
    pub omitted: bool,
}

#[derive(Deserialize, Default)]
#[serde(default, expecting = "a stream")]
pub(super) struct Stream {
    pub sender: Option<Half>,
    pub udp: Option<Half>,
}

#[derive(Deserialize, Default)]
#[serde(default, expecting = "one end of a stream")]
pub(super) struct Half {
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
pub(super) struct Cpu {
    pub host_user: Number,
    pub host_system: Number,
    pub remote_total: Number,
}
