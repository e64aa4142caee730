//! What is driven, how sure a comparison must be, and where results go.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, ValueEnum, value_parser};

use crate::resolve::workload;

/// Options of commands that compare.
#[derive(Debug, Clone, Args)]
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
    pub hold: HoldArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Whether arms are loaded for longer than trials take.
#[derive(Debug, Clone, Args)]
pub(crate) struct HoldArgs {
    /// Also load each arm this long at a stretch, e.g. 45s, to find burst credits
    /// that short slices never use up [default: 10 slices or more]
    ///
    /// Arms alternate in short slices, and credits may come back while the other arm has its turn. If an arm
    /// is slower when it is held under load, that is repeated twice, and then there is no verdict: the report
    /// says by how much it is slower. To compare what lasts, use --drain.
    #[arg(long, value_name = "TIME", help_heading = "Load")]
    pub hold: Option<String>,
}

/// How sure a comparison must be.
#[derive(Debug, Clone, Args)]
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
    /// Maximum number of blocks [default: 40, or 5120 where trials are short slices]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..), help_heading = "Certainty")]
    pub max_blocks: Option<u32>,
    /// Stop before a block that would end later than this [default: none, or 10m where
    /// trials are short slices]
    #[arg(long, allow_hyphen_values = true, value_name = "TIME", help_heading = "Certainty")]
    pub max_time: Option<String>,
}

/// What is driven, and for how long.
#[derive(Debug, Clone, Args)]
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

/// Rules that results may break.
#[derive(Debug, Clone, Args)]
pub(crate) struct GateArgs {
    /// Exit with 1 if this rule is broken, with 6 if it stays undecided; repeat for
    /// several
    ///
    /// 'slower by 5%' is about every arm that is compared with the baseline, 'p50 slower by 5%' about the
    /// median operation of each of these, 'sync.p99 > 10ms' about every arm. Figures are iops, bandwidth, and latency, read, write, trim, sync, load, publish or query
    /// with .mean, .p99 or another percentile; before them may stand a job and, with a colon, an arm:
    /// 'new: wal sync.p99 > 10ms'. Trials go on until each rule is broken or kept, or until that is out
    /// of reach.
    #[arg(long, value_name = "RULE", help_heading = "Gate")]
    pub fail_if: Vec<String>,
    /// What an undecided rule counts as [default: neither, exit with 6]
    ///
    /// A rule is undecided if the data allow both outcomes, or if it could not be judged: no data, a run
    /// that was interrupted, arms at a common cap. The report says which violation would have been detected.
    #[arg(long, value_enum, value_name = "OUTCOME", help_heading = "Gate")]
    pub undecided: Option<Undecided>,
}

/// What `--fail-if` takes where caps are searched for.
pub(super) const CAP_RULES: &str = "\
Exit with 1 if this rule is broken, with 6 if it stays undecided; repeat for several

'iops < 5000' and 'bandwidth < 100M' are about the caps that are found, 'below documented by 5%' about \
both beside the least that is documented of the target's VM and disks (--vm, --disk). Before them may \
stand a target with a colon: 'log: iops < 5000'.";

/// What a rule that is neither broken nor kept counts as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Undecided {
    /// As kept: exit with 0, and a warning
    Pass,
    /// As broken: exit with 1
    Fail,
}

/// Where results go and how they look.
#[derive(Debug, Clone, Args)]
pub(crate) struct OutputArgs {
    /// Directory for the results, new [default: iotax-COMMAND-TIME]
    #[arg(short, long, value_name = "DIR", help_heading = "Output")]
    pub out: Option<PathBuf>,
    /// What to print
    #[arg(long, value_enum, default_value_t = Format::Text, help_heading = "Output")]
    pub format: Format,
    /// Colours
    #[arg(long, value_enum, default_value_t = Color::Auto, help_heading = "Output")]
    pub color: Color,
    /// Show no progress
    #[arg(short, long, help_heading = "Output")]
    pub quiet: bool,
}

/// Output formats of results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    Text,
    /// One JSON object
    Json,
    /// For a ticket or a pull request
    Markdown,
    /// One line per trial
    Csv,
    /// Rules (--fail-if) as test cases, in JUnit's XML
    Junit,
    /// Rules (--fail-if) as annotations of a workflow of GitHub; the report goes to its summary
    Github,
}

