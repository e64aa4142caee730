//! The measured figures, in the same table that `run.sh` prints.

use iotax_analyze::{Analysis, ArmSummary, latency_at};
use iotax_wording::verdict::verdict;

use super::phases::Phase;
use super::readme::Arm;
use crate::experiment::AnalyzedPhase;
use crate::words::printable;
use iotax_wording::bandwidth::MEASURED;

const WIDTH: usize = 80;

/// One row of the table. `None`: the record does not have this figure.
struct Row<'a> {
    arm: &'a str,
    job: &'a str,
    trials: u32,
    iops: f64,
    bytes_per_s: f64,
    mean_ns: f64,
    p99_ns: Option<u64>,
    p999_ns: Option<u64>,
}

/// Figures and verdicts of all phases.
pub(super) fn expected(parts: &[AnalyzedPhase], arms: &[Arm], phases: &[Phase]) -> String {
    let mut text = String::from(
        "Measured figures. Rates are means over the trials. Latencies cover all I/Os in\n\
         all trials. Each latency is the time from submission to completion or, in jobs with\n\
         a rate, from the intended start to completion.\n",
    );
    for (phase, (experiment, analysis)) in phases.iter().zip(parts) {
        text.push_str(&format!("\n{} (phase {})\n", printable(&phase.name), phase.id));
        text.push_str(&table(arms, phase, analysis));
        text.push('\n');
        for sentence in verdict(experiment, analysis) {
            text.push_str(&textwrap::fill(&printable(&sentence), WIDTH));
            text.push('\n');
        }
    }
    text
}

fn table(arms: &[Arm], phase: &Phase, analysis: &Analysis) -> String {
    let mut text = format!(
        "{:<20} {:<14} {:>6} {:>10} {:>9} {:>10} {:>10} {:>10}\n",
        "arm",
        "job",
        "trials",
        "IOPS",
        MEASURED.word(),
        "avg us",
        "p99 us",
        "p99.9 us"
    );
    for arm in arms {
        let Some(summary) = analysis.arms.iter().find(|summary| summary.name == arm.name) else {
            continue;
        };
        for (job, section) in &phase.jobs {
            let found = row(&arm.id, job, section, summary, phase.primary.as_deref());
            text.push_str(&found.map_or_else(String::new, |row| line(&row)));
        }
    }
    text
}

fn row<'a>(
    arm: &'a str,
    job: &str,
    section: &'a str,
    summary: &ArmSummary,
    primary: Option<&str>,
) -> Option<Row<'a>> {
    if summary.trials == 0 {
        return None;
    }
    if primary == Some(section) {
        return Some(Row {
            arm,
            job: section,
            trials: summary.trials,
            iops: summary.iops,
            bytes_per_s: summary.bytes_per_s,
            mean_ns: summary.mean_latency_ns,
            p99_ns: latency_at(&summary.latency, 0.99),
            p999_ns: latency_at(&summary.latency, 0.999),
        });
    }
    let other = summary.other_jobs.iter().find(|other| other.name == job)?;
    Some(Row {
        arm,
        job: section,
        trials: summary.trials,
        iops: other.iops,
        bytes_per_s: other.bytes_per_s,
        mean_ns: other.mean_latency_ns,
        p99_ns: Some(other.p99_latency_ns),
        p999_ns: None,
    })
}

fn line(row: &Row<'_>) -> String {
    let us = |ns: Option<u64>| {
        ns.map_or_else(|| "-".to_owned(), |ns| format!("{:.1}", ns as f64 / 1000.0))
    };
    format!(
        "{:<20} {:<14} {:>6} {:>10.0} {:>9.1} {:>10.1} {:>10} {:>10}\n",
        row.arm,
        row.job,
        row.trials,
        row.iops,
        MEASURED.amount(row.bytes_per_s),
        row.mean_ns / 1000.0,
        us(row.p99_ns),
        us(row.p999_ns)
    )
}
