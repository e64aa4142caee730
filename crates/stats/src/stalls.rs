//! Handles measurements in which nothing completed: they are censored, not missing.
//!
//! Such a measurement was slower than one operation per window, `X < L`, by an unknown amount. If
//! it were left out, the worst case would not count. If it were set to L, a t test would exceed its
//! error rate (6.7 % at a nominal 5 %, with both arms stalling in half of them). Signs need no
//! size. The order within each block is random, so if the arms are equal, the sign of `d` is a fair
//! coin in each block, regardless of drift. So is which of the two stalled if exactly one did.
//! Orders are not drawn independently: the second block of a pair runs the arms of the first in
//! reverse. If only place or a linear drift decides the sign, the two blocks of a pair disagree, so
//! many equal signs are less likely than with coins. Two sequential sign tests, each at half the
//! error rate, one for each.

use crate::verdict::Sign;

/// Maximum number of blocks of the tests.
pub const MAX_BLOCKS: usize = 40;
/// Share of the error rate spent at the first look that can decide.
const SPENT_FIRST: f64 = 0.65;

/// Which signs count as evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sides {
    /// One sign, chosen in advance.
    One,
    /// Either sign.
    Two,
}

/// `c[n]`: number of equal signs among `n` at which the test rejects, with a look after every sign,
/// at the overall level `alpha`; `n + 1` if none does. Computed by exact recursion over the paths
/// that have not rejected yet: 0.65 alpha is spent at the first possible n, the rest evenly up to
/// 40.
pub fn boundary(alpha: f64, sides: Sides) -> Vec<usize> {
    let factor = if sides == Sides::Two { 2.0 } else { 1.0 };
    let first = (1..=40)
        .find(|n| factor * 0.5_f64.powi(*n) <= SPENT_FIRST * alpha)
        .and_then(|n| usize::try_from(n).ok())
        .unwrap_or(MAX_BLOCKS);
    // Probability of each number of plus signs, of those paths that go on.
    let (mut alive, mut spent, mut cuts) = (vec![1.0], 0.0, vec![1]);
    for n in 1..=MAX_BLOCKS {
        let at = |k: usize| alive.get(k).copied().unwrap_or(0.0);
        alive = (0..=n).map(|k| 0.5 * (at(k) + k.checked_sub(1).map_or(0.0, at))).collect();
        let rest = MAX_BLOCKS.saturating_sub(first).max(1) as f64;
        let late = (1.0 - SPENT_FIRST) * n.saturating_sub(first) as f64 / rest;
        let budget = if n < first { 0.0 } else { alpha * (SPENT_FIRST + late) };
        let rejects = |k: usize, cut: usize| k >= cut || (sides == Sides::Two && n - k >= cut);
        let cost = |cut: usize| (0..=n).filter(|k| rejects(*k, cut)).map(|k| alive[k]).sum::<f64>();
        let affordable = |cut: &usize| spent + cost(*cut) <= budget + 1e-12;
        let cut = (n / 2 + 1..=n).rev().take_while(affordable).last().unwrap_or(n + 1);
        spent += cost(cut);
        (0..=n).filter(|k| rejects(*k, cut)).for_each(|k| alive[k] = 0.0);
        cuts.push(cut);
    }
    cuts
}

/// Throughput of one measurement in operations per second; `None`: it stalled.
pub type Rate = Option<f64>;

/// The result of both tests for an arm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StallTest {
    /// Their common direction; `None` if there is none yet, or they contradict each other.
    pub sign: Option<Sign>,
    /// Whether the sign of the difference decides.
    pub by_sign: bool,
    /// Whether the number of stalls decides.
    pub by_stalls: bool,
    /// Number of blocks that show which of the two was slower.
    pub informative: usize,
    /// Number of these in which the arm was slower.
    pub worse: usize,
    /// Number of equal signs that the first test requires.
    pub needed: usize,
    /// Lower bound on the median factor by which it is slower (or faster); 1 if unknown.
    pub factor: f64,
    /// Stalled measurements of the arm.
    pub arm_stalls: usize,
    /// Stalled measurements of the baseline.
    pub base_stalls: usize,
    pub blocks: usize,
    /// Number of further blocks that would decide if they continue as most so far; `None` if none
    /// would.
    pub more_blocks: Option<usize>,
}

