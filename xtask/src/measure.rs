//! The steps of `cargo xtask measure`: all that judges this machine. None of it is in `check`,
//! since a busy machine decides how it ends. Speed is measured of what is handed out
//! (`--profile dist`), verdicts and causes of a plain release build; run it with nothing else
//! running.
//!
//! A step that prints a table in Markdown has it written to docs/benchmarks.md, between the markers
//! of its name.

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
    Step::new("engines", "the load generator beside fio, in the page cache", || {
        table("engines", example("iotax-load", "versus_fio", &["/tmp", "9", "1"]))
    }),
    Step::new("layers", "what each layer of the virtual disk costs", || {
        table("layers", example("iotax-vdisk", "layer_speed", &[]))
    }),
    Step::new("records", "ten thousand trials, read and analysed", records),
    Step::new("known-truth", "comparisons of simulated arms, equal and not", || {
        table("known-truth", example("iotax-analyze", "known_truth", &["500"]))
    }),
    Step::new("load", "rates, depths and delays of the load generator", || tests("iotax-load")),
    Step::new("vdisk", "delays of the virtual disk under FUSE", || tests("iotax-vdisk")),
    Step::new("rig", "limits of control groups", || tests("iotax-rig")),
    Step::new("cli", "verdicts, caps and taxes, as users get them", || tests("iotax")),
    Step::new("fio", "native engines and fio on one disk", fio),
    Step::new("network", "native flows beside iperf3's, round trips beside sockperf's", || {
        table("network", script("native-versus-iperf3.sh", &["netns", "--max-blocks", "20"])?)
    }),
    Step::new("fuse", "virtual disks over FUSE beside qemu-storage-daemon", fuse),
    Step::new("kubernetes", "storage classes on a small cluster, which is built first", kubernetes),
    Step::new("blind", "planted faults, for the doctor to find", blind),
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

/// On two nodes in network namespaces. Kubernetes is built from its sources at first; what was
/// built is kept with cargo's.
fn kubernetes() -> Result<()> {
    let place = target().join("k8s");
    let (program, image) = dist::for_cluster(&place)?;
    // The last part is of a cluster of its own, in which pods may not use io_uring.
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

/// The tests of a crate that only `measure` builds, one at a time: they would take each other's
/// CPU.
fn tests(package: &str) -> Result<()> {
    // The tests of the program use it.
    let which = ["test", "--release", "--package", package, "--features", "measure"];
    cargo(&[&which[..], &["--test", "measure", "--", "--test-threads=1"]].concat())
}

fn example(package: &str, name: &str, args: &[&str]) -> Command {
    let what = ["run", "--profile", "dist", "--quiet", "--package", package, "--example", name];
    cargo::command(&[&what[..], &["--"], args].concat())
}

/// One of docs/measure, with the program just built in front of others of its name.
fn script(name: &str, args: &[&str]) -> Result<Command> {
    cargo(&["build", "--profile", "dist", "--package", "iotax"])?;
    let mut path = OsString::from(target().join("dist"));
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let mut command = Command::new(root().join("docs/measure").join(name));
    command.args(args).env("PATH", path).current_dir(root());
    Ok(command)
}

/// Runs a command, shows what it prints, and writes the tables in it to the docs.
fn table(name: &str, mut command: Command) -> Result<()> {
    let lines = shown(&mut command)?;
    let is_part = |line: &&String| line.starts_with('|') || line.is_empty();
    let rows: Vec<&str> = lines.iter().filter(is_part).map(String::as_str).collect();
    tables::write(name, &rows.join("\n"))
}

/// Runs a command and shows what it prints: its lines, if it succeeds.
fn shown(command: &mut Command) -> Result<Vec<String>> {
    let mut child = command.stdout(Stdio::piped()).spawn().context("it could not be started")?;
    let mut lines = Vec::new();
    for line in BufReader::new(child.stdout.take().context("its output")?).lines() {
        let line = line?;
        println!("{line}");
        lines.push(line);
    }
    let status = child.wait()?;
    if !status.success() {
        bail!("it failed: {status}; docs/benchmarks.md stays as it is");
    }
    Ok(lines)
}
