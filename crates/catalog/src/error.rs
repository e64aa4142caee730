//! Errors of lookups.

use iotax_quantity::{exact, gib, iops_limit, mb_per_s, mib_per_s_limit};

use crate::limit::{Cloud, Scope};
use crate::units::{MB, MIB};

/// A lookup that the catalog cannot answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    #[error("unknown VM size `{name}`{}{}", in_cloud(*cloud), near_names(near, "iotax catalog azure (or aws, gcp) lists the known sizes"))]
    UnknownVm { name: String, cloud: Option<Cloud>, near: Vec<String> },
    #[error(
        "unknown disk `{name}`{}",
        near_names(
            near,
            "write a tier such as P30, E10 or S40, or premium-v2, ultra, gp2, gp3, io1, io2, \
             st1, sc1, pd-ssd, pd-balanced, pd-standard, pd-extreme"
        )
    )]
    UnknownDisk { name: String, near: Vec<String> },
    #[error("the catalog has no `{scope}` limit for {name}")]
    UnknownLimit { name: String, scope: Scope },
    #[error("disk `{disk}`: {problem}")]
    Disk { disk: String, problem: DiskProblem },
    #[error("{0} has no variants; leave out the variant")]
    NoVariants(String),
    #[error("{vm} has no such variant; its variants are {}", known.join(" and "))]
    UnknownVariant { vm: String, known: Vec<String> },
    #[error("the limits of {vm} depend on the disk controller; choose a variant: {}", known.join(" or "))]
    WhichVariant { vm: String, known: Vec<String> },
    #[error("no disk given; give at least one")]
    NoDisk,
    #[error("{disk} is a disk on {of}, but {whose} belongs to {cloud}; use only one cloud")]
    OtherCloud { disk: String, of: Cloud, whose: String, cloud: Cloud },
    #[error(
        "{vm} does not support premium disks such as {disk}; choose a size with an s in its \
         name, or a disk such as E30"
    )]
    NoPremium { vm: String, disk: String },
    #[error("{vm} supports at most {most} disks, not {count}")]
    TooManyDisks { vm: String, most: u32, count: usize },
    #[error("the host cannot cache {0}; use caching=none")]
    NotCached(String),
    #[error("{0} hosts do not cache disks; leave out caching")]
    CloudWithoutCache(Cloud),
    #[error("{file}:{line}{}: {problem}", column.as_ref().map(|name| format!(", column `{name}`")).unwrap_or_default())]
    Table { file: String, line: u64, column: Option<String>, problem: TableProblem },
}

/// What is wrong with the text of a disk.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum DiskProblem {
    #[error("`{0}` is not a parameter; write KEY=VALUE")]
    NoParameter(String),
    #[error("`{0}` is given twice")]
    Twice(String),
    #[error("unknown parameter `{key}`: {}", takes(known))]
    Unknown { key: String, known: Vec<&'static str> },
    #[error("{key}={value} is not valid; write {form}")]
    Unreadable { key: &'static str, value: String, form: String },
    #[error("{written}the size must be {} to {}", exact(*least), gib(*most))]
    Size { written: String, least: f64, most: f64 },
    #[error("{} cannot be provisioned at this size; the range is {} to {}", iops_limit(*iops), exact(*least), exact(*most))]
    Iops { iops: f64, least: f64, most: f64 },
    #[error("{} cannot be provisioned with {}; the range is {} to {}", mib_per_s_limit(mib * MIB), iops_limit(*iops), exact(*least), exact(*most))]
    Mib { mib: f64, iops: f64, least: f64, most: f64 },
    #[error("{} cannot be provisioned with these IOPS; the range is {} to {}", mb_per_s(mb * MB), exact(*least), exact(*most))]
    Mb { mb: f64, least: f64, most: f64 },
    #[error("a disk supports at most {} and {}", or_unknown(iops.map(iops_limit)), or_unknown(mib.map(|mib| mib_per_s_limit(mib * MIB))))]
    AtMost { iops: Option<f64>, mib: Option<f64> },
    #[error("redundancy=zrs is not documented for this tier")]
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
    #[error("the file is larger than 16 MiB, so it is not a table of limits")]
    TooLarge,
    #[error(
        "no column `name`, `size` or `tier`; the first line must name the columns, for example \
         name,scope,iops,mbps,burst_iops,burst_mbps,source,as_of"
    )]
    NoNames,
    #[error("two columns have this name")]
    TwoColumns,
    #[error("the table has no rows below the first line; add one row per limit")]
    NoRow,
    #[error("the row has no name; add a name, or remove the row")]
    NoName,
    #[error("the row has no values; add a value for iops, mbps or a burst")]
    NoFigure,
    #[error("`{0}` is not a valid number; write a number such as 6400")]
    NotAFigure(String),
    #[error(
        "`{0}` is not a scope; write disk, cached, uncached, temporary, local nvme or instance"
    )]
    NotAScope(String),
    #[error(
        "{found} columns, but the first line has {expected}; quote values that contain a comma"
    )]
    Columns { found: u64, expected: u64 },
    #[error("{0}")]
    Csv(String),
}

fn in_cloud(cloud: Option<Cloud>) -> String {
    cloud.map(|cloud| format!(" on {cloud}")).unwrap_or_default()
}

fn takes(known: &[&str]) -> String {
    if known.is_empty() {
        "this disk takes no parameters".to_owned()
    } else {
        format!("this disk takes {}", known.join(", "))
    }
}

fn or_unknown(figure: Option<String>) -> String {
    figure.unwrap_or_else(|| "unknown".to_owned())
}

/// Similar known names, for an error about an unknown name.
pub fn near_names(near: &[String], otherwise: &str) -> String {
    match near {
        [] => format!(": {otherwise}"),
        [one] => format!(": did you mean {one}?"),
        [rest @ .., last] => format!(": did you mean {} or {last}?", rest.join(", ")),
    }
}
