//! Where the time goes when a few I/Os take most of it.

use iotax_analyze::{QuantilePoint, SlowMode, latency_at};
use iotax_quantity::{list, percent, time};

/// Percentiles to show, if there are enough I/Os for them.
const SHOWN: [(f64, &str); 4] = [(0.5, "p50"), (0.9, "p90"), (0.99, "p99"), (0.999, "p99.9")];

/// `2.0 % of reads took 20 ms each, which is 66 % of the total time; the others took 211 us`.
pub fn slow_mode(mode: &SlowMode) -> String {
    format!(
        "{} of {} took {} each and accounted for {} of the total time; the others took {} each",
        percent(mode.share_of_ios),
        if mode.writes { "writes" } else { "reads" },
        time(mode.median_ns as f64),
        percent(mode.share_of_time),
        time(mode.others_ns as f64)
    )
}

/// `p50 211 us, p90 211 us, p99 20 ms, p99.9 20 ms and max 21 ms`: latencies of the whole job.
pub fn percentiles(mode: &SlowMode, latency: &[QuantilePoint]) -> String {
    let shown = SHOWN
        .iter()
        .filter_map(|(q, name)| Some(format!("{name} {}", time(latency_at(latency, *q)? as f64))));
    let max = format!("max {}", time(mode.max_ns as f64));
    let shown: Vec<String> = shown.chain([max]).collect();
    list(&shown.iter().map(String::as_str).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_says_where_the_time_goes_with_what_99_percent_do_not_show() {
        let mode = SlowMode {
            writes: false,
            ios: 100,
            share_of_ios: 0.005,
            share_of_time: 0.52,
            median_ns: 40_200_000,
            others_ns: 190_000,
            max_ns: 40_200_000,
        };
        let points = [(0.5, 190_000), (0.9, 222_000), (0.99, 230_000), (0.999, 40_200_000)];
        let latency = points.map(|(q, latency_ns)| QuantilePoint { q, latency_ns });
        insta::assert_snapshot!(slow_mode(&mode), @"0.5 % of reads took 40.2 ms each and accounted for 52 % of the total time; the others took 190 µs each");
        insta::assert_snapshot!(percentiles(&mode, &latency), @"p50 190 µs, p90 222 µs, p99 230 µs, p99.9 40.2 ms and max 40.2 ms");
        insta::assert_snapshot!(percentiles(&mode, &latency[..2]), @"p50 190 µs, p90 222 µs and max 40.2 ms");
    }
}
