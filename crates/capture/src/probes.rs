//! Loads the BPF programs and attaches them. Where kernels differ, the object contains one program
//! per variant, and iotax attaches the matching one.

use std::fs;
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::path::Path;
use std::time::Duration;

use aya::maps::{Array, HashMap, MapData, RingBuf};
use aya::programs::perf_event::{PerfEventConfig, PerfEventScope, SamplePolicy, SoftwareEvent};
use aya::programs::{BtfTracePoint, PerfEvent, Program, ProgramError};
use aya::sys::{Stats, enable_stats};
use aya::util::online_cpus;
use aya::{Btf, Ebpf, EbpfError, EbpfLoader, Pod, include_bytes_aligned};
use iotax_trace::Unseen;
use rustix::thread::CapabilitySet;

use crate::btf::KernelTypes;
use crate::calls::recorded_calls;
use crate::error::Error;
use crate::groups::GroupId;
use crate::processes::PidNamespace;
use crate::raw::{Kind, RawEvent};
use crate::translate::Identity;

#[cfg(target_arch = "x86_64")]
static OBJECT: &[u8] = include_bytes_aligned!("../bpf/record.x86_64.o");
#[cfg(target_arch = "aarch64")]
static OBJECT: &[u8] = include_bytes_aligned!("../bpf/record.aarch64.o");

const RING_BYTES: u32 = 8 << 20;
/// As `IS_*` in `bpf/event.h`.
const IS_RECORDED: u8 = 1;
const IS_RECORDER: u8 = 2;

/// A program and its tracepoint.
struct Probe {
    program: &'static str,
    tracepoint: &'static str,
}

const fn probe(program: &'static str, tracepoint: &'static str) -> Probe {
    Probe { program, tracepoint }
}

/// Recording fails without these.
const ALWAYS: [Probe; 4] = [
    probe("forked", "sched_process_fork"),
    probe("exited", "sched_process_exit"),
    probe("enter", "sys_enter"),
    probe("leave", "sys_exit"),
];
const MOVED: Probe = probe("moved", "cgroup_attach_task");
const EXECUTED: Probe = probe("executed", "sched_process_exec");
const WAKES: Probe = probe("waking", "sched_waking");
const DIRTIED: Probe = probe("dirtied", "writeback_dirty_folio");
const FILE_FAULT: Probe = probe("file_fault", "mm_filemap_fault");
const ADDRESS_FAULT: Probe = probe("address_fault", "page_fault_user");
const URING_COMPLETE: Probe = probe("uring_complete", "io_uring_complete");
const URING_REQ: Probe = probe("uring_submit_req", "io_uring_submit_req");
const URING_SQE: Probe = probe("uring_submit_sqe", "io_uring_submit_sqe");
const URING_RING: Probe = probe("uring_submit_ring", "io_uring_submit_sqe");

/// The attached programs. Dropping them detaches them, as the kernel does if the process dies.
pub(crate) struct Probes {
    programs: Ebpf,
    ring: RingBuf<MapData>,
    namespace: Option<PidNamespace>,
    sample: Option<Sample>,
    pub unseen: Vec<Unseen>,
    /// Whether processes that join a control group are seen.
    pub sees_joins: bool,
}

/// A sample of the programs' CPU time.
struct Sample {
    /// While this is open, the kernel measures it.
    _stats: OwnedFd,
    before_ns: u64,
}

#[repr(transparent)]
#[derive(Clone, Copy)]
struct CallBytes([u8; 8]);
// SAFETY: bytes without padding or references.
unsafe impl Pod for CallBytes {}

/// `struct answer` in `bpf/event.h`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Answer {
    inode: u64,
    device: u32,
    generation: u32,
    descriptor: i32,
    kind: u32,
}
// SAFETY: numbers without padding or references.
unsafe impl Pod for Answer {}

// SAFETY: numbers without padding or references.
unsafe impl Pod for GroupId {}

impl Probes {
    pub(crate) fn load(name_key: u32) -> Result<Self, Error> {
        refuse_without_rights()?;
        let types = KernelTypes::of_kernel().map_err(|_| Error::NoBtf)?;
        let has_typed_task = types.has_helper("get_current_task_btf");
        Self::load_for(types, has_typed_task, name_key)
    }

