//! The summary as Markdown, for issues and wikis.

use iotax_analyze::Analysis;
use iotax_record::Experiment;

use crate::notices::Notice;
use crate::tables::{self, Table};
use crate::{caps, doctor, format, machine, notices, provenance, sentence, words};

/// The summary as GitHub-flavoured Markdown, ending in a newline. Text from outside is escaped:
/// it cannot become a link, an image, a table or HTML.
pub fn markdown(experiment: &Experiment, analysis: &Analysis) -> String {
    let mut out = format!("## iotax: {}\n\n", escape(&analysis.workload));
    let mut sentences = sentence::verdict(experiment, analysis).into_iter();
    if let Some(first) = sentences.next() {
        out.push_str(&format!("**{}**\n", escape(&first)));
    }
    for sentence in sentences {
        out.push_str(&format!("{}\n", escape(&sentence)));
    }
    let counts = escape(&provenance::counts(experiment, analysis));
    if experiment.spec.is_of_results() {
        let ending = escape(&provenance::ending(experiment, analysis));
        out.push_str(&format!("\n{counts}. {ending}\n"));
    } else {
        let reason = escape(&provenance::reason(analysis));
        out.push_str(&format!("\n{counts}; stopped: {reason}.\n"));
    }
    warnings(&mut out, &notices::notices(analysis));
    if let Some(table) = tables::comparisons(analysis, &experiment.spec.design) {
        section(&mut out, "Tax", &table);
        out.push_str(&format!("\n{}\n", provenance::intervals(experiment, analysis)));
    }
    for (title, table) in caps::all(analysis, &experiment.spec.design) {
        section(&mut out, &escape(&title), &table);
    }
    if let Some(attribution) = &analysis.attribution {
        section(&mut out, "Time per I/O by layer", &tables::attribution(attribution));
        out.push_str(&format!("\nBare stack: {}.\n", format::time(attribution.bare_ns)));
    }
    section(&mut out, "Arms", &tables::arms(analysis));
    for (title, table) in [
        ("Other jobs", tables::other_jobs(analysis)),
        (provenance::latencies(experiment), tables::latency(analysis)),
        ("Operations, pooled over trials (descriptive)", tables::operations(analysis)),
        ("Devices", machine::devices(analysis)),
        ("CPU and memory", machine::system(analysis)),
        ("NFS operations", machine::nfs(analysis)),
        ("Index loads", tables::index(analysis)),
    ] {
        if let Some(table) = table {
            section(&mut out, title, &table);
        }
    }
    let causes = doctor::causes(experiment, analysis);
    if !causes.is_empty() {
        out.push_str("\n### Causes\n\n");
        for cause in &causes {
            out.push_str(&format!("- {}\n", escape(cause)));
        }
    }
    if !analysis.open_questions.is_empty() {
        out.push_str("\n### Not concluded\n\n");
        for question in &analysis.open_questions {
            out.push_str(&format!("- {}\n", escape(question)));
        }
    }
    out
}

fn warnings(out: &mut String, notices: &[Notice]) {
    if notices.is_empty() {
        return;
    }
    out.push_str("\n### Warnings\n\n");
    for notice in notices {
        let messages: Vec<_> =
            notice.messages.iter().map(|m| escape(&words::sentence(m))).collect();
        let advice = escape(&words::sentence(&notice.advice));
        let text = format!("- **{}:** {} {advice}", escape(&notice.title), messages.join(" "));
        out.push_str(&format!("{}\n", text.trim_end()));
    }
}

pub(crate) fn section(out: &mut String, title: &str, table: &Table) {
    out.push_str(&format!("\n### {title}\n\n"));
    let heads: Vec<_> = table.heads.iter().map(|head| escape(&head.text)).collect();
    out.push_str(&format!("| {} |\n|", heads.join(" | ")));
    for head in &table.heads {
        out.push_str(if head.is_figure { " ---: |" } else { " --- |" });
    }
    out.push('\n');
    for row in &table.rows {
        let cells: Vec<_> = row.iter().map(|cell| escape(&cell.text)).collect();
        out.push_str(&format!("| {} |\n", cells.join(" | ")));
    }
}

/// Text as literal Markdown: every character that could start markup gets a backslash. Intervals
/// such as `[10, 14]` stay readable: a bracket before a digit is literal unless a link follows it.
pub(crate) fn escape(text: &str) -> String {
    let text = words::printable(text);
    let mut out = String::with_capacity(text.len());
    let mut before = None;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let starts_markup = match c {
            '\\' | '`' | '*' | '_' | '<' | '>' | '|' | '#' | '!' | '~' | '&' | '@' => true,
            '[' => !chars.peek().is_some_and(|next| next.is_ascii_digit() || *next == '\u{2212}'),
            '(' | ':' if before == Some(']') => true,
            _ => false,
        };
        if starts_markup {
            out.push('\\');
        }
        out.push(c);
        before = Some(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_become_markup() {
        assert_eq!(escape("12 % [10, 14]"), "12 % [10, 14]");
        assert_eq!(escape("a|b <img> ![x](y)"), "a\\|b \\<img\\> \\!\\[x]\\(y)");
        assert_eq!(escape("[1](javascript:x)"), "[1]\\(javascript:x)");
        assert_eq!(escape("driver_searcher\n# head"), "driver\\_searcher \\# head");
    }
}
