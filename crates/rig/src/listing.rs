//! What each layer needs, and whether this machine has it: for listings.

use std::fmt;

use iotax_spec::{LayerInfo, World};

use crate::layers;
use crate::needs::{Missing, Need};

/// Something that a layer needs of the system, and whether it is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirement {
    /// What, for people: `mkfs.ext4 (package e2fsprogs)`.
    pub what: String,
    /// Why it is not met, and what to do; `None` if it is.
    pub missing: Option<Missing>,
}

/// Everything that `layer`, as in its example, needs when it lives in the system. Nothing for
/// layers that live in this process only. Looks, and changes nothing.
pub fn requirements(layer: &'static LayerInfo) -> Vec<Requirement> {
    if layer.world == World::InProcess {
        return Vec::new();
    }
    let mut needs = layers::needs_of(&layer.example_layer());
    needs.sort();
    needs.dedup();
    let requirement = |need: Need| Requirement { what: need.to_string(), missing: need.missing() };
    needs.into_iter().map(requirement).collect()
}

/// What keeps `layer` from being made in this system: empty if nothing does.
pub fn availability(layer: &'static LayerInfo) -> Vec<Missing> {
    requirements(layer).into_iter().filter_map(|requirement| requirement.missing).collect()
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => f.write_str("root"),
            Self::Program { name, package, at_least } => {
                write!(f, "{name}")?;
                if let Some(version) = at_least {
                    write!(f, " {}.{} or later", version.number.0, version.number.1)?;
                }
                write!(f, " (package {package})")
            }
            Self::FileSystem { name } => write!(f, "{name} in the kernel"),
            Self::Device { path, module } => write!(f, "{path} (module {module} of the kernel)"),
            Self::Module { module, about } | Self::Feature { module, about, .. } => {
                write!(f, "{about} in the kernel (module {module})")
            }
            Self::Cgroup { v1, v2 } => {
                write!(f, "cgroups with I/O limits ({v1} in version 1, {v2} in version 2)")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotax_spec::Layer;

    #[test]
    fn in_process_layers_need_nothing_and_all_others_root() {
        for layer in Layer::catalog() {
            let needs: Vec<_> = requirements(layer).into_iter().map(|need| need.what).collect();
            // Directories and files of the user's are there already.
            if layer.world != World::System || layer.name == "dir" {
                continue;
            }
            assert!(needs.iter().any(|need| need == "root"), "{}: {needs:?}", layer.name);
        }
        let aes = LayerInfo::named("aes").unwrap();
        assert_eq!(requirements(aes), []);
    }

    #[test]
    fn needs_are_told_with_package_or_module() {
        let told: Vec<_> =
            requirements(LayerInfo::named("ext4").unwrap()).into_iter().map(|r| r.what).collect();
        insta::assert_snapshot!(told.join("\n"), @"
        root
        mkfs.ext4 (package e2fsprogs)
        ext4 in the kernel
        ");
    }
}
