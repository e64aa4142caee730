//! The command line as typed. What it means is resolved in [`crate::resolve`].

mod catalog;
mod disk;
mod doctor;
#[cfg(feature = "kubernetes")]
mod kube;
mod measure;
#[cfg(test)]
mod tests;

#[cfg(feature = "kubernetes")]
use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, value_parser};
use clap_complete::Shell;

pub(crate) use self::catalog::{
    CatalogCheckArgs, CatalogCommand, CatalogLookArgs, CatalogPlanArgs,
};
pub(crate) use self::disk::{
    CloudArgs, DiskCommand, DiskDownArgs, DiskServeArgs, DiskStatusArgs, DiskUpArgs,
};
pub(crate) use self::doctor::DoctorArgs;
#[cfg(feature = "kubernetes")]
pub(crate) use self::kube::{
    ClusterArgs, Containers, KubeCommand, KubeCompareArgs, KubeDoctorArgs, KubeFleetArgs,
    KubeImageArgs, KubeLimitsArgs, KubeManifestArgs, KubeNetArgs, KubeRunArgs, PodArgs,
};
pub(crate) use self::measure::{
    CapArgs, CertaintyArgs, Color, CompareArgs, DocumentedArgs, Format, GateArgs, HostCommandArgs,
    LimitsArgs, Listing, ListingArgs, LoadArgs, MatrixArgs, MeasureArgs, OutputArgs, PeerArgs,
    RunArgs, SearchArgs, Undecided,
};

/// What does each layer cost your I/O?
///
/// iotax builds or finds the layers in an I/O path, drives load shaped like the application, and
/// compares arms in randomised interleaved blocks until an honest verdict is possible.
#[derive(Debug, Parser)]
#[command(name = "iotax", version, max_term_width = 80, disable_help_subcommand = true)]
#[command(after_help = "\
Exit codes: 0 done, 1 a gate failed, 2 wrong usage, 3 the environment does not
allow it, 4 interrupted (results so far are kept), 5 a bug in iotax, 6 a gate is
undecided (see --undecided).

Start with:  iotax peel")]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Take layers off a stack: the tax of each, and their interactions
    Peel(PeelArgs),
    /// Compare arms: paths, block devices (read only) or stacks
    Compare(CompareArgs),
    /// Run one workload on one target
    Run(RunArgs),
    /// Measure network paths, or compare them: latency, bandwidth, loss
    Net(Box<NetArgs>),
    /// Find the caps of targets, and whether they share them
    Limits(LimitsArgs),
    /// What lies under a path, what of it is known to hurt, and the evidence
    Doctor(DoctorArgs),
    /// Show what run, compare or peel would do, without touching anything
    #[command(subcommand)]
    Plan(PlanCommand),
    /// Render the results of an earlier run again, offline
    Report(ReportArgs),
    /// Make a bundle that repeats a run with fio alone
    Repro(ReproArgs),
    /// List and explain the built-in workloads
    Workloads(WorkloadsArgs),
    /// List and explain the layers, and which can be made here
    Layers(LayersArgs),
    /// Virtual disks for other programs: caps, bursts, encryption, faults
    #[command(subcommand)]
    Disk(DiskCommand),
    /// Documented limits of clouds' VM sizes and disks, with their sources
    #[command(subcommand)]
    Catalog(CatalogCommand),
    /// Compare in a Kubernetes cluster: storage classes, volumes of pods
    #[cfg(feature = "kubernetes")]
    #[command(subcommand)]
    Kube(KubeCommand),
    /// Perform trials for an iotax on another host, which starts this: see --agent
    Agent(AgentArgs),
    /// Be the far end of a network path, for whoever knows the token
    Peer(PeerArgs),
    /// Remove what a killed run left behind
    Undo(UndoArgs),
    /// Write man pages, one for each command
    Man {
        /// Directory to write them into
        #[arg(value_name = "DIR")]
        directory: PathBuf,
    },
    #[cfg(feature = "kubernetes")]
    #[command(skip)]
    CompletePlugin {
        /// Typed so far, the last one in part.
        words: Vec<OsString>,
    },
    /// Print a shell completion script
    Completions {
        /// Which shell
        shell: Shell,
    },
}

