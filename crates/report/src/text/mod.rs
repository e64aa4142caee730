//! The summary for a terminal: the verdict first, then the figures behind it.

mod paint;
mod table;

use iotax_analyze::Analysis;
use iotax_record::Experiment;
use textwrap::{Options, WordSeparator, fill};

use self::paint::Paint;
use crate::notices::Notice;
use crate::tables::{self, Table};
use crate::{caps, doctor, format, machine, notices, provenance, sentence, words};

/// How text is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Whether to use ANSI colours.
    pub color: bool,
    /// Columns of the terminal.
    pub width: u16,
}

impl Default for Style {
    /// Eighty columns, no colour: what a file or a pipe gets.
    fn default() -> Self {
        Self { color: false, width: 80 }
    }
}

/// Narrowest layout; a terminal below that wraps by itself.
const MIN_WIDTH: u16 = 40;

/// The summary as lines of text, ending in a newline.
pub fn text(experiment: &Experiment, analysis: &Analysis, style: Style) -> String {
    let page = Page::new(style);
    let mut parts = vec![page.verdict(experiment, analysis)];
    let notices = notices::notices(analysis);
    let (severe, mild): (Vec<_>, Vec<_>) = notices.iter().partition(|n| n.is_severe);
    parts.push(page.warnings(&severe));
    parts.extend(page.comparisons(experiment, analysis));
    parts.extend(page.caps(experiment, analysis));
    parts.extend(page.attribution(analysis));
    parts.push(page.arms(analysis));
    parts.extend(page.latency(experiment, analysis));
    parts.extend(page.operations(analysis));
    parts.extend(page.machine(analysis));
    parts.extend(page.index(analysis));
    parts.push(page.warnings(&mild));
    parts.push(page.list("Causes", &doctor::causes(experiment, analysis)));
    parts.push(page.list("Not concluded", &analysis.open_questions));
    parts.retain(|part| !part.is_empty());
    parts.join("\n")
}

/// One table under a title.
pub(crate) fn titled(title: &str, table: &Table, style: Style) -> String {
    Page::new(style).section(title, table)
}

/// A sentence or several, as lines no wider than asked for.
pub(crate) fn paragraph(text: &str, style: Style) -> String {
    Page::new(style).hanging(text)
}

/// Words that stand out.
pub(crate) fn emphasised(text: &str, style: Style) -> String {
    Paint { colour: style.color }.bold(text)
}

/// Words that step back.
pub(crate) fn dimmed(text: &str, style: Style) -> String {
    Paint { colour: style.color }.dim(text)
}

/// Words that warn.
pub(crate) fn warned(text: &str, style: Style) -> String {
    Paint { colour: style.color }.alarm(text)
}

/// Where text goes.
struct Page {
    paint: Paint,
    width: usize,
}

impl Page {
    fn new(style: Style) -> Self {
        let width = usize::from(style.width.max(MIN_WIDTH));
        Self { paint: Paint { colour: style.color }, width }
    }

    fn verdict(&self, experiment: &Experiment, analysis: &Analysis) -> String {
        let ending = &analysis.ending;
        let head = format!(
            "{}: {}",
            self.paint.bold(&words::printable(&analysis.workload)),
            provenance::counts(experiment, analysis),
        );
        let mut sentences = sentence::verdict(experiment, analysis).into_iter();
        let first = sentences.next().map(|s| self.paint.bold(&s)).unwrap_or_default();
        let mut out =
            format!("{}\n\n{}\n", self.paragraph(&head, ""), self.paragraph(&first, "  "));
        for sentence in sentences {
            out.push_str(&format!("{}\n", self.paragraph(&sentence, "  ")));
        }
        let mut stopped = provenance::ending(experiment, analysis);
        if analysis.arms.len() > 1 && !experiment.spec.is_of_results() {
            let share = ending.switch_ns as f64 / ending.wall_ns.max(1) as f64;
            let (span, share) = (format::span(ending.switch_ns), format::percent(share));
            stopped.push_str(&format!(" Switching between arms took {span} ({share})."));
        }
        out.push_str(&format!("{}\n", self.paint.dim(&self.paragraph(&stopped, "  "))));
        out
    }

    fn comparisons(&self, experiment: &Experiment, analysis: &Analysis) -> Option<String> {
        let table = tables::comparisons(analysis, &experiment.spec.design)?;
        let mut out = self.section("Tax", &table);
        out.push_str(&self.note(&provenance::intervals(experiment, analysis)));
        Some(out)
    }

