//! Builds an experiment from one arm, several arms, or the subsets of one stack's layers.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use iotax_layers::units::format_bytes;
use iotax_layers::{About, Error, Form, Stack, resolve_path};

use crate::engine::{DrivenAt, Engine};
use crate::spec::{Arm, Design, Draft, Source, Spec, Stop, StopMode, Target};
use crate::target::refuse_too_many;
use crate::workload::{Job, RecordedLoad, Workload};

/// Up to this many layers, every subset is measured: 8 arms.
const FACTORIAL_LAYERS: usize = 3;
/// On request, every subset of up to this many layers: 16 arms.
const MAX_FACTORIAL_LAYERS: usize = 4;
/// Bits of a mask.
const MAX_LAYERS: usize = 31;

/// Which subsets of a stack's layers become arms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Subsets {
    /// All of them for up to 3 layers; for more: none, all, each alone, and each left out.
    #[default]
    Auto,
    /// All of them, for up to 4 layers.
    All,
}

impl Default for Stop {
    fn default() -> Self {
        Self {
            mode: StopMode::Default,
            margin: 0.05,
            alpha: 0.05,
            simultaneous: false,
            max_blocks: 40,
            max_blocks_asked: false,
            min_blocks: 4,
            max_time_ns: None,
        }
    }
}

impl Stop {
    /// Refuses conditions that never stop or never decide.
    pub fn validate(&self) -> Result<(), Error> {
        let refuse = |key, problem: String, advice| {
            Err(Error::impossible(About::Experiment, key, problem, advice))
        };
        if !(self.margin > 0.0 && self.margin < 1.0) {
            let problem = format!("{} is not between 0 and 1", self.margin);
            return refuse("margin", problem, "5% is a typical value");
        }
        if !(self.alpha > 0.0 && self.alpha < 0.5) {
            let problem = format!("{} is not between 0 and 0.5", self.alpha);
            return refuse("alpha", problem, "5% is a typical value");
        }
        if self.min_blocks == 0 {
            return refuse("min-blocks", "0 blocks would give no result".into(), "use at least 1");
        }
        if self.max_blocks < self.min_blocks {
            let problem = format!("{} is below min-blocks ({})", self.max_blocks, self.min_blocks);
            return refuse("max-blocks", problem, "");
        }
        if self.max_time_ns == Some(0) {
            return refuse("max-time", "must be above 0".into(), "");
        }
        Ok(())
    }
}

impl Target {
    /// Paths that the user gave as targets, including those in layers.
    pub fn named_paths(&self) -> Vec<PathBuf> {
        match self.clone() {
            Self::Path(path) => vec![path],
            Self::Stack(mut stack) => stack.paths_mut().into_iter().map(std::mem::take).collect(),
            Self::Several(targets) => {
                targets.iter().flat_map(|named| named.target.named_paths()).collect()
            }
        }
    }

    /// Makes relative paths absolute, as [`Draft::resolve_paths`] does.
    pub fn resolve_paths(&mut self, directory: &Path, home: Option<&Path>) {
        match self {
            Self::Path(path) => resolve_path(path, directory, home),
            Self::Stack(stack) => stack.resolve_paths(directory, home),
            Self::Several(targets) => {
                for named in targets {
                    named.target.resolve_paths(directory, home);
                }
            }
        }
    }
}

impl Spec {
    /// One arm under one workload.
    pub fn single(workload: Workload, arm: Arm, stop: Stop, seed: u64) -> Result<Self, Error> {
        Draft { stop, seed, ..Draft::new(vec![workload], vec![arm], Design::Single) }.resolve()
    }

    /// Every arm against the first, under one workload.
    pub fn compare(
        workload: Workload,
        arms: Vec<Arm>,
        stop: Stop,
        seed: u64,
    ) -> Result<Self, Error> {
        Draft { stop, seed, ..Draft::compare(vec![workload], arms)? }.resolve()
    }
}

/// Sector size of an in-process disk.
const SECTOR_BYTES: u64 = 512;

impl Draft {
    /// Default seed, so that experiments without one can be repeated.
    pub const DEFAULT_SEED: u64 = 1;

