//! What a search for caps found.

use iotax_experiment::documented::{Documented, DocumentedLimit, RoleNote};
use iotax_experiment::rule::RuleOutcome;
use iotax_experiment::{ProbePurpose, Rule, Search, Traffic};
use serde::{Deserialize, Serialize};

use crate::probe::Ended;
use crate::reason::CapReason;
use crate::unstated::{Obstacle, Unreached, Unsteady};

pub const LIMITS_ANALYSIS_FORMAT: u32 = 2;

/// The result of a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Caps {
    pub format: u32,
    /// One per target, in the order asked for.
    pub targets: Vec<TargetCaps>,
    /// One per pair of targets and quantity.
    pub sharing: Vec<Sharing>,
    /// One per target and cap for which anything is documented.
    pub documented: Vec<Documented>,
    /// What became of rules that were set beforehand, one per rule and cap.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<CapJudgment>,
    /// All levels that were measured, in their order.
    pub levels: Vec<Level>,
    /// Why it ended before its time, if it did.
    pub ended: Option<Ended>,
    /// What else is to be known of it.
    #[serde(default)]
    pub notes: Vec<CapNote>,
}

/// What was found of one target.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct TargetCaps {
    pub name: String,
    /// Cap on I/Os per second.
    pub iops: Option<Cap>,
    /// Cap on bytes per second.
    pub bw_bytes: Option<Cap>,
    /// Caps that the search could not come to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unreached: Vec<Unreached>,
    /// Rates that do not hold still, and so have no cap that could be stated.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unsteady: Vec<Unsteady>,
    /// Caps of a network path, each way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<PathCap>,
    /// The smallest depth, of those measured, that reaches 95 % of the plateau.
    pub useful_depth: Option<u32>,
    /// Mean latency of one I/O alone, in nanoseconds.
    pub unloaded_latency_ns: Option<f64>,
    /// Throughput and latency over queue depth, ascending.
    pub ladder: Vec<DepthStep>,
    /// Whether the ladder ends in a plateau, and how flat it is.
    #[serde(rename = "evidence")]
    pub plateau: Plateau,
    /// Throughput over block size, and the two models.
    pub sizes: Option<SizeFit>,
    /// Whether what was read before is answered from above the cap.
    pub second_pass: Option<SecondPass>,
    /// I/Os per second in each second of the saturating load at the start.
    pub soak_iops: Vec<f64>,
    /// Bytes per second in each second of the saturating load with large blocks.
    pub soak_bw_bytes: Vec<f64>,
    /// A burst ran out in the midst of the search, and the steps were done again.
    pub fell_during_search: bool,
    /// How often the whole span was read: beyond 1 a cache may have answered.
    pub passes: f64,
    /// I/Os that failed.
    pub errors: u64,
    /// The first error, for people.
    pub first_error: Option<String>,
}

/// A cap with its interval; per second.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cap {
    /// The estimate.
    pub cap: f64,
    /// Lower end of the interval.
    pub lo: f64,
    /// Upper end of the interval.
    pub hi: f64,
    /// Measurements behind it.
    pub measurements: u32,
    /// Size of the I/Os it was measured with.
    pub block_bytes: u32,
    /// Queue depth it was measured with.
    pub queue_depth: u32,
    /// What sets it.
    pub kind: CapKind,
    /// Why it is taken to be of that kind.
    pub reason: CapReason,
    /// What can be had above it for a while.
    pub burst: Option<Burst>,
}

/// A cap of a network path.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PathCap {
    /// What it counts, and which way.
    pub quantity: PathQuantity,
    /// It holds each flow, and the cap on all of them is higher.
    #[serde(default, skip_serializing_if = "is_default")]
    pub is_per_flow: bool,
    /// What it was measured with.
    pub traffic: Traffic,
    /// What was carried, headers not counted.
    #[serde(flatten)]
    pub cap: Cap,
    /// Throughput stopped to grow with the number of flows.
    pub is_plateau: bool,
    /// Throughput over the number of flows, ascending.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<FlowStep>,
    /// What carried it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wire: Option<Wire>,
}

/// What is counted on a network path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PathQuantity {
    /// Bytes of TCP streams to the peer.
    BytesTo,
    /// Bytes of TCP streams from the peer.
    BytesFrom,
    /// Small datagrams that come to the peer.
    PacketsTo,
    /// Small requests and their answers: a packet each way.
    Requests,
}

impl PathCap {
    /// What it is called where quantities have names: `bw_bytes_to`, `bw_bytes_from_flow`.
    pub const fn name(&self) -> &'static str {
        self.quantity.name(self.is_per_flow)
    }
}

