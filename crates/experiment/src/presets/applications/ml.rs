//! Training of a model that reads its samples from files, as the benchmark of `MLPerf` has it.

use super::super::scales::{GIB, MIB};
use super::{Application, application};
use crate::workload::{BlockSizes, Files, Job, Pattern, RunLength, Workload};

pub(super) const LOAD: Application =
    Application { name: "ml-load", build: load, sources: &[CONFIG] };

const CONFIG: &str = "https://github.com/mlcommons/storage/blob/main/configs/dlio/workload/unet3d_h100.yaml \
     (samples of 146,600,628 bytes on average, one in a file; batches of 7, 4 reading threads)";
const THRESHOLD: &str = "https://github.com/mlcommons/storage/blob/main/configs/dlio/workload/unet3d_h100.yaml \
     (au 0.90: one H100 takes 7 samples of 146,600,628 bytes in 0.323 s, and has to be busy for 90 % \
     of the time)";

/// The mean sample, in reads of 1 MiB. Their size is ours: read-ahead makes its own of it.
const SAMPLE_READS: u32 = 140;

fn load() -> Workload {
    let samples = Job {
        threads: 4,
        pattern: Pattern::Runs(RunLength::Fixed(SAMPLE_READS)),
        block_sizes: BlockSizes::Fixed(MIB),
        size_bytes: 4 * GIB,
        files: Files::Shared("ml_samples".into()),
        invalidate: true,
        uncached: true,
        ..Job::new("samples")
    };
    application(
        "ml-load",
        "Training of 3D U-Net as MLPerf Storage has it: 4 threads read samples of 140 MiB in random \
         order, each from its beginning to its end, none of them from the page cache. What counts is \
         the bandwidth: it must keep one H100 busy for 90 % of the time.",
        vec![samples],
        Some(("bandwidth < 2727MiB/s", THRESHOLD)),
    )
}
