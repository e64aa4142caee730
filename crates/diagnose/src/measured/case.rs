//! One arm: what was asked of it, what came of it, and what lies under it.

use std::borrow::Cow;

use iotax_analyze::{
    Analysis, ArmSummary, CounterSummary, DepthResponse, DeviceFigures, DeviceSummary,
    DirectionFigures, NfsFigures, NfsMountSummary, NfsSummary, TrialPoint, Work,
};
use iotax_experiment::{Does, Form, Job, Layer, LayerInfo, PageCache, Pattern, Target};
use iotax_record::machine::{
    Device, Machine, MountSeen, NfsSeen, NfsTransport, Node, PathSeen, SeenLayer,
};
use iotax_record::{ExperimentHead, HostRecord, Site};

use crate::machine::quoted;

/// All CPUs are busy beyond this share.
const NO_CPU_LEFT: f64 = 0.95;
/// Layers that a program serves.
const PROGRAMS: [&str; 5] = ["gocryptfs", "libipsec", "openvpn", "ssh", "tls"];
/// The CPU of User Mode Linux, which books the kernel's time as programs'.
const UML: &str = "UML";
/// Other programs that take a larger share of the CPU time leave too little.
const OTHERS: f64 = 0.5;

/// A file server under an arm.
pub(super) struct Remote<'a> {
    pub(super) mount: Cow<'a, MountSeen>,
    pub(super) nfs: Cow<'a, NfsSeen>,
    pub(super) calls: Vec<&'a NfsSummary>,
}

impl Remote<'_> {
    /// Calls that carry data, as one kind.
    pub(super) fn data(&self) -> Option<NfsFigures> {
        self.of(&["READ", "WRITE"])
    }

    /// Calls that ask whether what is known of a file still holds, as one kind.
    pub(super) fn revalidations(&self) -> Option<NfsFigures> {
        self.of(&["GETATTR", "ACCESS", "LOOKUP"])
    }

    /// `None` if there were none.
    fn of(&self, operations: &[&str]) -> Option<NfsFigures> {
        let is_asked = |call: &&&NfsSummary| operations.contains(&call.operation.as_str());
        let asked: Vec<_> = self.calls.iter().filter(is_asked).map(|call| call.figures).collect();
        (!asked.is_empty()).then(|| NfsFigures::together(&asked))
    }
}

/// One disk, or several as one.
pub(super) struct Bottom {
    pub(super) disks: Vec<String>,
    pub(super) figures: DeviceFigures,
}

impl Bottom {
    pub(super) fn of(devices: &[&DeviceSummary]) -> Self {
        let disks = devices.iter().map(|device| device.name.clone()).collect();
        let figures = match devices {
            [only] => only.figures,
            several => together(&several.iter().map(|one| one.figures).collect::<Vec<_>>()),
        };
        Self { disks, figures }
    }
}

/// An arm that was measured.
pub(super) struct Case<'a> {
    pub(super) experiment: &'a ExperimentHead,
    pub(super) summary: &'a ArmSummary,
    /// What its trials add up to beside that.
    pub(super) work: &'a Work,
    /// What the machine did meanwhile.
    pub(super) counters: Option<&'a CounterSummary>,
    /// The primary job as it was asked for.
    pub(super) job: &'a Job,
    /// Its usable trials, in the order in which they ran.
    pub(super) trials: Vec<&'a TrialPoint>,
    pub(super) site: Option<&'a Site>,
    target: Option<&'a Target>,
    /// Its place among the arms.
    pub(super) arm: usize,
    /// More in flight brought no more: a check at other depths has shown that.
    pub(super) has_plateau: bool,
}

impl<'a> Case<'a> {
    /// `None` if nothing of it can be used.
    pub(super) fn new(
        experiment: &'a ExperimentHead,
        analysis: &'a Analysis,
        arm: usize,
    ) -> Option<Self> {
        let summary = analysis.arms.get(arm).filter(|arm| arm.trials > 0)?;
        let is_own = |trial: &&TrialPoint| trial.arm == summary.name && trial.is_usable();
        let trials: Vec<&TrialPoint> = analysis.trials.iter().filter(is_own).collect();
        (!trials.is_empty()).then_some(())?;
        Some(Self {
            experiment,
            summary,
            work: analysis.work.get(arm)?,
            counters: summary.counters.as_ref(),
            job: experiment.spec.workload().primary_job()?,
            trials,
            site: experiment.sites.get(arm),
            target: experiment.spec.arms.get(arm).map(|arm| &arm.target),
            arm,
            has_plateau: analysis.depths.iter().any(|depths| {
                depths.arm == summary.name && depths.response == DepthResponse::Plateau
            }),
        })
    }

