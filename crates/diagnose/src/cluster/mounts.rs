//! Options of mounts that cost.

use iotax_record::cluster::ClusterSeen;

use super::classes::against;
use super::why::{ClusterWhy, MountCost};
use crate::machine::{Certainty, Component, ComponentKind, Finding, Observation};

/// Options, the cause that they are, how sure it is, and what they cost.
const OPTIONS: [(&[&str], &str, Certainty, MountCost); 4] = [
    (&["sync", "dirsync"], "sync-mount", Certainty::Likely, MountCost::Sync),
    (&["discard"], "online-discard", Certainty::ToBeTested, MountCost::Discard),
    (&["strictatime"], "strict-atime", Certainty::ToBeTested, MountCost::AccessTime),
    (&["noac", "actimeo=0"], "nfs-attribute-cache", Certainty::Likely, MountCost::Attributes),
];

pub(super) fn mount_options(seen: &ClusterSeen) -> Vec<Finding> {
    let of_classes = seen.classes.iter().flat_map(|class| {
        let of = Mounted {
            object: "storageclass",
            kind: ComponentKind::Class,
            name: &class.name,
            options: &class.mount_options,
            class: Some(&class.name),
        };
        of.findings(seen, &[])
    });
    let of_volumes = seen.volumes.iter().flat_map(|volume| {
        let class = seen.class(&volume.class);
        let of = Mounted {
            object: "persistentvolume",
            kind: ComponentKind::Volume,
            name: &volume.name,
            options: &volume.mount_options,
            class: class.map(|class| class.name.as_str()),
        };
        // A class hands its options on to its volumes.
        of.findings(seen, class.map_or(&[], |class| class.mount_options.as_slice()))
    });
    of_classes.chain(of_volumes).collect()
}

/// What is mounted with options.
struct Mounted<'a> {
    /// Its kind as `kubectl` has it.
    object: &'static str,
    kind: ComponentKind,
    name: &'a str,
    options: &'a [String],
    class: Option<&'a str>,
}

impl Mounted<'_> {
    /// What its options cost, apart from those that were `said` before.
    fn findings(&self, seen: &ClusterSeen, said: &[String]) -> Vec<Finding> {
        let said = one_by_one(said);
        let options = one_by_one(self.options);
        let finding = |(costly, cause, certainty, costs): (&[&str], _, _, _)| {
            let is_set = |option: &&&str| costly.contains(*option) && !said.contains(*option);
            let option = (*options.iter().find(is_set)?).to_owned();
            let (about, all) = (Component::new(self.kind, self.name), self.options.join(", "));
            let command = self.class.map(|class| against(seen, class, "etcd-wal"));
            let mut finding =
                Finding::new(cause, about, certainty, ClusterWhy::Mounted { option, costs })
                    .observed(Observation::object(self.object, self.name, "mountOptions", all));
            finding.commands.extend(command);
            Some(finding)
        };
        OPTIONS.into_iter().filter_map(finding).collect()
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
        let told = |finding: Finding| format!("{} {}", finding.about[0].name, finding.cause);
        mount_options(&seen).into_iter().map(told).collect()
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
