//! Several phases in one report: what each of them found side by side, then each in full.

mod html;
mod json;

use iotax_analyze::Analysis;
use iotax_record::Experiment;

pub use self::html::phases_html;
pub use self::json::{phases_json_compare, phases_json_run};
use crate::format;
use crate::markdown::{escape, markdown, section};
use crate::tables::{self, Cell, Table};
use crate::text::{Style, text, titled};
use crate::words;

/// One phase: the experiment as if it were all of it, and its analysis.
pub type Part = (Experiment, Analysis);

/// All phases as lines of text. `suite`: the name of the whole.
pub fn phases_text(suite: &str, parts: &[Part], style: Style) -> String {
    let title = format!("{}: {}", words::printable(suite), phases_and_time(parts));
    let mut out = titled(&title, &overview(parts), style);
    for (number, (experiment, analysis)) in (1..).zip(parts) {
        out.push_str(&format!("\nPhase {number} of {}\n", parts.len()));
        out.push_str(&text(experiment, analysis, style));
    }
    out
}

/// All phases as Markdown.
pub fn phases_markdown(suite: &str, parts: &[Part]) -> String {
    let mut out = format!("## iotax: {}\n\n{}.\n", escape(suite), phases_and_time(parts));
    section(&mut out, "Phases", &overview(parts));
    for (experiment, analysis) in parts {
        out.push_str(&format!("\n{}", markdown(experiment, analysis)));
    }
    out
}

fn phases_and_time(parts: &[Part]) -> String {
    let wall_ns = parts.iter().map(|(_, analysis)| analysis.ending.wall_ns).max().unwrap_or(0);
    let trials = parts.iter().map(|(_, analysis)| analysis.ending.trials).sum::<u32>();
    let phases = format::counted(parts.len() as u64, "phase");
    format!("{phases}, {} in {}", format::counted(trials, "trial"), format::span(wall_ns))
}

/// A line for each phase and arm. Where arms are compared, with what the primary metric says.
pub(crate) fn overview(parts: &[Part]) -> Table {
    let has_arms = parts.iter().any(|(_, analysis)| analysis.arms.len() > 1);
    let words: &[&str] = if has_arms { &["phase", "arm"] } else { &["phase"] };
    let mut table = Table::new(words, &tables::RATES);
    if has_arms {
        table.heads.push(tables::Head::word("tax"));
    }
    for (_, analysis) in parts {
        for arm in &analysis.arms {
            let mut row = vec![Cell::new(&analysis.workload)];
            row.extend(has_arms.then(|| Cell::new(&arm.name)));
            row.extend(tables::rates(arm));
            if has_arms {
                let is_of = |c: &&iotax_analyze::Comparison| c.arm.as_deref() == Some(&arm.name);
                let found = analysis.comparisons.iter().find(is_of);
                row.push(found.map_or_else(|| Cell::new(""), tables::tax_in_a_word));
            }
            table.rows.push(row);
        }
    }
    table
}
