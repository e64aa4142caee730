//! Arguments of the commands that measure: load, certainty, gates, output.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, ValueEnum, value_parser};

use super::recording::RecordingArgs;
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

/// Whether arms are also loaded for longer than a trial.
#[derive(Debug, Clone, Args)]
pub(crate) struct HoldArgs {
    /// Also load each arm for TIME without a break, e.g. 45s, to find burst credits that short
    /// slices never use up [default: at least 10 slices]
    ///
    /// Arms alternate in short slices, so burst credits can recover while the other arm runs. If an
    /// arm is slower under the long load, iotax runs that load two more times. If the arm is slower all
    /// three times, the run ends without a verdict, and the report says how much slower it was. To
    /// compare sustained rates, use --drain.
    #[arg(long, value_name = "TIME", help_heading = "Load")]
    pub hold: Option<String>,
}

/// How sure a comparison must be.
#[derive(Debug, Clone, Args)]
pub(crate) struct CertaintyArgs {
    /// Stop as soon as every arm has a verdict
    #[arg(long, conflicts_with = "tight", help_heading = "Certainty")]
    pub quick: bool,
    /// Continue until the effect is known to within 1 percentage point or a tenth of its size
    #[arg(long, help_heading = "Certainty")]
    pub tight: bool,
    /// Treat arms that differ by less than this as equal [default: 5%]
    #[arg(long, allow_hyphen_values = true, value_name = "PERCENT", help_heading = "Certainty")]
    pub margin: Option<String>,
    /// Widen the intervals to correct for comparing several arms
    #[arg(long, help_heading = "Certainty")]
    pub simultaneous: bool,
    /// Maximum number of blocks [default: 40, or 5120 if trials are short slices]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..), help_heading = "Certainty")]
    pub max_blocks: Option<u32>,
    /// Do not start a block that would end after this time [default: no limit, or 10m if trials are
    /// short slices]
    #[arg(long, allow_hyphen_values = true, value_name = "TIME", help_heading = "Certainty")]
    pub max_time: Option<String>,
}

/// The load, and how long it runs.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct LoadArgs {
    /// Measured time of each trial, e.g. 5s
    #[arg(long, allow_hyphen_values = true, value_name = "TIME", help_heading = "Load")]
    pub time: Option<String>,
    /// Time to discard at the start of each trial, e.g. 2s
    #[arg(long, allow_hyphen_values = true, value_name = "TIME", help_heading = "Load")]
    pub ramp: Option<String>,
    /// Multiply the workload's times and sizes by FACTOR, e.g. 0.05
    #[arg(long, allow_hyphen_values = true, value_name = "FACTOR", help_heading = "Load")]
    pub scale: Option<f64>,
    /// Change the workload: KEY=VALUE or JOB.KEY=VALUE, e.g. depth=32
    #[arg(long = "set", value_name = "KEY=VALUE", help_heading = "Load")]
    pub set: Vec<String>,
    /// Before measuring, write all test data twice, then run the workload until its rate is steady,
    /// for at most 25 rounds. Use it for fresh SSDs and thin volumes, whose initial write rate does
    /// not last
    #[arg(long, help_heading = "Load")]
    pub precondition: bool,
    /// Use up each arm's burst credits before measuring, for at most TIME [default: 2m]
    #[arg(long, value_name = "TIME", num_args = 0..=1, require_equals = true, default_missing_value = "2m", help_heading = "Load")]
    pub drain: Option<String>,
    /// Seed for all random choices [default: random; stored in the results]
    #[arg(long, value_name = "N", help_heading = "Load")]
    pub seed: Option<u64>,
    /// Load generator: native, fio or iperf3; ARM=fio sets it for one arm
    #[arg(long, value_name = "ENGINE", help_heading = "Load")]
    pub engine: Vec<String>,
    /// Run the trials through an agent, locally or on another host, e.g. 'ssh HOST iotax agent';
    /// ARM=COMMAND sets it for one arm.
    ///
    /// iotax starts the command and communicates over the command's standard input and output. The
    /// command cannot ask for a password, so ssh must use a key. Targets, --dir and --destroy refer
    /// to the agent's host. Use absolute paths, because iotax resolves relative paths against its
    /// own working directory. If an agent is lost, its trial fails, and the next trial starts a new
    /// agent.
    #[arg(long, value_name = "COMMAND", help_heading = "Load")]
    pub agent: Vec<String>,
    /// Directory for the scratch files of stacks whose `file` layer has no path
    #[arg(long, value_name = "DIR", default_value = ".", help_heading = "Load")]
    pub dir: PathBuf,
    /// Block device that iotax may overwrite, for stacks whose base is `dev`; can be repeated
    #[arg(long, value_name = "DEV", help_heading = "Load")]
    pub destroy: Vec<PathBuf>,
    #[command(flatten)]
    pub recording: RecordingArgs,
    /// Print tables in the format of iostat -mxt after each trial
    #[arg(long, help_heading = "Output")]
    pub iostat: bool,
}

