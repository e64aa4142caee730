//! Whose words they are: a POSIX shell, or one of Windows.

use super::tool::{Tool, tool_where};
use super::{prompt, word};

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
        let first = line.split_whitespace().next().map(word::program).unwrap_or_default();
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
