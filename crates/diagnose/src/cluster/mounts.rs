//! Options of mounts that cost.

use iotax_record::cluster::ClusterSeen;

use super::classes::against;
use super::found::{Found, Of};
use super::why::{ClusterWhy, MountCost};
use crate::machine::{Certainty, Component, ComponentKind, Finding, Observation};

/// Options, the cause that they are, how sure it is, and what they cost.
const OPTIONS: [(&[&str], &str, Certainty, MountCost); 4] = [
    (&["sync", "dirsync"], "sync-mount", Certainty::Likely, MountCost::Sync),
    (&["discard"], "online-discard", Certainty::ToBeTested, MountCost::Discard),
    (&["strictatime"], "strict-atime", Certainty::ToBeTested, MountCost::AccessTime),
    (&["noac", "actimeo=0"], "nfs-attribute-cache", Certainty::Likely, MountCost::Attributes),
];

pub(super) fn find(seen: &ClusterSeen) -> Found {
    let mut found = Vec::new();
    for class in &seen.classes {
        let of = Mounted {
            of: Of::Class(class.name.clone()),
            object: ("storageclass", &class.name),
            about: Component::new(ComponentKind::Class, class.name.as_str()),
            options: &class.mount_options,
            class: Some(&class.name),
        };
        found.extend(of.found(seen, &[]));
    }
    for volume in &seen.volumes {
        let class = seen.class(&volume.class);
        let of = Mounted {
            of: class.map_or(Of::Cluster, |class| Of::Class(class.name.clone())),
            object: ("persistentvolume", &volume.name),
            about: Component::new(ComponentKind::Volume, volume.name.as_str()),
            options: &volume.mount_options,
            class: class.map(|class| class.name.as_str()),
        };
        // A class hands its options on to its volumes.
        let said = class.map_or(&[][..], |class| class.mount_options.as_slice());
        found.extend(of.found(seen, said));
    }
    found
}

/// What is mounted with options.
struct Mounted<'a> {
    of: Of,
    /// Its kind as `kubectl` has it, and its name.
    object: (&'static str, &'a str),
    about: Component,
    options: &'a [String],
    class: Option<&'a str>,
}

impl Mounted<'_> {
    /// What its options cost, apart from those that were `said` before.
    fn found(&self, seen: &ClusterSeen, said: &[String]) -> Found {
        let said = one_by_one(said);
        let options = one_by_one(self.options);
        let mut found = Vec::new();
        for (costly, cause, certainty, costs) in OPTIONS {
            let is_set = |option: &&&str| costly.contains(*option) && !said.contains(*option);
            let Some(option) = options.iter().find(is_set) else { continue };
            let why = ClusterWhy::Mounted { option: (*option).to_owned(), costs };
            let options = self.options.join(", ");
            let mut finding = Finding::new(cause, self.about.clone(), certainty, why).observed(
                Observation::object(self.object.0, self.object.1, "mountOptions", options),
            );
            if let Some(class) = self.class {
                finding = finding.command(against(seen, class, "etcd-wal"));
            }
            found.push((self.of.clone(), finding));
        }
        found
    }
}

/// Options as mount takes them: `noatime,sync` and `-o sync` are several words for them.
fn one_by_one(options: &[String]) -> Vec<&str> {
    let parts = options.iter().flat_map(|text| text.split([',', ' ', '\t']));
    let parts = parts.map(|part| part.trim_matches(['"', '\'']));
    let parts = parts.map(|part| part.strip_prefix("-o").unwrap_or(part));
    parts.filter(|part| !part.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use iotax_record::cluster::{ClassSeen, VolumeSeen};

    use super::*;

    fn causes(class: &[&str], volume: &[&str]) -> Vec<String> {
        let owned = |options: &[&str]| options.iter().map(|one| (*one).to_owned()).collect();
        let class =
            ClassSeen { name: "c".to_owned(), mount_options: owned(class), ..ClassSeen::default() };
        let volume = VolumeSeen {
            name: "v".to_owned(),
            class: "c".to_owned(),
            mount_options: owned(volume),
            ..VolumeSeen::default()
        };
        let seen =
            ClusterSeen { classes: vec![class], volumes: vec![volume], ..ClusterSeen::default() };
        let told =
            |(_, finding): (Of, Finding)| format!("{} {}", finding.about[0].name, finding.cause);
        find(&seen).into_iter().map(told).collect()
    }

    #[test]
    fn options_are_compared_one_by_one() {
        for options in [
            &["noatime", "sync"][..],
            &["sync", "noatime"],
            &["noatime,sync"],
            &["sync,noatime"],
            &["-o sync"],
            &["-o", "noatime,sync"],
            &["-onoatime,sync"],
            &["noatime, sync"],
            &["\"noatime,sync\""],
        ] {
            assert_eq!(causes(options, options), ["c sync-mount"], "{options:?}");
        }
        for options in [&["async"][..], &["nosync"], &["sync=no"], &["noatime,async"], &[]] {
            assert!(causes(options, options).is_empty(), "{options:?}");
        }
        assert_eq!(
            causes(&["hard,noac"], &["noac,hard,dirsync"]),
            ["c nfs-attribute-cache", "v sync-mount"]
        );
    }
}
