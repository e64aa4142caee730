//! Deterministic experiments and analyses, shaped like real ones.
#![allow(dead_code, reason = "each test binary uses its own part")]
#![allow(
    clippy::assigning_clones,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::too_many_lines,
    clippy::unnecessary_wraps,
    clippy::unwrap_used,
    reason = "made-up figures, all known to fit"
)]

pub(crate) mod analyses;
mod beforehand;
pub(crate) mod fleet;
pub(crate) mod machine;
pub(crate) mod matrix;
pub(crate) mod pages;
pub(crate) mod recording;
pub(crate) mod search;
pub(crate) mod suite;
pub(crate) mod trials;
pub(crate) mod troubled;
pub(crate) mod two;

use iotax_analyze::Analysis;
use iotax_experiment::Layer;
use iotax_experiment::layers::{Aes, File, Queue, Throttle};
use iotax_experiment::{
    Arm, Arrivals, Design, Draft, Engine, Job, RecordedLoad, Stack, Stop, StopMode, Target,
    Workload,
};
use iotax_record::{
    CloudDisk, CloudInstance, Environment, ExperimentHead, FORMAT, HostRecord, Site,
};
use iotax_report::Style;

/// A report of one experiment as text.
pub(crate) fn text(experiment: &ExperimentHead, analysis: &Analysis, style: Style) -> String {
    iotax_report::text(&iotax_report::experiment(experiment, analysis), style)
}

pub(crate) fn markdown(experiment: &ExperimentHead, analysis: &Analysis) -> String {
    iotax_report::markdown(&iotax_report::experiment(experiment, analysis))
}

/// As a page.
pub(crate) fn html(experiment: &ExperimentHead, analysis: &Analysis) -> String {
    iotax_report::html(&iotax_report::experiment(experiment, analysis))
}

/// The page without its scripts and styles.
pub(crate) fn markup(page: &str) -> String {
    let mut out = String::new();
    let mut rest = page;
    while let Some(start) = ["<script", "<style"].iter().filter_map(|t| rest.find(t)).min() {
        let end_tag = if rest[start..].starts_with("<script") { "</script>" } else { "</style>" };
        out.push_str(&rest[..start]);
        let end = rest[start..].find(end_tag).expect("elements are closed") + end_tag.len();
        rest = &rest[start + end..];
    }
    out + rest
}

/// The part of a report before a head.
pub(crate) fn up_to<'a>(shown: &'a str, head: &str) -> &'a str {
    shown.split_once(head).map_or(shown, |(before, _)| before)
}

