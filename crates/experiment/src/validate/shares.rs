//! Checks of stretches, data, weights, priorities, trims and nodes.

use iotax_layers::Error;
use iotax_layers::units::format_bytes;

use super::order::is_aligned;
use crate::workload::{Bound, Job, Pattern, Trims};

/// The maximum in fio.
const MAX_WEIGHT: u32 = 1000;
const MAX_PATTERN_BYTES: usize = 512;

impl Job {
    pub(super) fn validate_shares(&self) -> Result<(), Error> {
        self.validate_stretches()?;
        self.validate_increment()?;
        self.validate_content()?;
        if let Some(flow) = self.flow
            && !(1..=MAX_WEIGHT).contains(&flow.weight)
        {
            let problem = format!("a weight of {} is not between 1 and {MAX_WEIGHT}", flow.weight);
            return Err(self.refuse("flow", problem, ""));
        }
        self.validate_latency_target()?;
        self.validate_priorities()
    }

    fn validate_latency_target(&self) -> Result<(), Error> {
        let Some(target) = self.latency_target else { return Ok(()) };
        let refuse = |problem: &str, advice| Err(self.refuse("latency-target", problem, advice));
        if target.target_ns == 0 || target.window_ns == 0 {
            return refuse(
                "the latency and the window must be above 0",
                "use values such as 500us/5s/99.9",
            );
        }
        if !(self.engine.has_span() || self.engine.does_nothing()) {
            return refuse("applies only to storage reads and writes", "remove this option");
        }
        Ok(())
    }

    fn validate_stretches(&self) -> Result<(), Error> {
        let Some(stretches) = self.stretches else { return Ok(()) };
        let refuse = |problem: String, advice| Err(self.refuse("stretches", problem, advice));
        let largest = u64::from(self.max_block_bytes());
        if stretches.bytes == 0 || stretches.range_bytes < largest {
            let problem = format!("{} blocks do not fit into a stretch", format_bytes(largest));
            return refuse(problem, "make the stretches longer");
        }
        if !matches!(self.pattern, Pattern::Random | Pattern::Shuffled | Pattern::Sequential)
            || self.by_direction().is_some()
        {
            let problem = format!("the {} pattern does not support stretches", self.pattern.name());
            return refuse(problem, "use pattern=sequential, random or shuffled");
        }
        if self.bound == Bound::Span {
            return refuse("a job that covers its span once cannot have gaps".into(), "");
        }
        let lengths = [stretches.range_bytes, stretches.skip_bytes];
        if self.direct && !lengths.into_iter().all(is_aligned) {
            let problem = "direct I/O requires multiples of 512 bytes";
            return refuse(problem.into(), "use multiples of 512, or direct=false");
        }
        Ok(())
    }

    fn validate_increment(&self) -> Result<(), Error> {
        let refuse = |problem: &str, advice| Err(self.refuse("offset-increment", problem, advice));
        let increments = u64::from(self.threads.saturating_sub(1));
        let last = self.offset_increment_bytes.checked_mul(increments);
        let end = last.and_then(|last| last.checked_add(self.offset_bytes));
        let end = end.and_then(|end| end.checked_add(self.size_bytes));
        if end.is_none_or(|end| i64::try_from(end).is_err()) {
            return refuse(
                "the last thread's span would exceed the maximum file size",
                "reduce offset-increment",
            );
        }
        self.validate_aligned("offset-increment", self.offset_increment_bytes)
    }

    fn validate_content(&self) -> Result<(), Error> {
        let Some(content) = &self.content else { return Ok(()) };
        if !self.writes_data() || !(self.engine.has_span() || self.engine.does_nothing()) {
            let problem = "the job does not write data";
            return Err(self.refuse(
                "compress",
                problem,
                "remove this option, or let the job write",
            ));
        }
        if content.compress_percent > 100 || content.dedupe_percent > 100 {
            return Err(self.refuse(
                "compress",
                "`compress` and `dedupe` must each be at most 100 %",
                "",
            ));
        }
        if content.chunk_bytes == 0 {
            return Err(self.refuse(
                "compress-chunk",
                "a chunk must be larger than 0",
                "use a size such as 4k",
            ));
        }
        if content.pattern.len() > MAX_PATTERN_BYTES {
            let problem = format!(
                "{} bytes are too many; the limit is {MAX_PATTERN_BYTES}",
                content.pattern.len()
            );
            return Err(self.refuse("fill-pattern", problem, ""));
        }
        if content.working_set_percent.is_some_and(|percent| !(1..=100).contains(&percent)) {
            return Err(self.refuse("dedupe-set", "must be from 1 to 100 % of the span", ""));
        }
        Ok(())
    }

