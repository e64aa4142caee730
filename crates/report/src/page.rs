//! A page of text that is put together from top to bottom.

use textwrap::core::Word;
use textwrap::{Options, WordSeparator, WordSplitter, fill};

use crate::tables::Table;
use crate::text::{Style, dimmed, emphasised, titled, warned};
use crate::words::printable;

/// Room for the names of facts, so that several lists of them stand alike.
const NARROWEST_NAME: usize = 6;

/// Text so far, and how it is laid out.
pub(crate) struct Page {
    style: Style,
    out: String,
}

impl Page {
    pub(crate) fn new(style: Style) -> Self {
        Self { style, out: String::new() }
    }

    pub(crate) fn finish(self) -> String {
        self.out
    }

    /// The first line of a part.
    pub(crate) fn title(&mut self, text: &str) {
        self.gap();
        let lines = self.filled(text, "", "  ");
        self.out.push_str(&format!("{}\n", emphasised(&lines, self.style)));
    }

    pub(crate) fn table(&mut self, title: &str, table: &Table) {
        self.gap();
        self.out.push_str(&titled(title, table, self.style));
    }

    pub(crate) fn paragraph(&mut self, text: &str) {
        self.gap();
        let lines = self.filled(text, "", "");
        self.out.push_str(&format!("{lines}\n"));
    }

    /// What belongs to the table above it.
    pub(crate) fn indented(&mut self, text: &str) {
        let lines = self.filled(text, "  ", "  ");
        self.out.push_str(&format!("{lines}\n"));
    }

    /// Names and values in two columns.
    pub(crate) fn facts(&mut self, facts: &[(String, String)]) {
        let Some(widest) = facts.iter().map(|(name, _)| name.chars().count()).max() else { return };
        self.gap();
        for (name, value) in facts {
            let (name, indent) = (printable(name), " ".repeat(widest + 4));
            let lines = self.filled(value, &format!("  {name:widest$}  "), &indent);
            self.out.push_str(&format!("{lines}\n"));
        }
    }

    /// Each note once.
    pub(crate) fn notes<'a>(&mut self, notes: impl Iterator<Item = &'a String>) {
        let mut said: Vec<&String> = Vec::new();
        for note in notes {
            if !said.contains(&note) {
                said.push(note);
            }
        }
        self.list("Notes", &said);
    }

    /// A warning over several lines.
    pub(crate) fn warning(&mut self, text: &str) {
        self.gap();
        let lines = self.filled(text, "", "  ");
        self.out.push_str(&format!("{}\n", warned(&lines, self.style)));
    }

    pub(crate) fn sources(&mut self, sources: &[String]) {
        self.gap();
        self.out.push_str("Sources\n");
        for line in sources {
            let lines = self.wrapped(line, "  ", "      ", WordSeparator::Custom(parts_of_paths));
            self.out.push_str(&format!("{}\n", dimmed(&lines, self.style)));
        }
    }

    /// Lines as they are.
    pub(crate) fn lines(&mut self, lines: &[String]) {
        self.gap();
        for line in lines {
            self.out.push_str(&format!("{line}\n"));
        }
    }

    /// Names and values that belong to what stands above; a name that repeats is said once.
    pub(crate) fn facts_below(&mut self, facts: &[(&str, String)]) {
        let widest = facts.iter().map(|(name, _)| name.chars().count()).max();
        let widest = widest.unwrap_or_default().max(NARROWEST_NAME);
        let mut last = "";
        for (name, value) in facts {
            let shown = if *name == last { "" } else { name };
            last = name;
            let indent = " ".repeat(widest + 6);
            let lines = self.filled(value, &format!("    {shown:widest$}  "), &indent);
            self.out.push_str(&format!("{lines}\n"));
        }
    }

    /// Commands as they are to be pasted: not wrapped, whatever their length.
    pub(crate) fn commands_below(&mut self, name: &str, commands: &[String]) {
        for (at, command) in commands.iter().enumerate() {
            let name = if at == 0 { name } else { "" };
            self.out.push_str(&format!("    {name:NARROWEST_NAME$}  {}\n", printable(command)));
        }
    }

    /// A line of a list, and below it the command that belongs to it, not wrapped.
    pub(crate) fn item(&mut self, text: &str, command: Option<&str>) {
        let lines = self.filled(text, "  ", "    ");
        self.out.push_str(&format!("{lines}\n"));
        if let Some(command) = command {
            self.out.push_str(&format!("      {}\n", printable(command)));
        }
    }

    pub(crate) fn list(&mut self, title: &str, lines: &[&String]) {
        if lines.is_empty() {
            return;
        }
        self.gap();
        self.out.push_str(&format!("{title}\n"));
        for line in lines {
            let lines = self.filled(line, "  - ", "    ");
            self.out.push_str(&format!("{lines}\n"));
        }
    }

    fn gap(&mut self) {
        if !self.out.is_empty() {
            self.out.push('\n');
        }
    }

    /// Wrapped at spaces: half of `I/O` is no word, and no name is cut at a hyphen.
    fn filled(&self, text: &str, first: &str, indent: &str) -> String {
        self.wrapped(text, first, indent, WordSeparator::AsciiSpace)
    }

    fn wrapped(&self, text: &str, first: &str, indent: &str, at: WordSeparator) -> String {
        let options = Options::new(usize::from(self.style.width))
            .initial_indent(first)
            .subsequent_indent(indent)
            .word_separator(at)
            .word_splitter(WordSplitter::NoHyphenation);
        fill(&printable(text), options)
    }
}

/// Words for [`WordSeparator::Custom`], and of long ones, which are paths or lists of choices, the
/// parts: a line may end with a slash or `|`, but half of `I/O` is no word.
pub fn parts_of_paths(line: &str) -> Box<dyn Iterator<Item = Word<'_>> + '_> {
    const LONG: usize = 24;
    let words = line.split_inclusive(' ');
    let parts = words.flat_map(|word| {
        let has_parts = word.len() > LONG;
        word.split_inclusive(move |c| has_parts && ['/', '|'].contains(&c))
    });
    Box::new(parts.map(Word::from))
}
