//! Shrinks test files to the available space, if the user did not set their sizes.
//!
//! All arms get the same files: the largest that fit on the arm with the least space. The decision
//! is made before the first trial and stored in the spec. Sizes shrink in steps, so that small
//! differences in free space do not change the experiment.

use crate::spec::{Draft, Fitted, Yields};
use crate::tree::Tree;
use crate::workload::{Files, Job, Workload};

/// Smaller test files would fit into the caches of disks and controllers.
const LEAST_SPAN_BYTES: u64 = 64 << 20;
/// One percent: below it, `driver-searcher` reads less than 512 MiB, and its writers repeatedly
/// overwrite files of a few downloads.
const LEAST_PERCENT: u32 = 1;
/// Versions of an index that exist at the same time: the searched one, the last published one, and
/// the one being written.
const INDEX_VERSIONS: u64 = 3;
/// Files of a tree use blocks of this size.
const TREE_BLOCK_BYTES: u64 = 4096;

impl Draft {
    /// Total bytes of the test files of all phases in a directory.
    pub fn bytes_of_files(&self) -> u64 {
        self.all_at_once().bytes_of_files()
    }

    /// Shrinks files until all of them fit into `space`: an arm, and the bytes available on it. If
    /// they would become too small to be useful, they keep their size, so that a later check
    /// refuses them.
    pub fn fit(&mut self, space: Option<(usize, u64)>) {
        let from_bytes = self.bytes_of_files();
        let small = space.filter(|(_, free_bytes)| *free_bytes < from_bytes);
        if let Some((arm, free_bytes)) = small
            && let Some((smaller, scale)) = self.fitting(free_bytes)
        {
            let to_bytes = smaller.bytes_of_files();
            *self = smaller;
            self.fitted = Some(Fitted { arm, free_bytes, from_bytes, to_bytes, scale });
        }
        self.phases.iter_mut().for_each(|phase| phase.yields = None);
    }

    /// The minimum size of its test files after [`Draft::fit`]; their size if nothing can shrink.
    pub fn least_bytes_of_files(&self) -> u64 {
        self.smaller().last().map_or(self.bytes_of_files(), |(least, _)| least.bytes_of_files())
    }

    /// The scale at which its test files would fit into `free_bytes`, if everything were scaled.
    pub fn scale_that_fits(&self, free_bytes: u64) -> Option<f64> {
        let fits = |scale: &f64| {
            let mut spec = self.clone();
            let scaled = spec.phases.iter_mut().try_for_each(|phase| phase.scale(*scale));
            scaled.is_ok() && spec.bytes_of_files() <= free_bytes
        };
        scales().find(fits)
    }

    /// The largest of the smaller ones that fits.
    fn fitting(&self, free_bytes: u64) -> Option<(Self, Option<f64>)> {
        self.smaller().find(|(spec, _)| spec.bytes_of_files() <= free_bytes)
    }

    /// The same experiment with smaller and smaller test files; none if nothing can shrink.
    fn smaller(&self) -> Box<dyn Iterator<Item = (Self, Option<f64>)> + '_> {
        match self.phases().find_map(|phase| phase.yields) {
            None => Box::new(std::iter::empty()),
            Some(Yields::Scale { .. }) => {
                Box::new(scales().filter_map(|scale| Some((self.scaled(scale)?, Some(scale)))))
            }
            Some(Yields::Spans) => {
                let all = self.all_at_once();
                let largest = all.file_groups().into_iter().map(|group| group.bytes).max();
                Box::new(caps(largest.unwrap_or(0)).map(|cap| (self.capped(cap), None)))
            }
        }
    }

    fn scaled(&self, scale: f64) -> Option<Self> {
        let mut spec = self.clone();
        for phase in &mut spec.phases {
            let Some(Yields::Scale { time, ramp }) = phase.yields else { continue };
            let (time_ns, ramp_ns) = (phase.time_ns, phase.ramp_ns);
            phase.scale(scale).ok()?;
            phase.time_ns = if time { phase.time_ns } else { time_ns };
            phase.ramp_ns = if ramp { phase.ramp_ns } else { ramp_ns };
        }
        Some(spec)
    }

    /// With at most `cap_bytes` for the files of each job.
    fn capped(&self, cap_bytes: u64) -> Self {
        let mut spec = self.clone();
        let groups = self.all_at_once();
        let groups = groups.file_groups();
        for phase in spec.phases.iter_mut().filter(|phase| phase.yields == Some(Yields::Spans)) {
            for job in phase.jobs.iter_mut().filter(|job| job.tree.is_none()) {
                let threads = groups.iter().find(|group| group.key == key(job));
                job.cap(cap_bytes / u64::from(threads.map_or(1, |group| group.files).max(1)));
            }
        }
        spec
    }
}

