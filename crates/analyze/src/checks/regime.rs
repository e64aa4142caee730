use iotax_spec::Design;

use super::Evidence;
use crate::analysis::{Check, Warning};
use crate::words::{count, percent};

/// A downward shift that all arms share, such as the end of a credit burst.
pub(super) fn check(evidence: &Evidence<'_>) -> Vec<Warning> {
    let Some(shift) = evidence.blocks.shift else { return Vec::new() };
    let usable = evidence.trials.iter().filter(|trial| trial.usable).count();
    let is_single = evidence.experiment.spec.design == Design::Single;
    let (dropped, kept) = (evidence.blocks.dropped as u64, evidence.blocks.kept.len() as u64);
    let used = if is_single {
        "the summary averages over both levels".to_owned()
    } else {
        format!(
            "{} up to then left out, {} after it used (regime: sustained)",
            count(dropped, "block"),
            count(kept, "block")
        )
    };
    vec![Warning {
        check: Check::RegimeShift,
        arm: None,
        message: format!(
            "at trial {} of {usable} throughput fell to {} for good, in all arms alike; {used}",
            shift.slot + 1,
            percent(1.0 / shift.ratio)
        ),
        advice: "Probably burst credits ran out; early in a run it may also be a cache that filled \
                 up. What lasts is the level after the shift. To measure that level only, drain the credits first (a longer --ramp or a run \
                 before this one); to measure the burst, let the volume rest and run shorter."
            .to_owned(),
        trials: u32::try_from(usable - shift.slot.min(usable)).unwrap_or(u32::MAX),
    }]
}