impl PathQuantity {
    /// What it is called where quantities have names, of one flow or of all.
    pub const fn name(self, is_per_flow: bool) -> &'static str {
        match (self, is_per_flow) {
            (Self::BytesTo, false) => "bw_bytes_to",
            (Self::BytesFrom, false) => "bw_bytes_from",
            (Self::PacketsTo, false) => "packets_to",
            (Self::Requests, false) => "requests",
            (Self::BytesTo, true) => "bw_bytes_to_flow",
            (Self::BytesFrom, true) => "bw_bytes_from_flow",
            (Self::PacketsTo, true) => "packets_to_flow",
            (Self::Requests, true) => "requests_flow",
        }
    }

    pub const ALL: [Self; 4] = [Self::BytesTo, Self::BytesFrom, Self::PacketsTo, Self::Requests];

    /// Whether it counts bytes.
    pub const fn is_bytes(self) -> bool {
        matches!(self, Self::BytesTo | Self::BytesFrom)
    }
}

/// So many flows at once.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct FlowStep {
    /// How many.
    pub flows: u32,
    /// Bytes or packets per second of all of them.
    pub per_s: f64,
}

/// Frames as they leave the interface that connections go through.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Wire {
    /// Bytes of a frame, its headers included.
    pub frame_bytes: u64,
    pub data_bytes: u64,
    pub mtu_bytes: u64,
    /// Bytes of frames per second.
    pub per_s: f64,
}

/// What sets a cap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CapKind {
    /// A limiter.
    Throttle,
    /// The device: all it has to serve requests with is busy.
    SaturatedDevice,
    /// This machine's CPUs.
    ThisMachine,
    /// Something outside this machine; the measurements do not tell what.
    External,
}

/// A burst that was watched running out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Burst {
    /// Rate during the burst, per second.
    pub per_s: f64,
    /// What was had beyond the cap: I/Os or bytes.
    pub size: f64,
    /// How long it lasted, in seconds.
    pub lasted_s: f64,
    /// What came back in pauses.
    pub recoveries: Vec<Recovery>,
    /// What comes back per second of rest, if pauses were made: a token bucket's refill.
    pub refill_per_s: Option<f64>,
}

/// What came back in one pause.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Recovery {
    /// Length of the pause, in seconds.
    pub pause_s: f64,
    /// What was had beyond the cap after it.
    pub size: f64,
}

/// One depth of the ladder.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct DepthStep {
    /// I/Os in flight.
    pub queue_depth: u32,
    /// I/Os per second.
    pub iops: f64,
    /// Mean latency in nanoseconds.
    pub mean_latency_ns: f64,
}

/// What the decision about a plateau rests on.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Plateau {
    /// Whether throughput stopped to grow with depth while latency grew in proportion.
    pub is_plateau: bool,
    /// Slope of ln throughput over ln depth at the top.
    pub throughput_slope: f64,
    /// Slope of ln latency over ln depth at the top.
    pub latency_slope: f64,
    /// Largest deviation from Little's law, as a share: I/Os in flight counted, against throughput
    /// times latency.
    pub littles_law_off: f64,
    /// Share of its time that the load's thread computed at the plateau, if that can be told.
    pub thread_busy: Option<f64>,
    /// Share of the time of all kernel threads that grew with the load, and so was spent on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel_threads_share: Option<f64>,
}

/// Throughput over block size, and two models of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SizeFit {
    /// (block size in bytes, I/Os per second), ascending.
    pub points: Vec<(u32, f64)>,
    /// How many of them, from the first, the models are fitted to: the others are of I/Os so large
    /// that they seem to be counted as several.
    pub fitted: usize,
    /// Sizes with which this machine's CPUs were busy.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub computed: Vec<u32>,
    /// Sizes, the smallest and the largest ones, at which this machine's CPUs set the rate, and
    /// that the models leave out because they would hide what sets it at the others.
    #[serde(default)]
    pub cpu_bound: CpuBoundSizes,
    /// Sizes that the models leave out because they had less than the others allow.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disturbed: Vec<u32>,
    /// The lower of a cap on I/Os and a cap on bytes: a kink.
    pub throttle: Fit,
    /// A fixed time per I/O plus a time per byte: a curve.
    pub device: Fit,
}

/// How many sizes at the two ends of the range were computed and not waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CpuBoundSizes {
    pub smallest: usize,
    /// Of the largest that are not counted as several.
    pub largest: usize,
}

/// A model with two parameters, fitted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Fit {
    /// I/Os per second of the smallest blocks, as the model has it; `None` if bytes alone count.
    pub iops: Option<f64>,
    /// Bytes per second of the largest blocks, as the model has it; `None` if I/Os alone count.
    pub bw_bytes: Option<f64>,
    /// Root mean square of the relative deviations.
    pub rms: f64,
}

