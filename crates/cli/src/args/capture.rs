use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand, value_parser};

use super::Listing;

/// `iotax capture`
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "\
Examples:
  iotax capture --unit postgresql --for 60s -o app.iotx
  iotax capture --pid 1234 --for 30s
  iotax capture -- sqlite3 test.db '.read load.sql'
      (records until the command ends)
  iotax capture show app.iotx
  iotax report app.iotx
      (writes app.iotx.html, with charts)

A recording contains no file contents and no file names. Recording needs
root, or CAP_BPF and CAP_PERFMON; with --strace, only the right to trace the
program.")]
pub(crate) struct CaptureArgs {
    #[command(subcommand)]
    pub action: Option<CaptureCommand>,
    #[command(flatten)]
    pub record: CaptureRecordArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CaptureCommand {
    /// Show what a recorded program does: I/O sizes, order, syncs, queue depth, waits of threads
    Show(CaptureShowArgs),
    /// Convert a trace of strace, blktrace, fio, Alibaba or Tencent into a recording
    Import(CaptureImportArgs),
    /// Write a recording as an I/O log for fio (3.31 or later), or as a Parquet table
    Export(CaptureExportArgs),
}

#[derive(Debug, Args)]
pub(crate) struct CaptureRecordArgs {
    /// Process to record, with its descendants; can be repeated
    #[arg(long = "pid", value_name = "PID", value_parser = value_parser!(u32).range(1..))]
    pub pids: Vec<u32>,
    /// Cgroup to record: a directory below /sys/fs/cgroup
    #[arg(long, value_name = "DIR", conflicts_with = "pids")]
    pub cgroup: Option<PathBuf>,
    /// Systemd unit to record: NAME or NAME.service
    #[arg(long, value_name = "NAME", conflicts_with_all = ["pids", "cgroup"])]
    pub unit: Option<String>,
    /// Container on this machine to record: its ID or the beginning of its ID
    #[arg(long, value_name = "ID", conflicts_with_all = ["pids", "cgroup", "unit"])]
    pub container: Option<String>,
    /// Stop recording after this time; iotax then waits for the command [default: record until the
    /// program ends]
    #[arg(long = "for", value_name = "TIME")]
    pub time: Option<String>,
    /// File to create [default: capture-YYYYMMDD-HHMMSS.iotx]
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Maximum size of the recording
    #[arg(long, value_name = "SIZE", default_value = "1G")]
    pub max_size: String,
    /// Stop recording if iotax uses more than this share of the machine's CPU time in any 2 s
    /// [default: 3%; with --strace: no limit]
    #[arg(long, value_name = "PERCENT")]
    pub max_overhead: Option<String>,
    /// Record with strace instead of BPF. Needs no rights to record your own programs, but slows them
    /// down, and does not see which thread waits for which
    #[arg(long, conflicts_with_all = ["cgroup", "unit", "container", "to_client"])]
    pub strace: bool,
    /// Print only the main findings
    #[arg(short, long)]
    pub quiet: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t = Listing::Text)]
    pub format: Listing,
    /// Send progress and the recording to the iotax process that started this one
    #[arg(long, hide = true, requires = "out")]
    pub to_client: bool,
    /// Command to start and record, with its arguments, after `--`
    #[arg(last = true, value_name = "COMMAND",
          conflicts_with_all = ["pids", "cgroup", "unit", "container"])]
    pub command: Vec<OsString>,
}

/// `iotax capture show`
#[derive(Debug, Args)]
pub(crate) struct CaptureShowArgs {
    /// Recording to show
    pub file: PathBuf,
    /// Print all tables, even on a terminal
    #[arg(short, long)]
    pub verbose: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t = Listing::Text)]
    pub format: Listing,
}

/// `iotax capture import`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  strace -f -ttt -T -y -o app.strace COMMAND
  iotax capture import app.strace -o app.iotx
  iotax capture import sda.blktrace.0 sda.blktrace.1 -o sda.iotx

Formats: strace -f -ttt -T (text), fio write_iolog (versions 2 and 3), blktrace
(binary), and the published block traces of Alibaba and Tencent (CSV).")]
pub(crate) struct CaptureImportArgs {
    /// Files to import; several files of blktrace or fio are merged by time, other formats take one
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// File to create
    #[arg(short, long, value_name = "FILE")]
    pub out: PathBuf,
    /// Output format
    #[arg(long, value_enum, default_value_t = Listing::Text)]
    pub format: Listing,
}

/// `iotax capture export`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  iotax capture export app.iotx -o app.iolog
  fio --name=app --directory=/mnt/data --read_iolog=app.iolog
  iotax capture export app.iotx -o app.parquet
  duckdb -c \"SELECT op, count(*) FROM 'app.parquet' GROUP BY op\"")]
pub(crate) struct CaptureExportArgs {
    /// Recording to export
    pub file: PathBuf,
    /// File to create. A name that ends in .parquet gets a table with a row for each event, any other
    /// name an I/O log for fio
    #[arg(short, long, value_name = "FILE")]
    pub out: PathBuf,
}