/// The difference in a block in which an arm may have stalled.
#[derive(Debug, Clone, Copy)]
struct Block {
    /// `ln(arm / base)`, both at least the limit.
    d: f64,
    arm_stalled: bool,
    base_stalled: bool,
}

impl StallTest {
    /// Tests `blocks`, each the arm's rate and the baseline's. `limit`: the throughput that a
    /// stalled one stayed below. `alpha`: of both tests together.
    pub fn of(blocks: &[(Rate, Rate)], limit: f64, alpha: f64) -> Self {
        let blocks: Vec<Block> = blocks
            .iter()
            .map(|(arm, base)| {
                let floored = |rate: &Rate| rate.map_or(limit, |x| x.max(limit));
                let d = (floored(arm) / floored(base)).ln();
                Block { d, arm_stalled: arm.is_none(), base_stalled: base.is_none() }
            })
            .collect();
        let boundary = boundary(alpha / 2.0, Sides::Two);
        let cut = |n: usize| boundary.get(n).copied().unwrap_or(n + 1);
        let is_informative = |b: &&Block| !(b.arm_stalled && b.base_stalled) && b.d != 0.0;
        // What was decided by the last of them stands, however many follow.
        let informative: Vec<Block> =
            blocks.iter().filter(is_informative).take(MAX_BLOCKS).copied().collect();
        let (n, worse) = (informative.len(), informative.iter().filter(|b| b.d < 0.0).count());
        let alone = blocks.iter().filter(|b| b.arm_stalled != b.base_stalled).take(MAX_BLOCKS);
        let (arm_alone, base_alone) =
            alone.fold(
                (0, 0),
                |(arm, base), b| if b.arm_stalled { (arm + 1, base) } else { (arm, base + 1) },
            );
        let one_stalled = arm_alone + base_alone;
        let slower = worse >= cut(n);
        let faster = n - worse >= cut(n);
        let stalls_more = one_stalled > 0 && arm_alone >= cut(one_stalled);
        let stalls_less = one_stalled > 0 && base_alone >= cut(one_stalled);
        let by_sign = match (slower, faster) {
            (true, _) => Some(Sign::Slower),
            (_, true) => Some(Sign::Faster),
            _ => None,
        };
        let sign = match (slower || stalls_more, faster || stalls_less) {
            (true, false) => Some(Sign::Slower),
            (false, true) => Some(Sign::Faster),
            _ => None,
        };
        let more = |k: usize| {
            let most = worse.max(n - worse) + k;
            let stalls = arm_alone.max(base_alone) + k;
            n + k <= MAX_BLOCKS && most >= cut(n + k)
                || one_stalled > 0 && stalls >= cut(one_stalled + k)
        };
        Self {
            sign,
            by_sign: by_sign.is_some(),
            by_stalls: stalls_more || stalls_less,
            informative: n,
            worse,
            needed: cut(n),
            factor: factor(&informative, cut(n), by_sign),
            arm_stalls: blocks.iter().filter(|b| b.arm_stalled).count(),
            base_stalls: blocks.iter().filter(|b| b.base_stalled).count(),
            blocks: blocks.len(),
            more_blocks: (1..=MAX_BLOCKS).find(|k| more(*k)).filter(|_| n > 0),
        }
    }

    /// Whether both arms stalled in all blocks, so that nothing can be concluded.
    pub fn has_no_information(&self) -> bool {
        self.informative == 0
    }
}

