//! Captions that say how to read a chart.

use iotax_analyze::{Analysis, Quantity};
use iotax_caps::PathQuantity;
use iotax_experiment::Design;
use iotax_quantity::{capital, percent};
use iotax_record::ExperimentHead;

use crate::name::printable;
use crate::{provenance, units};

/// In a search: throughput and latency over queue depth.
pub const DEPTH_IOPS: &str = "4 KiB I/Os, both axes logarithmic. Dashed: the cap. Where throughput \
                              is flat, additional I/Os in flight only add waiting time.";
pub const DEPTH_LATENCY: &str = "On a plateau, latency grows with the queue depth.";
/// In a search: over time, under full load.
pub const SOAK_IOPS: &str = "Dashed: the sustained cap. The part above the cap is the burst.";
pub const SOAK_BANDWIDTH: &str = "1 MiB blocks.";
pub const SOAK_PATH: &str = "Four streams. Dashed: the sustained cap.";
/// Several phases, one below the other.
pub const OVER_PHASES: &str = "Square: estimate. Line: interval. Band: margin; arms that differ by \
                               less count as equal. n: number of blocks. All axes have the same \
                               scale, so arms can be compared by eye.";

/// In a search on a path: over the number of flows.
pub const fn of_path(quantity: PathQuantity) -> &'static str {
    match quantity {
        PathQuantity::BytesTo => "TCP streams. Dashed: the cap for all flows together.",
        PathQuantity::BytesFrom => "TCP streams in the other direction.",
        PathQuantity::PacketsTo => "64-byte datagrams received.",
        PathQuantity::Requests => "64-byte requests, one in flight per connection.",
    }
}

/// From the bare stack to the full one, layer by layer.
pub const WATERFALL: &str = "Each step: the Shapley value of a layer, with its interval as a line. \
                             Outlined: what two layers cost together beyond the sum of their \
                             separate costs; the steps include this cost.";
/// Rows of the waterfall.
pub const BARE_STACK: &str = "bare stack";
pub const FULL_STACK: &str = "full stack";

/// Counters of the kernel.
pub const fn of_quantity(quantity: Quantity) -> &'static str {
    match quantity {
        Quantity::DeviceMibPerS => {
            "Reads, writes and discards together, for each device under the arm."
        }
        Quantity::DeviceAwaitMs => "Mean time per request, from queueing to completion.",
        Quantity::DeviceQueue => "Mean number of requests queued or being served.",
        Quantity::DeviceUtilPercent => {
            "Share of time with at least one request in flight; a device that serves several at \
             once may have spare capacity even at 100 %."
        }
        Quantity::CpuPercent => "Share of the machine's total CPU time.",
        Quantity::PressurePercent => {
            "Share of time during which at least one task waited for a CPU, for I/O or for memory."
        }
        Quantity::PageCacheMib => {
            "Dirty: waiting to be written. Writeback: being written. Both values are for the whole \
             machine."
        }
        Quantity::NfsPerS => "The most frequent operations.",
        Quantity::NfsExecuteMs => "From request to completion, including the wait before sending.",
        Quantity::InterfaceMbitPerS => {
            "Includes headers. Data that one end sends appears as received at the other end."
        }
        Quantity::InterfaceDropsPerS => {
            "Packets dropped by an interface, in either direction, or by one of its queues."
        }
        Quantity::QdiscBacklogKib => "Queueing disciplines in which packets waited.",
    }
}

/// All of these together, and how many seconds a step covers if there are several.
pub fn machine(seconds_per_step: u32) -> String {
    let step = match seconds_per_step {
        0 | 1 => String::new(),
        several => format!(" Each step is {}.", mean_and_band(several)),
    };
    format!(
        "PSI: share of time during which at least one task waited. Descriptive: no verdict uses \
         these figures.{step}"
    )
}

fn mean_and_band(seconds: u32) -> String {
    format!(
        "the mean of {seconds} seconds, to keep the page small; the band behind the line shows the \
         lowest and highest values in that time"
    )
}

/// How long operations took.
pub fn operations(has_limit: bool) -> String {
    let limit =
        if has_limit { " Dashed: the limit above which operations count as slow." } else { "" };
    format!("Share of operations completed within a given time, one line per arm.{limit}")
}

