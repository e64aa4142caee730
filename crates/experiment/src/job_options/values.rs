//! Values with their own syntax: block sizes and rates.

use iotax_layers::Error;
use iotax_layers::units::{self, Unit};

use crate::tree::{Operation, OperationShare, Tree};
use crate::workload::{BlockSizes, Job, Pace, Share};

/// Bytes that fit 32 bits.
pub(super) fn small_bytes(text: &str) -> Result<u32, Error> {
    let bytes = units::parse_bytes(text)?;
    u32::try_from(bytes).map_err(|_| Unit::Size.refuse(text, "it must be smaller than 4G", ""))
}

/// A count that fits 32 bits.
pub(super) fn small(text: &str) -> Result<u32, Error> {
    let count = units::parse_count(text)?;
    u32::try_from(count).map_err(|_| Unit::Count.refuse(text, "it is too large", ""))
}

/// `70` or `70%`.
pub(super) fn percent(text: &str) -> Result<u8, Error> {
    let digits = text.trim().strip_suffix('%').unwrap_or(text);
    let percent = units::parse_count(digits)?;
    u8::try_from(percent)
        .ok()
        .filter(|percent| *percent <= 100)
        .ok_or_else(|| Unit::Percent.refuse(text, "it is above 100", "specify 0 to 100"))
}

/// `4k`, fio's `bsrange` form `4k-1M`, or fio's `bssplit` form `4k/60:64k/40`.
pub(super) fn block_sizes(text: &str) -> Result<BlockSizes, Error> {
    if text.contains('/') {
        return text.split(':').map(share).collect::<Result<_, _>>().map(BlockSizes::Split);
    }
    match text.split_once('-') {
        Some((min, max)) if !min.is_empty() => {
            Ok(BlockSizes::Range { min: small_bytes(min)?, max: small_bytes(max)? })
        }
        _ => small_bytes(text).map(BlockSizes::Fixed),
    }
}

fn share(text: &str) -> Result<Share, Error> {
    let Some((size, weight)) = text.split_once('/') else {
        let advice = "specify a split as SIZE/PERCENT, as in 4k/60:64k/40";
        return Err(Unit::BlockSizes.refuse(text, "the percentage is missing", advice));
    };
    Ok(Share { bytes: small_bytes(size)?, percent: percent(weight)? })
}

/// The text that [`block_sizes`] reads back.
pub(crate) fn format_block_sizes(sizes: &BlockSizes) -> String {
    let bytes = |bytes: u32| units::format_bytes(bytes.into());
    match sizes {
        BlockSizes::Fixed(size) => bytes(*size),
        BlockSizes::Range { min, max } => format!("{}-{}", bytes(*min), bytes(*max)),
        BlockSizes::Split(shares) => {
            let parts: Vec<_> = shares
                .iter()
                .map(|share| format!("{}/{}", bytes(share.bytes), share.percent))
                .collect();
            parts.join(":")
        }
    }
}

/// `closed`, `50`, `even:50` or `poisson:50` (fio: `rate_iops` and `rate_process`).
pub(super) fn pace(text: &str) -> Result<Pace, Error> {
    let text = text.trim();
    if text == "closed" {
        return Ok(Pace::Closed);
    }
    match text.split_once(':') {
        None => units::parse_iops(text).map(|iops| Pace::Even { iops }),
        Some(("even", rate)) => units::parse_iops(rate).map(|iops| Pace::Even { iops }),
        Some(("poisson", rate)) => units::parse_iops(rate).map(|iops| Pace::Poisson { iops }),
        Some((other, _)) => {
            let advice = "use closed, 50, even:50 or poisson:50";
            Err(Unit::Pace.refuse(text, format!("unknown arrival process `{other}`"), advice))
        }
    }
}

/// The tree of the job; the default one if it has none yet.
pub(super) fn tree_of(job: &mut Job) -> &mut Tree {
    job.tree.get_or_insert_with(Tree::default)
}

/// Operations with weights, `stat:80,open:8,list:12`.
pub(super) fn operations(job: &mut Job, text: &str) -> Result<(), Error> {
    let shares: Result<Vec<OperationShare>, Error> = text.split(',').map(operation_share).collect();
    shares.map(|shares| tree_of(job).operations = shares)
}