    /// An experiment with default options.
    pub fn new(phases: Vec<Workload>, arms: Vec<Arm>, design: Design) -> Self {
        Self {
            phases,
            side_phases: Vec::new(),
            suite: None,
            source: Source::Rig,
            arms,
            design,
            stop: Stop::default(),
            seed: Self::DEFAULT_SEED,
            cloud: crate::cloud::CloudChoice::default(),
            side_runs: crate::side_runs::SideRuns::default(),
            fail_if: Vec::new(),
            undecided: None,
            hold_ns: None,
            at_once: 1,
            unmatched_jobs: 0,
            fitted: None,
        }
    }

    /// Every arm against the first; at least two.
    pub fn compare(phases: Vec<Workload>, arms: Vec<Arm>) -> Result<Self, Error> {
        if arms.len() < 2 {
            let advice = "give two or more arms, as in base=/mnt/a other=/mnt/b";
            return Err(Error::syntax("a comparison needs at least two arms", advice));
        }
        Ok(Self::new(phases, arms, Design::Compare))
    }

    /// Removes layers of a stack: the arms are `stack` with subsets of the layers above its base.
    /// The first arm is `bare`, the last has all layers.
    pub fn peel(phases: Vec<Workload>, stack: &Stack, subsets: Subsets) -> Result<Self, Error> {
        let layers = stack.layer_names();
        let masks = masks(layers.len(), subsets)?;
        let arm = |mask: &u32| {
            let part = stack.part(*mask)?;
            Ok(Arm::new(subset_name(&layers, *mask), Target::Stack(part)))
        };
        let arms = masks.iter().map(arm).collect::<Result<_, Error>>()?;
        Ok(Self::new(phases, arms, Design::Peel { layers, masks }))
    }

    /// Refuses an experiment that cannot run, naming arm, job and key.
    pub fn validate(&self) -> Result<(), Error> {
        self.validate_phases()?;
        self.stop.validate()?;
        refuse_too_many(self.arms.len())?;
        let mut names = HashSet::new();
        for arm in &self.arms {
            if !names.insert(arm.name.as_str()) {
                return Err(Error::Duplicate { what: "arm", name: arm.name.clone() });
            }
        }
        self.arms_by_target().0.iter().try_for_each(|arm| self.validate_arm(arm))
    }

    fn validate_arm(&self, arm: &Arm) -> Result<(), Error> {
        let is_there = |job: &&Job| arm.part.is_none() || arm.part == job.target;
        for job in self.phases().flat_map(|phase| &phase.jobs).filter(is_there) {
            arm.validate_network(job)?;
            let refused = match &arm.target {
                Target::Stack(stack) => refused_on_stack(job, stack),
                Target::Path(path) if job.engine.info().at == DrivenAt::VirtualDisk => Some((
                    "engine",
                    format!(
                        "{} works only on stacks, not on the path {}",
                        job.engine.name(),
                        path.display()
                    ),
                    "use engine=io_uring, psync or mmap",
                )),
                Target::Path(_) | Target::Several(_) => None,
            };
            if let Some((key, problem, advice)) = refused {
                let subject = About::Arm { arm: arm.name.clone(), job: job.name.clone() };
                return Err(Error::impossible(subject, key, problem, advice));
            }
        }
        Ok(())
    }

    /// Makes relative paths of targets and of `file` layers absolute, relative to `directory`;
    /// `~/x` is in `home` if the caller has one.
    pub fn resolve_paths(&mut self, directory: &Path, home: Option<&Path>) {
        for arm in &mut self.arms {
            arm.target.resolve_paths(directory, home);
        }
    }
}