/// A sentence for charts that do not show all arms.
pub fn not_all(shown_arms: usize, analysis: &Analysis) -> String {
    let all = analysis.arms.len();
    if shown_arms == all {
        return String::new();
    }
    format!(
        " Only {shown_arms} of {all} arms are shown: the baseline and the arms that differ most \
         from it. The tables list all arms."
    )
}

/// The nodes of a fleet.
pub fn nodes(analysis: &Analysis) -> String {
    let others = match (&analysis.outliers, analysis.arms.len()) {
        (Some(_), _) => "the median node",
        (None, 2) => "the other node",
        (None, _) => "the mean of the other nodes",
    };
    format!(
        "Color: the difference from {others}. Border and sign: the verdict. The tables list the \
         figures for all nodes."
    )
}

/// Comparisons with their intervals.
pub fn forest(experiment: &ExperimentHead, analysis: &Analysis) -> String {
    let marks = if matches!(experiment.spec.design, Design::Peel { .. }) {
        "Square: Shapley value, the mean over all orders in which the layers can be added. Open \
         circle: cost if added first, to the bare stack. Dot: cost if added last, on top of all \
         others."
    } else {
        "Square: estimate."
    };
    if experiment.spec.is_of_results() {
        let note = provenance::intervals(experiment, analysis);
        return format!("{marks} Line: the interval, if there is one. {note}");
    }
    format!(
        "{marks} Line: {} confidence interval, valid individually (not jointly), no matter when \
         the run stopped. Band: margin of {}; arms that differ by less count as equal. n: number \
         of blocks.",
        percent(1.0 - analysis.alpha),
        percent(analysis.margin)
    )
}

/// The percentiles of each arm.
pub fn latency(analysis: &Analysis, shown_arms: usize) -> String {
    let of = if units::is_led_by_syncs(analysis) { "'s syncs" } else { "" };
    let grey = if shown_arms < analysis.arms.len() { " Gray: the other arms." } else { "" };
    let not_all = not_all(shown_arms, analysis);
    format!("Percentiles of the primary job{of}: descriptive, without intervals.{grey}{not_all}")
}

/// The distribution of latencies over time.
pub fn heat(analysis: &Analysis, shown_arms: usize, trials_per_column: u32) -> String {
    let (column, whose) = match trials_per_column {
        1 => ("Each column covers one trial".to_owned(), "the trial's"),
        n => (format!("Each column covers {n} trials"), "these trials'"),
    };
    format!(
        "{column}, in the order in which the trials ran. The darker a cell, the more of {whose} \
         {}s had this latency. A mean would hide a band that splits, widens or moves.{}",
        units::unit_of_load(analysis),
        not_all(shown_arms, analysis)
    )
}

/// Each block's own difference from the baseline.
pub fn blocks(analysis: &Analysis, blocks_together: u32) -> String {
    let what = if units::is_led_by_syncs(analysis) { "Sync time" } else { "Throughput" };
    let left_out = match blocks_together {
        1 | 2 => String::new(),
        n => format!(
            " Only the lowest and the highest of every {n} blocks are drawn; the CSV output has \
             all blocks."
        ),
    };
    format!(
        "{what} compared with {}, block by block. Dashed: the mean. Band: the margin. Hollow: not \
         used. Points that drift together are not independent.{left_out}",
        printable(&analysis.baseline)
    )
}

/// Throughput over time.
pub fn trials(analysis: &Analysis, shown_arms: usize, seconds_per_step: u32) -> String {
    let what = if analysis.arms.iter().any(units::moves_bytes) {
        units::unit_of_rate(analysis).to_owned()
    } else {
        format!("{}s per second", capital(units::unit_of_load(analysis)))
    };
    let steps = match seconds_per_step {
        1 => ", second by second".to_owned(),
        n => format!("; each step is {}", mean_and_band(n)),
    };
    format!(
        "{what} of the primary job over the course of the experiment{steps}. Gray: not used.{}",
        not_all(shown_arms, analysis)
    )
}

/// The order of the trials.
pub fn schedule(shown: u32, blocks: u32) -> String {
    let rest = if shown < blocks {
        format!(
            " Only the first {shown} of {blocks} blocks are drawn; the CSV output has all blocks."
        )
    } else {
        String::new()
    };
    format!(
        "One column per block; trials ran from top to bottom, then left to right. Hollow: not \
         used.{rest}"
    )
}
