//! Options of mounts that cost.

use iotax_record::cluster::ClusterSeen;

use super::classes::against;
use super::found::{Found, Of};
use crate::machine::{Certainty, Finding, Observation};

/// Options, the cause that they are, how sure it is, and what they do.
const OPTIONS: [(&[&str], &str, Certainty, &str); 4] = [
    (&["sync", "dirsync"], "sync-mount", Certainty::Likely, "every write waits for the disk"),
    (&["discard"], "online-discard", Certainty::ToBeTested, "deletes send discards at once"),
    (&["strictatime"], "strict-atime", Certainty::ToBeTested, "each read writes a time"),
    (
        &["noac", "actimeo=0"],
        "nfs-attribute-cache",
        Certainty::Likely,
        "each look at a file asks the server",
    ),
];

pub(super) fn find(seen: &ClusterSeen) -> Found {
    let mut found = Vec::new();
    for class in &seen.classes {
        let of = Mounted {
            of: Of::Class(class.name.clone()),
            kind: "storageclass",
            about: format!("class {}", class.name),
            volumes: format!("Volumes of {} are", class.name),
            options: &class.mount_options,
            class: Some(&class.name),
        };
        found.extend(of.found(seen, &[]));
    }
    for volume in &seen.volumes {
        let class = seen.class(&volume.class);
        let of = Mounted {
            of: class.map_or(Of::Cluster, |class| Of::Class(class.name.clone())),
            kind: "persistentvolume",
            about: format!("volume {}", volume.name),
            volumes: format!("{} is", volume.name),
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
    kind: &'static str,
    about: String,
    volumes: String,
    options: &'a [String],
    class: Option<&'a str>,
}

impl Mounted<'_> {
    /// What its options cost, apart from those that were `said` before.
    fn found(&self, seen: &ClusterSeen, said: &[String]) -> Found {
        let said = one_by_one(said);
        let options = one_by_one(self.options);
        let mut found = Vec::new();
        for (costly, cause, certainty, what) in OPTIONS {
            let is_set = |option: &&&str| costly.contains(*option) && !said.contains(*option);
            let Some(option) = options.iter().find(is_set) else { continue };
            let why = format!("{} mounted with {option}: {what}.", self.volumes);
            let (kind, name) = (self.kind, self.about.split(' ').next_back().unwrap_or_default());
            let mut finding = Finding::new(cause, self.about.clone(), certainty, why).observed(
                Observation::field(
                    format!("{kind} {name}"),
                    "mountOptions",
                    self.options.join(", "),
                ),
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
        let told = |(_, finding): (Of, Finding)| format!("{}: {}", finding.about, finding.cause);
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
            assert_eq!(causes(options, options), ["class c: sync-mount"], "{options:?}");
        }
        for options in [&["async"][..], &["nosync"], &["sync=no"], &["noatime,async"], &[]] {
            assert!(causes(options, options).is_empty(), "{options:?}");
        }
        assert_eq!(
            causes(&["hard,noac"], &["noac,hard,dirsync"]),
            ["class c: nfs-attribute-cache", "volume v: sync-mount"]
        );
    }
}
