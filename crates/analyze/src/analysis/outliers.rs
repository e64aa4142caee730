//! Arms that lie outside of all the others.

use serde::Serialize;

use crate::metrics::Metric;

/// Which of many arms are slower than such arms are.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outliers {
    pub metric: Metric,
    /// Arms that were judged.
    pub arms: u32,
    /// The median arm's figure, in the metric's unit.
    pub median: f64,
    /// By how much healthy arms differ: one standard deviation, as a fraction.
    pub spread: f64,
    /// False discoveries among those named, at most, on average.
    pub rate: f64,
    /// Those that are slow, the slowest first.
    pub slow: Vec<Outlier>,
    /// The tax of every other arm that was judged, against the median arm, in the order of the
    /// spec.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<ArmTax>,
    /// Arms that have too few trials to be judged.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

/// An arm that is slow.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outlier {
    pub arm: String,
    /// Its tax against the median arm, as a fraction.
    pub tax: f64,
    /// The same, drawn towards the median by what chance does to the slowest of many.
    pub shrunken: f64,
    /// Chance of a healthy arm to be as slow.
    pub p: f64,
}

/// How far an arm is from the median one. It is an estimate, and no verdict.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ArmTax {
    pub arm: String,
    /// As a fraction; less than 0 if it is better.
    pub tax: f64,
}

/// What a look at the nodes of a fleet cost.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct FleetCost {
    /// Nodes that took part.
    pub nodes: u32,
    /// Whether they were judged as a population, or each against the mean of the others.
    pub is_population: bool,
    /// Minutes of load, over all nodes: ramps and measured windows.
    pub node_minutes: f64,
}
