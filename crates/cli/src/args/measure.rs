//! What is driven, how sure a comparison must be, and where results go.

use std::path::PathBuf;

use clap::{Args, value_parser};

use super::caps::CapArgs;
use super::documented::DocumentedArgs;
use super::gate::GateArgs;
use super::output::OutputArgs;

/// Options of commands that compare.
#[derive(Debug, Args)]
pub(crate) struct MeasureArgs {
    #[command(flatten)]
    pub gate: GateArgs,
    #[command(flatten)]
    pub certainty: CertaintyArgs,
    #[command(flatten)]
    pub caps: CapArgs,
    #[command(flatten)]
    pub documented: DocumentedArgs,
    #[command(flatten)]
    pub load: LoadArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// How sure a comparison must be.
#[derive(Debug, Args)]
pub(crate) struct CertaintyArgs {
    /// Stop at the first verdict
    #[arg(long, conflicts_with = "tight", help_heading = "Certainty")]
    pub quick: bool,
    /// Go on until the effect is known to 1 point or a tenth of itself
    #[arg(long, help_heading = "Certainty")]
    pub tight: bool,
    /// Differences below this count as none [default: 5%]
    #[arg(long, allow_hyphen_values = true, value_name = "PERCENT", help_heading = "Certainty")]
    pub margin: Option<String>,
    /// Let the intervals hold for all arms at once
    #[arg(long, help_heading = "Certainty")]
    pub simultaneous: bool,
    /// Blocks at most [default: 40]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..), help_heading = "Certainty")]
    pub max_blocks: Option<u32>,
    /// Start no block, after the first, that would end later than this
    #[arg(long, allow_hyphen_values = true, value_name = "TIME", help_heading = "Certainty")]
    pub max_time: Option<String>,
}

/// What is driven, and for how long.
#[derive(Debug, Args)]
pub(crate) struct LoadArgs {
    /// Measured part of each trial, e.g. 5s
    #[arg(long, allow_hyphen_values = true, value_name = "TIME", help_heading = "Load")]
    pub time: Option<String>,
    /// Discarded start of each trial, e.g. 2s
    #[arg(long, allow_hyphen_values = true, value_name = "TIME", help_heading = "Load")]
    pub ramp: Option<String>,
    /// Multiply the workload's times and sizes, e.g. 0.05
    #[arg(long, allow_hyphen_values = true, value_name = "FACTOR", help_heading = "Load")]
    pub scale: Option<f64>,
    /// Change the workload: KEY=VALUE or JOB.KEY=VALUE, e.g. depth=32
    #[arg(long = "set", value_name = "KEY=VALUE", help_heading = "Load")]
    pub set: Vec<String>,
    /// Before anything is measured, write the span of the test files twice, then run
    /// the workload in rounds until it is steady, 25 at most: a fresh SSD or thin
    /// volume writes at a rate that does not last
    #[arg(long, help_heading = "Load")]
    pub precondition: bool,
    /// Load each arm until its burst credits are spent, at most so long [default: 2m]
    #[arg(long, value_name = "TIME", num_args = 0..=1, require_equals = true, default_missing_value = "2m", help_heading = "Load")]
    pub drain: Option<String>,
    /// Seed of every random choice [default: drawn, and recorded]
    #[arg(long, value_name = "N", help_heading = "Load")]
    pub seed: Option<u64>,
    /// What drives the load: native, fio, iperf3, or ARM=fio
    #[arg(long, value_name = "ENGINE", help_heading = "Load")]
    pub engine: Vec<String>,
    /// Have an agent measure, here or elsewhere: 'ssh HOST iotax agent', or ARM=...
    ///
    /// The command is started and spoken to over its standard input and output; it cannot ask for a
    /// password, so let ssh use a key. Targets are those of its host, and so are --dir and --destroy:
    /// write absolute paths, for relative ones are completed by where this iotax runs. An agent that
    /// is lost costs its trial; the next trial starts another.
    #[arg(long, value_name = "COMMAND", help_heading = "Load")]
    pub agent: Vec<String>,
    /// Where scratch files go (stacks on `file` without a path)
    #[arg(long, value_name = "DIR", default_value = ".", help_heading = "Load")]
    pub dir: PathBuf,
    /// Block device under `dev` whose content may be lost; repeat for several
    #[arg(long, value_name = "DEV", help_heading = "Load")]
    pub destroy: Vec<PathBuf>,
    /// Print tables as iostat -mxt does, after each trial
    #[arg(long, help_heading = "Output")]
    pub iostat: bool,
}