/// A distribution-free bound on the median ratio: the `cut`-th of the differences in the direction
/// of the verdict, each at its end nearer to the other arm; where only the other one stalled, that
/// end is unknown.
fn factor(informative: &[Block], cut: usize, sign: Option<Sign>) -> f64 {
    let towards = |sign: f64, is_unknown: fn(&Block) -> bool| {
        let end = |b: &Block| if is_unknown(b) { f64::INFINITY } else { sign * b.d };
        let mut ends: Vec<f64> = informative.iter().map(end).collect();
        ends.sort_by(f64::total_cmp);
        ends.get(cut - 1).map_or(1.0, |end| (-end.min(0.0)).exp())
    };
    match sign {
        Some(Sign::Slower) => towards(1.0, |b| b.base_stalled),
        Some(Sign::Faster) => towards(-1.0, |b| b.arm_stalled),
        None => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: f64 = 0.2;

    fn test(blocks: &[(Rate, Rate)]) -> StallTest {
        StallTest::of(blocks, LIMIT, 0.05)
    }

    #[test]
    fn a_total_stall_takes_seven_blocks() {
        let stalled = (None, Some(1_000.0));
        let three = test(&[stalled; 3]);
        assert_eq!((three.sign, three.more_blocks), (None, Some(4)));
        let seven = test(&[stalled; 7]);
        assert_eq!((seven.sign, seven.arm_stalls, seven.base_stalls), (Some(Sign::Slower), 7, 0));
        assert!((seven.factor - 5_000.0).abs() < 1e-6, "{seven:?}");
        let mirrored = test(&[(Some(1_000.0), None); 7]);
        assert_eq!(mirrored.sign, Some(Sign::Faster));
        assert!((mirrored.factor - 5_000.0).abs() < 1e-6, "{mirrored:?}");
    }

    #[test]
    fn blocks_in_which_both_stalled_tell_nothing() {
        let nothing = test(&[(None, None); 3]);
        assert!(nothing.has_no_information());
        assert_eq!((nothing.sign, nothing.more_blocks, nothing.arm_stalls), (None, None, 3));
    }

    #[test]
    fn an_arm_that_stalls_but_is_faster_otherwise_is_undecided() {
        let mut blocks = vec![(None, Some(1_000.0)); 7];
        blocks.extend([(Some(2_000.0), Some(1_000.0)); 33]);
        let found = test(&blocks);
        assert!(found.by_sign && found.by_stalls);
        assert_eq!(found.sign, None, "{found:?}");
    }

    #[test]
    fn equal_rates_tell_nothing_and_blocks_after_the_last_change_nothing() {
        let equal = test(&[(Some(5.0), Some(5.0)), (Some(4.0), Some(5.0))]);
        assert_eq!((equal.informative, equal.worse), (1, 1));
        for more in [0, 1, 20] {
            let long = test(&vec![(Some(4.0), Some(5.0)); MAX_BLOCKS + more]);
            assert_eq!((long.sign, long.informative), (Some(Sign::Slower), MAX_BLOCKS));
            let stalled = test(&vec![(None, Some(5.0)); MAX_BLOCKS + more]);
            assert!(stalled.by_stalls && stalled.blocks == MAX_BLOCKS + more, "{stalled:?}");
        }
    }

    #[test]
    fn what_would_decide_is_counted_of_signs_and_of_stalls() {
        let (worse, better) = ((Some(1.0), Some(2.0)), (Some(2.0), Some(1.0)));
        assert_eq!(test(&[worse; 3]).more_blocks, Some(4), "by signs alone");
        let even = |pairs: usize| [worse, better].repeat(pairs);
        let cuts = boundary(0.025, Sides::Two);
        let needed = (1..=30).find(|k| 5 + k >= cuts[10 + k]);
        assert!(needed.is_some_and(|k| k > 4), "{needed:?}");
        assert_eq!(test(&even(5)).more_blocks, needed);
        assert_eq!(test(&even(18)).more_blocks, None, "no stall, and too few blocks are left");
        let stalled = [vec![(None, Some(1.0)); 3], even(16)].concat();
        assert_eq!(test(&stalled).more_blocks, Some(4), "by who stalls alone");
    }

    #[test]
    fn a_smaller_error_rate_asks_for_more() {
        let four_arms = StallTest::of(&[(None, Some(9.0)); 7], LIMIT, 0.05 / 4.0);
        assert_eq!((four_arms.sign, four_arms.more_blocks), (None, Some(2)));
    }
}
