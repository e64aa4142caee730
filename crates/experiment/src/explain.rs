//! Describes workloads in words, for `iotax workloads` and for plans.

use iotax_layers::units::{format_bytes, format_duration, format_iops};

use crate::engine::PageCache;
use crate::job_options::{
    format_block_sizes, format_cpus, format_flow, format_latency_target, format_numa,
    format_operations, format_pattern, format_priorities, format_stretches,
};
use crate::tree::Tree;
use crate::workload::{
    Arrivals, BlockSizes, Bound, Files, IndexLoads, Job, Pace, Pattern, RecordedLoad, Requirement,
    RunLength, Trims, Workload,
};
use crate::writes::Content;

impl Workload {
    /// One line for the times, one per job, and one for the index.
    pub fn explain(&self) -> Vec<String> {
        std::iter::once(self.explain_times()).chain(self.explain_load()).collect()
    }

    /// How long a trial takes.
    pub fn explain_times(&self) -> String {
        if let Some(recording) = self.recording() {
            return explain_times_of_replay(recording, self.time_ns);
        }
        let (ramp, time) = (format_duration(self.ramp_ns), format_duration(self.time_ns));
        format!("every trial: {ramp} ramp, then {time} measured")
    }

    /// The same, without the times.
    pub fn explain_load(&self) -> Vec<String> {
        let mut lines = Vec::new();
        lines.extend(self.jobs.iter().map(|job| {
            let decides = job.name == self.primary || self.goes_both_ways();
            let mark = if self.jobs.len() > 1 && decides { " (compared)" } else { "" };
            format!("{}{mark}: {}", job.name, job.explain())
        }));
        lines.extend(self.index.as_ref().map(explain_index));
        let unfit = |of: &Requirement| format!("unfit if {}: {}", of.rule, of.source);
        lines.extend(self.requires.as_ref().map(unfit));
        lines
    }
}

/// A recorded time as people would write it: at least two digits.
pub const fn rounded_ns(time_ns: u64) -> u64 {
    let unit_ns = match time_ns {
        10_000_000_000.. => 1_000_000_000,
        10_000_000.. => 1_000_000,
        10_000.. => 1000,
        _ => 1,
    };
    time_ns.saturating_add(unit_ns / 2) / unit_ns * unit_ns
}

/// How long it takes depends on the target.
fn explain_times_of_replay(recording: &RecordedLoad, time_ns: u64) -> String {
    let of_log = recording.logs.as_ref();
    if of_log.is_some_and(|logs| logs.no_stall) {
        return "every trial: the whole log, as fast as the target allows".to_owned();
    }
    let length_ns = recording.length_ns.max(1);
    let length = format_duration(rounded_ns(recording.length_ns));
    if time_ns < length_ns {
        let time = format_duration(rounded_ns(time_ns));
        return format!("every trial: the first {time} of the recording ({length})");
    }
    let times = match time_ns.div_ceil(length_ns) {
        1 => String::new(),
        passes => format!("{passes} times "),
    };
    format!(
        "every trial: the whole recording, {times}{length} on a target as fast as the recorded one"
    )
}

fn explain_recording(recording: &RecordedLoad, space_bytes: u64) -> String {
    let copies = match recording.copies {
        1 => String::new(),
        copies => format!("{copies} copies of "),
    };
    let others = match recording.logs.as_ref().map_or(0, |logs| logs.others.len()) {
        0 => String::new(),
        1 => " and another log".to_owned(),
        more => format!(" and {more} other logs"),
    };
    let arrivals = match recording.arrivals {
        Arrivals::AfterAnswers => "",
        Arrivals::ByTheClock => ", arrivals by the clock",
    };
    let device = recording.device_bytes.map_or(String::new(), |bytes| {
        format!(" in a directory, or {} of a block device", format_bytes(bytes))
    });
    let writes = if recording.writes { "reads and writes" } else { "only reads" };
    let path = recording.path.display();
    // The line on times shows the length of whole replays only.
    let length = match recording.parts {
        0 | 1 => String::new(),
        _ => format!("{} of ", format_duration(rounded_ns(recording.length_ns))),
    };
    let threads = plural(recording.threads, "thread");
    let space = format_bytes(space_bytes);
    format!(
        "replays {copies}{path}{others}: {length}{threads}, {writes}{arrivals}; needs {space} of \
         space{device}"
    )
}

