//! What can be wrong with a question.

use crate::limit::Cloud;

/// A question that the catalog cannot answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    /// No such size.
    #[error("no VM size `{name}`{}{}", in_cloud(*cloud), near_names(near, "iotax catalog azure (or aws, gcp) lists those known"))]
    UnknownVm {
        /// As asked for.
        name: String,
        /// Where it was looked for; everywhere, if nothing was said.
        cloud: Option<Cloud>,
        /// Known names like it.
        near: Vec<String>,
    },
    /// No such disk.
    #[error(
        "no disk `{name}`{}",
        near_names(
            near,
            "known are tiers such as P30, E10 and S40, premium-v2, ultra, gp2, gp3, io1, io2, st1, sc1, pd-ssd, pd-balanced, pd-standard, pd-extreme"
        )
    )]
    UnknownDisk {
        /// As asked for.
        name: String,
        /// Known names like it.
        near: Vec<String>,
    },
    /// No such cause.
    #[error("no known cause `{id}`{}", near_names(near, "iotax doctor --explain lists them"))]
    UnknownCause {
        /// As asked for.
        id: String,
        /// Known names like it.
        near: Vec<String>,
    },
    /// A parameter of a disk that makes no sense.
    #[error("disk `{disk}`: {problem}")]
    DiskParameter {
        /// As asked for.
        disk: String,
        /// What is wrong, and what would be right.
        problem: String,
    },
    /// Disks and VM that cannot be together.
    #[error("{0}")]
    Impossible(String),
    /// A user's table that cannot be read.
    #[error("{file}:{line}{}: {problem}", column.as_ref().map(|name| format!(", column `{name}`")).unwrap_or_default())]
    Table {
        /// Its name.
        file: String,
        /// Line, from 1.
        line: u64,
        /// Name of the column, if one is at fault.
        column: Option<String>,
        /// What is wrong, and what would be right.
        problem: String,
    },
}

fn in_cloud(cloud: Option<Cloud>) -> String {
    cloud.map(|cloud| format!(" of {cloud}")).unwrap_or_default()
}

fn near_names(near: &[String], otherwise: &str) -> String {
    match near {
        [] => format!(": {otherwise}"),
        [one] => format!(": did you mean {one}?"),
        [rest @ .., last] => format!(": did you mean {} or {last}?", rest.join(", ")),
    }
}
