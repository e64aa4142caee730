//! The largest packet of a path's interfaces.

use serde::{Deserialize, Serialize};

use crate::declaration::info::{LayerInfo, ON_NETWORK, parameter};
use crate::declaration::{Arguments, Declared, Values};
use crate::error::Error;
use crate::units::Unit;

/// What IPv4 has every host take, and what its packets can be at most.
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
        about: "another MTU at both ends; without offload(gso=false) it costs little",
        example: "mtu(bytes=1280)",
        parameters: &[parameter("bytes", Unit::Count, None, "the largest IP packet")],
        ..ON_NETWORK
    }];

    fn from_arguments(arguments: &Arguments<'_>) -> Result<Self, Error> {
        let bytes = arguments.small("bytes")?;
        if !POSSIBLE_BYTES.contains(&bytes) {
            let problem = format!("{bytes} is no MTU of IPv4");
            return Err(arguments.refuse("bytes", problem, "write 68 to 65535"));
        }
        Ok(Self { bytes })
    }

    fn values(&self) -> Values {
        vec![("bytes", Some(u64::from(self.bytes).into()))]
    }
}