/// A value in -0.5..0.5 that depends on `i` only (Knuth's multiplicative hash).
pub(crate) fn noise(i: u64) -> f64 {
    let hashed = (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    hashed as f64 / (1u64 << 24) as f64 - 0.5
}

fn stop() -> Stop {
    Stop {
        mode: StopMode::Default,
        margin: 0.05,
        alpha: 0.05,
        simultaneous: false,
        max_blocks: 40,
        max_blocks_asked: false,
        min_blocks: 3,
        max_time_ns: None,
    }
}

fn arm(name: &str, layers: &[Layer]) -> Arm {
    let mut stack = vec![Layer::File(File { path: None, size_bytes: 2 << 30, thin: false })];
    stack.extend_from_slice(layers);
    Arm::new(name, Target::Stack(Stack { layers: stack }))
}

/// As many I/Os in flight as made-up figures have.
fn experiment(
    mut workload: Workload,
    arms: Vec<Arm>,
    design: Design,
    command: &[&str],
) -> ExperimentHead {
    let primary = workload.primary.clone();
    for job in workload.jobs.iter_mut().filter(|job| job.name == primary) {
        (job.threads, job.queue_depth) = (1, 4);
    }
    let sites = arms.iter().map(|arm| Site {
        kind: "vdisk".to_owned(),
        target: arm.target.to_string(),
        file_system: Some("ext4".to_owned()),
        device: Some("vda2".to_owned()),
        device_model: Some("virtio".to_owned()),
        direct: Some(true),
        has_device: true,
        storage_id: "254:2".to_owned(),
        notes: vec!["an anonymous file in /srv/bench".to_owned()],
        ..Site::default()
    });
    ExperimentHead {
        cloud: iotax_experiment::CloudChoice::default(),
        format: FORMAT,
        id: None,
        iotax_version: "0.1.0".to_owned(),
        started: "2026-01-02T03:04:05Z".to_owned(),
        command: command.iter().map(|word| (*word).to_owned()).collect(),
        sites: sites.collect(),
        spec: Draft { stop: stop(), seed: 42, ..Draft::new(vec![workload], arms, design) }
            .unchecked(),
        hosts: vec![HostRecord {
            environment: environment(),
            generator_ns_per_io: Some(48.0),
            ..HostRecord::default()
        }],
    }
}

fn environment() -> Environment {
    Environment {
        host: Some("bench-1".to_owned()),
        os: Some("Debian GNU/Linux 12 (bookworm)".to_owned()),
        kernel: Some("6.1.0-28-amd64".to_owned()),
        cpu_model: Some("AMD EPYC 7B13".to_owned()),
        cpus: 8,
        cpu_aes: Some(true),
        cpu_governor: None,
        memory_bytes: Some(32 << 30),
        memory_copy_bytes_per_s: Some(11.4e9),
        hypervisor: Some("kvm".to_owned()),
        load_average: Some(0.21),
        cgroup_cpus: None,
    }
}

fn aes() -> Layer {
    Layer::Aes(Aes { key_bits: 256, sector_bytes: 4096 })
}

/// Two AES layers, all four subsets.
pub(crate) fn peel() -> ExperimentHead {
    let arms = vec![
        arm("bare", &[]),
        arm("aes", &[aes()]),
        arm("aes#2", &[aes()]),
        arm("aes + aes#2", &[aes(), aes()]),
    ];
    let layers = vec!["aes".to_owned(), "aes#2".to_owned()];
    let design = Design::Peel { layers, masks: vec![0, 1, 2, 3] };
    experiment(Workload::peel_search(2 << 30), arms, design, &["iotax", "peel"])
}

/// Four arms against a baseline.
pub(crate) fn compare() -> ExperimentHead {
    let throttle = |iops| Layer::Throttle(Throttle { iops: Some(iops), ..Throttle::default() });
    let arms = vec![
        arm("base", &[]),
        arm("luks", &[aes()]),
        arm("queue", &[Layer::Queue(Queue { workers: 2 })]),
        arm("cap", &[throttle(4e4)]),
        arm("same", &[]),
    ];
    let workload = Workload::preset("randread-4k").unwrap();
    let command = ["iotax", "compare", "--workload", "randread-4k", "base=file(size=2G)", "..."];
    experiment(workload, arms, Design::Compare, &command)
}

/// The same arms, which replay a recording.
pub(crate) fn replay(path: &str) -> ExperimentHead {
    let recording = RecordedLoad {
        path: path.into(),
        hash: "0123456789abcdef".to_owned(),
        length_ns: 16_200_000_000,
        threads: 9,
        requests: 0,
        waits_for_syncs: true,
        allow_loss: false,
        arrivals: Arrivals::default(),
        copies: 1,
        parts: 1,
        uncut: None,
        writes: true,
        device_bytes: None,
        logs: None,
    };
    let job = Job { engine: Engine::Replay, recording: Some(recording), ..Job::new("replay") };
    let arms = vec![arm("base", &[]), arm("luks", &[aes()])];
    let command = ["iotax", "compare", "-w", path, "base=/a", "luks=/b"];
    experiment(Workload::new("app", vec![job]), arms, Design::Compare, &command)
}

/// As [`compare`], where the cloud has told the VM and a disk of it.
pub(crate) fn on_a_vm() -> ExperimentHead {
    let disk = CloudDisk {
        name: Some("disk-of-alice".to_owned()),
        lun: Some(0),
        kind: Some("Premium_LRS".to_owned()),
        size_bytes: Some(128 << 30),
        targets: vec![0, 1],
        ..CloudDisk::default()
    };
    let mut experiment = compare();
    experiment.cloud.vm = Some("Standard_DS1_v2".to_owned());
    experiment.cloud.disks = vec!["P10:caching=readonly".to_owned(), "P10".to_owned()];
    experiment.hosts[0].instance = Some(CloudInstance {
        cloud: "Azure".to_owned(),
        vm: "Standard_DS1_v2".to_owned(),
        region: Some("westeurope".to_owned()),
        disks: vec![disk],
        ..CloudInstance::default()
    });
    experiment
}

/// One arm.
pub(crate) fn run() -> ExperimentHead {
    let workload = Workload::preset("mixed-70-30").unwrap();
    let command = ["iotax", "run", "mixed-70-30", "mem(size=64M)"];
    experiment(workload, vec![arm("target", &[])], Design::Single, &command)
}

/// What every string that a user or a device can choose looks like at its worst.
pub(crate) const HOSTILE: &str =
    "</script><img src=x onerror=alert(1)>\u{2028}'\"`&|\x1b[2J\u{202e}";

/// A comparison in which every string from outside is hostile.
pub(crate) fn hostile() -> ExperimentHead {
    let mut experiment = compare();
    experiment.command = vec![HOSTILE.to_owned()];
    experiment.started = HOSTILE.to_owned();
    experiment.iotax_version = HOSTILE.to_owned();
    experiment.spec = experiment.spec.with(|spec| {
        spec.phases[0].name = HOSTILE.to_owned();
        spec.phases[0].about = HOSTILE.to_owned();
        for job in &mut spec.phases[0].jobs {
            job.name = HOSTILE.to_owned();
        }
        for (i, arm) in spec.arms.iter_mut().enumerate() {
            arm.name = format!("{i}{HOSTILE}");
            arm.target = Target::Path(HOSTILE.into());
        }
    });
    for site in &mut experiment.sites {
        site.target = HOSTILE.to_owned();
        site.device_model = Some(HOSTILE.to_owned());
        site.notes = vec![HOSTILE.to_owned()];
    }
    experiment.hosts[0].environment.host = Some(HOSTILE.to_owned());
    experiment.hosts[0].environment.cpu_model = Some(HOSTILE.to_owned());
    experiment
}
