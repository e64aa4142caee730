//! The layers of the system: one file for each, which makes it and unmakes it.
//!
//! What a layer is and needs is declared in `spec`. To have one made: its file here, in which its
//! type implements [`System`], and, if it makes something of a new kind, one variant of
//! [`Entry`](crate::entry::Entry) and a file beside it that says how to undo it.

mod bridge;
mod cgroup_io;
mod conntrack;
mod dmcrypt;
mod dnat;
mod file_system;
mod fscrypt;
mod geneve;
mod given;
mod gocryptfs;
mod htb;
mod ipsec;
mod libipsec;
mod loop_device;
mod loopback;
mod luks;
mod macsec;
pub(crate) mod maker;
mod mtu;
mod netem;
mod netns;
mod nfs;
mod offload;
mod openvpn;
pub(crate) mod peer;
mod remote;
mod served;
mod ssh;
mod tbf;
mod tls;
mod tmpfs;
mod vxlan;
mod wireguard;

use iotax_experiment::{Layer, Need, Stack};

use self::maker::{Made, Maker, System};
use crate::network::{Network, NetworkBase, OfLoad};

macro_rules! made {
    ($($group:ident { $($module:ident::$Layer:ident,)* })*) => {
        fn made(layer: &Layer) -> &dyn Made {
            match layer {
                $($(Layer::$Layer(layer) => layer,)*)*
            }
        }
    };
}

iotax_layers::each_layer!(made);

/// The layers above the base from bottom to top, in the steps in which they are made: neighbours
/// that one program serves together are one step.
pub(crate) fn steps(layers: &[Layer]) -> Vec<Box<dyn System>> {
    let mut steps: Vec<Box<dyn System>> = Vec::new();
    let mut rest = layers;
    while let Some((layer, above)) = rest.split_first() {
        if let Some((chain, above)) = luks::Chain::leading(rest) {
            steps.push(Box::new(chain));
            rest = above;
            continue;
        }
        rest = above;
        steps.extend(system(layer));
    }
    steps
}

/// A layer of the system; `None` if it is there already, or lives in this process.
pub(crate) fn system(layer: &Layer) -> Option<Box<dyn System>> {
    match made(layer).maker() {
        Maker::System(system) | Maker::Both(system) => Some(system),
        Maker::Given
        | Maker::SpelledOut
        | Maker::InProcess
        | Maker::Network(_)
        | Maker::OfLoad(_)
        | Maker::NetworkBase(_) => None,
    }
}

/// A layer of a network path; `None` if it is one of storage.
pub(crate) fn network(layer: &Layer) -> Option<&dyn Network> {
    match made(layer).maker() {
        Maker::Network(layer) => Some(layer),
        _ => None,
    }
}

/// What load itself does on a network path; `None` if it is anything else.
pub(crate) fn of_load(layer: &Layer) -> Option<&dyn OfLoad> {
    match made(layer).maker() {
        Maker::OfLoad(layer) => Some(layer),
        _ => None,
    }
}

/// What a network path stands on; `None` if it is none.
pub(crate) fn network_base(layer: &Layer) -> Option<&dyn NetworkBase> {
    match made(layer).maker() {
        Maker::NetworkBase(base) => Some(base),
        _ => None,
    }
}

/// What all layers of a stack need.
pub(crate) fn needs(stack: &Stack) -> impl Iterator<Item = Need> {
    stack.layers.iter().flat_map(|layer| layer.info().needs).copied()
}

/// What no other arm may have up while this one is.
pub(crate) fn exclusive(stack: &Stack) -> Vec<String> {
    let (bottom, above) = stack.layers.split_first().expect("a stack has a base");
    let all = system(bottom).into_iter().chain(steps(above));
    all.filter_map(|layer| layer.exclusive()).collect()
}

/// Bytes that a base must have for the load to see `stack`'s size: headers included.
pub(crate) fn base_bytes(stack: &Stack) -> u64 {
    let above = stack.layers.get(1..).unwrap_or_default();
    let overhead: u64 = steps(above).iter().map(|step| step.overhead_bytes()).sum();
    stack.size_bytes().unwrap_or(0) + overhead
}

/// Bytes that test files have room for on a stack whose base has `base_bytes`.
pub(crate) fn free_for_files(stack: &Stack, base_bytes: u64) -> u64 {
    let all = stack.layers.iter().filter_map(system);
    all.fold(base_bytes, |below_bytes, layer| layer.left_for_files(below_bytes))
}

/// The first layer that needs a base of more than `size_bytes`, and the least size.
pub(crate) fn too_small(stack: &Stack, size_bytes: u64) -> Option<(&'static str, u64)> {
    let least = |layer: &Layer| {
        let least_bytes = steps(std::slice::from_ref(layer)).first()?.least_bytes();
        (least_bytes > size_bytes).then_some((layer.name(), least_bytes))
    };
    stack.layers.iter().skip(1).find_map(least)
}
