use std::fmt;

use iotax_record::machine::{Device, Interface, MountSeen};
use serde::{Deserialize, Serialize};

use super::snapshot::quoted;

/// A known cause that this machine gives reason to suspect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The cause's name in the catalogue.
    pub cause: String,
    /// Which device, mount or group: `dm-0 (data)`, `/mnt/x`.
    pub about: String,
    /// How sure it is that this is here and hurts.
    pub certainty: Certainty,
    pub seen: Vec<Observation>,
    /// What that means here, in a sentence.
    pub why: String,
    /// Commands that confirm it, ready to be run; none where the path allows none.
    pub commands: Vec<String>,
}

impl Finding {
    /// A finding without observations and commands yet.
    pub(crate) fn new(
        cause: &str,
        about: impl Into<String>,
        certainty: Certainty,
        why: impl Into<String>,
    ) -> Self {
        let (seen, commands) = (Vec::new(), Vec::new());
        let (cause, about, why) = (cause.to_owned(), about.into(), why.into());
        Self { cause, about, certainty, seen, why, commands }
    }

    pub(crate) fn observed(mut self, observation: Observation) -> Self {
        self.seen.push(observation);
        self
    }

    /// With an observation, if there is one.
    pub(crate) fn observed_if(mut self, observation: Option<Observation>) -> Self {
        self.seen.extend(observation);
        self
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
        (workload, options): (&str, &str),
        path: &str,
        (file, now): (&str, &str),
        values: &[String],
    ) -> Self {
        let arm = |value: &str| format!("{value}={}", quoted(path));
        let arms = [now].into_iter().chain(values.iter().map(String::as_str)).map(arm);
        let write = |value: &str| quoted(&format!("echo {value} > {file}"));
        let around = values.iter().map(|value| {
            format!("--before {value}={} --after {value}={}", write(value), write(now))
        });
        let words: Vec<String> = arms.chain(around).collect();
        self.command(format!("iotax compare -w {workload}{options} {}", words.join(" ")))
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Certainty {
    /// It could be here; this machine does not show it, or it need not hurt.
    ToBeTested,
    /// What was seen hurts most loads that it fits.
    Likely,
    /// It was seen to act: counters say that it has cost time, or it is a limit by definition.
    Snapshot,
}

impl Certainty {
    pub fn name(self) -> &'static str {
        match self {
            Self::ToBeTested => "to be tested",
            Self::Likely => "likely",
            Self::Snapshot => "seen",
        }
    }
}

/// One fact: a file, a field of it, and its value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observation {
    /// File, or the program and question that told.
    pub file: String,
    /// Field of it; `None` where the file is the value.
    pub field: Option<String>,
    pub value: String,
}

/// `/sys/block/sda/queue/scheduler: bfq`.
impl fmt::Display for Observation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.field {
            Some(field) => write!(f, "{}, {field}: {}", self.file, self.value),
            None => write!(f, "{}: {}", self.file, self.value),
        }
    }
}

impl Observation {
    /// A file of a device's queue.
    pub(super) fn queue(device: &Device, file: &str, value: impl Into<String>) -> Self {
        Self::block(device, &format!("queue/{file}"), value)
    }

    pub(super) fn block(device: &Device, file: &str, value: impl Into<String>) -> Self {
        Self::file(format!("/sys/block/{}/{file}", device.name), value)
    }

    /// What `ip -d -s link` tells of an interface.
    pub(super) fn link(interface: &Interface, field: &str, value: impl Into<String>) -> Self {
        Self::field(format!("ip -d -s link show {}", interface.name), field, value)
    }

    /// A field of the cloud's metadata about the instance.
    pub(super) fn metadata(field: impl Into<String>, value: impl Into<String>) -> Self {
        Self::field("instance metadata", field, value)
    }

    /// A fact that the user told.
    pub(crate) fn told(fact: &str, value: impl Into<String>) -> Self {
        Self::field("what you say", fact, value)
    }

    /// What stands in the documents.
    pub(crate) fn documented(of: impl Into<String>, value: impl Into<String>) -> Self {
        Self::field("documented limits", of, value)
    }

    /// An option of a mount.
    pub(super) fn mount(mount: &MountSeen, field: &str, value: impl Into<String>) -> Self {
        let field = format!("{}: {field}", mount.mount_point);
        Self::field("/proc/self/mountinfo", field, value)
    }

    /// A file that holds one value.
    pub fn file(file: impl Into<String>, value: impl Into<String>) -> Self {
        Self { file: file.into(), field: None, value: value.into() }
    }

    /// A field of a file.
    pub fn field(
        file: impl Into<String>,
        field: impl Into<String>,
        value: impl Into<String>,
    ) -> Self {
        Self { file: file.into(), field: Some(field.into()), value: value.into() }
    }
}