/// Output formats of listings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Listing {
    /// For people
    Text,
    /// One JSON object
    Json,
}

/// How a listing is printed.
#[derive(Debug, Args)]
pub(crate) struct ListingArgs {
    /// What to print
    #[arg(long, value_enum, default_value_t = Listing::Text)]
    pub format: Listing,
    /// Colours
    #[arg(long, value_enum, default_value_t = Color::Auto)]
    pub color: Color,
}

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless `NO_COLOR` is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// What targets are, in the words of the catalog of documented limits.
#[derive(Debug, Clone, Args)]
pub(crate) struct DocumentedArgs {
    /// VM size it runs on, as in the catalog: what was measured is set beside
    /// its limits
    #[arg(long, value_name = "NAME", help_heading = "Documented limits")]
    pub vm: Option<String>,
    /// Kind of disk, once for all targets or once for each: P30,
    /// gp3:size=500G,iops=6000
    #[arg(long, value_name = "DISK", help_heading = "Documented limits")]
    pub disk: Vec<String>,
    /// Host caching of the disks: none, readonly, readwrite [default: none]
    #[arg(long, value_name = "MODE", help_heading = "Documented limits")]
    pub caching: Option<String>,
    /// Disk controller, for VM sizes whose limits depend on it: scsi, nvme
    #[arg(long, value_name = "KIND", help_heading = "Documented limits")]
    pub variant: Option<String>,
    /// Do not ask the cloud's metadata service which VM this is
    #[arg(long, help_heading = "Documented limits")]
    pub no_metadata: bool,
    /// Ask the metadata service here, in tests
    #[arg(long, value_name = "ADDRESS", hide = true)]
    pub metadata_address: Option<SocketAddr>,
    /// Look for links to disks here, in tests
    #[arg(long, value_name = "DIR", hide = true)]
    pub disk_links: Option<PathBuf>,
}

/// What is done about caps above the arms.
#[derive(Debug, Clone, Args)]
pub(crate) struct CapArgs {
    /// Where arms sit on the same cap, run loads that show what it hides
    #[arg(long, conflicts_with = "no_depth_check", help_heading = "Caps")]
    pub below_cap: bool,
    /// Do not run equal arms at other depths to find a cap above them
    #[arg(long, help_heading = "Caps")]
    pub no_depth_check: bool,
}

/// How caps are searched for, wherever the targets are.
#[derive(Debug, Args)]
pub(crate) struct SearchArgs {
    /// Fewer points, shorter windows, wider intervals
    #[arg(long, help_heading = "Search")]
    pub quick: bool,
    /// Load each target until a burst has run out, at most so long [default:
    /// 10m]
    #[arg(long, value_name = "TIME", num_args = 0..=1, require_equals = true, default_missing_value = "10m", help_heading = "Search")]
    pub burst: Option<String>,
    /// With --burst: pauses after which to look what has come back
    #[arg(
        long,
        value_name = "TIME,TIME",
        default_value = "30s,2m",
        requires = "burst",
        help_heading = "Search"
    )]
    pub pauses: String,
    /// Seed of every random choice [default: drawn, and recorded]
    #[arg(long, value_name = "N", help_heading = "Search")]
    pub seed: Option<u64>,
}

/// Factors whose levels make the arms.
#[derive(Debug, Default, Args)]
pub(crate) struct MatrixArgs {
    /// Make an arm of every combination of levels; repeat for several factors
    ///
    /// The levels stand in the place of {NAME} in the one target that is given; without such a place
    /// the factor is the parameter of that name of a layer in it (LAYER.NAME if several have it). Each
    /// level is compared with the first one of its factor, over all arms that differ in nothing else.
    ///
    /// A factor that is none of the target but a key of --set, such as bs, depth or JOB.rate, is of the
    /// workload: each of its levels is a phase, and all arms take their turns in every phase.
    #[arg(long = "matrix", value_name = "NAME=LEVEL,LEVEL...", help_heading = "Matrix")]
    pub factors: Vec<String>,
    /// Leave out the arms that have all of these levels; repeat for several
    #[arg(long, value_name = "NAME=LEVEL,...", requires = "factors", help_heading = "Matrix")]
    pub exclude: Vec<String>,
}

