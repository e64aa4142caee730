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

/// Prose in rooms that conclude, and sentences in those that lay out.
pub(super) const PROSE: [Allowed; 30] = [
    all("report/bundle/", "files for people without iotax, each written as a whole"),
    all("report/figures/machine.rs", "titles of charts"),
    all("report/iostat.rs", "the heads of iostat"),
    all("report/redact/", "lists of words"),
    all("report/search/tables.rs", "headings"),
    heading("report/caps.rs", "What the cap hides: {name}"),
    heading("report/catalog/look.rs", "Documented limits of the network"),
    heading("report/catalog/plan.rs", "What to expect of {whose}, by the documents"),
    heading("report/catalog/plan.rs", "Limits of the disks"),
    heading("report/doctor/cause.rs", "Known causes of slow I/O"),
    heading("report/document/mod.rs", "How it was measured"),
    heading("report/document/mod.rs", "How sure, and what could be wrong"),
    heading("report/experiment/mod.rs", "What the targets are"),
    heading("report/experiment/mod.rs", "NFS mounts, as granted"),
    heading("report/experiment/mod.rs", "Operations, pooled over trials (descriptive)"),
    heading("report/experiment/mod.rs", "Time per {what} by layer (bare stack: {bare})"),
    heading("report/experiment/page.rs", "What each layer costs"),
    heading("report/experiment/page.rs", "Each against the others"),
    heading("report/experiment/page.rs", "Spread of latencies over time"),
    heading("report/experiment/page.rs", "Throughput of every trial"),
    heading("report/experiment/page.rs", "The resolved specification, as JSON"),
    heading("report/figures/forest.rs", "Time per {what} that each layer adds"),
    heading("report/phases/common.rs", "Not concluded of any {}"),
    heading("report/phases/grid.rs", "Phase by phase, against {}"),
    heading("report/phases/mod.rs", "NFS mounts, as granted"),
    all("report/search/figures.rs", "titles of charts"),
    all("report/cloud_disks.rs", "heads of columns"),
    all("report/facts.rs", "names of facts, and heads of columns"),
    all("report/network.rs", "names of figures"),
    all("report/catalog/look.rs", "names of facts"),
];

/// What a section is called.
const fn heading(file: &'static str, text: &'static str) -> Allowed {
    Allowed { file, text: Some(text), why: "a heading" }
}

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

/// Whatever a file says.
const fn all(file: &'static str, why: &'static str) -> Allowed {
    Allowed { file, text: None, why }
}
