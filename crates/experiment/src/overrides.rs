//! Changes to a workload: `--scale`, `--time`, `--ramp` and `--set job.key=value`.

use iotax_layers::units::{self, Unit};
use iotax_layers::{About, Error};

use crate::job_options::{self, INDEX_OPTIONS, JOB_OPTIONS, JobOption};
use crate::workload::{Bound, Job, Workload};

/// Minimum number of index versions in a window; fewer loads do not give a mean.
const LEAST_VERSIONS: f64 = 12.0;
/// Minimum number of index versions in the ramp, in which the queues of the disk must fill.
const LEAST_RAMP_VERSIONS: f64 = 2.0;
/// Sixteen windows of the kernel's read-ahead (128 KiB). A load that waits for the disk this often
/// has a typical time, not that of a single lucky or unlucky read.
const LEAST_INDEX_BYTES: u64 = 2 << 20;

/// Changes to a workload before it runs, applied in the order of the fields: an explicit time is
/// not scaled.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Changes {
    /// Factor on times and sizes.
    pub scale: Option<f64>,
    /// Length of the measured window, in nanoseconds.
    pub time_ns: Option<u64>,
    /// Length of the ramp, in nanoseconds.
    pub ramp_ns: Option<u64>,
    /// Overrides as text, `key=value` or `job.key=value`; later ones win.
    pub set: Vec<String>,
}

impl Changes {
    /// Applies all changes. The result is not validated yet: see [`Workload::validate`].
    pub fn apply(&self, workload: &mut Workload) -> Result<(), Error> {
        if let Some(factor) = self.scale {
            workload.scale(factor)?;
            workload.yields = None;
        }
        if let Some(time_ns) = self.time_ns {
            workload.time_ns = time_ns;
            workload.slices = None;
            workload.keep_time();
        }
        if let Some(ramp_ns) = self.ramp_ns {
            workload.ramp_ns = ramp_ns;
            workload.slices = None;
            workload.keep_ramp();
        }
        self.set.iter().try_for_each(|text| workload.set(text))
    }
}

impl Workload {
    /// Multiplies times (window, ramp, starts and ends of jobs) and sizes (spans and their starts,
    /// byte bounds, index versions) by `factor`. Threads, depths, rates, pauses and block sizes
    /// stay, because they are the shape of the load. A span stays a whole number of largest blocks,
    /// and at least one.
    ///
    /// Threads that fewer can replace ([`Job::least_threads`]) are scaled too, together with the
    /// pauses by which they share a rate. Times of a workload with an index, and the index, do not
    /// go below the minimum for meaningful loads.
    pub fn scale(&mut self, factor: f64) -> Result<(), Error> {
        if !(factor.is_finite() && factor > 0.0) {
            let advice = "specify a factor above 0, such as 0.05 for one twentieth";
            return Err(Error::impossible(
                About::Experiment,
                "scale",
                format!("{factor} is not a valid scale factor"),
                advice,
            ));
        }
        self.refuse_recorded("scale")?;
        self.time_ns = self.scaled_time(self.time_ns, factor, LEAST_VERSIONS);
        self.ramp_ns = self.scaled_time(self.ramp_ns, factor, LEAST_RAMP_VERSIONS);
        for job in &mut self.jobs {
            job.scale_threads(factor);
            let block = u64::from(job.max_block_bytes());
            let unit = block.max(job.align_bytes.unwrap_or(0));
            let files = u64::from(job.files_per_thread);
            job.size_bytes = scaled(job.size_bytes, factor, unit.saturating_mul(files));
            job.offset_bytes = scaled(job.offset_bytes, factor, unit);
            job.start_delay_ns = scaled(job.start_delay_ns, factor, 1);
            job.end_after_ns = job.end_after_ns.map(|end_ns| scaled(end_ns, factor, 1));
            if let Some(tree) = &mut job.tree {
                let files = scaled(tree.files.into(), factor, 1);
                tree.files = u32::try_from(files).unwrap_or(u32::MAX);
            }
            if let Bound::Bytes(bytes) = &mut job.bound {
                *bytes = scaled(*bytes, factor, block);
            }
        }
        if let Some(index) = &mut self.index {
            let unit = u64::from(index.query_bytes).max(4096);
            let least = LEAST_INDEX_BYTES.min(index.index_bytes);
            index.index_bytes = scaled(index.index_bytes, factor, unit).max(least);
        }
        Ok(())
    }

