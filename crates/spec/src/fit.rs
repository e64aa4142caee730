//! Test files that fit: sizes that nobody asked for give way to the room there is.
//!
//! All arms get the same files: the largest that the arm with the least room has room for. What
//! shrinks is decided before the first trial and kept in the spec. Sizes go down in steps, so that
//! a little more or less free space makes no other experiment.

use serde::{Deserialize, Serialize};

use crate::spec::Spec;
use crate::tree::Tree;
use crate::units::format_bytes;
use crate::workload::{Files, Job, Workload};

/// Smaller test files are answered by whatever remembers them: the caches of disks and
/// controllers hold as much.
const LEAST_SPAN_BYTES: u64 = 64 << 20;
/// A hundredth: below it `driver-searcher` reads less than 512 MiB, and its writers go round in files
/// of a few downloads.
const LEAST_PERCENT: u32 = 1;
/// Versions of an index that exist at the same time: the one being searched, the one published
/// last, and the one being written.
const INDEX_VERSIONS: u64 = 3;
/// Files of a tree take blocks of this size.
const TREE_BLOCK_BYTES: u64 = 4096;

/// What gives way where test files find no room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Yields {
    /// The sizes of its largest files; those of others, and all times, stay.
    Spans,
    /// All of it, as with [`Workload::scale`], because its jobs have to keep their proportions.
    Scale {
        /// The length of the measured window is a default, too.
        time: bool,
        /// The length of the discarded start is a default, too.
        ramp: bool,
    },
}

/// How test files were fitted to the room there is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Fitted {
    /// The arm with the least room.
    pub arm: usize,
    /// What it has for test files.
    pub room_bytes: u64,
    /// What they would have taken.
    pub from_bytes: u64,
    /// What they take.
    pub to_bytes: u64,
    /// The factor on all sizes, and on times that were not asked for; without one, only the
    /// largest files are smaller.
    pub scale: Option<f64>,
}

impl Spec {
    /// Bytes that the test files of all phases take together in a directory.
    pub fn bytes_of_files(&self) -> u64 {
        self.all_at_once().bytes_of_files()
    }

    /// Shrinks what yields until all test files fit `room`: an arm, and the bytes it has for them.
    /// Where that would make them too small to mean anything, they stay as they are, for whoever
    /// looks for room to refuse them.
    pub fn fit(&mut self, room: Option<(usize, u64)>) {
        let from_bytes = self.bytes_of_files();
        let small = room.filter(|(_, room_bytes)| *room_bytes < from_bytes);
        if let Some((arm, room_bytes)) = small
            && let Some((smaller, scale)) = self.fitting(room_bytes)
        {
            let to_bytes = smaller.bytes_of_files();
            *self = smaller;
            self.fitted = Some(Fitted { arm, room_bytes, from_bytes, to_bytes, scale });
        }
        self.phases_mut().for_each(|phase| phase.yields = None);
    }

    /// The least that its test files can be made to take by [`Spec::fit`]; what they take if
    /// nothing yields.
    pub fn least_bytes_of_files(&self) -> u64 {
        self.smaller().last().map_or(self.bytes_of_files(), |(least, _)| least.bytes_of_files())
    }

    /// The factor that its test files would fit `room_bytes` with, if all of it were scaled.
    pub fn scale_that_fits(&self, room_bytes: u64) -> Option<f64> {
        let fits = |scale: &f64| {
            let mut spec = self.clone();
            let scaled = spec.phases_mut().try_for_each(|phase| phase.scale(*scale));
            scaled.is_ok() && spec.bytes_of_files() <= room_bytes
        };
        scales().find(fits)
    }

    /// One sentence about how test files were fitted, if they were.
    pub fn told_fit(&self) -> Option<String> {
        let Fitted { arm, room_bytes, from_bytes, to_bytes, scale } = self.fitted?;
        let name = self.arms.get(arm).map_or("an arm", |arm| arm.name.as_str());
        let [room, from, to] = [room_bytes, from_bytes, to_bytes].map(rounded);
        let how = scale.map_or(String::new(), |scale| format!(", as with --scale {scale}"));
        let reason = format!("{name} has room for {room}");
        Some(format!("test files of {to} instead of {from}{how}, because {reason}"))
    }

    fn phases_mut(&mut self) -> impl Iterator<Item = &mut Workload> {
        std::iter::once(&mut self.workload).chain(&mut self.then)
    }

    /// The largest of the smaller ones that fits.
    fn fitting(&self, room_bytes: u64) -> Option<(Self, Option<f64>)> {
        self.smaller().find(|(spec, _)| spec.bytes_of_files() <= room_bytes)
    }

