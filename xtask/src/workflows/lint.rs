//! What the text of workflows, of the Action and of issue forms shows.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use super::{ACTION, name, read, steps};
use crate::checkout::root;
use crate::dist::shown;

/// The newest version that Debian 12's Go compiles.
const ACTIONLINT: &str = "github.com/rhysd/actionlint/cmd/actionlint@v1.7.7";

const WORKFLOWS: &str = ".github/workflows";
/// Workflows of users, who start the Action.
const EXAMPLES: &str = "docs/examples/github";
const FORMS: &str = ".github/ISSUE_TEMPLATE";
/// This one configures the others.
const CHOOSER: &str = "config.yml";

/// How users name the Action. Its version is this one.
const USED: &str = concat!("OWNER/iotax@v", env!("CARGO_PKG_VERSION"));

/// <https://docs.github.com/communities/using-templates-to-encourage-useful-issues-and-pull-requests/syntax-for-githubs-form-schema>
const ELEMENTS: [&str; 5] = ["markdown", "input", "textarea", "dropdown", "checkboxes"];

/// Fails with everything that is wrong. Scripts are written to `place`.
pub(super) fn check(place: &Path) -> Result<()> {
    let (workflows, examples) = (files(WORKFLOWS)?, files(EXAMPLES)?);
    let mut wrong = Vec::new();
    for file in workflows.iter().chain([&ACTION.to_owned()]) {
        wrong.extend(unpinned(file, &fs::read_to_string(root().join(file))?));
    }
    for file in workflows.iter().chain(&examples).chain([&ACTION.to_owned()]) {
        let parsed = read(file)?;
        wrong.extend(interpolated(file, &parsed));
        if file != ACTION && parsed["permissions"].is_null() {
            wrong.push(format!(
                "  {file}: set `permissions`; a job without them gets the repository's permissions"
            ));
        }
    }
    let action = read(ACTION)?;
    for file in &examples {
        wrong.extend(misused(file, &read(file)?, &action));
    }
    for file in files(FORMS)?.iter().filter(|file| !file.ends_with(CHOOSER)) {
        wrong.extend(malformed(file, &read(file)?));
    }
    if !wrong.is_empty() {
        bail!("errors in workflows, Actions and forms:\n{}", wrong.join("\n"));
    }
    let mut actionlint = Command::new("go");
    // Another toolchain would have to be downloaded.
    actionlint.args(["run", ACTIONLINT, "-pyflakes="]).env("GOTOOLCHAIN", "local");
    shown(actionlint.args([workflows, examples].concat()).current_dir(root()))?;
    scripts(&action, place)
}

/// YAML files of a directory.
fn files(directory: &str) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(root().join(directory)).with_context(|| directory.to_owned())? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if Path::new(&name).extension().is_some_and(|extension| extension == "yml") {
            names.push(format!("{directory}/{name}"));
        }
    }
    names.sort();
    Ok(names)
}

/// Actions of others without a full commit hash and the version in a comment.
fn unpinned(file: &str, text: &str) -> Vec<String> {
    let is_hash =
        |hash: &str| hash.len() == 40 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_pinned = |used: &str| {
        let (_, reference) = used.split_once('@')?;
        let (hash, version) = reference.split_once(" # v")?;
        (is_hash(hash) && version.split('.').count() == 3).then_some(())
    };
    let used =
        text.lines().filter_map(|line| line.trim().trim_start_matches("- ").strip_prefix("uses: "));
    used.filter(|used| is_pinned(used).is_none())
        .map(|used| format!("  {file}: `{used}` is not OWNER/NAME@COMMIT # vVERSION"))
        .collect()
}

/// Scripts whose text contains expressions: their values would be executed.
fn interpolated(file: &str, parsed: &Value) -> Vec<String> {
    let is_bad = |step: &&Value| step["run"].as_str().is_some_and(|script| script.contains("${{"));
    let tell = |step: &Value| {
        format!("  {file}: the script of `{}` contains an expression; pass it in `env`", name(step))
    };
    steps(parsed).filter(is_bad).map(tell).collect()
}

