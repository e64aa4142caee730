//! What is found where no cap can be stated.

use iotax_stats::levels::{TwoLevels, two_levels};
use serde::{Deserialize, Serialize};

use crate::reason::BusySign;

/// No cap is stated whose interval spans more: its ends are twice apart.
pub(crate) const STATED: f64 = std::f64::consts::LN_2;

/// A cap that the search could not come to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Unreached {
    /// `iops`, `bw_bytes`, or what a cap of a path is called.
    pub quantity: String,
    /// What was reached, per second: the cap is not below it.
    pub at_least: f64,
    /// Size of the I/Os it was reached with.
    pub block_bytes: u32,
    /// What was in the way.
    pub obstacle: Obstacle,
}

/// What keeps a search from coming to a cap.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Obstacle {
    /// With I/Os of this size another cap binds first.
    OtherCap(BlockEnd),
    /// This machine's CPUs did not get through more, or others had them.
    ThisMachine(BusySign),
    /// The time limit of the search, before its measurements agreed.
    Time,
}

/// Which of the sizes an I/O has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BlockEnd {
    /// The smallest that the target takes: the cap on bytes binds first.
    Smallest,
    /// The smallest that was tried: the same.
    Small,
    /// The largest: the cap on I/Os binds first.
    Largest,
}

/// A rate that does not hold still.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Unsteady {
    /// `iops`, `bw_bytes`, or what a cap of a path is called.
    pub quantity: String,
    /// Lower end of the interval that 95 % of the windows are in, per second.
    pub lo: f64,
    /// Its upper end.
    pub hi: f64,
    /// How many windows that are.
    pub windows: usize,
    /// The levels that it changes between, ascending; none if there are no two.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<UnsteadyLevel>,
    /// From one change to the next of its kind, in seconds, if that is regular.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub period_s: Option<f64>,
    /// What else may explain it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside: Option<BusySign>,
}

/// A level that an unsteady rate comes to.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct UnsteadyLevel {
    /// The level, per second.
    pub per_s: f64,
    /// Share of the time.
    pub share: f64,
}

impl Unsteady {
    /// Of a rate whose windows scatter.
    pub(crate) fn scattered(quantity: &str, windows: &[f64]) -> Self {
        let mut sorted = windows.to_vec();
        sorted.sort_by(f64::total_cmp);
        let last = sorted.len().saturating_sub(1);
        let outside = sorted.len() / 40;
        Self {
            quantity: quantity.to_owned(),
            lo: sorted.get(outside).copied().unwrap_or(0.0),
            hi: sorted.get(last - outside).copied().unwrap_or(0.0),
            windows: sorted.len(),
            levels: Vec::new(),
            period_s: None,
            beside: None,
        }
    }

    /// Of a rate that changes between two levels; windows of one second make its period one in
    /// seconds.
    pub(crate) fn between(quantity: &str, windows: &[f64], levels: TwoLevels) -> Self {
        let TwoLevels { low, high, low_share, period, .. } = levels;
        let level = |(per_s, share)| UnsteadyLevel { per_s, share };
        Self {
            levels: [(low, low_share), (high, 1.0 - low_share)].map(level).to_vec(),
            period_s: period,
            ..Self::scattered(quantity, windows)
        }
    }
}

/// The two levels of a series that comes back to the higher one: a burst that has run out does not.
pub(crate) fn changes(series: &[f64]) -> Option<TwoLevels> {
    two_levels(series).filter(|levels| levels.rises > 0)
}
