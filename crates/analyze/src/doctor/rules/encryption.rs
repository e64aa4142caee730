//! Encryption in this machine: dm-crypt and what it stands on.

use iotax_record::machine::Device;

use crate::doctor::finding::{Certainty, Finding, Observation};
use crate::doctor::seen::{Seen, quoted};

const FLAGS: [&str; 2] = ["no_read_workqueue", "no_write_workqueue"];

/// dm-crypt without the flags that encrypt where the I/O was submitted.
pub(super) fn work_queues(seen: &Seen<'_>) -> Vec<Finding> {
    let finding = |(device, path): (&Device, &str)| {
        let mapping = device.mapping.as_ref()?;
        let crypt = mapping.crypts().find(|crypt| FLAGS.iter().any(|flag| !crypt.has(flag)))?;
        let missing: Vec<_> = FLAGS.into_iter().filter(|flag| !crypt.has(flag)).collect();
        let is_fast = seen.disks(device).iter().all(|disk| disk.queue.rotational == Some(false));
        Some(Finding {
            cause: "dm-crypt-workqueues".to_owned(),
            about: format!("{} ({})", device.name, mapping.name),
            certainty: if is_fast { Certainty::Likely } else { Certainty::ToBeTested },
            seen: vec![Observation::field(
                format!("dmsetup table {}", mapping.name),
                "flags",
                if crypt.flags.is_empty() { "none".to_owned() } else { crypt.flags.join(" ") },
            )],
            why: format!(
                "Without {} every I/O passes kernel threads on its way through the cipher.",
                missing.join(" and ")
            ),
            commands: vec![format!("iotax run driver-searcher {}", quoted(path))],
        })
    };
    seen.devices().filter_map(finding).collect()
}
