//! Counters of this machine and process, read at the edges of the window.

use std::fs;

use iotax_record::SystemCounters;
use rustix::process::Pid;
use rustix::time::{ClockId, clock_gettime};

#[derive(Debug, Clone, Default)]
pub(crate) struct Reading(SystemCounters);

impl Reading {
    /// Reads everything now; what this system does not tell stays `None`.
    pub(crate) fn now() -> Self {
        let cpu = clock_gettime(ClockId::ProcessCPUTime);
        let cpu_ns = cpu.tv_sec.unsigned_abs() * 1_000_000_000 + cpu.tv_nsec.unsigned_abs();
        let mut reading = Self::with(Some(cpu_ns), "/proc/self");
        reading.0.kernel_threads_cpu_ns = kernel_threads_ticks().map(|ticks| ticks * tick_ns());
        reading
    }

    /// As [`Reading::now`], with the figures of another process instead of this one's.
    pub(crate) fn of(pid: Pid) -> Self {
        let directory = format!("/proc/{}", pid.as_raw_nonzero());
        let stat = fs::read_to_string(format!("{directory}/stat")).ok();
        let ticks = stat.as_deref().and_then(process_ticks);
        Self::with(ticks.map(|ticks| ticks * tick_ns()), &directory)
    }

    /// Takes what `later` has: of a process that has just ended there is nothing to be read.
    pub(crate) fn update(&mut self, later: Self) {
        let (old, new) = (std::mem::take(&mut self.0), later.0);
        self.0 = SystemCounters {
            process_cpu_ns: new.process_cpu_ns.or(old.process_cpu_ns),
            device_read_bytes: new.device_read_bytes.or(old.device_read_bytes),
            device_write_bytes: new.device_write_bytes.or(old.device_write_bytes),
            cpu_busy_ns: new.cpu_busy_ns.or(old.cpu_busy_ns),
            cpu_steal_ns: new.cpu_steal_ns.or(old.cpu_steal_ns),
            kernel_threads_cpu_ns: new.kernel_threads_cpu_ns.or(old.kernel_threads_cpu_ns),
        };
    }

    fn with(process_cpu_ns: Option<u64>, directory: &str) -> Self {
        let io = fs::read_to_string(format!("{directory}/io")).ok();
        let field = |name| io.as_deref().and_then(|text| io_field(text, name));
        let stat = fs::read_to_string("/proc/stat").ok();
        let cpus = stat.as_deref().and_then(cpu_line);
        Self(SystemCounters {
            process_cpu_ns,
            device_read_bytes: field("read_bytes"),
            device_write_bytes: field("write_bytes"),
            cpu_busy_ns: cpus.map(|(busy, _)| busy * tick_ns()),
            cpu_steal_ns: cpus.map(|(_, steal)| steal * tick_ns()),
            kernel_threads_cpu_ns: None,
        })
    }

    /// Everything since the start.
    pub(crate) fn into_counters(self) -> SystemCounters {
        self.0
    }

    /// What was counted after `earlier`.
    pub(crate) fn since(&self, earlier: &Self) -> SystemCounters {
        let difference = |of: fn(&SystemCounters) -> Option<u64>| {
            Some(of(&self.0)?.saturating_sub(of(&earlier.0)?))
        };
        SystemCounters {
            process_cpu_ns: difference(|counters| counters.process_cpu_ns),
            device_read_bytes: difference(|counters| counters.device_read_bytes),
            device_write_bytes: difference(|counters| counters.device_write_bytes),
            cpu_busy_ns: difference(|counters| counters.cpu_busy_ns),
            cpu_steal_ns: difference(|counters| counters.cpu_steal_ns),
            kernel_threads_cpu_ns: difference(|counters| counters.kernel_threads_cpu_ns),
        }
    }
}

/// Length of a tick.
pub(crate) fn tick_ns() -> u64 {
    1_000_000_000 / rustix::param::clock_ticks_per_second().max(1)
}

