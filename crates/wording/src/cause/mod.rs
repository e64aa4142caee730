//! Texts about known causes and their evidence.
//!
//! | module | texts |
//! |---|---|
//! | `known` | the causes themselves: mechanism, remedy, sources |
//! | `machine` | reasons for findings on a machine: a file for each family of rules |
//! | `cluster` | reasons for findings in a cluster |
//! | `measured` | evidence from a measurement |
//! | `diagnoses` | causes that measurements point to, for one arm or several |
//! | `surroundings` | differences between the machines of saved results |
//! | `suspect` | suspects and reasons for a difference |
//! | `searched` | evidence from a search for caps |
//! | `component` | the part of a machine that a finding is about |
//! | `observation` | observations |
//! | `coverage` | which layers have rules |
//! | `names` | several names in a sentence |
//! | `limit` | documented limits |

mod cluster;
mod component;
mod coverage;
pub mod diagnoses;
mod known;
mod limit;
mod machine;
mod measured;
mod names;
mod observation;
mod searched;
mod surroundings;
mod suspect;

use std::cmp::Reverse;

use indexmap::IndexSet;
use iotax_diagnose::why::Why;
use iotax_diagnose::{
    Certainty, ClusterSubject, Component, Confidence, Evidence, Finding, FoundThere,
};
use iotax_quantity::{capital, list, percent};

pub use self::component::components;
pub use self::coverage::{lack, layer, layer_kind, not_checked, nothing_found};
pub use self::known::{Cause, CauseSource, cause, causes, title, unknown_cause};
pub use self::limit::{disk_limits, vm_limit};
pub use self::measured::put_in;
use self::names::listed;
pub use self::observation::{SeenText, observation, seen};
pub use self::surroundings::changed;
pub use self::suspect::{alike, leading, reason, suspect, whole_reason};
use crate::slow_mode;

/// Heading of findings that are shown by name only.
pub const TO_BE_TESTED: &str =
    "To be tested: possible causes, each with a command that shows whether the cause matters here";

/// The same in one line, with at most `most` names.
pub fn to_be_tested(causes: &[&str], most: usize) -> String {
    let more = causes.len().saturating_sub(most);
    let rest = format!("{more} more");
    let shown = causes.iter().take(most).copied();
    let shown: Vec<&str> = shown.chain((more > 0).then_some(rest.as_str())).collect();
    format!(
        "Possible, not tested: {} (iotax doctor --explain NAME shows how to test each one)",
        list(&shown)
    )
}

/// A finding in one sentence, and where to read more.
pub fn in_short(finding: &Finding) -> String {
    let Finding { cause, about, .. } = finding;
    let (certainty, place) = (capital(certainty(finding.certainty)), components(about));
    format!("{certainty}: {} ({place}). More: iotax doctor --explain {cause}", title(cause))
}

pub const ALL_IN_FULL: &str = "the same command with --all";
pub const EXPLAIN_ONE: &str = "Explain one:  iotax doctor --explain NAME";
pub const NO_KNOWN_CAUSE: &str = "The measurement does not point to a known cause.";

/// The share of an I/O's time that a cause explains.
pub fn explains(share: f64) -> String {
    format!("{} of an I/O's time", percent(share))
}

/// Sorted by certainty, then in the order of the list of causes.
pub fn in_order(findings: &[Finding]) -> Vec<&Finding> {
    let place = |finding: &Finding| causes().iter().position(|cause| cause.id == finding.cause);
    let mut findings: Vec<&Finding> = findings.iter().collect();
    findings.sort_by_key(|finding| (Reverse(finding.certainty), place(finding)));
    findings
}

pub const fn certainty(certainty: Certainty) -> &'static str {
    match certainty {
        Certainty::ToBeTested => "to be tested",
        Certainty::Likely => "likely",
        Certainty::Snapshot => "seen",
    }
}

pub const fn confidence(confidence: Confidence) -> &'static str {
    match confidence {
        Confidence::Possible => "possible",
        Confidence::Likely => "likely",
        Confidence::Sure => "sure",
    }
}

