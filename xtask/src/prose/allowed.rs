//! Exceptions, each with its reason. One that matches nothing fails.

/// Texts that may be where they are.
pub(super) struct Allowed {
    /// The beginning of a path: `crate/file.rs`.
    pub(super) file: &'static str,
    /// The whole literal; all in the file if there is none.
    pub(super) text: Option<&'static str>,
    #[expect(dead_code, reason = "for people")]
    pub(super) why: &'static str,
}

/// Prose in rooms that conclude.
pub(super) const PROSE: [Allowed; 11] = [
    id("stats/verdict.rs", "effect changed"),
    id("stats/verdict.rs", "no information"),
    id("stats/verdict.rs", "not independent"),
    id("stats/verdict.rs", "insufficient tail samples"),
    name("catalog/expect/mod.rs", "all {}"),
    name("catalog/limit.rs", "Google Cloud"),
    name("catalog/limit.rs", "VM cached"),
    name("catalog/limit.rs", "VM uncached"),
    name("catalog/limit.rs", "VM temporary disk"),
    name("catalog/limit.rs", "local NVMe"),
    name("catalog/limit.rs", "network flow"),
];

/// A name by which data are told apart, which JSON has, too.
const fn id(file: &'static str, text: &'static str) -> Allowed {
    Allowed { file, text: Some(text), why: "an id" }
}

/// What a cloud, a bucket of its limits or a pool of its disks is called, in errors and users' own
/// tables, too.
const fn name(file: &'static str, text: &'static str) -> Allowed {
    Allowed { file, text: Some(text), why: "a name" }
}

/// Texts of others, which nobody can ask for data.
pub(super) const MATCHING: [Allowed; 16] = [
    all("cli/plugin.rs", "help that clap keeps as text, for another name of the program"),
    all("cluster/error.rs", "what an API server says, which has one code for all of it"),
    all("diagnose/machine/snapshot/cloud.rs", "the vendor's name, as the machine has it"),
    all("dialects/importers/diskspd/mod.rs", "results of DiskSpd"),
    all("dialects/importers/fio/mod.rs", "results of fio"),
    all("dialects/importers/iperf3/events.rs", "serde_json tells of it in a sentence alone"),
    all("dialects/importers/json.rs", "serde_json has the place in its sentence, too"),
    all("dialects/importers/k8s_netperf.rs", "results of k8s-netperf"),
    all("dialects/importers/knb.rs", "results of knb"),
    all("dialects/importers/sniff.rs", "results of fio"),
    all("experiment/rule.rs", "the language of rules, which users write"),
    all("inspect/cloud/attached.rs", "models of disks, as the kernel has them"),
    all("inspect/counters/mountstats.rs", "a file of the kernel's"),
    all("inspect/probe/network/card.rs", "what ethtool prints"),
    all("record/earlier.rs", "sentences in records of earlier versions"),
    all("rig/layers/", "what programs print that serve a layer"),
];

/// Whatever a file says.
const fn all(file: &'static str, why: &'static str) -> Allowed {
    Allowed { file, text: None, why }
}
