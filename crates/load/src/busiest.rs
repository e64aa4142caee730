//! The busiest thread and CPU between two readings: the total CPU time does not show whether one of
//! them limits a flow.

use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use iotax_record::{Busiest, BusyOne, PathEnd};

use crate::counters::{each_cpu, process_ticks, tick_ns};
use crate::target::Peer;

/// Process and thread.
type ThreadId = (u32, u32);
/// Name, and CPU time in ticks.
type Used = (String, u64);

/// CPU time of threads of some processes and of the machine's CPUs, since each existed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Busy {
    threads: BTreeMap<ThreadId, Used>,
    /// Ticks busy, and of these with interrupts.
    cpus: Vec<[u64; 2]>,
}

/// The threads of this process that ended last: the load ends just before it is asked.
#[derive(Debug, Default)]
pub(crate) struct Ended(Mutex<VecDeque<(ThreadId, Used)>>);

/// As many as there are connections that count.
const MOST_ENDED: usize = 1024;

impl Ended {
    /// Records the calling thread, which is about to end.
    pub(crate) fn now(&self) {
        let Ok(stat) = fs::read_to_string("/proc/thread-self/stat") else { return };
        let id = stat.split_once(' ').and_then(|(id, _)| id.parse().ok());
        let last = id.zip(name(&stat).map(str::to_owned)).zip(process_ticks(&stat));
        let mut ended = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if ended.len() == MOST_ENDED {
            ended.pop_front();
        }
        ended.extend(last.map(|((id, name), ticks)| ((std::process::id(), id), (name, ticks))));
    }
}

/// The busiest thread and CPU of one end of a path.
pub(crate) type OfEnd = [Option<(BusyOne, u64)>; 2];

impl Busy {
    /// Reads the threads of these processes, and all CPUs, now.
    pub(crate) fn now(processes: &[u32]) -> Self {
        let of_process = |process: &u32| {
            let tasks = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten();
            let process = *process;
            tasks.flatten().filter_map(move |task| {
                let stat = fs::read_to_string(task.path().join("stat")).ok()?;
                let id = task.file_name().to_str()?.parse().ok()?;
                Some(((process, id), (name(&stat)?.to_owned(), process_ticks(&stat)?)))
            })
        };
        let stat = fs::read_to_string("/proc/stat").unwrap_or_default();
        Self { threads: processes.iter().flat_map(of_process).collect(), cpus: cpus(&stat) }
    }

    /// The same, with threads that have ended in the meantime.
    pub(crate) fn with(mut self, ended: &Ended) -> Self {
        let ended = ended.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (id, last) in ended.iter() {
            self.threads.entry(*id).or_insert_with(|| last.clone());
        }
        self
    }

    /// How many CPUs there are.
    pub(crate) fn cpus(&self) -> usize {
        self.cpus.len()
    }

    /// The thread that used the most CPU time since `earlier`, and the CPU that spent the most on
    /// interrupts, each with its busy time in nanoseconds.
    pub(crate) fn since(&self, earlier: &Self) -> OfEnd {
        let used = |(id, (name, ticks)): (&ThreadId, &Used)| {
            let before = earlier.threads.get(id).map_or(0, |(_, ticks)| *ticks);
            (ticks.saturating_sub(before), name.clone())
        };
        let thread = self.threads.iter().map(used).max_by_key(|(ticks, _)| *ticks);
        let more = |(number, (after, before)): (u32, (&[u64; 2], &[u64; 2]))| {
            let [busy, interrupts] =
                [0, 1].map(|at| after[at].saturating_sub(before[at]) * tick_ns());
            (interrupts, busy, number)
        };
        let cpu = (0..).zip(self.cpus.iter().zip(&earlier.cpus)).map(more).max();
        [
            thread.map(|(ticks, name)| (BusyOne::Thread { name }, ticks * tick_ns())),
            cpu.map(|(interrupts_ns, busy_ns, number)| {
                (BusyOne::Cpu { number, interrupts_ns }, busy_ns)
            }),
        ]
    }
}

/// Programs of layers: processes in the namespaces of a path, including the peer. They are found
/// before the load starts, because there may be many.
pub(crate) struct Ends([Vec<u32>; 2]);

impl Ends {
    /// Those of the path to a peer.
    pub(crate) fn of(peer: &Peer) -> Self {
        let ends = [&peer.namespace, &peer.far_namespace];
        Self(ends.map(|end| end.as_deref().map_or_else(Vec::new, processes)))
    }

