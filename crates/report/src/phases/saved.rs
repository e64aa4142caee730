//! Saved results of several jobs: an overview of all jobs, before each in full.

use iotax_analyze::{Analysis, ArmSummary, Comparison, Unit, Verdict};
use iotax_experiment::Subject;
use iotax_quantity::count;
use iotax_wording::verdict::against::{baseline_of, results};
use iotax_wording::verdict::comparison;
use iotax_wording::verdict::comparison::{primary_of_each, row_name, subject};
use iotax_wording::{bandwidth, format, name, note, provenance, units};

use super::levels;
use crate::document::{Cell, Head, Item, Section, Table};
use crate::experiment::AnalyzedPhase;
use crate::words::{self, printable};

/// Maximum number of pairs as columns.
const MAX_COLUMNS: usize = 2;
/// Minimum bytes per I/O at which bandwidth is shown instead of IOPS.
const LARGE_BYTES: f64 = 65_536.0;

/// `4 jobs of 4 results of fio 3.33`
pub(super) fn counts(parts: &[AnalyzedPhase]) -> String {
    let jobs = count(parts.len() as u64, "job");
    let (experiment, _) = &parts[0];
    let most = |arm: &str| parts.iter().map(|(_, part)| results(part, arm)).max().unwrap_or(0);
    let results: usize = experiment.spec.arms.iter().map(|arm| most(&arm.name)).sum();
    let of = count(results as u64, "result");
    format!("{jobs} of {of}{}", provenance::tools(experiment))
}

/// Comparisons by job, and the changes by levels of a matrix.
pub(super) fn sections(parts: &[AnalyzedPhase]) -> Vec<Section> {
    pairs(parts).into_iter().chain(levels(parts)).collect()
}

/// One row per job and one column per pair; with many pairs, one row per pair.
fn pairs(parts: &[AnalyzedPhase]) -> Option<Section> {
    let (_, first) = &parts[0];
    if first.matrix.is_some() || first.comparisons.is_empty() {
        return None;
    }
    let mut names: Vec<(&Subject, String)> = Vec::new();
    for (_, part) in parts {
        for comparison in primary_of_each(part) {
            let name = match &comparison.against {
                Some(_) => row_name(comparison),
                None => format!("{} / {}", subject(comparison), printable(&part.baseline)),
            };
            if names.iter().all(|(subject, _)| **subject != comparison.subject) {
                names.push((&comparison.subject, name));
            }
        }
    }
    let of = |part: &Analysis, arm: &Subject| {
        let found = primary_of_each(part).into_iter().find(|c| c.subject == *arm);
        found.map_or_else(|| Cell::new(""), |comparison| cell(comparison, part))
    };
    let mut table = Table::new(&["job"], &[]);
    if names.len() <= MAX_COLUMNS {
        table.heads.extend(names.iter().map(|(_, name)| Head::figure(name)));
        for (_, part) in parts {
            let mut row = vec![Cell::new(&part.workload)];
            row.extend(names.iter().map(|(arm, _)| of(part, arm)));
            table.rows.push(row);
        }
    } else {
        table.heads.extend([Head::word("arm / baseline"), Head::figure("figures")]);
        for (_, part) in parts {
            for (arm, name) in &names {
                table.push([Cell::new(&part.workload), Cell::new(name), of(part, arm)]);
            }
        }
    }
    let are_rates = |(_, part): &AnalyzedPhase| {
        units::network_load(part).is_none()
            && primary_of_each(part).iter().any(|c| c.metric.unit() == Unit::IosPerSecond)
    };
    let note = note::side_by_side(parts.iter().any(are_rates));
    Some(Section::new("By job", [Item::Table(table), Item::Note(note)]))
}

/// `588 / 586 IOPS (+0.3 %)`, `120 / 145 MiB/s (−17 %), slower`
fn cell(comparison: &Comparison, analysis: &Analysis) -> Cell {
    let summary = |name: &str| analysis.arms.iter().find(|arm| arm.name == name);
    let arm = comparison.subject.arm().and_then(summary).filter(|arm| arm.trials > 0);
    let base = summary(&baseline_of(comparison, analysis)).filter(|arm| arm.trials > 0);
    let (Some(arm), Some(base)) = (arm, base) else { return Cell::new(format::ABSENT) };
    let is_large = |arm: &ArmSummary| arm.bytes_per_s >= LARGE_BYTES * arm.iops;
    let unit = comparison.metric.unit();
    if unit != Unit::IosPerSecond || base.network.is_some() {
        let (Some(with), Some(of)) = (comparison.with, comparison.base) else {
            return Cell::new(format::ABSENT);
        };
        let figures = [with, of].map(|figure| match &base.network {
            Some(_) if unit == Unit::IosPerSecond => format::connections(figure),
            _ => format::figure(unit, figure),
        });
        let figures = figures.join(" / ");
        return toned(comparison, &figures);
    }
    let (with, of, unit) = if is_large(base) && units::bandwidth(base).is_some() {
        (arm.bytes_per_s, base.bytes_per_s, bandwidth::MEASURED.word())
    } else {
        (arm.iops, base.iops, "IOPS")
    };
    let text = |value: f64| {
        if unit == "IOPS" { format::three_digits(value) } else { bandwidth::measured(value) }
    };
    toned(comparison, &format!("{} / {} {unit}", text(with), text(of)))
}

fn toned(comparison: &Comparison, figures: &str) -> Cell {
    let verdict = match comparison.verdict {
        Verdict::Undecided | Verdict::Slower | Verdict::Faster => String::new(),
        verdict => format!(", {}", name::verdict(verdict)),
    };
    let text = format!("{figures} ({}){verdict}", comparison::short_effect(comparison));
    Cell::toned(text, words::verdict_tone(comparison.verdict))
}