    /// Mean time of an I/O, in milliseconds.
    pub(super) fn latency_ms(&self) -> f64 {
        self.summary.mean_latency_ns / 1e6
    }

    /// Share of the time in which the machine's CPUs were busy.
    pub(super) fn cpu_busy(&self) -> Option<f64> {
        let cpu = self.counters?.cpu?;
        Some(1.0 - (cpu.idle_percent + cpu.iowait_percent) / 100.0)
    }

    /// Whether all CPUs were busy all the time.
    pub(super) fn has_no_cpu_left(&self) -> bool {
        self.cpu_busy().is_some_and(|busy| busy > NO_CPU_LEFT)
    }

    /// CPU time of the kernel for each byte that all jobs moved; of all programs, too, where it is
    /// not known apart. `None` if nothing is known.
    pub(super) fn kernel_ns_per_byte(&self) -> Option<f64> {
        let bytes = self.work.bytes.saturating_add(self.work.other_bytes);
        let busy_ns = self.work.cpu_busy_ns? as f64;
        let of_kernel = self.counters.and_then(|counters| counters.cpu).map_or(1.0, |cpu| {
            let programs = cpu.user_percent + cpu.nice_percent;
            cpu.system_percent / (cpu.system_percent + programs).max(f64::MIN_POSITIVE)
        });
        (bytes > 0).then(|| busy_ns * of_kernel / bytes as f64)
    }

    /// Share of the busy CPU time that was not this program's: that of other programs and of the
    /// kernel's threads, some of which may serve the load.
    pub(super) fn cpu_of_others(&self) -> Option<f64> {
        let (all, own) = (self.work.cpu_busy_ns?, self.work.process_cpu_ns?);
        (all > 0).then(|| (1.0 - own as f64 / all as f64).max(0.0))
    }

    /// Share of the CPU time that other programs took, which have no part in the load, where no CPU
    /// was left because of that.
    pub(super) fn cpu_taken(&self) -> Option<f64> {
        let is_apart = self.host().environment.cpu_model.as_deref() != Some(UML);
        let is_served = self.is_served_by_programs();
        (self.has_no_cpu_left() && is_apart && !is_served).then_some(())?;
        let cpu = self.counters?.cpu?;
        let busy = 100.0 - cpu.idle_percent - cpu.iowait_percent;
        let own = (1.0 - self.cpu_of_others()?) * busy;
        // All of this program's time is taken for time outside of the kernel, which is too much.
        let others = (cpu.user_percent + cpu.nice_percent - own) / busy.max(f64::MIN_POSITIVE);
        (others > OTHERS).then_some(others)
    }

    /// Whether a program serves what lies under the arm: a file system by FUSE, a layer.
    fn is_served_by_programs(&self) -> bool {
        let is_fuse = |mount: &&MountSeen| mount.file_system.starts_with("fuse");
        let is_program = |layer: &Layer| PROGRAMS.contains(&layer.info().name);
        self.mounts_seen().iter().any(is_fuse)
            || self.layers().is_some_and(|layers| layers.iter().any(is_program))
    }

    /// Whether a layer that iotax put in holds the load back when it is too much.
    pub(super) fn has_limit_of_its_own(&self) -> bool {
        let limits = |layer: &Layer| layer.info().does == Does::Limits;
        self.layers().is_some_and(|layers| layers.iter().any(limits))
    }

    /// Its target as a word of a command; `None` of several.
    pub(super) fn target_word(&self) -> Option<String> {
        let target = self.target.filter(|target| target.several().is_none())?;
        Some(quoted(&target.to_string()))
    }

    /// Whether the page cache is in the way of this job's I/O.
    pub(super) fn is_buffered(&self) -> bool {
        match self.job.engine.info().cache {
            PageCache::Always => true,
            PageCache::UnlessDirect => !self.job.direct,
            PageCache::Never => false,
        }
    }

    pub(super) fn is_sequential(&self) -> bool {
        matches!(self.job.pattern, Pattern::Sequential | Pattern::Runs(_))
    }