impl Command {
    /// With a workload in its place that stands before the arms.
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

/// What `iotax plan` explains.
#[derive(Debug, Subcommand)]
pub(crate) enum PlanCommand {
    /// What `iotax peel` would do
    Peel(PeelArgs),
    /// What `iotax compare` would do
    Compare(CompareArgs),
    /// What `iotax run` would do
    Run(RunArgs),
}

/// `iotax peel`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  iotax peel
      two AES-XTS-256 layers on this disk, in process: no root, nothing to
      install, under two minutes
  iotax peel --max-blocks 40
      the same for as long as it takes, for a disk whose noise hides the tax
  iotax peel 'mem(size=256M) + aes(sector=512) + queue(workers=2)'
  iotax peel 'file(path=/mnt/data/test.bin, size=4G) + aes' --tight")]
pub(crate) struct PeelArgs {
    /// Layers from bottom to top; every layer above the base is taken off in turn
    #[arg(value_name = "STACK")]
    pub stack: Option<String>,
    /// Workload to drive, as in `iotax run` (default: a search engine's reads
    /// beside its index writer)
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
      this machine's path to itself: no root, nothing to install
  iotax net tcp://10.0.0.2:7474
      the path to an `iotax peer` that was started there
  iotax net plain=ssh://db-1 tunnel=tcp://10.8.0.2:7474 --workload tcp-rr
  iotax net netns 'netns + wireguard'
  iotax peel 'netns + vxlan + wireguard'
      what each layer costs; `iotax layers` lists those there are")]
pub(crate) struct NetArgs {
    /// A path, or NAME=PATH for each of several, which are compared: `tcp://HOST:PORT`,
    /// `ssh://HOST`, loopback, netns or layers on it [default: loopback]
    #[arg(value_name = "PATH")]
    pub paths: Vec<String>,
    /// Workload or suite to drive
    #[arg(short, long, value_name = "WORKLOAD", default_value = "network-baseline")]
    pub workload: String,
    /// Number of trials on a single path [default: 1]
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
    /// Directories of earlier runs, or results of fio (JSON) or DiskSpd (XML)
    #[arg(value_name = "DIR|FILE", required = true)]
    pub paths: Vec<PathBuf>,
    /// New directory for report.html: of several directories in one page, or of
    /// results of other tools, then with a record [default: for several
    /// directories iotax-report-TIME]
    #[arg(short, long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Open report.html in a browser
    #[arg(long)]
    pub open: bool,
    #[command(flatten)]
    pub gate: GateArgs,
    /// What to print; report.html is written into a directory in any case
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Colours
    #[arg(long, value_enum, default_value_t = Color::Auto)]
    pub color: Color,
}

/// `iotax repro`
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  iotax repro iotax-compare-20250101-120000 --out for-support
      makes for-support/ and for-support.tar.gz; there, somebody else runs
      ./run.sh base=/mnt/a other=/mnt/b

Words of the system (kernel, drivers, file systems, options, models) and
numbers leave as they are. Every other word is replaced by one such as host-1
or path-3; for-support.key.json says what each of them was, and stays here.")]
pub(crate) struct ReproArgs {
    /// Directory of an earlier run, compare or peel
    pub dir: PathBuf,
    /// Directory for the bundle, new [default: iotax-repro-TIME]
    #[arg(short, long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Replace nothing: keep names, paths, addresses and ids as they are
    #[arg(long)]
    pub no_redact: bool,
    /// What to print
    #[arg(long, value_enum, default_value_t = Listing::Text)]
    pub format: Listing,
}

/// `iotax workloads`
#[derive(Debug, Args)]
pub(crate) struct WorkloadsArgs {
    /// Explain one workload in full
    pub name: Option<String>,
    /// What to print
    #[arg(long, value_enum, default_value_t = Listing::Text)]
    pub format: Listing,
}

/// `iotax layers`
#[derive(Debug, Args)]
pub(crate) struct LayersArgs {
    /// Explain one layer in full
    pub name: Option<String>,
    #[command(flatten)]
    pub listing: ListingArgs,
}

/// `iotax agent`
#[derive(Debug, Args)]
pub(crate) struct AgentArgs {
    /// Perform nothing: keep a container up, in which agents are started, until there
    /// was none for so long
    #[arg(long, value_name = "TIME")]
    pub keep: Option<String>,
    /// Finish a trial though the connection is cut, and keep its result for the agent that is
    /// started next
    #[arg(long, conflicts_with = "keep")]
    pub finish_trials: bool,
}

/// `iotax undo`
#[derive(Debug, Args)]
pub(crate) struct UndoArgs {
    /// What runs in a Kubernetes cluster left there, instead: it takes up to a minute to
    /// see which of them are dead
    #[cfg(feature = "kubernetes")]
    #[arg(long)]
    pub cluster: bool,
    #[cfg(feature = "kubernetes")]
    #[command(flatten)]
    pub place: ClusterArgs,
    /// What to print
    #[arg(long, value_enum, default_value_t = Listing::Text)]
    pub format: Listing,
}