    /// A scaled time, but not below the minimum for this many versions of the index.
    fn scaled_time(&self, time_ns: u64, factor: f64, versions: f64) -> u64 {
        let of_index = self.index.map_or(0.0, |index| versions * 1e9 / index.versions_per_second);
        // Saturates if no version is ever published; such an index is refused later.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "see above")]
        let least_ns = (of_index as u64).min(time_ns);
        scaled(time_ns, factor, 1).max(least_ns)
    }

    /// Applies one override, `key=value` or `job.key=value`.
    ///
    /// A key without a job changes every job. `time`, `ramp` and `primary` belong to the workload.
    /// `index=off` removes the index, `index=on` adds the one of `driver-searcher`, and keys such
    /// as `index.size` change it. fio's names for keys are accepted.
    pub fn set(&mut self, text: &str) -> Result<(), Error> {
        let Some((path, value)) = text.split_once('=') else {
            let advice = "specify KEY=VALUE or JOB.KEY=VALUE, as in mmap_read.threads=4";
            return Err(Error::syntax("the override has no value", advice).at(text, 0..text.len()));
        };
        let key_start = path.rfind('.').map_or(0, |dot| dot + 1);
        self.set_path(path, value).map_err(|error| {
            let span = match &error {
                Error::Unknown { what: "job", .. } => 0..key_start.saturating_sub(1),
                Error::Unknown { .. } => key_start..path.len(),
                _ => path.len() + 1..text.len(),
            };
            error.at(text, span)
        })
    }

    /// [`Workload::set`] with key and value separate; errors have no position.
    pub(crate) fn set_path(&mut self, path: &str, value: &str) -> Result<(), Error> {
        let (job, key) = path.rsplit_once('.').map_or((None, path), |(job, key)| (Some(job), key));
        match job.map(str::trim) {
            None => self.set_workload(key.trim(), value.trim()),
            Some("index") => self.set_index(key.trim(), value.trim()),
            Some(name) => self.set_job(name, key.trim(), value.trim()),
        }?;
        if is_size(key.trim()) {
            self.yields = None;
        }
        Ok(())
    }

    /// Whether [`Workload::set`] knows `key` or `job.key`.
    pub fn has_key(&self, path: &str) -> bool {
        match path.rsplit_once('.') {
            Some(("index", key)) => job_options::find(&INDEX_OPTIONS, key).is_some(),
            Some((job, key)) => {
                let has_job = self.jobs.iter().any(|known| known.name == job);
                has_job && job_options::find(&JOB_OPTIONS, key).is_some()
            }
            None => {
                ["time", "ramp", "ramp_time", "primary", "index"].contains(&path)
                    || job_options::find(&JOB_OPTIONS, path).is_some()
            }
        }
    }

    fn set_workload(&mut self, key: &str, value: &str) -> Result<(), Error> {
        match key {
            "time" => {
                self.slices = None;
                self.time_ns = units::parse_duration(value)?;
                self.keep_time();
            }
            "ramp" | "ramp_time" => {
                self.slices = None;
                self.ramp_ns = units::parse_duration(value)?;
                self.keep_ramp();
            }
            "primary" => value.clone_into(&mut self.primary),
            "index" => {
                let on = units::parse_switch(value)?;
                self.index = on.then(|| self.index.unwrap_or_default());
            }
            _ => {
                let others = ["time", "ramp", "primary", "index"];
                let known = find_key(&JOB_OPTIONS, key, &others)?;
                for job in &mut self.jobs {
                    known.set(job, value)?;
                }
            }
        }
        Ok(())
    }

    fn set_job(&mut self, name: &str, key: &str, value: &str) -> Result<(), Error> {
        let Some(position) = self.jobs.iter().position(|job| job.name == name) else {
            let names = self.jobs.iter().map(|job| job.name.as_str());
            return Err(Error::unknown("job", name, names.chain(self.index.map(|_| "index"))));
        };
        let known = find_key(&JOB_OPTIONS, key, &[])?;
        known.set(&mut self.jobs[position], value)
    }

    fn set_index(&mut self, key: &str, value: &str) -> Result<(), Error> {
        let known = find_key(&INDEX_OPTIONS, key, &[])?;
        known.set(self.index.get_or_insert_default(), value)
    }
}

