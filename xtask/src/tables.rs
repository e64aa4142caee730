//! Updates the tables in docs/benchmarks.md.

use std::fs;

use anyhow::{Context as _, Result};

use crate::checkout::root;

const FILE: &str = "docs/benchmarks.md";
const END: &str = "<!-- end -->";

/// Writes a table and a description of the machine between the markers with its name.
pub(crate) fn write(name: &str, table: &str) -> Result<()> {
    let path = root().join(FILE);
    let text = fs::read_to_string(&path).with_context(|| format!("reading {FILE}"))?;
    let told = format!("{}\n\n{}", machine(), table.trim());
    let text = replaced(&text, name, &told)
        .with_context(|| format!("{FILE} does not have the lines `{}` and `{END}`", begin(name)))?;
    fs::write(&path, text).with_context(|| format!("writing {FILE}"))
}

fn begin(name: &str) -> String {
    format!("<!-- measured: {name} -->")
}

/// The text with new lines between the markers; `None` if there are no markers.
fn replaced(text: &str, name: &str, lines: &str) -> Option<String> {
    let begin = begin(name);
    let start = text.find(&begin)? + begin.len();
    let end = start + text[start..].find(END)?;
    Some(format!("{}\n{lines}\n{}", &text[..start], &text[end..]))
}

/// Date and machine, in one line.
fn machine() -> String {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let cpu = read("/proc/cpuinfo");
    let model = cpu.lines().find_map(|line| line.strip_prefix("model name")?.split(": ").nth(1));
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let kernel = read("/proc/sys/kernel/osrelease");
    // The build name follows the version numbers.
    let kernel = kernel.trim().split('-').next().unwrap_or_default();
    let load = read("/proc/loadavg");
    let load = load.split(' ').next().unwrap_or("?");
    format!(
        "Measured {}: {cpus} CPUs ({}), kernel {}, load average {load} at the end.",
        today(),
        model.unwrap_or("unknown model"),
        kernel
    )
}

/// Today's date as printed by `date --iso-8601`; empty without that program.
fn today() -> String {
    let date = std::process::Command::new("date").args(["--utc", "--iso-8601"]).output();
    date.map_or_else(|_| String::new(), |date| String::from_utf8_lossy(&date.stdout).trim().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_between_the_markers_of_the_name_is_replaced() {
        let text = "a\n<!-- measured: x -->\nold\n<!-- end -->\nb\n\
                    <!-- measured: y -->\nold\n<!-- end -->\n";
        let after = replaced(text, "y", "new").unwrap_or_default();
        assert_eq!(
            after,
            "a\n<!-- measured: x -->\nold\n<!-- end -->\nb\n\
             <!-- measured: y -->\nnew\n<!-- end -->\n"
        );
        assert_eq!(replaced(&after, "y", "new"), Some(after.clone()));
        assert_eq!(replaced(text, "z", "new"), None);
    }

    #[test]
    fn every_step_with_a_table_has_its_place() {
        let text = fs::read_to_string(root().join(FILE)).unwrap_or_default();
        for name in ["engines", "known-truth", "layers", "fio", "network", "fuse", "blind", "dist"]
        {
            assert!(replaced(&text, name, "").is_some(), "{name}");
        }
    }
}
