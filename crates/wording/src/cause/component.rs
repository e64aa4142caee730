use iotax_diagnose::{Component, ComponentKind, Detail, DiskUse};

/// What a finding is about: `dm-0 (data) of /x`, `sda, sdb`.
pub fn components(about: &[Component]) -> String {
    about.iter().map(component).collect::<Vec<_>>().join(", ")
}

pub(super) fn component(one: &Component) -> String {
    let Component { kind, name, detail, path } = one;
    let name = match kind {
        ComponentKind::Device
        | ComponentKind::Mount
        | ComponentKind::Network
        | ComponentKind::Group
        | ComponentKind::Vm => name.clone(),
        ComponentKind::PageCache => "page cache".to_owned(),
        ComponentKind::AllInterfaces => "all interfaces".to_owned(),
        ComponentKind::TrackedConnections => "tracked connections".to_owned(),
        ComponentKind::BouncePool => "swiotlb".to_owned(),
        ComponentKind::Class => format!("class {name}"),
        ComponentKind::Volume => format!("volume {name}"),
        ComponentKind::Node => format!("node {name}"),
        ComponentKind::Cluster => "cluster".to_owned(),
        ComponentKind::PodNetwork => "pod network".to_owned(),
    };
    let detail = match detail {
        None => String::new(),
        Some(Detail::Also(also)) => format!(" ({also})"),
        Some(Detail::Role(role)) => format!(", {}", disk_use(*role)),
        Some(Detail::By(interface)) => format!(" through {interface}"),
        Some(Detail::Over(lower)) => format!(" over {lower}"),
        Some(Detail::On(path)) => format!(" on {path}"),
    };
    let path = path.as_ref().map_or_else(String::new, |path| format!(" of {path}"));
    format!("{name}{detail}{path}")
}

const fn disk_use(role: DiskUse) -> &'static str {
    match role {
        DiskUse::EphemeralOs => "ephemeral OS disk",
        DiskUse::Os => "OS disk",
        DiskUse::Temporary => "temporary disk",
        DiskUse::Data => "data disk",
        DiskUse::Unknown => "disk",
    }
}
