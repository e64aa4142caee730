//! What cannot be done over a network path.

use std::ops::RangeInclusive;

use iotax_layers::{About, Error};

use crate::spec::Arm;
use crate::workload::{BlockSizes, Job, Pace};

/// More connections than this a peer does not take.
const MAX_FLOWS: u32 = 256;

/// A head of iotax's own, to what one UDP datagram over IPv4 can hold.
const DATAGRAM_BYTES: RangeInclusive<u32> = 24..=65_507;

/// What a peer knows the connections of a session by.
const COOKIE_BYTES: u32 = 16;

impl Arm {
    /// Load for storage goes to storage, load for a network path over one.
    pub(crate) fn validate_network(&self, job: &Job) -> Result<(), Error> {
        let subject = About::Arm { arm: self.name.clone(), job: job.name.clone() };
        let (engine, target) = (job.engine.name(), &self.target);
        let (problem, advice) = match (job.engine.is_network(), target.is_network()) {
            (true, false) => (
                format!("{engine} drives load over a network path, and {target} is storage"),
                "name a path such as netns or loopback, or a workload such as randread-4k",
            ),
            (false, true) if !job.engine.does_nothing() => (
                format!("{engine} drives I/O at storage, and {target} is a network path"),
                "choose a workload such as tcp-stream, tcp-rr or udp-stream",
            ),
            (true, true) if !job.engine.keeps_connections() && target.is_encrypted_by_load() => (
                format!("{engine} goes past {target}, which encrypts connections that stay"),
                "take its topmost layer off, or choose tcp-stream or tcp-rr",
            ),
            (true, true) if job.zero_copy && target.is_encrypted_by_load() => {
                let problem = format!("what {target} sends is a copy already, the encrypted one");
                let advice = "leave zero-copy out, or take the topmost layer off";
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
                (
                    "what is received is copied in any case",
                    "leave it out, or write read-percent = 0",
                )
            } else {
                ("only tcp_stream sends without a copy", "leave it out, or choose tcp-stream")
            };
            return Err(self.refuse("zero-copy", problem, advice));
        }
        if !self.engine.is_network() {
            return Ok(());
        }
        let one_way = self.engine.is_stream() || self.engine.is_datagrams();
        if one_way && !matches!(self.read_percent, 0 | 100) {
            let problem = format!("{engine} goes one way, not both by turns");
            let advice = "write read-percent = 0 (to the peer) or 100 (from it), and a second job for \
                          the other way";
            return Err(self.refuse("read-percent", problem, advice));
        }
        if self.engine.is_datagrams() && self.reads() && matches!(self.pace, Pace::Poisson { .. }) {
            let problem = "the peer sends datagrams at even intervals";
            return Err(self.refuse("rate", problem, "write for example rate=even:5000"));
        }
        let bytes = self.block_sizes.max_bytes();
        if self.engine.is_datagrams() && !DATAGRAM_BYTES.contains(&bytes) {
            let problem = format!("datagrams of {bytes} bytes; possible are 24 to 65507");
            let advice = "1200 bytes fit the packets of nearly every path";
            return Err(self.refuse("block-size", problem, advice));
        }
        if self.engine.is_connections() && bytes < COOKIE_BYTES {
            let problem =
                format!("requests of {bytes} bytes; possible are {COOKIE_BYTES} and more");
            return Err(self.refuse("block-size", problem, "write for example 64"));
        }
        if !matches!(self.block_sizes, BlockSizes::Fixed(_)) {
            let problem = format!("{engine} has blocks of one size");
            return Err(self.refuse("block-size", problem, "write for example 128k"));
        }
        if self.threads > MAX_FLOWS {
            let problem = format!("{} connections; possible are 1 to {MAX_FLOWS}", self.threads);
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
            "there is no storage at the other end of a network path",
            "leave it out",
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
        job `datagrams`: read-percent: udp_stream goes one way, not both by turns
        write read-percent = 0 (to the peer) or 100 (from it), and a second job for the other way
        ");
        let poisson = |job: &mut Job| job.pace = Pace::Poisson { iops: 50.0 };
        assert_snapshot!(refused("udp-stream-back", poisson), @"
        job `datagrams`: rate: the peer sends datagrams at even intervals
        write for example rate=even:5000
        ");
        let small = |job: &mut Job| job.block_sizes = BlockSizes::Fixed(8);
        assert_snapshot!(refused("tcp-connect", small), @"
        job `connections`: block-size: requests of 8 bytes; possible are 16 and more
        write for example 64
        ");
        let zero_copy = |job: &mut Job| job.zero_copy = true;
        assert_snapshot!(refused("tcp-stream-back", zero_copy), @"
        job `flow`: zero-copy: what is received is copied in any case
        leave it out, or write read-percent = 0
        ");
        assert_snapshot!(refused("udp-stream", zero_copy), @"
        job `datagrams`: zero-copy: only tcp_stream sends without a copy
        leave it out, or choose tcp-stream
        ");
        assert_snapshot!(refused("randread-4k", zero_copy), @"
        job `io`: zero-copy: only tcp_stream sends without a copy
        leave it out, or choose tcp-stream
        ");
        assert_snapshot!(refused("udp-stream", small), @"
        job `datagrams`: block-size: datagrams of 8 bytes; possible are 24 to 65507
        1200 bytes fit the packets of nearly every path
        ");
    }
}
