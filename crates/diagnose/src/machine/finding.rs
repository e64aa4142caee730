use iotax_record::machine::{Device, MountSeen};
use serde::Serialize;

use super::observation::Observation;
use super::snapshot::quoted;
use super::why::Why;

/// A known cause that this machine gives reason to suspect.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// The cause's name in the catalogue.
    pub cause: &'static str,
    /// What of the machine has it; several disks where it is of all of them.
    pub about: Vec<Component>,
    /// Of what else the same holds.
    pub alike: Vec<Component>,
    /// How sure it is that this is here and hurts.
    pub certainty: Certainty,
    pub seen: Vec<Observation>,
    /// What that means here.
    pub why: Why,
    /// Commands that confirm it, ready to be run; none where the path allows none.
    pub commands: Vec<String>,
}

/// A part of a machine or of a cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Component {
    pub kind: ComponentKind,
    /// Empty where there is only one of its kind.
    pub name: String,
    pub detail: Option<Detail>,
    /// The path that lies on it.
    pub path: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ComponentKind {
    Device,
    Mount,
    /// An interface, or a peer.
    Network,
    Group,
    Vm,
    PageCache,
    AllInterfaces,
    TrackedConnections,
    BouncePool,
    Class,
    Volume,
    Node,
    Cluster,
    PodNetwork,
}

/// What else is to be known of a component.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Detail {
    /// Its other name, source, or file system.
    Also(String),
    Role(DiskUse),
    /// The interface that its calls go through.
    By(String),
    /// The interface below it.
    Over(String),
    /// The path that it limits.
    On(String),
}

/// What a VM uses a disk for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DiskUse {
    EphemeralOs,
    Os,
    Temporary,
    Data,
    Unknown,
}

impl Component {
    pub(crate) fn new(kind: ComponentKind, name: impl Into<String>) -> Self {
        Self { kind, name: name.into(), detail: None, path: None }
    }

    pub(super) fn device(device: &Device) -> Self {
        Self::new(ComponentKind::Device, device.name.as_str())
    }

    /// With its name in the device mapper, if it has one.
    pub(super) fn mapped(device: &Device) -> Self {
        let detail = device.mapping.as_ref().map(|mapping| Detail::Also(mapping.name.clone()));
        Self { detail, ..Self::device(device) }
    }

    pub(super) fn mount(mount: &MountSeen) -> Self {
        Self::new(ComponentKind::Mount, mount.mount_point.as_str())
    }

    pub(super) fn network(name: impl Into<String>) -> Self {
        Self::new(ComponentKind::Network, name)
    }

    pub(super) fn also(self, name: impl Into<String>) -> Self {
        self.with(Detail::Also(name.into()))
    }

    pub(super) fn with(mut self, detail: Detail) -> Self {
        self.detail = Some(detail);
        self
    }

    pub(super) fn of(mut self, path: &str) -> Self {
        self.path = Some(path.to_owned());
        self
    }
}

/// One thing is a list, too.
impl From<Component> for Vec<Component> {
    fn from(one: Component) -> Self {
        vec![one]
    }
}

impl From<ComponentKind> for Vec<Component> {
    fn from(kind: ComponentKind) -> Self {
        vec![Component::new(kind, "")]
    }
}

impl Finding {
    /// A finding without observations and commands yet.
    pub(crate) fn new(
        cause: &'static str,
        about: impl Into<Vec<Component>>,
        certainty: Certainty,
        why: impl Into<Why>,
    ) -> Self {
        let (seen, commands, alike) = (Vec::new(), Vec::new(), Vec::new());
        Self { cause, about: about.into(), alike, certainty, seen, why: why.into(), commands }
    }

    pub(crate) fn observed(mut self, observation: Observation) -> Self {
        self.seen.push(observation);
        self
    }

    pub(crate) fn observed_all(
        mut self,
        observations: impl IntoIterator<Item = Observation>,
    ) -> Self {
        self.seen.extend(observations);
        self
    }

    /// About something else than what its rule was asked about.
    pub(super) fn on(self, about: impl Into<Vec<Component>>) -> Self {
        Self { about: about.into(), ..self }
    }

    pub(crate) fn when(self, holds: bool) -> Option<Self> {
        holds.then_some(self)
    }

    /// With a run of a workload on a path, and what follows it.
    pub(crate) fn run(self, workload: &str, path: &str, options: &str) -> Self {
        let command = format!("iotax run {workload} {} {options}", quoted(path));
        self.command(command.trim_end())
    }

    /// With a comparison of a path made here with and without a layer.
    pub(crate) fn netns(self, workload: &str, layer: &str) -> Self {
        let with = quoted(&format!("netns + {layer}"));
        self.command(format!("iotax compare -w {workload} plain=netns with={with}"))
    }

    /// With a comparison of values of a setting that is in a file, `now` and others, under the same
    /// load on the same path: which one is best depends on the path.
    pub(crate) fn compare_values(
        self,
        workload: &str,
        options: &str,
        path: &str,
        file: &str,
        now: &str,
        values: &[String],
    ) -> Self {
        let arm = |value: &str| format!("{value}={}", quoted(path));
        let arms = [now].into_iter().chain(values.iter().map(String::as_str)).map(arm);
        let write = |value: &str| quoted(&format!("echo {value} > {file}"));
        let around = values.iter().map(|value| {
            format!("--before {value}={} --after {value}={}", write(value), write(now))
        });
        let words: Vec<String> = arms.chain(around).collect();
        self.command(format!("iotax compare -w {workload} {options} {}", words.join(" ")))
    }

    /// With a search for caps on a path, and what stands before it: ` --vm NAME`.
    pub(crate) fn limits(self, options: &str, path: &str) -> Self {
        self.command(format!("iotax limits{options} {}", quoted(path)))
    }

    pub(crate) fn command(mut self, command: impl Into<String>) -> Self {
        self.commands.push(command.into());
        self
    }
}

/// How sure a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Certainty {
    /// It could be here; this machine does not show it, or it need not hurt.
    ToBeTested,
    /// What was seen hurts most loads that it fits.
    Likely,
    /// It was seen to act: counters say that it has cost time, or it is a limit by definition.
    Snapshot,
}
