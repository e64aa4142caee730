//! Checks of offsets: orders, alignment, spans, files and pauses.

use iotax_layers::Error;
use iotax_layers::units::format_bytes;

use super::DIRECT_ALIGNMENT_BYTES;
use crate::engine::PageCache;
use crate::job_options::format_block_sizes;
use crate::workload::{BlockSizes, Bound, Extent, Files, Job, Pattern, RunLength, Skew, Zone};

/// File offsets are signed 64-bit numbers.
const MAX_OFFSET_BYTES: u64 = i64::MAX as u64;
/// Each I/O names its file in 16 bits.
const MAX_FILES: u32 = 65_535;
/// The maximum in fio.
const MAX_ZONES: usize = 256;

impl Job {
    pub(super) fn validate_order(&self) -> Result<(), Error> {
        self.validate_directions()?;
        self.validate_pattern()?;
        self.validate_alignment()?;
        self.validate_span()?;
        self.validate_switches()
    }

    /// Checks separate sizes and orders of writes.
    fn validate_directions(&self) -> Result<(), Error> {
        let Some([_, writes]) = self.by_direction() else { return Ok(()) };
        let key = if self.write_pattern.is_some() { "write-pattern" } else { "write-block-size" };
        if !(self.reads() && self.writes()) {
            let problem = "applies only to a job that reads and writes";
            return Err(self.refuse(
                key,
                problem,
                "remove this option, or let the job read and write",
            ));
        }
        if self.bound == Bound::Span {
            let problem = "reads and writes with different settings reach the end of the span at \
                           different times";
            return Err(self.refuse(key, problem, "remove this option, or use io-size"));
        }
        writes.validate_pattern()?;
        writes.validate_alignment()
    }

    fn validate_pattern(&self) -> Result<(), Error> {
        let refuse = |problem: String, advice| Err(self.refuse("pattern", problem, advice));
        if let Pattern::Zoned(zones) = &self.pattern {
            return self.validate_zones(zones);
        }
        if let Some((skew, centre)) = self.pattern.skew() {
            return self.validate_skew(skew, centre);
        }
        match self.pattern {
            Pattern::Strided(stride) | Pattern::Backward(stride) => self.validate_stride(stride),
            Pattern::Staggered { step_bytes, apart_bytes } => {
                self.validate_stride(step_bytes)?;
                self.validate_stagger(apart_bytes)
            }
            Pattern::Interlocked(step_bytes) => {
                self.validate_stride(step_bytes)?;
                self.validate_threads_together()
            }
            Pattern::Runs(RunLength::Fixed(0)) => {
                refuse("a run must have at least one I/O".into(), "use at least 1")
            }
            Pattern::Runs(RunLength::Geometric(mean)) if !(mean.is_finite() && mean >= 1.0) => {
                let problem = format!("an average run length of {mean} I/Os is too short");
                refuse(problem, "use at least 1")
            }
            Pattern::Mixed { random_percent } if random_percent > 100 => {
                let problem = format!("{random_percent} % is not a valid share of random I/Os");
                refuse(problem, "use a value from 0 to 100")
            }
            _ => Ok(()),
        }
    }

    fn validate_skew(&self, skew: Skew, centre: Option<f64>) -> Result<(), Error> {
        let refuse = |problem: String, advice| Err(self.refuse("pattern", problem, advice));
        if let Some(centre) = centre.filter(|centre| !(0.0..=1.0).contains(centre)) {
            let problem = format!("a center of {centre} is outside the span");
            return refuse(problem, "use a value from 0 (start of the span) to 1 (end)");
        }
        match skew {
            Skew::Zipf(theta) if !(theta.is_finite() && theta > 0.0) => {
                refuse(format!("{theta} is not a valid zipf exponent"), "1.2 is a typical value")
            }
            Skew::Zipf(1.0) => {
                refuse("an exponent of 1 is not supported".into(), "use 0.99 or 1.01")
            }
            Skew::Pareto(power) if !(power > 0.0 && power < 1.0) => refuse(
                format!("a pareto power of {power} is not between 0 and 1"),
                "0.2 is a typical value",
            ),
            Skew::Normal(percent) if !(0.0..100.0).contains(&percent) => {
                let problem = format!("a deviation of {percent} % of the span is out of range");
                refuse(problem, "use a value of at least 0 and below 100")
            }
            _ => Ok(()),
        }
    }

