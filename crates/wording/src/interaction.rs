//! What two layers cost together.

use iotax_analyze::{Interaction, Metric, Verdict};
use iotax_experiment::Workload;

use crate::name;

/// What an interaction probably is; said as a guess, since throughput alone cannot prove it.
pub fn hypothesis(interaction: &Interaction, workload: &Workload) -> String {
    let probably = match interaction.verdict {
        Some(Verdict::Slower) => {
            return format!(
                "dearer together: probably both want the same CPU, or the same limit is paid for \
                 twice (as when data are encrypted twice); a guess, look at {}",
                name::metric(Metric::cpu(workload))
            );
        }
        Some(Verdict::Faster) => {
            "cheaper together: probably the bottleneck moved, so that one layer works while the \
             other is waited for; a guess"
        }
        Some(Verdict::Equivalent) => {
            "none that matters: they work one after the other, and their costs add up"
        }
        Some(Verdict::NotIndependent) => "not decided: successive blocks depend on each other",
        Some(
            Verdict::Undecided
            | Verdict::Masked
            | Verdict::EffectChanged
            | Verdict::NoInformation
            | Verdict::InsufficientTailSamples
            | Verdict::Overloaded,
        )
        | None => "not decided: the interval is too wide",
    };
    probably.to_owned()
}