    /// The same experiment with smaller and smaller test files; none if nothing yields.
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
        for phase in spec.phases_mut() {
            let Some(Yields::Scale { time, ramp }) = phase.yields else { continue };
            let (time_ns, ramp_ns) = (phase.time_ns, phase.ramp_ns);
            phase.scale(scale).ok()?;
            phase.time_ns = if time { phase.time_ns } else { time_ns };
            phase.ramp_ns = if ramp { phase.ramp_ns } else { ramp_ns };
        }
        Some(spec)
    }

    /// With no more than `cap_bytes` for the files of each job.
    fn capped(&self, cap_bytes: u64) -> Self {
        let mut spec = self.clone();
        let groups = self.all_at_once();
        let groups = groups.file_groups();
        for phase in spec.phases_mut().filter(|phase| phase.yields == Some(Yields::Spans)) {
            for job in phase.jobs.iter_mut().filter(|job| job.tree.is_none()) {
                let threads = groups.iter().find(|group| group.key == key(job));
                job.cap(cap_bytes / u64::from(threads.map_or(1, |group| group.files).max(1)));
            }
        }
        spec
    }
}

impl Workload {
    /// Bytes that its test files take in a directory.
    pub fn bytes_of_files(&self) -> u64 {
        let index = self.index.map_or(0, |index| index.index_bytes.saturating_mul(INDEX_VERSIONS));
        let groups = self.file_groups().into_iter().map(|group| group.bytes);
        groups.fold(index, u64::saturating_add)
    }

    /// A time was asked for: it does not yield.
    pub(crate) const fn keep_time(&mut self) {
        if let Some(Yields::Scale { time, .. }) = &mut self.yields {
            *time = false;
        }
    }

    /// A ramp was asked for: it does not yield.
    pub(crate) const fn keep_ramp(&mut self) {
        if let Some(Yields::Scale { ramp, .. }) = &mut self.yields {
            *ramp = false;
        }
    }

