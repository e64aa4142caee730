//! What is printed: as it is, or laid out for a terminal.

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

/// Columns of text at most, and at least: narrower columns would hold a word each.
const WIDEST: usize = 80;
const NARROWEST: usize = 40;

pub(crate) const REPORT: &str = "report.html";

/// Results go where none are yet.
///
/// # Errors
/// If `dir` holds a record, or a file in a report's place.
pub(crate) fn refuse_occupied(dir: &Path) -> Result<()> {
    Writer::<ExperimentHead>::refuse_occupied(dir)?;
    Writer::<SearchHead>::refuse_occupied(dir)?;
    for side in SideRecord::ALL {
        Writer::<ExperimentHead>::refuse_occupied(side.directory(dir))?;
    }
    let report = dir.join(REPORT);
    if fs::symlink_metadata(&report).is_ok() {
        return Err(usage(format!(
            "{} exists already; results are never overwritten: name another directory with --out",
            report.display()
        )));
    }
    refuse_unwritable(dir)
}

/// What is there of the way to `dir` must be a directory that may be written, which is better known
/// before than after a measurement, and nobody else may lead root elsewhere by a link.
///
/// # Errors
/// If it is not.
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
            "no results can be written to {dir}: {shown} is not a directory; name another place with \
             --out"
        )));
    }
    let why = match access(there, Access::WRITE_OK | Access::EXEC_OK) {
        Ok(()) => match Held::existing(there) {
            Ok(_) => return Ok(()),
            Err(error) => error.to_string(),
        },
        Err(error) => format!("{shown} cannot be written: {}", io::Error::from(error)),
    };
    Err(failed(format!("no results can be written to {dir}: {why}; name another place with --out")))
}

/// Prints on stdout, as it is and with a newline at the end. Nobody who reads on is no error: what
/// is left to do is done, and the exit code is what it would be.
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

/// Prints a listing on stdout, for people or as JSON.
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

/// Adds `text` to `out`, wrapped at 80 columns, as one or more whole lines.
pub(crate) fn wrap(out: &mut String, text: &str, first_indent: &str, indent: &str) {
    wrap_at(WIDEST, out, text, first_indent, indent);
}

/// Columns of the terminal, up to 80; 80 if the output goes elsewhere.
pub(crate) fn columns() -> usize {
    textwrap::termwidth().clamp(NARROWEST, WIDEST)
}

/// As [`wrap`], at another width.
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
        // Half of `dm-crypt` is no name.
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    out.push_str(&textwrap::fill(text, options));
    out.push('\n');
}

/// How reports are laid out: colours if they are wanted, 80 columns.
pub(crate) fn style(color: Color) -> report::Style {
    report::Style { color: colored(color), width: 80 }
}

/// Whether to print colours.
pub(crate) fn colored(color: Color) -> bool {
    match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => io::stdout().is_terminal() && takes_color(|name| std::env::var_os(name)),
    }
}

/// Whether the environment lets a terminal have colours: <https://no-color.org>, and no escape
/// sequences for a terminal that is unknown or says it knows none.
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
