use clap::{Args, value_parser};

use super::measure::{DocumentedArgs, GateArgs, LoadArgs, MeasureArgs, OutputArgs};

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