    fn caps(&self, experiment: &Experiment, analysis: &Analysis) -> Vec<String> {
        let tables = caps::all(analysis, &experiment.spec.design);
        tables.iter().map(|(title, table)| self.section(title, table)).collect()
    }

    fn attribution(&self, analysis: &Analysis) -> Option<String> {
        let attribution = analysis.attribution.as_ref().filter(|found| found.blocks > 0)?;
        let title =
            format!("Time per I/O by layer (bare stack: {})", format::time(attribution.bare_ns));
        let mut out = self.section(&title, &tables::attribution(attribution));
        for interaction in attribution.interactions.iter().filter(|i| !i.hypothesis.is_empty()) {
            let pair = words::printable(&sentence::pair_name(&interaction.layers));
            let hypothesis = words::printable(&interaction.hypothesis);
            out.push_str(&self.note(&format!("{pair}: {hypothesis}")));
        }
        Some(out)
    }

    fn arms(&self, analysis: &Analysis) -> String {
        let mut out = self.section("Arms", &tables::arms(analysis));
        if let Some(table) = tables::other_jobs(analysis) {
            out.push('\n');
            out.push_str(&self.section("Other jobs", &table));
        }
        out
    }

    fn latency(&self, experiment: &Experiment, analysis: &Analysis) -> Option<String> {
        let table = tables::latency(analysis)?;
        Some(self.section(provenance::latencies(experiment), &table))
    }

    fn operations(&self, analysis: &Analysis) -> Option<String> {
        let table = tables::operations(analysis)?;
        Some(self.section("Operations, pooled over trials (descriptive)", &table))
    }

    fn machine(&self, analysis: &Analysis) -> Option<String> {
        let mut out = self.section("Devices", &machine::devices(analysis)?);
        out.push_str(&self.note(machine::NOTE));
        if let Some(table) = machine::nfs(analysis) {
            out.push('\n');
            out.push_str(&self.section("NFS operations", &table));
        }
        Some(out)
    }

    fn index(&self, analysis: &Analysis) -> Option<String> {
        let mut out = self.section("Index loads", &tables::index(analysis)?);
        out.extend(tables::slow_load_note(analysis).map(|note| self.note(&note)));
        Some(out)
    }

    fn warnings(&self, notices: &[&Notice]) -> String {
        let mut out = String::new();
        for notice in notices {
            let head = self.paint.alarm(&format!("Warning, {}:", notice.title));
            if let [message] = notice.messages.as_slice() {
                out.push_str(&format!("{}\n", self.hanging(&format!("{head} {message}"))));
            } else {
                out.push_str(&format!("{}\n", self.hanging(&head)));
                for message in &notice.messages {
                    let options =
                        lines_of(self.width).initial_indent("  ").subsequent_indent("    ");
                    out.push_str(&format!("{}\n", fill(message, options)));
                }
            }
            if !notice.advice.is_empty() {
                out.push_str(&self.note(&notice.advice));
            }
        }
        out
    }

    fn list(&self, title: &str, items: &[String]) -> String {
        if items.is_empty() {
            return String::new();
        }
        let mut out = format!("{}\n", self.paint.bold(title));
        for item in items {
            let text = format!("- {}", words::printable(item));
            let options = lines_of(self.width).initial_indent("  ").subsequent_indent("    ");
            out.push_str(&format!("{}\n", fill(&text, options)));
        }
        out
    }

    fn section(&self, title: &str, table: &Table) -> String {
        format!(
            "{}\n{}",
            self.paragraph(&self.paint.bold(title), ""),
            table::lay_out(table, self.paint, self.width)
        )
    }

    fn note(&self, text: &str) -> String {
        format!("{}\n", self.paint.dim(&self.paragraph(text, "  ")))
    }

    fn paragraph(&self, text: &str, indent: &str) -> String {
        fill(text, lines_of(self.width).initial_indent(indent).subsequent_indent(indent))
    }

    fn hanging(&self, text: &str) -> String {
        fill(text, lines_of(self.width).subsequent_indent("  "))
    }
}

/// Lines of this width, cut between words: `I/O` is one.
fn lines_of(width: usize) -> Options<'static> {
    Options::new(width).word_separator(WordSeparator::AsciiSpace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_between_words_only() {
        assert_eq!(fill("and one I/O alone", lines_of(9)), "and one\nI/O alone");
        assert_eq!(fill("aaaaaaaaaaaa", lines_of(9)), "aaaaaaaaa\naaa");
    }
}
