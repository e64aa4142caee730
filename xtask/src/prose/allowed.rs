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
pub(super) const PROSE: [Allowed; 20] = [
    one("diagnose/machine/confidential.rs", "swiotlb buffer is full", "the kernel's log"),
    one("diagnose/machine/groups.rs", "full avg300", "a figure in files of the kernel"),
    one("diagnose/machine/memory.rs", "some avg300", "a figure in files of the kernel"),
    one("diagnose/machine/interface.rs", "rx missed", "what ip prints"),
    one("diagnose/machine/interface.rs", "rx fifo", "what ip prints"),
    one("diagnose/machine/path.rs", "mtu {known_bytes}", "what ip prints"),
    one("diagnose/machine/interface.rs", "offload(tso=false, gso=false, gro=false)", "a layer"),
    one(
        "diagnose/machine/nfs.rs",
        " {name}='nfs(server=\"{server}\", export=\"/{export}\"{version}, {options})'",
        "a stack",
    ),
    one("diagnose/machine/nfs.rs", "sec={sec}, nconnect={connections}", "parameters of a layer"),
    one("diagnose/machine/proxy.rs", "addr, port", "options of a mount"),
    one("diagnose/machine/snapshot/cloud.rs", "NVMe Direct Disk", "a model, as disks say it"),
    one("diagnose/machine/snapshot/cloud.rs", "Instance Storage", "a model, as disks say it"),
    one("diagnose/machine/snapshot/cloud.rs", "Google Cloud", "a cloud, as records have it"),
    name("catalog/expect/mod.rs", "all {}"),
    name("catalog/limit.rs", "Google Cloud"),
    name("catalog/limit.rs", "VM cached"),
    name("catalog/limit.rs", "VM uncached"),
    name("catalog/limit.rs", "VM temporary disk"),
    name("catalog/limit.rs", "local NVMe"),
    name("catalog/limit.rs", "network flow"),
];

const fn one(file: &'static str, text: &'static str, why: &'static str) -> Allowed {
    Allowed { file, text: Some(text), why }
}

/// What a cloud, a bucket of its limits or a pool of its disks is called, in errors and users' own
/// tables, too.
const fn name(file: &'static str, text: &'static str) -> Allowed {
    Allowed { file, text: Some(text), why: "a name" }
}

/// Sentences in rooms that lay out.
pub(super) const SENTENCES: [Allowed; 30] = [
    all("report/bundle/", "files for people without iotax, each written as a whole"),
    all("report/figures/machine.rs", "titles of charts"),
    all("report/iostat.rs", "the heads of iostat"),
    all("report/redact/", "lists of words"),
    all("report/search/tables.rs", "headings"),
    heading("report/caps.rs", "What the cap hides: {name}"),
    heading("report/catalog/look.rs", "Documented limits of the network"),
    heading("report/catalog/plan.rs", "What to expect of {whose}, by the documents"),
    heading("report/catalog/plan.rs", "Limits of the disks"),
    heading("report/doctor/findings.rs", "Known causes of slow I/O"),
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
pub(super) const MATCHING: [Allowed; 17] = [
    all("cli/plugin.rs", "help that clap keeps as text, for another name of the program"),
    one("cluster/host.rs", "ermission denied", "what the system of a pod says, to any program"),
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

/// Figures that are not for people, or whose form is that of others.
pub(super) const QUANTITIES: [Allowed; 13] = [
    all("cli/resolve/fit.rs", "rounds a number"),
    all("experiment/explain", "whole percents, as they are typed"),
    all("experiment/validate/", "whole percents, as they are typed"),
    all("load/iperf3/words.rs", "seconds as iperf3 takes them"),
    all("report/bundle/expected.rs", "the table that a script prints, too"),
    all("report/csv/mod.rs", "for programs"),
    all("report/figures/steps.rs", "for programs"),
    all("report/iostat.rs", "the layout of iostat"),
    all("report/json/run/mod.rs", "the keys of fio"),
    all("report/search/tables.rs", "for programs"),
    Allowed {
        file: "wording/catalog.rs",
        text: Some("{gb} GB"),
        why: "gigabytes as the documents count them",
    },
    all("wording/effect.rs", "two ends with one unit"),
    all("wording/format.rs", "a name"),
];

/// Whatever a file says.
const fn all(file: &'static str, why: &'static str) -> Allowed {
    Allowed { file, text: None, why }
}
