//! Screens a fleet in stages: a few probes of every node, then more probes of suspects.
//!
//! Centre and spread of healthy nodes come from the first stage and stay fixed. Later rounds probe
//! the suspects and randomly chosen controls among the other nodes; the controls set the level of a
//! round. A dropped node counts as healthy (p = 1), so dropping does not add false alarms. Slow
//! nodes are determined once, at the end, at a false-discovery rate over all nodes.

use crate::fleet::{Fleet, Node, Probes, discoveries};
use crate::sample::mean;

/// Number of rounds in the first stage.
pub const FIRST: usize = 4;
/// Total number of rounds at the end of each later stage, and the maximum p of its nodes.
pub const LATER: [(usize, f64); 2] = [(8, 0.2), (16, 0.05)];
/// Minimum number of controls in each later round, if there are enough other nodes.
const MIN_CONTROLS: usize = 10;

/// The state of the screening.
#[derive(Debug, Clone)]
pub struct Screening {
    first: Fleet,
    first_counts: Vec<usize>,
    sums: Vec<f64>,
    counts: Vec<usize>,
    p: Vec<f64>,
    is_open: Vec<bool>,
    stage: usize,
}

impl Screening {
    /// Starts with the first stage: the probes of each node, minus the median of their round.
    /// `None` with too few nodes, or if a node has fewer than two probes.
    pub fn of(probes: &[Vec<f64>]) -> Option<Self> {
        let summed: Vec<Probes> =
            probes.iter().map(|values| Probes::of(values)).collect::<Option<_>>()?;
        // Who is slow is not decided yet.
        let first = Fleet::of(&summed, 0.0)?;
        let p: Vec<f64> = first.nodes.iter().map(|node| node.p).collect();
        let counts: Vec<usize> = probes.iter().map(Vec::len).collect();
        let mut found = Self {
            first_counts: counts.clone(),
            sums: probes.iter().map(|values| values.iter().sum()).collect(),
            is_open: vec![true; p.len()],
            first,
            counts,
            p,
            stage: 0,
        };
        found.close();
        Some(found)
    }

    /// Nodes of the next stage; empty if there is none.
    pub fn suspects(&self) -> Vec<usize> {
        let is_over = self.stage == LATER.len();
        (0..self.p.len()).filter(|node| self.is_open[*node] && !is_over).collect()
    }

    /// Number of controls in each round of the next stage.
    pub fn controls(&self) -> usize {
        let suspects = self.suspects().len();
        MIN_CONTROLS.max(suspects / 4).min(self.p.len() - suspects)
    }

    /// Adds the rounds of the next stage: the logarithms of the figures of `controls` and suspects.
    pub fn take_in(&mut self, rounds: &[Vec<Option<f64>>], controls: &[usize]) {
        for round in rounds {
            let above: Vec<f64> = controls
                .iter()
                .filter_map(|node| Some(round[*node]? - self.expected(*node)))
                .collect();
            if above.is_empty() {
                continue;
            }
            let level = mean(&above);
            for node in self.suspects() {
                if let Some(value) = round[node] {
                    self.sums[node] += value - level;
                    self.counts[node] += 1;
                }
            }
        }
        for node in self.suspects() {
            let raw = self.sums[node] / self.counts[node] as f64 - self.first.centre;
            self.p[node] = self.first.p(raw, self.counts[node]);
        }
        self.stage += 1;
        self.close();
    }

    /// The result: the position of each node, and the slow nodes at a false-discovery rate.
    pub fn finish(&self, rate: f64) -> Fleet {
        let mut nodes: Vec<Node> = (0..self.p.len()).map(|node| self.node(node)).collect();
        let p: Vec<f64> = nodes.iter().map(|node| node.p).collect();
        for slow in discoveries(&p, rate) {
            nodes[slow].is_slow = true;
        }
        Fleet { nodes, ..self.first.clone() }
    }

    fn node(&self, node: usize) -> Node {
        let raw = self.sums[node] / self.counts[node] as f64 - self.first.centre;
        let is_in_all = self.is_open[node] && self.stage == LATER.len();
        let p = if is_in_all { self.p[node] } else { 1.0 };
        let shrunken = raw * self.first.reliability(self.counts[node]);
        Node { raw, shrunken, p, is_slow: false }
    }

