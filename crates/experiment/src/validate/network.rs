//! Checks for network paths.

use std::ops::RangeInclusive;

use iotax_layers::{About, Error};

use crate::spec::Arm;
use crate::workload::{BlockSizes, Job, Pace};

/// Maximum number of connections of a peer.
const MAX_FLOWS: u32 = 256;

/// From the size of iotax's own header to the maximum of a UDP datagram over IPv4.
const DATAGRAM_BYTES: RangeInclusive<u32> = 24..=65_507;

/// Size of the cookie by which a peer identifies the connections of a session.
const COOKIE_BYTES: u32 = 16;

impl Arm {
    /// Storage load needs storage, network load needs a network path.
    pub(crate) fn validate_network(&self, job: &Job) -> Result<(), Error> {
        let subject = About::Arm { arm: self.name.clone(), job: job.name.clone() };
        let (engine, target) = (job.engine.name(), &self.target);
        let (problem, advice) = match (job.engine.is_network(), target.is_network()) {
            (true, false) => (
                format!("{engine} requires a network path, but {target} is storage"),
                "choose a network path such as netns or loopback, or a storage workload such as \
                 randread-4k",
            ),
            (false, true) if !job.engine.does_nothing() => (
                format!("{engine} requires storage, but {target} is a network path"),
                "choose a workload such as tcp-stream, tcp-rr or udp-stream",
            ),
            (true, true) if !job.engine.keeps_connections() && target.is_encrypted_by_load() => (
                format!(
                    "{engine} cannot use {target}, which encrypts only long-lived TCP connections"
                ),
                "remove the top layer, or choose tcp-stream or tcp-rr",
            ),
            (true, true) if job.zero_copy && target.is_encrypted_by_load() => {
                let problem = format!("to encrypt the data, {target} copies it");
                let advice = "leave out zero-copy, or remove the top layer";
                return Err(Error::impossible(subject, "zero-copy", problem, advice));
            }
            _ => return Ok(()),
        };
        Err(Error::impossible(subject, "engine", problem, advice))
    }
}

impl Job {
    pub(super) fn validate_network(&self) -> Result<(), Error> {
        let engine = self.engine.name();
        if self.zero_copy && (!self.engine.is_stream() || self.reads()) {
            let (problem, advice) = if self.engine.is_stream() {
                ("received data is always copied", "remove this option, or use read-percent = 0")
            } else {
                (
                    "only tcp_stream can send data without copying it",
                    "remove this option, or choose tcp-stream",
                )
            };
            return Err(self.refuse("zero-copy", problem, advice));
        }
        if !self.engine.is_network() {
            return Ok(());
        }
        let one_way = self.engine.is_stream() || self.engine.is_datagrams();
        if one_way && !matches!(self.read_percent, 0 | 100) {
            let problem = format!("{engine} sends in one direction only");
            let advice = "use read-percent = 0 (to the peer) or 100 (from it), and add a \
                          second job for the other direction";
            return Err(self.refuse("read-percent", problem, advice));
        }
        if self.engine.is_datagrams() && self.reads() && matches!(self.pace, Pace::Poisson { .. }) {
            let problem = "the peer sends datagrams only at even intervals";
            return Err(self.refuse("rate", problem, "use a rate such as rate=even:5000"));
        }
        let bytes = self.block_sizes.max_bytes();
        if self.engine.is_datagrams() && !DATAGRAM_BYTES.contains(&bytes) {
            let problem =
                format!("{bytes}-byte datagrams are not supported; the range is 24 to 65507");
            let advice = "use 1200, which fits into one packet on nearly every path";
            return Err(self.refuse("block-size", problem, advice));
        }
        if self.engine.is_connections() && bytes < COOKIE_BYTES {
            let problem =
                format!("{bytes}-byte requests are too small; the minimum is {COOKIE_BYTES}");
            return Err(self.refuse("block-size", problem, "use a size such as 64"));
        }
        if !matches!(self.block_sizes, BlockSizes::Fixed(_)) {
            let problem = format!("{engine} supports only one block size");
            return Err(self.refuse("block-size", problem, "use a size such as 128k"));
        }
        if self.threads > MAX_FLOWS {
            let problem =
                format!("a peer accepts 1 to {MAX_FLOWS} connections, not {}", self.threads);
            return Err(self.refuse("threads", problem, ""));
        }
        let meaningless = [
            ("direct", self.direct),
            ("verify", self.verify),
            ("invalidate", self.invalidate),
            ("write-through", self.write_through),
            ("fsync-every", self.fsync_every.is_some()),
            ("end-fsync", self.end_fsync),
            ("pre-read", self.pre_read),
            ("uncached", self.uncached),
            ("fresh", self.fresh),
            ("operations", self.tree.is_some()),
        ];
        self.refuse_any(
            &meaningless,
            "does not apply to a network path, which has no storage",
            "remove this option",
        )
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use crate::workload::{BlockSizes, Job, Pace, Workload};

    fn refused(preset: &str, change: impl FnOnce(&mut Job)) -> String {
        let mut workload = Workload::preset(preset).unwrap();
        change(&mut workload.jobs[0]);
        workload.validate().unwrap_err().to_string()
    }

    #[test]
    fn what_no_path_carries_is_refused() {
        assert_snapshot!(refused("udp-stream", |job| job.read_percent = 50), @"
        job `datagrams`: read-percent: udp_stream sends in one direction only
        use read-percent = 0 (to the peer) or 100 (from it), and add a second job for the other direction
        ");
        let poisson = |job: &mut Job| job.pace = Pace::Poisson { iops: 50.0 };
        assert_snapshot!(refused("udp-stream-back", poisson), @"
        job `datagrams`: rate: the peer sends datagrams only at even intervals
        use a rate such as rate=even:5000
        ");
        let small = |job: &mut Job| job.block_sizes = BlockSizes::Fixed(8);
        assert_snapshot!(refused("tcp-connect", small), @"
        job `connections`: block-size: 8-byte requests are too small; the minimum is 16
        use a size such as 64
        ");
        let zero_copy = |job: &mut Job| job.zero_copy = true;
        assert_snapshot!(refused("tcp-stream-back", zero_copy), @"
        job `flow`: zero-copy: received data is always copied
        remove this option, or use read-percent = 0
        ");
        assert_snapshot!(refused("udp-stream", zero_copy), @"
        job `datagrams`: zero-copy: only tcp_stream can send data without copying it
        remove this option, or choose tcp-stream
        ");
        assert_snapshot!(refused("randread-4k", zero_copy), @"
        job `io`: zero-copy: only tcp_stream can send data without copying it
        remove this option, or choose tcp-stream
        ");
        assert_snapshot!(refused("udp-stream", small), @"
        job `datagrams`: block-size: 8-byte datagrams are not supported; the range is 24 to 65507
        use 1200, which fits into one packet on nearly every path
        ");
    }
}
