//! Builds the tests of the workspace once and runs several test programs in parallel.
//!
//! `cargo test` runs one test program at a time. Many tests wait for I/O or for a measurement, so
//! running them in parallel takes little more than half the time. The output of each program is
//! shown when it ends, with the `test result:` line of the harness and the time.

use std::fmt;
use std::fs::{self, File};
use std::io::{BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use crate::cargo;

/// Number of the slowest programs to list.
const SLOWEST: usize = 10;

/// A kind of test.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Tests inside the crates.
    Unit,
    /// Tests in `tests` directories. Most of them run real I/O.
    Integration,
}

/// A built test program.
struct Program {
    kind: Kind,
    /// Directory of the crate, and name of the test: `cli kill`.
    name: String,
    executable: PathBuf,
    /// Working directory, as in cargo.
    directory: PathBuf,
}

/// The outcome of a test program.
struct Ended {
    name: String,
    took: Duration,
    passed: bool,
    counts: Counts,
}

/// The counts of all tests so far, for the last line.
static ALL: Mutex<Counts> = Mutex::new(Counts { passed: 0, failed: 0, ignored: 0, skipped: 0 });

/// Number of tests by outcome.
#[derive(Clone, Copy, Default)]
struct Counts {
    passed: u64,
    failed: u64,
    ignored: u64,
    skipped: u64,
}

/// Builds the tests of a kind and runs them.
pub(crate) fn run_tests(kind: Kind) -> Result<()> {
    let started = Instant::now();
    let mut programs = build(kind)?;
    println!("built {} test programs in {} s", programs.len(), seconds(started.elapsed()));
    programs.sort_by_key(|program| (rank(&program.name), program.name.clone()));
    let mut ended = side_by_side(programs, |program| run(&program))?;
    ended.sort_by_key(|program| std::cmp::Reverse(program.took));
    println!("slowest test programs (s):");
    for program in ended.iter().take(SLOWEST) {
        println!("  {:>7}  {}", seconds(program.took), program.name);
    }
    let all = ended.iter().fold(Counts::default(), |sum, program| sum.plus(program.counts));
    println!("{} test programs: {all}", ended.len());
    if let Ok(mut sum) = ALL.lock() {
        *sum = sum.plus(all);
    }
    let failed: Vec<&str> =
        ended.iter().filter(|program| !program.passed).map(|program| &*program.name).collect();
    if !failed.is_empty() {
        bail!("tests failed in {}", failed.join(", "));
    }
    Ok(())
}

/// The counts of all tests so far; `None` if no test ran.
pub(crate) fn told() -> Option<String> {
    let all = *ALL.lock().ok()?;
    (all.passed + all.failed > 0).then(|| format!("tests: {all}"))
}

/// Seconds with one decimal.
pub(crate) fn seconds(time: Duration) -> String {
    format!("{:.1}", time.as_secs_f64())
}

/// Rank in the order of start. The slowest programs start first, so that none runs alone at the
/// end.
fn rank(name: &str) -> usize {
    const SLOW: [&str; 15] = [
        "cli vm_layers",
        "analyze analysis",
        "analyze known_truth",
        "cli kill",
        "run hidden_disks",
        "cli fitting",
        "cli vm_doctor",
        "cli attacker",
        "rig encryption",
        "cli depth_check",
        "cli hung",
        "run",
        "load",
        "cluster",
        "cli limits",
    ];
    SLOW.iter().position(|slow| *slow == name).unwrap_or(SLOW.len())
}

/// Builds the tests with cargo and reads its messages.
fn build(kind: Kind) -> Result<Vec<Program>> {
    let targets: &[&str] = match kind {
        Kind::Unit => &["--lib", "--bins"],
        // Includes the tests inside the crates, which are already built.
        Kind::Integration => &["--tests"],
    };
    let build = ["test", "--workspace", "--no-run", "--quiet", "--message-format=json"];
    let mut child = cargo::command(&[&build[..], targets].concat())
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot start cargo")?;
    let output = BufReader::new(child.stdout.take().context("no output pipe of cargo")?);
    let mut programs = Vec::new();
    for message in serde_json::Deserializer::from_reader(output).into_iter::<Value>() {
        let message = message.context("reading the messages of cargo")?;
        if let Some(text) = message["message"]["rendered"].as_str() {
            print!("{text}");
        }
        programs.extend(program(&message).filter(|program| program.kind == kind));
    }
    let status = child.wait()?;
    if !status.success() {
        bail!("building the tests failed: {status}");
    }
    Ok(programs)
}

/// The test program in a message of cargo.
fn program(message: &Value) -> Option<Program> {
    let executable = message["executable"].as_str()?;
    if message["profile"]["test"] != true {
        return None;
    }
    let manifest = Path::new(message["manifest_path"].as_str()?);
    let directory = manifest.parent()?.to_owned();
    let target = message["target"]["name"].as_str()?;
    let package = directory.file_name()?.to_str()?;
    let is_unit = message["target"]["kind"][0] != "test";
    let (kind, name) = if is_unit {
        (Kind::Unit, package.to_owned())
    } else {
        (Kind::Integration, format!("{package} {target}"))
    };
    Some(Program { kind, name, executable: executable.into(), directory })
}

