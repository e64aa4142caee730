//! The layers, each declared once in its own file: parameters, names, forms, effects and
//! requirements.
//!
//! Stack text, its errors, its canonical form, checks of stacks and the listing for users all read
//! these declarations. A new layer needs a file here, its `mod` line, and its line in
//! [`each_layer`](crate::each_layer). Code that builds it is in `rig`, or in `vdisk` for in-process
//! layers. An incomplete layer does not compile. The base that is itself a stack is in `stack`.

/// Passes all layers, in listing order, to the macro `$then`: first the bases, then the layers
/// above them. Each has the module of its file and its type.
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
                vdisk::Vdisk,
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
                dmcrypt::Dmcrypt,
                #[serde(alias = "luks")]
                qemu_luks::QemuLuks,
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

pub(crate) mod aes;
pub(crate) mod bridge;
pub(crate) mod cache;
pub(crate) mod cgroup_io;
pub(crate) mod cloud;
pub(crate) mod conntrack;
pub(crate) mod delay;
pub(crate) mod dev;
pub(crate) mod dir;
pub(crate) mod dmcrypt;
pub(crate) mod dnat;
pub(crate) mod fault;
pub(crate) mod file;
pub(crate) mod file_system;
pub(crate) mod flash;
pub(crate) mod fscrypt;
pub(crate) mod geneve;
pub(crate) mod gocryptfs;
pub(crate) mod htb;
pub(crate) mod ipsec;
pub(crate) mod libipsec;
pub(crate) mod loop_device;
pub(crate) mod loopback;
pub(crate) mod macsec;
pub(crate) mod mem;
pub(crate) mod mtu;
pub(crate) mod netem;
pub(crate) mod netns;
pub(crate) mod nfs;
pub(crate) mod offload;
pub(crate) mod openvpn;
pub(crate) mod peer;
pub(crate) mod qemu_luks;
pub(crate) mod queue;
pub(crate) mod remote;
pub(crate) mod ssh;
pub(crate) mod tbf;
pub(crate) mod throttle;
pub(crate) mod tier;
pub(crate) mod tls;
pub(crate) mod tmpfs;
pub(crate) mod vxlan;
pub(crate) mod wireguard;
