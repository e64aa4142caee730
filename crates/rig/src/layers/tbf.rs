//! The qdisc `tbf` at the interfaces of both ends.

use iotax_spec::layers::Tbf;

use crate::build_context::BuildContext;
use crate::error::Error;
use crate::layers::maker::{Made, Maker};
use crate::network::{Link, Network};

/// What the bucket holds: so long at its rate, and some packets as large as they cross a virtual
/// wire. A smaller one than the kernel's tick at the rate cannot reach it.
const BURST_S: f64 = 0.002;
const LEAST_BURST_BYTES: u64 = 128 << 10;
/// How long a packet may wait.
const LATENCY: &str = "50ms";

impl Made for Tbf {
    fn maker(&self) -> Maker<'_> {
        Maker::Network(self)
    }
}

impl Network for Tbf {
    fn make(&self, below: Link, build_context: &mut BuildContext<'_>) -> Result<Link, Error> {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a rate is above 0"
        )]
        let (bits, own) = (self.rate_bits as u64, (self.rate_bits / 8.0 * BURST_S) as u64);
        let burst = self.burst_bytes.unwrap_or(own.max(LEAST_BURST_BYTES));
        for (end, _) in below.ends() {
            let words = format!(
                "qdisc add dev {} root tbf rate {bits}bit burst {burst}b latency {LATENCY}",
                end.interface
            );
            build_context.run(end.program("tc").args(words.split_whitespace()))?;
        }
        Ok(below)
    }
}
