//! Exceptions to the checks of prose, each with its reason. An unused exception is an error.

/// Text that a check accepts.
pub(super) struct Allowed {
    /// Start of a path: `crate/file.rs`.
    pub(super) file: &'static str,
    /// The whole literal; `None` accepts all text of the file.
    pub(super) text: Option<&'static str>,
    #[expect(dead_code, reason = "for readers")]
    pub(super) why: &'static str,
}

/// Prose in crates that compute findings.
pub(super) const PROSE: [Allowed; 20] = [
    one("diagnose/machine/confidential.rs", "swiotlb buffer is full", "the kernel's log"),
    one("diagnose/machine/groups.rs", "full avg300", "a value in kernel files"),
    one("diagnose/machine/memory.rs", "some avg300", "a value in kernel files"),
    one("diagnose/machine/interface.rs", "rx missed", "output of ip"),
    one("diagnose/machine/interface.rs", "rx fifo", "output of ip"),
    one("diagnose/machine/path.rs", "mtu {known_bytes}", "output of ip"),
    one("diagnose/machine/interface.rs", "offload(tso=false, gso=false, gro=false)", "a layer"),
    one(
        "diagnose/machine/nfs.rs",
        " {name}='nfs(server=\"{server}\", export=\"/{export}\"{version}, {options})'",
        "a stack",
    ),
    one("diagnose/machine/nfs.rs", "sec={sec}, nconnect={connections}", "parameters of a layer"),
    one("diagnose/machine/proxy.rs", "addr, port", "options of a mount"),
    one("diagnose/machine/snapshot/cloud.rs", "NVMe Direct Disk", "a disk model"),
    one("diagnose/machine/snapshot/cloud.rs", "Instance Storage", "a disk model"),
    one("diagnose/machine/snapshot/cloud.rs", "Google Cloud", "a cloud, the way records name it"),
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

/// Name of a cloud, of a bucket of its limits or of a pool of its disks, as in errors and in tables
/// that users write.
const fn name(file: &'static str, text: &'static str) -> Allowed {
    Allowed { file, text: Some(text), why: "a name" }
}

/// Sentences in crates that only lay out.
pub(super) const SENTENCES: [Allowed; 14] = [
    all("report/bundle/", "files for readers without iotax, each written as a whole"),
    all("report/figures/machine.rs", "titles of charts"),
    all("report/iostat.rs", "column names of iostat"),
    all("report/redact/", "lists of words"),
    all("report/search/tables.rs", "headings"),
    heading("report/doctor/findings.rs", "Known causes of slow I/O"),
    heading("report/experiment/mod.rs", "Operations, pooled over trials (descriptive)"),
    heading("report/experiment/mod.rs", "Time per {what} by layer (bare stack: {bare})"),
    heading("report/experiment/page.rs", "Latency distribution over time"),
    heading("report/figures/forest.rs", "Added time per {what}, by layer"),
    all("report/search/figures.rs", "titles of charts"),
    all("report/cloud_disks.rs", "column names"),
    all("report/facts.rs", "fact names and column names"),
    all("report/catalog/look.rs", "names of facts"),
];

/// The heading of a section.
const fn heading(file: &'static str, text: &'static str) -> Allowed {
    Allowed { file, text: Some(text), why: "a heading" }
}

/// Text of other programs, which offer no other interface.
pub(super) const MATCHING: [Allowed; 17] = [
    all("cli/plugin.rs", "help text of clap, changed for another program name"),
    one("cluster/host.rs", "ermission denied", "an error message of the pod's system"),
    all("cluster/error.rs", "messages of the API server, which share one code"),
    all("diagnose/machine/snapshot/cloud.rs", "the vendor name of the machine"),
    all("dialects/importers/diskspd/mod.rs", "results of DiskSpd"),
    all("dialects/importers/fio/mod.rs", "results of fio"),
    all("dialects/importers/iperf3/events.rs", "serde_json reports it only in its message"),
    all("dialects/importers/json.rs", "the message of serde_json includes the position"),
    all("dialects/importers/k8s_netperf.rs", "results of k8s-netperf"),
    all("dialects/importers/knb.rs", "results of knb"),
    all("dialects/importers/sniff.rs", "results of fio"),
    all("experiment/rule.rs", "the syntax of rules"),
    all("inspect/cloud/attached.rs", "disk models in sysfs"),
    all("inspect/counters/mountstats.rs", "a kernel file"),
    all("inspect/probe/network/card.rs", "output of ethtool"),
    all("record/earlier.rs", "sentences in records of earlier versions"),
    all("rig/layers/", "output of the programs behind a layer"),
];

/// Numbers for programs, or in the format of another tool.
pub(super) const QUANTITIES: [Allowed; 13] = [
    all("cli/resolve/fit.rs", "rounds a number"),
    all("experiment/explain", "whole percentages, the way users type them"),
    all("experiment/validate/", "whole percentages, the way users type them"),
    all("load/iperf3/words.rs", "seconds in the syntax of iperf3"),
    all("report/bundle/expected.rs", "the table that run.sh also prints"),
    all("report/csv/mod.rs", "for programs"),
    all("report/figures/steps.rs", "for programs"),
    all("report/iostat.rs", "the layout of iostat"),
    all("report/json/run/mod.rs", "the keys of fio"),
    all("report/search/tables.rs", "for programs"),
    Allowed {
        file: "wording/catalog.rs",
        text: Some("{gb} GB"),
        why: "gigabytes, as the documentation gives them",
    },
    all("wording/effect.rs", "two bounds with one unit"),
    all("wording/format.rs", "a name"),
];

/// All text of a file.
const fn all(file: &'static str, why: &'static str) -> Allowed {
    Allowed { file, text: None, why }
}
