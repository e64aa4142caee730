//! What it takes to decide a rule at all, whatever is measured.

use iotax_experiment::rule::Condition;
use iotax_experiment::{Draft, Rule};
use iotax_stats::design::Design;
use iotax_stats::unpaired::MIN_RESULTS;

use crate::method::FIRST_LOOK;

/// Blocks of a run, of saved results results of an arm, below which nothing decides a rule.
pub fn fewest(spec: &Draft, rule: &Rule) -> u32 {
    let fewest = match rule.condition {
        Condition::SlowerBy(_) if spec.is_of_results() => MIN_RESULTS,
        // Each order of the arms has to be there twice.
        Condition::SlowerBy(_) => FIRST_LOOK,
        Condition::Figure { .. } | Condition::BelowDocumented(_) => {
            Design::with_max_blocks(spec.stop.max_blocks as usize).looks()[0]
        }
    };
    u32::try_from(fewest).unwrap_or(u32::MAX)
}
