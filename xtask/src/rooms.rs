//! Who may import whom: the architecture, as a check.

use std::fs;

use anyhow::{Context as _, Result, bail};

use crate::checkout::root;
use crate::circles;

/// Room, and the rooms it may import. See ARCHITECTURE.md.
const MAY_IMPORT: &[(&str, &[&str])] = &[
    ("catalog", &[]),
    ("spec", &["catalog"]),
    ("plan", &["spec"]),
    ("record", &["spec", "plan"]),
    ("dialects", &["spec", "record"]),
    ("vdisk", &[]),
    ("inspect", &["record"]),
    ("rig", &["spec", "record", "inspect", "vdisk"]),
    ("load", &["spec", "record", "dialects", "vdisk"]),
    ("stats", &[]),
    ("words", &[]),
    ("documented", &["spec", "catalog"]),
    ("analyze", &["spec", "record", "stats", "words", "catalog", "documented"]),
    ("caps", &["spec", "record", "stats", "words", "catalog", "documented"]),
    ("diagnose", &["spec", "record", "stats", "words", "analyze", "caps", "catalog", "documented"]),
    (
        "run",
        &[
            "spec", "plan", "inspect", "vdisk", "rig", "load", "record", "analyze", "caps",
            "catalog",
        ],
    ),
    (
        "report",
        &[
            "spec",
            "record",
            "words",
            "dialects",
            "analyze",
            "caps",
            "diagnose",
            "catalog",
            "documented",
        ],
    ),
    (
        "cli",
        &[
            "spec",
            "plan",
            "record",
            "dialects",
            "vdisk",
            "inspect",
            "rig",
            "load",
            "analyze",
            "caps",
            "diagnose",
            "run",
            "report",
            "catalog",
            "documented",
        ],
    ),
];

/// Fails with every import that the table does not allow, and every circle within a crate.
pub(crate) fn check() -> Result<()> {
    let mut wrong = Vec::new();
    for entry in fs::read_dir(root().join("crates"))? {
        let dir = entry?.path();
        let room = dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let Some((_, allowed)) = MAY_IMPORT.iter().find(|(name, _)| *name == room) else {
            wrong.push(format!("  {room} is not in the table of rooms"));
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
        bail!("against the architecture:\n{}", wrong.join("\n"));
    }
    Ok(())
}

/// Names of our own crates in `[dependencies]`; tests may use any.
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
    fn only_our_own_normal_dependencies_are_imports() {
        let manifest = "[package]\nname = \"iotax-x\"\n[dependencies]\niotax-spec.workspace = true\n\
                        serde = \"1\"\niotax-plan = { path = \"..\" }\n\n[dev-dependencies]\niotax-run = \"1\"\n";
        assert_eq!(imports(manifest).collect::<Vec<_>>(), ["spec", "plan"]);
    }
}