/// Rules for the results, and the exit code.
#[derive(Debug, Clone, Args)]
pub(crate) struct GateArgs {
    /// Exit with status 1 if this rule is broken, or 6 if it stays undecided; can be
    /// repeated.
    ///
    /// 'slower by 5%' applies to every arm that is compared with the baseline, and 'p50 slower by
    /// 5%' to the median operation time of these arms. 'sync.p99 > 10ms' applies to every arm. A
    /// metric is iops, bandwidth, or a time followed by .mean or a percentile such as .p99. The
    /// times are latency, read, write, trim, sync, load, publish and query. To limit a rule to one
    /// job, put the job before the metric. To limit a rule to one arm, put the arm and a colon
    /// first: 'new: wal sync.p99 > 10ms'. Trials continue until each rule is broken or passes, or
    /// until no decision is possible within the limits of the run.
    #[arg(long, value_name = "RULE", help_heading = "Gate")]
    pub fail_if: Vec<String>,
    /// Whether undecided rules pass or fail [default: neither; exit with status 6]
    ///
    /// A rule is undecided if the data allow both outcomes. It is also undecided if there are no
    /// data, if the run was interrupted, or if the arms are at the same cap. The report states the
    /// smallest violation that the run could have detected.
    #[arg(long, value_enum, value_name = "OUTCOME", help_heading = "Gate")]
    pub undecided: Option<Undecided>,
}

/// Help of `--fail-if` in commands that search for caps.
pub(super) const CAP_RULES: &str = "\
Exit with status 1 if this rule is broken, or 6 if it stays undecided; can be repeated.

'iops < 5000' and 'bandwidth < 100M' apply to the caps that iotax finds. 'below documented by 5%' \
compares both caps with the lowest documented limit of the target's VM and disks (--vm, --disk). \
To limit a rule to one target, put the target and a colon first: 'log: iops < 5000'.";

/// Whether undecided rules pass or fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Undecided {
    /// Undecided rules pass: exit with status 0 and a warning
    Pass,
    /// Undecided rules fail: exit with status 1
    Fail,
}

/// Where to write the results, and in which format.
#[derive(Debug, Clone, Args)]
pub(crate) struct OutputArgs {
    /// New directory to write the results to [default: iotax-COMMAND-TIME]
    #[arg(short, long, value_name = "DIR", help_heading = "Output")]
    pub out: Option<PathBuf>,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Text, help_heading = "Output")]
    pub format: Format,
    /// When to use colors
    #[arg(long, value_enum, default_value_t = Color::Auto, help_heading = "Output")]
    pub color: Color,
    /// Print only the answer, without progress
    #[arg(short, long, help_heading = "Output")]
    pub quiet: bool,
    /// Print all tables and notes of the report, even on a terminal
    #[arg(short, long, help_heading = "Output", conflicts_with = "quiet")]
    pub verbose: bool,
}

/// Output formats of results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Text for people to read
    Text,
    /// One JSON object
    Json,
    /// Markdown for a ticket or a pull request
    Markdown,
    /// CSV with one line per trial
    Csv,
    /// JUnit XML, with rules (--fail-if) as test cases
    Junit,
    /// GitHub workflow annotations for rules (--fail-if); the report goes to the step summary
    Github,
}

/// Output formats of listings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Listing {
    /// Text for people to read
    Text,
    /// One JSON object
    Json,
}

/// How a listing is printed.
#[derive(Debug, Args)]
pub(crate) struct ListingArgs {
    /// Output format
    #[arg(long, value_enum, default_value_t = Listing::Text)]
    pub format: Listing,
    /// When to use colors
    #[arg(long, value_enum, default_value_t = Color::Auto)]
    pub color: Color,
}

