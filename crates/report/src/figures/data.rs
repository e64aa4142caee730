//! What the charts draw, as JSON inside the page: thinned out so that a page stays small however
//! long an experiment was.

use iotax_analyze::{Analysis, TrialPoint, thinned};
use serde::Serialize;

use super::forest::Group;
use super::machine::{Machine, machine};
use crate::words;

/// Points of throughput drawn in all. Beyond it neighbouring seconds are drawn as their mean.
const MAX_SERIES_POINTS: usize = 20_000;
/// Blocks of the schedule drawn; at 72 rem a cell is then still wide enough to see.
const MAX_SCHEDULE_BLOCKS: u32 = 120;

/// Everything the charts of trials need.
#[derive(Debug, Serialize)]
pub(crate) struct Drawn<'a> {
    /// Names of the arms; every other list refers to them by index.
    arms: Vec<String>,
    /// Rows of the forest plot.
    forest: &'a [Group],
    /// Percentile curves: per arm (quantile, nanoseconds).
    latency: Vec<Vec<(f64, u64)>>,
    /// Throughput.
    pub(crate) series: Series,
    /// Order of trials.
    pub(crate) schedule: Schedule,
    /// What the machine did.
    pub(crate) machine: Machine,
}

/// Throughput of every trial over the time of the experiment.
#[derive(Debug, Serialize)]
pub(crate) struct Series {
    /// Seconds that each point stands for.
    pub(crate) seconds_per_point: usize,
    /// One per trial that has a series.
    trials: Vec<Trace>,
}

/// One trial's throughput.
#[derive(Debug, Serialize)]
struct Trace {
    arm: usize,
    /// Seconds since the start of the experiment.
    start: f64,
    /// I/Os per second.
    iops: Vec<u32>,
    used: bool,
}

/// Blocks and the order of arms in them.
#[derive(Debug, Serialize)]
pub(crate) struct Schedule {
    /// Blocks drawn.
    pub(crate) shown_blocks: u32,
    /// Blocks there were.
    pub(crate) blocks: u32,
    /// (block, place in the block, arm, whether it was used).
    cells: Vec<(u32, u32, usize, bool)>,
}

/// Collects what the charts draw.
pub(crate) fn drawn<'a>(analysis: &Analysis, forest: &'a [Group]) -> Drawn<'a> {
    Drawn {
        arms: analysis.arms.iter().map(|arm| words::printable(&arm.name)).collect(),
        forest,
        latency: analysis
            .arms
            .iter()
            .map(|arm| arm.latency.iter().map(|p| (p.q, p.latency_ns)).collect())
            .collect(),
        series: series(analysis),
        schedule: schedule(analysis),
        machine: machine(analysis),
    }
}

/// JSON that can stand inside a `<script>` element: no character in it can end the element, open
/// a comment, or be a line end to a script parser but not to a JSON parser.
pub(super) fn embeddable(value: &impl Serialize) -> String {
    let json = serde_json::to_string(value).expect("chart data has string keys and plain values");
    json.replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
}

fn series(analysis: &Analysis) -> Series {
    let points: usize = analysis.trials.iter().map(|t| t.per_second_ios.len()).sum();
    let stride = points.div_ceil(MAX_SERIES_POINTS).max(1);
    let traces = analysis.trials.iter().filter(|t| !t.per_second_ios.is_empty()).filter_map(|t| {
        Some(Trace {
            arm: arm_index(analysis, t)?,
            start: (t.started_ns / 1_000_000) as f64 / 1e3,
            iops: thinned(&t.per_second_ios, stride),
            used: t.used,
        })
    });
    Series { seconds_per_point: stride, trials: traces.collect() }
}

fn schedule(analysis: &Analysis) -> Schedule {
    let blocks = analysis.trials.iter().map(|t| t.block.saturating_add(1)).max().unwrap_or(0);
    let shown_blocks = blocks.min(MAX_SCHEDULE_BLOCKS);
    let mut places = vec![0u32; shown_blocks as usize];
    let mut cells = Vec::new();
    for trial in &analysis.trials {
        let Some(place) = places.get_mut(trial.block as usize) else { continue };
        if let Some(arm) = arm_index(analysis, trial) {
            cells.push((trial.block, *place, arm, trial.used));
        }
        *place += 1;
    }
    Schedule { shown_blocks, blocks, cells }
}

fn arm_index(analysis: &Analysis, trial: &TrialPoint) -> Option<usize> {
    analysis.arms.iter().position(|arm| arm.name == trial.arm)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn embedded_json_cannot_leave_its_element() {
        let hostile = "</script><!--\u{2028}&";
        let json = embeddable(&hostile);
        assert_eq!(json, r#""\u003c/script\u003e\u003c!--\u2028\u0026""#);
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), hostile);
    }
}
