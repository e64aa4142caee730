//! Counters of this machine, this process, one thread, and another program that drives the load,
//! read at the start and end of the window.

use std::fs;
use std::time::{Duration, Instant};

use iotax_record::{PauseRecord, SystemCounters};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::read;
use rustix::process::Pid;
use rustix::time::{ClockId, clock_gettime};

use crate::pause;

#[derive(Debug, Clone, Default)]
pub(crate) struct Reading(SystemCounters);

impl Reading {
    /// Reads everything now; unavailable values are `None`.
    pub(crate) fn now() -> Self {
        let cpu_ns = clock_ns(ClockId::ProcessCPUTime);
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

    /// Takes the values of `later`, if it has any: a process that has just ended has none.
    pub(crate) fn update(&mut self, later: &Self) {
        self.0 = later.each(self, Option::or);
    }

    fn with(process_cpu_ns: Option<u64>, directory: &str) -> Self {
        let io = fs::read_to_string(format!("{directory}/io")).ok();
        let field = |name| io.as_deref().and_then(|text| io_field(text, name));
        let stat = fs::read_to_string("/proc/stat").ok();
        let cpus = stat.as_deref().and_then(all_cpus);
        Self(SystemCounters {
            process_cpu_ns,
            device_read_bytes: field("read_bytes"),
            device_write_bytes: field("write_bytes"),
            cpu_busy_ns: cpus.map(|all| all.busy * tick_ns()),
            cpu_steal_ns: cpus.map(|all| all.steal * tick_ns()),
            kernel_threads_cpu_ns: None,
        })
    }

    /// Everything since the start.
    pub(crate) fn into_counters(self) -> SystemCounters {
        self.0
    }

    /// What was counted after `earlier`.
    pub(crate) fn since(&self, earlier: &Self) -> SystemCounters {
        self.each(earlier, |now, before| Some(now?.saturating_sub(before?)))
    }

    /// What each counter of both comes to.
    fn each(
        &self,
        other: &Self,
        of: impl Fn(Option<u64>, Option<u64>) -> Option<u64>,
    ) -> SystemCounters {
        let (own, other) = (&self.0, &other.0);
        SystemCounters {
            process_cpu_ns: of(own.process_cpu_ns, other.process_cpu_ns),
            device_read_bytes: of(own.device_read_bytes, other.device_read_bytes),
            device_write_bytes: of(own.device_write_bytes, other.device_write_bytes),
            cpu_busy_ns: of(own.cpu_busy_ns, other.cpu_busy_ns),
            cpu_steal_ns: of(own.cpu_steal_ns, other.cpu_steal_ns),
            kernel_threads_cpu_ns: of(own.kernel_threads_cpu_ns, other.kernel_threads_cpu_ns),
        }
    }
}

/// What a clock of this thread, process or machine shows.
pub(crate) fn clock_ns(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
}

/// Length of a tick.
pub(crate) fn tick_ns() -> u64 {
    1_000_000_000 / rustix::param::clock_ticks_per_second().max(1)
}

/// User and system time in ticks from the `stat` of a process or a thread; none for a process that
/// ended but is not reaped. The name, in the second field, may contain anything, so fields are
/// counted from its last parenthesis.
pub(crate) fn process_ticks(stat: &str) -> Option<u64> {
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let is_there = fields.next().is_some_and(|state| !matches!(state, "Z" | "X"));
    // State is the third field, utime the 14th, stime the 15th.
    let mut times = fields.skip(10).map_while(|field| field.parse::<u64>().ok());
    is_there.then_some(())?;
    Some(times.next()? + times.next()?)
}

/// CPU time of all kernel threads in ticks. They are the children of `kthreadd`, which is always
/// process 2. In another PID namespace, that is another process, or none.
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

/// What `/proc/stat` has of one CPU or of all, in ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct CpuTicks {
    pub busy: u64,
    /// Of these, with interrupts.
    pub interrupts: u64,
    pub steal: u64,
}

/// Of all CPUs together: the first line.
fn all_cpus(stat: &str) -> Option<CpuTicks> {
    cpu_ticks(stat.lines().next().filter(|line| line.starts_with("cpu "))?)
}

