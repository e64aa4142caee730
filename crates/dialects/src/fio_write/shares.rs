//! How a job shares machine and file, as options of fio.

use iotax_experiment::{Content, IoPriority, Job, NumaMemory, PriorityShare};

use super::values::{Options, duration, list, size};

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
        // What is verified has its own word for it.
        let name = if job.verify || job.verify_apart { "verify_pattern" } else { "buffer_pattern" };
        options.give(name, content.pattern_digits());
    }
    if let (Some(set), true) = (content.working_set_percent, content.dedupe_percent > 0) {
        options.give("dedupe_mode", "working_set");
        options.give("dedupe_working_set_percentage", set);
        options.give("dedupe_global", u8::from(content.shared_set));
    }
}

/// Whether fio has words for them: of any size one each way, or all of some size.
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
            // A direction without any has to say so.
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
