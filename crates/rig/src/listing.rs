//! What each layer needs, and whether this machine has it: for listings.

use iotax_experiment::{LayerInfo, Need};

use crate::needs::{Missing, unmet};

/// Something that a layer needs of the system, and whether it is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirement {
    /// What, for people: `mkfs.ext4 (package e2fsprogs)`.
    pub what: String,
    /// Why it is not met, and what to do; `None` if it is.
    pub missing: Option<Missing>,
}

/// Everything that `layer` needs when it lives in the system. Nothing for
/// layers that live in this process only. Looks, and changes nothing.
pub fn requirements(layer: &'static LayerInfo) -> Vec<Requirement> {
    let mut needs = layer.needs.to_vec();
    needs.sort();
    let requirement = |need: Need| Requirement { what: need.to_string(), missing: unmet(need) };
    needs.into_iter().map(requirement).collect()
}

/// What keeps `layer` from being made in this system: empty if nothing does.
pub fn availability(layer: &'static LayerInfo) -> Vec<Missing> {
    requirements(layer).into_iter().filter_map(|requirement| requirement.missing).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotax_experiment::{Layer, World};

    #[test]
    fn in_process_layers_need_nothing_and_all_others_root() {
        for layer in Layer::catalog() {
            let needs: Vec<_> = requirements(layer).into_iter().map(|need| need.what).collect();
            // What they are is there already: the user's, the machine's, or load's own.
            let is_there =
                ["dir", "loopback", "peer", "remote", "tls", "ktls"].contains(&layer.name);
            if layer.world != World::System || is_there {
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