    fn validate_zones(&self, zones: &[Zone]) -> Result<(), Error> {
        let refuse = |problem: String, advice| Err(self.refuse("pattern", problem, advice));
        if zones.len() > MAX_ZONES {
            return refuse(
                format!("{} zones are too many; the limit is {MAX_ZONES}", zones.len()),
                "",
            );
        }
        let accesses: u32 = zones.iter().map(|zone| u32::from(zone.accesses_percent)).sum();
        if accesses != 100 {
            let advice = "make the percentages add up to 100";
            return refuse(
                format!("the access percentages of the zones add up to {accesses} %, not 100 %"),
                advice,
            );
        }
        let percent = |zone: &Zone| match zone.extent {
            Extent::Percent(percent) => u32::from(percent),
            Extent::Bytes(_) | Extent::Rest => 0,
        };
        let covered: u32 = zones.iter().map(percent).sum();
        if covered > 100 {
            let advice = "make the zones cover at most 100 %";
            return refuse(format!("the zones cover {covered} % of the span"), advice);
        }
        let none = |zone: &&Zone| matches!(zone.extent, Extent::Percent(0) | Extent::Bytes(0));
        if let Some(zone) = zones.iter().filter(none).find(|zone| zone.accesses_percent > 0) {
            let problem = format!(
                "a zone with {} % of the accesses covers no part of the span",
                zone.accesses_percent
            );
            return refuse(problem, "give each zone a part of the span");
        }
        match zones.iter().position(|zone| zone.extent == Extent::Rest) {
            Some(at) if at + 1 < zones.len() => {
                refuse("a zone follows `rest`".into(), "put rest last")
            }
            _ => Ok(()),
        }
    }

    fn validate_stride(&self, stride: u64) -> Result<(), Error> {
        let refuse = |problem: String, advice| Err(self.refuse("pattern", problem, advice));
        if stride == 0 {
            return refuse(
                "a stride of 0 bytes does not advance".into(),
                "use a stride such as 64k",
            );
        }
        if !matches!(self.block_sizes, BlockSizes::Fixed(_)) {
            let sizes = format_block_sizes(&self.block_sizes);
            let problem = format!("strides require a single block size, not {sizes}");
            return refuse(problem, "use one block-size, or another pattern");
        }
        self.validate_aligned("pattern", stride)
    }

    /// Checks threads that start at a distance from each other, in one file.
    fn validate_stagger(&self, apart_bytes: u64) -> Result<(), Error> {
        let refuse = |problem: String, advice| Err(self.refuse("pattern", problem, advice));
        self.validate_threads_together()?;
        self.validate_aligned("pattern", apart_bytes)?;
        let last = apart_bytes.checked_mul(u64::from(self.threads.saturating_sub(1)));
        let end = last.and_then(|last| last.checked_add(self.max_block_bytes().into()));
        if end.is_none_or(|end| end > self.size_bytes) {
            let (apart, size) = (format_bytes(apart_bytes), format_bytes(self.size_bytes));
            let problem =
                format!("{} threads {apart} apart do not fit into a span of {size}", self.threads);
            return refuse(problem, "increase size, or use fewer threads");
        }
        Ok(())
    }

    /// Checks threads whose offsets depend on each other.
    fn validate_threads_together(&self) -> Result<(), Error> {
        let refuse = |problem: &str, advice| Err(self.refuse("pattern", problem, advice));
        if !matches!(self.files, Files::Shared(_)) {
            return refuse(
                "this pattern requires that all threads share one file",
                "use file=NAME to name a file that all threads share",
            );
        }
        if self.files_per_thread > 1 {
            return refuse("this pattern supports only one file", "use files-per-thread=1");
        }
        if self.bound == Bound::Span {
            let problem = "with this pattern, threads share the span and cannot stop when they \
                           reach its end";
            return refuse(problem, "use io-size or time, or another pattern");
        }
        Ok(())
    }

