//! One job as options of fio.

use iotax_experiment::{
    BlockSizes, Bound, Content, Engine, Extent, Files, IoPriority, Job, NumaMemory, Pace, Pattern,
    PriorityShare, RunLength, Think, Trims, Zone,
};

use super::{Options, can_stand, duration, file_name, list, size};

/// All options of a job; its own options of fio come last and replace ours of the same name.
pub(crate) fn options(job: &Job) -> Vec<(String, Option<String>)> {
    let mut options = Options::default();
    options.give("ioengine", engine(job.engine));
    accesses(job, &mut options);
    parallel(job, &mut options);
    place(job, &mut options);
    shares(job, &mut options);
    durability(job, &mut options);
    timing(job, &mut options);
    options.give("group_reporting", 1);
    options.give("new_group", 1);
    let mut options = options.0;
    // fio accepts options of an engine only together with that engine.
    if job.fio.iter().any(|option| option.name == "ioengine") {
        options.retain(|(name, _)| name != "sqthread_poll");
    }
    options.retain(|(name, _)| job.fio.iter().all(|verbatim| verbatim.name != *name));
    let verbatim = job.fio.iter().filter(|one| can_stand(&one.name, one.value.as_deref()));
    options.extend(verbatim.map(|option| (option.name.clone(), option.value.clone())));
    options
}

const fn engine(engine: Engine) -> &'static str {
    match engine.info().fio {
        Ok(name) => name,
        // The in-process disk keeps many I/Os in flight per thread, so its replacement must do the
        // same.
        Err(_) => Engine::IoUring.name(),
    }
}

/// Order, direction and sizes.
fn accesses(job: &Job, options: &mut Options) {
    let direction = match (job.trims, job.read_percent) {
        (Some(Trims::Only), _) => "trim",
        (Some(Trims::First), _) => "trimwrite",
        (None, 100) => "read",
        (None, 0) => "write",
        (None, _) => "rw",
    };
    let random = if job.jumps() { "rand" } else { "" };
    let step = match &job.pattern {
        Pattern::Strided(stride)
        | Pattern::Staggered { step_bytes: stride, .. }
        | Pattern::Interlocked(stride) => skip(*stride, job.block_sizes.max_bytes()),
        Pattern::Backward(step) => {
            format!(":-{}", size(step.saturating_add(job.block_sizes.max_bytes().into())))
        }
        Pattern::Runs(length) => format!(":{}", run_length(*length)),
        _ => String::new(),
    };
    options.give("rw", format!("{random}{direction}{step}"));
    options.give_some("rwmixread", (direction == "rw").then_some(job.read_percent));
    order(job, options);
    block_sizes(job, options);
    options.give_some("blockalign", job.align_bytes.map(size));
}

/// How random offsets are drawn.
fn order(job: &Job, options: &mut Options) {
    match &job.pattern {
        // Native random offsets are independent of each other; fio's default visits each block
        // once.
        Pattern::Random => options.give("norandommap", 1),
        Pattern::Skewed(skew) => options.give("random_distribution", skew),
        Pattern::Centred { skew, centre } => {
            options.give("random_distribution", format!("{skew}:{centre}"));
        }
        Pattern::Zoned(zones) => give_zones(job, zones, options),
        Pattern::Mixed { random_percent } if job.write_pattern.is_none() => {
            options.give("percentage_random", random_percent);
        }
        Pattern::Shuffled
        | Pattern::Sequential
        | Pattern::Strided(_)
        | Pattern::Staggered { .. }
        | Pattern::Interlocked(_)
        | Pattern::Backward(_)
        | Pattern::Mixed { .. }
        | Pattern::Runs(_) => {}
    }
    let percents = job.write_pattern.as_ref().map(random_percent);
    if let (Some(reads), Some(Some(writes))) = (random_percent(&job.pattern), percents) {
        options.give("percentage_random", format!("{reads},{writes}"));
    }
}

