//! The rules, one file for each place where time can go.

use super::case::Case;
use super::suspect::{Confidence, Suspect};
use super::{above, device, limiter, memory, network, nfs, processor, waiting};

/// From a case to a suspect.
pub(super) struct Rule {
    /// The causes that it can name.
    pub causes: &'static [&'static str],
    pub judge: fn(&Case<'_>) -> Option<Suspect>,
    /// What it measures is time that waiting for a CPU adds to.
    pub includes_cpu_wait: bool,
    /// Whether the counters that it judges by are there.
    pub is_counted: fn(&Case<'_>) -> bool,
}

impl Rule {
    /// A suspect, if the case gives reason to one. It is as sure as the share of the time that its
    /// own measurement explains, whatever the rule thinks of it.
    pub(super) fn suspect(&self, case: &Case<'_>) -> Option<Suspect> {
        let suspect = (self.judge)(case)?;
        debug_assert!(self.causes.contains(&suspect.cause), "{}", suspect.cause);
        let most = Confidence::of_share(suspect.explains);
        let suspect = suspect.at_most(most);
        let taken = case.cpu_taken().filter(|_| self.includes_cpu_wait);
        Some(match taken {
            Some(share) => {
                let taken = processor::ProcessorEvidence::TakenFrom { share };
                suspect.at_most(Confidence::Possible).but([taken])
            }
            None => suspect,
        })
    }
}

pub(super) const fn rule(
    causes: &'static [&'static str],
    judge: fn(&Case<'_>) -> Option<Suspect>,
) -> Rule {
    Rule { causes, judge, includes_cpu_wait: false, is_counted: counts_devices }
}

/// A rule whose measurement cannot tell its cause from waiting for a CPU.
pub(super) const fn timed(
    causes: &'static [&'static str],
    judge: fn(&Case<'_>) -> Option<Suspect>,
) -> Rule {
    Rule { causes, judge, includes_cpu_wait: true, is_counted: counts_devices }
}

fn counts_devices(case: &Case<'_>) -> bool {
    !case.devices().is_empty()
}

/// Whether some rule would have named this cause here, if it acted.
pub(super) fn measures(named: &str, case: &Case<'_>) -> bool {
    let of_cause = |rule: &&Rule| rule.causes.contains(&named);
    all().filter(of_cause).any(|rule| (rule.is_counted)(case))
}

/// All rules, family by family; of what is as sure and explains as much, the first leads.
pub(super) fn all() -> impl Iterator<Item = &'static Rule> {
    // Those of network file systems before the CPUs, which are busy with them.
    let families = [
        processor::WITHHELD,
        nfs::RULES,
        network::RULES,
        processor::RULES,
        memory::RULES,
        device::RULES,
        above::RULES,
        limiter::STEPS,
        waiting::RULES,
        limiter::RULES,
        waiting::OF_LOAD,
    ];
    families.into_iter().flatten()
}