    fn validate_alignment(&self) -> Result<(), Error> {
        let Some(align) = self.align_bytes else { return Ok(()) };
        let refuse = |problem: String, advice| Err(self.refuse("align", problem, advice));
        let (min, max) = (self.min_block_bytes(), self.max_block_bytes());
        if align == 0 {
            return refuse("offsets cannot be multiples of 0".into(), "use a size such as 4k");
        }
        self.validate_aligned("align", align)?;
        if self.pattern.step_bytes().is_some() {
            return refuse(
                "the stride already determines the offsets".into(),
                "remove this option",
            );
        }
        if self.pattern == Pattern::Shuffled && align != u64::from(min) && align < max.into() {
            let problem = format!(
                "{} I/Os at multiples of {} overlap, so they cannot access each block exactly once",
                format_block_sizes(&self.block_sizes),
                format_bytes(align)
            );
            return refuse(problem, "use pattern=random, or remove this option");
        }
        if align > self.bytes_per_file() {
            let (align, size) = (format_bytes(align), format_bytes(self.bytes_per_file()));
            return refuse(format!("an alignment of {align} is larger than the file ({size})"), "");
        }
        Ok(())
    }

    fn validate_span(&self) -> Result<(), Error> {
        let files = self.files_per_thread;
        let refuse =
            |problem: String, advice| Err(self.refuse("files-per-thread", problem, advice));
        if !(1..=MAX_FILES).contains(&files) {
            return refuse(format!("{files} is not between 1 and {MAX_FILES}"), "");
        }
        let largest = u64::from(self.max_block_bytes());
        if largest > self.bytes_per_file() {
            let (block, size) = (format_bytes(largest), format_bytes(self.size_bytes));
            let problem = format!(
                "{block} blocks do not fit into a file if {size} is divided among {files} files"
            );
            return refuse(problem, "increase size, or use fewer files");
        }
        let end = self.offset_bytes.checked_add(self.size_bytes);
        if end.is_none_or(|end| end > MAX_OFFSET_BYTES) {
            let problem = "offset and size together exceed the maximum file size";
            return Err(self.refuse("offset", problem, "reduce one of them"));
        }
        self.validate_aligned("offset", self.offset_bytes)
    }

    fn validate_switches(&self) -> Result<(), Error> {
        if self.write_through && self.engine.info().cache == PageCache::Always {
            let problem = "writes to a memory mapping complete before the data reaches the medium";
            return Err(self.refuse("write-through", problem, "use fsync-every, or engine=psync"));
        }
        if self.pre_read && self.invalidate {
            let problem = "the cache cannot be both warm and cold";
            return Err(self.refuse("pre-read", problem, "leave out pre-read or invalidate"));
        }
        if self.uncached {
            if self.direct {
                let problem = "direct I/O bypasses the cache anyway";
                return Err(self.refuse("uncached", problem, "leave out uncached or direct"));
            }
            if self.engine.is_async() || self.engine.info().cache == PageCache::Never {
                let problem = format!("{} cannot drop pages from the cache", self.engine.name());
                let advice = "use engine=psync or engine=mmap, or remove this option";
                return Err(self.refuse("uncached", problem, advice));
            }
            if self.pre_read {
                let problem = "the cache cannot be both warm and cold";
                return Err(self.refuse("uncached", problem, "leave out uncached or pre-read"));
            }
        }
        if self.fresh && self.reads() {
            let problem = "newly allocated space contains no data to read";
            return Err(self.refuse(
                "fresh",
                problem,
                "remove this option, or let the job only write",
            ));
        }
        if let Some(think) = self.think {
            if think.after_ios == 0 {
                let problem = "a pause after 0 I/Os never happens";
                return Err(self.refuse("think", problem, "use a pause such as 1ms/8"));
            }
            if think.time_ns == 0 {
                return Err(self.refuse(
                    "think",
                    "a pause must be longer than 0",
                    "remove this option",
                ));
            }
        }
        Ok(())
    }

    pub(super) fn validate_aligned(&self, key: &'static str, bytes: u64) -> Result<(), Error> {
        if self.direct && !is_aligned(bytes) {
            let problem = "direct I/O requires a multiple of 512 bytes";
            return Err(self.refuse(key, problem, "use a multiple of 512, or direct=false"));
        }
        Ok(())
    }

