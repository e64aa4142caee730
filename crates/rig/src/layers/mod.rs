//! The layers of the system: one file for each, which makes it and unmakes it.
//!
//! The declaration of a layer and its needs is in `spec`. Its file here implements [`System`]. If
//! the layer makes a new kind of thing, it also needs a variant of [`Entry`](crate::entry::Entry)
//! and a file there that undoes it.

mod bridge;
mod cgroup_io;
mod conntrack;
mod dmcrypt;
mod dnat;
mod file_system;
mod fscrypt;
mod geneve;
mod gocryptfs;
mod htb;
mod ipsec;
mod libipsec;
mod loop_device;
mod loopback;
mod macsec;
pub(crate) mod maker;
mod mtu;
mod netem;
mod netns;
mod nfs;
mod offload;
mod openvpn;
pub(crate) mod peer;
mod qemu_luks;
mod remote;
mod served;
mod ssh;
mod tbf;
mod tls;
mod tmpfs;
mod vxlan;
mod wireguard;

use iotax_experiment::{Layer, Need, Stack};

use self::maker::System;
use crate::network::{Network, NetworkBase, OfLoad};

/// Who makes a layer.
enum Maker<'a> {
    /// Nobody: it belongs to the user and exists already, it is in this process's virtual disk, or
    /// other layers replace it.
    Nobody,
    /// A layer of the system.
    System(Box<dyn System>),
    /// The base of a network path.
    NetworkBase(&'a dyn NetworkBase),
    /// A step of a network path.
    Network(&'a dyn Network),
    /// The load, on its connections over a network path.
    OfLoad(&'a dyn OfLoad),
}

fn maker(layer: &Layer) -> Maker<'_> {
    use Maker::{Network, NetworkBase, Nobody, OfLoad, System};
    match layer {
        #[rustfmt::skip]
        Layer::Dir(_) | Layer::Dev(_) | Layer::Cloud(_) | Layer::Mem(_) | Layer::File(_)
        | Layer::Aes(_) | Layer::Queue(_) | Layer::Delay(_) | Layer::Flash(_) | Layer::Cache(_)
        | Layer::Tier(_) | Layer::Fault(_) => Nobody,
        Layer::Throttle(layer) => System(Box::new(layer.clone())),
        Layer::Tmpfs(layer) => System(Box::new(layer.clone())),
        Layer::Nfs(layer) => System(Box::new(layer.clone())),
        Layer::Vdisk(layer) => System(Box::new(layer.clone())),
        Layer::CgroupIo(layer) => System(Box::new(layer.clone())),
        Layer::Loop(layer) => System(Box::new(layer.clone())),
        Layer::QemuLuks(layer) => System(Box::new(qemu_luks::Chain::from(layer))),
        Layer::Dmcrypt(layer) => System(Box::new(layer.clone())),
        Layer::FileSystem(layer) => System(Box::new(layer.clone())),
        Layer::Fscrypt(layer) => System(Box::new(layer.clone())),
        Layer::Gocryptfs(layer) => System(Box::new(layer.clone())),
        Layer::Netns(layer) => NetworkBase(layer),
        Layer::Loopback(layer) => NetworkBase(layer),
        Layer::Peer(layer) => NetworkBase(layer),
        Layer::Remote(layer) => NetworkBase(layer),
        Layer::Vxlan(layer) => Network(layer),
        Layer::Geneve(layer) => Network(layer),
        Layer::Bridge(layer) => Network(layer),
        Layer::Wireguard(layer) => Network(layer),
        Layer::Openvpn(layer) => Network(layer),
        Layer::Ssh(layer) => Network(layer),
        Layer::Ipsec(layer) => Network(layer),
        Layer::Libipsec(layer) => Network(layer),
        Layer::Macsec(layer) => Network(layer),
        Layer::Conntrack(layer) => Network(layer),
        Layer::Dnat(layer) => Network(layer),
        Layer::Mtu(layer) => Network(layer),
        Layer::Offload(layer) => Network(layer),
        Layer::Tbf(layer) => Network(layer),
        Layer::Htb(layer) => Network(layer),
        Layer::Netem(layer) => Network(layer),
        Layer::Tls(layer) => OfLoad(layer),
    }
}

/// The layers above the base in the order in which they are made, from bottom to top. Adjacent
/// layers that one program serves together are one step.
pub(crate) fn steps(layers: &[Layer]) -> Vec<Box<dyn System>> {
    let mut steps: Vec<Box<dyn System>> = Vec::new();
    let mut rest = layers;
    while let Some((layer, above)) = rest.split_first() {
        if let Some((chain, above)) = qemu_luks::Chain::leading(rest) {
            steps.push(Box::new(chain));
            rest = above;
            continue;
        }
        rest = above;
        steps.extend(system(layer));
    }
    steps
}

/// A layer of the system; `None` if it exists already, or is in-process.
pub(crate) fn system(layer: &Layer) -> Option<Box<dyn System>> {
    if let Maker::System(layer) = maker(layer) { Some(layer) } else { None }
}

/// A layer of a network path; `None` if it is one of storage.
pub(crate) fn network(layer: &Layer) -> Option<&dyn Network> {
    if let Maker::Network(layer) = maker(layer) { Some(layer) } else { None }
}

/// A layer that the load applies itself on a network path; `None` for others.
pub(crate) fn of_load(layer: &Layer) -> Option<&dyn OfLoad> {
    if let Maker::OfLoad(layer) = maker(layer) { Some(layer) } else { None }
}

/// The base of a network path; `None` for others.
pub(crate) fn network_base(layer: &Layer) -> Option<&dyn NetworkBase> {
    if let Maker::NetworkBase(base) = maker(layer) { Some(base) } else { None }
}

/// What all layers of a stack need.
pub(crate) fn needs(stack: &Stack) -> impl Iterator<Item = Need> {
    stack.layers.iter().flat_map(|layer| layer.info().needs).copied()
}

/// Resources that no other arm may use while this one is up.
pub(crate) fn exclusive(stack: &Stack) -> Vec<String> {
    let (bottom, above) = stack.layers.split_first().expect("a stack has a base");
    let all = system(bottom).into_iter().chain(steps(above));
    all.filter_map(|layer| layer.exclusive()).collect()
}

/// Bytes that a base needs so that the load sees the size of `stack`, headers included.
pub(crate) fn base_bytes(stack: &Stack) -> u64 {
    let above = stack.layers.get(1..).unwrap_or_default();
    let overhead: u64 = steps(above).iter().map(|step| step.overhead_bytes()).sum();
    stack.size_bytes().unwrap_or(0) + overhead
}

/// Room for test files on a stack with a base of `base_bytes`.
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
