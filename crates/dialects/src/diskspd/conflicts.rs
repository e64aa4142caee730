//! Flags that contradict each other: what `Profile::Validate` of `DiskSpd` refuses, and what
//! cannot be done here.

use iotax_experiment::Error;

use super::flags::Placed;
use super::line::{Given, Hints, Line};

/// What direct I/O is a multiple of.
const SECTOR_BYTES: u64 = 512;

/// Refuses them, pointing at the one to take away.
pub(super) fn refuse(line: &Line) -> Placed<()> {
    threads_and_queues(line)?;
    ranges(line)?;
    let order = if line.random_percent() > 0 { random } else { sequential };
    order(line)?;
    range(line)?;
    caches_and_rates(line)?;
    not_offered(line)
}

fn clash<T>(problem: &str, advice: &str, given: &Given<T>) -> Placed<()> {
    Err((given.span.clone(), Box::new(Error::syntax(problem, advice))))
}

/// A clash if it is given at all.
fn without<T>(problem: &str, advice: &str, given: Option<&Given<T>>) -> Placed<()> {
    given.map_or(Ok(()), |given| clash(problem, advice, given))
}

fn threads_and_queues(line: &Line) -> Placed<()> {
    if line.threads.is_some() {
        let advice = "keep -t for threads per target, or -F for threads in all";
        without("-t and -F exclude each other", advice, line.threads_per_target.as_ref())?;
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
    let advice = "write -o instead of -O";
    without("-g and -O exclude each other", advice, line.throttle.as_ref())?;
    without("-j and -O exclude each other", advice, line.think_ms.as_ref())?;
    without("-p and -O exclude each other", advice, line.parallel.as_ref())?;
    if line.targets.len() > 1 {
        let problem = "-O: one queue over several targets is not offered";
        return clash(problem, "write -o, a queue for each target", outstanding);
    }
    Ok(())
}

/// `-rd` says where random I/Os go.
fn ranges(line: &Line) -> Placed<()> {
    match line.random_percent() {
        0 => {
            without("-rd means nothing where offsets are sequential", "add -r", line.zones.as_ref())
        }
        100 => Ok(()),
        _ => {
            let problem = "-rd beside -rs: offsets by ranges with sequential ones between them are not \
                           offered";
            without(problem, "write -r instead of -rs, or leave -rd out", line.zones.as_ref())
        }
    }
}

fn random(line: &Line) -> Placed<()> {
    let advice = "leave one of them out";
    let stride = line.thread_stride_bytes.as_ref();
    without("-T means nothing where offsets are random", advice, stride)?;
    without("-si means nothing where offsets are random", advice, line.interlocked.as_ref())?;
    without("-p means nothing where offsets are random", advice, line.parallel.as_ref())
}

fn sequential(line: &Line) -> Placed<()> {
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
    }
    let alone = line.thread_stride_bytes.as_ref().filter(|_| !several);
    let problem = "-T has no effect unless several threads use a target";
    without(problem, "leave it out, or give -t", alone)?;
    let Some(stride) = &line.thread_stride_bytes else { return Ok(()) };
    let is_direct = line.caching().unbuffered || line.caching().remote_only;
    if is_direct && !stride.value.is_multiple_of(SECTOR_BYTES) {
        let problem = "-T: threads that bypass the cache begin at whole sectors of 512 bytes";
        return clash(problem, "write a multiple of 512, as in -T4K", stride);
    }
    Ok(())
}

fn range(line: &Line) -> Placed<()> {
    let Some(end) = &line.end_bytes else { return Ok(()) };
    let problem = "-f and a length behind -B both say where to end";
    without(problem, "keep one of them", line.length_bytes.as_ref())?;
    let base = line.base_bytes.as_ref().map_or(0, |given| given.value);
    if end.value > base {
        Ok(())
    } else {
        clash("-f ends before -B begins", "write a larger -f", end)
    }
}

fn caches_and_rates(line: &Line) -> Placed<()> {
    if let Some(caching) = line.caching.as_ref().filter(|caching| caching.value.mapped) {
        if caching.value.unbuffered || caching.value.remote_only {
            let problem = "a mapping (-Sm) is the page cache, it cannot bypass it";
            return clash(problem, "keep -Sm, or -Su or -Sh", caching);
        }
        let routines = line.completion_routines.as_ref();
        without("-x and -Sm exclude each other", "keep one of them", routines)?;
    }
    if line.completion_routines.is_some() {
        without("-g and -x exclude each other", "leave -x out", line.throttle.as_ref())?;
    }
    match (&line.burst_ios, &line.think_ms) {
        (Some(burst), None) => {
            clash("-i without -j never pauses", "give -j, the pause in ms", burst)?;
        }
        (None, Some(think)) => {
            clash("-j without -i never pauses", "give -i, the I/Os of a burst", think)?;
        }
        _ => {}
    }
    if line.affinity.is_some() {
        without("-n and -a exclude each other", "keep one of them", line.no_affinity.as_ref())?;
    }
    let is_short = |source: &&Given<u64>| source.value < u64::from(line.block_bytes());
    let problem = "the write buffer of -Z is smaller than a block";
    without(problem, "write a larger -Z", line.write_source_bytes.as_ref().filter(is_short))
}

/// What is no contradiction, but has no counterpart.
fn not_offered(line: &Line) -> Placed<()> {
    let problem = "-p: sequential I/Os at the same offset are not offered";
    without(problem, "leave it out", line.parallel.as_ref())?;
    let random = line.random_percent() >= 50;
    let is_opposite = |hints: &&Given<Hints>| {
        hints.value.random != hints.value.sequential && hints.value.random != random
    };
    let problem = "this hint says the opposite of what is done";
    let advice = "hints that match the order of offsets are offered";
    without(problem, advice, line.hints.as_ref().filter(is_opposite))
}
