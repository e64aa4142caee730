//! What differs between the machines on which saved results were made: the likely change, if the
//! results differ.

use iotax_analyze::{Analysis, Verdict};
use iotax_experiment::Subject;
use iotax_record::machine::{Device, MountSeen, Node};
use iotax_record::{CloudInstance, ExperimentHead, HostRecord, Machine};

/// A fact that can change what storage does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Surrounding {
    Vm,
    Kernel,
    Cpu,
    Cpus,
    FileSystem,
    MountOptions,
    DeviceModel,
    Driver,
    Scheduler,
}

/// A fact of an arm's machine, and of its baseline's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    pub what: Surrounding,
    pub baseline: String,
    pub arm: String,
}

/// All changes between an arm and its baseline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedArm {
    pub arm: String,
    pub baseline: String,
    pub changes: Vec<Changed>,
}

/// The arms of saved results that are slower or faster, and whose machine differs from that of
/// their baseline. With one result each, an effect beyond the margin is enough.
pub fn changed_arms(experiment: &ExperimentHead, analysis: &Analysis) -> Vec<ChangedArm> {
    let spec = &experiment.spec;
    if !spec.is_of_results() || experiment.hosts.is_empty() {
        return Vec::new();
    }
    let differs = |name: &str| {
        let own = analysis.comparisons.iter();
        let mut own = own.filter(|one| one.subject == Subject::Arm(name.to_owned()));
        own.any(|one| {
            let is_alone = one.verdict == Verdict::Undecided && one.lo.is_none();
            let is_large = one.tax.is_some_and(|tax| tax.abs() > analysis.margin);
            one.verdict.is_signed() || is_alone && is_large
        })
    };
    let changed = |[base, arm]: [usize; 2]| {
        let changes = changes(experiment.host(base), experiment.host(arm));
        let [baseline, arm] = [base, arm].map(|place| spec.arms[place].name.clone());
        let is_shown = !changes.is_empty() && differs(&arm);
        is_shown.then_some(ChangedArm { arm, baseline, changes })
    };
    spec.pairs().into_iter().filter_map(changed).collect()
}

/// Facts that both machines have, and that differ.
fn changes(baseline: &HostRecord, arm: &HostRecord) -> Vec<Changed> {
    let facts = facts(arm);
    let of_baseline = self::facts(baseline).into_iter();
    let both = of_baseline.filter_map(|(what, before)| {
        let (_, after) = facts.iter().find(|(known, _)| *known == what)?;
        (before != *after).then(|| (what, before, after.clone()))
    });
    let changed = both.map(|(what, baseline, arm)| {
        let [baseline, arm] = match what {
            Surrounding::Kernel => releases(baseline, arm),
            Surrounding::MountOptions => {
                [own_options(&baseline, &arm), own_options(&arm, &baseline)]
            }
            _ => [baseline, arm],
        };
        Changed { what, baseline, arm }
    });
    changed.collect()
}

fn facts(host: &HostRecord) -> Vec<(Surrounding, String)> {
    let environment = &host.environment;
    let machine = host.machine.as_deref();
    let instance = host.instance.as_ref().or(machine.and_then(|machine| machine.cloud.as_ref()));
    let nodes = machine.map_or_else(Vec::new, below);
    let mount = nodes.iter().find_map(|node| node.layer.mount());
    let device = nodes.iter().filter_map(|node| node.layer.device()).next_back();
    let of_device = |fact: fn(&Device) -> Option<&String>| device.and_then(fact).cloned();
    let of_mount = |fact: fn(&MountSeen) -> String| mount.map(fact);
    let cpus = (environment.cpus > 0).then(|| environment.cpus.to_string());
    let facts = [
        (Surrounding::Vm, instance.map(|CloudInstance { vm, .. }| vm.clone())),
        (Surrounding::Kernel, environment.kernel.clone()),
        (Surrounding::Cpu, environment.cpu_model.clone()),
        (Surrounding::Cpus, cpus),
        (Surrounding::FileSystem, of_mount(|mount| mount.file_system.clone())),
        (
            Surrounding::MountOptions,
            of_mount(|mount| format!("{},{}", mount.options, mount.super_options)),
        ),
        (Surrounding::DeviceModel, of_device(|device| device.model.as_ref())),
        (Surrounding::Driver, of_device(|device| device.transport.as_ref())),
        (Surrounding::Scheduler, of_device(|device| device.queue.scheduler.as_ref())),
    ];
    facts.into_iter().filter_map(|(what, fact)| Some((what, fact?))).collect()
}

