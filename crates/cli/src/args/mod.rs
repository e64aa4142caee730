//! The command line as typed; [`crate::resolve`] interprets it.

mod capture;
mod catalog;
mod check;
mod disk;
mod doctor;
#[cfg(feature = "kubernetes")]
mod kube;
mod measure;
pub(crate) mod recording;
#[cfg(test)]
mod tests;
mod tips;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, value_parser};
use clap_complete::Shell;

pub(crate) use self::capture::{
    CaptureArgs, CaptureCommand, CaptureExportArgs, CaptureImportArgs, CaptureRecordArgs,
    CaptureShowArgs,
};
pub(crate) use self::catalog::{
    CatalogCheckArgs, CatalogCommand, CatalogLookArgs, CatalogPlanArgs,
};
pub(crate) use self::check::CheckArgs;
pub(crate) use self::disk::{
    CloudArgs, DiskCommand, DiskDownArgs, DiskServeArgs, DiskStatusArgs, DiskUpArgs,
};
pub(crate) use self::doctor::DoctorArgs;
#[cfg(feature = "kubernetes")]
pub(crate) use self::kube::{
    ClusterArgs, Containers, KubeCaptureArgs, KubeCommand, KubeCompareArgs, KubeDoctorArgs,
    KubeFleetArgs, KubeImageArgs, KubeLimitsArgs, KubeManifestArgs, KubeNetArgs, KubeRunArgs,
    PodArgs,
};
pub(crate) use self::measure::{
    CapArgs, CertaintyArgs, Color, CompareArgs, DocumentedArgs, Format, GateArgs, HostCommandArgs,
    LimitsArgs, Listing, ListingArgs, LoadArgs, MatrixArgs, MeasureArgs, OutputArgs, PeerArgs,
    RunArgs, SearchArgs, Undecided,
};
pub(crate) use self::tips::with_tip;

/// Measure what each layer of your storage stack costs
///
/// iotax tells you which part of a storage stack is slow. It runs the same workload with and
/// without each layer, in random order, then in reverse, so that noise affects both sides alike. It
/// reports the cost of each layer with a confidence interval.
#[derive(Debug, Parser)]
#[command(name = "iotax", version, max_term_width = 80, disable_help_subcommand = true)]
#[command(after_help = "\
Exit codes: 0 success, 1 a check failed (such as --fail-if), 2 usage error, 3
not possible in this environment, 4 interrupted (results so far are saved), 5 a
bug in iotax, 6 a check is undecided (see --undecided).

Start with:  iotax check")]
pub(crate) struct Cli {
    /// The command to run; without one, iotax shows what it can answer here.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Check the disk under a directory: caps, latency, fitness, known problems
    Check(CheckArgs),
    /// Remove layers of a stack in turn to measure what each one costs
    Peel(PeelArgs),
    /// Compare configurations (arms): paths, block devices (read-only) or stacks
    Compare(CompareArgs),
    /// Run one workload on one target
    Run(RunArgs),
    /// Measure or compare network paths: latency, bandwidth, loss
    Net(Box<NetArgs>),
    /// Find the IOPS and bandwidth caps of targets, and caps that they share
    Limits(LimitsArgs),
    /// Record the I/O of a program, to analyze it and to replay it as a workload
    Capture(CaptureArgs),
    /// Show the storage stack under a path and check it for known performance problems
    Doctor(DoctorArgs),
    /// Show what run, compare or peel would do, without changing anything
    #[command(subcommand)]
    Plan(PlanCommand),
    /// Show the results of earlier runs or of other tools, or a recording, without measuring
    /// anything
    Report(ReportArgs),
    /// Make a bundle that reproduces a run with only fio, without iotax
    Repro(ReproArgs),
    /// List and explain the built-in workloads
    Workloads(WorkloadsArgs),
    /// List and explain the layers, and show which are available here
    Layers(LayersArgs),
    /// Create virtual disks for other programs, with caps, bursts, encryption or faults
    #[command(subcommand)]
    Disk(DiskCommand),
    /// Show the documented limits of cloud VM sizes and disks, with sources
    #[command(subcommand)]
    Catalog(CatalogCommand),
    /// Measure storage classes, volumes and networks in a Kubernetes cluster
    #[cfg(feature = "kubernetes")]
    #[command(subcommand)]
    Kube(KubeCommand),
    #[cfg(not(feature = "kubernetes"))]
    #[command(hide = true, disable_help_flag = true)]
    Kube {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
        words: Vec<OsString>,
    },
    /// Run trials on behalf of another iotax, which starts this command (see --agent)
    Agent(AgentArgs),
    /// Run the server side for network tests
    Peer(PeerArgs),
    /// Remove what a killed run left behind
    Undo(UndoArgs),
    /// Write man pages, one per command
    Man {
        /// Directory to write the man pages to
        #[arg(value_name = "DIR")]
        directory: PathBuf,
    },
    #[cfg(feature = "kubernetes")]
    #[command(skip)]
    CompletePlugin {
        /// Words typed so far; the last one may be incomplete.
        words: Vec<OsString>,
    },
    /// Print a shell completion script
    Completions {
        /// Shell to print the script for
        shell: Shell,
    },
}

