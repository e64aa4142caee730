//! The layers, each declared once: one file with what it is made of, how it is written, what it
//! takes and gives, what it does and what it needs.
//!
//! Stack text, its errors, its canonical form, checks of stacks and the listing for users all read
//! these declarations. A new layer is one file here with its `mod` line and its line in
//! [`each_layer`](crate::each_layer); what makes it is in `rig`. What it leaves open does not
//! compile.

/// Hands all layers, in the order of listings, to the macro `$then`: the bases, in which bytes live,
/// and what stands above them; of each the module of its file here and its type.
#[macro_export]
macro_rules! each_layer {
    ($then:ident) => {
        $then! {
            bases {
                mem::Mem,
                file::File,
                cloud::Cloud,
                dir::Dir,
                dev::Dev,
                tmpfs::Tmpfs,
                nfs::Nfs,
                netns::Netns,
                loopback::Loopback,
                peer::Peer,
                remote::Remote,
                stack::Vdisk,
            }
            above {
                aes::Aes,
                queue::Queue,
                delay::Delay,
                cache::Cache,
                tier::Tier,
                fault::Fault,
                throttle::Throttle,
                flash::Flash,
                cgroup_io::CgroupIo,
                loop_device::Loop,
                luks::Luks,
                dmcrypt::Dmcrypt,
                file_system::FileSystem,
                fscrypt::Fscrypt,
                gocryptfs::Gocryptfs,
                vxlan::Vxlan,
                geneve::Geneve,
                bridge::Bridge,
                wireguard::Wireguard,
                openvpn::Openvpn,
                ssh::Ssh,
                ipsec::Ipsec,
                libipsec::Libipsec,
                macsec::Macsec,
                conntrack::Conntrack,
                dnat::Dnat,
                mtu::Mtu,
                offload::Offload,
                tbf::Tbf,
                htb::Htb,
                netem::Netem,
                tls::Tls,
            }
        }
    };
}

mod aes;
mod base;
mod bridge;
mod cache;
mod cgroup_io;
mod cipher;
mod cloud;
mod conntrack;
mod cpus;
pub(crate) mod declared;
mod delay;
mod dev;
mod dir;
mod dmcrypt;
mod dnat;
mod fault;
mod file;
mod file_system;
mod flash;
mod fscrypt;
mod geneve;
mod gocryptfs;
mod htb;
mod info;
mod ipsec;
mod libipsec;
mod loop_device;
mod loopback;
mod luks;
mod macsec;
mod mem;
mod mtu;
mod need;
mod netem;
mod netns;
mod nfs;
mod offload;
mod openvpn;
mod peer;
mod queue;
mod read_ahead;
mod remote;
mod spelled_out;
mod ssh;
mod stack;
mod tbf;
mod throttle;
mod tier;
mod tls;
mod tmpfs;
mod vxlan;
mod wireguard;

pub use base::Base;
pub use cloud::{CloudDisk, CloudDisks, CloudOptions, MadeDisks, Part, PartLayer};
pub use cpus::Cpus;
pub use file_system::FileSystemKind;
pub use info::{Does, Form, LayerInfo, Parameter, Submitter, World};
pub use need::{Need, Version};
pub use stack::{Layer, Stack};
pub use throttle::Counts;

macro_rules! export {
    ($($group:ident { $($module:ident::$Layer:ident,)* })*) => {
        $($(pub use $module::$Layer;)*)*
    };
}

each_layer!(export);

/// A message in which the list of all layers is `ALL`, for snapshots that a new layer leaves alone.
#[cfg(test)]
pub(crate) fn abbreviated(message: impl std::fmt::Display) -> String {
    let names: Vec<_> = Layer::catalog().map(|layer| layer.name).collect();
    message.to_string().replace(&names.join(", "), "ALL")
}

#[cfg(test)]
mod tests;