impl Job {
    /// Fewer threads with shorter pauses offer the same rate.
    fn scale_threads(&mut self, factor: f64) {
        let Some(least) = self.least_threads else { return };
        let before = u64::from(self.threads.max(1));
        let least = least.min(self.threads);
        let threads = u32::try_from(scaled(self.threads.into(), factor, 1)).unwrap_or(u32::MAX);
        self.threads = threads.max(least);
        if let Some(think) = &mut self.think {
            think.time_ns = think.time_ns.saturating_mul(self.threads.into()) / before;
        }
    }
}

/// Whether a key of [`Workload::set`] is a size of test files.
pub fn is_size(key: &str) -> bool {
    ["size", "files", "file-size"].contains(&key.replace('_', "-").as_str())
}

fn find_key<T>(
    keys: &'static [JobOption<T>],
    name: &str,
    others: &[&'static str],
) -> Result<&'static JobOption<T>, Error> {
    job_options::find(keys, name).ok_or_else(|| {
        let names = keys.iter().map(|key| key.name).chain(others.iter().copied());
        Error::unknown("key", &name.replace('_', "-"), names)
    })
}

/// The keys of [`Workload::set`]: scope (empty for every job), key, unit, description.
pub fn override_options() -> impl Iterator<Item = (&'static str, &'static str, Unit, &'static str)>
{
    let workload = [
        ("", "time", Unit::Duration, "length of the measured window"),
        ("", "ramp", Unit::Duration, "length of the discarded part at the start of each trial"),
        ("", "primary", Unit::Name, "the job whose throughput is compared"),
        ("", "index", Unit::Switch, "publish, load and query an index while the jobs run"),
    ];
    let jobs = JOB_OPTIONS.iter().map(|key| ("job", key.name, key.unit, key.about));
    let index = INDEX_OPTIONS.iter().map(|key| ("index", key.name, key.unit, key.about));
    workload.into_iter().chain(jobs).chain(index)
}

/// `value * factor`, rounded down to a multiple of `unit`, but at least one.
fn scaled(value: u64, factor: f64, unit: u64) -> u64 {
    if value == 0 {
        return 0;
    }
    let unit = unit.max(1);
    // Saturates at u64::MAX, which is beyond any disk and clock.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "see above")]
    let exact = (value as f64 * factor).round() as u64;
    (exact / unit).max(1).saturating_mul(unit)
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use proptest::prelude::*;

    use super::*;
    use crate::engine::Engine;
    use crate::workload::{BlockSizes, Pattern};

    fn published() -> Workload {
        Workload::preset("driver-searcher-published").unwrap()
    }

    #[test]
    fn a_twentieth_of_the_published_workload_keeps_its_threads() {
        let mut workload = published();
        workload.scale(0.05).unwrap();
        let [download, mmap_read] = workload.jobs.as_slice() else { panic!("two jobs") };
        assert_eq!(download.size_bytes, 100 << 20);
        assert_eq!((download.threads, download.think), (30, None));
        assert_eq!(mmap_read.size_bytes, 2560 << 20);
        assert_eq!(mmap_read.start_delay_ns, 100_000_000);
    }

    #[test]
    fn times_shrink_only_as_far_as_the_index_can_still_be_measured() {
        let times = |factor: f64, index: &str| {
            let mut workload = published();
            workload.set(index).unwrap();
            workload.scale(factor).unwrap();
            (workload.ramp_ns, workload.time_ns)
        };
        // 12 and 2 versions at 4 per second.
        assert_eq!(times(0.02, "index.versions=4"), (500_000_000, 3_000_000_000));
        assert_eq!(times(0.6, "index.versions=4"), (2_400_000_000, 36_000_000_000));
        assert_eq!(times(0.05, "index=off"), (200_000_000, 3_000_000_000));
        // Never longer than they were.
        assert_eq!(times(0.05, "index.versions=0.1"), (4_000_000_000, 60_000_000_000));
        assert_eq!(times(2.0, "index.versions=4"), (8_000_000_000, 120_000_000_000));
        let index_bytes = |factor: f64, index: &str| {
            let mut workload = published();
            workload.set(index).unwrap();
            workload.scale(factor).unwrap();
            workload.index.unwrap().index_bytes
        };
        assert_eq!(index_bytes(0.5, "index.size=16M"), 8 << 20);
        assert_eq!(index_bytes(0.05, "index.size=16M"), 2 << 20);
        assert_eq!(index_bytes(0.05, "index.size=64k"), 64 << 10);
    }

    #[test]
    fn overrides_reach_one_job_or_all() {
        let mut workload = published();
        for text in ["mmap_read.threads=4", "numjobs=2", "download.bs=64k-1M", "index.size=64M"] {
            workload.set(text).unwrap();
        }
        assert_eq!(workload.jobs.iter().map(|job| job.threads).collect::<Vec<_>>(), [2, 2]);
        let range = BlockSizes::Range { min: 65_536, max: 1 << 20 };
        assert_eq!(workload.jobs[0].block_sizes, range);
        assert_eq!(workload.index.unwrap().index_bytes, 64 << 20);
        workload.set("index = off").unwrap();
        assert_eq!(workload.index, None);
        workload.set("mmap_read.rw=randrw").unwrap();
        workload.set("mmap_read.engine=io-uring").unwrap();
        let job = &workload.jobs[1];
        assert_eq!(
            (job.pattern.clone(), job.read_percent, job.engine),
            (Pattern::Random, 50, Engine::IoUring)
        );
    }

    #[test]
    fn explicit_times_are_not_scaled() {
        let mut workload = published();
        let changes = Changes {
            scale: Some(0.05),
            time_ns: Some(7),
            set: vec!["ramp=1s".into()],
            ..Changes::default()
        };
        changes.apply(&mut workload).unwrap();
        assert_eq!((workload.time_ns, workload.ramp_ns), (7, 1_000_000_000));
    }

    #[test]
    fn overrides_say_what_is_wrong() {
        let error = |text: &str| published().set(text).unwrap_err().to_string();
        assert_snapshot!(error("treads=4"), @"
        unknown key `treads`; did you mean `threads`?
          treads=4
          ^^^^^^ column 1
        known keys: engine, threads, depth, rw, read-percent, trim, pattern, block-size, write-block-size, write-pattern, size, target, file, rate, io-size, start-delay, end-after, direct, invalidate, fsync-every, end-fsync, verify, verify-every, verify-apart, verify-ends, sqpoll, advise, files, files-per-directory, file-size, operations, align, offset, write-through, think, cpus, files-per-thread, pre-read, ends-all, submit-batch, uncached, fresh, stretches, offset-increment, compress, compress-chunk, fill-pattern, dedupe, dedupe-set, dedupe-global, flow, latency-target, priority, numa, zero-copy, time, ramp, primary, index
        ");
        assert_snapshot!(error("mmap_raed.threads=4"), @"
        unknown job `mmap_raed`; did you mean `mmap_read`?
          mmap_raed.threads=4
          ^^^^^^^^^ column 1
        known jobs: download, mmap_read, index
        ");
        assert_snapshot!(error("mmap_read.threads=four"), @"
        `four` is not a whole number: it does not start with a digit
          mmap_read.threads=four
                            ^^^^ column 19
        use only digits, such as 4 or 4000
        ");
        assert_snapshot!(error("index.sizes=4k"), @"
        unknown key `sizes`; did you mean `size`?
          index.sizes=4k
                ^^^^^ column 7
        known keys: versions, size, slow-load, queries, query-size
        ");
        assert_snapshot!(error("depth"), @"
        the override has no value
          depth
          ^^^^^ column 1
        specify KEY=VALUE or JOB.KEY=VALUE, as in mmap_read.threads=4
        ");
        let of_engine = error("download.engine=posixaio");
        assert_snapshot!(of_engine.replace(&Engine::NAMES.join(", "), "ALL"), @"
        `posixaio` is not a valid choice: use ALL
          download.engine=posixaio
                          ^^^^^^^^ column 17
        ");
        assert_snapshot!(published().scale(-1.0).unwrap_err(), @"
        scale: -1 is not a valid scale factor
        specify a factor above 0, such as 0.05 for one twentieth
        ");
    }

    #[test]
    fn every_listed_key_can_be_set() {
        for (scope, key, ..) in override_options() {
            let path = if scope == "index" { format!("index.{key}=?") } else { format!("{key}=?") };
            let refused = published().set(&path);
            assert!(
                !refused.is_err_and(|error| matches!(error.root(), Error::Unknown { .. })),
                "{path}"
            );
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text in prop_oneof![".*", "(mmap_read|index|threads|bs|[.=]|4k)*"]) {
            let _ = published().set(&text);
        }

        #[test]
        fn any_scale_leaves_a_workload_that_is_possible(factor in 1e-12..1e3) {
            let mut workload = published();
            workload.scale(factor).unwrap();
            prop_assert_eq!(workload.validate(), Ok(()));
        }
    }
}
