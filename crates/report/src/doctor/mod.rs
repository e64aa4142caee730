//! The report of `iotax doctor`: the layers under paths, and known causes of slow I/O in them.
//!
//! | module | purpose |
//! |---|---|
//! | `glance` | a machine on one screen |
//! | `host` | a machine with its findings |
//! | `findings` | findings in words |
//! | `cluster` | a cluster: layers under claims, classes, nodes |
//! | `probed` | what a pod, or its node, sees under a volume |
//! | `json` | the same as JSON |

mod cluster;
mod findings;
mod glance;
mod host;
pub(crate) mod json;
mod probed;

use iotax_diagnose::Diagnosis;
use iotax_wording::machine;

pub use self::cluster::{cluster_doctor, cluster_doctor_json};
pub use self::findings::Detail;
pub use self::findings::{cause_json, explained, known_causes};
pub use self::host::HostFindings;
pub use self::json::doctor_json;
pub use self::probed::Probed;
use crate::document::{Document, Section};

/// Writes the causes that a measurement points to, if there is one. For each host, it writes the
/// layers, the machine around them, and the findings. `detail` applies to findings to be tested.
pub fn doctor(hosts: &[HostFindings], diagnoses: Option<&[Diagnosis]>, detail: Detail) -> Document {
    let mut page = Document::default();
    if let Some(diagnoses) = diagnoses {
        findings::write_diagnoses(&mut page, diagnoses);
    }
    for (at, host) in hosts.iter().enumerate() {
        if hosts.len() > 1 {
            page.add(Section::new(machine::host(at + 1, hosts.len(), host.role), []));
        }
        page.screen.extend(glance::of(host));
        host::write(&mut page, host, detail);
    }
    page
}
