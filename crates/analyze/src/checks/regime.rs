use iotax_spec::Design;

use super::Evidence;
use crate::analysis::{Check, Warning};
use crate::stats::rci::MIN_BLOCKS;
use crate::words::{count, percent};

const ENDED: &str = "Probably burst credits ran out; early in a run it may also be a cache that \
                     filled up. What lasts is the level after the shift. To measure that level \
                     only, drain the credits first (a longer --ramp or a run before this one); to \
                     measure the burst, let the volume rest and run shorter.";
const LATE: &str = "Measure more blocks (--max-blocks): if throughput comes back, the blocks before \
                    are used again; if it stays, burst credits ran out and only the level after \
                    the shift counts.";

/// A downward shift that all arms share, such as the end of a credit burst.
pub(super) fn check(evidence: &Evidence<'_>) -> Vec<Warning> {
    let Some(shift) = evidence.blocks.shift else { return Vec::new() };
    let usable = evidence.trials.iter().filter(|trial| trial.usable).count();
    let is_single = evidence.experiment.spec.design == Design::Single;
    let (dropped, kept) = (evidence.blocks.dropped as u64, evidence.blocks.kept.len() as u64);
    // What is left after it is too little for the first look: the level may not last.
    let is_late = !is_single && kept < MIN_BLOCKS as u64;
    let used = if is_single {
        "the summary averages over both levels".to_owned()
    } else if is_late {
        format!(
            "{} up to then left out, {} after it: too few for a verdict, and to tell whether it \
             stays so",
            count(dropped, "block"),
            count(kept, "block")
        )
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
            "at trial {} of {usable} throughput fell to {}{}, in all arms alike; {used}",
            shift.slot + 1,
            percent(1.0 / shift.ratio),
            if is_late { "" } else { " for good" }
        ),
        advice: if is_late { LATE } else { ENDED }.to_owned(),
        trials: u32::try_from(usable - shift.slot.min(usable)).unwrap_or(u32::MAX),
    }]
}
