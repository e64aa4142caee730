//! Runs scripts of steps as GitHub's runner does: with bash, in a clean environment, with files for
//! outputs, variables, the path and the summary
//! (<https://docs.github.com/actions/reference/workflow-commands-for-github-actions>).
//!
//! Of expressions it knows names, such as `inputs.version`, and comparisons of a name with a text.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use super::{name, steps};
use crate::checkout::root;

/// Files that a step can append to, by the variables that name them.
const FILES: [&str; 4] = ["GITHUB_OUTPUT", "GITHUB_ENV", "GITHUB_PATH", "GITHUB_STEP_SUMMARY"];

/// Named values.
pub(super) type Values = BTreeMap<String, String>;

/// Where steps run, and what they share.
#[derive(Clone)]
pub(super) struct Runner {
    /// Everything that steps write is here.
    pub place: PathBuf,
    /// Values of expressions by their names.
    pub context: Values,
    /// Variables of every script.
    pub variables: Values,
    /// Directories of programs before the others.
    pub path: Vec<String>,
}

/// How a step, or a whole Action, ended.
#[derive(Default)]
pub(super) struct Ended {
    /// The exit code of the last script.
    pub code: i32,
    /// The last script.
    pub last: String,
    /// What the scripts printed.
    pub log: String,
    pub summary: String,
    pub outputs: Values,
    /// Inputs of the Actions that other repositories have, in their order. They are not run.
    pub uses: Vec<Values>,
}

impl Runner {
    pub(super) fn new(place: &Path) -> Self {
        let path = std::env::var("PATH").unwrap_or_default();
        let variables = [
            ("CI", "true".to_owned()),
            ("GITHUB_ACTIONS", "true".to_owned()),
            ("GITHUB_WORKSPACE", place.join("workspace").display().to_string()),
            ("HOME", place.join("home").display().to_string()),
            ("PATH", path),
            ("RUNNER_TEMP", place.join("temp").display().to_string()),
        ];
        Self {
            place: place.to_owned(),
            context: Values::new(),
            variables: variables.map(|(name, value)| (name.to_owned(), value)).into(),
            path: Vec::new(),
        }
    }

    /// Sets a variable of every script.
    pub(super) fn set(&mut self, variable: &str, value: impl Into<String>) {
        self.variables.insert(variable.to_owned(), value.into());
    }

    /// Runs a composite Action with these inputs until a step fails.
    pub(super) fn action(&self, action: &Value, inputs: &[(&str, &str)]) -> Result<Ended> {
        let mut runner = self.clone();
        for (input, declared) in action["inputs"].as_object().into_iter().flatten() {
            let given = inputs.iter().find(|(name, _)| name == input).map(|(_, value)| *value);
            let value = given.map_or_else(|| text(&declared["default"]), str::to_owned);
            runner.context.insert(format!("inputs.{input}"), value);
        }
        let mut all = Ended::default();
        for step in steps(action) {
            if !runner.holds(step["if"].as_str().unwrap_or("always()"))? {
                continue;
            }
            if step["run"].is_null() {
                all.uses.push(runner.values(&step["with"])?);
                continue;
            }
            let ended = runner.step(step)?;
            let id = step["id"].as_str().unwrap_or_default();
            for (output, value) in ended.outputs {
                runner.context.insert(format!("steps.{id}.outputs.{output}"), value);
            }
            all.log += &ended.log;
            all.summary += &ended.summary;
            (all.code, all.last) = (ended.code, ended.last);
            if all.code != 0 {
                break;
            }
        }
        for (output, declared) in action["outputs"].as_object().into_iter().flatten() {
            all.outputs.insert(output.clone(), runner.expanded(&text(&declared["value"]))?);
        }
        Ok(all)
    }

