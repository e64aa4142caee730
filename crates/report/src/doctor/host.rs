use iotax_diagnose::{Finding, LayerCoverage};
use iotax_record::{HostRole, Machine};
use iotax_wording::machine::surroundings;

use super::{findings, tree};
use crate::document::{Document, Item, Section};

/// A machine that was looked at, and what is known to hurt on such.
#[derive(Debug)]
pub struct HostFindings {
    /// What it had to do with the measurement, if there was one.
    pub role: HostRole,
    /// What was seen of it.
    pub machine: Machine,
    /// What was found there.
    pub findings: Vec<Finding>,
    /// Which of its layers there are rules for.
    pub coverage: Vec<LayerCoverage>,
}

/// Its layers, what is around them, the findings, and what was not seen.
pub(super) fn write(page: &mut Document, host: &HostFindings, detail: findings::Detail) {
    for path in &host.machine.paths {
        page.add(Section::of(Item::Tree(tree::under(&host.machine, path))));
    }
    write_around(page, host, detail);
}

/// All of it but its layers.
pub(super) fn write_around(page: &mut Document, host: &HostFindings, detail: findings::Detail) {
    let HostFindings { machine, findings, coverage, .. } = host;
    page.add_facts(surroundings::facts(machine));
    findings::write(page, machine, coverage, findings, detail);
    let unseen = machine.unseen.iter().map(|unseen| format!("{}: {}", unseen.what, unseen.how));
    page.add_list("Not seen", unseen.collect());
}
