//! What can be wrong with a question.

use crate::limit::Cloud;

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
    #[error("disk `{disk}`: {problem}")]
    DiskParameter { disk: String, problem: String },
    #[error("{0}")]
    Impossible(String),
    #[error("{file}:{line}{}: {problem}", column.as_ref().map(|name| format!(", column `{name}`")).unwrap_or_default())]
    Table { file: String, line: u64, column: Option<String>, problem: String },
}

fn in_cloud(cloud: Option<Cloud>) -> String {
    cloud.map(|cloud| format!(" of {cloud}")).unwrap_or_default()
}

/// What a name that is not known may have meant, for an error.
pub fn near_names(near: &[String], otherwise: &str) -> String {
    match near {
        [] => format!(": {otherwise}"),
        [one] => format!(": did you mean {one}?"),
        [rest @ .., last] => format!(": did you mean {} or {last}?", rest.join(", ")),
    }
}