/// The percentage of uniformly random offsets in an order, if that describes it completely.
pub(super) fn random_percent(pattern: &Pattern) -> Option<u8> {
    match pattern {
        Pattern::Random | Pattern::Shuffled => Some(100),
        Pattern::Mixed { random_percent } => Some(*random_percent),
        Pattern::Sequential => Some(0),
        _ => None,
    }
}

/// In percent, or all in bytes if any of them is.
fn give_zones(job: &Job, zones: &[Zone], options: &mut Options) {
    let in_bytes = zones.iter().any(|zone| matches!(zone.extent, Extent::Bytes(_)));
    let whole = if in_bytes { job.size_bytes } else { 100 };
    let mut left = whole;
    let zone = |zone: &Zone| {
        let part = match zone.extent {
            Extent::Percent(percent) => whole / 100 * u64::from(percent),
            Extent::Bytes(bytes) => bytes,
            Extent::Rest => left,
        };
        left = left.saturating_sub(part);
        let part = if in_bytes { size(part) } else { part.to_string() };
        format!("{}/{part}", zone.accesses_percent)
    };
    let zones: Vec<String> = zones.iter().map(zone).collect();
    let word = if in_bytes { "zoned_abs" } else { "zoned" };
    options.give("random_distribution", format!("{word}:{}", zones.join(":")));
}

/// fio counts the gap from the end of one I/O to the start of the next.
fn skip(stride: u64, block_bytes: u32) -> String {
    match stride.checked_sub(block_bytes.into()) {
        Some(0) => String::new(),
        Some(gap) => format!(":{}", size(gap)),
        None => format!(":-{}", size(u64::from(block_bytes) - stride)),
    }
}

/// The number of I/Os in a run, at least 1; the mean if it varies.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
fn run_length(length: RunLength) -> u32 {
    match length {
        RunLength::Fixed(ios) => ios.max(1),
        RunLength::Geometric(mean) => (mean.round() as u32).max(1),
    }
}

/// Sizes of reads and, after a comma, of writes if those differ.
fn block_sizes(job: &Job, options: &mut Options) {
    let all = || job.all_block_sizes();
    let joined = |of: fn(&BlockSizes) -> String| all().map(of).collect::<Vec<_>>().join(",");
    if all().all(|sizes| matches!(sizes, BlockSizes::Fixed(_))) {
        options.give("bs", joined(|sizes| size(sizes.max_bytes().into())));
    } else if all().any(|sizes| matches!(sizes, BlockSizes::Split(_))) {
        options.give("bssplit", joined(split));
    } else {
        let range = |sizes: &BlockSizes| {
            format!("{}-{}", size(sizes.min_bytes().into()), size(sizes.max_bytes().into()))
        };
        options.give("bsrange", joined(range));
    }
}

/// Sizes with their shares; for a range, all its sizes, up to fio's limit.
fn split(sizes: &BlockSizes) -> String {
    let share = |(bytes, percent): (u32, u8)| format!("{}/{percent}", size(bytes.into()));
    let shares: Vec<String> = match sizes {
        BlockSizes::Split(shares) => {
            shares.iter().map(|one| share((one.bytes, one.percent))).collect()
        }
        BlockSizes::Fixed(bytes) => vec![share((*bytes, 100))],
        BlockSizes::Range { min, max } => vec![share((*min, 50)), share((*max, 50))],
    };
    shares.join(":")
}

fn parallel(job: &Job, options: &mut Options) {
    options.give("iodepth", job.queue_depth);
    if job.engine.info().has_queue && job.queue_depth > 1 && job.submit_batch() > 1 {
        options.give("iodepth_batch", job.submit_batch().min(job.queue_depth));
    }
    options.give("numjobs", job.threads);
    options.give("thread", 1);
    options.give_some("cpus_allowed", list(&job.cpus));
    options.give_if(job.sqpoll && job.engine.info().has_queue, "sqthread_poll");
}

