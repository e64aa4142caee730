//! A recorder that is killed.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use iotax_testing::{needs_bpf, needs_program};

use crate::support::{Driver, Trace, record_program, wait_until};

/// Programs that a process has loaded, and those links through which they are attached.
fn loaded(pid: u32, field: &str) -> BTreeSet<u32> {
    let entries = fs::read_dir(format!("/proc/{pid}/fdinfo")).unwrap();
    let texts = entries.flatten().filter_map(|entry| fs::read_to_string(entry.path()).ok());
    let number = |line: &str| line.strip_prefix(field)?.trim().parse().ok();
    texts.flat_map(|text| text.lines().filter_map(number).collect::<Vec<_>>()).collect()
}

fn programs_of_kernel() -> BTreeSet<u32> {
    aya::programs::loaded_programs().flatten().map(|program| program.id()).collect()
}

fn links_of_kernel() -> BTreeSet<u32> {
    aya::programs::loaded_links().flatten().map(|link| link.id()).collect()
}

/// Kills a recorder this often, each time at another moment.
pub(crate) fn check(times: usize) {
    if !needs_bpf() || !needs_program("cc") {
        return;
    }
    let driver = Driver::build("calls");
    for time in 0..times {
        let place = tempfile::tempdir().unwrap();
        let output = tempfile::tempdir().unwrap();
        kill_one(&driver, time, place.path(), &output.path().join("x.iotx"));
        let left: Vec<_> = fs::read_dir(output.path()).unwrap().flatten().collect();
        assert!(left.len() <= 1, "{left:?}");
    }
}

fn kill_one(driver: &Driver, time: usize, place: &std::path::Path, output: &std::path::Path) {
    let mut recorder: Child = Command::new(record_program())
        .arg(output)
        .arg("--")
        .args([driver.path().as_os_str(), "endless".as_ref(), place.as_os_str()])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(recorder.stderr.take().unwrap()).lines();
    // While it loads, once it is recording, or later.
    match time % 4 {
        0 => wait_until(|| !loaded(recorder.id(), "prog_id:").is_empty()),
        wait => drop(said.by_ref().nth(wait / 2)),
    }
    let programs = loaded(recorder.id(), "prog_id:");
    let links = loaded(recorder.id(), "link_id:");
    recorder.kill().unwrap();
    recorder.wait().unwrap();
    assert!(!programs.is_empty());
    // The kernel frees a program when no CPU can be running it any more.
    wait_until(|| {
        programs_of_kernel().is_disjoint(&programs) && links_of_kernel().is_disjoint(&links)
    });
    // The program that was recorded goes on, unless it had not begun.
    assert!(time.is_multiple_of(4) || is_used(&driver.path()));
    fs::write(place.join("stop"), "").unwrap();
    wait_until(|| !is_used(&driver.path()));
    if output.exists() && fs::metadata(output).unwrap().len() > 0 {
        let trace = Trace::read(output);
        assert!(trace.end.is_none() || trace.end.unwrap().lost == 0);
    }
}

/// Whether a process runs this program.
fn is_used(program: &std::path::Path) -> bool {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    entries.flat_map(|entry| fs::read_link(entry.path().join("exe"))).any(|exe| exe == program)
}
