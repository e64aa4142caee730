//! Workloads in words, for `iotax workloads` and for plans.

use crate::keys::format_block_sizes;
use crate::units::{format_bytes, format_duration, format_iops};
use crate::workload::{Bound, Engine, Files, IndexLoads, Job, Pace, Pattern, Workload};

impl Workload {
    /// What runs, one line for the times, one per job, one for the index.
    pub fn explain(&self) -> Vec<String> {
        let (ramp, time) = (format_duration(self.ramp_ns), format_duration(self.time_ns));
        let mut lines = vec![format!("every trial: {ramp} ramp, then {time} measured")];
        lines.extend(self.jobs.iter().map(|job| {
            let mark =
                if self.jobs.len() > 1 && job.name == self.primary { " (decides)" } else { "" };
            format!("{}{mark}: {}", job.name, job.explain())
        }));
        lines.extend(self.index.as_ref().map(explain_index));
        lines
    }
}

impl Job {
    fn explain(&self) -> String {
        let mut parts = vec![
            format!("{}, {}", plural(self.threads, "thread"), self.explain_operations()),
            self.explain_span(),
            self.explain_engine(),
        ];
        parts.extend(match self.pace {
            Pace::Closed => None,
            Pace::Even { iops } => Some(format!("offered {}/s evenly", format_iops(iops))),
            Pace::Poisson { iops } => Some(format!("offered {}/s at random", format_iops(iops))),
        });
        if let Bound::Bytes(bytes) = self.bound {
            parts.push(format!("until {} per thread", format_bytes(bytes)));
        }
        if self.start_delay_ns > 0 {
            parts.push(format!("from {} on", format_duration(self.start_delay_ns)));
        }
        if let Some(writes) = self.fsync_every {
            parts.push(format!("sync every {}", plural(writes, "write")));
        }
        let switches = [
            (self.end_fsync, "sync at the end"),
            (self.verify, "verified"),
            (self.sqpoll, "sqpoll"),
        ];
        parts.extend(switches.iter().filter(|(on, _)| *on).map(|(_, word)| (*word).to_owned()));
        parts.join(", ")
    }

    fn explain_operations(&self) -> String {
        let order = match self.pattern {
            Pattern::Random => "random",
            Pattern::Sequential => "sequential",
        };
        let operations = match self.read_percent {
            100 => "reads".to_owned(),
            0 => "writes".to_owned(),
            reads => format!("I/Os ({reads} % reads)"),
        };
        format!("{order} {operations} of {}", format_block_sizes(&self.block_sizes))
    }

    fn explain_span(&self) -> String {
        let size = format_bytes(self.size_bytes);
        match &self.files {
            Files::PerThread if self.threads == 1 => format!("over {size}"),
            Files::PerThread => format!("over {size} each"),
            Files::Shared(file) => format!("over {size} of `{file}`"),
        }
    }

    fn explain_engine(&self) -> String {
        let depth = match self.queue_depth {
            1 => String::new(),
            depth => format!(" {depth} deep"),
        };
        let cache = match (self.engine, self.direct, self.invalidate) {
            (Engine::Vdisk | Engine::Null, ..) => "",
            (_, true, _) => " direct",
            (_, false, true) => " buffered with a cold cache",
            (_, false, false) => " buffered",
        };
        format!("{}{depth}{cache}", self.engine.name())
    }
}

fn explain_index(index: &IndexLoads) -> String {
    format!(
        "index: up to {} versions/s of {} published and loaded, slow over {}; {} queries/s of {}",
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

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    #[test]
    fn presets_read_as_sentences() {
        let all: Vec<String> = Workload::presets()
            .chain([Workload::peel_search(2 << 30)])
            .map(|workload| format!("{}\n  {}", workload.name, workload.explain().join("\n  ")))
            .collect();
        assert_snapshot!(all.join("\n"), @"
        randread-4k
          every trial: 2s ramp, then 5s measured
          io: 1 thread, random reads of 4k, over 1G, io_uring direct
        randwrite-4k
          every trial: 2s ramp, then 5s measured
          io: 1 thread, random writes of 4k, over 1G, io_uring direct
        seqread-1m
          every trial: 2s ramp, then 5s measured
          io: 1 thread, sequential reads of 1M, over 1G, io_uring 4 deep direct
        seqwrite-1m
          every trial: 2s ramp, then 5s measured
          io: 1 thread, sequential writes of 1M, over 1G, io_uring 4 deep direct
        mixed-70-30
          every trial: 2s ramp, then 5s measured
          io: 1 thread, random I/Os (70 % reads) of 4k, over 1G, io_uring direct
        driver-searcher
          every trial: 4s ramp, then 1m measured
          download: 30 threads, sequential writes of 4M, over 2G each, psync buffered
          mmap_read (decides): 8 threads, random reads of 4k-1M, over 50G of `fio_blob`, mmap buffered with a cold cache, from 2s on
          index: up to 4 versions/s of 16M published and loaded, slow over 10ms; 1000 queries/s of 16k
        peel-search
          every trial: 250ms ramp, then 2s measured
          searcher (decides): 1 thread, random reads of 4k-1M, over 2G, vdisk
          driver: 1 thread, sequential writes of 1M, over 2G, vdisk, offered 50/s evenly
        ");
    }

    #[test]
    fn every_switch_is_told() {
        let mut workload = Workload::preset("randwrite-4k").unwrap();
        for text in [
            "rate=poisson:50",
            "io-size=1G",
            "fsync-every=1",
            "end-fsync=1",
            "verify=1",
            "sqpoll=1",
        ] {
            workload.set(text).unwrap();
        }
        assert_snapshot!(workload.explain()[1], @"io: 1 thread, random writes of 4k, over 1G, io_uring direct, offered 50/s at random, until 1G per thread, sync every 1 write, sync at the end, verified, sqpoll");
    }
}
