//! The main path, from a command line to a verdict: it stays short, and what is resolved on it stays as
//! it is.

use std::collections::BTreeSet;
use std::fs;

use anyhow::{Context as _, Result, bail};

use crate::checkout::root;
use crate::sources::each_source;

const ARCHITECTURE: &str = "ARCHITECTURE.md";
/// Hops from `main` to the verdict, and files that they are in.
const MOST_HOPS: usize = 25;
const MOST_FILES: usize = 15;

/// Where an experiment may still change: while it is put together, and copies of one that are derived
/// from it.
const MAY_CHANGE: [&str; 4] = [
    "crates/experiment/",
    "crates/cli/src/resolve/",
    // Two halves of one workload, each for its container.
    "crates/cluster/src/pair.rs",
    // Without the rules of the house that measured.
    "crates/report/src/redact/mod.rs",
];

/// Fails if the table of hops names a function that is not there, or is too long.
pub(crate) fn hops() -> Result<()> {
    let text = fs::read_to_string(root().join(ARCHITECTURE))
        .with_context(|| format!("reading {ARCHITECTURE}"))?;
    let hops: Vec<(&str, &str)> = listed(&text).collect();
    let files: BTreeSet<&str> = hops.iter().map(|(_, file)| *file).collect();
    let mut wrong = Vec::new();
    if hops.is_empty() || hops.len() > MOST_HOPS || files.len() > MOST_FILES {
        wrong.push(format!("  {} hops in {} files", hops.len(), files.len()));
    }
    for (function, file) in &hops {
        let code = fs::read_to_string(root().join("crates").join(file)).unwrap_or_default();
        if !code.contains(&format!("fn {function}(")) {
            wrong.push(format!("  crates/{file} has no function {function}"));
        }
    }
    if !wrong.is_empty() {
        bail!("the main path in {ARCHITECTURE}:\n{}", wrong.join("\n"));
    }
    Ok(())
}

/// Rows under `## The main path`: a function and its file.
fn listed(architecture: &str) -> impl Iterator<Item = (&str, &str)> {
    let section = architecture.split("\n## ").find_map(|part| part.strip_prefix("The main path\n"));
    section.unwrap_or_default().lines().filter_map(|line| {
        let (function, rest) = line.strip_prefix("| `")?.split_once('`')?;
        let (file, _) = rest.strip_prefix(" | `")?.split_once('`')?;
        Some((function, file))
    })
}

/// Fails with every place where a resolved experiment could be changed.
pub(crate) fn resolved_is_final() -> Result<()> {
    let mut changes = Vec::new();
    each_source(|path, text| {
        let is_exempt = MAY_CHANGE.iter().any(|place| path.starts_with(place));
        if is_exempt
            || !path.starts_with("crates/")
            || !path.contains("/src/")
            || path.contains("/tests")
        {
            return;
        }
        let code = text.split("\n#[cfg(test)]\nmod ").next().unwrap_or_default();
        let lines = code.lines().enumerate().filter(|(_, line)| is_change(line));
        changes.extend(lines.map(|(at, line)| format!("  {path}:{}: {}", at + 1, line.trim())));
    })?;
    if !changes.is_empty() {
        bail!("a resolved experiment is changed, make another of it:\n{}", changes.join("\n"));
    }
    Ok(())
}

fn is_change(line: &str) -> bool {
    let borrows = ["&mut Spec", "&mut Search", ".phases_mut()"];
    let holds = ["spec.", "search."].iter().any(|held| {
        let mut assigned = line.split(held).skip(1);
        assigned.any(|rest| {
            let field =
                rest.trim_start_matches(|c: char| c.is_alphanumeric() || "_.[]".contains(c));
            field.starts_with(" = ")
        })
    });
    let is_named = |end: &str| !end.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    let borrowed = |what: &&str| line.split(*what).skip(1).any(is_named);
    !line.trim_start().starts_with("//") && (holds || borrows.iter().any(borrowed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_seen() {
        assert!(is_change("    spec.seed = 3;"));
        assert!(is_change("    head.spec.arms[0].name = name;"));
        assert!(is_change("fn f(spec: &mut Spec) {"));
        assert!(!is_change("fn f(at: &mut SpecFile) {"));
        assert!(!is_change("    if spec.seed == 3 {"));
        assert!(!is_change("    let arms = spec.arms.len();"));
    }

    #[test]
    fn hops_are_rows_of_their_section() {
        let text = "# A\n\n## The main path\n\n| hop | file |\n|---|---|\n| `main` | `cli/src/main.rs` | x |\n\n## B\n| `no` | `x` |";
        assert_eq!(listed(text).collect::<Vec<_>>(), [("main", "cli/src/main.rs")]);
    }
}
