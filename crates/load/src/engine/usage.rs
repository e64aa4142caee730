//! What a thread has used of the machine, from `getrusage(RUSAGE_THREAD)`.

use rustix::fs::{Mode, OFlags, open};
use rustix::io::read;
use rustix::time::{ClockId, clock_gettime};

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
    /// Ready to run, and without a CPU. `None` in a kernel that does not count it.
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
        let cpu = clock_gettime(ClockId::ThreadCPUTime);
        Self {
            cpu_ns: cpu.tv_sec.unsigned_abs() * 1_000_000_000 + cpu.tv_nsec.unsigned_abs(),
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
            .expect("a share of a u64")
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

/// The second figure of `/proc/thread-self/schedstat`: time spent on a run queue. Read without an
/// allocation, since that is what the loops that ask for it promise.
fn cpu_wait_ns() -> Option<u64> {
    let file = open("/proc/thread-self/schedstat", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
    let mut text = [0; 64];
    let length = read(file.ok()?, &mut text).ok()?;
    std::str::from_utf8(&text[..length]).ok()?.split_ascii_whitespace().nth(1)?.parse().ok()
}

fn time_ns(time: libc::timeval) -> u64 {
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_usec.unsigned_abs() * 1_000
}
