//! Fuzzing with the stable toolchain.
//!
//! `cargo fuzz` needs a nightly compiler for its `-Z` flags. The stable compiler can also produce
//! the instrumentation that libFuzzer needs: LLVM's coverage pass runs as an extra pass, and
//! `libfuzzer-sys` contains libFuzzer. Only the address sanitizer is missing, which is of little
//! use for safe code.

use std::fs;
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::checkout::root;
use crate::suite::side_by_side;

/// Inputs per target in the short run of all targets.
const SHORT_RUN: u64 = 20_000;

/// The short run always uses this seed, so that its result is repeatable. Long runs use new seeds.
const SHORT_SEED: u32 = 1;

/// Targets that start from the fixtures of a crate (real output, cut to `MAX_INPUT_BYTES`).
const FIXTURES: [(&str, &str); 6] = [
    ("machine", "crates/diagnose/tests/machines"),
    ("fio_json", "crates/dialects/tests/fixtures/fio"),
    ("diskspd_xml", "crates/dialects/tests/fixtures/diskspd"),
    ("iperf3_json", "crates/dialects/tests/fixtures/iperf3"),
    ("k8s_netperf_json", "crates/dialects/tests/fixtures/k8s-netperf"),
    ("knb_json", "crates/dialects/tests/fixtures/knb"),
];

/// Long enough for a whole result, and short enough for thousands of inputs per second.
const MAX_INPUT_BYTES: u64 = 8192;

/// Time limit (s) and memory limit (MiB) for each input.
const LIMITS: [&str; 2] = ["-timeout=10", "-rss_limit_mb=1024"];

const COVERAGE: &str = "--cfg fuzzing -C passes=sancov-module \
    -C llvm-args=-sanitizer-coverage-level=4 \
    -C llvm-args=-sanitizer-coverage-inline-8bit-counters \
    -C llvm-args=-sanitizer-coverage-pc-table -C debug-assertions \
    -C overflow-checks";

/// Builds all targets and runs each briefly.
pub(crate) fn check() -> Result<()> {
    build(&["--bins"])?;
    side_by_side(targets()?, |target| run(&target, SHORT_RUN, Some(SHORT_SEED))).map(drop)
}

/// Runs one target with `runs` inputs. Its corpus is kept in `fuzz/corpus`.
pub(crate) fn long(target: &str, runs: u64) -> Result<()> {
    let known = targets()?;
    if !known.iter().any(|name| name == target) {
        bail!("unknown fuzz target `{target}`; the targets are {}", known.join(", "));
    }
    build(&["--bin", target])?;
    run(target, runs, None)
}

/// The names of the targets, from the files in `fuzz/fuzz_targets`.
fn targets() -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(root().join("fuzz/fuzz_targets"))? {
        let path = entry?.path();
        names.extend(path.file_stem().map(|stem| stem.to_string_lossy().into_owned()));
    }
    names.sort();
    Ok(names)
}

/// Builds targets. With `--target`, the flags do not apply to build scripts and procedural macros,
/// which are not linked to libFuzzer.
fn build(what: &[&str]) -> Result<()> {
    let host = host()?;
    let status = Command::new(env!("CARGO"))
        .args(["build", "--release", "--quiet", "--target", &host])
        // `run` expects this directory, even if cargo is configured to use another.
        .args(["--target-dir", "target"])
        .args(what)
        .env("RUSTFLAGS", COVERAGE)
        .current_dir(root().join("fuzz"))
        .status()
        .context("cannot start cargo")?;
    if !status.success() {
        bail!("building the fuzz targets failed: {status}");
    }
    Ok(())
}

/// The compiler's name of this machine (target triple).
fn host() -> Result<String> {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let output = Command::new(rustc).arg("-vV").output().context("cannot start rustc")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).context("`rustc -vV` does not print the host")
}

fn run(target: &str, runs: u64, seed: Option<u32>) -> Result<()> {
    let fuzz = root().join("fuzz");
    let (corpus, artifacts) = (fuzz.join("corpus").join(target), fuzz.join("artifacts"));
    fs::create_dir_all(&corpus)?;
    fs::create_dir_all(&artifacts)?;
    let mut command = Command::new(fuzz.join("target").join(host()?).join("release").join(target));
    command.args(LIMITS).args(["-verbosity=0", "-print_final_stats=1"]);
    command.arg(format!("-runs={runs}")).arg(format!("-artifact_prefix={}/", artifacts.display()));
    command.args(seed.map(|seed| format!("-seed={seed}")));
    let dictionary = fuzz.join("dictionaries").join(format!("{target}.dict"));
    if dictionary.exists() {
        command.arg(format!("-dict={}", dictionary.display()));
    }
    command.arg(format!("-max_len={MAX_INPUT_BYTES}")).arg(&corpus);
    let seeds = fuzz.join("seeds").join(target);
    let fixtures = FIXTURES.iter().find(|(name, _)| *name == target);
    let fixtures = fixtures.map(|(_, directory)| root().join(directory));
    command.args(fixtures.into_iter().chain(seeds.exists().then_some(seeds)));
    let status = command.status().with_context(|| format!("starting the fuzz target {target}"))?;
    if !status.success() {
        bail!("fuzz target {target}: {status}; the input is in {}", artifacts.display());
    }
    Ok(())
}
