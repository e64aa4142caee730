//! Names that nothing else has.

use std::collections::{HashMap, HashSet};

/// Gives each thing a name of its own, in time that does not grow with how many there are.
#[derive(Debug, Default)]
pub(crate) struct Names {
    taken: HashSet<String>,
    /// The last number given to a name that comes again.
    numbers: HashMap<String, u64>,
}

impl Names {
    /// With a name that is taken already.
    pub(crate) fn without(reserved: &str) -> Self {
        Self { taken: HashSet::from([reserved.to_owned()]), ..Self::default() }
    }

    /// The name, or the first of `name-2`, `name-3`, ... that is not taken.
    pub(crate) fn take(&mut self, wanted: &str) -> String {
        let mut name = wanted.to_owned();
        while !self.taken.insert(name.clone()) {
            let number = self.numbers.entry(wanted.to_owned()).or_insert(1);
            *number += 1;
            name = format!("{wanted}-{number}");
        }
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_come_again_are_numbered_past_those_that_are_taken() {
        let mut names = Names::without("index");
        let given: Vec<_> =
            ["a", "a-2", "a", "index", "a"].iter().map(|name| names.take(name)).collect();
        assert_eq!(given, ["a", "a-2", "a-3", "index-2", "a-4"]);
    }
}