fn operation_share(text: &str) -> Result<OperationShare, Error> {
    let Some((name, weight)) = text.split_once(':') else {
        let advice = "specify each operation with its weight, as in stat:80,open:8,list:12";
        return Err(Unit::Operations.refuse(text, "the weight is missing", advice));
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
        .ok_or_else(|| Unit::Operations.refuse(text, "the weight must be from 1 to 1000", ""))
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
    fn block_sizes_take_fios_forms() {
        assert_eq!(block_sizes("4k"), Ok(BlockSizes::Fixed(4096)));
        assert_eq!(block_sizes("4K-1M"), Ok(BlockSizes::Range { min: 4096, max: 1 << 20 }));
        let split = BlockSizes::Split(vec![
            Share { bytes: 4096, percent: 60 },
            Share { bytes: 65_536, percent: 40 },
        ]);
        assert_eq!(block_sizes("4k/60:64k/40%"), Ok(split));
    }

    #[test]
    fn paces_are_closed_even_or_poisson() {
        assert_eq!(pace("closed"), Ok(Pace::Closed));
        assert_eq!(pace("50"), Ok(Pace::Even { iops: 50.0 }));
        assert_eq!(pace("even:2k"), Ok(Pace::Even { iops: 2000.0 }));
        assert_eq!(pace("poisson:0.5"), Ok(Pace::Poisson { iops: 0.5 }));
    }

    #[test]
    fn values_say_what_is_wrong() {
        assert_snapshot!(block_sizes("4k/60:64k").unwrap_err(), @"
        `64k` is not a block size: the percentage is missing
        specify a split as SIZE/PERCENT, as in 4k/60:64k/40
        ");
        assert_snapshot!(block_sizes("8G").unwrap_err(), @"`8G` is not a size: it must be smaller than 4G");
        assert_snapshot!(block_sizes("-4k").unwrap_err(), @"
        `-4k` is not a size: it is negative
        specify a size as 4k, 64M, 2G or 4096 (suffixes are powers of 1024)
        ");
        assert_snapshot!(percent("170").unwrap_err(), @"
        `170` is not a percentage: it is above 100
        specify 0 to 100
        ");
        assert_snapshot!(pace("uniform:5").unwrap_err(), @"
        `uniform:5` is not a rate: unknown arrival process `uniform`
        use closed, 50, even:50 or poisson:50
        ");
    }

    fn any_block_sizes() -> impl Strategy<Value = BlockSizes> {
        let share = (any::<u32>(), 0..=100u8).prop_map(|(bytes, percent)| Share { bytes, percent });
        prop_oneof![
            any::<u32>().prop_map(BlockSizes::Fixed),
            any::<(u32, u32)>().prop_map(|(min, max)| BlockSizes::Range { min, max }),
            proptest::collection::vec(share, 1..4).prop_map(BlockSizes::Split),
        ]
    }

    proptest! {
        #[test]
        fn block_sizes_round_trip(sizes in any_block_sizes()) {
            prop_assert_eq!(block_sizes(&format_block_sizes(&sizes)), Ok(sizes));
        }

        #[test]
        fn no_text_panics(text in prop_oneof![".*", "[0-9kM/:.%-]*"]) {
            let _ = block_sizes(&text);
            let _ = pace(&text);
            let _ = percent(&text);
        }
    }
}

#[cfg(test)]
mod tree_tests {
    use insta::assert_snapshot;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn operations_say_what_is_wrong() {
        let error = |text: &str| operations(&mut Job::new("x"), text).unwrap_err().to_string();
        assert_snapshot!(error("stat"), @"
        `stat` is not an operation with a weight: the weight is missing
        specify each operation with its weight, as in stat:80,open:8,list:12
        ");
        assert_snapshot!(error("stats:5"), @"
        unknown operation `stats`; did you mean `stat`?
        known operations: create, stat, open, list, rename, delete
        ");
        assert_snapshot!(error("stat:0"), @"`stat:0` is not an operation with a weight: the weight must be from 1 to 1000");
        assert_snapshot!(error("stat:many"), @"
        `many` is not a whole number: it does not start with a digit
        use only digits, such as 4 or 4000
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
