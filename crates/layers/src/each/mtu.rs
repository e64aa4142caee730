//! The largest packet of a path's interfaces.

use crate::declaration::prelude::*;

/// The minimum MTU that IPv4 requires, and the maximum packet size.
const POSSIBLE_BYTES: std::ops::RangeInclusive<u32> = 68..=65_535;

/// An MTU at both ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mtu {
    /// Bytes of an IP packet.
    pub bytes: u32,
}

impl Declared for Mtu {
    const WORDS: &'static [LayerInfo] = &[LayerInfo {
        name: "mtu",
        about: "another MTU at both ends; has little effect without offload(gso=false)",
        example: "mtu(bytes=1280)",
        parameters: Self::PARAMETERS,
        ..ON_NETWORK
    }];

    parameters! {
        bytes: parameter("bytes", Unit::Count, None, "largest IP packet, in bytes"),
    }

    fn validate(&self, arguments: &Arguments<'_>) -> Result<(), Error> {
        let problem = format!("{} is not a valid IPv4 MTU", self.bytes);
        let is_possible = POSSIBLE_BYTES.contains(&self.bytes);
        arguments.demand(is_possible, "bytes", problem, "use a value from 68 to 65535")
    }
}