fn place(job: &Job, options: &mut Options) {
    let shared = matches!(job.files, Files::Shared(_));
    if shared {
        let names: Vec<String> = job.file_names(0).iter().map(|name| file_name(name)).collect();
        options.give("filename", names.join(":"));
    }
    options.give("size", size(job.size_bytes));
    options.give_some("offset", (job.offset_bytes > 0).then(|| size(job.offset_bytes)));
    let files = job.files_per_thread;
    options.give_some("nrfiles", (files != 1 && !shared).then_some(files));
    options.give("direct", u8::from(job.direct));
    options.give("invalidate", u8::from(job.invalidate));
    options.give_if(job.pre_read, "pre_read");
    options.give("fadvise_hint", u8::from(job.advise));
}

fn durability(job: &Job, options: &mut Options) {
    options.give_if(job.write_through, "sync");
    options.give_some("fdatasync", job.fsync_every);
    options.give_if(job.end_fsync, "end_fsync");
    // fio would expect checksums in a job that only reads, although none were written.
    if job.verify_apart || job.verify && job.writes_data() {
        options.give("verify", "crc32c");
        options.give_some("do_verify", (job.verify_apart && job.writes()).then_some(0));
        options.give_some("verify_backlog", job.verify_every);
        options.give_if(job.verify_ends, "verify_fatal");
    }
}

fn timing(job: &Job, options: &mut Options) {
    match job.bound {
        Bound::Time => options.give("time_based", 1),
        Bound::Bytes(bytes) => options.give("io_size", size(bytes)),
        // The default of fio.
        Bound::Span => {}
    }
    let delay_ns = job.start_delay_ns;
    options.give_some("startdelay", (delay_ns > 0).then(|| duration(delay_ns)));
    if let Some(Think { time_ns, after_ios }) = job.think {
        options.give("thinktime", duration(time_ns));
        options.give("thinktime_blocks", after_ios);
    }
    options.give_some("rate_iops", rates(job));
    let is_poisson = matches!(job.pace, Pace::Poisson { .. });
    options.give_some("rate_process", is_poisson.then_some("poisson"));
    options.give_if(job.ends_all, "exitall");
    // By default only the reporting group of the job ends.
    options.give_some("exit_what", job.ends_all.then_some("all"));
}

/// fio's rate applies to one thread and one direction, in whole I/Os per second.
fn rates(job: &Job) -> Option<String> {
    // fio counts a trim as part of the following write.
    let ios_of_one = if job.trims == Some(Trims::First) { 2.0 } else { 1.0 };
    let of_thread = job.pace.offered_iops()? / ios_of_one / f64::from(job.threads.max(1));
    let reads = f64::from(job.read_percent) / 100.0;
    Some(match job.read_percent {
        0 | 100 => whole(of_thread).to_string(),
        _ => format!("{},{}", whole(of_thread * reads), whole(of_thread * (1.0 - reads))),
    })
}

/// At least 1: 0 means no limit in fio.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
fn whole(iops: f64) -> u32 {
    (iops.round() as u32).max(1)
}

/// The rate that fio offers with [`rates`], in I/Os per second of the whole job.
pub(super) fn offered_by_fio(job: &Job) -> Option<f64> {
    let rates = rates(job)?;
    let of_thread: f64 = rates.split(',').filter_map(|rate| rate.parse::<f64>().ok()).sum();
    let ios_of_one = if job.trims == Some(Trims::First) { 2.0 } else { 1.0 };
    Some(of_thread * ios_of_one * f64::from(job.threads))
}

// How a job shares machine and file, as options of fio.

const WHOLE: u8 = 100;

