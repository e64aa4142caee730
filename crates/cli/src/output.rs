//! Prints text, unchanged or laid out for a terminal, and checks that results can be written.

use std::ffi::OsString;
use std::fs;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::Path;

use iotax_record::{ExperimentHead, SearchHead, SideRecord, Writer};
use iotax_report as report;
use iotax_rig::Held;
use rustix::fs::{Access, access};
use serde_json::Value;

use crate::args::{Color, Listing};
use crate::exit::{Context as _, Exit, Result, failed, usage};

/// Maximum and minimum number of text columns; narrower text would have one word per line.
const WIDEST: usize = 80;
const NARROWEST: usize = 40;

pub(crate) const REPORT: &str = "report.html";

/// Refuses a directory that already contains results.
///
/// # Errors
/// If `dir` contains a record or a report.
pub(crate) fn refuse_occupied(dir: &Path) -> Result<()> {
    Writer::<ExperimentHead>::refuse_occupied(dir)?;
    Writer::<SearchHead>::refuse_occupied(dir)?;
    for side in SideRecord::ALL {
        Writer::<ExperimentHead>::refuse_occupied(side.directory(dir))?;
    }
    let report = dir.join(REPORT);
    if fs::symlink_metadata(&report).is_ok() {
        return Err(usage(format!(
            "{} already exists, and iotax never overwrites results; choose another directory with \
             --out",
            report.display()
        )));
    }
    refuse_unwritable(dir)
}

/// Refuses a directory that cannot be created or written, before anything is measured. Also refuses
/// symbolic links by which another user could redirect root.
///
/// # Errors
/// If results cannot be written there.
pub(crate) fn refuse_unwritable(dir: &Path) -> Result<()> {
    let all = std::path::absolute(dir)?;
    let there = all.ancestors().find(|part| fs::symlink_metadata(part).is_ok());
    let there = there.unwrap_or(Path::new("/"));
    let shown = std::env::current_dir()
        .ok()
        .and_then(|here| there.strip_prefix(here).ok().map(Path::to_owned))
        .filter(|part| !part.as_os_str().is_empty())
        .unwrap_or_else(|| there.to_owned());
    let (dir, shown) = (dir.display(), shown.display());
    if !there.is_dir() {
        return Err(usage(format!(
            "cannot write results to {dir}: {shown} is not a directory; choose another directory \
             with --out"
        )));
    }
    let why = match access(there, Access::WRITE_OK | Access::EXEC_OK) {
        Ok(()) => match Held::existing(there) {
            Ok(_) => return Ok(()),
            Err(error) => error.to_string(),
        },
        Err(error) => format!("{shown} is not writable: {}", io::Error::from(error)),
    };
    Err(failed(format!(
        "cannot write results to {dir}: {why}; choose another directory with --out"
    )))
}

/// Prints `text` and a final newline on stdout. A closed pipe is not an error: the command
/// continues, and its exit code does not change.
pub(crate) fn say(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    let end: &[u8] = if text.ends_with('\n') { b"" } else { b"\n" };
    match out
        .write_all(text.as_bytes())
        .and_then(|()| out.write_all(end))
        .and_then(|()| out.flush())
    {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written.context("cannot write to standard output"),
    }
}

/// Prints a listing on stdout, as text or JSON.
pub(crate) fn list(
    format: Listing,
    text: impl FnOnce() -> String,
    json: impl FnOnce() -> Value,
) -> Result<Exit> {
    say(&match format {
        Listing::Text => text(),
        Listing::Json => report::json_text(&json()),
    })?;
    Ok(Exit::Done)
}

/// Appends `text` to `out` as complete lines, wrapped at 80 columns.
pub(crate) fn wrap(out: &mut String, text: &str, first_indent: &str, indent: &str) {
    wrap_at(WIDEST, out, text, first_indent, indent);
}

/// Columns of the terminal, at most 80; 80 if stdout is not a terminal.
pub(crate) fn columns() -> usize {
    textwrap::termwidth().clamp(NARROWEST, WIDEST)
}

/// Like [`wrap`], at another width.
pub(crate) fn wrap_at(
    columns: usize,
    out: &mut String,
    text: &str,
    first_indent: &str,
    indent: &str,
) {
    let options = textwrap::Options::new(columns)
        .initial_indent(first_indent)
        .subsequent_indent(indent)
        .word_separator(textwrap::WordSeparator::Custom(iotax_report::parts_of_paths))
        // Names such as `dm-crypt` must not be split.
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    out.push_str(&textwrap::fill(text, options));
    out.push('\n');
}

/// The style of reports: 80 columns, and colours if `color` says so.
pub(crate) fn style(color: Color) -> report::Style {
    report::Style { color: colored(color), width: 80 }
}

/// The same on all columns of a terminal, up to what a line may have to be read with ease.
pub(crate) fn wide_style(color: Color) -> report::Style {
    const MOST: usize = 120;
    let columns = textwrap::termwidth().clamp(NARROWEST, MOST);
    report::Style { width: u16::try_from(columns).unwrap_or(80), ..style(color) }
}

/// Whether to print colours.
pub(crate) fn colored(color: Color) -> bool {
    match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => io::stdout().is_terminal() && takes_color(|name| std::env::var_os(name)),
    }
}

/// Whether the environment allows colours: not with `NO_COLOR` (<https://no-color.org>), nor on an
/// unknown or dumb terminal.
fn takes_color(variable: impl Fn(&str) -> Option<OsString>) -> bool {
    let wanted = variable("NO_COLOR").is_none_or(|value| value.is_empty());
    wanted && variable("TERM").is_some_and(|terminal| !terminal.is_empty() && terminal != "dumb")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_need_a_terminal_that_knows_them_and_nobody_against_them() {
        let takes = |set: &[(&str, &str)]| {
            takes_color(|name| set.iter().find(|(n, _)| *n == name).map(|(_, value)| value.into()))
        };
        assert!(takes(&[("TERM", "xterm")]));
        assert!(takes(&[("TERM", "xterm"), ("NO_COLOR", "")]));
        assert!(!takes(&[("TERM", "xterm"), ("NO_COLOR", "1")]));
        assert!(!takes(&[("TERM", "dumb")]));
        assert!(!takes(&[]));
    }
}
