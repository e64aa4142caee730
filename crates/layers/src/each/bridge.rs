//! A bridge at each end, as used to connect containers and virtual machines.

use crate::declaration::prelude::*;

/// The kernel's bridge, with the interface below as its only port.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Bridge {}

impl Declared for Bridge {
    const WORDS: &'static [LayerInfo] = &[LayerInfo {
        name: "bridge",
        about: "a bridge at each end, as used to connect containers and VMs",
        example: "bridge",
        takes: &[Form::Ethernet],
        gives: Some(Form::Ethernet),
        needs: &[Need::Root, Need::IP, Need::network("ip link add probe type bridge", "bridges")],
        ..ON_NETWORK
    }];

    parameters! {}
}
