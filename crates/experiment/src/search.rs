//! The search for caps: what is asked, and the single measurements it is made of.

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
    /// Whose caps.
    pub targets: Vec<SearchTarget>,
    /// Whether to write instead of to read.
    pub writes: bool,
    /// Settle for fewer points and wider intervals.
    pub quick: bool,
    /// Wait for bursts to end.
    pub burst: Option<BurstWatch>,
    /// What the targets are said to be, to set what was measured beside documented limits.
    #[serde(default, skip_serializing_if = "CloudChoice::is_empty")]
    pub cloud: CloudChoice,
    /// What must not come out, beyond which the exit code tells.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fail_if: Vec<Rule>,
    /// As of a [`Draft`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undecided: Option<UndecidedAs>,
    /// Seed of every random choice: offsets, order.
    pub seed: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SearchTarget {
    /// What it is, and its name.
    pub arm: Arm,
    /// Bytes of it that may be used.
    pub span_bytes: u64,
}

/// What is known of a search's targets once they are open.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Opened {
    /// [`SearchDraft::cloud`], and what the cloud tells of it.
    #[serde(default, skip_serializing_if = "CloudChoice::is_empty")]
    pub cloud: CloudChoice,
    /// Of each target, in their order.
    pub targets: Vec<OpenedTarget>,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct OpenedTarget {
    /// The smallest I/O that it takes, in bytes; `None` if that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smallest_io_bytes: Option<u32>,
    /// Limits that this machine itself is known to set, on the I/O that the search does.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub known: Vec<KnownLimit>,
}

/// How long to wait for the end of a burst.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BurstWatch {
    /// Longest load, in nanoseconds.
    pub longest_ns: u64,
    /// Pauses after which the burst is looked at again, in nanoseconds: credits come back in
    /// proportion, what a device had cached does not.
    pub pauses_ns: Vec<u64>,
}

/// A part of a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Region {
    /// Where it begins, in bytes.
    pub offset_bytes: u64,
    /// How long it is, in bytes.
    pub bytes: u64,
}

/// One measurement: random I/O of one size at one depth, or flows over a network path, on one target or
/// on several at once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Probe {
    pub purpose: ProbePurpose,
    /// Which targets, as indices, and where on each of them.
    pub places: Vec<(usize, Region)>,
    /// Size of each I/O.
    pub block_bytes: u32,
    /// I/Os in flight on each target.
    pub queue_depth: u32,
    /// Discarded start, in nanoseconds.
    pub ramp_ns: u64,
    /// Measured window, in nanoseconds.
    pub time_ns: u64,
    /// What goes over those targets that are network paths.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traffic: Option<Traffic>,
}

/// What a measurement of a search is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// To see whether a burst runs out.
    #[default]
    Saturate,
    /// To spend what credits have come back.
    SpendCredits,
    /// Nothing is measured: credits may come back.
    Rest,
    /// To see what has come back in a pause.
    AfterPause,
    OverDepth,
    OverSize,
    CapAgain,
    /// To see whether the rate holds still.
    Steadiness,
    /// To a peer, so many flows at once.
    StreamsTo(u32),
    StreamsFrom(u32),
    DatagramsTo(u32),
    Requests(u32),
    /// Of two targets.
    OneAlone,
    OtherAlone,
    BothAtOnce,
    /// What was not read before.
    ReadNew,
    ReadOnce,
    ReadAgain,
}

/// What a measurement was for, of a record of whatever format.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ProbePurpose {
    Known(Purpose),
    /// In the words of a record of format 2 or before.
    Said(String),
}

/// Load over a network path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Traffic {
    /// What a flow is: a stream, datagrams, or requests of which one is under way.
    pub engine: Engine,
    /// From the peer to here, and not to the peer.
    pub is_back: bool,
    /// Flows at the same time.
    pub flows: u32,
    /// Size of a block, a datagram or a request.
    pub block_bytes: u32,
}

impl SearchDraft {
    /// The search as it is from now on.
    ///
    /// # Errors
    /// Rules that it could neither break nor keep.
    pub fn resolve(self) -> Result<Search, Error> {
        self.validate_rules()?;
        Ok(Final::new(self))
    }

    /// The experiment that a rig makes the targets for.
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
    /// The load on the target at `place`, an index into [`Probe::places`].
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
        // Each block once before any comes again: a cache is not asked for what it just saw.
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
        about: "Load as much as there is room for, to find caps.".to_owned(),
        ramp_ns,
        time_ns,
        ..Workload::new(JOB, vec![job])
    }
}