impl Command {
    /// Moves a workload that is written before the arms to where `--workload` is.
    #[must_use]
    pub(crate) fn settled(self) -> Self {
        match self {
            Self::Compare(args) => Self::Compare(args.settled()),
            Self::Plan(PlanCommand::Compare(args)) => {
                Self::Plan(PlanCommand::Compare(args.settled()))
            }
            #[cfg(feature = "kubernetes")]
            Self::Kube(KubeCommand::Compare(mut args)) => {
                args.compare = args.compare.settled();
                Self::Kube(KubeCommand::Compare(args))
            }
            other => other,
        }
    }
}

/// Commands that `iotax plan` explains.
#[derive(Debug, Subcommand)]
pub(crate) enum PlanCommand {
    /// Show what `iotax peel` would do
    Peel(PeelArgs),
    /// Show what `iotax compare` would do
    Compare(CompareArgs),
    /// Show what `iotax run` would do
    Run(RunArgs),
}

/// `iotax peel`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  iotax peel
      encrypts a file on this disk twice: with the kernel's LUKS as root,
      otherwise in iotax's own process; takes less than two minutes
  iotax peel --max-blocks 40
      the same, but with more time, for a disk whose noise hides the cost
  iotax peel 'mem(size=256M) + aes(sector=512) + queue(workers=2)'
  iotax peel 'file(path=/mnt/data/test.bin, size=4G) + aes' --tight")]
pub(crate) struct PeelArgs {
    /// Layers from bottom to top; iotax removes each layer above the base in turn
    #[arg(value_name = "STACK")]
    pub stack: Option<String>,
    /// Workload to run, as in `iotax run` [default: a search engine's reads alongside its index
    /// writer; for network paths, the suite network]
    #[arg(short, long, value_name = "WORKLOAD")]
    pub workload: Option<String>,
    #[command(flatten)]
    pub measure: MeasureArgs,
}

/// `iotax net`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  iotax net
      this machine's loopback path: no root, nothing to install
  iotax net tcp://10.0.0.2:7474
      the path to an `iotax peer` on that host
  iotax net plain=ssh://db-1 tunnel=tcp://10.8.0.2:7474 --workload tcp-rr
  iotax net netns 'netns + wireguard'
  iotax peel 'netns + vxlan + wireguard'
      what each layer costs; `iotax layers` lists all layers")]
