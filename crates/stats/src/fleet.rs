//! Finds slow nodes among many, compared with all nodes.
//!
//! A round probes each node once. A probe's value is the logarithm of its figure minus the median
//! of the round. Healthy nodes also differ. Their spread is estimated robustly from all nodes. A
//! node is slow if it is below the range of healthy nodes, at a false-discovery rate over all nodes
//! (Benjamini & Hochberg, J. R. Statist. Soc. B 57, 1995).

use statrs::distribution::{ChiSquared, ContinuousCDF, StudentsT};

use crate::sample::{mean, median, variance};

/// Minimum number of nodes for a population.
pub const MIN_NODES: usize = 20;
/// Lower bound on the spread of healthy nodes (standard deviation of logarithms). With less, large
/// fleets had up to 14 % false alarms in simulation.
const SPREAD_FLOOR: f64 = 0.025;
/// Ratio of standard deviation to median absolute deviation in a normal distribution.
const NORMAL_SD_BY_MAD: f64 = 1.4826;

/// The probes of one node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Probes {
    pub mean: f64,
    pub variance: f64,
    /// Number of probes, two or more.
    pub count: usize,
}

impl Probes {
    /// `None` of fewer than two.
    pub fn of(values: &[f64]) -> Option<Self> {
        (values.len() > 1).then(|| Self {
            mean: mean(values),
            variance: variance(values),
            count: values.len(),
        })
    }
}

/// A fleet and its nodes.
#[derive(Debug, Clone, PartialEq)]
pub struct Fleet {
    /// Median of the nodes.
    pub centre: f64,
    /// Standard deviation of healthy nodes.
    pub spread: f64,
    /// Variance of the probes of one node.
    pub within: f64,
    /// In the order given.
    pub nodes: Vec<Node>,
}

/// A node's position in the fleet.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Node {
    /// Its mean minus the centre.
    pub raw: f64,
    /// The same, shrunken towards the centre to account for chance.
    pub shrunken: f64,
    /// Probability that a healthy node is this low.
    pub p: f64,
    /// Whether it is called slow.
    pub is_slow: bool,
}

impl Fleet {
    /// Judges the nodes at a false-discovery rate; `None` of fewer than [`MIN_NODES`].
    pub fn of(nodes: &[Probes], rate: f64) -> Option<Self> {
        if nodes.len() < MIN_NODES {
            return None;
        }
        let means: Vec<f64> = nodes.iter().map(|node| node.mean).collect();
        let centre = median(&means);
        let off: Vec<f64> = means.iter().map(|mean| (mean - centre).abs()).collect();
        let all = NORMAL_SD_BY_MAD * median(&off);
        let within = within(nodes)?;
        let counts: Vec<f64> = nodes.iter().map(|node| node.count as f64).collect();
        // Half a standard error is added: where probes are noisy, so is what is left without them.
        let healthy =
            all * all * (1.0 + 1.17 / (nodes.len() as f64).sqrt()) - within / median(&counts);
        let between = healthy.max(SPREAD_FLOOR * SPREAD_FLOOR);
        let healthy = Node { raw: 0.0, shrunken: 0.0, p: 1.0, is_slow: false };
        let unjudged = vec![healthy; nodes.len()];
        let mut fleet = Self { centre, spread: between.sqrt(), within, nodes: unjudged };
        for (at, node) in nodes.iter().enumerate() {
            let raw = node.mean - centre;
            let (p, shrunken) = (fleet.p(raw, node.count), raw * fleet.reliability(node.count));
            fleet.nodes[at] = Node { raw, shrunken, p, is_slow: false };
        }
        let p: Vec<f64> = fleet.nodes.iter().map(|node| node.p).collect();
        for slow in discoveries(&p, rate) {
            fleet.nodes[slow].is_slow = true;
        }
        Some(fleet)
    }

