//! Missing parts of a record: iotax was killed, or the record was truncated or edited.

use std::fmt;
use std::io::{self, BufRead as _, BufReader};
use std::path::Path;

use crate::end::End;
use crate::error::Error;
use crate::json_file::open_file;
use crate::location::Location;

/// Missing parts of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gap {
    /// Whether it has no end.
    has_no_end: bool,
    /// Whether its last line is incomplete, so that part of a trial cannot be read.
    has_part_of_a_line: bool,
    /// Lines in the file, and lines that were written, if they differ.
    lines: Option<(u32, u32)>,
    /// What a line contains: `trial`, `probe`.
    of: &'static str,
}

impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = self.of;
        let mut facts = Vec::new();
        if self.has_no_end {
            facts.push("has no end marker (iotax was killed or is still running)".to_owned());
        }
        if self.has_part_of_a_line {
            facts.push(format!("ends in the middle of a {of}"));
        }
        if let Some((held, run)) = self.lines {
            facts.push(format!("contains {held} of the {run} {of}s that were run"));
        }
        write!(
            f,
            "the record {}; the results below use only what the record contains",
            facts.join(" and ")
        )
    }
}

/// The missing parts of `file`, which should have a line for each of those that `end` counts.
/// `None`: complete.
pub(crate) fn gap(
    file: &Location,
    end: Option<&End>,
    of: &'static str,
) -> Result<Option<Gap>, Error> {
    let (held, has_part_of_a_line) =
        lines(file.at()).map_err(|source| Error::read(file.shown(), source))?;
    let run = end.and_then(|end| end.trials);
    let gap = Gap {
        has_no_end: end.is_none(),
        has_part_of_a_line,
        lines: run.filter(|run| *run != held).map(|run| (held, run)),
        of,
    };
    let is_whole = !gap.has_no_end && !gap.has_part_of_a_line && gap.lines.is_none();
    Ok((!is_whole).then_some(gap))
}

/// Number of complete lines, and whether an incomplete one follows.
fn lines(path: &Path) -> io::Result<(u32, bool)> {
    let mut reader = BufReader::new(open_file(path)?);
    let (mut lines, mut is_in_line) = (0_u32, false);
    loop {
        let bytes = reader.fill_buf()?;
        let Some(last) = bytes.last() else { return Ok((lines, is_in_line)) };
        is_in_line = *last != b'\n';
        let ends = bytes.split(|byte| *byte == b'\n').count() - 1;
        lines = lines.saturating_add(u32::try_from(ends).unwrap_or(u32::MAX));
        let read = bytes.len();
        reader.consume(read);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `end`: how many trials it says were run, if it says so.
    fn said(text: &str, end: Result<Option<u32>, ()>) -> String {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("trials.jsonl");
        std::fs::write(&file, text).unwrap();
        let end = end.ok().map(|trials| End {
            reasons: Vec::new(),
            wall_ns: 0,
            interrupted: false,
            gave_up: false,
            trials,
            other_programs: None,
        });
        gap(&(&file).into(), end.as_ref(), "trial")
            .unwrap()
            .map_or_else(String::new, |gap| gap.to_string())
    }

    #[test]
    fn a_whole_record_lacks_nothing() {
        assert_eq!(said("1\n2\n", Ok(Some(2))), "");
        assert_eq!(said("1\n2\n", Ok(None)), "", "records of old do not say how many");
        assert_eq!(said("", Ok(Some(0))), "");
    }

    #[test]
    fn all_that_is_missing_is_told() {
        insta::assert_snapshot!(said("1\n2", Ok(Some(2))), @"the record ends in the middle of a trial and contains 1 of the 2 trials that were run; the results below use only what the record contains");
        insta::assert_snapshot!(said("1\n2", Ok(None)), @"the record ends in the middle of a trial; the results below use only what the record contains");
        insta::assert_snapshot!(said("1\n", Ok(Some(3))), @"the record contains 1 of the 3 trials that were run; the results below use only what the record contains");
        insta::assert_snapshot!(said("1\n2", Err(())), @"the record has no end marker (iotax was killed or is still running) and ends in the middle of a trial; the results below use only what the record contains");
    }
}
