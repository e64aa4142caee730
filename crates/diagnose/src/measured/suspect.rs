//! What is suspected, and how sure that is.

use iotax_analyze::{QuantilePoint, SlowMode};
use iotax_caps::{BusySign, CapReason, PathQuantity};
use iotax_catalog::Source;
use iotax_experiment::documented::Documented;
use serde::Serialize;

use super::apart::PutIn;
use super::{above, device, limiter, memory, network, nfs, processor, waiting};
use crate::machine::why::{Why, families};
use crate::machine::{Component, Counted, Observation};

/// What is suspected to have made one arm or target as it was measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Diagnosis {
    /// Name of the arm or target.
    pub of: String,
    /// The surest first.
    pub suspects: Vec<Suspect>,
}

/// A known cause that a measurement points to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Suspect {
    /// The cause's name in the catalogue.
    pub cause: &'static str,
    /// How sure that is.
    pub confidence: Confidence,
    /// Share of the time of an I/O that it explains, 0 to 1; `None` if that cannot be said.
    pub explains: Option<f64>,
    /// What speaks for it.
    pub evidence: Vec<Evidence>,
    /// What speaks against it.
    pub against: Vec<Evidence>,
}

families! {
    /// What speaks for a cause, or against it.
    Evidence {
        Above(above::AboveEvidence),
        Crypt(above::CryptEvidence),
        Device(device::DeviceEvidence),
        Limiter(limiter::LimiterEvidence),
        Memory(memory::MemoryEvidence),
        Network(network::NetworkEvidence),
        Nfs(nfs::NfsEvidence),
        Processor(processor::ProcessorEvidence),
        Regime(limiter::RegimeEvidence),
        Stack(above::Between),
        Waiting(waiting::WaitingEvidence),
        Search(SearchEvidence),
        SlowMode(SlowMode),
        Seen(Observation),
        Found(FoundThere),
    } {
        Percentiles { mode: SlowMode, latency: Vec<QuantilePoint> },
        /// Another cause makes some I/Os wait, and others not.
        Explained { by: &'static str },
    }
}

/// What was found on the machine.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FoundThere {
    pub about: Vec<Component>,
    pub alike: Vec<Component>,
    pub why: Box<Why>,
}

/// What is suspected of several arms, by what it explains.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reasons {
    /// What sets an arm apart from the baseline, or it from the arm, and makes it the slower one.
    pub apart: Vec<Reason>,
    /// What holds for all arms, and so explains no difference; the evidence is that of one of them.
    pub alike: Vec<Suspect>,
    /// What else is suspected of single arms.
    pub others: Vec<Diagnosis>,
}

/// Why an arm is the slower one of two.
#[derive(Debug, Clone, PartialEq)]
pub struct Reason {
    pub of: String,
    /// The cause that it has and the other one has not, or not as much.
    pub suspect: Option<Suspect>,
    /// The layers of its own that iotax put in, and the time that they took.
    pub put_in: Option<PutIn>,
    /// The arm that the evidence is of, where several have the cause.
    pub evidence_of: Option<String>,
}

/// How sure a suspicion is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// It would look like this; so would other things.
    Possible,
    /// It fits better than what else was looked for.
    Likely,
    /// Its own measurement explains most of the time: counters or a test of its own say so.
    Sure,
}

/// Share of an I/O's time that a sure cause explains.
const MOST: f64 = 0.5;
/// Share of an I/O's time that a likely cause explains.
const MUCH: f64 = 0.25;

impl Confidence {
    /// The most that a cause is worth whose own measurement explains this share of an I/O's time.
    /// A symptom alone, of which nobody measured what it costs, makes nothing sure.
    pub(crate) fn of_share(share: Option<f64>) -> Self {
        match share {
            Some(share) if share >= MOST => Self::Sure,
            Some(share) if share < MUCH => Self::Possible,
            _ => Self::Likely,
        }
    }
}

