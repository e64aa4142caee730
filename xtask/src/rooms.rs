//! Checks that crates import only what the architecture allows.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context as _, Result, bail};

use crate::checkout::root;
use crate::circles;

/// The file with the table of rooms (crates) and their allowed imports.
const ARCHITECTURE: &str = "ARCHITECTURE.md";

/// Lists imports that the table does not allow, and import cycles within a crate.
pub(crate) fn check() -> Result<()> {
    let mut wrong = Vec::new();
    let text = fs::read_to_string(root().join(ARCHITECTURE))
        .with_context(|| format!("reading {ARCHITECTURE}"))?;
    let rooms: BTreeMap<&str, Vec<&str>> = rooms(&text).collect();
    for entry in fs::read_dir(root().join("crates"))? {
        let dir = entry?.path();
        let room = dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let Some(allowed) = rooms.get(&*room) else {
            wrong.push(format!("  {room} is missing from the table of rooms in {ARCHITECTURE}"));
            continue;
        };
        let manifest = dir.join("Cargo.toml");
        let text = fs::read_to_string(&manifest)
            .with_context(|| format!("reading {}", manifest.display()))?;
        for import in imports(&text).filter(|import| !allowed.contains(import)) {
            wrong.push(format!("  {room} imports {import}"));
        }
    }
    wrong.extend(circles::found()?);
    if !wrong.is_empty() {
        bail!("violations of the architecture:\n{}", wrong.join("\n"));
    }
    Ok(())
}

/// Reads the rows under `## Rooms`: a name, a description, and a comma-separated list of rooms.
fn rooms(architecture: &str) -> impl Iterator<Item = (&str, Vec<&str>)> {
    let section = architecture.split("\n## ").find_map(|part| part.strip_prefix("Rooms\n"));
    section.unwrap_or_default().lines().filter_map(|line| {
        let (name, rest) = line.strip_prefix("| `")?.split_once('`')?;
        let (_, allowed) = rest.trim_end_matches([' ', '|']).rsplit_once('|')?;
        Some((name, allowed.split(',').map(str::trim).collect()))
    })
}

/// The workspace crates in `[dependencies]`. Tests may use any crate.
fn imports(manifest: &str) -> impl Iterator<Item = &str> {
    manifest
        .lines()
        .skip_while(|line| *line != "[dependencies]")
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .filter_map(|line| line.strip_prefix("iotax-"))
        .filter_map(|rest| rest.split(['.', ' ', '=']).next())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_rooms_is_read_from_the_architecture() {
        let text = "# A\n\n## Words\n\n| `no` | x | y |\n\n## Rooms\n\n| crate | does | may import |\n\
                    |---|---|---|\n| `experiment` | all | - |\n| `cli` (binary `x`) | a, b | experiment, record |\n\n## Z\n";
        let found: Vec<_> = rooms(text).collect();
        assert_eq!(found, [("experiment", vec!["-"]), ("cli", vec!["experiment", "record"])]);
    }

    #[test]
    fn only_our_own_normal_dependencies_are_imports() {
        let manifest = "[package]\nname = \"iotax-x\"\n[dependencies]\niotax-experiment.workspace = true\n\
                        serde = \"1\"\niotax-record = { path = \"..\" }\n\n[dev-dependencies]\niotax-run = \"1\"\n";
        assert_eq!(imports(manifest).collect::<Vec<_>>(), ["experiment", "record"]);
    }
}
