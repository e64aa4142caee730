//! A layer of a disk of a cloud, and what is said about it.

use iotax_catalog::Source;
use iotax_spec::Layer;

/// A layer and what it rests on.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// The layer.
    pub layer: Layer,
    /// What it stands for.
    pub what: String,
    /// Where that was read; `None`: the user's own wish, or an assumption.
    pub sources: Vec<Source>,
}

impl Part {
    pub(super) fn new(layer: Layer, what: impl Into<String>) -> Self {
        Self { layer, what: what.into(), sources: Vec::new() }
    }

    pub(super) fn documented(layer: Layer, what: impl Into<String>, source: &Source) -> Self {
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