impl Job {
    fn explain(&self) -> String {
        let threads = plural(self.threads, "thread");
        if let Some(recording) = &self.recording {
            return explain_recording(recording, self.size_bytes);
        }
        let mut parts = match &self.tree {
            Some(tree) => vec![threads, explain_tree(tree)],
            None if self.engine.is_network() => vec![threads, self.explain_network()],
            None => vec![
                format!("{threads}, {}", self.explain_operations()),
                self.explain_span(),
                self.explain_engine(),
            ],
        };
        parts.extend(match self.pace {
            Pace::Closed => None,
            Pace::Even { iops } => Some(format!("{}/s at even intervals", format_iops(iops))),
            Pace::Poisson { iops } => Some(format!("{}/s at random intervals", format_iops(iops))),
        });
        parts.extend(self.explain_shares());
        if let Bound::Bytes(bytes) = self.bound {
            parts.push(format!("ends after {} per thread", format_bytes(bytes)));
        }
        let (start, end) = (self.start_delay_ns, self.end_after_ns);
        parts.extend(match (start, end.map(format_duration)) {
            (0, None) => None,
            (0, Some(end)) => Some(format!("ends at {end}")),
            (start, None) => Some(format!("starts at {}", format_duration(start))),
            (start, Some(end)) => Some(format!("from {} to {end}", format_duration(start))),
        });
        parts.extend(self.fsync_every.map(|writes| match writes {
            1 => "sync after every write".to_owned(),
            writes => format!("sync every {writes} writes"),
        }));
        if let Some(think) = self.think {
            let ios = match think.after_ios {
                1 => "I/O".to_owned(),
                ios => plural(ios, "I/O"),
            };
            let time = format_duration(think.time_ns);
            parts.push(format!("pauses for {time} after every {ios}"));
        }
        if !self.cpus.is_empty() {
            parts.push(format!("on CPUs {}", format_cpus(&self.cpus)));
        }
        if let Some(most) = self.submit_batch.filter(|most| (2..self.queue_depth).contains(most)) {
            parts.push(format!("{} per system call", plural(most, "I/O")));
        }
        let switches = [
            (self.write_through, "write-through"),
            (self.fresh, "to newly allocated space"),
            (self.pre_read, "with a warm cache"),
            (self.zero_copy, "zero-copy"),
            (self.ends_all, "ends all other jobs"),
            (self.end_fsync, "sync at the end"),
            (self.verify, "verified"),
            (self.verify_apart && self.writes(), "verified by another job"),
            (self.verify_apart && self.reads(), "verifies data written by another job"),
            (self.sqpoll, "sqpoll"),
        ];
        if self.trims.is_some() && self.queue_depth > 1 {
            parts.push("threads wait for each trim to finish".to_owned());
        }
        if let Some(every) = self.verify_every {
            parts.push(format!("verified after every {every} writes"));
        }
        parts.extend(switches.iter().filter(|(on, _)| *on).map(|(_, word)| (*word).to_owned()));
        parts.join(", ")
    }

    fn explain_network(&self) -> String {
        let block = match self.block_sizes.max_bytes() {
            bytes if bytes < 1024 || bytes % 1024 != 0 => format!("{bytes}-byte"),
            bytes => format_bytes(bytes.into()),
        };
        if self.engine.is_round_trips() {
            let depth = match self.queue_depth {
                1 => "one at a time".to_owned(),
                depth => format!("{depth} at a time"),
            };
            return format!("{block} requests and responses, {depth}");
        }
        if self.engine.is_connections() {
            return format!("a new connection for each {block} request and response");
        }
        let what = if self.engine.is_datagrams() { "datagrams" } else { "blocks" };
        let way = if self.reads() { "from" } else { "to" };
        format!("{block} {what} {way} the peer")
    }

