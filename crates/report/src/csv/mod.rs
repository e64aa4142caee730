//! Trials as rows, for spreadsheets and notebooks.

use iotax_analyze::{Analysis, TargetPoint, TrialPoint};
use iotax_wording::trial::why;

use crate::words::printable;

/// The columns, in order.
///
/// | column | meaning |
/// |---|---|
/// | `slot` | position in the order in which all trials ran, from 0 |
/// | `block` | block, from 0 |
/// | `workload` | name of the workload |
/// | `arm` | name of the arm |
/// | `baseline` | `true` for the arm that all others are compared with |
/// | `started_s` | start, seconds since the start of the experiment |
/// | `switch_s` | time to switch arms before the trial, in seconds |
/// | `outcome` | `completed`, `degraded`, `stalled` (no I/O completed), `failed`, `interrupted` |
/// | `used` | `true` if the comparisons use it |
/// | `iops` | I/Os per second of the primary job; empty if nothing was measured |
/// | `bytes_per_s` | bytes per second of the primary job |
/// | `p50_ns` | median latency of the primary job in nanoseconds: of its syncs, reads or writes |
/// | `p99_ns` | 99th percentile latency of the primary job, in nanoseconds |
/// | `sync_mean_ns` | mean time of a sync of the primary job, in nanoseconds; empty without syncs |
/// | `sync_p99_ns` | 99th percentile time of a sync, in nanoseconds |
/// | `why` | why the outcome is not `completed`, else empty |
/// | `target` | empty; with several targets, one more row per target names it here |
pub const CSV_COLUMNS: [&str; 17] = [
    "slot", "block", "workload", "arm", "baseline", "started_s", "switch_s", "outcome", "used",
    "iops", "bytes_per_s", "p50_ns", "p99_ns", "sync_mean_ns", "sync_p99_ns", "why", "target",
];

/// All trials in the order in which they ran, one line each after a line of [`CSV_COLUMNS`]
/// (RFC 4180, but with `\n`). Numbers have no thousands separators and a decimal point.
pub fn csv<'a>(phases: impl IntoIterator<Item = &'a Analysis>) -> String {
    let trials_of = |analysis: &'a Analysis| analysis.trials.iter().map(move |t| (analysis, t));
    let mut trials: Vec<_> = phases.into_iter().flat_map(trials_of).collect();
    trials.sort_by_key(|(_, trial)| trial.slot);
    table(CSV_COLUMNS, trials.into_iter().flat_map(|(analysis, trial)| rows(analysis, trial)))
}

/// Rows under their columns (RFC 4180, but with `\n`).
pub(crate) fn table<const N: usize>(
    columns: [&str; N],
    rows: impl Iterator<Item = [String; N]>,
) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(columns).expect("memory takes it");
    rows.for_each(|row| writer.write_record(row).expect("a row has one value per column"));
    let bytes = writer.into_inner().expect("memory takes it");
    String::from_utf8(bytes).expect("made of strings only")
}

/// One row for the trial, and one for each target if it has several.
fn rows(analysis: &Analysis, trial: &TrialPoint) -> Vec<[String; CSV_COLUMNS.len()]> {
    let of_target = |target: &TargetPoint| {
        let own = TrialPoint {
            iops: Some(target.rates.iops),
            bytes_per_s: Some(target.rates.bytes_per_s),
            p50_ns: None,
            p99_ns: target.p99_ns,
            sync_mean_ns: None,
            sync_p99_ns: None,
            ..trial.clone()
        };
        row(analysis, &own, &target.name)
    };
    let whole = std::iter::once(row(analysis, trial, ""));
    whole.chain(trial.targets.iter().map(of_target)).collect()
}

fn row(analysis: &Analysis, trial: &TrialPoint, target: &str) -> [String; CSV_COLUMNS.len()] {
    let number = |value: Option<f64>| value.map_or_else(String::new, |v| format!("{v:.3}"));
    let whole = |value: Option<u64>| value.map_or_else(String::new, |v| v.to_string());
    [
        trial.slot.to_string(),
        trial.block.to_string(),
        cell(&analysis.workload),
        cell(&trial.arm),
        is_baseline(&trial.arm, analysis).to_string(),
        seconds(trial.started_ns),
        seconds(trial.switch_ns),
        trial.outcome.id().to_owned(),
        trial.used.to_string(),
        number(trial.iops),
        number(trial.bytes_per_s),
        whole(trial.p50_ns),
        whole(trial.p99_ns),
        number(trial.sync_mean_ns),
        whole(trial.sync_p99_ns),
        why(trial).map_or_else(String::new, |why| cell(&why)),
        cell(target),
    ]
}

/// Nanoseconds as exact seconds.
fn seconds(ns: u64) -> String {
    format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000)
}

/// Whether this arm is the baseline.
fn is_baseline(arm: &str, analysis: &Analysis) -> bool {
    let mut own = analysis.comparisons.iter().filter_map(|c| c.against.as_ref()).peekable();
    match own.peek() {
        Some(_) => own.any(|against| against.arm() == Some(arm)),
        None => arm == analysis.baseline,
    }
}

// Cells that spreadsheets treat as text.

/// Untrusted text as a cell. Spreadsheets execute text that looks like a formula, which may send
/// data. A leading apostrophe prevents this, as OWASP recommends. Numbers such as `-5` are not
/// formulas.
pub(crate) fn cell(text: &str) -> String {
    let text = printable(text);
    // The full-width characters are equivalent in East Asia.
    let begins_formula = |c: char| "=+-@＝＋－＠".contains(c);
    let is_number = text.parse::<f64>().is_ok_and(f64::is_finite);
    // Some programs strip leading blanks, and `printable` turns tabs and line ends into blanks.
    if text.trim_start().starts_with(begins_formula) && !is_number {
        return format!("'{text}");
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn no_cell_begins_a_formula_and_numbers_stay_numbers() {
        assert_eq!(cell("=HYPERLINK(\"http://x\")"), "'=HYPERLINK(\"http://x\")");
        assert_eq!(cell("+1+cmd|' /C calc'!A0"), "'+1+cmd|' /C calc'!A0");
        assert_eq!(cell("-2+3"), "'-2+3");
        assert_eq!(cell("@SUM(1)"), "'@SUM(1)");
        assert_eq!(cell("\t=1"), "' =1");
        assert_eq!(cell("\r=1"), "' =1");
        assert_eq!(cell("＝1"), "'＝1");
        for number in ["-5", "+3.5", "-1e3", "4", "0.25"] {
            assert_eq!(cell(number), number);
        }
        for plain in ["a=b", "file(size=1G) + aes", "", "plain", "e+1"] {
            assert_eq!(cell(plain), plain);
        }
    }

    proptest! {
        #[test]
        fn what_begins_with_a_mark_is_a_number(text in "[\\s=+@-]{0,3}.*") {
            let cell = cell(&text);
            let begins = cell.trim_start().starts_with(['=', '+', '-', '@']);
            prop_assert!(!begins || cell.parse::<f64>().is_ok_and(f64::is_finite));
        }
    }
}
