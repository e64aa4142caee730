//! Effects of factors, from trials of their combinations.
//!
//! A cell is a combination of levels, one of each factor; a block has a trial of each cell. The
//! *effect* of a level is the mean, over all pairs of cells that differ in nothing else, of its
//! cell against that with the factor's first level. The pairs are fixed by the design; if a cell
//! is left out, so are its pairs. An *interaction* is an effect at one level of another
//! factor minus the same effect at that factor's first level.
//!
//! Values are logarithms, so effects are ratios. A missing value is `None`.

/// Minimum share of a contrast's pairs in a block.
const SHARE: f64 = 0.5;

/// A level of a factor, both as indices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Level {
    pub factor: usize,
    /// Index of the level.
    pub level: usize,
}

/// The combinations: the level of each factor, by cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cells(Vec<Vec<usize>>);

impl Cells {
    /// `cells[c][f]` is the level of factor `f` in cell `c`. All cells have the same number of
    /// factors.
    pub fn new(cells: Vec<Vec<usize>>) -> Self {
        Self(cells)
    }

    /// All levels except the first of each factor, in order.
    pub fn levels(&self) -> Vec<Level> {
        let factors = self.0.first().map_or(0, Vec::len);
        let last = |factor: usize| self.0.iter().map(|cell| cell[factor]).max().unwrap_or(0);
        (0..factors)
            .flat_map(|factor| (1..=last(factor)).map(move |level| Level { factor, level }))
            .collect()
    }

    /// Each cell with `level`, paired with the cell that differs only in having the first level.
    pub fn pairs(&self, level: Level) -> Vec<[usize; 2]> {
        let with = self.0.iter().enumerate().filter(|(_, cell)| cell[level.factor] == level.level);
        with.filter_map(|(with, cell)| {
            let mut other = cell.clone();
            other[level.factor] = 0;
            Some([with, self.0.iter().position(|cell| *cell == other)?])
        })
        .collect()
    }

    /// The pairs of `level` whose cells have the level `at` of another factor, and those that have
    /// the first level of that one.
    pub fn pairs_at(&self, level: Level, at: Level) -> [Vec<[usize; 2]>; 2] {
        [at.level, 0].map(|wanted| {
            let mut pairs = self.pairs(level);
            pairs.retain(|[with, _]| self.0[*with][at.factor] == wanted);
            pairs
        })
    }
}

/// The mean over `pairs` for each block, with the block's index. Each pair is centred on its own
/// mean, so that a missing pair does not bias the result. Blocks with less than half of the pairs
/// are left out. The result is empty if a pair was never measured.
pub fn contrast(blocks: &[Vec<Option<f64>>], pairs: &[[usize; 2]]) -> Option<Vec<(usize, f64)>> {
    let kept: Vec<(usize, Vec<Option<f64>>)> = blocks
        .iter()
        .map(|block| pairs.iter().map(|[a, b]| Some(block[*a]? - block[*b]?)).collect())
        .enumerate()
        .filter(|(_, ratios): &(usize, Vec<Option<f64>>)| {
            let known = ratios.iter().flatten().count();
            known as f64 >= SHARE * pairs.len() as f64
        })
        .collect();
    let of_pair = |pair: usize| mean(kept.iter().filter_map(|(_, ratios)| ratios[pair]));
    let own: Vec<f64> = (0..pairs.len()).map(of_pair).collect::<Option<_>>()?;
    let centre = mean(own.iter().copied())?;
    let of_block = |(block, ratios): &(usize, Vec<Option<f64>>)| {
        let off = ratios.iter().zip(&own).filter_map(|(ratio, own)| Some((*ratio)? - own));
        Some((*block, mean(off)? + centre))
    };
    kept.iter().map(of_block).collect()
}

/// The interaction in each block that has all pairs of both kinds, with the block's index.
pub fn interaction(
    blocks: &[Vec<Option<f64>>],
    [at, at_first]: &[Vec<[usize; 2]>; 2],
) -> Vec<(usize, f64)> {
    let of = |block: &[Option<f64>], pairs: &[[usize; 2]]| {
        let ratios: Option<Vec<f64>> =
            pairs.iter().map(|[a, b]| Some(block[*a]? - block[*b]?)).collect();
        mean(ratios?.into_iter())
    };
    let all = blocks.iter().enumerate();
    all.filter_map(|(index, block)| Some((index, of(block, at)? - of(block, at_first)?))).collect()
}

/// `None` for an empty input.
fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (count, sum) = values.fold((0_u32, 0.0), |(count, sum), value| (count + 1, sum + value));
    (count > 0).then(|| sum / f64::from(count))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cells(levels: [usize; 3], left_out: &[usize]) -> Cells {
        let [a, b, c] = levels;
        let all = (0..a * b * c).map(|i| vec![i / (b * c), i / c % b, i % c]);
        let kept = all.enumerate().filter(|(i, _)| !left_out.contains(i));
        Cells::new(kept.map(|(_, cell)| cell).collect())
    }

    #[test]
    fn a_cell_that_was_left_out_takes_its_pairs_with_it() {
        let level = |factor, level| Level { factor, level };
        let all = cells([2, 3, 1], &[]);
        assert_eq!(all.levels(), [level(0, 1), level(1, 1), level(1, 2)]);
        assert_eq!(all.pairs(level(0, 1)), [[3, 0], [4, 1], [5, 2]]);
        assert_eq!(all.pairs_at(level(0, 1), level(1, 2)), [vec![[5, 2]], vec![[3, 0]]]);
        assert_eq!(cells([2, 3, 1], &[2]).pairs(level(0, 1)), [[2, 0], [3, 1]]);
    }

    #[test]
    fn a_pair_that_was_never_measured_leaves_nothing_to_say() {
        let blocks = vec![vec![Some(1.0), None, Some(2.0), Some(2.0)]; 4];
        assert_eq!(contrast(&blocks, &[[2, 0], [3, 1]]), None);
        assert_eq!(contrast(&blocks, &[]), None);
        assert_eq!(contrast(&blocks, &[[2, 0]]).unwrap()[3], (3, 1.0));
    }

    proptest! {
        /// Without anything missing the effects of a model that adds up come out as they went in,
        /// whatever cells were left out.
        #[test]
        fn effects_that_add_up_are_found_as_they_are(
            effects in prop::array::uniform3(prop::array::uniform3(-1.0..1.0_f64)),
            left_out in prop::collection::vec(1..12_usize, 0..4),
        ) {
            let cells = cells([3, 2, 2], &left_out);
            let of = |cell: &Vec<usize>| {
                cell.iter().zip(&effects).map(|(level, own)| own[*level]).sum::<f64>()
            };
            let blocks = vec![cells.0.iter().map(|cell| Some(of(cell))).collect::<Vec<_>>(); 3];
            for level in cells.levels() {
                let pairs = cells.pairs(level);
                if pairs.is_empty() {
                    continue;
                }
                let own = effects[level.factor];
                for (_, found) in contrast(&blocks, &pairs).unwrap() {
                    prop_assert!((found - (own[level.level] - own[0])).abs() < 1e-9);
                }
            }
        }
    }
}