/// What a finding means on this machine.
pub fn why(finding: &Finding) -> String {
    because(&finding.why, &finding.about, &finding.alike)
}

fn because(why: &Why, about: &[Component], alike: &[Component]) -> String {
    let why = of_family(why, about);
    if alike.is_empty() {
        return why;
    }
    let others: Vec<String> = alike.iter().map(component::component).collect();
    format!("{why} The same applies to {}.", listed(&others))
}

fn of_family(why: &Why, about: &[Component]) -> String {
    // Most are about one component.
    let of = about.first().map_or("", |one| one.name.as_str());
    match why {
        Why::Azure(why) => machine::azure::why(why, of),
        Why::Confidential(why) => machine::confidential::why(why, about),
        Why::Device(why) => machine::device::why(why, about),
        Why::Drive(why) => machine::drive::why(why, of),
        Why::Ebs(why) => machine::ebs::why(why, of),
        Why::Encryption(why) => machine::encryption::why(why, of),
        Why::FileSystem(why) => machine::file_system::why(why, about),
        Why::Gcp(why) => machine::gcp::why(why, of),
        Why::Groups(why) => machine::groups::why(why, of),
        Why::Guest(why) => machine::guest::why(why, of),
        Why::Interface(why) => machine::interface::why(why, of),
        Why::Limits(why) => machine::limits::why(why, about),
        Why::Memory(why) => machine::memory::why(why, of),
        Why::Network(why) => machine::network::why(why, of),
        Why::Nfs(why) => machine::nfs::why(why),
        Why::Packets(why) => machine::packets::why(why),
        Why::Path(why) => machine::path::why(why, about),
        Why::Proxy(why) => machine::proxy::why(why, of),
        Why::Raid(why) => machine::raid::why(why, of),
        Why::Smb(why) => machine::smb::why(why, of),
        Why::Zfs(why) => machine::zfs::why(why, of),
        Why::Cluster(why) => cluster::why(why, about),
    }
}

/// Each text once: different figures may give the same text.
pub fn each(all: &[Evidence]) -> Vec<String> {
    let texts: IndexSet<String> = all.iter().map(evidence).collect();
    texts.into_iter().collect()
}

/// Evidence for a cause or against it, without a final period.
pub fn evidence(evidence: &Evidence) -> String {
    match evidence {
        Evidence::Above(evidence) => measured::above(evidence),
        Evidence::Crypt(evidence) => measured::crypt(evidence),
        Evidence::Device(evidence) => measured::device(evidence),
        Evidence::Limiter(evidence) => measured::limiter(evidence),
        Evidence::Memory(evidence) => measured::memory(evidence),
        Evidence::Network(evidence) => measured::network(evidence),
        Evidence::Nfs(evidence) => measured::nfs(evidence),
        Evidence::Processor(evidence) => measured::processor(evidence),
        Evidence::Regime(evidence) => measured::regime(evidence),
        Evidence::Stack(between) => measured::stack(between),
        Evidence::Waiting(evidence) => measured::waiting(evidence),
        Evidence::Search(evidence) => searched::evidence(evidence),
        Evidence::SlowMode(mode) => slow_mode::slow_mode(mode),
        Evidence::Percentiles { mode, latency } => slow_mode::percentiles(mode, latency),
        Evidence::Seen(one) => seen(one),
        Evidence::Found(FoundThere { about, alike, why }) => {
            format!("{}: {}", components(about), because(why, about, alike))
        }
        Evidence::Explained { by } => format!("{by} delays only some I/Os"),
    }
}

/// The error for a subject that does not exist.
pub fn unknown_subject(subject: &ClusterSubject) -> String {
    match subject {
        ClusterSubject::Claim(name) => {
            format!("claim {name} does not exist, or you do not have permission to see it")
        }
        ClusterSubject::Class(name) => format!("storage class {name} does not exist"),
        ClusterSubject::Node(name) => format!("node {name} does not exist"),
    }
}
