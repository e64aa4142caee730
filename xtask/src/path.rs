//! Checks that the main path, from the command line to the verdict, stays short.

use std::collections::BTreeSet;
use std::fs;

use anyhow::{Context as _, Result, bail};

use crate::checkout::root;

const ARCHITECTURE: &str = "ARCHITECTURE.md";
/// Limits: hops from `main` to the verdict, and files that contain them.
const MOST_HOPS: usize = 25;
const MOST_FILES: usize = 15;

/// Fails if the table of hops is too long or names a function that does not exist.
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
        bail!("errors in the main path in {ARCHITECTURE}:\n{}", wrong.join("\n"));
    }
    Ok(())
}

/// Reads the rows under `## The main path`: a function and its file.
fn listed(architecture: &str) -> impl Iterator<Item = (&str, &str)> {
    let section = architecture.split("\n## ").find_map(|part| part.strip_prefix("The main path\n"));
    section.unwrap_or_default().lines().filter_map(|line| {
        let (function, rest) = line.strip_prefix("| `")?.split_once('`')?;
        let (file, _) = rest.strip_prefix(" | `")?.split_once('`')?;
        Some((function, file))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hops_are_rows_of_their_section() {
        let text = "# A\n\n## The main path\n\n| hop | file |\n|---|---|\n| `main` | `cli/src/main.rs` | x |\n\n## B\n| `no` | `x` |";
        assert_eq!(listed(text).collect::<Vec<_>>(), [("main", "cli/src/main.rs")]);
    }
}