/// Settings of the host that belong to an arm.
#[derive(Debug, Default, Args)]
pub(crate) struct HostCommandArgs {
    /// Run this command each time ARM's turn begins, to make a setting of this host part of
    /// the arm; repeat for several arms
    ///
    /// The command is run by `sh -c` as you, in the working directory, within 60 s. If it fails, so does the
    /// trial, and --after is run. Several arms may have one target and differ in such a setting only: a scheduler,
    /// `read_ahead_kb`, `hdparm -W`, `zfs set`.
    #[arg(long, value_name = "ARM=COMMAND", help_heading = "Settings of the host")]
    pub before: Vec<String>,
    /// Run this command each time ARM's turn ends, to undo what --before did; ARM=none if
    /// nothing needs to be undone
    ///
    /// It is also run after a failure and after Ctrl-C, and by `iotax undo` after a run was killed.
    #[arg(long, value_name = "ARM=COMMAND", help_heading = "Settings of the host")]
    pub after: Vec<String>,
}

/// `iotax run`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  iotax run randread-4k /mnt/data
  iotax run driver-searcher /mnt/data --scale 0.05
  iotax run randread-4k 'mem(size=64M) + aes' --set depth=32 --format json
  iotax run job.fio /mnt/data
  iotax run 'fio --name=a --rw=randread --bs=8k --size=1G --runtime=30 \\
      --time_based' /mnt/data
  iotax run 'diskspd -b256K -d30 -o10 -t1 -Sh -w100 -L e:\\io.tst' /mnt/data
  iotax run two-drives.fio e=/mnt/e f=/mnt/f
      job files and lines that name several drives: a target for each")]
pub(crate) struct RunArgs {
    /// Built-in workload or suite (see `iotax workloads`), job file of fio, or
    /// command line of fio or DiskSpd in quotes
    #[arg(value_name = "WORKLOAD")]
    pub workload: String,
    /// Directory, file, block device (read only) or stack, for all jobs; or NAME=TARGET for each
    /// that the jobs name, all in use at the same time
    #[arg(value_name = "TARGET", required = true)]
    pub targets: Vec<String>,
    /// Number of trials [default: 1; with --fail-if, or a workload that has a threshold, as many as
    /// it takes, 40 at most]
    #[arg(short = 'n', long, value_name = "N", value_parser = value_parser!(u32).range(1..))]
    pub trials: Option<u32>,
    #[command(flatten)]
    pub gate: GateArgs,
    #[command(flatten)]
    pub documented: DocumentedArgs,
    #[command(flatten)]
    pub load: LoadArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

impl RunArgs {
    /// Of these targets, under this workload.
    pub(crate) fn of(
        targets: Vec<String>,
        workload: String,
        trials: Option<u32>,
        measure: MeasureArgs,
    ) -> Self {
        let MeasureArgs { gate, documented, load, output, .. } = measure;
        Self { workload, targets, trials, gate, documented, load, output }
    }
}

/// `iotax limits`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  iotax limits /mnt/data
      IOPS cap, bandwidth cap, useful queue depth; throttle or saturated device
  iotax limits /dev/sdc --quick
      the same in half a minute; files and devices are only read
  iotax limits --burst=40m /mnt/data
      load it until a burst runs out, and see what comes back in pauses
  iotax limits cached=/mnt/f uncached=/mnt/g
      also: one bucket for both, or two, or one above two
  iotax limits --vm Standard_DS1_v2 --disk P10 --caching readonly /mnt/f
      also: which documented limit binds
  iotax limits --disk P10 /mnt/g --fail-if 'below documented by 5%'
      exit code 1 if it is
  iotax limits 'mem(size=1G) + flash(channels=4, latency=80us, bw=200M)'

In a directory a file of --size is made, and read. Nothing else is written, and
nothing without --write.")]
#[command(mut_arg("fail_if", |arg| arg.long_help(CAP_RULES)))]
pub(crate) struct LimitsArgs {
    /// Directory, file, block device or stack, with or without NAME= before it
    #[arg(value_name = "TARGET", required = true)]
    pub targets: Vec<String>,
    #[command(flatten)]
    pub search: SearchArgs,
    #[command(flatten)]
    pub documented: DocumentedArgs,
    /// Write instead of reading; only to directories and stacks
    #[arg(long, help_heading = "Search")]
    pub write: bool,
    /// Size of the file that is made in a directory [default: 1G, or what there
    /// is room for]
    #[arg(long, value_name = "SIZE", help_heading = "Search")]
    pub size: Option<String>,
    /// Where scratch files go (stacks on `file` without a path)
    #[arg(long, value_name = "DIR", default_value = ".", help_heading = "Search")]
    pub dir: PathBuf,
    /// Block device under `dev` whose content may be lost; repeat for several
    #[arg(long, value_name = "DEV", help_heading = "Search")]
    pub destroy: Vec<PathBuf>,
    #[command(flatten)]
    pub gate: GateArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// The far end of a network path.
#[derive(Debug, Args)]
pub(crate) struct PeerArgs {
    /// Address and port to listen at; port 0 is any that is free
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "0.0.0.0:7474")]
    pub listen: SocketAddr,
    /// File that holds the token both ends know. Without it, a new token is made and printed
    ///
    /// `-` reads it from the first line of standard input, and ends when that ends.
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
}

