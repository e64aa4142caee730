//! Why a finding is one: what was seen, as figures. Each family of rules has an enum in its own
//! file; `iotax-wording` has a sentence for each variant.

pub use super::{
    azure, confidential, device, drive, ebs, encryption, file_system, gcp, groups, guest,
    interface, limits, memory, network, nfs, packets, path, proxy, raid, smb, zfs,
};
pub use crate::cluster::why as cluster;

/// An enum with a variant for each family, and a conversion from it.
macro_rules! families {
    ($(#[$attribute:meta])* $whole:ident { $($family:ident($of:ty)),+ $(,)? } { $($own:tt)* }) => {
        $(#[$attribute])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize)]
        #[serde(rename_all = "snake_case")]
        pub enum $whole {
            $($family($of),)+
            $($own)*
        }

        $(impl From<$of> for $whole {
            fn from(of: $of) -> Self {
                Self::$family(of)
            }
        })+
    };
}
pub(crate) use families;

families! {
    Why {
        Azure(azure::AzureWhy),
        Confidential(confidential::ConfidentialWhy),
        Device(device::DeviceWhy),
        Drive(drive::DriveWhy),
        Ebs(ebs::EbsWhy),
        Encryption(encryption::EncryptionWhy),
        FileSystem(file_system::FileSystemWhy),
        Gcp(gcp::GcpWhy),
        Groups(groups::GroupsWhy),
        Guest(guest::GuestWhy),
        Interface(interface::InterfaceWhy),
        Limits(limits::LimitsWhy),
        Memory(memory::MemoryWhy),
        Network(network::NetworkWhy),
        Nfs(nfs::NfsWhy),
        Packets(packets::PacketsWhy),
        Path(path::PathWhy),
        Proxy(proxy::ProxyWhy),
        Raid(raid::RaidWhy),
        Smb(smb::SmbWhy),
        Zfs(zfs::ZfsWhy),
        Cluster(cluster::ClusterWhy),
    } {}
}
