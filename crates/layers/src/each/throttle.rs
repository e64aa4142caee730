//! Token buckets.

use serde::{Deserialize, Serialize};

use crate::declaration::info::{Does, Form, LayerInfo, Submitter, World, parameter};
use crate::declaration::need::Need;
use crate::declaration::{Arguments, Declared, Value, Values};
use crate::error::Error;
use crate::units::Unit;

/// Token-bucket limits; absent means unlimited.
///
/// Each limit with a burst is one bucket: it drains at the burst rate, refills at the sustained
/// rate, and a full one (all start full) holds `(burst - sustained) * credits` tokens. So credits
/// are a *duration*, as providers document theirs ("30 minutes at the maximum burst rate"), and
/// one value serves I/Os and bytes alike.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Throttle {
    /// Sustained I/Os per second.
    pub iops: Option<f64>,
    /// Sustained bytes per second.
    pub bw_bytes: Option<f64>,
    /// I/Os per second while credits last.
    pub burst_iops: Option<f64>,
    /// Bytes per second while credits last.
    pub burst_bw_bytes: Option<f64>,
    /// How long a full bucket pays for full burst, in nanoseconds. Given exactly when there is a
    /// burst rate.
    pub credits_ns: Option<u64>,
    /// An I/O counts as one for each unit of this many bytes that it has or begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub io_unit_bytes: Option<u64>,
    /// Which I/Os are limited.
    #[serde(default, skip_serializing_if = "Counts::is_both")]
    pub counts: Counts,
    /// Throttles of one group share one bucket.
    pub group: Option<String>,
}

/// Which I/Os a limit counts; others pass it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Counts {
    /// Reads and writes.
    #[default]
    Both,
    Reads,
    Writes,
}

impl Counts {
    /// The word in stack text.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Both => "both",
            Self::Reads => "reads",
            Self::Writes => "writes",
        }
    }

    fn named(word: &str) -> Option<Self> {
        [Self::Both, Self::Reads, Self::Writes].into_iter().find(|counts| counts.name() == word)
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
    const fn is_both(&self) -> bool {
        matches!(self, Self::Both)
    }
}

impl Declared for Throttle {
    const WORDS: &'static [LayerInfo] = &[LayerInfo {
        name: "throttle",
        about: "token buckets, as cloud disks are limited by",
        example: "throttle(iops=4000, bw=32M)",
        world: World::Both,
        takes: &[Form::File],
        gives: Some(Form::File),
        does: Does::Limits,
        submitter: Submitter::Process,
        needs: &[Need::Root, Need::FUSE],
        parameters: &[
            parameter("iops", Unit::Iops, None, "sustained I/Os per second"),
            parameter("bw", Unit::Bandwidth, None, "sustained bytes per second"),
            parameter("burst_iops", Unit::Iops, None, "I/Os per second while credits last"),
            parameter("burst_bw", Unit::Bandwidth, None, "bytes per second while credits last"),
            parameter(
                "credits",
                Unit::Duration,
                None,
                "how long a full bucket pays for full burst",
            ),
            parameter("unit", Unit::Size, None, "an I/O counts once for each of these it begins"),
            parameter(
                "counts",
                Unit::Choice(&["both", "reads", "writes"]),
                Some("both"),
                "what is limited; the rest passes",
            ),
            parameter("group", Unit::Name, None, "throttles of one group share their buckets"),
        ],
    }];

    fn from_arguments(arguments: &Arguments<'_>) -> Result<Self, Error> {
        let limits = Self {
            iops: arguments.rate("iops")?,
            bw_bytes: arguments.rate("bw")?,
            burst_iops: arguments.rate("burst_iops")?,
            burst_bw_bytes: arguments.rate("burst_bw")?,
            credits_ns: arguments.whole_if_given("credits"),
            io_unit_bytes: arguments.whole_if_given("unit"),
            counts: arguments
                .text("counts")
                .and_then(|text| Counts::named(&text))
                .unwrap_or_default(),
            group: arguments.text("group"),
        };
        if limits.io_unit_bytes.is_some_and(|unit| unit == 0 || limits.iops.is_none()) {
            let problem = "must be above 0, and have a limit on I/Os to count for";
            return Err(arguments.refuse("unit", problem, "for example iops=500, unit=256k"));
        }
        if limits.iops.is_none() && limits.bw_bytes.is_none() {
            let advice = "write throttle(iops=4000), throttle(bw=32M) or both";
            return Err(arguments.refuse("iops", "without iops or bw nothing is limited", advice));
        }
        for (name, burst, base) in [
            ("burst_iops", limits.burst_iops, limits.iops),
            ("burst_bw", limits.burst_bw_bytes, limits.bw_bytes),
        ] {
            if burst.is_some_and(|burst| base.is_none_or(|base| burst <= base)) {
                let problem = "must be above the sustained rate, which must be given too";
                return Err(arguments.refuse(
                    name,
                    problem,
                    "for example iops=500, burst_iops=3500",
                ));
            }
        }
        let bursts = limits.burst_iops.is_some() || limits.burst_bw_bytes.is_some();
        match (bursts, limits.credits_ns) {
            (true, None | Some(0)) => Err(arguments.refuse(
                "credits",
                "a burst needs to know how long a full bucket pays for it",
                "for example credits=30m, as Azure's disks have",
            )),
            (false, Some(_)) => Err(arguments.refuse(
                "credits",
                "credits without a burst rate buy nothing",
                "add burst_iops or burst_bw",
            )),
            _ => Ok(limits),
        }
    }

    fn values(&self) -> Values {
        vec![
            ("iops", self.iops.map(Value::from)),
            ("bw", self.bw_bytes.map(Value::from)),
            ("burst_iops", self.burst_iops.map(Value::from)),
            ("burst_bw", self.burst_bw_bytes.map(Value::from)),
            ("credits", self.credits_ns.map(Value::from)),
            ("unit", self.io_unit_bytes.map(Value::from)),
            ("counts", Some(self.counts.name().to_owned().into())),
            ("group", self.group.clone().map(Value::from)),
        ]
    }
}
