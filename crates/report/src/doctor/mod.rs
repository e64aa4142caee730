//! What lies under paths, and what may hurt there.
//!
//! | module | idea |
//! |---|---|
//! | `tree` | layers drawn as a tree |
//! | `layer` | one layer in words |
//! | `surroundings` | the machine around them: groups, memory, cloud |
//! | `findings` | findings in words |
//! | `diagnoses` | what a measurement points to |
//! | `cause` | a known cause, explained |
//! | `json` | the same for programs |

mod cause;
mod diagnoses;
mod findings;
mod json;
mod layer;
mod surroundings;
mod tree;

use iotax_diagnose::{Diagnosis, Finding};
use iotax_record::Machine;

pub use self::cause::{cause_json, cause_list, cause_text};
pub(crate) use self::diagnoses::{causes, lines, sentence};
pub use self::findings::Detail;
pub use self::json::doctor_json;
use crate::page::Page;
use crate::text::Style;

/// What a measurement points to, if there is one; the layers, what is around them, and the findings,
/// as lines of text. `detail` is of findings that are yet to be tested.
pub fn doctor_text(
    machine: &Machine,
    findings: &[Finding],
    diagnoses: Option<&[Diagnosis]>,
    detail: Detail,
    style: Style,
) -> String {
    let mut page = Page::new(style);
    if let Some(diagnoses) = diagnoses {
        diagnoses::write(&mut page, diagnoses);
    }
    for path in &machine.paths {
        page.lines(&tree::drawn(machine, path, style));
    }
    page.facts(&surroundings::facts(machine));
    findings::write(&mut page, machine, findings, detail);
    let unseen: Vec<_> =
        machine.unseen.iter().map(|unseen| format!("{}: {}", unseen.what, unseen.how)).collect();
    page.list("Not seen", &unseen.iter().collect::<Vec<_>>());
    page.finish()
}
