//! Flows of which a tool kept little more than their rate.

use iotax_record::{DirectionRecord, JobRecord};

use super::imported::Imported;
use super::number::{MOST, whole};

/// What is known of the flows of a job, all from the client to the server.
pub(super) struct Flow {
    pub name: String,
    pub is_udp: bool,
    pub flows: u32,
    pub block_bytes: u64,
    pub bits_per_s: f64,
    pub seconds: u64,
}

impl Flow {
    /// Adds it to a result, as a job of its own group: they ran one after the other.
    pub(super) fn add_to(self, result: &mut Imported) {
        let Self { name, is_udp, flows, block_bytes, bits_per_s, seconds } = self;
        let engine = if is_udp { "udp_stream" } else { "tcp_stream" };
        // A rate above 0 has moved something, and no sum of such overflows.
        let bytes = whole(bits_per_s / 8.0 * seconds as f64).clamp(1, MOST);
        let options = [
            ("ioengine", engine.to_owned()),
            ("rw", "write".to_owned()),
            ("bs", block_bytes.to_string()),
            ("numjobs", flows.to_string()),
        ];
        result.options.push(options.map(|(name, value)| (name.to_owned(), value)).to_vec());
        result.groups.push(u32::try_from(result.jobs.len()).unwrap_or(u32::MAX));
        let write = DirectionRecord {
            ios: bytes.div_ceil(block_bytes),
            bytes,
            ..DirectionRecord::default()
        };
        let active_ns = seconds.saturating_mul(1_000_000_000);
        result.window_ns = result.window_ns.max(active_ns);
        result.jobs.push(JobRecord {
            engine: engine.to_owned(),
            threads: flows,
            queue_depth: 1,
            active_ns,
            write,
            name,
            ..JobRecord::default()
        });
    }
}
