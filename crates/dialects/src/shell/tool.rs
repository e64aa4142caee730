//! Whose command a pasted text is, if it is one.

use super::{lexer, prompt, typeset};

/// A tool whose command lines are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    Fio,
    /// `DiskSpd`.
    DiskSpd,
}

impl Tool {
    /// What people call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fio => "fio",
            Self::DiskSpd => "diskspd",
        }
    }

    /// By the program's name.
    pub(super) fn of_program(name: &str) -> Option<Self> {
        match name {
            "fio" => Some(Self::Fio),
            "diskspd" => Some(Self::DiskSpd),
            _ => None,
        }
    }
}

/// The tool that a text runs, if the text is a command line or a script, and not a name or a path.
///
/// It is one if a line of it runs a tool with arguments: as its first word (behind a prompt), behind
/// programs that run others, or with an option behind it. Whether everything of it can be read is
/// another question.
pub fn tool(text: &str) -> Option<Tool> {
    tool_where(text, false).or_else(|| tool_where(text, true))
}

/// The same, of lines that are no comments, or of all of them.
fn tool_where(text: &str, hash: bool) -> Option<Tool> {
    let text = text.trim_start_matches('\u{feff}');
    // A line that goes on is one line.
    let mut joined = String::with_capacity(text.len());
    for line in text.lines() {
        let line = line.trim_end();
        let open = line.strip_suffix(['\\', '^', '`']);
        joined.push_str(open.unwrap_or(line));
        joined.push(if open.is_some() { ' ' } else { '\n' });
    }
    joined.lines().find_map(|line| of_line(line, hash))
}

fn of_line(line: &str, hash: bool) -> Option<Tool> {
    let line = typeset::plain(line, false);
    let line = &line[prompt::length(&line, hash)..];
    let is_comment = line.starts_with('#') || line.starts_with("::");
    if is_comment {
        return None;
    }
    let between =
        |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ';' | '&' | '|' | '(' | ')');
    let words: Vec<&str> = line.split(between).filter(|word| !word.is_empty()).collect();
    let first = words.first().map(|first| lexer::program(first.trim_start_matches('@')))?;
    if first == "rem" {
        return None;
    }
    // What is quoted begins with a quote: a path with blanks in it is several of these words.
    let is_quoted = line.starts_with(['"', '\'', '&', '.']);
    let runs = |at: usize| {
        let found = Tool::of_program(&lexer::program(words[at].trim_start_matches('@')))?;
        let behind = words.get(at + 1..).filter(|behind| !behind.is_empty())?;
        let is_run = at == 0
            || is_quoted
            || super::wrappers::wrapper_named(&first).is_some()
            || is_assignment(words[0])
            || behind.iter().any(|word| word.starts_with('-'));
        is_run.then_some(found)
    };
    (0..words.len()).find_map(runs)
}

/// `NAME=value`.
pub(super) fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

// Whose words they are: a POSIX shell, or one of Windows.

/// How a text is split into commands.
#[expect(clippy::struct_excessive_bools, reason = "independent habits of shells")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Style {
    /// A backslash is a part of paths, and `^` and a backquote continue a line.
    pub windows: bool,
    /// `a & b` runs one after the other, as in cmd.
    pub ampersand_waits: bool,
    /// A line that begins with `#` is a command behind a prompt, and no comment.
    pub hash_prompts: bool,
    /// Some line has a prompt: those without one are what a command has printed.
    pub prompts: bool,
    /// Options have one letter, as those of `DiskSpd`.
    pub short_options: bool,
}

/// What only cmd has.
const OF_CMD: [&str; 9] =
    ["cmd", "rem", "@rem", "@echo", "setlocal", "@setlocal", "call", "start", "goto"];
/// What only PowerShell has.
const OF_POWERSHELL: [&str; 3] = ["powershell", "pwsh", "start-process"];

/// The style of a text that runs this tool.
pub(super) fn style_of(text: &str, tool: Tool) -> Style {
    let hash_prompts = tool_where(text, false).is_none();
    let mut style = Style {
        windows: tool == Tool::DiskSpd,
        ampersand_waits: false,
        hash_prompts,
        prompts: false,
        short_options: tool == Tool::DiskSpd,
    };
    let lower = text.to_ascii_lowercase();
    style.windows |= lower.contains("fio.exe");
    for line in lower.lines() {
        let end = prompt::length(line, hash_prompts);
        let (before, line) = (line[..end].trim(), line[end..].trim());
        let first = line.split_whitespace().next().map(lexer::program).unwrap_or_default();
        let is_cmd = OF_CMD.contains(&first.as_str())
            || line.starts_with("::")
            || line.ends_with('^')
            || before.ends_with('>') && before.contains(":\\") && !before.starts_with("ps");
        let is_powershell = OF_POWERSHELL.contains(&first.as_str())
            || before.starts_with("ps") && before.ends_with('>')
            || line.starts_with("& ")
            || line.ends_with(" `");
        style.windows |= is_cmd || is_powershell || is_drive(line);
        style.ampersand_waits |= is_cmd;
        style.prompts |= end > 0 && !before.is_empty() && !line.is_empty() && before != ">";
    }
    style
}

/// Begins with a program on a drive.
fn is_drive(line: &str) -> bool {
    let line = line.trim_start_matches(['"', '\'']);
    let bytes = line.as_bytes();
    bytes.len() > 3 && bytes[0].is_ascii_alphabetic() && bytes[1..].starts_with(b":\\")
}