    fn load_for(types: KernelTypes, has_typed_task: bool, name_key: u32) -> Result<Self, Error> {
        let btf = Btf::from_sys_fs().map_err(|_| Error::NoBtf)?;
        let namespace = PidNamespace::own();
        let (device, inode) = namespace.map_or((0, 0), |own| (own.device, own.inode));
        let subvolumes = KernelTypes::of_kernel().ok().and_then(KernelTypes::subvolumes);
        let subvolumes = subvolumes.unwrap_or_default();
        let mut programs = EbpfLoader::new()
            .btf(Some(&btf))
            .override_global("name_key", &name_key, true)
            .override_global("namespace_device", &device, true)
            .override_global("namespace_inode", &inode, true)
            .override_global("has_typed_task", &u8::from(has_typed_task), true)
            .override_global("btrfs_root_before", &subvolumes.root_before, true)
            .override_global("btrfs_device_at", &subvolumes.device_at, true)
            .map_max_entries("ring", RING_BYTES)
            .load(OBJECT)
            .map_err(|error| refused("record", &error))?;
        fill_calls(&mut programs)?;
        let ring = programs.take_map("ring").expect("the object has it");
        let ring = RingBuf::try_from(ring).expect("it is one");
        let mut probes =
            Self { programs, ring, namespace, sample: None, unseen: Vec::new(), sees_joins: false };
        let kernel = Kernel { types, btf };
        probes.attach_all(&kernel)?;
        probes.set_role(std::process::id(), IS_RECORDER)?;
        Ok(probes)
    }

    fn attach_all(&mut self, kernel: &Kernel) -> Result<(), Error> {
        for probe in &ALWAYS {
            if !self.attach(kernel, probe)? {
                return Err(Error::NoTracepoint { what: probe.tracepoint });
            }
        }
        // Without it, mappings of a program that another one replaces stay known.
        self.try_attach(kernel, &EXECUTED);
        self.sees_joins = self.try_attach(kernel, &MOVED);
        if !self.try_attach(kernel, &WAKES) {
            self.unseen.push(Unseen::Wakes);
        }
        if !self.try_attach(kernel, &DIRTIED) {
            self.unseen.push(Unseen::DirtiedPages);
        }
        let submit = match kernel.types.parameters(URING_SQE.tracepoint) {
            None => &URING_REQ,
            // The request, and whether it may block.
            Some(2) => &URING_SQE,
            Some(7..) => &URING_RING,
            // In 5.10, the tracepoint does not pass the request.
            Some(_) => &Probe { program: "", tracepoint: "" },
        };
        if submit.program.is_empty()
            || !self.attach(kernel, submit)?
            || !self.attach(kernel, &URING_COMPLETE)?
        {
            self.unseen.push(Unseen::Uring);
        }
        let sees_address =
            self.attach(kernel, &FILE_FAULT)? || self.attach(kernel, &ADDRESS_FAULT)?;
        if !sees_address || self.attach_faults().is_err() {
            self.unseen.push(Unseen::Faults);
        }
        Ok(())
    }

    /// A program that a recording can do without: false if the kernel does not have the tracepoint,
    /// or refuses the program.
    fn try_attach(&mut self, kernel: &Kernel, probe: &Probe) -> bool {
        self.attach(kernel, probe).unwrap_or(false)
    }

    /// False if this kernel does not have the tracepoint.
    fn attach(&mut self, kernel: &Kernel, probe: &Probe) -> Result<bool, Error> {
        if kernel.types.parameters(probe.tracepoint).is_none() {
            return Ok(false);
        }
        let failed = |error: ProgramError| refused(probe.program, &EbpfError::ProgramError(error));
        let program = self.programs.program_mut(probe.program).expect("the object has it");
        let program: &mut BtfTracePoint = program.try_into().map_err(failed)?;
        program.load(probe.tracepoint, &kernel.btf).map_err(failed)?;
        program.attach().map_err(failed)?;
        Ok(true)
    }

