//! Checks on the text of source files.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};

use crate::checkout::root;

/// Longer files are listed.
const MANY_LINES: usize = 500;
/// Longer files are an error.
const MOST_LINES: usize = 800;

/// Source directories.
const PLACES: [&str; 3] = ["crates", "tests", "xtask"];

/// Files that may check for CI themselves: the helper and this file.
const MAY_SKIP: [&str; 2] = ["tests/support/src/lib.rs", "xtask/src/sources.rs"];

/// Lists files that are too long, and prints the total number of lines of code.
pub(crate) fn sizes() -> Result<()> {
    let (mut long, mut shipped) = (Vec::new(), 0);
    each_source(|path, text| {
        let lines = text.lines().count();
        if is_shipped(path) {
            shipped += lines_of_code(text);
        }
        if lines > MOST_LINES {
            long.push(format!("  {lines} {path}"));
        } else if lines > MANY_LINES {
            println!("over {MANY_LINES} lines: {lines} {path}");
        }
    })?;
    println!("lines of code in crates, not counting blank lines, comments and tests: {shipped}");
    if !long.is_empty() {
        bail!("split these files of more than {MOST_LINES} lines by topic:\n{}", long.join("\n"));
    }
    Ok(())
}

fn is_shipped(path: &str) -> bool {
    let is_of_tests = path.contains("/tests/") || path.ends_with("/tests.rs");
    path.starts_with("crates/") && path.contains("/src/") && !is_of_tests
}

/// Counts lines of code: no blank lines, no comments, no test modules.
fn lines_of_code(text: &str) -> usize {
    let (mut count, mut lines) = (0, text.lines().peekable());
    while let Some(line) = lines.next() {
        let code = line.trim();
        if code == "#[cfg(test)]" && lines.peek().is_some_and(|next| next.ends_with(" {")) {
            let opening = lines.next().unwrap_or_default();
            let end = format!("{}}}", &opening[..opening.len() - opening.trim_start().len()]);
            lines.by_ref().find(|line| *line == end);
        } else if !code.is_empty() && !code.starts_with("//") {
            count += 1;
        }
    }
    count
}

/// Lists modules that are a file next to a directory of the same name. A module with submodules
/// must be `NAME/mod.rs`.
pub(crate) fn modules() -> Result<()> {
    let mut beside = Vec::new();
    each_source(|path, _| {
        if path.contains("/src/") && root().join(path.trim_end_matches(".rs")).is_dir() {
            beside.push(format!("  {path}"));
        }
    })?;
    if !beside.is_empty() {
        bail!("move these modules to mod.rs in their directories:\n{}", beside.join("\n"));
    }
    Ok(())
}

/// Lists files that skip a test without `iotax_testing`.
pub(crate) fn skips() -> Result<()> {
    let mut own = Vec::new();
    each_source(|path, text| {
        if !MAY_SKIP.contains(&path) && skips_by_itself(text) {
            own.push(format!("  {path}"));
        }
    })?;
    if !own.is_empty() {
        bail!(
            "skip tests only with iotax_testing::needs_... or skipped, which fail in CI; these \
             files skip tests in another way:\n{}",
            own.join("\n")
        );
    }
    Ok(())
}

/// Whether a text prints its own skip message or checks for CI.
fn skips_by_itself(text: &str) -> bool {
    text.lines().any(|line| {
        let says = ["print!(", "println!(", "write!(", "writeln!("];
        let asks = ["var(\"CI\")", "var_os(\"CI\")"];
        says.iter().any(|word| line.contains(word)) && line.contains("SKIPPED")
            || asks.iter().any(|word| line.contains(word))
            || line.trim_start().starts_with("\"SKIPPED")
    })
}

/// Calls `f` with the path and text of each Rust source file.
pub(crate) fn each_source(mut see: impl FnMut(&str, &str)) -> Result<()> {
    PLACES.iter().try_for_each(|place| visit(&root().join(place), &mut see))
}

fn visit(dir: &Path, see: &mut impl FnMut(&str, &str)) -> Result<()> {
    for entry in fs::read_dir(dir).with_context(|| format!("reading {}", dir.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            visit(&path, see)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text =
                fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
            let name = path.strip_prefix(root()).unwrap_or(&path);
            see(&name.to_string_lossy(), &text);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_neither_blank_nor_comment_nor_test() {
        let text = "//! Why.\n\nuse a::B;\n\n#[cfg(test)]\nmod tests {\n    fn f() {\n    }\n}\n\
                    /// What.\nfn g() {} // not only\n";
        assert_eq!(lines_of_code(text), 2);
        assert!(is_shipped("crates/a/src/b/mod.rs"));
        assert!(!is_shipped("crates/a/src/b/tests.rs") && !is_shipped("xtask/src/a.rs"));
    }

    #[test]
    fn a_test_that_skips_by_itself_is_seen() {
        assert!(skips_by_itself("eprintln!(\"SKIPPED: no fio\");"));
        assert!(skips_by_itself("eprintln!(\n    \"SKIPPED: no fio\"\n);"));
        assert!(skips_by_itself("if std::env::var_os(\"CI\").is_none() {"));
        assert!(!skips_by_itself("if !iotax_testing::needs_program(\"fio\") { return; }"));
        assert!(!skips_by_itself("said.split_once(\"SKIPPED \")"));
    }
}