pub(crate) struct NetArgs {
    /// Path to measure, or NAME=PATH for each path to compare: `tcp://HOST:PORT`, `ssh://HOST`,
    /// loopback, or netns with or without layers on top [default: loopback]
    #[arg(value_name = "PATH")]
    pub paths: Vec<String>,
    /// Workload or suite to run
    #[arg(short, long, value_name = "WORKLOAD", default_value = "network-baseline")]
    pub workload: String,
    /// Number of trials if there is only one path [default: 1]
    #[arg(short = 'n', long, value_name = "N", value_parser = value_parser!(u32).range(1..))]
    pub trials: Option<u32>,
    #[command(flatten)]
    pub matrix: MatrixArgs,
    #[command(flatten)]
    pub measure: MeasureArgs,
}

/// `iotax report`
#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// Results directories of earlier runs, a recording (.iotx), or result files from fio (JSON) or
    /// DiskSpd (XML)
    #[arg(value_name = "DIR|FILE", required = true)]
    pub paths: Vec<PathBuf>,
    /// New directory for the output: one report.html for several results directories or a
    /// recording, or report.html and a record for result files [default: iotax-report-TIME for
    /// several directories; for a recording, FILE.html next to it]
    #[arg(short, long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Open report.html in a browser
    #[arg(long)]
    pub open: bool,
    #[command(flatten)]
    pub gate: GateArgs,
    /// Output format; iotax writes the HTML page of a results directory or recording in any case
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// When to use colours
    #[arg(long, value_enum, default_value_t = Color::Auto)]
    pub color: Color,
    /// Print only the answer
    #[arg(short, long)]
    pub quiet: bool,
    /// Print all tables and notes of report.html, even on a terminal
    #[arg(short, long, conflicts_with = "quiet")]
    pub verbose: bool,
}

/// `iotax repro`
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  iotax repro iotax-compare-20250101-120000 --out for-support
      creates for-support/ and for-support.tar.gz. In that directory, the
      recipient runs ./run.sh base=/mnt/a other=/mnt/b

Numbers and known words (kernel, drivers, file systems, options, models) are not
changed. Pseudonyms such as host-1 or path-3 replace all other words. The bundle
does not include for-support.key.json, which maps the pseudonyms back.")]
pub(crate) struct ReproArgs {
    /// Results directory of an earlier run, compare or peel
    pub dir: PathBuf,
    /// New directory for the bundle [default: iotax-repro-TIME]
    #[arg(short, long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Keep names, paths, addresses and IDs instead of replacing them
    #[arg(long)]
    pub no_redact: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t = Listing::Text)]
    pub format: Listing,
}

/// `iotax workloads`
#[derive(Debug, Args)]
pub(crate) struct WorkloadsArgs {
    /// Workload or suite to explain in full
    pub name: Option<String>,
    /// Output format
    #[arg(long, value_enum, default_value_t = Listing::Text)]
    pub format: Listing,
}

/// `iotax layers`
#[derive(Debug, Args)]
pub(crate) struct LayersArgs {
    /// Layer to explain in full
    pub name: Option<String>,
    #[command(flatten)]
    pub listing: ListingArgs,
}

/// `iotax agent`
#[derive(Debug, Args)]
pub(crate) struct AgentArgs {
    /// Keep the container alive for later agents; exit after TIME without one
    #[arg(long, value_name = "TIME")]
    pub keep: Option<String>,
    /// Finish the running trial even if the connection drops, and keep its result for the
    /// next agent
    #[arg(long, conflicts_with = "keep")]
    pub finish_trials: bool,
}

/// `iotax undo`
#[derive(Debug, Args)]
pub(crate) struct UndoArgs {
    /// Clean up leftovers in a Kubernetes cluster instead; it takes up to a minute to find out
    /// which runs are no longer active
    #[cfg(feature = "kubernetes")]
    #[arg(long)]
    pub cluster: bool,
    #[cfg(feature = "kubernetes")]
    #[command(flatten)]
    pub place: ClusterArgs,
    /// Output format
    #[arg(long, value_enum, default_value_t = Listing::Text)]
    pub format: Listing,
}
