//! Bundles, which repeat a measurement with fio, without iotax.
//!
//! Like all formats, this only creates text. The script is the same in every bundle. The data files
//! next to it contain only names and numbers that a shell or fio cannot misinterpret.

mod expected;
mod phases;
mod readme;
mod replay;

use std::collections::BTreeSet;
use std::io::{self, Write as _};

use flate2::{Compression, GzBuilder};
use iotax_experiment::{Blame, Fault};
use iotax_record::ExperimentHead;

use crate::experiment::AnalyzedPhase;
use crate::json::text::json_text;

/// The script, which needs a POSIX shell and fio.
const RUN: &str = include_str!("run.sh");
/// The largest seed that fio reads.
const SEED_MASK: u64 = u64::MAX >> 1;

/// A trial of the record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Block, from 0.
    pub block: u32,
    /// Phase, from 0.
    pub phase: u32,
    pub arm: String,
    /// Seed of its load.
    pub seed: u64,
}

/// The recording of a phase, as a log that fio replays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// Phase, from 0.
    pub phase: usize,
    /// The log.
    pub log: String,
    /// The files that fio creates first.
    pub files: Vec<RecordedFile>,
    /// Bypass the page cache.
    pub direct: bool,
    /// Whether it can be replayed on a file or device instead of in a directory.
    pub is_of_device: bool,
    /// What the replay cannot show.
    pub without: Vec<String>,
}

/// A file of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedFile {
    pub name: String,
    pub bytes: u64,
}

/// The reason why there is no bundle.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum Error {
    /// No phase has a job that fio can run.
    #[error(
        "fio cannot run any job in this record:\n{}",
        without.join("\n")
    )]
    NothingForFio { without: Vec<String> },
    /// The script supports only one target per arm.
    #[error(
        "the jobs in this record use several targets at the same time, but a bundle supports only \
         one target per arm; use `iotax run ... --engine fio`, or run each job alone"
    )]
    SeveralTargets,
    /// No trial was completed.
    #[error("this record has no completed trial, so there is nothing to repeat")]
    NoTrials,
}

impl Blame for Error {
    fn fault(&self) -> Fault {
        match self {
            Self::NothingForFio { .. } | Self::SeveralTargets | Self::NoTrials => Fault::Usage,
        }
    }
}

/// Creates the bundle of an experiment. `parts` are its phases, `steps` its trials in order. The
/// caller redacts all of them, if necessary. `recorded` are the recordings that phases replay.
pub fn bundle(
    experiment: &ExperimentHead,
    parts: &[AnalyzedPhase],
    steps: &[Step],
    recorded: &[Recorded],
) -> Result<Bundle, Error> {
    if experiment.spec.has_several_targets() {
        return Err(Error::SeveralTargets);
    }
    let phases = phases::phases(&experiment.spec, recorded);
    let without: Vec<String> = phases.iter().flat_map(|phase| phase.without.clone()).collect();
    let mut seen = BTreeSet::new();
    let without: Vec<String> =
        without.into_iter().filter(|line| seen.insert(line.clone())).collect();
    if phases.iter().all(|phase| phase.sections.is_empty()) {
        return Err(Error::NothingForFio { without });
    }
    let arms = readme::arms(experiment);
    let order = order(&phases, &arms, steps);
    if order.is_empty() {
        return Err(Error::NoTrials);
    }
    let plain =
        |path: &str, text: String| BundleFile { path: path.into(), text, executable: false };
    let mut files = vec![
        plain("README.md", readme::readme(experiment, parts, &arms, &phases, order.len())),
        plain("arms.txt", readme::table(&arms)),
        plain("environment.json", json_text(experiment)),
        plain("expected.txt", expected::expected(parts, &arms, &phases)),
        plain("order.txt", order.join("")),
        plain("phases.txt", phases::table(&phases)),
        plain("results.csv", crate::csv(parts.iter().map(|(_, analysis)| analysis))),
        BundleFile { path: "run.sh".into(), text: RUN.to_owned(), executable: true },
    ];
    files.extend(phases.iter().flat_map(phases::files));
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(Bundle {
        files,
        arms: arms.iter().map(|arm| (arm.id.clone(), arm.name.clone())).collect(),
        trials: order.len(),
        without,
    })
}

/// One line per trial: block, phase, arm, seed.
fn order(phases: &[phases::Phase], arms: &[readme::Arm], steps: &[Step]) -> Vec<String> {
    let line = |step: &Step| {
        let phase = phases.get(usize::try_from(step.phase).ok()?)?;
        let arm = arms.iter().find(|arm| arm.name == step.arm)?;
        let seed = step.seed & SEED_MASK;
        let block = u64::from(step.block) + 1;
        (!phase.sections.is_empty()).then(|| format!("{block} {} {} {seed}\n", phase.id, arm.id))
    };
    steps.iter().filter_map(line).collect()
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BundleFile {
    /// Path within the bundle.
    pub path: String,
    /// Its contents.
    pub text: String,
    /// Whether it is executable.
    pub executable: bool,
}

/// A bundle: its files, and what to report about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bundle {
    /// Sorted by path.
    pub files: Vec<BundleFile>,
    /// The ID in `run.sh` and the name of each arm.
    pub arms: Vec<(String, String)>,
    /// Number of trials that it runs.
    pub trials: usize,
    /// What fio cannot repeat, for users.
    pub without: Vec<String>,
}

const PROGRAM: u32 = 0o755;
const TEXT: u32 = 0o644;

/// Packs the bundle as `.tar.gz` below the directory `top`, reproducibly: sorted, without times and
/// owners.
///
/// # Errors
/// If `top` plus a path is too long for the format.
pub fn archive(bundle: &Bundle, top: &str) -> io::Result<Vec<u8>> {
    let mut builder = tar::Builder::new(Vec::new());
    for file in &bundle.files {
        let mut header = tar::Header::new_gnu();
        header.set_size(file.text.len() as u64);
        header.set_mode(if file.executable { PROGRAM } else { TEXT });
        header.set_mtime(0);
        header.set_uid(0);
        header.set_gid(0);
        builder.append_data(&mut header, format!("{top}/{}", file.path), file.text.as_bytes())?;
    }
    let tar = builder.into_inner()?;
    let mut gzip = GzBuilder::new().mtime(0).write(Vec::new(), Compression::default());
    gzip.write_all(&tar)?;
    gzip.finish()
}
