use std::fmt::Write as _;
use std::thread;

use iotax_cluster::Undone;
use serde_json::json;

use crate::args::{ClusterArgs, Listing};
use crate::exit::{Exit, Result, failed};
use crate::in_cluster::connect;
use crate::output::list;

/// `iotax undo --cluster`
pub(crate) fn undo(args: &ClusterArgs, format: Listing) -> Result<Exit> {
    let cluster = connect(args)?;
    let undone = iotax_cluster::undo(&cluster, &mut |time| {
        eprintln!(
            "note: looking on for {}, to see which runs are alive",
            iotax_quantity::span(time.as_secs())
        );
        thread::sleep(time);
    })?;
    let value = || {
        json!({
            "namespace": cluster.namespace(),
            "removed": undone.removed,
            "running": undone.live,
            "problems": undone.problems,
        })
    };
    let done = list(format, || text(&undone, cluster.namespace()), value)?;
    if undone.problems.is_empty() { Ok(done) } else { Err(failed(undone.problems.join("\n"))) }
}

fn text(undone: &Undone, namespace: &str) -> String {
    let mut out = String::new();
    for removed in &undone.removed {
        let _ = writeln!(out, "removed {removed}");
    }
    if undone.removed.is_empty() && undone.problems.is_empty() {
        let _ = writeln!(out, "Nothing to undo: no dead run left anything in {namespace}.");
    }
    if !undone.live.is_empty() {
        let runs = undone.live.join(", ");
        let _ = writeln!(out, "Left alone, because they are under way: runs {runs}.");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_undone_in_a_cluster_is_told() {
        assert_eq!(
            text(&Undone::default(), "bench"),
            "Nothing to undo: no dead run left anything in bench.\n"
        );
        let undone = Undone {
            removed: vec!["Pod iotax-1-0".to_owned(), "Lease iotax-1".to_owned()],
            live: vec!["2".to_owned()],
            problems: Vec::new(),
        };
        insta::assert_snapshot!(text(&undone, "bench"), @"
        removed Pod iotax-1-0
        removed Lease iotax-1
        Left alone, because they are under way: runs 2.
        ");
    }
}
