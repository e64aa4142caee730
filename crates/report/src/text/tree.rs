use textwrap::wrap;

use super::lines::lines_of;
use super::paint::Paint;
use crate::document::Node;
use crate::words::printable;

/// The top, and under it each node below the one it lies on, as lines.
pub(super) fn drawn(top: &Node, paint: Paint, width: usize) -> String {
    let mut tree = Tree { paint, width, out: format!("{}\n", paint.bold(&printable(&top.name))) };
    if !top.about.is_empty() {
        tree.out.push_str(&format!("  {}\n", printable(&top.about)));
    }
    tree.add(&top.below, "");
    tree.out
}

struct Tree {
    paint: Paint,
    width: usize,
    out: String,
}

impl Tree {
    fn add(&mut self, nodes: &[Node], indent: &str) {
        for (at, node) in nodes.iter().enumerate() {
            let is_last = at + 1 == nodes.len();
            let (branch, rest) = if is_last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
            let below = format!("{indent}{rest}");
            let stem = if node.below.is_empty() { "   " } else { "│  " };
            let name = self.paint.bold(&printable(&node.name));
            self.out.push_str(&format!("{indent}{branch}{name}{}\n", node.remark));
            let taken = below.chars().count() + stem.chars().count();
            let options = lines_of(self.width.saturating_sub(taken).max(20));
            let about = printable(&node.about);
            for line in wrap(&about, options).iter().filter(|line| !line.is_empty()) {
                self.out.push_str(&format!("{below}{stem}{}\n", self.paint.dim(line)));
            }
            self.add(&node.below, &below);
        }
    }
}
