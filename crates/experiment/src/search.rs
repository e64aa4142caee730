//! The search for caps: the request, and the single measurements that it consists of.

use iotax_layers::Error;
use serde::{Deserialize, Serialize};

use crate::cloud::CloudChoice;
use crate::documented::KnownLimit;
use crate::engine::Engine;
use crate::rule::{Rule, UndecidedAs};
use crate::spec::{Arm, Design, Draft, Final, Spec};
use crate::workload::{BlockSizes, Files, Job, Pattern, Workload};

/// Name of the job of every probe, and of its file in a directory.
const JOB: &str = "limits";

/// A search for caps, resolved.
pub type Search = Final<SearchDraft>;

/// What to find out, and how thoroughly.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SearchDraft {
    /// The targets whose caps are searched for.
    pub targets: Vec<SearchTarget>,
    /// Whether to write instead of read.
    pub writes: bool,
    /// Whether fewer points and wider intervals are enough.
    pub quick: bool,
    /// Measuring time of a target, in nanoseconds, after which its search refines nothing any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_time_ns: Option<u64>,
    /// Whether to wait for bursts to end.
    pub burst: Option<BurstWatch>,
    /// What the targets are, to show results next to documented limits.
    #[serde(default, skip_serializing_if = "CloudChoice::is_empty")]
    pub cloud: CloudChoice,
    /// Conditions that must not hold; they determine the exit code.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fail_if: Vec<Rule>,
    /// As in a [`Draft`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undecided: Option<UndecidedAs>,
    /// Seed for all random choices: offsets, order.
    pub seed: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SearchTarget {
    /// The target and its name.
    pub arm: Arm,
    /// Bytes of it that may be used.
    pub span_bytes: u64,
}

/// Facts about the targets of a search, known once they are open.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Opened {
    /// [`SearchDraft::cloud`], and the report of the cloud.
    #[serde(default, skip_serializing_if = "CloudChoice::is_empty")]
    pub cloud: CloudChoice,
    /// One per target, in order.
    pub targets: Vec<OpenedTarget>,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct OpenedTarget {
    /// Its smallest supported I/O, in bytes; `None` if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smallest_io_bytes: Option<u32>,
    /// Known limits of this machine on the I/O of the search.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub known: Vec<KnownLimit>,
}

/// How long to wait for the end of a burst.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BurstWatch {
    /// Maximum duration of the load, in nanoseconds.
    pub longest_ns: u64,
    /// Pauses after which the burst is checked again, in nanoseconds: credits come back in
    /// proportion to the pause, data in a device's cache does not.
    pub pauses_ns: Vec<u64>,
}

/// A part of a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Region {
    /// Its start, in bytes.
    pub offset_bytes: u64,
    /// Its length, in bytes.
    pub bytes: u64,
}

/// One measurement: random I/O of one size at one depth, or flows over a network path, on one
/// target or on several at the same time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Probe {
    pub purpose: ProbePurpose,
    /// The targets, by index, with the region on each of them.
    pub places: Vec<(usize, Region)>,
    /// Size of each I/O.
    pub block_bytes: u32,
    /// I/Os in flight on each target.
    pub queue_depth: u32,
    /// Length of the ramp, in nanoseconds.
    pub ramp_ns: u64,
    /// Measured window, in nanoseconds.
    pub time_ns: u64,
    /// The load on targets that are network paths.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traffic: Option<Traffic>,
}

/// The purpose of a measurement in a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// Check whether a burst runs out.
    #[default]
    Saturate,
    /// Spend credits that have come back.
    SpendCredits,
    /// No measurement: credits may come back.
    Rest,
    /// Check what has come back in a pause.
    AfterPause,
    OverDepth,
    OverSize,
    CapAgain,
    /// Check whether the rate is steady.
    Steadiness,
    /// This many flows to a peer at the same time.
    StreamsTo(u32),
    StreamsFrom(u32),
    DatagramsTo(u32),
    Requests(u32),
    /// One of two targets.
    OneAlone,
    OtherAlone,
    BothAtOnce,
    /// Read data that was not read before.
    ReadNew,
    ReadOnce,
    ReadAgain,
}

/// The purpose of a measurement, from a record of any format.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ProbePurpose {
    Known(Purpose),
    /// Text from a record of format 2 or earlier.
    Said(String),
}

/// Load over a network path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Traffic {
    /// Kind of flow: a stream, datagrams, or requests one at a time.
    pub engine: Engine,
    /// Whether it is from the peer to here.
    pub is_back: bool,
    /// Number of simultaneous flows.
    pub flows: u32,
    /// Size of a block, a datagram or a request.
    pub block_bytes: u32,
}

impl SearchDraft {
    /// The final search.
    ///
    /// # Errors
    /// Rules that it cannot decide.
    pub fn resolve(self) -> Result<Search, Error> {
        self.validate_rules()?;
        Ok(Final::new(self))
    }

    /// The experiment for which a rig creates the targets.
    pub fn spec(&self) -> Spec {
        self.draft().unchecked()
    }

    pub fn draft(&self) -> Draft {
        let span_bytes = self.targets.iter().map(|target| target.span_bytes).max();
        let span_bytes = span_bytes.unwrap_or(0).max(1 << 20);
        let whole = Region { offset_bytes: 0, bytes: span_bytes };
        let phase = workload(io(self.writes, whole, 4096, 1), 0, 1);
        let arms = self.targets.iter().map(|target| target.arm.clone()).collect();
        let draft = Draft::new(vec![phase], arms, Design::Single);
        Draft { seed: self.seed, cloud: self.cloud.clone(), ..draft }
    }
}

impl Probe {
    /// The load on the target at `place`, an index in [`Probe::places`].
    pub fn workload(&self, place: usize, search: &Search) -> Workload {
        let (target, region) = self.places[place];
        let job = match self.traffic {
            Some(traffic) if search.targets[target].arm.target.is_network() => traffic.job(),
            _ => io(search.writes, region, self.block_bytes, self.queue_depth),
        };
        workload(job, self.ramp_ns, self.time_ns)
    }
}

impl Traffic {
    fn job(self) -> Job {
        Job {
            engine: self.engine,
            threads: self.flows,
            read_percent: if self.is_back { 100 } else { 0 },
            block_sizes: BlockSizes::Fixed(self.block_bytes),
            ..Job::new(JOB)
        }
    }
}

fn io(writes: bool, region: Region, block_bytes: u32, queue_depth: u32) -> Job {
    Job {
        engine: Engine::IoUring,
        queue_depth,
        read_percent: if writes { 0 } else { 100 },
        // Each block once before any repeats, so that a cache does not have it yet.
        pattern: Pattern::Shuffled,
        block_sizes: BlockSizes::Fixed(block_bytes),
        files: Files::Shared(JOB.to_owned()),
        size_bytes: region.bytes,
        offset_bytes: region.offset_bytes,
        direct: true,
        ..Job::new(JOB)
    }
}

fn workload(job: Job, ramp_ns: u64, time_ns: u64) -> Workload {
    Workload {
        about: "Loads the target to find its caps.".to_owned(),
        ramp_ns,
        time_ns,
        ..Workload::new(JOB, vec![job])
    }
}
