//! Refuses impossible workloads before any machine is touched.

mod network;
mod order;
mod rules;
mod shares;

use std::collections::HashSet;

use iotax_layers::units::{format_bytes, format_duration};
use iotax_layers::{About, Error};

use crate::engine::PageCache;
use crate::job_options::format_block_sizes;
use crate::tree::Operation;
use crate::workload::Trims;
use crate::workload::{BlockSizes, Bound, Files, IndexLoads, Job, Pace, Workload};

/// `O_DIRECT` transfers whole logical blocks of the device, which are never smaller.
const DIRECT_ALIGNMENT_BYTES: u32 = 512;
/// The kernel's limit on the entries of an `io_uring`.
const MAX_DEPTH: u32 = 32_768;
/// fio's limit on jobs.
const MAX_THREADS: u32 = 4096;
/// Maximum number of writes that a thread remembers until it checks them.
const MAX_BACKLOG: u32 = 1 << 20;
/// Per thread: their names are kept in memory.
const MAX_TREE_FILES: u32 = 10_000_000;
const MAX_TREE_FILE_BYTES: u32 = 16 << 20;

impl Workload {
    /// Refuses a workload that cannot run, naming job and key.
    pub fn validate(&self) -> Result<(), Error> {
        let workload = |key, problem: &str, advice: &str| {
            Err(Error::impossible(About::Workload, key, problem, advice))
        };
        if self.time_ns == 0 {
            return workload("time", "nothing would be measured", "use a time such as 5s");
        }
        if self.jobs.is_empty() {
            return workload("job", "there is no job to run", "add a job");
        }
        self.validate_recorded()?;
        let mut names = HashSet::new();
        for job in &self.jobs {
            if !names.insert(job.name.as_str()) {
                return Err(Error::Duplicate { what: "job", name: job.name.clone() });
            }
            job.validate()?;
            self.validate_turn(job)?;
        }
        if self.primary_job().is_none() {
            return Err(Error::unknown(
                "primary job",
                &self.primary,
                self.jobs.iter().map(|job| job.name.as_str()),
            ));
        }
        self.index.as_ref().map_or(Ok(()), validate_index)
    }
}

impl Workload {
    /// Checks when a job runs.
    fn validate_turn(&self, job: &Job) -> Result<(), Error> {
        // Both saturate at 584 years.
        if job.start_delay_ns >= self.ramp_ns.saturating_add(self.time_ns) {
            let advice = "reduce start-delay, or increase the workload's time";
            return Err(job.refuse(
                "start-delay",
                "the job would start after the end of the trial",
                advice,
            ));
        }
        let Some(end_ns) = job.end_after_ns else { return Ok(()) };
        if end_ns <= job.start_delay_ns {
            let (end, start) = (format_duration(end_ns), format_duration(job.start_delay_ns));
            let problem = format!("the job would end at {end}, but does not start until {start}");
            return Err(job.refuse(
                "end-after",
                problem,
                "increase end-after, or reduce start-delay",
            ));
        }
        if end_ns <= self.ramp_ns && job.name == self.primary {
            let ramp = format_duration(self.ramp_ns);
            let problem = format!("the primary job ends before the {ramp} ramp ends");
            return Err(job.refuse("end-after", problem, "increase end-after, or reduce ramp"));
        }
        Ok(())
    }
}

impl Job {
    fn refuse(&self, key: &'static str, problem: impl Into<String>, advice: &str) -> Error {
        Error::impossible(About::Job(self.name.clone()), key, problem, advice)
    }

