//! A layer of a cloud disk, with its description and source.

use iotax_catalog::Source;
use serde::{Deserialize, Serialize};

use crate::each::aes::Aes;
use crate::each::delay::Delay;
use crate::each::file::File;
use crate::each::throttle::Throttle;
use crate::each::tier::Tier;

/// A layer and its source.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CloudPart {
    #[serde(flatten)]
    pub layer: PartLayer,
    /// Description of what it models.
    pub what: String,
    /// Where its values were read; none for requested or assumed values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<Source>,
}

/// The layers that cloud disks consist of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "layer", rename_all = "snake_case")]
pub enum PartLayer {
    File(File),
    Aes(Aes),
    Delay(Delay),
    Throttle(Throttle),
    Tier(Tier),
}

impl CloudPart {
    pub(super) fn new(layer: PartLayer, what: impl Into<String>) -> Self {
        Self { layer, what: what.into(), sources: Vec::new() }
    }

    pub(super) fn documented(layer: PartLayer, what: impl Into<String>, source: &Source) -> Self {
        Self { sources: vec![source.clone()], ..Self::new(layer, what) }
    }
}

/// The name of `gp3:size=500G,caching=none` is `gp3:size=500G`.
pub(super) fn without_caching(text: &str) -> String {
    let Some((kind, parameters)) = text.split_once(':') else { return text.to_owned() };
    let is_other = |parameter: &&str| !parameter.trim_start().starts_with("caching");
    let others: Vec<&str> = parameters.split(',').filter(is_other).collect();
    if others.is_empty() { kind.to_owned() } else { format!("{kind}:{}", others.join(",")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_cached_is_no_part_of_a_name() {
        for (text, name) in [
            ("P10", "P10"),
            ("P10:caching=none", "P10"),
            ("gp3:caching=none,size=5G", "gp3:size=5G"),
            ("gp3:size=5G, caching=none,iops=3k", "gp3:size=5G,iops=3k"),
        ] {
            assert_eq!(without_caching(text), name);
        }
    }
}