    fn validate_priorities(&self) -> Result<(), Error> {
        let refuse = |problem: String, advice| Err(self.refuse("priority", problem, advice));
        let levels = self.priorities.iter().map(|share| share.priority).chain(self.priority);
        if let Some(wrong) = levels.map(|priority| priority.level).find(|level| *level > 7) {
            return refuse(format!("a level of {wrong} is not between 0 and 7"), "");
        }
        if self.priorities.is_empty() {
            return Ok(());
        }
        if !self.engine.info().has_queue && self.engine != crate::engine::Engine::Libaio {
            let problem = format!("{} gives all I/Os the same priority", self.engine.name());
            return refuse(problem, "use engine=io_uring or libaio, or one priority for all");
        }
        for share in &self.priorities {
            let alike = self
                .priorities
                .iter()
                .filter(|other| (other.reads, other.bytes) == (share.reads, share.bytes));
            let sum: u32 = alike.map(|share| u32::from(share.percent)).sum();
            if sum > 100 {
                return refuse(
                    format!("the shares add up to {sum} %"),
                    "make the shares add up to at most 100 %",
                );
            }
        }
        Ok(())
    }
}

impl Job {
    pub(super) fn validate_trims(&self) -> Result<(), Error> {
        let Some(trims) = self.trims else { return Ok(()) };
        let refuse = |problem: &str, advice| Err(self.refuse("trim", problem, advice));
        if !self.engine.info().trims {
            let problem = format!("{} cannot trim", self.engine.name());
            return refuse(&problem, "use engine=io_uring, libaio, psync or mmap");
        }
        if self.reads() {
            return refuse(
                "a job that trims cannot read",
                "use rw=trim or rw=trimwrite, and a separate job for the reads",
            );
        }
        if self.fresh {
            let problem = "newly allocated space contains nothing to trim";
            return refuse(problem, "leave out fresh");
        }
        // The write would go to another offset than the trim.
        if trims == Trims::First && self.by_direction().is_some() {
            let problem = "each write must have the same offset and size as the trim before it";
            return refuse(problem, "leave out write-block-size and write-pattern");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use crate::validate::tests::error_of;
    use crate::workload::Workload;

    fn error(changes: &[&str]) -> String {
        error_of("randwrite-4k", changes)
    }

    #[test]
    fn impossible_shares_are_named() {
        assert_snapshot!(error(&["stretches=1k/1k/1M"]), @"
        job `io`: stretches: 4k blocks do not fit into a stretch
        make the stretches longer
        ");
        assert_snapshot!(error(&["stretches=1M/1M/1M", "pattern=zipf:1.2"]), @"
        job `io`: stretches: the skewed pattern does not support stretches
        use pattern=sequential, random or shuffled
        ");
        assert_snapshot!(error(&["stretches=1M/1M/100"]), @"
        job `io`: stretches: direct I/O requires multiples of 512 bytes
        use multiples of 512, or direct=false
        ");
        assert_snapshot!(error(&["offset-increment=4611686018427387904", "threads=4"]), @"
        job `io`: offset-increment: the last thread's span would exceed the maximum file size
        reduce offset-increment
        ");
        assert_snapshot!(error(&["offset-increment=100"]), @"
        job `io`: offset-increment: direct I/O requires a multiple of 512 bytes
        use a multiple of 512, or direct=false
        ");
        assert_snapshot!(error(&["compress=50", "rw=randread"]), @"
        job `io`: compress: the job does not write data
        remove this option, or let the job write
        ");
        assert_snapshot!(error(&["compress-chunk=0"]), @"
        job `io`: compress-chunk: a chunk must be larger than 0
        use a size such as 4k
        ");
        assert_snapshot!(error(&["latency-target=1ms/0s"]), @"
        job `io`: latency-target: the latency and the window must be above 0
        use values such as 500us/5s/99.9
        ");
        assert_snapshot!(error(&["flow=2000"]), @"job `io`: flow: a weight of 2000 is not between 1 and 1000");
        assert_snapshot!(error(&["priority=rt:0=20%", "engine=psync", "depth=1"]), @"
        job `io`: priority: psync gives all I/Os the same priority
        use engine=io_uring or libaio, or one priority for all
        ");
        assert_snapshot!(error(&["priority=rt:0=60%,idle:0=60%"]), @"
        job `io`: priority: the shares add up to 120 %
        make the shares add up to at most 100 %
        ");
    }

    #[test]
    fn shares_read_as_sentences() {
        let mut workload = Workload::preset("randwrite-4k").unwrap();
        for text in [
            "stretches=256M/256M/2G",
            "compress=50",
            "dedupe=30",
            "dedupe-set=5",
            "flow=8@1/1ms",
            "latency-target=500us/5s/99.9",
            "priority=idle:0,rt:0=write/4k/20%",
            "numa=0/bind:0",
        ] {
            workload.set(text).unwrap();
        }
        assert_eq!(workload.validate(), Ok(()));
        assert_snapshot!(workload.explain()[1], @"io: 1 thread, random 4k writes, over 1G, io_uring direct, in stretches with gaps (256M/256M/2G), data with 50 % zeroes and 30 % of writes repeated from 5 % of the thread's data, at the depth that meets a latency target (500us/5s/99.9), paced in proportion to other jobs (weight 8@1/1ms), priority idle:0,rt:0=write/4k/20%, on NUMA nodes 0/bind:0");
    }
}

#[cfg(test)]
mod trims_tests {
    use insta::assert_snapshot;

    use crate::validate::tests::error_of;
    use crate::workload::Workload;

    fn error(changes: &[&str]) -> String {
        error_of("randread-4k", changes)
    }

    #[test]
    fn impossible_trims_are_named() {
        assert_snapshot!(error(&["trim=only"]), @"
        job `io`: trim: a job that trims cannot read
        use rw=trim or rw=trimwrite, and a separate job for the reads
        ");
        assert_snapshot!(error(&["rw=trim", "direct=false", "engine=vdisk", "depth=1"]), @"
        job `io`: trim: vdisk cannot trim
        use engine=io_uring, libaio, psync or mmap
        ");
        assert_snapshot!(error(&["rw=trim", "verify=true"]), @"
        job `io`: verify: the job does not write data
        remove this option, or let the job write
        ");
        assert_snapshot!(error(&["rw=randtrim", "fsync-every=1"]), @"
        job `io`: fsync-every: the job does not write data
        remove this option, or let the job write
        ");
        assert_snapshot!(error(&["rw=trim", "compress=50"]), @"
        job `io`: compress: the job does not write data
        remove this option, or let the job write
        ");
    }

    #[test]
    fn impossible_checks_are_named() {
        assert_snapshot!(error(&["rw=write", "verify-every=16"]), @"
        job `io`: verify-every: nothing is verified
        add verify=true, or remove this option
        ");
        assert_snapshot!(error(&["rw=write", "verify=true", "verify-every=2000000"]), @"job `io`: verify-every: 2000000 is not between 1 and 1048576");
        assert_snapshot!(error(&["verify-ends=true"]), @"
        job `io`: verify-ends: nothing is verified
        add verify=true, or remove this option
        ");
        assert_snapshot!(error(&["rw=rw", "verify-apart=true"]), @"
        job `io`: verify-apart: applies only to jobs that either read or write, but not both
        use verify, or separate jobs for reading and writing
        ");
        assert_snapshot!(error(&["rw=write", "verify=true", "verify-apart=true"]), @"
        job `io`: verify-apart: applies only to jobs that either read or write, but not both
        use verify, or separate jobs for reading and writing
        ");
        assert_snapshot!(error(&["engine=null", "verify-apart=true"]), @"
        job `io`: verify-apart: the null engine has no data to verify
        remove this option
        ");
    }

    #[test]
    fn a_job_that_trims_writes() {
        let mut workload = Workload::preset("randread-4k").unwrap();
        for (rw, data) in [("trim", false), ("randtrimwrite", true)] {
            workload.set(&format!("rw={rw}")).unwrap();
            assert!(workload.writes() && !workload.jobs[0].reads(), "{rw}");
            assert_eq!(workload.jobs[0].writes_data(), data, "{rw}");
            workload.validate().unwrap();
        }
        workload.set("rw=read").unwrap();
        assert_eq!((workload.writes(), workload.jobs[0].trims), (false, None));
    }
}
