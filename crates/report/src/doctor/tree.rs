use iotax_record::Machine;
use iotax_record::machine::PathSeen;
use textwrap::{Options, WordSeparator, WordSplitter, wrap};

use super::layer;
use crate::text::{Style, dimmed, emphasised};
use crate::words::printable;

/// The path, and under it each layer below the one it lies on, as lines.
pub(super) fn drawn(machine: &Machine, path: &PathSeen, style: Style) -> Vec<String> {
    let mut lines = vec![emphasised(&printable(path.shell_word().unwrap_or(&path.path)), style)];
    if let Some(problem) = &path.problem {
        lines.push(format!("  {}", printable(problem)));
    }
    if let Some(top) = path.top {
        let mut tree = Tree { machine, style, lines, drawn: Vec::new() };
        tree.add(top, "", true);
        lines = tree.lines;
    }
    lines
}

struct Tree<'a> {
    machine: &'a Machine,
    style: Style,
    lines: Vec<String>,
    /// Layers that were drawn: those on which several lie are told once.
    drawn: Vec<usize>,
}

impl Tree<'_> {
    fn add(&mut self, place: usize, indent: &str, is_last: bool) {
        // A file that was edited by hand may lead nowhere.
        let Some(node) = self.machine.nodes.get(place) else { return };
        let is_drawn = self.drawn.contains(&place);
        self.drawn.push(place);
        let (branch, rest) = if is_last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        let below = format!("{indent}{rest}");
        let stem = if node.below.is_empty() { "   " } else { "│  " };
        let name = printable(&layer::name(&node.layer));
        let again = if is_drawn { ", as above" } else { "" };
        self.lines.push(format!("{indent}{branch}{}{again}", emphasised(&name, self.style)));
        if is_drawn {
            return;
        }
        let width = usize::from(self.style.width);
        let taken = below.chars().count() + stem.chars().count();
        let options = Options::new(width.saturating_sub(taken).max(20))
            .word_separator(WordSeparator::AsciiSpace)
            .word_splitter(WordSplitter::NoHyphenation);
        let facts = layer::facts(&node.layer).join(", ");
        for line in wrap(&printable(&facts), options).iter().filter(|line| !line.is_empty()) {
            self.lines.push(format!("{below}{stem}{}", dimmed(line, self.style)));
        }
        for (at, child) in node.below.iter().enumerate() {
            self.add(*child, &below, at + 1 == node.below.len());
        }
    }
}