/// Of each CPU: the lines `cpuN`.
pub(crate) fn each_cpu(stat: &str) -> impl Iterator<Item = CpuTicks> {
    let is_one = |line: &&str| {
        line.strip_prefix("cpu").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    stat.lines().filter(is_one).map(|line| cpu_ticks(line).unwrap_or_default())
}

/// From `cpu user nice system idle iowait irq softirq steal ...`, see the manual page `proc_stat`.
fn cpu_ticks(line: &str) -> Option<CpuTicks> {
    let words = line.split_whitespace().skip(1);
    let ticks: Vec<u64> = words.map_while(|word| word.parse().ok()).collect();
    let &[user, nice, system, _idle, _iowait, irq, softirq, ref rest @ ..] = ticks.as_slice()
    else {
        return None;
    };
    let interrupts = irq.saturating_add(softirq);
    let busy = [user, nice, system].into_iter().fold(interrupts, u64::saturating_add);
    Some(CpuTicks { busy, interrupts, steal: rest.first().copied().unwrap_or(0) })
}

// What a thread has used of the machine, from `getrusage(RUSAGE_THREAD)`.

/// CPU time, page faults and context switches of one thread.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Usage {
    /// CPU time, to the nanosecond.
    pub cpu_ns: u64,
    /// CPU time in user mode, as the kernel estimates it.
    pub user_ns: u64,
    /// CPU time in the kernel, as the kernel estimates it.
    pub system_ns: u64,
    /// Page faults served from memory.
    pub minor_faults: u64,
    /// Page faults that waited for a device.
    pub major_faults: u64,
    /// Voluntary and involuntary.
    pub context_switches: u64,
    /// Time ready to run, but without a CPU. `None` if the kernel does not count it.
    pub cpu_wait_ns: Option<u64>,
}

impl Usage {
    /// Of the calling thread since it started.
    pub(crate) fn of_this_thread() -> Self {
        // SAFETY: rusage is plain integers, for which all-zero is a valid value.
        let mut raw: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: the pointer is to a live rusage. RUSAGE_THREAD cannot fail on Linux; if it ever
        // did, the zeros would stand.
        unsafe { libc::getrusage(libc::RUSAGE_THREAD, &raw mut raw) };
        Self {
            cpu_ns: clock_ns(ClockId::ThreadCPUTime),
            user_ns: time_ns(raw.ru_utime),
            system_ns: time_ns(raw.ru_stime),
            minor_faults: raw.ru_minflt.unsigned_abs(),
            major_faults: raw.ru_majflt.unsigned_abs(),
            context_switches: raw.ru_nvcsw.unsigned_abs() + raw.ru_nivcsw.unsigned_abs(),
            cpu_wait_ns: cpu_wait_ns(),
        }
    }

    /// What was used after `earlier`. `getrusage` counts up to the last timer tick only, so the
    /// total is taken from the thread's CPU clock and divided as `getrusage` divides it.
    pub(crate) fn since(&self, earlier: &Self) -> Self {
        let cpu_ns = self.cpu_ns - earlier.cpu_ns;
        let user_ns = self.user_ns.saturating_sub(earlier.user_ns);
        let system_ns = self.system_ns.saturating_sub(earlier.system_ns);
        let estimate_ns = u128::from((user_ns + system_ns).max(1));
        let system_ns = u64::try_from(u128::from(cpu_ns) * u128::from(system_ns) / estimate_ns)
            .expect("a fraction of a u64 fits in a u64")
            .min(cpu_ns);
        Self {
            cpu_ns,
            user_ns: cpu_ns - system_ns,
            system_ns,
            minor_faults: self.minor_faults - earlier.minor_faults,
            major_faults: self.major_faults - earlier.major_faults,
            context_switches: self.context_switches - earlier.context_switches,
            cpu_wait_ns: self
                .cpu_wait_ns
                .zip(earlier.cpu_wait_ns)
                .map(|(now, then)| now.saturating_sub(then)),
        }
    }
}