/// When to use colors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless `NO_COLOR` is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// The VM and disks of the targets, as named in the catalog of documented limits.
#[derive(Debug, Clone, Args)]
pub(crate) struct DocumentedArgs {
    /// Size of the target's VM, as named in the catalog; iotax compares the results with the limits
    /// of this size
    #[arg(long, value_name = "NAME", help_heading = "Documented limits")]
    pub vm: Option<String>,
    /// Disk type, such as P30 or gp3:size=500G,iops=6000; pass it once for all targets, or once for
    /// each target
    #[arg(long, value_name = "DISK", help_heading = "Documented limits")]
    pub disk: Vec<String>,
    /// Host caching of the disks: none, readonly, readwrite [default: none]
    #[arg(long, value_name = "MODE", help_heading = "Documented limits")]
    pub caching: Option<String>,
    /// Disk controller, for VM sizes whose limits depend on it: scsi, nvme
    #[arg(long, value_name = "KIND", help_heading = "Documented limits")]
    pub variant: Option<String>,
    /// Do not query the cloud's metadata service to identify the VM
    #[arg(long, help_heading = "Documented limits")]
    pub no_metadata: bool,
    /// Address of the metadata service, for tests
    #[arg(long, value_name = "ADDRESS", hide = true)]
    pub metadata_address: Option<SocketAddr>,
    /// Directory with links to disks, for tests
    #[arg(long, value_name = "DIR", hide = true)]
    pub disk_links: Option<PathBuf>,
}

/// How to handle a cap that arms share.
#[derive(Debug, Clone, Args)]
pub(crate) struct CapArgs {
    /// If arms reach the same cap, also compare them at a load below that cap
    #[arg(long, conflicts_with = "no_depth_check", help_heading = "Caps")]
    pub below_cap: bool,
    /// Skip the extra runs that look for a shared cap at other queue depths
    #[arg(long, help_heading = "Caps")]
    pub no_depth_check: bool,
}

/// How to search for caps.
#[derive(Debug, Args)]
pub(crate) struct SearchArgs {
    /// Search faster, with fewer points, shorter windows and wider intervals
    #[arg(long, help_heading = "Search")]
    pub quick: bool,
    /// After measuring a target, or a pair of targets, for TIME, skip all steps that only refine
    /// the result [default: no limit]
    ///
    /// Without this option, iotax observes a changing rate for up to two more minutes, and measures
    /// uncertain results again.
    #[arg(long, value_name = "TIME", help_heading = "Search")]
    pub max_time: Option<String>,
    /// Load each target until its burst ends, for at most TIME [default: 10m]
    #[arg(long, value_name = "TIME", num_args = 0..=1, require_equals = true, default_missing_value = "10m", help_heading = "Search")]
    pub burst: Option<String>,
    /// Pauses after which to measure how much of the burst has recovered
    #[arg(
        long,
        value_name = "TIME,TIME",
        default_value = "30s,2m",
        requires = "burst",
        help_heading = "Search"
    )]
    pub pauses: String,
    /// Seed for all random choices [default: random; stored in the results]
    #[arg(long, value_name = "N", help_heading = "Search")]
    pub seed: Option<u64>,
}

/// Factors whose levels make the arms.
#[derive(Debug, Default, Args)]
pub(crate) struct MatrixArgs {
    /// Make one arm for every combination of levels; repeat the option for each factor.
    ///
    /// Specify one target. iotax replaces {NAME} in the target with each level. If the target does
    /// not contain {NAME}, the factor sets the layer parameter of that name (LAYER.NAME if several
    /// layers have it). Each level is compared with the first level of its factor, across all arms
    /// that are otherwise the same.
    ///
    /// A factor can also be a --set key of the workload, such as bs, depth or JOB.rate. Each of its
    /// levels is then a phase, and all arms run in every phase.
    #[arg(long = "matrix", value_name = "NAME=LEVEL,LEVEL...", help_heading = "Matrix")]
    pub factors: Vec<String>,
    /// Leave out arms that have all of these levels; can be repeated
    #[arg(long, value_name = "NAME=LEVEL,...", requires = "factors", help_heading = "Matrix")]
    pub exclude: Vec<String>,
}