/// The layers under the first path, from the top down, along the first of several.
fn below(machine: &Machine) -> Vec<&Node> {
    let mut at = machine.paths.first().and_then(|path| path.top);
    let mut nodes = Vec::new();
    while let Some(node) = at.and_then(|at| machine.nodes.get(at)) {
        nodes.push(node);
        // A file may have been edited into a circle.
        at = node.below.first().copied().filter(|_| nodes.len() < machine.nodes.len());
    }
    nodes
}

/// The releases of two kernels (`Linux 6.1.0-28-amd64 #1 SMP`), or all text if the release is the
/// same.
fn releases(one: String, other: String) -> [String; 2] {
    let release = |text: &str| {
        let mut words = text.split_whitespace().filter(|word| *word != "Linux");
        words.next().unwrap_or_default().to_owned()
    };
    let releases = [release(&one), release(&other)];
    if releases[0] == releases[1] { [one, other] } else { releases }
}

/// Mount options that the other does not have.
fn own_options(options: &str, others: &str) -> String {
    let has = |option: &str| others.split(',').any(|other| other == option);
    let mut own: Vec<&str> = options.split(',').filter(|option| !has(option)).collect();
    own.dedup();
    own.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotax_record::Environment;
    use iotax_record::machine::{PathSeen, Queue, SeenLayer};

    fn host(kernel: &str, options: &str, scheduler: &str) -> HostRecord {
        let mount = MountSeen {
            file_system: "ext4".to_owned(),
            options: options.to_owned(),
            ..MountSeen::default()
        };
        let queue = Queue { scheduler: Some(scheduler.to_owned()), ..Queue::default() };
        let device = Device { transport: Some("nvme".to_owned()), queue, ..Device::default() };
        let machine = Machine {
            paths: vec![PathSeen { top: Some(0), ..PathSeen::default() }],
            nodes: vec![
                Node { layer: SeenLayer::Mount(mount), below: vec![1] },
                Node { layer: SeenLayer::Device(device), below: vec![0] },
            ],
            ..Machine::default()
        };
        let environment = Environment { kernel: Some(kernel.to_owned()), ..Environment::default() };
        HostRecord { environment, machine: Some(Box::new(machine)), ..HostRecord::default() }
    }

    fn told(one: &HostRecord, other: &HostRecord) -> Vec<(Surrounding, String, String)> {
        let changes = changes(one, other).into_iter();
        changes.map(|Changed { what, baseline, arm }| (what, baseline, arm)).collect()
    }

    #[test]
    fn facts_that_differ_are_found() {
        let before = host("Linux 6.1.0 #1 SMP", "rw,noatime", "none");
        let after = host("Linux 6.12.3 #2 SMP", "rw,relatime", "mq-deadline");
        let text = |what, one: &str, other: &str| (what, one.to_owned(), other.to_owned());
        assert_eq!(
            told(&before, &after),
            [
                text(Surrounding::Kernel, "6.1.0", "6.12.3"),
                text(Surrounding::MountOptions, "noatime", "relatime"),
                text(Surrounding::Scheduler, "none", "mq-deadline"),
            ]
        );
        assert_eq!(told(&before, &before), []);
        let rebuilt = host("Linux 6.1.0 #2 SMP", "rw,noatime", "none");
        let builds = text(Surrounding::Kernel, "Linux 6.1.0 #1 SMP", "Linux 6.1.0 #2 SMP");
        assert_eq!(told(&before, &rebuilt), [builds]);
        assert_eq!(told(&before, &HostRecord::default()), [], "unknown is not different");
    }
}
