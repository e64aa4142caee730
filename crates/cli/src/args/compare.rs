//! The words of `iotax compare`.

use clap::Args;

use super::measure::{HostCommandArgs, MatrixArgs, MeasureArgs};
use crate::resolve::workload;

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

Results in the place of targets are compared as they are, and nothing is run:
directories of results (DIR#ARM for one arm of it), JSON of iotax run and of
fio, XML of DiskSpd, in any mixture. Several of one arm, with commas between or
under its name again, are repetitions.")]
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
