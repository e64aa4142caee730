use std::fmt::Write as _;

use iotax_rig::UndoReport;
use serde_json::json;

use crate::args::UndoArgs;
use crate::exit::{Exit, Result, failed};
use crate::output::list;

/// `iotax undo`
pub(crate) fn undo(args: &UndoArgs) -> Result<Exit> {
    #[cfg(feature = "kubernetes")]
    if args.cluster {
        return super::kube::undo(&args.place, args.format);
    }
    // Without a home directory, there is no journal.
    let report = iotax_rig::undo(&iotax_rig::state_dir());
    let problems: Vec<String> = report.problems.iter().map(ToString::to_string).collect();
    let value = || {
        json!({
            "removed": report.removed,
            "forgotten": report.lost,
            "running": report.processes,
            "problems": problems,
        })
    };
    let done = list(args.format, || text(&report), value)?;
    if !problems.is_empty() {
        return Err(failed(format!("not everything could be undone:\n{}", problems.join("\n"))));
    }
    Ok(done)
}

fn text(report: &UndoReport) -> String {
    let mut out = String::new();
    for removed in &report.removed {
        let _ = writeln!(out, "removed {removed}");
    }
    for lost in &report.lost {
        let _ = writeln!(out, "removed {lost} from the journal: its directory no longer exists");
    }
    let _ = match (report.removed.len(), report.problems.len()) {
        (0, 0) if !report.lost.is_empty() => writeln!(out, "Nothing is left to undo."),
        (0, 0) => writeln!(out, "Nothing to undo: no killed run left anything behind."),
        (0, problems) => writeln!(out, "Nothing was removed; {}.", left(problems)),
        (removed, 0) => writeln!(out, "{} removed; nothing is left.", things(removed)),
        (removed, problems) => writeln!(out, "{} removed; {}.", things(removed), left(problems)),
    };
    if report.live > 0 {
        let processes: Vec<_> = report.processes.iter().map(ToString::to_string).collect();
        let (word, are) =
            if processes.len() == 1 { ("process", "is") } else { ("processes", "are") };
        let _ = writeln!(
            out,
            "Not removed: everything that belongs to {word} {}, which {are} still running.",
            processes.join(", ")
        );
    }
    out
}

fn things(count: usize) -> String {
    if count == 1 { "1 item".to_owned() } else { format!("{count} items") }
}

fn left(problems: usize) -> String {
    format!("{} could not be removed (see below)", things(problems))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(removed: &[&str], processes: &[u32]) -> String {
        text(&UndoReport {
            removed: removed.iter().map(|what| (*what).to_owned()).collect(),
            lost: Vec::new(),
            live: processes.len(),
            processes: processes.iter().copied().collect(),
            problems: Vec::new(),
        })
    }

    #[test]
    fn what_is_forgotten_is_said_once_and_is_no_problem() {
        let report = UndoReport { lost: vec!["/data/.iotax-x".to_owned()], ..Default::default() };
        insta::assert_snapshot!(text(&report), @"
        removed /data/.iotax-x from the journal: its directory no longer exists
        Nothing is left to undo.
        ");
    }

    #[test]
    fn everything_removed_has_its_line_and_what_is_left_its_reason() {
        insta::assert_snapshot!(told(&[], &[]), @"Nothing to undo: no killed run left anything behind.");
        insta::assert_snapshot!(
            told(&["the mount at /x", "the loop device on /y"], &[12]), @"
            removed the mount at /x
            removed the loop device on /y
            2 items removed; nothing is left.
            Not removed: everything that belongs to process 12, which is still running.
            ");
    }
}
