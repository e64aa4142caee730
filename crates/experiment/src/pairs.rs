//! Which arms are compared: all with the first one, or each with its own baseline.

use iotax_layers::Error;

use crate::spec::{Arm, Draft};

const SHAPE: &str = "specify a baseline and the arms to compare with it, as in --pair aks,c-azure";

impl Draft {
    /// Baseline and arm of each comparison, by index, in the order of the arms.
    pub fn pairs(&self) -> Vec<[usize; 2]> {
        let place = |name: &str| self.arms.iter().position(|arm| arm.name == name);
        let arms = || self.arms.iter().enumerate();
        if arms().all(|(_, arm)| arm.against.is_none()) {
            return (1..self.arms.len()).map(|arm| [0, arm]).collect();
        }
        arms().filter_map(|(at, arm)| Some([place(arm.against.as_deref()?)?, at])).collect()
    }
}

/// Sets the baselines of arms from `texts`: `aks,c-azure`, the baseline first.
///
/// # Errors
/// Text that is not a pair, an unknown arm, or an arm in no pair or with two baselines.
pub fn pair_arms<S: AsRef<str>>(arms: &mut [Arm], texts: &[S]) -> Result<(), Error> {
    let mut is_baseline = vec![false; arms.len()];
    for text in texts {
        let names: Vec<&str> = text.as_ref().split(',').map(str::trim).collect();
        let [first, others @ ..] = names.as_slice() else { continue };
        if others.is_empty() {
            return Err(Error::syntax(format!("`{first}` alone is not a pair"), SHAPE));
        }
        let place = |name: &str, arms: &[Arm]| {
            let known = || arms.iter().map(|arm| arm.name.as_str());
            let at = known().position(|known| known == name);
            at.ok_or_else(|| Error::unknown("arm", name, known()))
        };
        is_baseline[place(first, arms)?] = true;
        for name in others {
            let at = place(name, arms)?;
            if name == first {
                return Err(Error::syntax(format!("`{name}` is paired with itself"), SHAPE));
            }
            if arms[at].against.replace((*first).to_owned()).is_some() {
                let problem = format!("`{name}` has two baselines");
                return Err(Error::syntax(problem, "give each arm only one baseline"));
            }
        }
    }
    let is_alone =
        |at: &usize| !texts.is_empty() && !is_baseline[*at] && arms[*at].against.is_none();
    match (0..arms.len()).find(is_alone) {
        Some(at) => {
            let problem = format!("`{}` is not part of any pair", arms[at].name);
            Err(Error::syntax(problem, "add a --pair with this arm, or leave the arm out"))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use proptest::prelude::*;

    use super::*;
    use crate::target::parse_arms;

    fn paired(texts: &[&str]) -> Result<String, Error> {
        let mut arms = parse_arms(["a=/a", "b=/b", "c=/c", "d=/d"])?;
        pair_arms(&mut arms, texts)?;
        let against = arms.iter().map(|arm| arm.against.as_deref().unwrap_or("-"));
        Ok(against.collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn each_arm_has_its_own_baseline() {
        assert_eq!(paired(&[]).unwrap(), "- - - -");
        assert_eq!(paired(&["a,b", "c, d"]).unwrap(), "- a - c");
        assert_eq!(paired(&["d,a,b", "a,c"]).unwrap(), "d d a -");
    }

    #[test]
    fn what_is_no_pair_is_told_why() {
        let error = |texts: &[&str]| paired(texts).unwrap_err().to_string();
        assert_snapshot!(error(&["a"]), @"
        `a` alone is not a pair
        specify a baseline and the arms to compare with it, as in --pair aks,c-azure
        ");
        assert_snapshot!(error(&["a,x"]), @"
        unknown arm `x`
        known arms: a, b, c, d
        ");
        assert_snapshot!(error(&["a,a"]), @"
        `a` is paired with itself
        specify a baseline and the arms to compare with it, as in --pair aks,c-azure
        ");
        assert_snapshot!(error(&["a,b", "c,b"]), @"
        `b` has two baselines
        give each arm only one baseline
        ");
        assert_snapshot!(error(&["a,b", "a,c"]), @"
        `d` is not part of any pair
        add a --pair with this arm, or leave the arm out
        ");
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(texts in prop::collection::vec("[abcdx, ]{0,6}", 0..4)) {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let _ = paired(&texts);
        }
    }
}
