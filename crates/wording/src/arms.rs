//! A short name for several arms; in a matrix, the levels that they have in common.

use iotax_analyze::{Analysis, FactorEffects};
use iotax_quantity::{count, list};

use crate::name::printable;

/// `krb5p/4` for one arm; for several `all 8 arms`, `sec=krb5p (2 arms)`, `sec=krb5i,krb5p (4
/// arms)`, or their names.
pub fn label(names: &[&str], analysis: &Analysis) -> String {
    let counted = count(names.len() as u64, "arm");
    if let [only] = names {
        return printable(only);
    }
    let all: Vec<&str> = analysis.arms.iter().map(|arm| arm.name.as_str()).collect();
    if all.iter().all(|name| names.contains(name)) {
        return format!("all {counted}");
    }
    let is_meant: Vec<bool> = all.iter().map(|name| names.contains(name)).collect();
    let levels = analysis.matrix.as_ref().and_then(|matrix| common(matrix, &is_meant));
    printable(&levels.map_or_else(|| list(names), |levels| format!("{levels} ({counted})")))
}

/// The levels of one factor that only these arms have: `sec=krb5i,krb5p`.
fn common(matrix: &FactorEffects, is_meant: &[bool]) -> Option<String> {
    let of_factor = |factor: usize| {
        let has = |level: usize, meant: bool| {
            let mut cells = matrix.cells.iter().zip(is_meant);
            cells.any(|(cell, is)| cell[factor] == level && *is == meant)
        };
        let levels = 0..matrix.factors[factor].levels.len();
        let levels: Vec<usize> = levels.filter(|level| has(*level, true)).collect();
        levels.iter().all(|level| !has(*level, false)).then_some((factor, levels))
    };
    let (factor, levels) = (0..matrix.factors.len()).find_map(of_factor)?;
    let factor = &matrix.factors[factor];
    let names: Vec<&str> = levels.iter().map(|level| factor.levels[*level].as_str()).collect();
    Some(format!("{}={}", factor.name, names.join(",")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotax_experiment::Matrix;

    fn matrix() -> FactorEffects {
        let factors = ["sec=sys,krb5,krb5p", "nconnect=1,4"];
        let Matrix { factors, cells } = Matrix::parse(&factors, &[]).unwrap();
        FactorEffects {
            factors,
            cells,
            effects: Vec::new(),
            shifts: Vec::new(),
            interactions: Vec::new(),
            unpaired: Vec::new(),
        }
    }

    #[test]
    fn arms_are_named_by_levels_that_no_other_arm_has() {
        // sys/1, sys/4, krb5/1, krb5/4, krb5p/1, krb5p/4
        let of = |meant: [u8; 6]| common(&matrix(), &meant.map(|is| is == 1));
        assert_eq!(of([0, 0, 0, 0, 1, 1]).unwrap(), "sec=krb5p");
        assert_eq!(of([0, 0, 1, 1, 1, 1]).unwrap(), "sec=krb5,krb5p");
        assert_eq!(of([0, 1, 0, 1, 0, 1]).unwrap(), "nconnect=4");
        assert_eq!(of([0, 0, 0, 1, 1, 1]), None);
    }
}