/// User and system time in ticks from the `stat` of a process or a thread; of a process that is gone but not reaped,
/// none. The name, second, may hold anything: fields are counted from its last parenthesis.
pub(crate) fn process_ticks(stat: &str) -> Option<u64> {
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let is_there = fields.next().is_some_and(|state| !matches!(state, "Z" | "X"));
    // State is the third field, utime the 14th, stime the 15th.
    let mut times = fields.skip(10).map_while(|field| field.parse::<u64>().ok());
    is_there.then_some(())?;
    Some(times.next()? + times.next()?)
}

/// CPU time of all kernel threads in ticks. They are the children of `kthreadd`, always process 2;
/// in another PID namespace that is somebody else, or nobody.
fn kernel_threads_ticks() -> Option<u64> {
    let name = fs::read_to_string("/proc/2/comm").ok()?;
    (name.trim_end() == "kthreadd").then_some(())?;
    let children = fs::read_to_string("/proc/2/task/2/children").ok()?;
    let ticks = |pid: &str| process_ticks(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?);
    Some(children.split_whitespace().filter_map(ticks).sum())
}

fn io_field(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| {
        let (key, value) = line.split_once(": ")?;
        (key == name).then(|| value.trim().parse().ok())?
    })
}

/// (busy, steal) in ticks, summed over CPUs, from the first line of `/proc/stat`: `cpu user nice
/// system idle iowait irq softirq steal ...`, see the manual page `proc_stat`.
fn cpu_line(stat: &str) -> Option<(u64, u64)> {
    let line = stat.lines().next()?.strip_prefix("cpu ")?;
    let ticks: Vec<u64> = line.split_whitespace().map_while(|word| word.parse().ok()).collect();
    let &[user, nice, system, _idle, _iowait, irq, softirq, steal, ..] = ticks.as_slice() else {
        return None;
    };
    Some((user + nice + system + irq + softirq, steal))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn busy_is_everything_but_idle_waiting_and_stolen_time() {
        let stat = "cpu  1 2 4 8 16 32 64 128 0 0\ncpu0 9 9 9 9 9 9 9 9 0 0\n";
        assert_eq!(cpu_line(stat), Some((1 + 2 + 4 + 32 + 64, 128)));
        assert_eq!(cpu_line("intr 5"), None);
    }

    #[test]
    fn times_of_a_process_are_found_behind_any_name() {
        let stat = "7 (a) b) 3) R 1 7 7 0 -1 4 1 2 3 4 100 23 9 9 20";
        assert_eq!(process_ticks(stat), Some(123));
        assert_eq!(process_ticks(&stat.replace(" R ", " Z ")), None);
    }

    #[test]
    fn fields_of_proc_self_io_are_matched_whole() {
        let text = "rchar: 7\nread_bytes: 4096\ncancelled_write_bytes: 3\nwrite_bytes: 8\n";
        assert_eq!(io_field(text, "read_bytes"), Some(4096));
        assert_eq!(io_field(text, "write_bytes"), Some(8));
        assert_eq!(io_field(text, "bytes"), None);
    }

    #[test]
    fn this_process_has_used_cpu_time() {
        let before = Reading::now();
        let burnt: u64 = (0..200_000_u64).map(std::hint::black_box).sum();
        let used = Reading::now().since(&before);
        assert!(burnt > 0 && used.process_cpu_ns.unwrap() > 0);
    }

    #[test]
    fn kernel_threads_are_told_from_processes_of_other_namespaces() {
        let is_here = fs::read_to_string("/proc/2/comm").is_ok_and(|name| name == "kthreadd\n");
        assert_eq!(kernel_threads_ticks().is_some(), is_here && children_are_listed());
    }

    /// A kernel may be built without that file.
    fn children_are_listed() -> bool {
        fs::exists("/proc/2/task/2/children").unwrap_or(false)
    }
}