    /// What a control does, by all of its probes: as the reference has it, drawn towards 0, the
    /// median of each round, by what the first stage is worth.
    fn expected(&self, node: usize) -> f64 {
        let mean = self.sums[node] / self.counts[node] as f64;
        mean * self.first.reliability(self.first_counts[node])
    }

    /// Drops the nodes that are not in the next stage.
    fn close(&mut self) {
        if let Some((_, most)) = LATER.get(self.stage) {
            for (is_open, p) in self.is_open.iter_mut().zip(&self.p) {
                *is_open &= p <= most;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NODES: usize = 40;

    fn noise(node: usize, round: usize) -> f64 {
        0.05 * (((node * 7919 + round * 104_729) % 101) as f64 / 101.0 - 0.5)
    }

    fn value(node: usize, round: usize, slow: &[usize]) -> f64 {
        noise(node, round) - if slow.contains(&node) { 0.35 } else { 0.0 }
    }

    /// All stages; the first rounds and later ones differ in their level.
    fn screened(slow: &[usize]) -> (Screening, usize) {
        let first: Vec<Vec<f64>> = (0..NODES)
            .map(|node| (0..FIRST).map(|round| value(node, round, slow)).collect())
            .collect();
        let mut found = Screening::of(&first).unwrap();
        let (mut begun, mut probes) = (FIRST, NODES * FIRST);
        for (end, _) in LATER {
            let suspects = found.suspects();
            if suspects.is_empty() {
                break;
            }
            let others = (0..NODES).filter(|node| !suspects.contains(node));
            let controls: Vec<usize> = others.take(found.controls()).collect();
            let of = |node: usize, round: usize| {
                let takes_part = suspects.contains(&node) || controls.contains(&node);
                takes_part.then(|| value(node, round, slow) - 1.5)
            };
            let rounds: Vec<Vec<Option<f64>>> = (begun..end)
                .map(|round| (0..NODES).map(|node| of(node, round)).collect())
                .collect();
            found.take_in(&rounds, &controls);
            probes += rounds.iter().flatten().flatten().count();
            begun = end;
        }
        (found, probes)
    }

    #[test]
    fn slow_nodes_get_more_probes_and_are_named() {
        let (found, probes) = screened(&[5, 17]);
        let fleet = found.finish(0.05);
        let slow: Vec<usize> = (0..NODES).filter(|node| fleet.nodes[*node].is_slow).collect();
        assert_eq!(slow, [5, 17]);
        let size = fleet.nodes[5].raw;
        assert!((-0.39..-0.31).contains(&size), "the level of later rounds is not its own: {size}");
        assert!(probes < 9 * NODES, "{probes}");
        assert_eq!(found.counts[5], 16);
        assert_eq!(found.suspects(), Vec::<usize>::new());
        // Drawn towards the centre by what its 16 probes leave uncertain.
        let between = fleet.spread.powi(2);
        let share = between / (between + fleet.within / 16.0);
        assert!((fleet.nodes[5].shrunken - size * share).abs() < 1e-12, "{:?}", fleet.nodes[5]);
    }

    #[test]
    fn a_quarter_as_many_controls_as_suspects_watch_them_as_far_as_there_are_so_many() {
        let controls = |suspects: usize| {
            let first = vec![vec![0.01, -0.01, 0.02]; 100];
            let mut found = Screening::of(&first).unwrap();
            found.is_open = (0..100).map(|node| node < suspects).collect();
            found.controls()
        };
        assert_eq!([controls(4), controls(62), controls(99)], [MIN_CONTROLS, 15, 1]);
    }

    #[test]
    fn nobody_is_named_among_equals_or_before_the_end() {
        let (found, _) = screened(&[]);
        assert!(found.finish(0.05).nodes.iter().all(|node| !node.is_slow));
        let first: Vec<Vec<f64>> = (0..NODES)
            .map(|node| (0..FIRST).map(|round| value(node, round, &[3])).collect())
            .collect();
        let found = Screening::of(&first).unwrap();
        assert!(found.suspects().contains(&3));
        assert!(found.finish(0.05).nodes.iter().all(|node| !node.is_slow));
    }
}