/// The second number of `/proc/thread-self/schedstat`: time spent on a run queue. Read without an
/// allocation, as the calling loops promise.
fn cpu_wait_ns() -> Option<u64> {
    let file = open("/proc/thread-self/schedstat", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
    let mut text = [0; 64];
    let length = read(file.ok()?, &mut text).ok()?;
    std::str::from_utf8(&text[..length]).ok()?.split_ascii_whitespace().nth(1)?.parse().ok()
}

fn time_ns(time: libc::timeval) -> u64 {
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_usec.unsigned_abs() * 1_000
}

// The machine's counters beside a program that drives a load.

/// Counters of a window as long as a program's, from the end of the ramp, or to the last look at
/// the program if it ends before. fio and iperf3 do not report when their own window opens, so this
/// one is early by the time of their start (some 100 ms). It does not include what they do after
/// their time, mainly to print their result.
pub(crate) struct Watch {
    pub opens: Instant,
    pub closes: Instant,
    window: Option<(Reading, Reading)>,
    /// The last look at the program, if it was stopped then since the look before that.
    stopped: Option<(Instant, Instant)>,
    last: Instant,
    /// How long it was stopped each time, in nanoseconds.
    pauses: Vec<u64>,
}

impl Watch {
    /// From now on.
    pub(crate) fn new(ramp_ns: u64, time_ns: u64) -> Self {
        let opens = Instant::now() + Duration::from_nanos(ramp_ns);
        Self {
            opens,
            closes: opens + Duration::from_nanos(time_ns),
            window: None,
            stopped: None,
            last: Instant::now(),
            pauses: Vec::new(),
        }
    }

    /// Reads the counters of the machine and of the program.
    pub(crate) fn glance(&mut self, pid: Pid) {
        let now = Instant::now();
        self.note(now, is_stopped(pid));
        if now < self.opens || now > self.closes {
            return;
        }
        let now = Reading::of(pid);
        match &mut self.window {
            Some((_, last)) => last.update(&now),
            None => self.window = Some((now.clone(), now)),
        }
    }

    /// Notes whether the program is stopped: its measured times are then too long, although no
    /// storage is slow.
    fn note(&mut self, now: Instant, is_stopped: bool) {
        if is_stopped {
            let (since, _) = self.stopped.unwrap_or((self.last, now));
            self.stopped = Some((since, now));
        } else {
            self.end_of_stop();
        }
        self.last = now;
    }

    fn end_of_stop(&mut self) {
        let Some((since, until)) = self.stopped.take() else { return };
        if since < self.closes && until > self.opens {
            self.pauses.push(u64::try_from((until - since).as_nanos()).unwrap_or(u64::MAX));
        }
    }

    /// The times in which it was stopped, as far as they reach into the window.
    pub(crate) fn paused(&mut self) -> Option<PauseRecord> {
        self.end_of_stop();
        pause::record(&self.pauses)
    }

    pub(crate) fn counters(self) -> SystemCounters {
        self.window.map(|(first, last)| last.since(&first)).unwrap_or_default()
    }
}

/// Whether a process is stopped by a signal or a debugger.
fn is_stopped(pid: Pid) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()));
    stat.is_ok_and(|stat| {
        let state = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().next());
        matches!(state, Some("T" | "t"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn busy_is_everything_but_idle_waiting_and_stolen_time() {
        let stat = "cpu  1 2 4 8 16 32 64 128 0 0\ncpu0 9 9 9 9 9 9 9 9 0 0\n";
        let all = CpuTicks { busy: 1 + 2 + 4 + 32 + 64, interrupts: 32 + 64, steal: 128 };
        assert_eq!(all_cpus(stat), Some(all));
        assert_eq!(all_cpus("intr 5"), None);
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

#[cfg(test)]
mod tests_of_watch {
    use super::*;

    const HOUR_NS: u64 = 3_600_000_000_000;

    fn counted(ramp_ns: u64, time_ns: u64) -> SystemCounters {
        let mut watch = Watch::new(ramp_ns, time_ns);
        while Instant::now() <= watch.opens && ramp_ns == 0 {}
        let own = rustix::process::getpid();
        watch.glance(own);
        // Something for the process to have used in between.
        std::hint::black_box((0..20_000_000_u64).sum::<u64>());
        watch.glance(own);
        watch.counters()
    }

    #[test]
    fn only_what_lies_in_the_window_is_counted() {
        assert!(counted(0, HOUR_NS).process_cpu_ns.is_some());
        assert_eq!(counted(HOUR_NS, HOUR_NS), SystemCounters::default(), "before it opens");
        assert_eq!(counted(0, 0), SystemCounters::default(), "after it has closed");
    }

    #[test]
    fn times_in_which_it_is_stopped_are_told_as_far_as_they_reach_into_the_window() {
        let second = Duration::from_secs(1);
        let mut watch = Watch::new(1_000_000_000, 5_000_000_000);
        let start = watch.opens.checked_sub(second).unwrap();
        let looks =
            [(0, true), (1, false), (2, false), (3, true), (4, true), (5, false), (8, true)];
        for (at, is_stopped) in looks {
            watch.note(start + at * second, is_stopped);
        }
        let paused = watch.paused().unwrap();
        assert_eq!((paused.count, paused.total_ns), (2, 2_000_000_000 + 3_000_000_000));
        assert!(Watch::new(0, HOUR_NS).paused().is_none());
    }
}
