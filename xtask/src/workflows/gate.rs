//! The Action, with a real program: what each outcome of a gate does to a job, which programs it
//! refuses to install, and that it does not execute its inputs.
//!
//! The rules hold on any machine: a run in memory has more than one I/O per second and fewer than a
//! billion, and ten operations do not decide a p99.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail, ensure};
use iotax_image::digest;
use serde_json::Value;

use super::release::{REPOSITORY, program_name, released, site};
use super::runner::{Ended, Runner, checked_out};
use super::server::Server;
use super::{ACTION, read};
use crate::suite::side_by_side;

const KEPT: &str = "
    compare --workload randread-4k a='mem(size=16M)' \"b=mem(size=16M)\" --max-blocks 8
    --time 100ms --ramp 0 --set size=4M --no-depth-check --fail-if 'iops < 1'
";
const BROKEN: &str = "run randread-4k mem(size=16M) --time 100ms --ramp 0 --set size=4M \
    --fail-if 'iops < 1' --fail-if 'iops < 1000M'";
const UNDECIDED: &str = "run randread-4k mem(size=16M) --time 100ms --ramp 0 --set size=4M \
    --set rate=100 -n 3 --fail-if 'p99 > 1h'";
/// A shell that got this as text would make a file `executed`.
const HOSTILE: &str = "run \"$(touch executed)\" `touch executed` ;touch executed; | touch executed\n\
    && touch executed \\\"; touch executed #' ${{ github.token }} ::set-output name=a::b'";

/// What the Action is given, and what comes of it.
struct Case {
    inputs: &'static [(&'static str, &'static str)],
    /// Verdict and exit code of iotax.
    outcome: (&'static str, &'static str),
    passes: bool,
    /// What is uploaded under which name.
    artifact: Option<&'static str>,
    prints: &'static [&'static str],
}

const CASES: [Case; 7] = [
    Case {
        inputs: &[("command", KEPT)],
        outcome: ("pass", "0"),
        passes: true,
        artifact: Some("iotax-report"),
        prints: &["::notice title=iotax::Rule passed: `iops < 1`: a "],
    },
    Case {
        inputs: &[("command", KEPT), ("sudo", "true"), ("artifact", "")],
        outcome: ("pass", "0"),
        passes: true,
        artifact: None,
        prints: &["::notice title=iotax::Rule passed: "],
    },
    Case {
        inputs: &[("command", BROKEN), ("fail-on-undecided", "false"), ("artifact", "mine")],
        outcome: ("fail", "1"),
        passes: false,
        artifact: Some("mine"),
        prints: &["::error title=iotax::Rule broken: ", "The verdict is fail (exit code 1"],
    },
    Case {
        inputs: &[("command", UNDECIDED)],
        outcome: ("undecided", "6"),
        passes: false,
        artifact: Some("iotax-report"),
        prints: &[
            "::warning title=iotax::Rule undecided: ",
            "The verdict is undecided (exit code 6",
        ],
    },
    Case {
        inputs: &[("command", UNDECIDED), ("fail-on-undecided", "false")],
        outcome: ("undecided", "6"),
        passes: true,
        artifact: Some("iotax-report"),
        prints: &["::warning title=iotax::A rule is undecided."],
    },
    Case {
        inputs: &[("command", "compare --no-such-option")],
        outcome: ("error", "2"),
        passes: false,
        artifact: None,
        prints: &["error: unexpected argument '--no-such-option'", "The verdict is error"],
    },
    Case {
        inputs: &[("command", HOSTILE)],
        outcome: ("error", "2"),
        passes: false,
        artifact: None,
        prints: &["The verdict is error"],
    },
];

/// Inputs that are refused before anything is measured, and the message.
const REFUSED: [(&[(&str, &str)], &str); 9] = [
    (&[("version", "99.0.0")], "Cannot download SHA256SUMS."),
    (&[("version", "../../../other")], "The input version is not a version"),
    (&[("version", "0.1.0\n::error::x")], "The input version is not a version"),
    (&[("sha256", "0000")], "There is no SHA-256 digest of iotax-"),
    (&[("sha256", ZEROES)], "does not have the expected SHA-256 digest."),
    (&[("sudo", "maybe")], "The input sudo is neither true nor false."),
    (&[("fail-on-undecided", "")], "The input fail-on-undecided is neither true nor false."),
    (&[("command", "run 'randread-4k")], "The quotes in the input command do not match."),
    (&[("command", " \n")], "The input command is empty."),
];
const ZEROES: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// Runs everything.
pub(super) fn check(runner: &Runner) -> Result<()> {
    let action = read(ACTION)?;
    let server = Server::start(&site(runner))?;
    let on = |name: &str| -> Result<Runner> {
        let mut mine = Runner::new(&runner.place.join(name));
        mine.set("GITHUB_ACTION_PATH", checked_out(&mine.place, REPOSITORY)?);
        mine.context.insert("github.server_url".to_owned(), server.url());
        Ok(mine)
    };
    let cases = CASES.iter().enumerate().map(|(at, case)| Ok((on(&format!("case{at}"))?, case)));
    side_by_side(cases.collect::<Result<Vec<_>>>()?, |(runner, case)| {
        judged(&runner, &action, case).with_context(|| format!("inputs {:?}", case.inputs))
    })?;
    for (at, (inputs, message)) in REFUSED.iter().enumerate() {
        let all = [inputs, &[("command", KEPT)][..]].concat();
        refused(&on(&format!("refused{at}"))?, &action, &all, message)?;
    }
    let released = released(runner);
    installed_from_elsewhere(&on("elsewhere")?, &action, &server.url(), &released)?;
    tampered(&on("tampered")?, &action, &released)?;
    // The others are a path without a repository, and three releases that were tampered with.
    println!("checked {} outcomes and {} refusals of the Action", CASES.len(), REFUSED.len() + 4);
    Ok(())
}

