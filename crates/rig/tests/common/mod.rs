//! Specs for tests.
#![allow(dead_code, reason = "each test program uses its own part")]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use iotax_experiment::{
    Arm, Design, Draft, Job, Layer, Pattern, Spec, Stack, Stop, StopMode, Target, Workload,
};
use iotax_layers::File;
use iotax_load::PeerSecrets;
use iotax_rig::{GivenUp, Options, Preparing};

/// A directory, file or device.
pub(crate) fn path(path: impl Into<PathBuf>) -> Target {
    Target::Path(path.into())
}

/// A stack that is a file and nothing else.
pub(crate) fn file(path: Option<PathBuf>, size_bytes: u64) -> Target {
    stack([Layer::File(File { path, size_bytes, thin: false })])
}

/// A stack of these layers.
pub(crate) fn stack(layers: impl Into<Vec<Layer>>) -> Target {
    Target::Stack(Stack { layers: layers.into() })
}

/// These arms under 4 KiB random reads of a 64 KiB file.
pub(crate) fn spec(arms: &[(&str, Target)]) -> Spec {
    let arms = arms.iter().map(|(name, target)| Arm::new(*name, target.clone()));
    Draft {
        stop: Stop {
            mode: StopMode::Quick,
            margin: 0.05,
            alpha: 0.05,
            simultaneous: true,
            max_blocks: 1,
            max_blocks_asked: true,
            min_blocks: 1,
            max_time_ns: None,
        },
        seed: 1,
        ..Draft::new(
            vec![Workload { time_ns: 1_000_000_000, ..Workload::new("test", vec![job()]) }],
            arms.collect(),
            Design::Compare,
        )
    }
    .unchecked()
}

/// The same under a workload that writes.
pub(crate) fn writing(arms: &[(&str, Target)]) -> Spec {
    spec(arms).with(|spec| spec.phases[0].jobs[0].read_percent = 50)
}

fn job() -> Job {
    Job { threads: 2, pattern: Pattern::Random, size_bytes: 64 << 10, ..Job::new("job") }
}

static NO_SECRETS: PeerSecrets = PeerSecrets::new();
static NOTHING: GivenUp = GivenUp { devices: Vec::new(), are_new: false };

/// Options without a device to destroy.
pub(crate) fn options<'a>(
    work_dir: &'a Path,
    state_dir: Option<PathBuf>,
    progress: &'a mut dyn FnMut(&Preparing<'_>),
    stop: &Arc<AtomicBool>,
) -> Options<'a> {
    let stop = Arc::clone(stop);
    Options {
        work_dir,
        state_dir,
        progress,
        stop,
        given_up: &NOTHING,
        program: Path::new("iotax"),
        secrets: &NO_SECRETS,
    }
}