    /// Runs one script. What it adds to the path and the variables is for the steps after it.
    pub(super) fn step(&mut self, step: &Value) -> Result<Ended> {
        let script = step["run"]
            .as_str()
            .with_context(|| format!("`{}` has no `run` script", name(step)))?;
        let workspace = self.place.join("workspace");
        for directory in ["workspace", "home", "temp"] {
            fs::create_dir_all(self.place.join(directory))?;
        }
        let (file, log) = (self.place.join("script.sh"), self.place.join("log"));
        fs::write(&file, script)?;
        for name in FILES {
            fs::write(self.place.join(name), "")?;
        }
        let output = File::create(&log)?;
        let path = self.path.iter().chain(self.variables.get("PATH")).cloned();
        let status = Command::new("bash")
            .args(["--noprofile", "--norc", "-eo", "pipefail"])
            .arg(&file)
            .env_clear()
            .envs(&self.variables)
            .envs(self.values(&step["env"])?)
            .envs(FILES.map(|name| (name, self.place.join(name))))
            .env("PATH", path.collect::<Vec<_>>().join(":"))
            .current_dir(workspace.join(step["working-directory"].as_str().unwrap_or(".")))
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output)
            .status()
            .with_context(|| format!("starting the script of `{}`", name(step)))?;
        let written = |name: &str| fs::read_to_string(self.place.join(name));
        let (outputs, variables) =
            (assignments(&written("GITHUB_OUTPUT")?)?, assignments(&written("GITHUB_ENV")?)?);
        let added = written("GITHUB_PATH")?;
        let summary = written("GITHUB_STEP_SUMMARY")?;
        // The last directory is searched first.
        self.path.splice(0..0, added.lines().rev().map(str::to_owned));
        self.variables.extend(variables);
        Ok(Ended {
            code: status.code().unwrap_or(-1),
            last: name(step).to_owned(),
            log: String::from_utf8_lossy(&fs::read(&log)?).into_owned(),
            summary,
            outputs,
            uses: Vec::new(),
        })
    }

    /// A mapping of names to texts with expressions.
    fn values(&self, mapping: &Value) -> Result<Values> {
        let mapping = mapping.as_object().into_iter().flatten();
        mapping.map(|(name, value)| Ok((name.clone(), self.expanded(&text(value))?))).collect()
    }

    /// The text with values instead of expressions.
    fn expanded(&self, text: &str) -> Result<String> {
        let mut parts = text.split("${{");
        let mut expanded = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let (name, rest) = part.split_once("}}").context("an expression has no end")?;
            expanded += self.value(name.trim())?;
            expanded += rest;
        }
        Ok(expanded)
    }

    fn value(&self, name: &str) -> Result<&str> {
        let is_output = name.starts_with("steps.") && name.contains(".outputs.");
        match self.context.get(name) {
            Some(value) => Ok(value),
            // A step that did not run has none.
            None if is_output => Ok(""),
            None => bail!("the step `workflows` does not know the expression `{name}`"),
        }
    }

    /// Whether a condition of comparisons holds.
    fn holds(&self, condition: &str) -> Result<bool> {
        for comparison in condition.split(" && ").filter(|one| *one != "always()") {
            let (name, wanted, other) = comparison
                .split_once(" != ")
                .map(|(name, other)| (name, false, other))
                .or_else(|| comparison.split_once(" == ").map(|(name, other)| (name, true, other)))
                .with_context(|| format!("the step `workflows` cannot evaluate `{comparison}`"))?;
            if (self.value(name)? == other.trim_matches('\'')) != wanted {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// A scalar as the runner inserts it.
fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Lines such as `name=value`.
fn assignments(lines: &str) -> Result<Values> {
    let read = |line: &str| {
        let (name, value) =
            line.split_once('=').with_context(|| format!("`{line}` is not NAME=VALUE"))?;
        Ok((name.to_owned(), value.to_owned()))
    };
    lines.lines().map(read).collect()
}

/// The directory of an Action that was started from this repository at a version, as the runner has
/// it.
pub(super) fn checked_out(place: &Path, repository: &str) -> Result<String> {
    let directory = place.join("_actions").join(repository);
    fs::create_dir_all(&directory)?;
    let checkout = directory.join("v1");
    std::os::unix::fs::symlink(root(), &checkout)?;
    Ok(checkout.display().to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn steps_run_as_on_githubs_runner() {
        let place = tempfile::tempdir().unwrap();
        let action = json!({
            "inputs": { "who": { "default": "you" }, "loud": { "default": false } },
            "outputs": { "said": { "value": "${{ steps.a.outputs.said }}!" } },
            "runs": { "steps": [
                { "id": "a", "env": { "WHO": "to ${{ inputs.who }}" }, "run":
                    "echo \"said=$WHO\" >>\"$GITHUB_OUTPUT\"\necho A=1 >>\"$GITHUB_ENV\"\n\
                     echo /x >>\"$GITHUB_PATH\"\necho sum >>\"$GITHUB_STEP_SUMMARY\"" },
                { "if": "inputs.loud == 'true'", "run": "exit 9" },
                { "if": "steps.a.outputs.said != ''", "with": { "name": "${{ inputs.who }}" } },
                { "name": "b", "run": "echo $A ${PATH%%:*}; false | true; echo never" },
                { "run": "exit 8" },
            ] },
        });
        let ended = Runner::new(place.path()).action(&action, &[("who", "$(me)")]).unwrap();
        assert_eq!((ended.code, &*ended.last), (1, "b"));
        assert_eq!((&*ended.log, &*ended.summary), ("1 /x\n", "sum\n"));
        assert_eq!(ended.outputs["said"], "to $(me)!");
        assert_eq!(ended.uses, [Values::from([("name".into(), "$(me)".into())])]);
    }

    #[test]
    fn an_unknown_expression_is_an_error() {
        let runner = Runner::new(Path::new("/"));
        assert!(
            runner.expanded("${{ github.actor }}").is_err() && runner.holds("cancelled()").is_err()
        );
    }
}
