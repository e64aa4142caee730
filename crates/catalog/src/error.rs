//! What can be wrong with a question.

use iotax_quantity::{exact, gib, iops_limit, mb_per_s, mib_per_s_limit};

use crate::limit::{Cloud, Scope};
use crate::units::{MB, MIB};

/// A question that the catalog cannot answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    #[error("no VM size `{name}`{}{}", in_cloud(*cloud), near_names(near, "iotax catalog azure (or aws, gcp) lists those known"))]
    UnknownVm { name: String, cloud: Option<Cloud>, near: Vec<String> },
    #[error(
        "no disk `{name}`{}",
        near_names(
            near,
            "known are tiers such as P30, E10 and S40, premium-v2, ultra, gp2, gp3, io1, io2, st1, sc1, pd-ssd, pd-balanced, pd-standard, pd-extreme"
        )
    )]
    UnknownDisk { name: String, near: Vec<String> },
    #[error("the catalog has no limit `{scope}` of {name}")]
    UnknownLimit { name: String, scope: Scope },
    #[error("disk `{disk}`: {problem}")]
    Disk { disk: String, problem: DiskProblem },
    #[error("{0} has no variants: leave the variant out")]
    NoVariants(String),
    #[error("{vm} has no such variant: its variants are {}", known.join(" and "))]
    UnknownVariant { vm: String, known: Vec<String> },
    #[error("{vm} has other limits with each disk controller: say which variant, {}", known.join(" or "))]
    WhichVariant { vm: String, known: Vec<String> },
    #[error("there is no disk: name at least one")]
    NoDisk,
    #[error("{disk} is a disk of {of}, {whose} belongs to {cloud}: they cannot be together")]
    OtherCloud { disk: String, of: Cloud, whose: String, cloud: Cloud },
    #[error(
        "{vm} takes no premium disks such as {disk}: choose a size with an s in its name, or a disk such as E30"
    )]
    NoPremium { vm: String, disk: String },
    #[error("{vm} takes {most} disks at most, not {count}")]
    TooManyDisks { vm: String, most: u32, count: usize },
    #[error("{0} cannot be cached by the host: give it caching=none")]
    NotCached(String),
    #[error("hosts of {0} cache no disks: leave caching out")]
    CloudWithoutCache(Cloud),
    #[error("{file}:{line}{}: {problem}", column.as_ref().map(|name| format!(", column `{name}`")).unwrap_or_default())]
    Table { file: String, line: u64, column: Option<String>, problem: TableProblem },
}

/// What is wrong with a disk as it was written.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum DiskProblem {
    #[error("`{0}` is no parameter: write KEY=VALUE")]
    NoParameter(String),
    #[error("`{0}` is given twice")]
    Twice(String),
    #[error("unknown parameter `{key}`: {}", takes(known))]
    Unknown { key: String, known: Vec<&'static str> },
    #[error("{key}={value} cannot be read: write {form}")]
    Unreadable { key: &'static str, value: String, form: String },
    #[error("{written}its size is {} to {}", exact(*least), gib(*most))]
    Size { written: String, least: f64, most: f64 },
    #[error("{} cannot be provisioned at this size: {} to {} can", iops_limit(*iops), exact(*least), exact(*most))]
    Iops { iops: f64, least: f64, most: f64 },
    #[error("{} cannot be provisioned with {}: {} to {} can", mib_per_s_limit(mib * MIB), iops_limit(*iops), exact(*least), exact(*most))]
    Mib { mib: f64, iops: f64, least: f64, most: f64 },
    #[error("{} cannot be provisioned with these IOPS: {} to {} can", mb_per_s(mb * MB), exact(*least), exact(*most))]
    Mb { mb: f64, least: f64, most: f64 },
    #[error("a disk has {} and {} at most", or_unknown(iops.map(iops_limit)), or_unknown(mib.map(|mib| mib_per_s_limit(mib * MIB))))]
    AtMost { iops: Option<f64>, mib: Option<f64> },
    #[error("its tier is not documented with redundancy=zrs")]
    NoZoneRedundancy,
}

impl DiskProblem {
    pub(crate) const CACHING: &str = "none, readonly or readwrite";
    pub(crate) const SIZE: &str = "a size such as 500G or 2T";
    pub(crate) const NUMBER: &str = "a number such as 6000";
    pub(crate) const THROUGHPUT: &str = "a throughput such as 250M, 250MB or 250MiB";
}

/// What is wrong with a user's own table.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum TableProblem {
    #[error("more than 16 MiB: this is no table of limits")]
    TooLarge,
    #[error(
        "no column `name`, `size` or `tier`: the first line names the columns, for example name,scope,iops,mbps,burst_iops,burst_mbps,source,as_of"
    )]
    NoNames,
    #[error("there are two columns of this name")]
    TwoColumns,
    #[error("no row below the first line, so nothing would be checked: add one a limit")]
    NoRow,
    #[error("the row names nothing: fill it in or take it out")]
    NoName,
    #[error("the row has no figure: give iops, mbps or a burst")]
    NoFigure,
    #[error("`{0}` is no figure: write a number such as 6400")]
    NotAFigure(String),
    #[error("`{0}` is no scope: write disk, cached, uncached, temporary, local nvme or instance")]
    NotAScope(String),
    #[error("{found} columns where the first line has {expected}: quote what contains a comma")]
    Columns { found: u64, expected: u64 },
    #[error("{0}")]
    Csv(String),
}

fn in_cloud(cloud: Option<Cloud>) -> String {
    cloud.map(|cloud| format!(" of {cloud}")).unwrap_or_default()
}

fn takes(known: &[&str]) -> String {
    if known.is_empty() {
        "it takes none".to_owned()
    } else {
        format!("it takes {}", known.join(", "))
    }
}

fn or_unknown(figure: Option<String>) -> String {
    figure.unwrap_or_else(|| "unknown".to_owned())
}

/// What a name that is not known may have meant, for an error.
pub fn near_names(near: &[String], otherwise: &str) -> String {
    match near {
        [] => format!(": {otherwise}"),
        [one] => format!(": did you mean {one}?"),
        [rest @ .., last] => format!(": did you mean {} or {last}?", rest.join(", ")),
    }
}