    /// The near end and the far one now.
    pub(crate) fn now(&self) -> [Busy; 2] {
        self.0.each_ref().map(|processes| Busy::now(processes))
    }
}

/// For the record: the busiest of each end and kind, from several sources.
pub(crate) fn record(near: &[OfEnd], far: &[OfEnd]) -> Vec<Busiest> {
    let of_end = |(end, all): (PathEnd, &[OfEnd])| {
        [0, 1].map(|kind| {
            let known = all.iter().filter_map(|of_end| of_end[kind].clone());
            let (one, busy_ns) = known.max_by_key(|(_, ns)| *ns)?;
            Some(Busiest { end, one, busy_ns })
        })
    };
    [(PathEnd::Near, near), (PathEnd::Far, far)].into_iter().flat_map(of_end).flatten().collect()
}

/// Those in a network namespace.
fn processes(namespace: &Path) -> Vec<u32> {
    let identity = |path: &Path| fs::metadata(path).ok().map(|of| (of.dev(), of.ino()));
    let Some(wanted) = identity(namespace) else { return Vec::new() };
    let all = fs::read_dir("/proc").into_iter().flatten().flatten();
    all.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|id: &u32| identity(Path::new(&format!("/proc/{id}/ns/net"))) == Some(wanted))
        .collect()
}

/// The second field of `/proc/PID/stat`, which may contain anything.
fn name(stat: &str) -> Option<&str> {
    Some(stat.split_once('(')?.1.rsplit_once(')')?.0)
}

fn cpus(stat: &str) -> Vec<[u64; 2]> {
    each_cpu(stat).map(|cpu| [cpu.busy, cpu.interrupts]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn busy(threads: &[(u32, &str, u64)], cpus: &[[u64; 2]]) -> Busy {
        let threads =
            threads.iter().map(|(id, name, ticks)| ((1, *id), ((*name).to_owned(), *ticks)));
        Busy { threads: threads.collect(), cpus: cpus.to_vec() }
    }

    #[test]
    fn the_busiest_is_found_by_what_came_since() {
        let before = busy(&[(1, "old", 900), (2, "flow", 10)], &[[500, 400], [10, 5]]);
        let after =
            busy(&[(1, "old", 905), (2, "flow", 60), (3, "new", 7)], &[[520, 410], [100, 55]]);
        let [thread, cpu] = after.since(&before);
        let flow = BusyOne::Thread { name: "flow".to_owned() };
        assert_eq!(thread, Some((flow, 50 * tick_ns())));
        let one = BusyOne::Cpu { number: 1, interrupts_ns: 50 * tick_ns() };
        assert_eq!(cpu, Some((one, 90 * tick_ns())));
    }

    #[test]
    fn each_cpu_has_a_line() {
        let stat = "cpu  9 9 9 9 9 9 9\ncpu0 1 2 4 8 16 32 64 9\ncpu1 1 1 1 1 1 1 1\nintr 5\n";
        assert_eq!(cpus(stat), [[1 + 2 + 4 + 32 + 64, 96], [5, 2]]);
        assert_eq!(name("7 (a) b) 3) R 1"), Some("a) b) 3"));
    }

    #[test]
    fn this_process_is_in_its_own_namespace() {
        assert!(processes(Path::new("/proc/self/ns/net")).contains(&std::process::id()));
        let own = Busy::now(&[std::process::id()]);
        assert!(!own.threads.is_empty() && own.cpus() > 0);
    }

    #[test]
    fn a_thread_that_has_ended_is_not_forgotten() {
        let ended = Ended::default();
        std::thread::scope(|scope| {
            let named = std::thread::Builder::new().name("gone".to_owned());
            named.spawn_scoped(scope, || ended.now()).unwrap().join().unwrap();
        });
        let busy = Busy::default().with(&ended);
        let names: Vec<&str> = busy.threads.values().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["gone"]);
    }

    #[test]
    fn what_both_know_of_the_far_end_is_told_once() {
        let thread = |name: &str, ns| [Some((BusyOne::Thread { name: name.to_owned() }, ns)), None];
        let far = [thread("peer", 7), thread("openvpn", 9)];
        let told = record(&[thread("flow", 5)], &far);
        let names: Vec<_> = told.iter().map(|busiest| (busiest.end, busiest.busy_ns)).collect();
        assert_eq!(names, [(PathEnd::Near, 5), (PathEnd::Far, 9)]);
    }
}
