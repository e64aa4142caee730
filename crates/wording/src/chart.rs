//! How to read a chart: what stands below it.

use iotax_analyze::{Analysis, Quantity};
use iotax_caps::PathQuantity;
use iotax_experiment::Design;
use iotax_quantity::{capital, percent};
use iotax_record::ExperimentHead;

use crate::name::printable;
use crate::{provenance, units};

/// Of a search: throughput over queue depth, and latency.
pub const DEPTH_IOPS: &str = "4 KiB I/Os, both scales logarithmic. Dashed: the cap. Where throughput is flat, more in flight \
     only wait longer.";
pub const DEPTH_LATENCY: &str = "On a plateau it grows as the depth does.";
/// Of a search, over time, saturated.
pub const SOAK_IOPS: &str = "Dashed: the cap that lasts. What lies above it is the burst.";
pub const SOAK_BANDWIDTH: &str = "With blocks of 1 MiB.";
pub const SOAK_PATH: &str = "Four streams. Dashed: the cap that lasts.";
/// Of several phases, one below the other.
pub const OVER_PHASES: &str = "Square: estimate. Line: the interval. Band: the margin within which a difference counts as \
     none. n: blocks. The axes are the same, so arms can be compared by eye.";

/// What a search found on a path, over flows at once.
pub const fn of_path(quantity: PathQuantity) -> &'static str {
    match quantity {
        PathQuantity::BytesTo => "TCP streams. Dashed: the cap of all flows together.",
        PathQuantity::BytesFrom => "TCP streams the other way.",
        PathQuantity::PacketsTo => "Datagrams of 64 bytes, those that came.",
        PathQuantity::Requests => "Requests of 64 bytes, one under way per connection.",
    }
}

/// What the kernel counted.
pub const fn of_quantity(quantity: Quantity) -> &'static str {
    match quantity {
        Quantity::DeviceMibPerS => {
            "Reads, writes and discards together, of each device under the arm."
        }
        Quantity::DeviceAwaitMs => "Mean time of a request from being queued to being completed.",
        Quantity::DeviceQueue => "Mean number of requests queued or being served.",
        Quantity::DeviceUtilPercent => {
            "Time with at least one request under way; a device that serves several at once may \
             have room at 100 %."
        }
        Quantity::CpuPercent => "Of all CPUs of the machine.",
        Quantity::PressurePercent => {
            "Time in which at least one task waited for a CPU, for I/O or for memory."
        }
        Quantity::PageCacheMib => "Dirty: waiting. Writeback: under way. Of the whole machine.",
        Quantity::NfsPerS => "The most used ones.",
        Quantity::NfsExecuteMs => "From the request to its end, waiting to be sent included.",
        Quantity::InterfaceMbitPerS => "Headers included; what one end sends the other receives.",
        Quantity::InterfaceDropsPerS => "By an interface, either way, or by a queue at it.",
        Quantity::QdiscBacklogKib => "Of each queueing discipline that anything waited in.",
    }
}

/// Of all of these together. Where a step stands for several seconds, it says so.
pub fn machine(seconds_per_step: u32) -> String {
    let step = match seconds_per_step {
        0 | 1 => String::new(),
        several => format!(" Each step is {}.", mean_and_band(several)),
    };
    format!(
        "PSI: time in which at least one task waited. Descriptive: no verdict rests on these \
         figures.{step}"
    )
}

fn mean_and_band(seconds: u32) -> String {
    format!(
        "the mean of {seconds} seconds, and the band behind it their lowest and highest, to keep \
         the page small"
    )
}

/// How long operations took.
pub fn operations(has_limit: bool) -> String {
    let limit = if has_limit { " Dashed: longer is too long." } else { "" };
    format!("Share of them that was done within a time, one line per arm.{limit}")
}

/// Said where not all arms are drawn.
fn not_all(shown_arms: usize, analysis: &Analysis) -> String {
    let all = analysis.arms.len();
    if shown_arms == all {
        return String::new();
    }
    format!(
        " {shown_arms} of {all} arms: the baseline and those that differ most; the tables have \
         all of them."
    )
}

/// The nodes of a fleet.
pub fn nodes(analysis: &Analysis) -> String {
    let others = match (&analysis.outliers, analysis.arms.len()) {
        (Some(_), _) => "the median node",
        (None, 2) => "the other one",
        (None, _) => "the mean of the others",
    };
    format!(
        "Colour: the difference from {others}. Border and sign: the verdict. The tables have the \
         figures of all nodes."
    )
}

/// Comparisons with their intervals.
pub fn forest(experiment: &ExperimentHead, analysis: &Analysis) -> String {
    let marks = if matches!(experiment.spec.design, Design::Peel { .. }) {
        "Square: Shapley value, the mean over all orders of adding the layers. Open circle: added \
         first, to the bare stack. Dot: taken off the full stack last."
    } else {
        "Square: estimate."
    };
    if experiment.spec.is_of_results() {
        let note = provenance::intervals(experiment, analysis);
        return format!("{marks} Line: the interval, if there is one. {note}");
    }
    format!(
        "{marks} Line: the interval; each one alone holds with {}, at whichever block the run \
         stopped. Band: the margin of {}, within which a difference counts as none. n: blocks.",
        percent(1.0 - analysis.alpha),
        percent(analysis.margin)
    )
}

/// The percentiles of each arm.
pub fn latency(analysis: &Analysis, shown_arms: usize) -> String {
    let of = if units::is_led_by_syncs(analysis) { "'s syncs" } else { "" };
    let grey = if shown_arms < analysis.arms.len() { " Grey: the other arms." } else { "" };
    let not_all = not_all(shown_arms, analysis);
    format!("Percentiles of the primary job{of}: descriptive, no interval.{grey}{not_all}")
}

/// How latencies were spread as time went by.
pub fn heat(analysis: &Analysis, shown_arms: usize, trials_per_column: u32) -> String {
    let (column, its) = match trials_per_column {
        1 => ("Each trial is a column".to_owned(), "its"),
        n => (format!("Each column is {n} trials"), "their"),
    };
    format!(
        "{column}, from left to right as they ran; the darker, the more of {its} {}s took that \
         long. A band that splits, widens or moves is what a mean hides.{}",
        units::unit_of_load(analysis),
        not_all(shown_arms, analysis)
    )
}

/// Each block's own difference from the baseline.
pub fn blocks(analysis: &Analysis, blocks_together: u32) -> String {
    let what = if units::is_led_by_syncs(analysis) { "The time of a sync" } else { "Throughput" };
    let left_out = match blocks_together {
        1 | 2 => String::new(),
        n => format!(
            " Of every {n} blocks the lowest and the highest are drawn; the CSV output has all of \
             them."
        ),
    };
    format!(
        "{what} against {}, block by block. Dashed: the mean. Band: the margin. Hollow: not used. \
         Points that wander together depend on each other.{left_out}",
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
        "{what} of the primary job over the time of the experiment{steps}. Grey: not used.{}",
        not_all(shown_arms, analysis)
    )
}

/// The order of the trials.
pub fn schedule(shown: u32, blocks: u32) -> String {
    let rest = if shown < blocks {
        format!(" The first {shown} of {blocks} blocks are drawn; the CSV output has all of them.")
    } else {
        String::new()
    };
    format!(
        "One column per block; trials ran from top to bottom, then left to right. Hollow: not \
         used.{rest}"
    )
}
