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
pub(super) const PROSE: [Allowed; 0] = [];

/// Texts of others, which nobody can ask for data.
pub(super) const MATCHING: [Allowed; 21] = [
    all("catalog/aws/", "what a cloud's documents say"),
    all("catalog/azure/", "what a cloud's documents say"),
    all("catalog/gcp/", "what a cloud's documents say"),
    all("catalog/claims/read.rs", "heads of columns that users write"),
    all("cli/plugin.rs", "help that clap keeps as text, for another name of the program"),
    all("cluster/error.rs", "what an API server says, which has one code for all of it"),
    all("diagnose/machine/snapshot/cloud.rs", "the vendor's name, as the machine has it"),
    all("dialects/importers/diskspd/mod.rs", "results of DiskSpd"),
    all("dialects/importers/fio/mod.rs", "results of fio"),
    all("dialects/importers/fio/raw.rs", "serde_json has the place in its sentence, too"),
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

/// Figures that are not for people, or whose form is that of others.
pub(super) const QUANTITIES: [Allowed; 13] = [
    all("catalog/gcp/machines.rs", "gigabytes as the documents count them"),
    all("cli/resolve/fit.rs", "rounds a number"),
    all("dialects/diskspd/zones.rs", "whole percents, as they are typed"),
    all("experiment/", "whole percents, as they are typed"),
    all("load/iperf3/words.rs", "seconds as iperf3 takes them"),
    all("report/bundle/expected.rs", "the table that a script prints, too"),
    all("report/csv/mod.rs", "for programs"),
    all("report/figures/steps.rs", "for programs"),
    all("report/iostat.rs", "the layout of iostat"),
    all("report/json/run/latency.rs", "the keys of fio"),
    all("report/search/csv.rs", "for programs"),
    all("wording/effect.rs", "two ends with one unit"),
    all("wording/format.rs", "a name"),
];

/// Whatever a file says.
const fn all(file: &'static str, why: &'static str) -> Allowed {
    Allowed { file, text: None, why }
}