/// Reading again what was read before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SecondPass {
    /// Whether the second pass was clearly faster: something above the cap remembers.
    pub hits: bool,
    /// Throughput of the second pass over that of I/Os of this size where nothing was read before.
    pub ratio: f64,
    /// Bytes per second of the second pass.
    pub bw_bytes: f64,
    /// Mean latency of the second pass, in nanoseconds.
    pub mean_latency_ns: f64,
    /// Size of its I/Os.
    pub block_bytes: u32,
    /// The largest span that was answered from above.
    pub holds_bytes: Option<u64>,
    /// The smallest span that was not, if the search came to it.
    pub evicts_bytes: Option<u64>,
}

/// Whether two targets share a bucket.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sharing {
    /// Name of one target.
    pub a: String,
    /// Name of the other.
    pub b: String,
    /// `iops` or `bw_bytes`.
    pub quantity: String,
    /// One alone, per second.
    pub a_alone: f64,
    /// The other alone, per second.
    pub b_alone: f64,
    /// Both at once, per second.
    pub together: f64,
    /// (A + B - AB) / min(A, B): 0 separate, 1 shared.
    pub phi: f64,
    /// Lower end of its interval.
    pub lo: f64,
    /// Upper end of its interval.
    pub hi: f64,
    /// Blocks of three measurements.
    pub blocks: u32,
    /// The decision.
    pub verdict: Shared,
}

/// Whether a bucket is shared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shared {
    /// Each has its own.
    Separate,
    /// One for both.
    Shared,
    /// Their own, and a common one above that binds when both are busy.
    Partial,
    /// The interval is too wide to tell.
    Undecided,
}

/// What a search says of a rule, about one cap.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CapJudgment {
    pub rule: Rule,
    pub of: String,
    /// `iops` or `bw_bytes`; `None` if nothing is documented of either.
    pub quantity: Option<String>,
    /// What the cap says.
    pub outcome: RuleOutcome,
    /// The cap, and the ends of its interval; `None` if it was not found.
    pub found: Option<[f64; 3]>,
    /// The documented limit that it is held against.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<DocumentedLimit>,
    /// Of a rule that is undecided because its limit is within the interval: the cap nearest to the
    /// limit that would have broken it with an interval as wide.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detectable: Option<f64>,
    /// Why nothing is decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<Undecided>,
}

/// Why a search does not decide a rule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Undecided {
    /// Nothing that is documented of it is known.
    NothingDocumented,
    /// The rule's limit lies within the interval.
    WithinInterval,
    /// The cap is not known to be the most that can be had.
    MayGiveMore(CapReason),
    /// What was in the way, and the size of the I/Os.
    NotReached(Obstacle, u32),
    Unsteady,
    NoCap,
    /// In the words of a record of format 1.
    Said(String),
}

/// What else is to be known of a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CapNote {
    /// Whether these two share was not tested, since one of them is unsteady.
    SharingUntested { a: String, b: String, unsteady: String },
    /// Of a disk of a cloud and what it does there.
    Role(RoleNote),
    /// Time was up before everything was refined that the results suggested.
    TimeLimit,
    /// This version would have made other probes than the one that concluded.
    ConcludedBy { version: String },
    /// What its record lacks, as whoever read it tells it; or in the words of one of format 1.
    Said(String),
}

/// One level that was measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Level {
    /// Index of the target.
    pub target: usize,
    pub purpose: ProbePurpose,
    /// Size of I/Os.
    pub block_bytes: u32,
    /// I/Os in flight.
    pub queue_depth: u32,
    /// I/Os per second.
    pub iops: f64,
    /// Bytes per second.
    pub bw_bytes: f64,
    /// Mean latency in nanoseconds.
    pub mean_latency_ns: f64,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl SizeFit {
    /// The points whose I/Os are counted as one each.
    pub(crate) fn single_points(&self) -> &[(u32, f64)] {
        &self.points[..self.fitted.min(self.points.len())]
    }

    /// Of these, the points that the models are fitted to: where this machine waited.
    pub(crate) fn fitted_points(&self) -> &[(u32, f64)] {
        let single = self.single_points();
        let end = single.len().saturating_sub(self.cpu_bound.largest);
        &single[self.cpu_bound.smallest.min(end)..end]
    }
}

impl Caps {
    pub(crate) fn of(search: &Search) -> Self {
        let named = |name: &String| TargetCaps { name: name.clone(), ..TargetCaps::default() };
        Self {
            format: LIMITS_ANALYSIS_FORMAT,
            targets: search.targets.iter().map(|target| named(&target.arm.name)).collect(),
            sharing: Vec::new(),
            documented: Vec::new(),
            rules: Vec::new(),
            levels: Vec::new(),
            ended: None,
            notes: Vec::new(),
        }
    }
}