/// Uses of the Action with another version, or with inputs that it does not have.
fn misused(file: &str, parsed: &Value, action: &Value) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut uses = steps(parsed).filter(|step| step["uses"].is_string()).peekable();
    if uses.peek().is_none() {
        wrong.push(format!("  {file} does not use the Action"));
    }
    for step in uses {
        if step["uses"] != USED {
            wrong.push(format!("  {file} uses {} instead of {USED}", step["uses"]));
        }
        let inputs = step["with"].as_object().into_iter().flatten();
        let unknown = inputs.filter(|(input, _)| action["inputs"][input].is_null());
        wrong.extend(unknown.map(|(input, _)| format!("  {file}: there is no input `{input}`")));
    }
    wrong
}

/// Issue forms that GitHub would refuse.
fn malformed(file: &str, form: &Value) -> Vec<String> {
    let mut wrong = Vec::new();
    for key in ["name", "description"] {
        if !form[key].is_string() {
            wrong.push(format!("  {file} has no {key}"));
        }
    }
    let (mut ids, mut questions) = (Vec::new(), 0);
    for element in form["body"].as_array().into_iter().flatten() {
        let kind = element["type"].as_str().unwrap_or_default();
        let text = if kind == "markdown" { "value" } else { "label" };
        questions += usize::from(kind != "markdown");
        if !ELEMENTS.contains(&kind) || !element["attributes"][text].is_string() {
            wrong.push(format!("  {file}: an element of type `{kind}` has no {text}"));
        }
        if let Some(id) = element["id"].as_str() {
            if ids.contains(&id) {
                wrong.push(format!("  {file} has two elements with the ID `{id}`"));
            }
            ids.push(id);
        }
    }
    if questions == 0 {
        wrong.push(format!("  {file} contains no question"));
    }
    wrong
}

/// actionlint has no eye for the scripts of Actions.
fn scripts(action: &Value, place: &Path) -> Result<()> {
    for step in steps(action) {
        let Some(script) = step["run"].as_str() else { continue };
        let file = place.join("script.sh");
        fs::write(&file, format!("set -eo pipefail\n{script}"))?;
        shown(Command::new("shellcheck").args(["--shell", "bash"]).arg(&file))
            .with_context(|| format!("{ACTION}: the script of `{}`", name(step)))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_action_is_pinned_by_a_commit() {
        let pinned = "uses: actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1";
        assert!(unpinned("a.yml", pinned).is_empty());
        for bad in [
            "- uses: actions/checkout@v7",
            pinned.trim_end_matches(" # v7.0.1"),
            "uses: x # v1.2.3",
        ] {
            assert_eq!(unpinned("a.yml", bad).len(), 1, "{bad}");
        }
    }

    #[test]
    fn a_script_has_no_expressions() {
        let job = |script: &str| json!({ "jobs": { "a": { "steps": [{ "run": script }] } } });
        assert!(interpolated("a.yml", &job("echo \"$A\"")).is_empty());
        assert_eq!(interpolated("a.yml", &job("echo ${{ inputs.a }}")).len(), 1);
    }

    #[test]
    fn an_example_uses_this_version_and_its_inputs() {
        let action = json!({ "inputs": { "command": {} } });
        let uses = |uses: &str, input: &str| json!({ "jobs": { "a": { "steps": [{ "uses": uses, "with": { input: "" } }] } } });
        assert!(misused("a.yml", &uses(USED, "command"), &action).is_empty());
        assert_eq!(misused("a.yml", &uses("OWNER/iotax@v0.0.1", "comand"), &action).len(), 2);
        assert_eq!(misused("a.yml", &json!({}), &action).len(), 1);
    }

    #[test]
    fn a_form_asks_for_something() {
        let element = json!({ "type": "input", "id": "a", "attributes": { "label": "A" } });
        let form = |body: Value| json!({ "name": "n", "description": "d", "body": body });
        assert!(malformed("a.yml", &form(json!([element]))).is_empty());
        assert_eq!(malformed("a.yml", &form(json!([element, element]))).len(), 1);
        assert_eq!(malformed("a.yml", &form(json!([{ "type": "text" }]))).len(), 1);
        assert_eq!(malformed("a.yml", &json!({})).len(), 3);
    }
}
