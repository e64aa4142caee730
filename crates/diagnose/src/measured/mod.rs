//! What a measurement says of its own causes: its signature, joined with what was seen on the
//! machine. Causes are ranked, each with what speaks for it and what against.
//!
//! A rule is a function from one arm's case to a suspect; to add one: its function, its line in the
//! table of its file, and words for its evidence in `iotax-wording`.

pub mod above;
mod apart;
mod case;
pub mod device;
pub mod limiter;
pub mod memory;
pub mod network;
pub mod nfs;
pub mod processor;
pub(crate) mod suspect;
pub mod waiting;

use iotax_analyze::Analysis;
use iotax_record::{ExperimentHead, Machine};

use self::apart::Judged;
pub use self::apart::{NthLayer, PutIn};
use self::case::Case;
use self::suspect::{Confidence, Diagnosis, Evidence, FoundThere, Reasons, Suspect};
use crate::machine::{Certainty, Finding, findings};

/// What is suspected of each arm; arms of which nothing is are left out.
pub fn of_arms(experiment: &ExperimentHead, analysis: &Analysis) -> Vec<Diagnosis> {
    let judged = judged(experiment, analysis).into_iter();
    judged.filter_map(|arm| Diagnosis::of(&arm.case.summary.name, arm.suspects)).collect()
}

/// The same of several arms, told apart by what explains their difference.
pub fn reasons(experiment: &ExperimentHead, analysis: &Analysis) -> Reasons {
    apart::reasons(experiment, analysis, &judged(experiment, analysis))
}

/// Each arm that was measured; its suspects, the surest first.
fn judged<'a>(experiment: &'a ExperimentHead, analysis: &'a Analysis) -> Vec<Judged<'a>> {
    if experiment.spec.is_of_results() {
        return Vec::new();
    }
    let of_arm = |place: usize| {
        let case = Case::new(experiment, analysis, place)?;
        let suspects = all().filter_map(|rule| rule.suspect(&case)).collect();
        let suspects = Suspect::sorted(with_findings(&case, suspects));
        Some(Judged { case, suspects })
    };
    let mut arms: Vec<Judged<'a>> = (0..analysis.arms.len()).filter_map(of_arm).collect();
    let limited: Vec<_> = arms.iter().map(|arm| beside_the_fastest(arm, &arms)).collect();
    for (arm, limited) in arms.iter_mut().zip(limited) {
        let mut suspects = std::mem::take(&mut arm.suspects);
        if let Some(limited) = limited {
            Suspect::merge(&mut suspects, limited);
        }
        arm.suspects = explained(Suspect::sorted(suspects));
    }
    arms
}

/// A limit that shows beside the arm that is fastest under the same load.
fn beside_the_fastest(arm: &Judged<'_>, arms: &[Judged<'_>]) -> Option<Suspect> {
    let latency = |arm: &&Judged<'_>| arm.case.latency_ms();
    let fastest = arms.iter().min_by(|a, b| latency(a).total_cmp(&latency(b)))?;
    limiter::limited_beside(&arm.case, &fastest.case)
}

/// Causes under which each I/O takes as long as the others: of all others, some wait long.
const EVEN: [&str; 7] = [
    "dm-crypt-small-sectors",
    "encrypted-twice",
    "encryption-in-path",
    "io-split",
    "nfs-kerberos",
    "sync-mount",
    "too-little-parallelism",
];

/// With a symptom behind the cause that it is one of.
fn explained(mut suspects: Vec<Suspect>) -> Vec<Suspect> {
    let makes_uneven = |suspect: &&Suspect| {
        suspect.confidence > Confidence::Possible
            && suspect.cause != "slow-few"
            && !EVEN.contains(&suspect.cause)
    };
    let cause = suspects.iter().find(makes_uneven).map(|suspect| suspect.cause);
    if let (Some(cause), Some(few)) =
        (cause, suspects.iter_mut().find(|suspect| suspect.cause == "slow-few"))
    {
        few.confidence = Confidence::Possible;
        few.against.push(Evidence::Explained { by: cause });
    }
    Suspect::sorted(suspects)
}

/// The causes that rules can name.
pub(crate) fn named_causes() -> impl Iterator<Item = &'static str> {
    all().flat_map(|rule| rule.causes).copied()
}

/// Causes that act or do not within a measurement, and then its rules name them: seen on the
/// machine alone, they are no reason.
const DECIDED_BY_MEASURING: [&str; 14] = [
    "azuredisk-read-ahead",
    "cgroup-io-max",
    "cgroup-memory",
    "cpu-quota",
    "dirty-throttling",
    "dm-crypt-workqueues",
    "nfs-gss-window",
    "nfs-read-ahead",
    "nfs-retransmissions",
    "nfs-slots",
    "page-cache-thrash",
    "queue-too-short",
    "read-ahead",
    "too-little-parallelism",
];

/// Suspects with what was seen of them, and those that were only seen.
fn with_findings(case: &Case<'_>, mut suspects: Vec<Suspect>) -> Vec<Suspect> {
    let Some((machine, path)) = case.machine().zip(case.path()) else { return suspects };
    let only_here = Machine { paths: vec![path.clone()], ..machine.clone() };
    for finding in findings(&only_here, &case.experiment.cloud) {
        match suspects.iter_mut().find(|suspect| suspect.cause == finding.cause) {
            Some(known) => known.evidence.extend(finding.seen.into_iter().map(Into::into)),
            None => suspects.extend(only_seen(case, finding)),
        }
    }
    suspects
}

/// A cause that nothing measured points to. Where a rule would have measured it, it does not act.
fn only_seen(case: &Case<'_>, finding: Finding) -> Option<Suspect> {
    let is_decided = measures(finding.cause, case) || DECIDED_BY_MEASURING.contains(&finding.cause);
    (!is_decided && finding.certainty > Certainty::ToBeTested).then_some(())?;
    let Finding { cause, about, alike, why, seen, .. } = finding;
    let there = FoundThere { about, alike, why: Box::new(why) };
    Some(Suspect::new(cause, Confidence::Likely, there).and(seen))
}

// The rules, one file for each place where time can go.

/// From a case to a suspect.
struct Rule {
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
    fn suspect(&self, case: &Case<'_>) -> Option<Suspect> {
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

const fn rule(causes: &'static [&'static str], judge: fn(&Case<'_>) -> Option<Suspect>) -> Rule {
    Rule { causes, judge, includes_cpu_wait: false, is_counted: counts_devices }
}

/// A rule whose measurement cannot tell its cause from waiting for a CPU.
const fn timed(causes: &'static [&'static str], judge: fn(&Case<'_>) -> Option<Suspect>) -> Rule {
    Rule { causes, judge, includes_cpu_wait: true, is_counted: counts_devices }
}

fn counts_devices(case: &Case<'_>) -> bool {
    !case.devices().is_empty()
}

/// Whether some rule would have named this cause here, if it acted.
fn measures(named: &str, case: &Case<'_>) -> bool {
    let of_cause = |rule: &&Rule| rule.causes.contains(&named);
    all().filter(of_cause).any(|rule| (rule.is_counted)(case))
}

/// All rules, family by family; of what is as sure and explains as much, the first leads.
fn all() -> impl Iterator<Item = &'static Rule> {
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
