//! The state of trials and arms in words.

use iotax_analyze::{ArmPrecondition, NotPreconditioned, Regime, TrialPoint};
use iotax_quantity::{count, time};

/// The part of a run that figures come from.
pub const fn regime(regime: Regime) -> &'static str {
    match regime {
        Regime::Sustained => "sustained",
        Regime::Burst => "burst",
        Regime::AfterChange => "after the change",
    }
}

/// Why a trial was not completed.
pub fn why(trial: &TrialPoint) -> Option<String> {
    let paused = trial.paused_ns.filter(|_| trial.why.is_none());
    trial.why.clone().or_else(|| paused.map(paused_for))
}

fn paused_for(ns: u64) -> String {
    format!("the load generator itself was paused for {}", time(ns as f64))
}

/// Why an arm was not preconditioned as requested.
pub fn not_preconditioned(arm: &ArmPrecondition) -> Option<String> {
    Some(match arm.short.as_ref()? {
        NotPreconditioned::NoSpan => "its jobs have no test area to write to".to_owned(),
        NotPreconditioned::InMemory => {
            "its target is in memory and needs no preconditioning".to_owned()
        }
        NotPreconditioned::Failed(error) => error.clone(),
        NotPreconditioned::Paused(ns) => paused_for(*ns),
        NotPreconditioned::Passes(passes) => {
            let passes =
                if *passes == 1 { "1 pass".to_owned() } else { format!("{passes} passes") };
            format!("preconditioning stopped after {passes} over the test area")
        }
        NotPreconditioned::OnlyReads => "the workload only reads".to_owned(),
        NotPreconditioned::Rounds(rounds) => {
            format!("preconditioning stopped after {}", count(*rounds, "round"))
        }
    })
}