/// Checks whether a job can run on a stack. If not: the key, the problem, and what to do instead.
fn refused_on_stack(job: &Job, stack: &Stack) -> Option<(&'static str, String, &'static str)> {
    let (engine, at) = (job.engine.name(), job.engine.info().at);
    let largest = u64::from(job.max_block_bytes());
    if let Some(disk) = stack.size_bytes().filter(|disk| largest > *disk) {
        let (block, disk) = (format_bytes(largest), format_bytes(disk));
        let problem = format!("{block} blocks do not fit on the {disk} disk");
        let advice = "increase the size of the stack or reduce block-size";
        return Some(("block-size", problem, advice));
    }
    if at == DrivenAt::VirtualDisk && !stack.is_in_process() {
        let problem = format!("{engine} works only on in-process stacks, not on {stack}");
        return Some(("engine", problem, "use engine=io_uring, psync or mmap"));
    }
    if stack.is_in_process() && job.engine != Engine::Null {
        if job.write_through {
            let problem =
                format!("{stack} is simulated inside iotax and does not support write-through");
            let advice = "leave out write-through, use fsync-every=1, or mount the layers with \
                 vdisk(stack=\"...\")";
            return Some(("write-through", problem, advice));
        }
        if job.trims.is_some() {
            let problem = format!("{stack} is simulated inside iotax and does not support trims");
            let advice = "trim a file, a block device, or a file system on the stack: \
                          vdisk(stack=\"...\") + ext4";
            return Some(("trim", problem, advice));
        }
        if !job.granule_bytes().is_multiple_of(SECTOR_BYTES) && job.tree.is_none() {
            let problem =
                format!("{stack} supports only I/O in whole sectors of {SECTOR_BYTES} bytes");
            let advice = "choose another block-size, or add a file system on top of the \
                          stack, because a file system allows any size: \
                          vdisk(stack=\"...\") + ext4";
            return Some(("block-size", problem, advice));
        }
    }
    if let Some(recording) = &job.recording
        && stack.form() != Form::Directory
    {
        return refused_recording(recording, stack);
    }
    (at == DrivenAt::Directory && stack.form() != Form::Directory).then(|| {
        let problem = format!("the job needs a directory, but {stack} is not one");
        ("engine", problem, "put a file system on top, as in file(size=2G) + ext4")
    })
}

/// Checks whether a recording can be replayed on a stack without a file system.
fn refused_recording(
    recording: &RecordedLoad,
    stack: &Stack,
) -> Option<(&'static str, String, &'static str)> {
    let Some(bytes) = recording.device_bytes else {
        let problem = format!("the recording needs a directory, but {stack} is not one");
        let advice = "put a file system on top, as in file(size=2G) + ext4; only the I/O of a \
                      single block device can be replayed without one";
        return Some(("recording", problem, advice));
    };
    if stack.is_in_process() {
        let problem = format!("{stack} is simulated inside iotax and does not support recordings");
        return Some(("recording", problem, "mount the layers with vdisk(stack=\"...\")"));
    }
    let disk = stack.size_bytes().filter(|disk| bytes > *disk)?;
    let (bytes, disk) = (format_bytes(bytes), format_bytes(disk));
    let problem = format!("the recording uses {bytes} of a device, but the disk has only {disk}");
    Some(("recording", problem, "increase the size of the stack"))
}

/// The subsets of `layers` layers to measure, without repetition: the empty one first, the full one
/// last.
fn masks(layers: usize, subsets: Subsets) -> Result<Vec<u32>, Error> {
    let refuse = |problem: String, advice| {
        Err(Error::impossible(About::Experiment, "stack", problem, advice))
    };
    match (layers, subsets) {
        (0, _) => refuse(
            "the stack has no layer to remove".into(),
            "add layers to the base, as in file(size=2G) + aes + aes; a peel keeps file systems \
             and loop devices, because the load needs them",
        ),
        (0..=FACTORIAL_LAYERS, _) | (0..=MAX_FACTORIAL_LAYERS, Subsets::All) => {
            Ok((0..1 << layers).collect())
        }
        (_, Subsets::All) => refuse(
            format!(
                "all subsets of {layers} layers would require {} arms",
                1_u128 << layers.min(127)
            ),
            "use at most 4 layers, or do not request all subsets",
        ),
        (MAX_LAYERS.., _) => refuse(format!("{layers} layers are too many"), "use at most 30"),
        (_, Subsets::Auto) => {
            let all = (1_u32 << layers) - 1;
            let alone = (0..layers).map(|k| 1 << k);
            let left_out = (0..layers).map(|k| all ^ 1 << k);
            Ok([0].into_iter().chain(alone).chain(left_out).chain([all]).collect())
        }
    }
}

fn subset_name(layers: &[String], mask: u32) -> String {
    if mask == 0 {
        return "bare".to_owned();
    }
    let kept = layers.iter().enumerate().filter(|(k, _)| mask >> k & 1 == 1);
    kept.map(|(_, name)| name.as_str()).collect::<Vec<_>>().join(" + ")
}

#[cfg(test)]
mod tests;