    fn attach_faults(&mut self) -> Result<(), ProgramError> {
        let program = self.programs.program_mut("major_fault").expect("the object has it");
        let program: &mut PerfEvent = program.try_into()?;
        program.load()?;
        let cpus = online_cpus().map_err(|(_, error)| ProgramError::IOError(error))?;
        for cpu in cpus {
            let event = PerfEventConfig::Software(SoftwareEvent::PageFaultsMaj);
            let scope = PerfEventScope::AllProcessesOneCpu { cpu };
            program.attach(event, scope, SamplePolicy::Period(1), false)?;
        }
        Ok(())
    }

    /// Records this process from now on, and all that it starts.
    pub(crate) fn record_process(&mut self, pid: u32) -> Result<(), Error> {
        self.set_role(pid, IS_RECORDED)
    }

    fn set_role(&mut self, pid: u32, role: u8) -> Result<(), Error> {
        let map = if self.namespace.is_some() { "asked" } else { "recorded" };
        let map = self.programs.map_mut(map).expect("the object has it");
        let mut map: HashMap<_, u32, u8> = HashMap::try_from(map).expect("it is one");
        map.insert(pid, role, 0).map_err(map_refused)
    }

    /// Records the processes that join a control group, or a group in it, from now on.
    pub(crate) fn record_group(&mut self, group: GroupId) -> Result<(), Error> {
        let map = self.programs.map_mut("groups").expect("the object has it");
        let mut map: Array<_, GroupId> = Array::try_from(map).expect("it is one");
        map.set(0, group, 0).map_err(map_refused)
    }

    /// Whether a process is recorded that has not ended yet.
    pub(crate) fn has_processes(&self) -> bool {
        let map = self.programs.map("recorded").expect("the object has it");
        let map: HashMap<_, u32, u8> = HashMap::try_from(map).expect("it is one");
        map.iter().flatten().any(|(_, role)| role == IS_RECORDED)
    }

    /// What the events call the file at this path. The file is not opened for I/O.
    pub(crate) fn identity_of(&self, path: &Path) -> Option<(Identity, Kind)> {
        let flags = rustix::fs::OFlags::PATH | rustix::fs::OFlags::CLOEXEC;
        let file = rustix::fs::open(path, flags, rustix::fs::Mode::empty()).ok()?;
        // The program on this call fills in the answer.
        rustix::fs::fcntl_getfl(&file).ok()?;
        let map = self.programs.map("answers").expect("the object has it");
        let map: Array<_, Answer> = Array::try_from(map).expect("it is one");
        let answer = map.get(&0, 0).ok().filter(|it| it.descriptor == file.as_raw_fd())?;
        let kind = Kind::from_number(u8::try_from(answer.kind).unwrap_or(0));
        let identity = Identity::new(kind, answer.device, answer.inode, answer.generation);
        (kind != Kind::None).then_some((identity, kind))
    }

    /// Whether `/proc` uses the same PIDs as the events.
    pub(crate) const fn sees_proc(&self) -> bool {
        self.namespace.is_none()
    }

    /// Takes the next event, if there is one.
    pub(crate) fn next(&mut self) -> Option<RawEvent> {
        self.ring.next().and_then(|item| RawEvent::parse(&item))
    }

    /// Events lost because the ring was full.
    pub(crate) fn lost(&self) -> u64 {
        let Some(map) = self.programs.map(".bss") else { return 0 };
        let Ok(map): Result<Array<_, u64>, _> = Array::try_from(map) else { return 0 };
        map.get(&0, 0).unwrap_or(0)
    }

    /// Lets the kernel measure the programs' CPU time from now on. Some kernels cannot.
    pub(crate) fn begin_sample(&mut self) {
        let before_ns = self.run_time_ns();
        let stats = enable_stats(Stats::RunTime).ok();
        self.sample = stats.map(|stats| Sample { _stats: stats, before_ns });
    }

    /// Ends the sample: how much CPU time the programs used.
    pub(crate) fn end_sample(&mut self) -> Option<Duration> {
        let sample = self.sample.take()?;
        Some(Duration::from_nanos(self.run_time_ns().saturating_sub(sample.before_ns)))
    }

