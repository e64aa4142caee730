//! The top of the page: the verdict in sentences, the key figures in tiles.

use iotax_analyze::{Analysis, Comparison};
use iotax_record::Experiment;

use crate::{bandwidth, format, sentence, tables, words};

/// Key figures shown big.
const MAX_TILES: usize = 4;

/// A key figure.
pub(super) struct Tile {
    pub(super) label: String,
    pub(super) figure: String,
    pub(super) interval: String,
    pub(super) note: String,
    pub(super) tone: &'static str,
}

/// The verdict's sentences; a figure stays on one line with its unit and its interval.
pub(super) fn sentences(experiment: &Experiment, analysis: &Analysis) -> Vec<String> {
    let sentences = sentence::verdict(experiment, analysis);
    sentences.iter().map(|sentence| unbroken(sentence)).collect()
}

/// Units that stay beside their number.
const UNITS: [&str; 10] = ["%", "k", "M", "IOPS", "ns", "µs", "ms", "s", "MB/s", "MiB/s"];

/// Makes the spaces inside `12 % [10, 14]` and `85.3 k IOPS` unbreakable.
fn unbroken(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut inside = false;
    let mut before = "";
    for word in text.split(' ') {
        let unit = UNITS.contains(&word.trim_end_matches([',', '.', ';']));
        let amount = before.ends_with(|c: char| c.is_ascii_digit()) || UNITS.contains(&before);
        if !out.is_empty() {
            out.push(if inside || (amount && (unit || word.starts_with('['))) {
                '\u{a0}'
            } else {
                ' '
            });
        }
        out.push_str(word);
        inside = (inside || word.starts_with('[')) && !word.contains(']');
        before = word;
    }
    out
}

/// The key figures: the total first, then what costs most.
pub(super) fn tiles(analysis: &Analysis) -> Vec<Tile> {
    let primary = sentence::primary_of_each(analysis);
    if primary.is_empty() {
        return run_tiles(analysis);
    }
    let mut shown: Vec<_> =
        primary.into_iter().filter(|c| !sentence::is_interaction(c, analysis)).collect();
    shown.sort_by(|a, b| {
        let rank = |c: &Comparison| c.layer.as_deref() != Some("total");
        let tax = |c: &Comparison| c.tax.unwrap_or(f64::NEG_INFINITY);
        rank(a).cmp(&rank(b)).then(tax(b).total_cmp(&tax(a)))
    });
    shown.into_iter().take(MAX_TILES).map(tile).collect()
}

fn tile(comparison: &Comparison) -> Tile {
    let tax = tables::tax(comparison);
    let (figure, interval) = tax.split_once(" [").unwrap_or((&tax, ""));
    Tile {
        label: sentence::subject(comparison),
        figure: figure.to_owned(),
        interval: if interval.is_empty() { String::new() } else { format!("[{interval}") },
        note: format!("{}: {}", comparison.metric.name(), words::verdict_phrase(comparison)),
        tone: words::verdict_tone(comparison.verdict).class(),
    }
}

fn run_tiles(analysis: &Analysis) -> Vec<Tile> {
    let Some(arm) = analysis.arms.first().filter(|arm| arm.trials > 0) else {
        return Vec::new();
    };
    let tile = |label: &str, figure: String| Tile {
        label: label.to_owned(),
        figure,
        interval: String::new(),
        note: String::new(),
        tone: words::Tone::Plain.class(),
    };
    let rate = tile("rate", tables::rate(arm));
    let bandwidth =
        tables::bandwidth(arm).map(|rate| tile("bandwidth", bandwidth::measured_rate(rate)));
    // Another tool may not say these.
    let times = [("mean latency", arm.mean_latency_ns), ("CPU per I/O", arm.cpu_ns_per_io)];
    let known = times.iter().filter(|(_, ns)| *ns > 0.0);
    let times = known.map(|(label, ns)| tile(label, format::time(*ns)));
    [rate].into_iter().chain(bandwidth).chain(times).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_not_torn_from_its_interval() {
        let shown = unbroken("cap costs 12 % [10, 14] less, 2 of 3: 85.3 k IOPS, 9.7 µs.");
        let expected = "cap costs 12 % [10, 14] less, 2 of 3: 85.3 k IOPS, 9.7 µs.";
        assert_eq!(shown.replace('\u{a0}', " "), expected, "only spaces change");
        let joined: Vec<_> = shown.split(' ').filter(|word| word.contains('\u{a0}')).collect();
        assert_eq!(
            joined,
            ["12\u{a0}%\u{a0}[10,\u{a0}14]", "85.3\u{a0}k\u{a0}IOPS,", "9.7\u{a0}µs."]
        );
    }
}