    fn explain_operations(&self) -> String {
        if let Some([reads, writes]) = self.by_direction() {
            let (share, reads) = (self.read_percent, reads.explain_operations());
            return format!("{share} % {reads}, the rest {}", writes.explain_operations());
        }
        let operations = match self.read_percent {
            100 => "reads".to_owned(),
            0 => match self.trims {
                None => "writes".to_owned(),
                Some(Trims::Only) => "trims".to_owned(),
                Some(Trims::First) => "trims followed by writes".to_owned(),
            },
            reads => format!("I/Os ({reads} % reads)"),
        };
        let sizes = format_block_sizes(&self.block_sizes);
        let operations = match &self.block_sizes {
            BlockSizes::Split(_) => format!("{operations} of {sizes}"),
            _ if sizes.ends_with(|c: char| c.is_ascii_digit()) => {
                format!("{sizes}-byte {operations}")
            }
            _ => format!("{sizes} {operations}"),
        };
        let order = self.pattern.name();
        match &self.pattern {
            Pattern::Skewed(_) | Pattern::Centred { .. } | Pattern::Zoned(_) => {
                format!("{order} ({}) {operations}", format_pattern(&self.pattern))
            }
            Pattern::Staggered { step_bytes, apart_bytes } => {
                let (step, apart) = (format_bytes(*step_bytes), format_bytes(*apart_bytes));
                format!("{order} {operations} every {step}, threads {apart} apart")
            }
            Pattern::Strided(stride) | Pattern::Interlocked(stride) | Pattern::Backward(stride) => {
                format!("{order} {operations} every {}", format_bytes(*stride))
            }
            Pattern::Runs(RunLength::Fixed(length)) => {
                format!("random runs of {length} sequential {operations}")
            }
            Pattern::Runs(RunLength::Geometric(mean)) => {
                let mean = (100.0 * mean).round() / 100.0;
                format!("random runs averaging {mean} sequential {operations}")
            }
            Pattern::Mixed { random_percent } => {
                format!("{random_percent} % random and otherwise sequential {operations}")
            }
            Pattern::Random | Pattern::Shuffled | Pattern::Sequential => {
                format!("{order} {operations}")
            }
        }
    }

    fn explain_span(&self) -> String {
        let target = match &self.target {
            Some(target) => format!(" on {target}"),
            None => String::new(),
        };
        let align = match self.align_bytes {
            Some(align) => format!("at multiples of {}, ", format_bytes(align)),
            None => String::new(),
        };
        let size = format_bytes(self.size_bytes);
        let whose = match &self.files {
            Files::PerThread if self.threads == 1 => String::new(),
            Files::PerThread => " each".to_owned(),
            Files::Shared(file) => format!(" of `{file}`"),
        };
        let files = match self.files_per_thread {
            1 => String::new(),
            files => format!(" in {files} files"),
        };
        let offset = match self.offset_bytes {
            0 => String::new(),
            offset => format!(" after the first {}", format_bytes(offset)),
        };
        let offset = match self.offset_increment_bytes {
            0 => offset,
            step => format!("{offset}, shifted by {} per thread", format_bytes(step)),
        };
        format!("{align}over {size}{whose}{files}{offset}{target}")
    }

    fn explain_engine(&self) -> String {
        let depth = match self.queue_depth {
            1 => String::new(),
            depth => format!(" depth {depth}"),
        };
        let cache = match (self.engine.info().cache, self.direct, self.invalidate) {
            (PageCache::Never, ..) => "",
            (_, false, _) if self.uncached => " buffered (cache kept cold)",
            (_, true, _) => " direct",
            (_, false, true) => " buffered (cold cache)",
            (_, false, false) => " buffered",
        };
        format!("{}{depth}{cache}", self.engine.name())
    }
}

fn explain_tree(tree: &Tree) -> String {
    format!(
        "operations on {} of {} bytes each ({} per directory): {}",
        plural(tree.files, "file"),
        tree.file_bytes,
        tree.files_per_directory,
        format_operations(&tree.operations)
    )
}

fn explain_index(index: &IndexLoads) -> String {
    format!(
        "index: publishes and loads up to {} versions/s ({} each; loads over {} count as slow), \
         runs {} queries/s ({} each)",
        format_iops(index.versions_per_second),
        format_bytes(index.index_bytes),
        format_duration(index.slow_load_ns),
        format_iops(index.queries_per_second),
        format_bytes(index.query_bytes.into()),
    )
}