    fn run_time_ns(&self) -> u64 {
        let of = |program: &Program| {
            let descriptor = program.fd().ok()?.as_fd().as_raw_fd();
            let text = fs::read_to_string(format!("/proc/self/fdinfo/{descriptor}")).ok()?;
            let line = text.lines().find_map(|line| line.strip_prefix("run_time_ns:"))?;
            line.trim().parse::<u64>().ok()
        };
        self.programs.programs().filter_map(|(_, program)| of(program)).sum()
    }

    /// Detaches all programs; what is in the ring can still be read.
    pub(crate) fn detach(&mut self) {
        for (_, program) in self.programs.programs_mut() {
            // A program that was never loaded has nothing to detach.
            let _ = match program {
                Program::BtfTracePoint(program) => program.unload(),
                Program::PerfEvent(program) => program.unload(),
                _ => Ok(()),
            };
        }
    }
}

struct Kernel {
    types: KernelTypes,
    btf: Btf,
}

fn fill_calls(programs: &mut Ebpf) -> Result<(), Error> {
    let map = programs.map_mut("calls").expect("the object has it");
    let mut map: Array<_, CallBytes> = Array::try_from(map).map_err(map_refused)?;
    for call in recorded_calls() {
        let index = u32::try_from(call.number).expect("numbers of calls are small");
        map.set(index, CallBytes(call.bytes()), 0).map_err(map_refused)?;
    }
    Ok(())
}

#[expect(clippy::needless_pass_by_value, reason = "it maps errors")]
fn map_refused(error: aya::maps::MapError) -> Error {
    Error::Refused { program: "record".to_owned(), why: error.to_string() }
}

fn refuse_without_rights() -> Result<(), Error> {
    let Ok(sets) = rustix::thread::capabilities(None) else { return Ok(()) };
    let has = |one| sets.effective.intersects(one | CapabilitySet::SYS_ADMIN);
    let wanted = [("CAP_BPF", CapabilitySet::BPF), ("CAP_PERFMON", CapabilitySet::PERFMON)];
    let missing: Vec<_> =
        wanted.into_iter().filter(|(_, one)| !has(*one)).map(|(name, _)| name).collect();
    if missing.is_empty() { Ok(()) } else { Err(Error::Rights { missing }) }
}

/// Joins the error with its causes. The end of the verifier's log gives the reason.
fn refused(program: &str, error: &EbpfError) -> Error {
    let mut why = error.to_string();
    let mut next = std::error::Error::source(error);
    while let Some(cause) = next {
        why = format!("{why}: {cause}");
        next = cause.source();
    }
    Error::Refused { program: program.to_owned(), why }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;
    use std::process::{Command, Stdio};

    /// As before 5.11.
    #[test]
    fn programs_that_read_tasks_without_types_record_the_same() {
        if !iotax_testing::needs_bpf() {
            return;
        }
        let path = tempfile::NamedTempFile::new().unwrap().into_temp_path();
        let written_with = |has_typed_task| {
            let types = KernelTypes::of_kernel().unwrap();
            let mut probes = Probes::load_for(types, has_typed_task, 1).unwrap();
            let mut dd = Command::new("sh");
            dd.args(["-c", "read go; exec dd if=/dev/zero of=$0 bs=8k count=9 status=none"]);
            let mut dd = dd.arg(&path).stdin(Stdio::piped()).spawn().unwrap();
            probes.record_process(dd.id()).unwrap();
            dd.stdin.take().unwrap().write_all(b"\n").unwrap();
            assert!(dd.wait().unwrap().success());
            let (identity, kind) = probes.identity_of(&path).unwrap();
            assert_eq!(kind, Kind::Regular);
            let events = std::iter::from_fn(|| probes.next());
            let own = events.filter(|raw| raw.inode == identity.place.inode && raw.length == 8192);
            own.map(|raw| {
                assert!(raw.cpu_ns > 0 && raw.end_ns > raw.start_ns);
                (raw.op, raw.offset, raw.result, raw.device, raw.flags, raw.process == dd.id())
            })
            .collect::<Vec<_>>()
        };
        let with_types = written_with(true);
        assert_eq!(with_types.len(), 9);
        assert_eq!(written_with(false), with_types);
    }
}