impl Workload {
    /// Bytes of its test files in a directory.
    pub fn bytes_of_files(&self) -> u64 {
        let index = self.index.map_or(0, |index| index.index_bytes.saturating_mul(INDEX_VERSIONS));
        let groups = self.file_groups().into_iter().map(|group| group.bytes);
        groups.fold(index, u64::saturating_add)
    }

    /// The user set the time, so it does not shrink.
    pub(crate) const fn keep_time(&mut self) {
        if let Some(Yields::Scale { time, .. }) = &mut self.yields {
            *time = false;
        }
    }

    /// The user set the ramp, so it does not shrink.
    pub(crate) const fn keep_ramp(&mut self) {
        if let Some(Yields::Scale { ramp, .. }) = &mut self.yields {
            *ramp = false;
        }
    }

    /// Its files, by the jobs that share them.
    fn file_groups(&self) -> Vec<FileGroup<'_>> {
        // Jobs with the same name in several phases use the same files.
        let mut groups: Vec<FileGroup<'_>> = Vec::new();
        for job in self
            .jobs
            .iter()
            .filter(|job| job.has_span() || job.engine.has_tree() || job.engine.replays())
        {
            let own_bytes = match &job.tree {
                Some(tree) => bytes_of_tree(tree),
                None => job.offset_bytes.saturating_add(job.size_bytes),
            };
            let key = key(job);
            let files = if key.1 { job.threads } else { 1 };
            let bytes = own_bytes.saturating_mul(files.into());
            match groups.iter_mut().find(|group| group.key == key) {
                Some(group) => {
                    group.files = group.files.max(files);
                    group.bytes = group.bytes.max(bytes);
                }
                None => groups.push(FileGroup { key, files, bytes }),
            }
        }
        groups
    }
}

/// Files that jobs of several phases can share.
struct FileGroup<'a> {
    key: (&'a str, bool),
    files: u32,
    /// All of them together.
    bytes: u64,
}

/// The files of a job: its own, or those with this name. Each thread has its own tree.
fn key(job: &Job) -> (&str, bool) {
    match &job.files {
        Files::Shared(name) if job.tree.is_none() => (name, false),
        Files::Shared(_) | Files::PerThread => (&job.name, true),
    }
}

impl Job {
    /// Limits each of its files to `bytes`: whole blocks, and whole MiB for large ones.
    fn cap(&mut self, bytes: u64) {
        const MIB: u64 = 1 << 20;
        let bytes = if bytes >= 16 * MIB { bytes - bytes % MIB } else { bytes };
        let block = u64::from(self.max_block_bytes()).max(self.align_bytes.unwrap_or(0));
        let unit = block.saturating_mul(self.files_per_thread.into()).max(1);
        if self.size_bytes > bytes {
            self.size_bytes = (bytes / unit).max(1).saturating_mul(unit);
        }
    }
}

/// Bytes of a tree of files: whole blocks, plus one block per file for its metadata.
fn bytes_of_tree(tree: &Tree) -> u64 {
    let blocks = u64::from(tree.file_bytes).div_ceil(TREE_BLOCK_BYTES) + 1;
    u64::from(tree.files) * blocks * TREE_BLOCK_BYTES
}

/// Scales with one digit, from the largest.
fn scales() -> impl Iterator<Item = f64> {
    let tens = (1..10).rev().map(|tenth| tenth * 10);
    tens.chain((LEAST_PERCENT..10).rev()).map(|percent| f64::from(percent) / 100.0)
}

/// Sizes below `bytes`, eight per power of two, from the largest.
fn caps(bytes: u64) -> impl Iterator<Item = u64> {
    let octaves = (0..60_u32).rev();
    let all = octaves.flat_map(|power| (8..16_u64).rev().map(move |eighths| eighths << power));
    all.filter(move |cap| (LEAST_SPAN_BYTES..bytes).contains(cap))
}

#[cfg(test)]
mod tests;