pub(super) fn shares(job: &Job, options: &mut Options) {
    if let Some(stretches) = job.stretches {
        options.give("zonemode", "strided");
        options.give("zonesize", size(stretches.bytes));
        options.give("zonerange", size(stretches.range_bytes));
        options.give("zoneskip", size(stretches.skip_bytes));
    }
    let increment = job.offset_increment_bytes;
    options.give_some("offset_increment", (increment > 0).then(|| size(increment)));
    if let Some(content) = &job.content {
        give_content(job, content, options);
    }
    if let Some(target) = job.latency_target {
        options.give("latency_target", duration(target.target_ns));
        options.give("latency_window", duration(target.window_ns));
        options.give("latency_percentile", target.percentile);
        options.give("latency_run", u8::from(target.keeps_on));
    }
    if let Some(flow) = job.flow {
        options.give("flow", flow.weight);
        options.give("flow_id", flow.group);
        let sleep_us = flow.sleep_ns.div_ceil(1000);
        options.give_some("flow_sleep", (sleep_us > 0).then_some(sleep_us));
    }
    if let Some(IoPriority { class, level }) = job.priority {
        options.give("prioclass", class.number());
        options.give("prio", level);
    }
    give_priorities(job, options);
    if let Some(numa) = &job.numa {
        options.give_some("numa_cpu_nodes", list(&numa.cpu_nodes));
        let of = |nodes: &[u32]| list(nodes).unwrap_or_default();
        let policy = numa.memory.as_ref().map(|memory| match memory {
            NumaMemory::Local => "local".to_owned(),
            NumaMemory::Prefer(node) => format!("prefer:{node}"),
            NumaMemory::Bind(nodes) => format!("bind:{}", of(nodes)),
            NumaMemory::Interleave(nodes) => format!("interleave:{}", of(nodes)),
        });
        options.give_some("numa_mem_policy", policy);
    }
}

fn give_content(job: &Job, content: &Content, options: &mut Options) {
    let is_whole = content.compress_percent == WHOLE
        && content.dedupe_percent == 0
        && content.chunk_bytes >= job.max_block_bytes();
    if is_whole {
        if content.pattern.is_empty() {
            options.give("zero_buffers", 1);
        }
    } else {
        options.give("buffer_compress_percentage", content.compress_percent);
        options.give("buffer_compress_chunk", content.chunk_bytes);
        options.give("dedupe_percentage", content.dedupe_percent);
    }
    if !content.pattern.is_empty() {
        // Data for verification has an option of its own.
        let name = if job.verify || job.verify_apart { "verify_pattern" } else { "buffer_pattern" };
        options.give(name, content.pattern_digits());
    }
    if let (Some(set), true) = (content.working_set_percent, content.dedupe_percent > 0) {
        options.give("dedupe_mode", "working_set");
        options.give("dedupe_working_set_percentage", set);
        options.give("dedupe_global", u8::from(content.shared_set));
    }
}

/// Whether fio can express them: one of any size in each direction, or all of some size.
pub(super) fn has_words(shares: &[PriorityShare]) -> bool {
    let of_any =
        |reads| shares.iter().filter(|share| share.bytes.is_none() && share.reads == reads).count();
    let any = of_any(true) + of_any(false);
    any == 0 || (any == shares.len() && of_any(true) <= 1 && of_any(false) <= 1)
}

fn give_priorities(job: &Job, options: &mut Options) {
    let shares = &job.priorities;
    if shares.is_empty() || !has_words(shares) {
        return;
    }
    if shares.iter().any(|share| share.bytes.is_some()) {
        let of = |reads: bool| {
            let own = shares.iter().filter(|share| share.reads == reads);
            let entry = |share: &PriorityShare| {
                let IoPriority { class, level } = share.priority;
                let bytes = size(share.bytes.unwrap_or_default().into());
                format!("{bytes}/{}/{}/{level}", share.percent, class.number())
            };
            let entries: Vec<String> = own.map(entry).collect();
            // A direction without any must say so.
            let none = || format!("{}/0", size(job.min_block_bytes().into()));
            if entries.is_empty() { none() } else { entries.join(":") }
        };
        options.give("cmdprio_bssplit", format!("{},{}", of(true), of(false)));
        return;
    }
    let of = |reads: bool| shares.iter().find(|share| share.reads == reads);
    let both = |word: fn(&PriorityShare) -> u8, usual: u8| {
        let word = |reads| of(reads).map_or(usual, word);
        format!("{},{}", word(true), word(false))
    };
    options.give("cmdprio_percentage", both(|share| share.percent, 0));
    options.give("cmdprio_class", both(|share| share.priority.class.number(), 1));
    options.give("cmdprio", both(|share| share.priority.level, 0));
}
