//! What must not come out.

use clap::{Args, ValueEnum};

/// Rules that results may break.
#[derive(Debug, Args)]
pub(crate) struct GateArgs {
    /// Exit with 1 if this comes out; repeat for several
    ///
    /// 'slower by 5%' is about every arm that is compared with the baseline, 'sync.p99 > 10ms' about
    /// every arm. Figures are iops, bandwidth, and latency, read, write, trim, sync, load, publish or query
    /// with .mean, .p99 or another percentile; before them may stand a job and, with a colon, an arm:
    /// 'new: wal sync.p99 > 10ms'. Trials go on until each rule is broken or kept, or until that is out
    /// of reach.
    #[arg(long, value_name = "RULE", help_heading = "Gate")]
    pub fail_if: Vec<String>,
    /// What an undecided rule counts as
    #[arg(long, value_enum, default_value_t = Undecided::Pass, requires = "fail_if", help_heading = "Gate")]
    pub undecided: Undecided,
}

/// Rules that caps may break.
#[derive(Debug, Args)]
pub(crate) struct CapGateArgs {
    /// Exit with 1 if this comes out; repeat for several
    ///
    /// 'iops < 5000' and 'bandwidth < 100M' are about the caps that are found, 'below documented by
    /// 5%' about both beside the least that is documented of the target's VM and disks (--vm,
    /// --disk). Before them may stand a target with a colon: 'log: iops < 5000'.
    #[arg(long, value_name = "RULE", help_heading = "Gate")]
    pub fail_if: Vec<String>,
    /// What an undecided rule counts as
    #[arg(long, value_enum, default_value_t = Undecided::Pass, requires = "fail_if", help_heading = "Gate")]
    pub undecided: Undecided,
}

impl From<&CapGateArgs> for GateArgs {
    fn from(args: &CapGateArgs) -> Self {
        Self { fail_if: args.fail_if.clone(), undecided: args.undecided }
    }
}

/// What a rule that is neither broken nor kept counts as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Undecided {
    /// As kept
    Pass,
    /// As broken
    Fail,
}