    /// Its files, by the jobs that share them.
    fn file_groups(&self) -> Vec<FileGroup<'_>> {
        // Jobs of one name in several phases work on the same files.
        let mut groups: Vec<FileGroup<'_>> = Vec::new();
        for job in self.jobs.iter().filter(|job| !job.engine.does_nothing()) {
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

/// Files that jobs of several phases may have in common.
struct FileGroup<'a> {
    key: (&'a str, bool),
    /// How many there are.
    files: u32,
    /// All of them together.
    bytes: u64,
}

/// Which files a job works on: its own, or those of this name. A tree is a thread's own.
fn key(job: &Job) -> (&str, bool) {
    match &job.files {
        Files::Shared(name) if job.tree.is_none() => (name, false),
        Files::Shared(_) | Files::PerThread => (&job.name, true),
    }
}

impl Job {
    /// Lets each of its files be no larger than `bytes`: whole blocks, and whole MiB of large ones.
    fn cap(&mut self, bytes: u64) {
        const MIB: u64 = 1 << 20;
        let bytes = if bytes >= 16 * MIB { bytes - bytes % MIB } else { bytes };
        let block = u64::from(self.block_sizes.max_bytes()).max(self.align_bytes.unwrap_or(0));
        let unit = block.saturating_mul(self.files_per_thread.into()).max(1);
        if self.size_bytes > bytes {
            self.size_bytes = (bytes / unit).max(1).saturating_mul(unit);
        }
    }
}

/// Bytes that a tree of files takes: whole blocks, and one for what tells of the file.
fn bytes_of_tree(tree: &Tree) -> u64 {
    let blocks = u64::from(tree.file_bytes).div_ceil(TREE_BLOCK_BYTES) + 1;
    u64::from(tree.files) * blocks * TREE_BLOCK_BYTES
}

/// Factors of one digit, from the largest.
fn scales() -> impl Iterator<Item = f64> {
    let tens = (1..10).rev().map(|tenth| tenth * 10);
    tens.chain((LEAST_PERCENT..10).rev()).map(|percent| f64::from(percent) / 100.0)
}

/// Sizes below `bytes`, eight between one power of two and the next, from the largest.
fn caps(bytes: u64) -> impl Iterator<Item = u64> {
    let octaves = (0..60_u32).rev();
    let all = octaves.flat_map(|power| (8..16_u64).rev().map(move |eighths| eighths << power));
    all.filter(move |cap| (LEAST_SPAN_BYTES..bytes).contains(cap))
}

/// For people: whole GiB of what is large, whole MiB else.
fn rounded(bytes: u64) -> String {
    let unit: u64 = match bytes {
        0..0xa0_0000 => 1,
        0xa0_0000..0x2_8000_0000 => 1 << 20,
        _ => 1 << 30,
    };
    format_bytes(bytes / unit * unit)
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use proptest::prelude::*;

    use super::*;
    use crate::overrides::Changes;
    use crate::spec::{Arm, Stop, Target};

    const GIB: u64 = 1 << 30;

    /// A built-in workload or suite with options, on `b`, the second of two arms.
    fn spec(name: &str, changes: &Changes) -> Spec {
        let mut phases =
            Workload::suite(name).unwrap_or_else(|_| vec![Workload::preset(name).unwrap()]);
        changes.apply_to(&mut phases).unwrap();
        let arms = ["a", "b"].map(|arm| Arm::new(arm, Target::Path(format!("/mnt/{arm}").into())));
        let first = phases.remove(0);
        let spec = Spec::compare(first, arms.into(), Stop::default(), 1).unwrap();
        spec.followed_by(phases, Some(name.into())).unwrap()
    }

    fn set(text: &str) -> Changes {
        Changes { set: vec![text.into()], ..Changes::default() }
    }

    fn fitted(name: &str, changes: &Changes, room_bytes: u64) -> String {
        let mut spec = spec(name, changes);
        spec.fit(Some((1, room_bytes)));
        assert!(spec.phases().all(|phase| phase.validate().is_ok() && phase.yields.is_none()));
        let lines = spec.phases().flat_map(Workload::explain);
        spec.told_fit().into_iter().chain(lines).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn a_file_takes_what_there_is_and_its_times_stay() {
        let none = Changes::default();
        assert_snapshot!(fitted("randread-4k", &none, 857 << 20), @"
        test files of 832M instead of 1G, because b has room for 857M
        every trial: 2s ramp, then 5s measured
        io: 1 thread, random reads of 4k, over 832M, io_uring direct
        ");
        assert_snapshot!(fitted("randread-4k", &set("threads=4"), GIB), @"
        test files of 1G instead of 4G, because b has room for 1G
        every trial: 2s ramp, then 5s measured
        io: 4 threads, random reads of 4k, over 256M each, io_uring direct
        ");
        assert_snapshot!(fitted("randread-4k", &none, GIB), @"
        every trial: 2s ramp, then 5s measured
        io: 1 thread, random reads of 4k, over 1G, io_uring direct
        ");
    }

    #[test]
    fn what_was_asked_for_stays() {
        let sizes = ["size=1G", "io.size=1G"].map(set);
        let scale = Changes { scale: Some(1.0), ..Changes::default() };
        for asked in sizes.iter().chain([&scale]) {
            let mut spec = spec("randread-4k", asked);
            assert_eq!(spec.least_bytes_of_files(), GIB);
            spec.fit(Some((0, GIB / 2)));
            assert_eq!((spec.bytes_of_files(), spec.fitted), (GIB, None));
        }
    }

    #[test]
    fn a_search_engine_keeps_its_proportions_and_the_times_asked_for() {
        let none = Changes::default();
        assert_snapshot!(fitted("driver-searcher", &none, 2 * GIB), @"
        test files of 1662M instead of 110G, as with --scale 0.03, because b has room for 2G
        every trial: 1s ramp, then 5s measured
        download: 2 threads, sequential writes of 4M, over 60M each, psync buffered, a pause of 7ms after every I/O, write-through
        mmap_read (decides): 8 threads, random reads of 4k-1M, over 1536M of `fio_blob`, mmap buffered with a cache that is kept cold, from 60ms on
        index: up to 4 versions/s of 2M published and loaded, slow over 10ms; 1000 queries/s of 16k
        ");
        let times = Changes {
            time_ns: Some(60_000_000_000),
            set: vec!["ramp=3s".into(), "download.threads=3".into()],
            ..Changes::default()
        };
        assert_snapshot!(fitted("driver-searcher", &times, 2 * GIB), @"
        test files of 1722M instead of 56G, as with --scale 0.03, because b has room for 2G
        every trial: 3s ramp, then 1m measured
        download: 3 threads, sequential writes of 4M, over 60M each, psync buffered, a pause of 105ms after every I/O, write-through
        mmap_read (decides): 8 threads, random reads of 4k-1M, over 1536M of `fio_blob`, mmap buffered with a cache that is kept cold, from 60ms on
        index: up to 4 versions/s of 2M published and loaded, slow over 10ms; 1000 queries/s of 16k
        ");
    }

    #[test]
    fn as_published_it_never_shrinks() {
        let mut spec = spec("driver-searcher-published", &Changes::default());
        spec.fit(Some((0, 20 * GIB)));
        assert_eq!(spec.fitted, None);
        assert_eq!(spec.scale_that_fits(20 * GIB), Some(0.1));
    }

    #[test]
    fn a_suite_shrinks_where_it_is_largest() {
        assert_snapshot!(fitted("provider-baseline", &Changes::default(), 60 * GIB), @"
        test files of 59G instead of 307G, because b has room for 60G
        every trial: 5s ramp, then 30s measured
        azure-random: 4 threads, random writes of 4k, over 4G each, io_uring 256 deep direct
        every trial: 5s ramp, then 30s measured
        azure-random: 4 threads, random reads of 4k, over 4G each, io_uring 256 deep direct
        every trial: 5s ramp, then 3m measured
        aws-random: 16 threads, random writes of 16k, over 1G each, psync direct
        every trial: 5s ramp, then 3m measured
        aws-random: 16 threads, random reads of 16k, over 1G each, psync direct
        every trial: 5s ramp, then 3m measured
        aws-sequential: 1 thread, sequential writes of 1M, over 1G, io_uring 8 deep direct
        every trial: 5s ramp, then 3m measured
        aws-sequential: 1 thread, sequential reads of 1M, over 1G, io_uring 8 deep direct
        every trial: 2s ramp, then 1m measured
        gcp-sequential: 16 threads, sequential writes of 1M, over 1G each, io_uring 64 deep direct
        every trial: 2s ramp, then 1m measured
        gcp-random: 1 thread, random writes of 4k, over 10G, io_uring 256 deep direct
        every trial: 2s ramp, then 1m measured
        gcp-sequential: 16 threads, sequential reads of 1M, over 1G each, io_uring 64 deep direct
        every trial: 2s ramp, then 1m measured
        gcp-random: 1 thread, random reads of 4k, over 10G, io_uring 256 deep direct
        ");
        assert_snapshot!(fitted("nfs-kerberos", &Changes::default(), GIB), @"
        test files of 980M instead of 8660M, because b has room for 1G
        every trial: 5s ramp, then 30s measured
        io: 1 thread, random reads of 4k, over 64M, psync direct
        every trial: 5s ramp, then 30s measured
        io: 1 thread, random writes of 4k, over 64M, psync direct
        every trial: 5s ramp, then 30s measured
        io: 1 thread, sequential reads of 64k, over 64M, psync direct
        every trial: 5s ramp, then 30s measured
        io: 1 thread, sequential writes of 64k, over 64M, psync direct
        every trial: 5s ramp, then 30s measured
        files: 1 thread, operations on 5000 files of 7111 bytes each (5 in a directory): create:20,stat:51,open:9,delete:20
        every trial: 5s ramp, then 30s measured
        files: 1 thread, operations on 5000 files of 7111 bytes each (5 in a directory): stat:80,open:8,list:12
        every trial: 5s ramp, then 30s measured
        io: 8 threads, random reads of 4k, over 64M each, io_uring 16 deep direct
        every trial: 5s ramp, then 30s measured
        io: 8 threads, random writes of 4k, over 64M each, io_uring 16 deep direct
        every trial: 5s ramp, then 30s measured
        io: 8 threads, sequential reads of 64k, over 64M each, io_uring 16 deep direct
        every trial: 5s ramp, then 30s measured
        io: 8 threads, sequential writes of 64k, over 64M each, io_uring 16 deep direct
        every trial: 5s ramp, then 30s measured
        files: 8 threads, operations on 5000 files of 7111 bytes each (5 in a directory): create:20,stat:51,open:9,delete:20
        every trial: 5s ramp, then 30s measured
        files: 8 threads, operations on 5000 files of 7111 bytes each (5 in a directory): stat:80,open:8,list:12
        ");
    }

    #[test]
    fn below_the_floor_nothing_shrinks() {
        let mut spec = spec("randread-4k", &Changes::default());
        assert_eq!(spec.least_bytes_of_files(), LEAST_SPAN_BYTES);
        spec.fit(Some((0, LEAST_SPAN_BYTES - 1)));
        assert_eq!((spec.bytes_of_files(), spec.fitted), (GIB, None));
    }

    #[test]
    fn a_tree_takes_what_its_files_do_for_each_thread() {
        let mut workload = Workload::preset("git-status").unwrap();
        let job = &mut workload.jobs[0];
        job.threads = 2;
        job.tree = Some(Tree { files: 1000, file_bytes: 7111, ..Tree::default() });
        assert_eq!(workload.bytes_of_files(), 2 * 1000 * 3 * 4096);
    }

    proptest! {
        /// Whatever the room: what is fitted fits, leaves less than half of it unused where a file
        /// would have taken it, and can run.
        #[test]
        fn what_is_fitted_fits(
            name in prop::sample::select(vec!["randread-4k", "driver-searcher", "provider-baseline"]),
            room_bytes in (64_u64 << 20)..(400 * GIB),
        ) {
            let mut spec = spec(name, &Changes::default());
            let (least, all) = (spec.least_bytes_of_files(), spec.bytes_of_files());
            spec.fit(Some((0, room_bytes)));
            let bytes = spec.bytes_of_files();
            prop_assert_eq!(spec.fitted.is_some(), (least..all).contains(&room_bytes));
            prop_assert!(spec.fitted.is_none() || (room_bytes / 3..=room_bytes).contains(&bytes));
            prop_assert_eq!(spec.validate(), Ok(()));
        }
    }
}