    /// The devices under the arm, the uppermost first.
    pub(super) fn devices(&self) -> &'a [DeviceSummary] {
        self.counters.map_or(&[], |counters| counters.devices.as_slice())
    }

    /// What lies lowest, as one: the disk itself, as far as this machine sees, or all disks that
    /// the arm is spread over. `None` if it is not known which of several devices these are.
    pub(super) fn bottom(&self) -> Option<Bottom> {
        let devices = self.devices();
        if let [only] = devices {
            return Some(Bottom::of(&[only]));
        }
        let lowest = self.lowest_seen();
        let own: Vec<_> =
            devices.iter().filter(|own| lowest.contains(&own.name.as_str())).collect();
        (!own.is_empty()).then(|| Bottom::of(&own))
    }

    /// Share of the I/Os' time that passed at the disk.
    pub(super) fn share_at_disk(&self) -> Option<f64> {
        let (await_ms, per_s) = served(&self.bottom()?.figures);
        let all = self.latency_ms() * self.summary.iops;
        (per_s > 0.0 && all > 0.0).then_some((await_ms * per_s / all).min(1.0))
    }

    /// Share of the time of the primary job's I/Os that passed at a device: of those in its own
    /// directions, since other jobs may write beside a reader.
    pub(super) fn share_at(&self, figures: &DeviceFigures) -> Option<f64> {
        let waited = |direction: &DirectionFigures| direction.per_s * direction.await_ms;
        let reads = if self.job.reads() { waited(&figures.read) } else { 0.0 };
        let writes = if self.job.writes() { waited(&figures.write) } else { 0.0 };
        let all = self.latency_ms() * self.summary.iops;
        (all > 0.0).then(|| ((reads + writes) / all).min(1.0))
    }

    /// The layers of the arm, where it is a stack that was made for it.
    pub(super) fn layers(&self) -> Option<&'a [Layer]> {
        self.target.map(Target::layers).filter(|layers| !layers.is_empty())
    }

    /// Time of an I/O that passed above the lowest device and below the uppermost, in milliseconds;
    /// `None` unless there are several.
    pub(super) fn between_devices_ms(&self) -> Option<f64> {
        let [upper, .., lower] = self.devices() else { return None };
        let share = self.share_at(&upper.figures)? - self.share_at(&lower.figures)?;
        Some(share * self.latency_ms())
    }

    /// The layers of the arm that encrypt, where it is a stack that was made for it.
    pub(super) fn encrypting_layers(&self) -> Vec<&'static str> {
        // Those of files are above all devices.
        let is_between = |info: &&LayerInfo| matches!(info.gives, Some(Form::File | Form::Block));
        let layers = self.target.map_or(&[][..], Target::layers);
        let layers = layers.iter().map(Layer::info).filter(is_between);
        layers.filter(|info| info.does == Does::Encrypts).map(|info| info.name).collect()
    }

    /// Names of the devices with no device anywhere below them.
    fn lowest_seen(&self) -> Vec<&'a str> {
        let Some((machine, path)) = self.machine().zip(self.path()) else { return Vec::new() };
        let has_device = |at: &usize| {
            let path = PathSeen { top: Some(*at), ..PathSeen::default() };
            machine.under(&path).into_iter().any(|node| node.layer.device().is_some())
        };
        let is_lowest = |node: &&Node| !node.below.iter().any(has_device);
        let lowest = machine.under(path).into_iter().filter(is_lowest);
        lowest.filter_map(|node| Some(node.layer.device()?.name.as_str())).collect()
    }

    /// The machine on which the arm was measured.
    pub(super) fn host(&self) -> &'a HostRecord {
        self.experiment.host(self.arm)
    }

    /// What was seen of it.
    pub(super) fn machine(&self) -> Option<&'a Machine> {
        self.host().machine.as_deref()
    }

    /// Whether the arm is a place of this machine, and no stack in memory.
    pub(super) fn is_on_path(&self) -> bool {
        self.target.is_some_and(|target| target.path().is_some())
    }

    /// The arm's path there, or the way to its peer.
    pub(super) fn path(&self) -> Option<&'a PathSeen> {
        let target = self.target?;
        let paths = &self.machine()?.paths;
        let find = |path: &str| paths.iter().find(|seen| seen.path == path);
        match target.path() {
            Some(path) => find(&path.display().to_string()),
            // In a cluster only the site has the address that a pod got.
            None => find(&target.elsewhere()?.name).or_else(|| find(&self.site?.target)),
        }
    }

    /// The file server under the arm and what it was called for, if there is one.
    pub(super) fn remote(&self) -> Option<Remote<'a>> {
        let seen = self.mounts_seen().into_iter().find(|mount| mount.nfs.is_some());
        let (mount, nfs) = match seen {
            Some(mount) => (Cow::Borrowed(mount), Cow::Borrowed(mount.nfs.as_ref()?)),
            None => self.mounted_in_trials()?,
        };
        let calls = self.counters?.nfs.iter().filter(|call| call.source == mount.source);
        Some(Remote { calls: calls.collect(), mount, nfs })
    }

    /// What iotax mounts for a trial is not there when the machine is looked at.
    fn mounted_in_trials(&self) -> Option<(Cow<'a, MountSeen>, Cow<'a, NfsSeen>)> {
        let NfsMountSummary { source, granted, transports } = self.counters?.nfs_mounts.first()?;
        let options = [("vers", granted.vers.clone()), ("sec", granted.sec.clone())];
        let options = options.into_iter().chain([
            ("rsize", granted.rsize_bytes.map(|bytes| bytes.to_string())),
            ("wsize", granted.wsize_bytes.map(|bytes| bytes.to_string())),
        ]);
        let shown = options.filter_map(|(name, value)| Some(format!("{name}={}", value?)));
        let nfs = NfsSeen {
            options: shown.collect::<Vec<_>>().join(","),
            transports: vec![NfsTransport::default(); transports.len()],
            ..NfsSeen::default()
        };
        let mount = MountSeen { source: source.clone(), ..MountSeen::default() };
        Some((Cow::Owned(mount), Cow::Owned(nfs)))
    }

    /// The devices under the arm as they were seen.
    pub(super) fn devices_seen(&self) -> Vec<&'a Device> {
        self.layers_seen().filter_map(SeenLayer::device).collect()
    }

    /// The mounts under the arm as they were seen.
    pub(super) fn mounts_seen(&self) -> Vec<&'a MountSeen> {
        self.layers_seen().filter_map(SeenLayer::mount).collect()
    }

    /// What lies under the arm, the uppermost first.
    pub(super) fn layers_seen(&self) -> impl Iterator<Item = &'a SeenLayer> + use<'a> {
        let under = self.machine().zip(self.path()).map(|(machine, path)| machine.under(path));
        under.unwrap_or_default().into_iter().map(|node| &node.layer)
    }
}

