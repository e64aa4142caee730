//! Records to analysis: intervals, verdicts, taxes, warnings. Pure.
#![forbid(unsafe_code)]

mod analysis;
mod analyzer;
mod attribution;
mod blocks;
mod bound;
mod change;
mod checks;
mod compare;
mod conclude;
mod counters;
mod described;
mod drain;
mod effect;
mod evidence;
mod facts;
mod family;
mod masked;
mod matrix;
mod method;
mod metrics;
mod missing;
mod network;
mod nodes;
mod outliers;
mod phases;
mod place;
mod pool;
mod pooled;
mod precondition;
mod progress;
mod questions;
mod resolution;
mod results;
mod row;
mod rules;
mod screened;
mod seconds;
mod slow_mode;
mod spread;
mod stalled;
mod stand_in;
mod state;
mod summary;
mod taken;
mod targets;

pub use analysis::{
    Against, Analysis, ArmDepths, ArmDrain, ArmPrecondition, ArmSummary, ArmTax, Attribution, Cap,
    Comparison, DepthLevel, DepthResponse, EffectChange, Ending, Estimate, FORMAT, FactorEffect,
    FactorEffects, FactorInteraction, FactorShift, FleetCost, FoundDepth, Interaction, JobSummary,
    Judgment, LayerCost, Missing, NetworkLoad, NetworkSummary, OperationSummary, Outlier, Outliers,
    PlaceEffect, QuantilePoint, Rates, RuleOpen, SlowMode, Stalls, Steadiness, SyncSummary,
    TargetPoint, TargetSummary, TrialPoint, Work,
};
pub use analysis::{
    CacheWay, Check, ColdCache, Doubt, DoubtKind, GrantedOption, GrantedOtherwise, InFlight,
    LevelShift, NoAnswer, NotPreconditioned, OpenQuestion, Outlook, Regime, TrialOutcome, Withheld,
};
pub use analyzer::Analyzer;
pub use counters::{
    CounterLine, CounterSeries, CounterSummary, CpuFigures, DeviceFigures, DeviceSummary,
    DirectionFigures, InterfaceFigures, InterfaceSummary, Interval, IntervalDevice, MemoryFigures,
    NfsClientFigures, NfsFigures, NfsMountSummary, NfsSummary, NfsTransportFigures,
    PressureFigures, QdiscFigures, QdiscSummary, Quantity, StallFigures, WayFigures, intervals,
};
pub use drain::drain_spec;
pub use effect::{Effect, On, log_factor};
pub use iotax_stats::verdict::Verdict;
pub use masked::{below_the_cap, depth_check, longest_below_the_cap, longest_depth_check};
pub use method::FIRST_LOOK;
pub use metrics::{Better, Metric, Unit};
pub use phases::{Phases, Sustained};
pub use precondition::{PASSES, precondition_spec};
pub use progress::{ArmProgress, Progress};
pub use rules::fewest;
pub use screened::is_population;
pub use seconds::Spread;
pub use spread::LatencySpread;

/// As many as that; more than anybody counts are as many as fit.
pub(crate) fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