    fn bytes_per_file(&self) -> u64 {
        self.size_bytes / u64::from(self.files_per_thread.max(1))
    }
}

pub(super) fn is_aligned(bytes: u64) -> bool {
    bytes.is_multiple_of(DIRECT_ALIGNMENT_BYTES.into())
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use crate::validate::tests::error_of;
    use crate::workload::{Extent, Job, Pattern, RunLength, Skew, Think, Workload, Zone};

    fn error(changes: &[&str]) -> String {
        error_of("randread-4k", changes)
    }

    fn of(change: impl Fn(&mut Job)) -> String {
        let mut workload = Workload::preset("randread-4k").unwrap();
        change(&mut workload.jobs[0]);
        workload.validate().unwrap_err().to_string()
    }

    #[test]
    fn impossible_patterns_are_named() {
        assert_snapshot!(error(&["pattern=zipf:1"]), @"
        job `io`: pattern: an exponent of 1 is not supported
        use 0.99 or 1.01
        ");
        assert_snapshot!(error(&["pattern=zipf:0"]), @"
        job `io`: pattern: 0 is not a valid zipf exponent
        1.2 is a typical value
        ");
        assert_snapshot!(error(&["pattern=pareto:1"]), @"
        job `io`: pattern: a pareto power of 1 is not between 0 and 1
        0.2 is a typical value
        ");
        assert_snapshot!(error(&["pattern=normal:100"]), @"
        job `io`: pattern: a deviation of 100 % of the span is out of range
        use a value of at least 0 and below 100
        ");
        assert_snapshot!(error(&["pattern=zipf:1.2:1.5"]), @"
        job `io`: pattern: a center of 1.5 is outside the span
        use a value from 0 (start of the span) to 1 (end)
        ");
        assert_snapshot!(error(&["pattern=runs:0"]), @"
        job `io`: pattern: a run must have at least one I/O
        use at least 1
        ");
        assert_snapshot!(error(&["pattern=geometric:0.5"]), @"
        job `io`: pattern: an average run length of 0.5 I/Os is too short
        use at least 1
        ");
        assert_snapshot!(error(&["pattern=zoned:50/5%:40/rest"]), @"
        job `io`: pattern: the access percentages of the zones add up to 90 %, not 100 %
        make the percentages add up to 100
        ");
        assert_snapshot!(error(&["pattern=zoned:50/60%:50/50%"]), @"
        job `io`: pattern: the zones cover 110 % of the span
        make the zones cover at most 100 %
        ");
        assert_snapshot!(error(&["pattern=zoned:50/0%:50/50%"]), @"
        job `io`: pattern: a zone with 50 % of the accesses covers no part of the span
        give each zone a part of the span
        ");
        assert_snapshot!(error(&["pattern=zoned:50/rest:50/50%"]), @"
        job `io`: pattern: a zone follows `rest`
        put rest last
        ");
        assert_snapshot!(error(&["write-block-size=8k"]), @"
        job `io`: write-block-size: applies only to a job that reads and writes
        remove this option, or let the job read and write
        ");
        assert_snapshot!(error(&["rw=randrw", "write-pattern=zipf:1"]), @"
        job `io`: pattern: an exponent of 1 is not supported
        use 0.99 or 1.01
        ");
        assert_snapshot!(error(&["pattern=strided:0"]), @"
        job `io`: pattern: a stride of 0 bytes does not advance
        use a stride such as 64k
        ");
        assert_snapshot!(error(&["pattern=strided:64k", "bs=4k-8k"]), @"
        job `io`: pattern: strides require a single block size, not 4k-8k
        use one block-size, or another pattern
        ");
        assert_snapshot!(error(&["pattern=strided:1000"]), @"
        job `io`: pattern: direct I/O requires a multiple of 512 bytes
        use a multiple of 512, or direct=false
        ");
        assert_snapshot!(of(|job| job.pattern = Pattern::Mixed { random_percent: 101 }), @"
        job `io`: pattern: 101 % is not a valid share of random I/Os
        use a value from 0 to 100
        ");
    }

    #[test]
    fn impossible_spans_are_named() {
        assert_snapshot!(error(&["align=0"]), @"
        job `io`: align: offsets cannot be multiples of 0
        use a size such as 4k
        ");
        assert_snapshot!(error(&["align=100"]), @"
        job `io`: align: direct I/O requires a multiple of 512 bytes
        use a multiple of 512, or direct=false
        ");
        assert_snapshot!(error(&["align=2G"]), @"job `io`: align: an alignment of 2G is larger than the file (1G)");
        assert_snapshot!(error(&["align=64k", "pattern=strided:64k"]), @"
        job `io`: align: the stride already determines the offsets
        remove this option
        ");
        assert_snapshot!(error(&["align=4k", "pattern=shuffled", "bs=64k"]), @"
        job `io`: align: 64k I/Os at multiples of 4k overlap, so they cannot access each block exactly once
        use pattern=random, or remove this option
        ");
        assert_snapshot!(error(&["offset=100"]), @"
        job `io`: offset: direct I/O requires a multiple of 512 bytes
        use a multiple of 512, or direct=false
        ");
        assert_snapshot!(error(&["offset=8388607T", "size=2T"]), @"
        job `io`: offset: offset and size together exceed the maximum file size
        reduce one of them
        ");
        assert_snapshot!(error(&["files-per-thread=0"]), @"job `io`: files-per-thread: 0 is not between 1 and 65535");
        assert_snapshot!(error(&["nrfiles=8", "size=16k"]), @"
        job `io`: files-per-thread: 4k blocks do not fit into a file if 16k is divided among 8 files
        increase size, or use fewer files
        ");
    }

    #[test]
    fn impossible_switches_are_named() {
        assert_snapshot!(error(&["engine=mmap", "direct=0", "sync=1"]), @"
        job `io`: write-through: writes to a memory mapping complete before the data reaches the medium
        use fsync-every, or engine=psync
        ");
        assert_snapshot!(error(&["uncached=1"]), @"
        job `io`: uncached: direct I/O bypasses the cache anyway
        leave out uncached or direct
        ");
        assert_snapshot!(error(&["direct=0", "uncached=1"]), @"
        job `io`: uncached: io_uring cannot drop pages from the cache
        use engine=psync or engine=mmap, or remove this option
        ");
        assert_snapshot!(error(&["engine=psync", "direct=0", "uncached=1", "pre-read=1"]), @"
        job `io`: uncached: the cache cannot be both warm and cold
        leave out uncached or pre-read
        ");
        assert_snapshot!(error(&["fresh=1"]), @"
        job `io`: fresh: newly allocated space contains no data to read
        remove this option, or let the job only write
        ");
        assert_snapshot!(error(&["pre_read=1", "invalidate=1"]), @"
        job `io`: pre-read: the cache cannot be both warm and cold
        leave out pre-read or invalidate
        ");
        assert_snapshot!(error(&["think=1ms/0"]), @"
        job `io`: think: a pause after 0 I/Os never happens
        use a pause such as 1ms/8
        ");
        assert_snapshot!(of(|job| job.think = Some(Think { time_ns: 0, after_ios: 1 })), @"
        job `io`: think: a pause must be longer than 0
        remove this option
        ");
    }

    #[test]
    fn every_pattern_is_possible() {
        for pattern in [
            Pattern::Shuffled,
            Pattern::Skewed(Skew::Zipf(0.9)),
            Pattern::Skewed(Skew::Pareto(0.2)),
            Pattern::Skewed(Skew::Normal(0.0)),
            Pattern::Centred { skew: Skew::Normal(0.0), centre: 1.0 },
            Pattern::Zoned(vec![
                Zone { accesses_percent: 80, extent: Extent::Percent(10) },
                Zone { accesses_percent: 20, extent: Extent::Rest },
            ]),
            Pattern::Strided(65_536),
            Pattern::Runs(RunLength::Fixed(1)),
            Pattern::Runs(RunLength::Geometric(1.0)),
            Pattern::Mixed { random_percent: 100 },
        ] {
            let mut workload = Workload::preset("randread-4k").unwrap();
            workload.jobs[0].pattern = pattern;
            assert_eq!(workload.validate(), Ok(()));
        }
    }
}