// The words of `iotax compare`.

/// `iotax compare`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  iotax compare --workload randread-4k base=/mnt/a encrypted=/mnt/b
  iotax compare nfs-kerberos nas:/data --matrix sec=sys,krb5,krb5i,krb5p \\
      --matrix nconnect=1,4
  iotax compare --quick -w randread-4k \\
      base='mem(size=64M) + delay(latency=200us)' \\
      slow='mem(size=64M) + delay(latency=260us)'
  iotax compare -w seqread-1m a=/mnt/data b=/mnt/data \\
      --before 'b=blockdev --setra 8192 /dev/vdb' \\
      --after 'b=blockdev --setra 256 /dev/vdb'
  iotax compare experiment.toml
  iotax compare monday/ tuesday/
  iotax compare old=monday/,friday/ new=fio.json,diskspd.xml
  iotax compare --pair aks,c-azure --pair gke,c-gcp \\
      aks=a.json c-azure=b.json gke=c.json c-gcp=d.json
  iotax compare --matrix sec=sys,krb5,krb5p --matrix load=low,high \\
      'results/{sec}-{load}.json'

The first arm is the baseline. A directory gets a private folder that is
removed afterwards; files and block devices are only read.

Pass saved results instead of targets to compare them without running anything:
directories of results (DIR#ARM for one arm of it), JSON of iotax run and of
fio, XML of DiskSpd, in any mixture. Separate repetitions of one arm by commas,
or give its name again.")]
pub(crate) struct CompareArgs {
    /// NAME=TARGET for each arm, saved results, or one experiment file (.toml)
    #[arg(value_name = "ARM", required = true)]
    pub arms: Vec<String>,
    /// Workload to drive in every arm, as in `iotax run`; a built-in one may stand
    /// before the arms instead (a directory of that name is ./NAME)
    #[arg(short, long, value_name = "WORKLOAD")]
    pub workload: Option<String>,
    /// Of saved results: compare ARM with BASELINE, and not with the first arm;
    /// repeat for several
    #[arg(long, value_name = "BASELINE,ARM", help_heading = "Saved results")]
    pub pair: Vec<String>,
    #[command(flatten)]
    pub host: HostCommandArgs,
    #[command(flatten)]
    pub matrix: MatrixArgs,
    #[command(flatten)]
    pub measure: MeasureArgs,
}

impl CompareArgs {
    /// Of these arms, under this workload.
    pub(crate) fn of(arms: Vec<String>, workload: String, measure: MeasureArgs) -> Self {
        let (host, matrix) = (HostCommandArgs::default(), MatrixArgs::default());
        Self { arms, workload: Some(workload), pair: Vec::new(), host, matrix, measure }
    }

    /// With a workload in its place that stands before the arms.
    #[must_use]
    pub(crate) fn settled(mut self) -> Self {
        if self.workload.is_none() && self.arms.len() > 1 && workload::is_workload(&self.arms[0]) {
            self.workload = Some(self.arms.remove(0));
        }
        self
    }
}
