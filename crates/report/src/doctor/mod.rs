//! What lies under paths, and what may hurt there.
//!
//! | module | idea |
//! |---|---|
//! | `tree` | layers as a tree |
//! | `layer` | one layer in words |
//! | `surroundings` | the machine around them: groups, memory, cloud |
//! | `findings` | findings in words |
//! | `diagnoses` | what a measurement points to |
//! | `cause` | a known cause, explained |
//! | `json` | the same for programs |

mod cause;
pub(crate) mod diagnoses;
mod findings;
mod json;
mod layer;
mod surroundings;
mod tree;

use iotax_diagnose::{Diagnosis, Finding};
use iotax_record::Machine;

pub use self::cause::{cause_json, explained, known_causes};
pub use self::findings::Detail;
pub use self::json::doctor_json;
use crate::document::{Document, Item, Section};

/// What a measurement points to, if there is one; the layers, what is around them, and the
/// findings. `detail` is of findings that are yet to be tested.
pub fn doctor(
    machine: &Machine,
    findings: &[Finding],
    diagnoses: Option<&[Diagnosis]>,
    detail: Detail,
) -> Document {
    let mut page = Document::default();
    if let Some(diagnoses) = diagnoses {
        diagnoses::write(&mut page, diagnoses);
    }
    for path in &machine.paths {
        page.add(Section::of(Item::Tree(tree::under(machine, path))));
    }
    page.add_facts(surroundings::facts(machine));
    findings::write(&mut page, machine, findings, detail);
    let unseen = machine.unseen.iter().map(|unseen| format!("{}: {}", unseen.what, unseen.how));
    page.add_list("Not seen", unseen.collect());
    page
}
