//! Values of trees of files: `stat:80,open:8,list:12`.

use iotax_layers::Error;
use iotax_layers::units::{self, Unit};

use crate::tree::{Operation, OperationShare, Tree};
use crate::workload::Job;

/// The job's tree; a plain one if it has none yet.
pub(super) fn of(job: &mut Job) -> &mut Tree {
    job.tree.get_or_insert_with(Tree::default)
}

/// Operations with weights, `stat:80,open:8,list:12`.
pub(super) fn operations(job: &mut Job, text: &str) -> Result<(), Error> {
    let shares: Result<Vec<OperationShare>, Error> = text.split(',').map(share).collect();
    shares.map(|shares| of(job).operations = shares)
}

fn share(text: &str) -> Result<OperationShare, Error> {
    let Some((name, weight)) = text.split_once(':') else {
        let advice = "write each with its weight, as in stat:80,open:8,list:12";
        return Err(Unit::Operations.refuse(text, "it has no weight", advice));
    };
    let name = name.trim();
    let known = || Operation::ALL.iter().map(|operation| operation.name());
    let found = Operation::ALL.iter().find(|operation| operation.name() == name);
    let operation = *found.ok_or_else(|| Error::unknown("operation", name, known()))?;
    let weight = units::parse_count(weight)?;
    u32::try_from(weight)
        .ok()
        .filter(|weight| (1..=1000).contains(weight))
        .map(|weight| OperationShare { operation, weight })
        .ok_or_else(|| Unit::Operations.refuse(text, "weights are 1 to 1000", ""))
}

/// The text that [`operations`] reads back.
pub(crate) fn format_operations(shares: &[OperationShare]) -> String {
    let parts: Vec<_> =
        shares.iter().map(|share| format!("{}:{}", share.operation.name(), share.weight)).collect();
    parts.join(",")
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn operations_say_what_is_wrong() {
        let error = |text: &str| operations(&mut Job::new("x"), text).unwrap_err().to_string();
        assert_snapshot!(error("stat"), @"
        `stat` is not an operation with its weight: it has no weight
        write each with its weight, as in stat:80,open:8,list:12
        ");
        assert_snapshot!(error("stats:5"), @"
        unknown operation `stats`; did you mean `stat`?
        known operations: create, stat, open, list, rename, delete
        ");
        assert_snapshot!(error("stat:0"), @"`stat:0` is not an operation with its weight: weights are 1 to 1000");
        assert_snapshot!(error("stat:many"), @"
        `many` is not a whole number: it does not start with a digit
        write it in digits, as 4 or 4000
        ");
    }

    proptest! {
        #[test]
        fn operations_round_trip(weights in prop::collection::vec((0..6usize, 1..=1000u32), 1..6)) {
            let shares: Vec<_> = weights
                .into_iter()
                .map(|(i, weight)| OperationShare { operation: Operation::ALL[i], weight })
                .collect();
            let mut job = Job::new("x");
            operations(&mut job, &format_operations(&shares)).unwrap();
            prop_assert_eq!(job.tree.unwrap().operations, shares);
        }
    }
}