/// Mean time of a request at a device, reads and writes, in milliseconds, and how many there were.
pub(super) fn served(figures: &DeviceFigures) -> (f64, f64) {
    let ways = [&figures.read, &figures.write].map(|way| (way.per_s, way.await_ms));
    (mean_over(ways.into_iter()), figures.read.per_s + figures.write.per_s)
}

/// Several disks as one: rates add up, times are means over the requests, and it is as busy as the
/// busiest.
fn together(all: &[DeviceFigures]) -> DeviceFigures {
    let sum = |of: fn(&DeviceFigures) -> f64| all.iter().map(of).sum::<f64>();
    let flushes = all.iter().map(|one| (one.flushes_per_s, one.flush_await_ms));
    DeviceFigures {
        read: one_way(all.iter().map(|one| one.read)),
        write: one_way(all.iter().map(|one| one.write)),
        flushes_per_s: sum(|one| one.flushes_per_s),
        flush_await_ms: mean_over(flushes),
        queue_size: sum(|one| one.queue_size),
        util_percent: all.iter().map(|one| one.util_percent).fold(0.0, f64::max),
        ..DeviceFigures::default()
    }
}

fn one_way(all: impl Iterator<Item = DirectionFigures> + Clone) -> DirectionFigures {
    DirectionFigures {
        per_s: all.clone().map(|one| one.per_s).sum(),
        mib_per_s: all.clone().map(|one| one.mib_per_s).sum(),
        await_ms: mean_over(all.clone().map(|one| (one.per_s, one.await_ms))),
        size_kib: mean_over(all.map(|one| (one.per_s, one.size_kib))),
        ..DirectionFigures::default()
    }
}

/// The mean over all requests, weighted by how many there were each second.
fn mean_over(each: impl Iterator<Item = (f64, f64)> + Clone) -> f64 {
    let per_s: f64 = each.clone().map(|(per_s, _)| per_s).sum();
    let total: f64 = each.map(|(per_s, one)| per_s * one).sum();
    if per_s > 0.0 { total / per_s } else { 0.0 }
}