    /// Probability that the mean of `count` probes of a healthy node is this far below the centre.
    pub(crate) fn p(&self, raw: f64, count: usize) -> f64 {
        let total = self.spread.powi(2) + self.within / count as f64;
        // Fewer degrees of freedom pay for the scale's being an estimate.
        let df = 0.4 * (self.nodes.len() - 1) as f64;
        StudentsT::new(0.0, 1.0, df).map_or(1.0, |healthy| healthy.cdf(raw / total.sqrt()))
    }

    /// Share of between-node variance in the variance of means of `count` probes.
    pub(crate) fn reliability(&self, count: usize) -> f64 {
        let between = self.spread.powi(2);
        between / (between + self.within / count as f64)
    }
}

/// Variance of the probes of one node: the median over nodes, which a few unsteady nodes do not
/// affect.
fn within(nodes: &[Probes]) -> Option<f64> {
    let variances: Vec<f64> = nodes.iter().map(|node| node.variance).collect();
    let counts: Vec<f64> = nodes.iter().map(|node| node.count as f64).collect();
    let df = median(&counts) - 1.0;
    let of_chi_squared = ChiSquared::new(df).ok()?.inverse_cdf(0.5);
    Some(median(&variances) * df / of_chi_squared)
}

/// Indices of the nodes that are called slow, by Benjamini and Hochberg.
pub(crate) fn discoveries(p: &[f64], rate: f64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|a, b| p[*a].total_cmp(&p[*b]));
    let is_called = |rank: &usize| p[order[*rank]] <= rate * (rank + 1) as f64 / p.len() as f64;
    let called = (0..p.len()).rev().find(is_called).map_or(0, |last| last + 1);
    order.truncate(called);
    order
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn nodes(slow: &[usize], count: usize) -> Vec<Probes> {
        let off = |node: usize| ((node * 7919) % 101) as f64 / 101.0 - 0.5;
        let of = |node| {
            let base = 0.04 * off(node) - if slow.contains(&node) { 0.4 } else { 0.0 };
            let probe = |round: usize| base + 0.05 * off(node * 13 + round * 31);
            Probes::of(&(0..8).map(probe).collect::<Vec<_>>()).unwrap()
        };
        (0..count).map(of).collect()
    }

    fn slow(fleet: &Fleet) -> Vec<usize> {
        (0..fleet.nodes.len()).filter(|node| fleet.nodes[*node].is_slow).collect()
    }

    #[test]
    fn slow_nodes_are_found_among_many_and_nobody_else_is() {
        let fleet = Fleet::of(&nodes(&[11, 42], 50), 0.05).unwrap();
        assert_eq!(slow(&fleet), [11, 42]);
        let between = fleet.spread.powi(2);
        let drawn = fleet.nodes[11].raw * between / (between + fleet.within / 8.0);
        assert!((fleet.nodes[11].shrunken - drawn).abs() < 1e-12, "{:?}", fleet.nodes[11]);
        assert!(slow(&Fleet::of(&nodes(&[], 50), 0.05).unwrap()).is_empty());
        assert_eq!(Fleet::of(&nodes(&[3], 19), 0.05), None);
        let equal = vec![Probes { mean: 0.0, variance: 0.01, count: 4 }; 20];
        assert_eq!(Fleet::of(&equal, 0.05).unwrap().spread, SPREAD_FLOOR);
        assert_eq!((Probes::of(&[1.0]), Probes::of(&[1.0; 2]).unwrap().count), (None, 2));
    }

    proptest! {
        /// The definition: the largest k with p(k) <= k rate / n, and all below.
        #[test]
        fn discoveries_are_those_of_the_definition(p in prop::collection::vec(0.0..0.2_f64, 1..12)) {
            let n = p.len() as f64;
            let largest = (1..=p.len())
                .filter(|k| p.iter().filter(|p| **p <= 0.05 * *k as f64 / n).count() >= *k)
                .max();
            let mut found: Vec<f64> = discoveries(&p, 0.05).into_iter().map(|i| p[i]).collect();
            found.sort_by(f64::total_cmp);
            let mut all = p.clone();
            all.sort_by(f64::total_cmp);
            prop_assert_eq!(found, all[..largest.unwrap_or(0)].to_vec());
        }
    }
}
