//! Flags that contradict each other: what `Profile::Validate` of `DiskSpd` refuses, and what
//! cannot be done here.

use std::ops::Range;

use iotax_spec::Error;

use super::flags::Placed;
use super::line::{Given, Line};

/// Refuses them, pointing at the one to take away.
pub(super) fn refuse(line: &Line) -> Placed<()> {
    threads_and_queues(line)?;
    order(line)?;
    range(line)?;
    caches_and_rates(line)?;
    not_offered(line)
}

fn clash<T>(problem: &str, advice: &str, given: &Given<T>) -> Placed<()> {
    at(problem, advice, given.span.clone())
}

fn at(problem: &str, advice: &str, span: Range<usize>) -> Placed<()> {
    Err((span, Box::new(Error::syntax(problem, advice))))
}

fn threads_and_queues(line: &Line) -> Placed<()> {
    if let (Some(_), Some(per_target)) = (&line.threads, &line.threads_per_target) {
        let advice = "keep -t for threads per target, or -F for threads in all";
        return clash("-t and -F exclude each other", advice, per_target);
    }
    let Some(outstanding) = &line.outstanding_per_thread else { return Ok(()) };
    if line.threads.is_none() {
        let advice = "write -o for I/Os per thread and target, or give -F too";
        return clash("-O counts for the threads of -F", advice, outstanding);
    }
    if line.outstanding.is_some() {
        let advice = "keep -o for I/Os per target, or -O for I/Os per thread";
        return clash("-o and -O exclude each other", advice, outstanding);
    }
    if let Some(throttle) = &line.throttle {
        return clash("-g and -O exclude each other", "write -o instead of -O", throttle);
    }
    if let Some(think) = &line.think_ms {
        return clash("-j and -O exclude each other", "write -o instead of -O", think);
    }
    if let Some(parallel) = &line.parallel {
        return clash("-p and -O exclude each other", "write -o instead of -O", parallel);
    }
    if line.targets.len() > 1 {
        let problem = "-O: one queue over several targets is not offered";
        return clash(problem, "write -o, a queue for each target", outstanding);
    }
    Ok(())
}

fn order(line: &Line) -> Placed<()> {
    if line.random_percent() > 0 {
        let advice = "leave one of them out";
        if let Some(stride) = &line.thread_stride_bytes {
            return clash("-T means nothing where offsets are random", advice, stride);
        }
        if let Some(interlocked) = &line.interlocked {
            return clash("-si means nothing where offsets are random", advice, interlocked);
        }
        if let Some(parallel) = &line.parallel {
            return clash("-p means nothing where offsets are random", advice, parallel);
        }
        return Ok(());
    }
    let several = line.threads_on_target() > 1;
    if let Some(interlocked) = &line.interlocked {
        if line.thread_stride_bytes.is_some() {
            let advice = "keep -si for one offset for all threads, or -T for one each";
            return clash("-si and -T exclude each other", advice, interlocked);
        }
        if line.parallel.is_some() {
            return clash("-si and -p exclude each other", "keep one of them", interlocked);
        }
        if line.random_percent.is_some() {
            return clash("-si and -rs exclude each other", "keep one of them", interlocked);
        }
        if several {
            let problem = "-si: threads that share one offset are not offered";
            return clash(problem, "write one thread and a larger -o", interlocked);
        }
    }
    match &line.thread_stride_bytes {
        Some(stride) if !several => {
            let problem = "-T has no effect unless several threads use a target";
            clash(problem, "leave it out, or give -t", stride)
        }
        _ => Ok(()),
    }
}

fn range(line: &Line) -> Placed<()> {
    let Some(end) = &line.end_bytes else { return Ok(()) };
    if let Some(length) = &line.length_bytes {
        let advice = "keep one of them";
        return clash("-f and a length behind -B both say where to end", advice, length);
    }
    let base = line.base_bytes.as_ref().map_or(0, |given| given.value);
    if end.value <= base {
        return clash("-f ends before -B begins", "write a larger -f", end);
    }
    Ok(())
}

fn caches_and_rates(line: &Line) -> Placed<()> {
    if let Some(caching) = &line.caching {
        let Given { value, .. } = caching;
        if value.mapped && (value.unbuffered || value.remote_only) {
            let problem = "a mapping (-Sm) is the page cache, it cannot bypass it";
            return clash(problem, "keep -Sm, or -Su or -Sh", caching);
        }
        if let (true, Some(routines)) = (value.mapped, &line.completion_routines) {
            return clash("-x and -Sm exclude each other", "keep one of them", routines);
        }
    }
    if let (Some(throttle), Some(_)) = (&line.throttle, &line.completion_routines) {
        return clash("-g and -x exclude each other", "leave -x out", throttle);
    }
    match (&line.burst_ios, &line.think_ms) {
        (Some(burst), None) => {
            return clash("-i without -j never pauses", "give -j, the pause in ms", burst);
        }
        (None, Some(think)) => {
            return clash("-j without -i never pauses", "give -i, the I/Os of a burst", think);
        }
        _ => {}
    }
    if let (Some(none), Some(_)) = (&line.no_affinity, &line.affinity) {
        return clash("-n and -a exclude each other", "keep one of them", none);
    }
    match &line.write_source_bytes {
        Some(source) if source.value < u64::from(line.block_bytes()) => {
            let problem = "the write buffer of -Z is smaller than a block";
            clash(problem, "write a larger -Z", source)
        }
        _ => Ok(()),
    }
}

/// What is no contradiction, but has no counterpart.
fn not_offered(line: &Line) -> Placed<()> {
    if let Some(parallel) = &line.parallel {
        let problem = "-p: sequential I/Os at the same offset are not offered";
        return clash(problem, "leave it out", parallel);
    }
    let Some(hints) = &line.hints else { return Ok(()) };
    let random = line.random_percent() >= 50;
    if hints.value.random != hints.value.sequential && hints.value.random != random {
        let problem = "this hint says the opposite of what is done";
        return clash(problem, "hints that match the order of offsets are offered", hints);
    }
    Ok(())
}