/// Runs all of these, at most one per CPU at a time, because a search for caps needs CPU time.
pub(crate) fn side_by_side<T: Send, R: Send>(
    all: Vec<T>,
    run: impl Fn(T) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let at_once = std::thread::available_parallelism().map_or(1, usize::from);
    let (waiting, ended) = (Mutex::new(all.into_iter()), Mutex::new(Vec::new()));
    let next = || waiting.lock().ok()?.next();
    let work = || -> Result<()> {
        while let Some(one) = next() {
            let one = run(one)?;
            if let Ok(mut all) = ended.lock() {
                all.push(one);
            }
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..at_once).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|worker| {
            worker.join().unwrap_or_else(|_| bail!("a thread of this program panicked"))
        })
    })?;
    ended.into_inner().map_err(|_| anyhow::anyhow!("a thread of this program panicked"))
}

/// Runs a program with the environment that cargo gives it, and shows its output.
///
/// The output goes to a file. A pipe would stay open as long as any process that a test has
/// started.
fn run(program: &Program) -> Result<Ended> {
    let log = program.executable.with_extension("log");
    let file = File::create(&log).with_context(|| format!("writing {}", log.display()))?;
    let started = Instant::now();
    let status = Command::new(&program.executable)
        .arg("--quiet")
        .current_dir(&program.directory)
        .env("CARGO", env!("CARGO"))
        .env("CARGO_MANIFEST_DIR", &program.directory)
        .stdin(Stdio::null())
        .stdout(file.try_clone()?)
        .stderr(file)
        .status()
        .with_context(|| format!("starting {}", program.executable.display()))?;
    let took = started.elapsed();
    let said = fs::read(&log).with_context(|| format!("reading {}", log.display()))?;
    let said = String::from_utf8_lossy(&said);
    let mut out = std::io::stdout().lock();
    let word = if status.success() { "ok" } else { "FAILED" };
    writeln!(out, "-- {}: {word}, {} s\n{}", program.name, seconds(took), said.trim())?;
    let counts = Counts::read(&said);
    Ok(Ended { name: program.name.clone(), took, passed: status.success(), counts })
}

impl Counts {
    /// Reads the harness's line `test result: ok. 12 passed; 0 failed; 1 ignored; ...`, and lines
    /// `test NAME ... ok` of programs without the harness.
    fn read(said: &str) -> Self {
        let mut counts = Self::default();
        for line in said.lines() {
            if let Some(result) = line.strip_prefix("test result: ") {
                let number = |word: &str| {
                    let mut words = result.split([' ', ';', '.']).filter(|word| !word.is_empty());
                    let mut last = words.next()?;
                    words.find_map(|now| {
                        let before = std::mem::replace(&mut last, now);
                        (now == word).then(|| before.parse().ok())?
                    })
                };
                counts.passed += number("passed").unwrap_or(0);
                counts.failed += number("failed").unwrap_or(0);
                counts.ignored += number("ignored").unwrap_or(0);
            } else if line.starts_with("test ") && line.ends_with(" ... ok") {
                counts.passed += 1;
            } else if line.contains("SKIPPED ") {
                counts.skipped += 1;
            }
        }
        counts
    }

    fn plus(self, other: Self) -> Self {
        Self {
            passed: self.passed + other.passed,
            failed: self.failed + other.failed,
            ignored: self.ignored + other.ignored,
            skipped: self.skipped + other.skipped,
        }
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { passed, failed, ignored, skipped } = self;
        write!(f, "{passed} passed, {failed} failed, {ignored} ignored, {skipped} skipped")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn counts_are_read_from_what_a_test_program_says() {
        let said = "running 3 tests\n..i\ntest result: ok. 2 passed; 0 failed; 1 ignored; 0 \
                    measured; 0 filtered out; finished in 0.10s\nSKIPPED a_test: needs root\n\
                    test without_the_harness ... ok\n";
        let Counts { passed, failed, ignored, skipped } = Counts::read(said);
        assert_eq!((passed, failed, ignored, skipped), (3, 0, 1, 1));
    }

    #[test]
    fn only_test_programs_are_taken_from_cargos_messages() {
        let message = json!({
            "reason": "compiler-artifact", "manifest_path": "/c/crates/cli/Cargo.toml",
            "target": { "kind": ["test"], "name": "kill" }, "profile": { "test": true },
            "executable": "/c/target/debug/deps/kill-1",
        });
        let found = program(&message).map(|program| (program.name, program.directory));
        assert_eq!(found, Some(("cli kill".to_owned(), "/c/crates/cli".into())));
        let mut library = message.clone();
        library["executable"] = Value::Null;
        assert!(program(&library).is_none());
        let mut plain = message;
        plain["profile"]["test"] = false.into();
        assert!(program(&plain).is_none());
    }
}