impl Diagnosis {
    /// With the surest suspect first, and of those that are as sure the one that explains most.
    /// `None` if there are none.
    pub(crate) fn of(name: &str, suspects: Vec<Suspect>) -> Option<Self> {
        let suspects = Suspect::sorted(suspects);
        (!suspects.is_empty()).then(|| Self { of: name.to_owned(), suspects })
    }
}

impl Suspect {
    /// The surest first, and of those that are as sure the one that explains most.
    pub(crate) fn sorted(mut suspects: Vec<Self>) -> Vec<Self> {
        let explains = |suspect: &Self| suspect.explains.unwrap_or(0.0);
        suspects.sort_by(|a, b| {
            let surest_first = b.confidence.cmp(&a.confidence);
            surest_first.then_with(|| explains(b).total_cmp(&explains(a)))
        });
        suspects
    }

    /// Adds one: what has the same cause is one suspect, and both speak for it.
    pub(crate) fn merge(suspects: &mut Vec<Self>, new: Self) {
        let Some(known) = suspects.iter_mut().find(|known| known.cause == new.cause) else {
            suspects.push(new);
            return;
        };
        known.confidence = known.confidence.max(new.confidence);
        known.explains = match (known.explains, new.explains) {
            (Some(known), Some(new)) => Some(known.max(new)),
            (known, new) => known.or(new),
        };
        for (known, new) in [(&mut known.evidence, new.evidence), (&mut known.against, new.against)]
        {
            let more: Vec<_> = new.into_iter().filter(|new| !known.contains(new)).collect();
            known.extend(more);
        }
    }

    /// With one thing that speaks for it.
    pub(crate) fn new(
        cause: &'static str,
        confidence: Confidence,
        evidence: impl Into<Evidence>,
    ) -> Self {
        let (evidence, against) = (vec![evidence.into()], Vec::new());
        Self { cause, confidence, explains: None, evidence, against }
    }

    /// Explaining this share of the time, as far as it is known.
    pub(crate) fn explaining(mut self, share: impl Into<Option<f64>>) -> Self {
        let share = share.into().filter(|share| share.is_finite());
        self.explains = share.map(|share| share.clamp(0.0, 1.0));
        self
    }

    /// No surer than this.
    pub(crate) fn at_most(mut self, confidence: Confidence) -> Self {
        self.confidence = self.confidence.min(confidence);
        self
    }

    pub(crate) fn and<E: Into<Evidence>>(mut self, evidence: impl IntoIterator<Item = E>) -> Self {
        self.evidence.extend(evidence.into_iter().map(Into::into));
        self
    }

    pub(crate) fn but<E: Into<Evidence>>(mut self, against: impl IntoIterator<Item = E>) -> Self {
        self.against.extend(against.into_iter().map(Into::into));
        self
    }
}

/// What a search says of a cause.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SearchEvidence {
    // Why a cap is taken to be what it is.
    Cap(CapReason),
    // A cap beside the limits that are known.
    Beside(Documented),
    // Whose CPUs were in the way of a cap.
    Busy(BusySign),
    // Whose limit it is, and where that was read; `None`: on the machine.
    Source { of: String, source: Option<Source> },
    DeeperBroughtNoMore { depth: u32 },
    // So many times what lasts, and for how long.
    Burst { counted: Counted, times: f64, lasted_s: f64 },
    PathBurst { way: PathWay, times: f64, lasted_s: f64 },
    ReadAgain { times: f64, bytes_per_s: f64, latency_ns: f64 },
    // What was carried, and what is allowed; by this machine, or by documents.
    OnTheWire { way: PathWay, carried_bits_per_s: f64, allowed_bits_per_s: f64, is_here: bool },
    SmallPackets { way: PathWay, bytes: u32 },
    // The share that two reach at once of what they reach alone, and the overlap with its interval.
    Together { a: String, b: String, share: f64, overlap: [f64; 3] },
    TakesFromSame { other: String },
    // Why the cap of a target is this machine's own.
    Computed { target: String, why: CapReason },
}

/// What a cap of a network path is of.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PathWay {
    pub quantity: PathQuantity,
    pub is_per_flow: bool,
}
