//! Token buckets.

use crate::declaration::prelude::*;

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
    /// How long a full bucket lasts at the burst rate, in nanoseconds. Present exactly if there is
    /// a burst rate.
    pub credits_ns: Option<u64>,
    /// An I/O counts once per started unit of this many bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub io_unit_bytes: Option<u64>,
    /// Which I/Os are limited.
    #[serde(default, skip_serializing_if = "Counts::is_both")]
    pub counts: Counts,
    /// Throttles in one group share one bucket.
    pub group: Option<String>,
}

/// Which I/Os a limit counts; others pass.
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

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
    const fn is_both(&self) -> bool {
        matches!(self, Self::Both)
    }
}

impl Field for Counts {
    fn from_argument(arguments: &Arguments<'_>, name: &'static str) -> Result<Self, Error> {
        let word = String::from_argument(arguments, name)?;
        let of_word =
            [Self::Both, Self::Reads, Self::Writes].into_iter().find(|of| of.name() == word);
        Ok(of_word.unwrap_or_default())
    }

    fn value(&self) -> Option<Value> {
        Some(Value::Text(self.name().to_owned()))
    }
}

impl Declared for Throttle {
    const WORDS: &'static [LayerInfo] = &[LayerInfo {
        name: "throttle",
        about: "token-bucket limits, like those of cloud disks",
        example: "throttle(iops=4000, bw=32M)",
        world: World::Both,
        takes: &[Form::File],
        gives: Some(Form::File),
        does: Does::Limits,
        submitter: Submitter::Process,
        needs: &[Need::Root, Need::FUSE],
        parameters: Self::PARAMETERS,
    }];

    parameters! {
        iops: parameter("iops", Unit::Iops, None, "sustained I/Os per second"),
        bw_bytes: parameter("bw", Unit::Bandwidth, None, "sustained bytes per second"),
        burst_iops: parameter("burst_iops", Unit::Iops, None, "I/Os per second while credits last"),
        burst_bw_bytes: parameter("burst_bw", Unit::Bandwidth, None,
            "bytes per second while credits last"),
        credits_ns: parameter("credits", Unit::Duration, None,
            "how long a full bucket lasts at the burst rate"),
        io_unit_bytes: parameter("unit", Unit::Size, None,
            "an I/O larger than this counts as several I/Os"),
        counts: parameter("counts", Unit::Choice(&["both", "reads", "writes"]), Some("both"),
            "which I/Os to limit"),
        group: parameter("group", Unit::Name, None, "throttles in one group share their buckets"),
    }

    fn validate(&self, arguments: &Arguments<'_>) -> Result<(), Error> {
        let counts = self.io_unit_bytes.is_none_or(|unit| unit > 0 && self.iops.is_some());
        let problem = "must be above 0, and iops must also be set";
        arguments.demand(counts, "unit", problem, "for example iops=500, unit=256k")?;
        let is_limit = self.iops.is_some() || self.bw_bytes.is_some();
        let advice = "for example throttle(iops=4000), or throttle(iops=4000, bw=32M)";
        arguments.demand(is_limit, "iops", "iops or bw is required", advice)?;
        for (name, burst, base) in [
            ("burst_iops", self.burst_iops, self.iops),
            ("burst_bw", self.burst_bw_bytes, self.bw_bytes),
        ] {
            let is_above = burst.is_none_or(|burst| base.is_some_and(|base| burst > base));
            let problem = "must be above the sustained rate, which is also required";
            arguments.demand(is_above, name, problem, "for example iops=500, burst_iops=3500")?;
        }
        let bursts = self.burst_iops.is_some() || self.burst_bw_bytes.is_some();
        let is_paid = !bursts || self.credits_ns.is_some_and(|ns| ns > 0);
        let problem =
            "a burst rate requires credits, the time that a full bucket lasts at that rate";
        let advice = "for example credits=30m, as on Azure disks";
        arguments.demand(is_paid, "credits", problem, advice)?;
        let problem = "credits have no effect without a burst rate";
        let is_of_use = bursts || self.credits_ns.is_none();
        arguments.demand(is_of_use, "credits", problem, "add burst_iops or burst_bw")
    }
}
