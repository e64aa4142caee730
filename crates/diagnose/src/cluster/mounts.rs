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
        for (options, cause, certainty, what) in OPTIONS {
            let is_set = |option: &&String| options.contains(&option.as_str());
            let Some(option) = class.mount_options.iter().find(is_set) else { continue };
            let why = format!("Volumes of {} are mounted with {option}: {what}.", class.name);
            let value = class.mount_options.join(", ");
            let about = format!("class {}", class.name);
            let finding = Finding::new(cause, about.clone(), certainty, why)
                .observed(Observation::field(format!("storage{about}"), "mountOptions", value))
                .command(against(seen, &class.name, "etcd-wal"));
            found.push((Of::Class(class.name.clone()), finding));
        }
    }
    found
}