    /// Refuses the first of `options` that is set.
    fn refuse_any(
        &self,
        options: &[(&'static str, bool)],
        problem: &str,
        advice: &str,
    ) -> Result<(), Error> {
        let set = options.iter().find(|(_, is_set)| *is_set);
        set.map_or(Ok(()), |(key, _)| Err(self.refuse(key, problem, advice)))
    }

    fn validate(&self) -> Result<(), Error> {
        self.validate_names()?;
        self.validate_tree()?;
        self.validate_recording()?;
        self.validate_network()?;
        self.validate_blocks()?;
        self.validate_engine()?;
        self.validate_order()?;
        self.validate_shares()?;
        self.validate_trims()?;
        if !(1..=MAX_THREADS).contains(&self.threads) {
            let problem = format!("{} is not between 1 and {MAX_THREADS}", self.threads);
            return Err(self.refuse("threads", problem, ""));
        }
        if self.read_percent > 100 {
            let problem = format!("{} % is not a valid share of reads", self.read_percent);
            return Err(self.refuse("read-percent", problem, "use a value from 0 to 100"));
        }
        if let Pace::Even { iops } | Pace::Poisson { iops } = self.pace
            && !(iops.is_finite() && iops > 0.0)
        {
            let advice = "use a rate above 0, or rate=closed to run without a fixed rate";
            return Err(self.refuse(
                "rate",
                format!("{iops} I/Os per second is not a valid rate"),
                advice,
            ));
        }
        self.validate_verify()?;
        if self.writes_data() {
            return Ok(());
        }
        let write_only = [
            ("verify", self.verify),
            ("end-fsync", self.end_fsync),
            ("fsync-every", self.fsync_every.is_some()),
        ];
        self.refuse_any(
            &write_only,
            "the job does not write data",
            "remove this option, or let the job write",
        )
    }

    fn validate_verify(&self) -> Result<(), Error> {
        let refuse = |key, problem: String, advice| Err(self.refuse(key, problem, advice));
        if let Some(every) = self.verify_every
            && !(1..=MAX_BACKLOG).contains(&every)
        {
            let problem = format!("{every} is not between 1 and {MAX_BACKLOG}");
            return refuse("verify-every", problem, "");
        }
        if self.verify_apart {
            if self.verify || self.reads() && self.writes() || self.trims == Some(Trims::Only) {
                let problem =
                    "applies only to jobs that either read or write, but not both".to_owned();
                return refuse(
                    "verify-apart",
                    problem,
                    "use verify, or separate jobs for reading and writing",
                );
            }
            if !self.engine.has_span() {
                let problem = format!("the {} engine has no data to verify", self.engine.name());
                return refuse("verify-apart", problem, "remove this option");
            }
        }
        let ends = self.verify_ends && !(self.verify || self.verify_apart && self.reads());
        let switches =
            [("verify-every", self.verify_every.is_some() && !self.verify), ("verify-ends", ends)];
        self.refuse_any(&switches, "nothing is verified", "add verify=true, or remove this option")
    }

    /// Names become file names inside a target directory.
    fn validate_names(&self) -> Result<(), Error> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        let safe = |name: &str| name.chars().all(is_plain) && !name.trim_matches('.').is_empty();
        if self.name == "index" {
            let advice = "give the job another name";
            return Err(self.refuse("name", "`index` is reserved for the search index", advice));
        }
        if !safe(&self.name) {
            let advice = "use letters, digits, `.`, `_` and `-`";
            return Err(self.refuse("name", "must be usable in a file name", advice));
        }
        match &self.files {
            Files::Shared(file) if !safe(file) => {
                let problem = format!("`{file}` is not a valid name for a file in the target");
                Err(self.refuse("file", problem, "use letters, digits, `.`, `_` and `-`"))
            }
            _ => Ok(()),
        }
    }

    fn validate_blocks(&self) -> Result<(), Error> {
        let refuse = |problem: String, advice| Err(self.refuse("block-size", problem, advice));
        for sizes in self.all_block_sizes() {
            self.validate_sizes(sizes)?;
        }
        let (min, max) = (self.min_block_bytes(), self.max_block_bytes());
        if min == 0 {
            return refuse("an I/O of 0 bytes does nothing".into(), "use a size such as 4k");
        }
        if u64::from(max) > self.size_bytes {
            let (block, size) = (format_bytes(max.into()), format_bytes(self.size_bytes));
            let problem = format!("{block} blocks do not fit into a span of {size}");
            return refuse(problem, "increase size or reduce block-size");
        }
        if self.bound == Bound::Bytes(0) {
            return Err(self.refuse("io-size", "the job would end before its first I/O", ""));
        }
        Ok(())
    }

    fn validate_sizes(&self, sizes: &BlockSizes) -> Result<(), Error> {
        let refuse = |problem: String, advice| Err(self.refuse("block-size", problem, advice));
        match sizes {
            BlockSizes::Range { min, max } if min > max => {
                return refuse(
                    format!("the range {} is descending", format_block_sizes(sizes)),
                    "swap the ends of the range",
                );
            }
            BlockSizes::Split(shares) => {
                let sum: u32 = shares.iter().map(|share| u32::from(share.percent)).sum();
                if sum != 100 {
                    return refuse(format!("the percentages add up to {sum}, not 100"), "");
                }
            }
            _ => {}
        }
        let misaligned = |bytes: u32| !bytes.is_multiple_of(DIRECT_ALIGNMENT_BYTES);
        let odd = match sizes {
            BlockSizes::Fixed(size) => misaligned(*size),
            BlockSizes::Range { min, .. } => misaligned(*min),
            BlockSizes::Split(shares) => shares.iter().any(|share| misaligned(share.bytes)),
        };
        if self.direct && odd {
            let problem = "direct I/O requires a multiple of 512 bytes";
            return refuse(problem.into(), "use a multiple of 512, or direct=false");
        }
        Ok(())
    }

    fn validate_engine(&self) -> Result<(), Error> {
        let (depth, engine) = (self.queue_depth, self.engine.name());
        if !(1..=MAX_DEPTH).contains(&depth) {
            let problem = format!("{depth} is not between 1 and {MAX_DEPTH}");
            return Err(self.refuse("depth", problem, ""));
        }
        if depth > 1 && !self.engine.is_async() {
            let problem = format!("{engine} keeps one I/O in flight per thread, not {depth}");
            return Err(self.refuse("depth", problem, "use engine=io_uring, or more threads"));
        }
        if self.direct && self.engine.info().cache == PageCache::Always {
            let problem = "a memory mapping always uses the page cache";
            return Err(self.refuse("direct", problem, "use direct=false, or engine=psync"));
        }
        if self.sqpoll && !self.engine.info().has_queue {
            let problem = format!("{engine} has no submission queue to poll");
            return Err(self.refuse(
                "sqpoll",
                problem,
                "use engine=io_uring, or remove this option",
            ));
        }
        match self.submit_batch {
            Some(0) => return Err(self.refuse("submit-batch", "nothing would be submitted", "")),
            Some(_) if !self.engine.info().has_queue => {
                let problem = format!("{engine} submits each I/O separately");
                let advice = "use engine=io_uring, or remove this option";
                return Err(self.refuse("submit-batch", problem, advice));
            }
            _ => {}
        }
        Ok(())
    }
}

/// Checks for trees of files.
impl Job {
    fn validate_tree(&self) -> Result<(), Error> {
        let Some(tree) = &self.tree else {
            if self.engine.has_tree() {
                let advice = "add operations, as in operations = \"stat:80,open:8,list:12\"";
                return Err(self.refuse("operations", "no operations are given", advice));
            }
            return Ok(());
        };
        if !self.engine.has_tree() {
            let problem = format!("the {} engine only reads and writes", self.engine.name());
            return Err(self.refuse("operations", problem, "use engine=metadata"));
        }
        let counts = [
            ("files", tree.files, MAX_TREE_FILES),
            ("files-per-directory", tree.files_per_directory, MAX_TREE_FILES),
        ];
        for (key, count, most) in counts {
            if !(1..=most).contains(&count) {
                return Err(self.refuse(key, format!("{count} is not between 1 and {most}"), ""));
            }
        }
        if tree.file_bytes > MAX_TREE_FILE_BYTES {
            let problem = format!("{} bytes is too large for a file in a tree", tree.file_bytes);
            return Err(self.refuse("file-size", problem, "use at most 16M"));
        }
        if Operation::ALL.iter().all(|operation| tree.weight(*operation) == 0) {
            return Err(self.refuse("operations", "all weights are 0", ""));
        }
        let (create, delete) = (tree.weight(Operation::Create), tree.weight(Operation::Delete));
        if (create == 0) != (delete == 0) {
            let problem = "create and delete must be used together; otherwise, the tree only grows \
                           or only shrinks";
            let advice = "give create and delete the same weight";
            return Err(self.refuse("operations", problem, advice));
        }
        let meaningless = [
            ("direct", self.direct),
            ("verify", self.verify),
            ("fsync-every", self.fsync_every.is_some()),
            ("end-fsync", self.end_fsync),
            ("io-size", self.bound != Bound::Time),
        ];
        self.refuse_any(
            &meaningless,
            "does not apply to operations on file trees",
            "remove this option",
        )
    }
}

fn validate_index(index: &IndexLoads) -> Result<(), Error> {
    let refuse = |key, problem: &str| Err(Error::impossible(About::Index, key, problem, ""));
    let is_rate = |rate: f64| rate.is_finite() && rate > 0.0;
    if !is_rate(index.versions_per_second) {
        return refuse("versions", "must be above 0");
    }
    if !is_rate(index.queries_per_second) {
        return refuse("queries", "must be above 0");
    }
    if index.query_bytes == 0 {
        return refuse("query-size", "must be above 0");
    }
    if u64::from(index.query_bytes) > index.index_bytes {
        return refuse("query-size", "a query cannot read more than the whole index");
    }
    if index.slow_load_ns == 0 {
        return refuse("slow-load", "with a threshold of 0, every load would count as slow");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    /// What is wrong with a preset that is changed like this.
    pub(super) fn error_of(preset: &str, changes: &[&str]) -> String {
        let mut workload = Workload::preset(preset).unwrap();
        for change in changes {
            workload.set(change).unwrap();
        }
        workload.validate().unwrap_err().to_string()
    }

    #[test]
    fn presets_are_possible() {
        for workload in Workload::presets() {
            assert_eq!(workload.validate(), Ok(()), "{}", workload.name);
        }
        assert_eq!(Workload::peel_search(1 << 30).validate(), Ok(()));
    }

    fn error(preset: &str, changes: &[&str]) -> String {
        let mut workload = Workload::preset(preset).unwrap();
        for change in changes {
            workload.set(change).unwrap();
        }
        workload.validate().unwrap_err().to_string()
    }

    #[test]
    fn impossible_blocks_are_named() {
        assert_snapshot!(error("seqread-1m", &["size=512k"]), @"
        job `io`: block-size: 1M blocks do not fit into a span of 512k
        increase size or reduce block-size
        ");
        assert_snapshot!(error("randread-4k", &["block-size=1000"]), @"
        job `io`: block-size: direct I/O requires a multiple of 512 bytes
        use a multiple of 512, or direct=false
        ");
        assert_snapshot!(error("randread-4k", &["bs=0"]), @"
        job `io`: block-size: an I/O of 0 bytes does nothing
        use a size such as 4k
        ");
        assert_snapshot!(error("randread-4k", &["bs=8k-4k"]), @"
        job `io`: block-size: the range 8k-4k is descending
        swap the ends of the range
        ");
        assert_snapshot!(error("randread-4k", &["bs=4k/60:64k/50"]), @"job `io`: block-size: the percentages add up to 110, not 100");
    }

    #[test]
    fn impossible_engines_are_named() {
        assert_snapshot!(error("randread-4k", &["depth=0"]), @"job `io`: depth: 0 is not between 1 and 32768");
        assert_snapshot!(error("randread-4k", &["depth=100000"]), @"job `io`: depth: 100000 is not between 1 and 32768");
        assert_snapshot!(error("randread-4k", &["engine=psync", "depth=4"]), @"
        job `io`: depth: psync keeps one I/O in flight per thread, not 4
        use engine=io_uring, or more threads
        ");
        assert_snapshot!(error("driver-searcher", &["direct=1"]), @"
        job `mmap_read`: direct: a memory mapping always uses the page cache
        use direct=false, or engine=psync
        ");
        assert_snapshot!(error("driver-searcher", &["download.sqpoll=1"]), @"
        job `download`: sqpoll: psync has no submission queue to poll
        use engine=io_uring, or remove this option
        ");
    }

    #[test]
    fn impossible_trees_are_named() {
        assert_snapshot!(error("git-status", &["operations=create:1"]), @"
        job `files`: operations: create and delete must be used together; otherwise, the tree only grows or only shrinks
        give create and delete the same weight
        ");
        assert_snapshot!(error("git-status", &["files=0"]), @"job `files`: files: 0 is not between 1 and 10000000");
        assert_snapshot!(error("git-status", &["file-size=1G"]), @"
        job `files`: file-size: 1073741824 bytes is too large for a file in a tree
        use at most 16M
        ");
        assert_snapshot!(error("git-status", &["depth=4"]), @"
        job `files`: depth: metadata keeps one I/O in flight per thread, not 4
        use engine=io_uring, or more threads
        ");
        assert_snapshot!(error("git-status", &["direct=1"]), @"
        job `files`: direct: does not apply to operations on file trees
        remove this option
        ");
        assert_snapshot!(error("randread-4k", &["files=10"]), @"
        job `io`: operations: the io_uring engine only reads and writes
        use engine=metadata
        ");
    }

    #[test]
    fn impossible_loads_are_named() {
        assert_snapshot!(error("randread-4k", &["threads=0"]), @"job `io`: threads: 0 is not between 1 and 4096");
        assert_snapshot!(error("randread-4k", &["rate=0"]), @"
        job `io`: rate: 0 I/Os per second is not a valid rate
        use a rate above 0, or rate=closed to run without a fixed rate
        ");
        assert_snapshot!(error("randread-4k", &["verify=1"]), @"
        job `io`: verify: the job does not write data
        remove this option, or let the job write
        ");
        assert_snapshot!(error("randread-4k", &["time=0"]), @"
        time: nothing would be measured
        use a time such as 5s
        ");
        assert_snapshot!(error("randread-4k", &["start-delay=7s"]), @"
        job `io`: start-delay: the job would start after the end of the trial
        reduce start-delay, or increase the workload's time
        ");
        assert_snapshot!(error("randread-4k", &["start-delay=3s", "end-after=3s"]), @"
        job `io`: end-after: the job would end at 3s, but does not start until 3s
        increase end-after, or reduce start-delay
        ");
        assert_snapshot!(error("randread-4k", &["end-after=2s"]), @"
        job `io`: end-after: the primary job ends before the 2s ramp ends
        increase end-after, or reduce ramp
        ");
        assert_snapshot!(error("driver-searcher", &["primary=reader"]), @"
        unknown primary job `reader`
        known primary jobs: download, mmap_read
        ");
        assert_snapshot!(error("driver-searcher", &["mmap_read.file=../x"]), @"
        job `mmap_read`: file: `../x` is not a valid name for a file in the target
        use letters, digits, `.`, `_` and `-`
        ");
        assert_snapshot!(error("driver-searcher", &["index.query-size=64M"]), @"index: query-size: a query cannot read more than the whole index");
    }

    #[test]
    fn jobs_that_share_a_name_or_have_none_are_named() {
        let with_jobs = |jobs: Vec<Job>| {
            let workload = Workload { jobs, ..Workload::preset("randread-4k").unwrap() };
            workload.validate().unwrap_err().to_string()
        };
        assert_snapshot!(with_jobs(vec![]), @"
        job: there is no job to run
        add a job
        ");
        assert_snapshot!(with_jobs(vec![Job::new("io"), Job::new("io")]), @"job `io` is given twice");
        assert_snapshot!(with_jobs(vec![Job::new("a/b")]), @"
        job `a/b`: name: must be usable in a file name
        use letters, digits, `.`, `_` and `-`
        ");
        assert_snapshot!(with_jobs(vec![Job::new("index")]), @"
        job `index`: name: `index` is reserved for the search index
        give the job another name
        ");
        assert_snapshot!(with_jobs(vec![Job { read_percent: 101, ..Job::new("io") }]), @"
        job `io`: read-percent: 101 % is not a valid share of reads
        use a value from 0 to 100
        ");
    }
}
