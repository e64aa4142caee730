//! A machine, or a cluster, that was looked at.

pub mod cluster;
pub mod layer;
mod network;
pub mod surroundings;

use iotax_record::HostRole;

/// `Host 2 of 3, measured by an agent`
pub fn host(number: usize, all: usize, role: HostRole) -> String {
    let by = match role {
        HostRole::Agent => ", measured by an agent",
        HostRole::Local => "",
    };
    format!("Host {number} of {all}{by}")
}