/// Host settings that belong to an arm.
#[derive(Debug, Default, Args)]
pub(crate) struct HostCommandArgs {
    /// Run this command each time ARM's turn begins, to make a host setting part of the arm; repeat
    /// the option for other arms.
    ///
    /// iotax runs the command with `sh -c` as your user, in the working directory, for at most 60
    /// s. If the command fails, the trial fails too, and the --after command runs. Several arms can
    /// have the same target and differ only in such a setting, for example the I/O scheduler,
    /// `read_ahead_kb`, `hdparm -W` or `zfs set`.
    #[arg(long, value_name = "ARM=COMMAND", help_heading = "Host settings")]
    pub before: Vec<String>,
    /// Run this command each time ARM's turn ends, to undo what --before did; use ARM=none if
    /// nothing needs to be undone.
    ///
    /// The command also runs after a failure and after Ctrl-C. If the run is killed, `iotax undo`
    /// runs the command.
    #[arg(long, value_name = "ARM=COMMAND", help_heading = "Host settings")]
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
      one target for each drive named in a job file or command line")]
pub(crate) struct RunArgs {
    /// Built-in workload or suite (see `iotax workloads`), recording (see `iotax capture`), fio job
    /// file, or quoted fio or DiskSpd command line
    #[arg(value_name = "WORKLOAD")]
    pub workload: String,
    /// Directory, file, block device (read-only) or stack to test. If the jobs name several
    /// targets, give NAME=TARGET for each; iotax uses all targets at the same time
    #[arg(value_name = "TARGET", required = true)]
    pub targets: Vec<String>,
    /// Number of trials [default: 1; with --fail-if or a workload that has a threshold, as many as
    /// needed, up to 40]
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
    /// Arguments with these targets and this workload.
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
      IOPS cap, bandwidth cap and useful queue depth, and whether a throttle or
      a saturated device sets the caps
  iotax limits /dev/sdc --quick
      the same with fewer and shorter measurements; iotax only reads the device
  iotax limits --burst=40m /mnt/data
      load the storage until its burst ends, and see how much of the burst
      recovers during pauses
  iotax limits cached=/mnt/f uncached=/mnt/g
      also: whether the targets share a bucket, have separate buckets, or both
  iotax limits --vm Standard_DS1_v2 --disk P10 --caching readonly /mnt/f
      also: which documented limit is reached first
  iotax limits --disk P10 /mnt/g --fail-if 'below documented by 5%'
      exit code 1 if a cap is more than 5 % below its documented limit
  iotax limits 'mem(size=1G) + flash(channels=4, latency=80us, bw=200M)'

In a directory, iotax creates a file of the given --size and reads it. It writes
nothing else unless you pass --write.")]
#[command(mut_arg("fail_if", |arg| arg.long_help(CAP_RULES)))]
pub(crate) struct LimitsArgs {
    /// Directory, file, block device or stack; use NAME=TARGET to name the target in the report
    #[arg(value_name = "TARGET", required = true)]
    pub targets: Vec<String>,
    #[command(flatten)]
    pub search: SearchArgs,
    #[command(flatten)]
    pub documented: DocumentedArgs,
    /// Write instead of reading (only for directories and stacks)
    #[arg(long, help_heading = "Search")]
    pub write: bool,
    /// Size of the test file in a directory [default: 1G, or less if there is not enough space]
    #[arg(long, value_name = "SIZE", help_heading = "Search")]
    pub size: Option<String>,
    /// Directory for the scratch files of stacks whose `file` layer has no path
    #[arg(long, value_name = "DIR", default_value = ".", help_heading = "Search")]
    pub dir: PathBuf,
    /// Block device that iotax may overwrite, for stacks whose base is `dev`; can be repeated
    #[arg(long, value_name = "DEV", help_heading = "Search")]
    pub destroy: Vec<PathBuf>,
    #[command(flatten)]
    pub gate: GateArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// `iotax peer`
#[derive(Debug, Args)]
pub(crate) struct PeerArgs {
    /// Address and port to listen on; port 0 selects a free port
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "0.0.0.0:7474")]
    pub listen: SocketAddr,
    /// File with the token that both ends share. Without this option, iotax creates a token and
    /// prints it.
    ///
    /// With `-`, iotax reads the token from the first line of standard input. In that case, the
    /// peer exits when its standard input is closed.
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
}

// Arguments of `iotax compare`.

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

The first arm is the baseline. In a directory, iotax works in a private folder
and removes it afterwards. iotax reads existing files and block devices, but
never writes to them.

Pass saved results instead of targets to compare them without running anything:
results directories (DIR#ARM for one arm), JSON from iotax run or fio, and XML
from DiskSpd, in any combination. If an arm has several results, separate them
with commas or repeat the name of the arm.")]
pub(crate) struct CompareArgs {
    /// NAME=TARGET for each arm, saved results, or one experiment file (.toml)
    #[arg(value_name = "ARM", required = true)]
    pub arms: Vec<String>,
    /// Workload to run on every arm, as in `iotax run`. You can also put the workload before
    /// the arms; use ./NAME for a directory that has the same name as a workload
    #[arg(short, long, value_name = "WORKLOAD")]
    pub workload: Option<String>,
    /// Compare ARM with BASELINE instead of with the first arm; can be repeated
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
    /// Arguments with these arms and this workload.
    pub(crate) fn of(arms: Vec<String>, workload: String, measure: MeasureArgs) -> Self {
        let (host, matrix) = (HostCommandArgs::default(), MatrixArgs::default());
        Self { arms, workload: Some(workload), pair: Vec::new(), host, matrix, measure }
    }

    /// Moves a workload that precedes the arms into `--workload`.
    #[must_use]
    pub(crate) fn settled(mut self) -> Self {
        if self.workload.is_none() && self.arms.len() > 1 && workload::is_workload(&self.arms[0]) {
            self.workload = Some(self.arms.remove(0));
        }
        self
    }
}