fn judged(runner: &Runner, action: &Value, case: &Case) -> Result<()> {
    let ended = runner.action(action, case.inputs)?;
    let seen = || format!("{:?}, code {}:\n{}", ended.outputs, ended.code, ended.log);
    let output = |name: &str| ended.outputs.get(name).map_or("", String::as_str);
    ensure!((output("verdict"), output("exit-code")) == case.outcome, "outputs {}", seen());
    ensure!((ended.code == 0) == case.passes && ended.last == "Judge", "the job ends {}", seen());
    if !case.passes {
        ensure!(ended.code.to_string() == case.outcome.1, "the exit code of the job: {}", seen());
    }
    for text in case.prints {
        ensure!(ended.log.contains(text), "`{text}` is missing in {}", seen());
    }
    let report = Path::new(output("report"));
    let is_measured = case.outcome.0 != "error";
    ensure!(report.join("report.html").exists() == is_measured, "the report: {}", seen());
    ensure!(ended.summary.contains("randread-4k") == is_measured, "summary: {}", ended.summary);
    let uploaded: Vec<_> = ended.uses.iter().map(|with| (&*with["name"], &*with["path"])).collect();
    let expected: Vec<_> = case.artifact.iter().map(|name| (*name, output("report"))).collect();
    ensure!(uploaded == expected, "uploads {uploaded:?}, not {expected:?}");
    executed_nothing(runner)
}

/// The scripts leave nothing in the workspace.
fn executed_nothing(runner: &Runner) -> Result<()> {
    let left: Vec<_> = fs::read_dir(runner.place.join("workspace"))?.collect();
    ensure!(left.is_empty(), "in the workspace: {left:?}");
    Ok(())
}

fn refused(
    runner: &Runner,
    action: &Value,
    inputs: &[(&str, &str)],
    message: &str,
) -> Result<Ended> {
    let ended = runner.action(action, inputs)?;
    let is_refused = ended.code == 1 && ended.outputs.values().all(String::is_empty);
    if !is_refused || !ended.log.contains(message) || !ended.uses.is_empty() {
        bail!("{inputs:?} should end with `{message}`:\n{}", ended.log);
    }
    executed_nothing(runner)?;
    Ok(ended)
}

/// With `url`, from anywhere, and by a digest that the caller knows. Without it, the Action must come
/// from a repository.
fn installed_from_elsewhere(
    runner: &Runner,
    action: &Value,
    server: &str,
    released: &Path,
) -> Result<()> {
    let mut runner = runner.clone();
    runner.set("GITHUB_ACTION_PATH", crate::checkout::root().display().to_string());
    let command = ("command", "run --no-such-option");
    refused(&runner, action, &[command], "The Action was not started from a repository")?;
    let version = env!("CARGO_PKG_VERSION");
    let url = format!("{server}/{REPOSITORY}/releases/download/v{version}/");
    let sha256 = digest(&fs::read(released.join(program_name()?))?);
    let given = [("url", &*url), ("version", &format!("v{version}")), ("sha256", &sha256)];
    let ended = runner.action(action, &[&[command], &given[..]].concat())?;
    ensure!(ended.outputs["verdict"] == "error", "from {url}: {}", ended.log);
    ensure!(ended.log.starts_with(&format!("iotax {version}\n")), "installed: {}", ended.log);
    Ok(())
}

/// A program that is not the released one is refused, and so is one without a digest.
fn tampered(runner: &Runner, action: &Value, released: &Path) -> Result<()> {
    let program = released.join(program_name()?);
    let sums = fs::read_to_string(released.join("SHA256SUMS"))?;
    fs::write(&program, "#!/bin/sh\ntouch executed\n")?;
    let wrong =
        refused(runner, action, &[("command", KEPT)], "does not have the expected SHA-256")?;
    ensure!(wrong.last == "Install iotax", "`{}` ran", wrong.last);
    fs::write(released.join("SHA256SUMS"), sums.replace("iotax-", "other-"))?;
    let missing = "There is no SHA-256 digest of iotax-";
    refused(runner, action, &[("command", KEPT)], missing)?;
    fs::remove_file(&program)?;
    fs::write(released.join("SHA256SUMS"), sums)?;
    refused(runner, action, &[("command", KEPT)], "Cannot download iotax-")?;
    Ok(())
}
