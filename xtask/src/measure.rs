//! The steps of `cargo xtask measure`, whose results depend on this machine. They are not in
//! `check` because a busy machine changes the results; run them on an idle machine. Speed is
//! measured with `--profile dist`, verdicts and causes with a plain release build.
//!
//! If a step prints a Markdown table, the table is written to docs/benchmarks.md, between the
//! markers with the step's name.

use std::ffi::OsString;
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail, ensure};

use crate::cargo::{self, cargo, target};
use crate::checkout::root;
use crate::dist;
use crate::steps::Step;
use crate::tables;

/// All steps in order.
pub(crate) const STEPS: &[Step] = &[
    Step::new("engines", "CPU time of the load generator and fio, in the page cache", || {
        table("engines", example("iotax-load", "versus_fio", &["/tmp", "9", "1"]))
    }),
    Step::new("layers", "cost of each layer of the virtual disk", || {
        table("layers", example("iotax-vdisk", "layer_speed", &[]))
    }),
    Step::new("records", "read and analyse ten thousand trials", records),
    Step::new("known-truth", "comparisons of equal and different simulated arms", || {
        table("known-truth", example("iotax-analyze", "known_truth", &["500"]))
    }),
    Step::new("load", "rates, depths and delays of the load generator", || tests("iotax-load")),
    Step::new("vdisk", "delays of the virtual disk under FUSE", || tests("iotax-vdisk")),
    Step::new("rig", "cgroup limits", || tests("iotax-rig")),
    Step::new("capture", "record 1,000,000 I/Os, and kill 200 recorders", || {
        tests("iotax-capture")
    }),
    Step::new("cli", "verdicts, caps and taxes that iotax reports", || tests("iotax")),
    Step::new("fio", "native engines and fio on the same disk", fio),
    Step::new("network", "native flows compared with iperf3 and sockperf", || {
        table("network", script("native-versus-iperf3.sh", &["netns", "--max-blocks", "20"])?)
    }),
    Step::new("fuse", "virtual disks over FUSE compared with qemu-storage-daemon", fuse),
    Step::new("kubernetes", "build a small cluster and test storage classes on it", kubernetes),
    Step::new("blind", "blind test: find the causes of injected faults", blind),
];

fn records() -> Result<()> {
    let place = target().join("ten-thousand");
    shown(&mut example("iotax-analyze", "ten_thousand", &[&place.to_string_lossy()])).map(drop)
}

fn fio() -> Result<()> {
    let place = target().join("fio");
    std::fs::create_dir_all(&place)?;
    let place = place.to_string_lossy().into_owned();
    table("fio", script("native-versus-fio.sh", &[&place, "--quick", "--max-blocks", "12"])?)
}

fn fuse() -> Result<()> {
    table("fuse", script("fuse-versus-qemu.sh", &["/dev/shm", "3"])?)
}

/// Uses two nodes in network namespaces. The first run builds Kubernetes from source and keeps it
/// in cargo's target directory.
fn kubernetes() -> Result<()> {
    let place = target().join("k8s");
    let (program, image) = dist::for_cluster(&place)?;
    // The last part uses its own cluster, in which pods may not use io_uring.
    for script in [&["build.sh"][..], &["try.sh"], &["try.sh", "sandboxed"]] {
        let mut command = Command::new(root().join("tests/k8s").join(script[0]));
        command.args(&script[1..]).env("IOTAX", &program).env("IMAGE_TAR", &image);
        for (name, directory) in [("BIN", "bin"), ("CACHE", "cache"), ("IMAGES_DIR", "images")] {
            command.env(name, place.join(directory));
        }
        let status = command.status().with_context(|| format!("starting {}", script[0]))?;
        ensure!(status.success(), "{} failed: {status}", script.join(" "));
    }
    Ok(())
}

fn blind() -> Result<()> {
    cargo(&["build", "--release", "--package", "iotax", "--package", "iotax-blind"])?;
    let release = target().join("release");
    let mut command = Command::new(release.join("iotax-blind"));
    command.arg("--iotax").arg(release.join("iotax")).arg("--verbose").current_dir(root());
    table("blind", command)
}

/// Runs the tests of a crate that only `measure` builds, one at a time, so that they do not compete
/// for CPU.
fn tests(package: &str) -> Result<()> {
    // The feature enables these tests.
    let which = ["test", "--release", "--package", package, "--features", "measure"];
    cargo(&[&which[..], &["--test", "measure", "--", "--test-threads=1"]].concat())
}

fn example(package: &str, name: &str, args: &[&str]) -> Command {
    let what = ["run", "--profile", "dist", "--quiet", "--package", package, "--example", name];
    cargo::command(&[&what[..], &["--"], args].concat())
}

/// A script in docs/measure, with the new build of the program first in `PATH`.
fn script(name: &str, args: &[&str]) -> Result<Command> {
    cargo(&["build", "--profile", "dist", "--package", "iotax"])?;
    let mut path = OsString::from(target().join("dist"));
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let mut command = Command::new(root().join("docs/measure").join(name));
    command.args(args).env("PATH", path).current_dir(root());
    Ok(command)
}

/// Runs a command, prints its output, and writes the tables in it to the docs.
fn table(name: &str, mut command: Command) -> Result<()> {
    let lines = shown(&mut command)?;
    let is_part = |line: &&String| line.starts_with('|') || line.is_empty();
    let rows: Vec<&str> = lines.iter().filter(is_part).map(String::as_str).collect();
    tables::write(name, &rows.join("\n"))
}

/// Runs a command, prints its output, and returns the lines if it succeeds.
fn shown(command: &mut Command) -> Result<Vec<String>> {
    let mut child = command.stdout(Stdio::piped()).spawn().context("cannot start the command")?;
    let mut lines = Vec::new();
    for line in BufReader::new(child.stdout.take().context("no output pipe")?).lines() {
        let line = line?;
        println!("{line}");
        lines.push(line);
    }
    let status = child.wait()?;
    if !status.success() {
        bail!("the command failed: {status}; docs/benchmarks.md is unchanged");
    }
    Ok(lines)
}