fn plural(count: u32, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

impl Job {
    /// How it shares the machine and its span, in words.
    pub fn explain_shares(&self) -> Vec<String> {
        let mut parts = Vec::new();
        if let Some(stretches) = self.stretches {
            parts.push(format!("in stretches with gaps ({})", format_stretches(stretches)));
        }
        parts.extend(self.content.as_ref().and_then(explain_content));
        if let Some(target) = self.latency_target {
            let target = format_latency_target(target);
            parts.push(format!("at the depth that meets a latency target ({target})"));
        }
        if let Some(flow) = self.flow {
            parts.push(format!("paced in proportion to other jobs (weight {})", format_flow(flow)));
        }
        if self.priority.is_some() || !self.priorities.is_empty() {
            let priorities = format_priorities(self.priority, &self.priorities);
            parts.push(format!("priority {priorities}"));
        }
        if let Some(numa) = &self.numa {
            parts.push(format!("on NUMA nodes {}", format_numa(numa)));
        }
        parts
    }
}

fn explain_content(content: &Content) -> Option<String> {
    let mut parts = Vec::new();
    match (content.compress_percent, content.pattern.as_slice()) {
        (0, _) => {}
        (percent, []) => parts.push(format!("{percent} % zeroes")),
        (percent, _) => parts.push(format!("{percent} % {}", content.pattern_digits())),
    }
    match (content.dedupe_percent, content.working_set_percent) {
        (0, _) => {}
        (percent, None) => parts.push(format!("{percent} % of writes repeated")),
        (percent, Some(set)) => {
            let whose = if content.shared_set { "all threads'" } else { "the thread's" };
            parts.push(format!("{percent} % of writes repeated from {set} % of {whose} data"));
        }
    }
    (!parts.is_empty()).then(|| format!("data with {}", parts.join(" and ")))
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    fn explained(workloads: impl Iterator<Item = Workload>) -> String {
        let explain = |workload: Workload| {
            format!("{}\n  {}", workload.name, workload.explain().join("\n  "))
        };
        workloads.map(explain).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn presets_of_networks_read_as_sentences() {
        assert_snapshot!(explained(Workload::presets().filter(Workload::is_network)), @"
        tcp-stream
          every trial: 1s ramp, then 3s measured
          flow: 1 thread, 128k blocks to the peer
        tcp-stream-back
          every trial: 1s ramp, then 3s measured
          flow: 1 thread, 128k blocks from the peer
        tcp-stream-both
          every trial: 1s ramp, then 3s measured
          to (compared): 1 thread, 128k blocks to the peer
          from (compared): 1 thread, 128k blocks from the peer
        tcp-rr
          every trial: 1s ramp, then 3s measured
          requests: 1 thread, 64-byte requests and responses, one at a time
        tcp-connect
          every trial: 1s ramp, then 3s measured
          connections: 1 thread, a new connection for each 64-byte request and response
        udp-stream
          every trial: 1s ramp, then 3s measured
          datagrams: 1 thread, 1200-byte datagrams to the peer, 5000/s at even intervals
        udp-stream-back
          every trial: 1s ramp, then 3s measured
          datagrams: 1 thread, 1200-byte datagrams from the peer, 5000/s at even intervals
        ");
    }

    #[test]
    fn trims_and_checks_are_told() {
        let of = |changes: &[&str]| {
            let mut workload = Workload::preset("randwrite-4k").unwrap();
            for change in changes {
                workload.set(change).unwrap();
            }
            workload.jobs[0].explain()
        };
        assert_snapshot!(of(&["rw=randtrim"]), @"1 thread, random 4k trims, over 1G, io_uring direct");
        assert_snapshot!(of(&["rw=trimwrite", "depth=8", "verify=true", "verify-every=16"]), @"1 thread, sequential 4k trims followed by writes, over 1G, io_uring depth 8 direct, threads wait for each trim to finish, verified after every 16 writes, verified");
        assert_snapshot!(of(&["rw=read", "verify-apart=true", "pattern=zipf:1.2:0.3"]), @"1 thread, skewed (zipf:1.2:0.3) 4k reads, over 1G, io_uring direct, verifies data written by another job");
        assert_snapshot!(of(&["rw=write", "verify-apart=true"]), @"1 thread, sequential 4k writes, over 1G, io_uring direct, verified by another job");
    }

    #[test]
    fn presets_read_as_sentences() {
        let of_storage = Workload::presets().filter(|workload| !workload.is_network());
        assert_snapshot!(explained(of_storage.chain([Workload::peel_search(2 << 30)])), @"
        randread-4k
          every trial: 2s ramp, then 5s measured
          io: 1 thread, random 4k reads, over 1G, io_uring direct
        randwrite-4k
          every trial: 2s ramp, then 5s measured
          io: 1 thread, random 4k writes, over 1G, io_uring direct
        seqread-1m
          every trial: 2s ramp, then 5s measured
          io: 1 thread, sequential 1M reads, over 1G, io_uring depth 4 direct
        seqwrite-1m
          every trial: 2s ramp, then 5s measured
          io: 1 thread, sequential 1M writes, over 1G, io_uring depth 4 direct
        mixed-70-30
          every trial: 2s ramp, then 5s measured
          io: 1 thread, random 4k I/Os (70 % reads), over 1G, io_uring direct
        driver-searcher
          every trial: 4s ramp, then 1m measured
          download: 30 threads, sequential 4M writes, over 2G each, psync buffered, pauses for 105ms after every I/O, write-through
          mmap_read (compared): 8 threads, random 4k-1M reads, over 50G of `fio_blob`, mmap buffered (cache kept cold), starts at 2s
          index: publishes and loads up to 4 versions/s (16M each; loads over 10ms count as slow), runs 1000 queries/s (16k each)
        driver-searcher-published
          every trial: 4s ramp, then 1m measured
          download: 30 threads, sequential 4M writes, over 2G each, psync buffered
          mmap_read (compared): 8 threads, random 4k-1M reads, over 50G of `fio_blob`, mmap buffered (cold cache), starts at 2s
          index: publishes and loads up to 4 versions/s (16M each; loads over 10ms count as slow), runs 1000 queries/s (16k each)
        git-checkout
          every trial: 1s ramp, then 5s measured
          files: 1 thread, operations on 5000 files of 7111 bytes each (5 per directory): create:20,stat:51,open:9,delete:20
        git-status
          every trial: 1s ramp, then 5s measured
          files: 1 thread, operations on 5000 files of 7111 bytes each (5 per directory): stat:80,open:8,list:12
        git-gc
          every trial: 1s ramp, then 5s measured
          files: 1 thread, operations on 5000 files of 2048 bytes each (20 per directory): create:12,stat:12,open:49,list:4,rename:11,delete:12
        etcd-wal
          every trial: 1s ramp, then 30s measured
          wal: 1 thread, sequential 2300-byte writes, over 640M, psync buffered, sync after every write, to newly allocated space
          unfit if sync.p99 > 10ms: https://etcd.io/docs/v3.5/faq/ (p99 of wal_fsync_duration_seconds below 10 ms)
        etcd-wal-loaded
          every trial: 1s ramp, then 30s measured
          wal (compared): 1 thread, sequential 2300-byte writes, over 640M, psync buffered, sync after every write, to newly allocated space
          backend: 1 thread, random 8k writes, over 100M, psync buffered, sync every 18 writes, pauses for 100ms after every 36 I/Os
          unfit if sync.p99 > 10ms: https://etcd.io/docs/v3.5/faq/ (p99 of wal_fsync_duration_seconds below 10 ms)
        postgres
          every trial: 1s ramp, then 10s measured
          wal (compared): 1 thread, sequential 8k writes, over 16M, psync buffered, sync after every write
          checkpoint: 1 thread, random 8k writes, over 1G, io_uring depth 32 direct, 485/s at even intervals
        mysql
          every trial: 1s ramp, then 10s measured
          redo (compared): 1 thread, sequential 512-byte writes, over 4M, psync buffered, sync after every write
          doublewrite: 1 thread, sequential 64k writes, over 8M, psync direct, 50/s at even intervals, sync after every write
          pages: 1 thread, random 16k writes, over 1G, io_uring depth 32 direct, 200/s at even intervals
        kafka
          every trial: 1s ramp, then 10s measured
          append (compared): 6 threads, sequential 16k writes, over 256M each, psync buffered, 4803/s at even intervals, to newly allocated space
          tail: 1 thread, sequential 1M reads, over 64M of `kafka_tail`, psync buffered, 75/s at even intervals, with a warm cache
          catch-up: 1 thread, sequential 1M reads, over 1G of `kafka_segments`, psync buffered (cache kept cold), 90/s at even intervals
          unfit if append bandwidth < 72960kiB/s: https://engineering.linkedin.com/kafka/benchmarking-apache-kafka-2-million-writes-second-three-cheap-machines (the 75 MiB/s that one producer sends, less 5 %)
        rocksdb
          every trial: 1s ramp, then 10s measured
          get (compared): 64 threads, random 8k reads, over 4G of `rocksdb_tables`, psync direct
          compaction-read: 1 thread, sequential 2M reads, over 4G of `rocksdb_tables`, psync direct, 10/s at even intervals
          compaction-write: 1 thread, sequential 1M writes, over 1G, psync direct, 19/s at even intervals, to newly allocated space
        lucene
          every trial: 1s ramp, then 10s measured
          search (compared): 8 threads, random 4k reads, over 4G of `lucene_index`, mmap buffered (cache kept cold)
          merge-read: 1 thread, sequential 8k reads, over 1G of `lucene_segments`, mmap buffered (cold cache), 2560/s at even intervals
          merge-write: 1 thread, sequential 8k writes, over 512M, psync buffered, 2560/s at even intervals, to newly allocated space
        nats-sync
          every trial: 1s ramp, then 10s measured
          messages: 1 thread, sequential 159-byte writes, over 64M, psync buffered, sync after every write, to newly allocated space
        ml-load
          every trial: 1s ramp, then 10s measured
          samples: 4 threads, random runs of 140 sequential 1M reads, over 4G of `ml_samples`, psync buffered (cache kept cold)
          unfit if bandwidth < 2727MiB/s: https://github.com/mlcommons/storage/blob/main/configs/dlio/workload/unet3d_h100.yaml (au 0.90: one H100 processes 7 samples of 146,600,628 bytes in 0.323 s, and must be busy 90 % of the time)
        peel-search
          every trial: 250ms ramp, then 2s measured
          searcher (compared): 1 thread, random 4k-1M reads, over 2G, vdisk
          driver: 1 thread, sequential 1M writes, over 2G, vdisk, 50/s at even intervals
        ");
    }

    #[test]
    fn every_order_is_told() {
        let explained = |pattern: &str| {
            let mut workload = Workload::preset("randread-4k").unwrap();
            workload.set(&format!("pattern={pattern}")).unwrap();
            workload.explain().remove(1)
        };
        assert_snapshot!(explained("shuffled"), @"io: 1 thread, shuffled 4k reads, over 1G, io_uring direct");
        assert_snapshot!(explained("zipf:1.2"), @"io: 1 thread, skewed (zipf:1.2) 4k reads, over 1G, io_uring direct");
        assert_snapshot!(explained("strided:64k"), @"io: 1 thread, strided 4k reads every 64k, over 1G, io_uring direct");
        assert_snapshot!(explained("runs:8"), @"io: 1 thread, random runs of 8 sequential 4k reads, over 1G, io_uring direct");
        assert!(explained("geometric:3.3333333333333335").contains("averaging 3.33 sequential"));
        assert_snapshot!(explained("geometric:4"), @"io: 1 thread, random runs averaging 4 sequential 4k reads, over 1G, io_uring direct");
        assert_snapshot!(explained("mixed:30"), @"io: 1 thread, 30 % random and otherwise sequential 4k reads, over 1G, io_uring direct");
    }

    #[test]
    fn every_place_and_pause_is_told() {
        let mut workload = Workload::preset("randwrite-4k").unwrap();
        for text in [
            "align=64k", "offset=1M", "sync=1", "thinktime=1ms/8", "cpus=0-3,5", "nrfiles=4",
            "pre_read=1", "exitall=1",
        ] {
            workload.set(text).unwrap();
        }
        assert_snapshot!(workload.explain()[1], @"io: 1 thread, random 4k writes, at multiples of 64k, over 1G in 4 files after the first 1M, io_uring direct, pauses for 1ms after every 8 I/Os, on CPUs 0-3,5, write-through, with a warm cache, ends all other jobs");
    }

    #[test]
    fn every_switch_is_told() {
        let mut workload = Workload::preset("randwrite-4k").unwrap();
        for text in [
            "rate=poisson:50", "io-size=1G", "fsync-every=1", "end-fsync=1", "verify=1", "sqpoll=1",
        ] {
            workload.set(text).unwrap();
        }
        assert_snapshot!(workload.explain()[1], @"io: 1 thread, random 4k writes, over 1G, io_uring direct, 50/s at random intervals, ends after 1G per thread, sync after every write, sync at the end, verified, sqpoll");
    }
}
